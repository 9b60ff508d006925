"""`reprocheck record` and `reprocheck compare`: runs that were made apart."""

from __future__ import annotations

import json
import os
import shlex
import shutil
import subprocess
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from reprocheck import compare
from reprocheck.report import html
from tests.conftest import mindspore_python, reprocheck_here
from tests.heads import NO_COMPILER

SCRIPTS = Path(__file__).parent / "scripts"
THREADS = NO_COMPILER + (SCRIPTS / "threads.py").read_text()
EXAMPLES = Path(__file__).parents[2] / "examples"


def report(workdir: Path) -> dict[str, Any]:
    """report.json of the last comparison; it fits the schema."""
    document: dict[str, Any] = json.loads((workdir / "reports/latest/report.json").read_text())
    jsonschema.Draft202012Validator(json.loads(html.source("report.schema.json"))).validate(
        document
    )
    return document


def drawn(workdir: Path) -> dict[str, Any]:
    """As `report`, where the page and the Markdown say what was compared."""
    folder, document = workdir / "reports/latest", report(workdir)
    assert document["compared"]["sentence"] in (folder / "report.md").read_text().replace("\\", "")
    assert "What was compared" in (folder / "report.html").read_text()
    return document


def recorded(workdir: Path, name: str, *arguments: str, **environment: str) -> Path:
    """A recording of a script of the working directory."""
    done = reprocheck_here("record", "-o", name, *arguments, cwd=workdir, **environment)
    assert done.returncode == 0, done.stdout + done.stderr
    assert f"reprocheck compare {name} OTHER" in done.stdout
    return workdir / name


def next_of(stdout: str) -> tuple[str, str]:
    """Why, and the command to type next."""
    rows = stdout.splitlines()
    at = next(number for number, row in enumerate(rows) if row.strip().startswith("next "))
    return rows[at].strip().removeprefix("next").strip(), rows[at + 1].strip()


def drift(document: dict[str, Any]) -> dict[str, list[str]]:
    """Class -> the facts that differ."""
    return {row["class"]: row["keys"] for row in document["compared"]["drift"]}


@pytest.fixture(scope="module")
def of_two_threads(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A recording of a training with PyTorch on two threads."""
    folder = tmp_path_factory.mktemp("threads")
    (folder / "train.py").write_text(THREADS)
    return recorded(folder, "two.zip", "train.py", OMP_NUM_THREADS="2")


@pytest.mark.torch
def test_another_number_of_threads_is_drift_and_no_noise(
    workdir: Path, of_two_threads: Path
) -> None:
    shutil.copy(of_two_threads, workdir)
    (workdir / "train.py").write_text(THREADS)
    recorded(workdir, "one.zip", "train.py", OMP_NUM_THREADS="1")
    (workdir / "train.py").unlink()  # it comes with the recordings
    done = reprocheck_here("compare", "two.zip", "one.zip", cwd=workdir, draw=True)
    assert done.returncode == 0, done.stdout + done.stderr
    document = drawn(workdir)
    assert drift(document)["threads"] == ["torch.threads", "variable.OMP_NUM_THREADS"]
    assert [side["name"] for side in document["compared"]["sides"]] == ["two.zip", "one.zip"]
    assert not document["bitwise"]["equal"]
    assert (
        "rounding level, as is expected where the number of threads"
        in document["compared"]["sentence"]
    )
    rungs = {rung["rung"]: rung for rung in document["ladder"]["rungs"]}
    assert rungs["environment"]["status"] == "differs"
    assert rungs["initial weights"]["status"] == rungs["batch"]["status"] == "equal"
    assert document["ladder"]["first"] in ("forward", "loss", "gradient")
    assert rungs[document["ladder"]["first"]]["size"] == "rounding"
    assert (document["causes"][0]["code"], document["causes"][0]["confidence"]) == (
        "RC002",
        "suspected",
    )
    assert document["state_left"] == []
    lines = done.stdout.splitlines()
    assert next(
        i for i, line in enumerate(lines) if "number of threads" in line and "torch.threads" in line
    ) < next(
        i for i, line in enumerate(lines) if line.startswith("→") or "initial weights" in line
    )  # differences of the environment come before the ladder
    again = reprocheck_here("report", "reports/latest", cwd=workdir)
    assert again.returncode == 0
    assert report(workdir) == document


@pytest.mark.torch
def test_a_gross_difference_of_the_source_comes_before_other_threads_and_both_are_causes(
    workdir: Path, of_two_threads: Path
) -> None:
    (workdir / "train.py").write_text(THREADS.replace("lr=0.01", "lr=0.02"))
    recorded(workdir, "one.zip", "train.py", OMP_NUM_THREADS="1")
    done = reprocheck_here("compare", of_two_threads, "one.zip", cwd=workdir)
    assert done.returncode == 1, done.stdout + done.stderr
    document = report(workdir)
    assert [(cause["code"], cause["confidence"]) for cause in document["causes"][:2]] == [
        ("RC106", "observed"),
        ("RC002", "suspected"),
    ]
    source = document["causes"][0]["source"]
    assert (source["file"], source["line"]) == ("train.py", 8)
    assert (
        "`lr` of SGD[0] is 0.01 in run 1 and 0.02 in run 2 at the update of iteration 1."
        in document["causes"][0]["evidence"]
    )
    assert document["ladder"]["first"] == "files and arguments"
    gradient = next(rung for rung in document["ladder"]["rungs"] if rung["rung"] == "gradient")
    assert (gradient["size"], gradient["iteration"]) == ("rounding", 1)
    assert not [key for keys in drift(document).values() for key in keys if "CACHE_DIR" in key]


def test_the_diff_of_two_sources_is_shown_and_nothing_is_drawn_at_random(workdir: Path) -> None:
    script = workdir / "train.py"
    script.write_text(
        "import random\nimport reprocheck\nname = random.random()\nfor step in range(4):\n    reprocheck.log_loss(1.0)\n"
    )
    recorded(workdir, "one.zip", "train.py")
    script.write_text(script.read_text().replace("log_loss(1.0)", "log_loss(2.0)"))
    recorded(workdir, "two.zip", "train.py")
    script.write_text("# the same code\n" + script.read_text())
    recorded(workdir, "three.zip", "train.py")
    done = reprocheck_here("compare", "one.zip", "two.zip", cwd=workdir, draw=True)
    assert done.returncode == 1, done.stdout + done.stderr
    assert "train.py:5: reprocheck.log_loss(1.0) → reprocheck.log_loss(2.0)" in " ".join(
        done.stdout.split()
    )
    document = drawn(workdir)
    assert document["causes"][0]["code"] == "RC106"
    assert not [
        cause["code"] for cause in document["causes"] if cause["code"].startswith(("RC2", "RC4"))
    ]
    (source,) = document["compared"]["sources"]
    assert source["file"] == "train.py"
    assert "-    reprocheck.log_loss(1.0)\n+    reprocheck.log_loss(2.0)\n" in source["diff"]
    folder = (workdir / "reports" / "latest").resolve()
    assert "+    reprocheck.log_loss(2.0)" in (folder / "report.md").read_text()
    assert "+    reprocheck.log_loss(2.0)" in (folder / "report.html").read_text()
    comment = reprocheck_here("compare", "two.zip", "three.zip", cwd=workdir)
    assert comment.returncode == 0, comment.stdout + comment.stderr
    assert [row["same_code"] for row in report(workdir)["compared"]["sources"]] == [True]


@pytest.mark.mindspore
def test_another_library_version_is_drift(workdir: Path) -> None:
    """The interpreter of MindSpore has a NumPy of before 2."""
    (workdir / "train.py").write_text(
        "import numpy\nimport reprocheck\nfor step in range(3):\n    reprocheck.log_loss(float(numpy.float64(1) / (step + 1)))\n"
    )
    recorded(workdir, "here.zip", "train.py")
    recorded(workdir, "there.zip", "--python", mindspore_python(), "train.py")
    done = reprocheck_here("compare", "here.zip", "there.zip", cwd=workdir)
    assert done.returncode == 0, done.stdout + done.stderr
    document = report(workdir)
    assert "numpy.version" in drift(document)["library"]
    assert document["bitwise"]["equal"] is True
    assert "library version" in document["compared"]["sentence"]


@pytest.mark.torch
def test_another_version_of_torch_is_drift_and_the_ladder_says_where_it_begins(
    workdir: Path,
) -> None:
    python = os.environ.get("REPROCHECK_TEST_OTHER_TORCH_PYTHON")
    if python is None:
        pytest.skip("no interpreter with another torch: set REPROCHECK_TEST_OTHER_TORCH_PYTHON")
    (workdir / "train.py").write_text((EXAMPLES / "torch" / "clean.py").read_text())
    recorded(workdir, "here.zip", "train.py")
    recorded(workdir, "there.zip", "--python", python, "train.py")
    done = reprocheck_here("compare", "there.zip", "here.zip", cwd=workdir)
    assert done.returncode == 0, done.stdout + done.stderr
    document = report(workdir)
    assert "torch.version" in drift(document)["library"]
    rungs = {rung["rung"]: rung["status"] for rung in document["ladder"]["rungs"]}
    assert rungs["environment"] == "differs", (
        "found beside the rungs that can be compared, whatever either interpreter hashes with"
    )
    assert rungs["initial weights"] == rungs["RNG state"] == rungs["batch"] == "equal"
    assert "library version" in document["compared"]["sentence"]


def test_noise_of_the_sides_is_told_from_a_difference_between_them(workdir: Path) -> None:
    script = workdir / "said.py"
    script.write_text((SCRIPTS / "said.py").read_text())
    recorded(workdir, "noisy.zip", "--runs", "3", "said.py", "1.0", SHIFTS="0.00 0.02 0.01")
    recorded(workdir, "other.zip", "--runs", "3", "said.py", "1.0", SHIFTS="0.03 0.01 0.02")
    recorded(workdir, "far.zip", "--runs", "2", "said.py", "9.0", SHIFTS="0.00 0.02")
    recorded(workdir, "quiet.zip", "--runs", "2", "said.py")
    near = reprocheck_here("compare", "noisy.zip", "other.zip", cwd=workdir, draw=True)
    assert near.returncode == 1
    said = drawn(workdir)["compared"]["sentence"]
    assert "differ among themselves, by up to 0.02 in a checked loss" in said
    assert said.endswith(
        "the difference between the sides, 0.03, is noise from run to run and no sign of drift."
    )
    far = reprocheck_here("compare", "noisy.zip", "far.zip", cwd=workdir)
    assert far.returncode == 1
    document = report(workdir)
    assert "is larger than that" in document["compared"]["sentence"]
    assert drift(document)["source"] == ["arguments"]
    assert [row["equal"] for row in document["compared"]["noise"]] == [False, False]
    quiet = reprocheck_here("compare", "quiet.zip", "far.zip", cwd=workdir)
    assert quiet.returncode == 1
    assert [row["equal"] for row in report(workdir)["compared"]["noise"]] == [True, False]
    found = compare(
        workdir / "noisy.zip", workdir / "far.zip", output=workdir / "from-python", draw=False
    )
    assert found.between is not None
    assert "is larger than that" in found.between.sentence
    assert (found.verdict.exit_code, found.folder is not None and found.folder.parent) == (
        1,
        workdir / "from-python",
    )
    same = reprocheck_here("compare", "--fail-on", "bitwise", "quiet.zip", "quiet.zip", cwd=workdir)
    assert same.returncode == 0
    assert report(workdir)["compared"]["sentence"].startswith("Both sides agree in every bit")


def test_a_series_that_differs_is_said_of_the_sides_and_fails_where_it_is_named(
    workdir: Path,
) -> None:
    (workdir / "reports_it.py").write_text(
        "import random, reprocheck\n"
        "for step in range(4):\n"
        "    reprocheck.log_loss(1 / (step + 1))\n"
        "    reprocheck.log(val=random.random(), grad_norm=2.0)\n"
    )
    for name in ("one.zip", "two.zip"):
        recorded(workdir, name, "reports_it.py")
    beside = reprocheck_here("compare", "one.zip", "two.zip", cwd=workdir, draw=True)
    assert beside.returncode == 0, beside.stdout
    document = drawn(workdir)
    assert document["compared"]["sentence"] == (
        "All losses of both sides are equal in every bit; `val` differs beside them."
    )
    assert "agree in everything" not in " ".join(beside.stdout.split())
    said = next_of(beside.stdout)
    assert said == (
        "Make the difference of the series a failure:",
        "reprocheck compare --fail-on series:val one.zip two.zip",
    )
    stricter = reprocheck_here(*shlex.split(said[1])[1:], cwd=workdir)
    assert stricter.returncode == 1, stricter.stdout
    assert "Record each side several times" in " ".join(next_of(stricter.stdout))
    for series, code in (("val", 1), ("grad_norm", 0)):
        rule = ("--fail-on", f"series:{series}")
        named = reprocheck_here("compare", *rule, "one.zip", "two.zip", cwd=workdir)
        assert named.returncode == code, named.stdout


def test_a_side_that_keeps_no_source_is_named(workdir: Path) -> None:
    (workdir / "said.py").write_text((SCRIPTS / "said.py").read_text())
    recorded(workdir, "one.zip", "said.py", "1.0")
    passed = reprocheck_here("run", "--output", "passed", "said.py", "1.0", cwd=workdir)
    assert passed.returncode == 0, passed.stdout
    done = reprocheck_here(
        "compare", "one.zip", str(next((workdir / "passed").glob("said-*"))), cwd=workdir
    )
    assert done.returncode == 0, done.stdout
    (caveat,) = (said for said in report(workdir)["caveats"] if "source" in said)
    assert "keeps no source, so the source of the two sides was not compared." in caveat
    both = reprocheck_here("compare", "one.zip", "one.zip", cwd=workdir)
    assert both.returncode == 0
    assert not [said for said in report(workdir)["caveats"] if "source" in said]


def test_different_scripts_are_refused_unless_forced(workdir: Path) -> None:
    for name in ("one.py", "two.py"):
        (workdir / name).write_text((SCRIPTS / "said.py").read_text())
        recorded(workdir, f"{name}.zip", name)
    refused = reprocheck_here("compare", "one.py.zip", "two.py.zip", cwd=workdir)
    assert refused.returncode == 2
    assert "one.py.zip is a recording of one.py, two.py.zip one of two.py" in refused.stderr
    assert "--force" in refused.stderr
    assert not list((workdir / "reports").glob("*compared*"))
    forced = reprocheck_here("compare", "one.py.zip", "two.py.zip", "--force", cwd=workdir)
    assert forced.returncode == 0, forced.stderr
    assert any("different scripts" in caveat for caveat in report(workdir)["caveats"])


def git(folder: Path, *words: str) -> str:
    """git, as somebody."""
    command = ["git", "-c", "user.name=somebody", "-c", "user.email=somebody@example.org", *words]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=True).stdout


def test_another_commit_is_recorded_beside_the_working_directory(workdir: Path) -> None:
    package = workdir / "package"
    package.mkdir()
    script = (SCRIPTS / "said.py").read_text()
    (package / "train.py").write_text(
        script.replace("import random\n", "import random\nfrom pathlib import Path\n")
        + "Path('data').read_text()\n"
    )
    (workdir / ".gitignore").write_text("reports/\npackage/data\n")
    (package / "data").write_text("not tracked, and read by both sides")
    git(workdir, "init", "-q")
    git(workdir, "add", "-A")
    git(workdir, "commit", "-qm", "first")
    kept = (package / "train.py").read_text().replace("start / (step + 1)", "start / (step + 2)")
    (package / "train.py").write_text(kept)
    done = reprocheck_here("compare", "--against=HEAD", "train.py", "2.0", cwd=package, draw=True)
    assert done.returncode == 1, done.stdout + done.stderr
    document = drawn(package)
    assert [side["name"].partition(" ")[0] for side in document["compared"]["sides"]] == [
        "HEAD",
        "the",
    ]
    assert "source.train.py" in drift(document)["source"]
    losses = [run["ranks"][0]["iterations"][0]["losses"][0]["value"] for run in document["runs"]]
    assert losses[0] - losses[1] == pytest.approx(1.0)
    assert git(workdir, "worktree", "list").count("\n") == 1
    assert (package / "train.py").read_text() == kept
    unknown = reprocheck_here("compare", "--against", "no-such-branch", "train.py", cwd=package)
    assert (unknown.returncode, "no such commit" in unknown.stderr) == (2, True)
    nothing = reprocheck_here("compare", "--against=HEAD", cwd=package)
    assert (nothing.returncode, "nothing to run" in nothing.stderr) == (2, True)


def test_the_next_command_against_a_commit_is_whole(workdir: Path) -> None:
    (workdir / "train.py").write_text(
        "import random, reprocheck\n"
        "for step in range(4):\n"
        "    reprocheck.log_loss(1 / (step + 1))\n"
        "    reprocheck.log(val=random.random())\n"
    )
    git(workdir, "init", "-q")
    git(workdir, "add", "train.py")
    git(workdir, "commit", "-qm", "first")
    done = reprocheck_here(
        "compare", "--against", "HEAD", "--runs", "2", "--steps", "3", "train.py", cwd=workdir
    )
    assert done.returncode == 0, done.stdout + done.stderr
    why, command = next_of(done.stdout)
    assert why == "Make the difference of the series a failure:"
    words = shlex.split(command)
    assert words[:2] + words[-1:] == ["reprocheck", "compare", "train.py"]
    for option, value in (
        ("--fail-on", "series:val"),
        ("--against", "HEAD"),
        ("--runs", "2"),
        ("--steps", "3"),
    ):
        assert words[words.index(option) + 1] == value
    stricter = reprocheck_here(*words[1:], cwd=workdir)
    assert stricter.returncode == 1, stricter.stdout


def test_mistakes_are_named(workdir: Path) -> None:
    (workdir / "said.py").write_text((SCRIPTS / "said.py").read_text())
    (workdir / "silent.py").write_text("print('no loss')\n")
    one = reprocheck_here("compare", "a.zip", cwd=workdir)
    assert (one.returncode, "two recordings, not 1" in one.stderr) == (2, True)
    missing = reprocheck_here("compare", "a.zip", "b.zip", cwd=workdir)
    assert (missing.returncode, "There is no recording a.zip" in missing.stderr) == (2, True)
    outside = reprocheck_here("compare", "--against", "HEAD", "said.py", cwd=workdir)
    assert (outside.returncode, "not in a git repository" in " ".join(outside.stderr.split())) == (
        2,
        True,
    )
    silent = reprocheck_here("record", "-o", "silent.zip", "silent.py", cwd=workdir)
    assert (silent.returncode, "INCONCLUSIVE" in silent.stdout) == (3, True)
    assert not (workdir / "silent.zip").exists()
    nowhere = reprocheck_here("record", "-o", "no/such/run.zip", "said.py", cwd=workdir)
    assert (nowhere.returncode, "cannot be written" in nowhere.stderr) == (2, True)
