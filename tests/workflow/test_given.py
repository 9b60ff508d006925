"""What the runs were given from outside: arguments of the processes that train, and the files that
they read.
"""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from reprocheck.ladder.external_inputs import given_otherwise
from reprocheck.model import InputFile
from reprocheck.workflow import replay
from tests.causes.cause_ladders import check as check_of_ladder
from tests.conftest import Outcome, check, needs, reprocheck_here
from tests.e2e.explain.explaining import PRIVATE

TRAIN = """\
import random
import sys
from pathlib import Path

import reprocheck

words = dict(zip(sys.argv[1::2], sys.argv[2::2]))
random.seed(words.get("--seed", "0"))
scale = float(Path(words["--data"]).read_text()) if "--data" in words else 10.0
for step in range(4):
    reprocheck.log_loss(scale * random.random())
"""
SPAWNS = """\
import multiprocessing
import sys


def train(seed):
    import random
    import reprocheck

    random.seed(seed)
    for step in range(4):
        reprocheck.log_loss(10 * random.random())


if __name__ == "__main__":
    process = multiprocessing.get_context("spawn").Process(target=train, args=(sys.argv[1],))
    process.start()
    process.join()
"""
TWICE = "$(test -e ../second && echo 7 || { touch ../second; echo 3; })"
"""3 at the first start, 7 at each one that follows."""


def shell(command: str, workdir: Path, script: str = TRAIN) -> Outcome:
    """A check of a command of the shell that starts the script."""
    (workdir / "train.py").write_text(script)
    return check(
        "--explain", "--", "bash", "-c", command.replace("python", sys.executable), cwd=workdir
    )


def rung(outcome: Outcome) -> dict[str, Any]:
    """The rung of files and arguments."""
    found = {rung["rung"]: rung for rung in outcome.report["ladder"]["rungs"]}
    return dict(found["files and arguments"])


def test_an_argument_that_the_shell_makes_anew_is_the_cause_with_both_values(workdir: Path) -> None:
    outcome = shell(f"python train.py --lr 0.1 --seed {TWICE}", workdir)
    assert outcome.report["ladder"]["first"] == "files and arguments"
    assert rung(outcome)["place"] == "--seed"
    cause = outcome.report["causes"][0]
    assert (cause["code"], cause["confidence"]) == ("RC103", "observed")
    assert "The argument `--seed` is `3` in run 1 and `7` in run 2." in cause["evidence"]
    assert "`--seed`" in cause["fix"]


def test_the_arguments_of_a_spawned_process_are_those_of_the_process_that_spawned_it(
    workdir: Path,
) -> None:
    outcome = shell(f"python train.py {TWICE}", workdir, SPAWNS)
    assert outcome.title == "NOT REPRODUCIBLE (forward)", outcome.stderr
    cause = outcome.report["causes"][0]
    assert cause["code"] == "RC103"
    assert "The argument 1 is `3` in run 1 and `7` in run 2." in cause["evidence"]


def test_a_file_that_somebody_changed_between_the_runs_is_the_cause(
    workdir: Path, tmp_path: Path
) -> None:
    data = tmp_path / "scale.txt"
    outcome = shell(f"echo {TWICE}.0 > {data}; python train.py --data {data}", workdir)
    assert rung(outcome)["place"] == str(data)
    cause = outcome.report["causes"][0]
    assert (cause["code"], cause["confidence"]) == ("RC103", "observed")
    said = next(line for line in cause["evidence"] if str(data) in line)
    assert said.count("4 bytes, hash") == 2
    assert str(data) in cause["fix"]


HARMLESS = (
    "python train.py --master-port $RANDOM --rdzv_endpoint=a:$RANDOM --out $(mktemp -d) --seed"
)


def test_ports_and_temporary_paths_are_not_blamed(workdir: Path) -> None:
    noisy = TRAIN.replace("random.seed(words", "random.Random(words").replace(
        "random.random()", "random.SystemRandom().random()"
    )
    outcome = shell(f"{HARMLESS} 3", workdir, noisy)
    assert outcome.title == "NOT REPRODUCIBLE (forward)", outcome.stderr
    assert rung(outcome)["status"] == "equal"
    assert "RC103" not in [cause["code"] for cause in outcome.report["causes"]]


def test_what_a_run_read_is_recorded_and_what_it_wrote_itself_is_not(
    workdir: Path, tmp_path: Path
) -> None:
    (workdir / "data.txt").write_text("12.5")
    script = (
        TRAIN
        + 'Path("own.txt").write_text("1")\nPath("own.txt").read_text()\nPath("/etc/hostname").read_bytes()\n'
    )
    outcome = shell("python train.py --data data.txt", workdir, script)
    assert outcome.folder is not None
    run = replay.judged(outcome.folder).runs[0]
    assert {name: (file.size, len(file.hash)) for name, file in run.inputs.items()} == {
        "data.txt": (4, 32)
    }


def test_the_proof_says_that_the_runs_were_not_given_the_same(workdir: Path) -> None:
    (workdir / "train.py").write_text(TRAIN)
    done = reprocheck_here(
        "explain",
        "-v",
        "--",
        "bash",
        "-c",
        f"{sys.executable} train.py --seed $RANDOM$RANDOM",
        cwd=workdir,
    )
    said = " ".join(done.stdout.split())
    assert "because the runs were given different inputs. The argument `--seed` is" in said
    assert "a race between threads" not in said


MAKES = {
    "safetensors": """\
import numpy as np
from safetensors.numpy import save_file

save_file({"w": np.random.rand(100_000)}, "init.safetensors")
""",
    "h5py": """\
import h5py
import numpy as np

with h5py.File("init.h5py", "w") as file:
    file["w"] = np.random.rand(100_000)
""",
}
"""Library -> a program that makes a file of weights with it."""
READS = {
    "safetensors": """\
from safetensors import safe_open
with safe_open("init.safetensors", "np") as file:
    weights = file.get_tensor("w")
""",
    "h5py": """\
import h5py
with h5py.File("init.h5py") as file:
    weights = file["w"][:]
""",
}
TRAINS = """\
import reprocheck

for step in range(4):
    reprocheck.log_loss(100 * float(weights[0]))
"""


@pytest.mark.parametrize("library", MAKES)
def test_a_file_that_a_program_before_makes_anew_is_the_cause(library: str, workdir: Path) -> None:
    """Neither library opens its files through Python, and both files are too large to be hashed
    whole.
    """
    needs(library)
    file = f"init.{library}"
    (workdir / "make.py").write_text(MAKES[library])
    outcome = shell("python make.py && python train.py", workdir, READS[library] + TRAINS)
    assert outcome.title == "NOT REPRODUCIBLE (forward)", outcome.stderr
    assert rung(outcome)["place"] == file
    cause = outcome.report["causes"][0]
    assert (cause["code"], cause["source"]["file"], cause["source"]["line"]) == (
        "RC103",
        "train.py",
        2,
    )
    assert rung(outcome)["detail"].startswith(
        f"The files differ: `{file}`, written anew in each by make.py:"
    )
    assert file in cause["fix"]


def test_weights_that_run_1_overwrites_are_state_that_it_left(workdir: Path) -> None:
    needs("safetensors")
    (workdir / "make.py").write_text(MAKES["safetensors"])
    ends = 'from safetensors.numpy import save_file\nsave_file({"w": weights * 2}, "init.safetensors")\n'
    subprocess.run([sys.executable, "make.py"], cwd=workdir, check=True)
    outcome = shell("python train.py", workdir, READS["safetensors"] + TRAINS + ends)
    assert outcome.report["state_left"] == ["init.safetensors"]
    assert (rung(outcome)["place"], outcome.report["causes"][0]["code"]) == (
        "init.safetensors",
        "RC101",
    )


def test_a_date_in_a_file_that_is_made_anew_is_not_blamed_for_what_the_training_draws() -> None:
    """A file that each run makes leads to no rung that a training does not read from files."""
    made = InputFile(size=9, time=1.0, hash="a", made=True)
    first, second = (
        replace(check_of_ladder().runs[0], inputs={"data.pt": file})
        for file in (made, replace(made, hash="b"))
    )
    both = replace(check_of_ladder(), runs=(first, second))
    assert [one.name for one in given_otherwise(both, "initial weights")] == ["data.pt"]
    assert (
        given_otherwise(both, "forward")
        == given_otherwise(both, "initial weights", "data.pt")
        == ()
    )


def started(start: str, script: str, workdir: Path) -> dict[str, Any]:
    """The report of `explain` on a shell script that starts a training."""
    (workdir / "train.py").write_text(script)
    (workdir / "train.sh").write_text(start.replace("python", sys.executable))
    reprocheck_here("explain", "--", "bash", "train.sh", cwd=workdir)
    return dict(json.loads((workdir / "reports" / "latest" / "report.json").read_text()))


def given(report: dict[str, Any]) -> dict[str, Any]:
    """The rung of files and arguments of a report."""
    return next(
        dict(rung) for rung in report["ladder"]["rungs"] if rung["rung"] == "files and arguments"
    )


def test_a_seed_that_a_shell_script_makes_is_named_with_its_line_and_a_fixed_value_there_agrees(
    workdir: Path,
) -> None:
    report = started(
        "set -e\nSEED=$RANDOM$$\npython train.py --lr 0.1 --seed $SEED\n", TRAIN, workdir
    )
    cause = report["causes"][0]
    assert (cause["code"], cause["confidence"]) == ("RC103", "observed")
    assert (cause["source"]["file"], cause["source"]["line"]) == ("train.sh", 2)
    before, _, line = cause["fix"].rpartition("line 2 of train.sh: ")
    assert (
        before
        and line.strip("`").startswith("SEED=")
        and line.strip("`").removeprefix("SEED=").isdigit()
    )
    start = (workdir / "train.sh").read_text()
    (workdir / "train.sh").write_text(start.replace("SEED=$RANDOM$$", line.strip("`")))
    assert check("--", "bash", "train.sh", cwd=workdir).title == "REPRODUCIBLE", "the advice works"


def test_a_variable_that_a_shell_script_exports_is_named_with_its_line(workdir: Path) -> None:
    script = TRAIN.replace('words.get("--seed", "0")', 'os.environ["SEED"]').replace(
        "import random", "import os\nimport random"
    )
    report = started("export SEED=$RANDOM$$\npython train.py\n", script, workdir)
    assert (given(report)["place"], report["ladder"]["first"]) == ("SEED", "files and arguments")
    cause = report["causes"][0]
    assert (cause["code"], cause["source"]["file"], cause["source"]["line"]) == (
        "RC103",
        "train.sh",
        1,
    )
    assert any("environment variable `SEED`" in said for said in cause["evidence"])


def test_the_name_of_a_run_is_no_cause_and_the_script_that_a_shell_starts_is_fixed(
    workdir: Path,
) -> None:
    script = PRIVATE.replace("import random, reprocheck", "import random\nimport reprocheck")
    report = started(
        "python train.py --run-name run-$RANDOM$$ --output-dir out-$RANDOM$$\n", script, workdir
    )
    assert given(report)["status"] == "differs" and "--run-name" in given(report)["detail"], (
        "it is shown"
    )
    assert report["controls"]["smallest"] == ["private-rng"]
    assert "RC103" not in [cause["code"] for cause in report["causes"]]
    assert "+rng = random.Random(0)" in report["controls"]["patch"].splitlines()
    assert [row["agrees"] for row in report["controls"]["tried"] if row["patched"]] == [True]
