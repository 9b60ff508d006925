"""The patch for a confirmed cause: which findings it fixes, how it is tried, and where it is
kept.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

import reprocheck as package
from reprocheck.cli.console import Console
from reprocheck.model import Cause, Check, EntryPoint, Search, SourceLine
from reprocheck.recording import record
from reprocheck.scan import Finding
from reprocheck.settings import Settings
from reprocheck.workflow import repair
from tests.conftest import UNCOMPILED, clean_environment, reprocheck
from tests.e2e.explain.explaining import PRIVATE, Explained, explain
from tests.launch.conftest import wait_until

FIXED = PRIVATE.replace("random.Random()", "random.Random(0)")
NOT_FIXED = PRIVATE.replace("rng = ", "other = rng = ")


@pytest.fixture
def folder(private: Explained, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of a working directory with its report, in which one cause was confirmed."""
    work = tmp_path / "work"
    shutil.copytree(private.folder.parent.parent, work, symlinks=True)
    monkeypatch.chdir(work)
    folder = work / "reports" / private.folder.name
    held = record.read(folder)
    record.write(folder, replace(held, arms=tuple(arm for arm in held.arms if not arm.patched)))
    for path in (folder / "arms").iterdir():
        if "patch" in path.name:
            shutil.rmtree(path) if path.is_dir() else path.unlink()
    return folder


def fix(
    folder: Path, text: str, monkeypatch: pytest.MonkeyPatch, console: Console | None = None
) -> Check:
    """What `explain` does with a patch that makes `text` of the script."""
    check = package.load(folder)
    entry = replace(check.record.entry_point, command=(sys.executable, "train.py"))
    monkeypatch.setattr(repair, "changes", lambda check, entry, folder: {Path("train.py"): text})
    held = Settings(quiet=console is None)
    repair.repair(check, entry, held, folder, console or Console(held))
    return package.load(folder)


def test_a_patch_is_tried_in_place_of_the_file_and_shown_as_a_difference(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    check = fix(folder, FIXED, monkeypatch)
    assert check.search is not None
    assert "-rng = random.Random()\n+rng = random.Random(0)\n" in check.search.patch
    assert check.search.patch.startswith("--- a/train.py\n+++ b/train.py\n")
    last = check.search.tried[-1]
    assert (last.patched, last.controls, last.runs, last.agrees, last.bitwise) == (
        True,
        (),
        2,
        True,
        True,
    )
    assert (check.search.smallest, check.causes[0].confidence) == (("private-rng",), "confirmed")
    assert Path("train.py").read_text() == PRIVATE, "the user's file is left alone"
    assert not list(folder.glob("workdir*"))


UNREACHED = """
import random, time, reprocheck
rng = random.Random(time.perf_counter_ns())
for step in range(20):
    reprocheck.log_loss(10 * rng.random())
"""
"""A cause with a line and a patch that no control reaches: a monotonic clock."""
READS_NOISE = """
import struct
with open("/dev/urandom", "rb") as file:
    noise = struct.unpack("20H", file.read(40))"""


def test_a_suspected_cause_that_no_control_reaches_is_confirmed_by_its_patch(
    tmp_path: Path,
) -> None:
    found = explain(UNREACHED, tmp_path)
    cause, search = found.report["causes"][0], found.report["controls"]
    assert (cause["code"], cause["confidence"]) == ("RC402", "confirmed")
    assert search["smallest"] == [] and "+rng = random.Random(0)\n" in search["patch"]
    assert search["fixes"] == ["RC402 train.py:3"] and search["sentence"].startswith(
        "The patch of RC402 train.py:3 removes the difference: 2 runs with it agree in every bit."
    )
    assert [(row["fixes"], row["agrees"]) for row in search["tried"]][-1] == (
        ["RC402 train.py:3"],
        True,
    )


def test_of_two_generators_on_one_line_the_one_is_patched_that_is_the_cause(tmp_path: Path) -> None:
    other = "h, rng = random.Random(), random.Random(time.monotonic_ns())\nprint(h.random())\n"
    found = explain(
        UNREACHED.replace("rng = random.Random(time.perf_counter_ns())\n", other), tmp_path
    )
    cause, search = found.report["causes"][0], found.report["controls"]
    assert (cause["code"], cause["confidence"]) == ("RC402", "confirmed")
    assert "+h, rng = random.Random(), random.Random(0)\n" in search["patch"]
    assert search["fixes"] == ["RC402 train.py:3"]


def test_a_patch_of_a_suspected_cause_that_does_not_help_confirms_nothing(tmp_path: Path) -> None:
    found = explain(
        UNREACHED.replace("\nfor", READS_NOISE + "\nfor").replace(
            "rng.random()", "rng.random() + noise[step]"
        ),
        tmp_path,
    )
    cause, search = found.report["causes"][0], found.report["controls"]
    assert (cause["code"], cause["confidence"]) == ("RC402", "suspected")
    assert (
        search["patch"] == ""
        and "Runs with the patch of RC402 train.py:3 differ too" in search["sentence"]
    )
    assert (
        "The suspected cause is RC402 at train.py:3, and no control confirms it."
        in search["sentence"]
        and "hardware" not in search["sentence"]
    )


def test_a_patch_that_does_not_help_is_not_offered(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    check = fix(folder, NOT_FIXED, monkeypatch)
    assert check.search is not None
    assert (check.search.patch, check.search.tried[-1].patched, check.search.tried[-1].agrees) == (
        "",
        True,
        False,
    )
    assert check.search.smallest == ("private-rng",), "the cause stays confirmed"
    assert check.search.sentence.endswith(" these fixes do not suffice."), "it is said to fail"


def facts(path: Path) -> tuple[bytes, int, int, int, int]:
    """What a file holds, its inode and mode, and when it and its content were changed last."""
    state = path.stat()
    return path.read_bytes(), state.st_ino, state.st_mode, state.st_mtime_ns, state.st_ctime_ns


class Editor(Console):
    """Somebody who edits the script while the runs with the patch are under way."""

    def run_started(self, number: int, of: int) -> None:
        super().run_started(number, of)
        Path("train.py").write_text(f"{PRIVATE}# my edit {number}\n")


def test_an_edit_meanwhile_stays_and_the_patch_is_that_of_the_text_before(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    check = fix(folder, FIXED, monkeypatch, Editor(Settings()))
    assert Path("train.py").read_text() == f"{PRIVATE}# my edit 2\n"
    assert check.search is not None and check.search.tried[-1].agrees is True
    assert "-rng = random.Random()\n+rng = random.Random(0)\n" in check.search.patch
    assert "my edit" not in check.search.patch, "a patch never takes an edit back"
    assert "Changed while the patch was tried, which is for the text before: train.py." in " ".join(
        capsys.readouterr().err.split()
    )


ONLY_HERE = """import os
if os.getcwd() != os.environ["HERE"]:
    raise RuntimeError("no data here")
open("../data/x.txt").read()
"""


def test_a_patch_of_a_script_that_runs_in_no_copy_is_tried_where_it_stands(tmp_path: Path) -> None:
    """The script is a link to one that several folders share, reads data beside its folder, and its
    lines end as on Windows.
    """
    project = tmp_path / "project"
    for name in ("exp", "data", "shared"):
        (project / name).mkdir(parents=True)
    (project / "data" / "x.txt").touch()
    (project / "exp" / "train.py").symlink_to("../shared/train.py")
    shared = project / "shared" / "train.py"
    text = (ONLY_HERE + PRIVATE).replace("\n", "\r\n").rstrip().encode()
    shared.write_bytes(text)
    before = facts(shared)
    work = project / "exp"
    done = reprocheck(
        "explain",
        "--write-patch",
        "fix.patch",
        "train.py",
        cwd=work,
        HERE=str(work),
        REPROCHECK_DRAW="false",
    )
    folder = (work / "reports" / "latest").resolve()
    controls = json.loads((folder / "report.json").read_text())["controls"]
    assert [(row["agrees"], row["bitwise"]) for row in controls["tried"] if row["patched"]] == [
        (True, True)
    ], done.stdout
    said = " ".join(f"{done.stdout} {done.stderr}".split())
    assert (
        "Python is given the patched text of train.py, and the file itself stays as it is" in said
    )
    assert "patch 2 runs with it, without any control, agree in every bit." in said
    assert facts(shared) == before and (work / "train.py").is_symlink()
    subprocess.run(
        ["patch", "-p1", "--binary", "-i", work / "fix.patch"],
        cwd=project / "shared",
        check=True,
        capture_output=True,
    )
    assert shared.read_bytes() == text.replace(b"random.Random()", b"random.Random(0)")


def test_a_patch_whose_text_no_run_took_is_shown_with_the_reason(tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text(PRIVATE)
    command = (
        "--",
        sys.executable,
        "-c",
        "exec(compile(open('train.py').read(), 'train.py', 'exec'))",
        "train.py",
    )
    done = reprocheck("explain", *command, cwd=tmp_path, REPROCHECK_DRAW="false")
    controls = json.loads((tmp_path / "reports" / "latest" / "report.json").read_text())["controls"]
    assert controls["smallest"] == ["private-rng"], done.stdout
    assert "-rng = random.Random()\n+rng = random.Random(0)\n" in controls["patch"]
    (patched,) = (row for row in controls["tried"] if row["patched"])
    assert (patched["agrees"], patched["bitwise"]) == (None, None)
    said = "Not tried: no process of a run loaded the patched text: the program reads the file in another way."
    assert said in " ".join(done.stdout.split())


def test_a_patch_is_tried_in_the_copies_of_runs_that_work_in_copies(tmp_path: Path) -> None:
    work = tmp_path / "work"
    explained = explain(
        "import os\nassert os.getcwd() != os.environ['HERE']\n" + PRIVATE,
        work,
        "--workdir",
        "copy",
        HERE=str(work),
    )
    patched = [row["bitwise"] for row in explained.report["controls"]["tried"] if row["patched"]]
    assert patched == [True] and "+rng = random.Random(0)" in explained.report["controls"]["patch"]


def test_a_line_of_a_package_is_patched_wherever_the_package_was_found(tmp_path: Path) -> None:
    package_folder = tmp_path / "lib" / "noises"
    package_folder.mkdir(parents=True)
    (package_folder / "__init__.py").write_text("")
    (package_folder / "own.py").write_text(
        "import numpy\n\n\nclass Noise:\n    def __init__(self):\n"
        "        self.rng = numpy.random.default_rng()\n"
    )
    (tmp_path / "train.py").write_text(
        "import torch\nfrom noises.own import Noise\ntorch.manual_seed(0)\n"
        "noise, model = Noise(), torch.nn.Linear(1, 1)\n"
        "optimizer = torch.optim.SGD(model.parameters(), lr=0.1)\n"
        "for step in range(3):\n"
        "    model(torch.tensor([noise.rng.normal()]).float()).sum().backward()\n"
        "    optimizer.step()\n"
    )
    lib = {"PYTHONPATH": f"lib:{UNCOMPILED}", "REPROCHECK_DRAW": "false"}
    reprocheck("explain", "train.py", cwd=tmp_path, **lib)
    controls = json.loads((tmp_path / "reports" / "latest" / "report.json").read_text())["controls"]
    (patched,) = (row for row in controls["tried"] if row["patched"])
    assert patched["bitwise"] is True
    assert "lib/noises/own.py" in controls["patch"]
    assert "+        self.rng = numpy.random.default_rng(0)\n" in controls["patch"]


def test_whoever_is_killed_while_a_patch_is_tried_leaves_the_file_as_it_was(tmp_path: Path) -> None:
    script = tmp_path / "train.py"
    script.write_text("import time\ntime.sleep(0.3)\n" + PRIVATE)
    before = facts(script)
    words = [sys.executable, "-m", "reprocheck", "explain", "train.py"]
    environment = clean_environment(REPROCHECK_DRAW="false")
    process = subprocess.Popen(
        words, cwd=tmp_path, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    wait_until(
        lambda: any(
            b'"patched"' in trace.read_bytes()
            for trace in tmp_path.glob("reports/*/arms/*-patched/run-1/trace/*.jsonl")
        )
    )
    process.kill()
    process.wait()
    assert facts(script) == before


def test_a_patch_that_fails_where_the_script_runs_is_not_offered(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    check = fix(folder, "raise RuntimeError('broken')\n" + PRIVATE, monkeypatch)
    assert check.search is not None and check.search.patch == ""


def finding(code: str, line: int, *, patchable: bool = True) -> Finding:
    return Finding(
        code=code,
        name="",
        severity="error",
        path="src/train.py",
        line=line,
        column=1,
        end_line=line,
        end_column=2,
        message="",
        patchable=patchable,
    )


def test_findings_about_the_confirmed_cause_are_fixed(folder: Path) -> None:
    base = package.load(folder)
    cause = Cause(
        code="RC601", title="", confidence="confirmed", source=SourceLine(file="train.py", line=3)
    )
    check = replace(
        base,
        causes=(cause, replace(cause, code="RC501", confidence="suspected")),
        search=Search(tried=(), smallest=("private-rng",)),
    )
    here, coded, elsewhere = finding("RC407", 3), finding("RC601", 9), finding("RC407", 20)
    assert repair.fitting_findings(
        (here, coded, elsewhere, finding("RC501", 9), finding("RC601", 3, patchable=False)), check
    ) == (
        here,
        coded,
    )
    assert repair.fitting_findings((elsewhere, finding("RC501", 9)), check) == (elsewhere,), (
        "else what the control removes"
    )
    assert repair.fitting_findings((finding("RC501", 9),), check) == ()


def test_no_patch_is_run_that_leaves_a_confirmed_cause_in(folder: Path) -> None:
    base = package.load(folder)
    Path("train.py").write_text(TWO_CAUSES)
    entry = replace(base.record.entry_point, command=(sys.executable, "train.py"))
    cause = Cause(
        code="RC407", title="", confidence="confirmed", source=SourceLine(file="train.py", line=6)
    )
    search = Search(tried=(), smallest=("private-rng",))
    check = replace(base, causes=(cause,), search=search)
    assert "random.Random(0)" in repair.changes(check, entry, folder)[Path("train.py")]
    threads = replace(cause, code="RC509", source=SourceLine(file="train.py", line=13))
    both = replace(search, smallest=("single-worker", "private-rng"))
    check = replace(base, causes=(cause, threads), search=both)
    assert not repair.changes(check, entry, folder), "only words are known for the threads"


TWO_CAUSES = """import random
from concurrent.futures import ThreadPoolExecutor

import torch

rng = random.Random()

def noisy(number):
    return random.gauss(number, 1)

random.seed(0)
with ThreadPoolExecutor(4) as pool:
    numbers = list(pool.map(noisy, range(4)))
(torch.nn.Parameter(torch.tensor(numbers)) * rng.random()).sum().backward()
"""


def test_scripts_that_a_command_names(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("train.py", "package/__main__.py", "package/other.py"):
        Path(name).parent.mkdir(exist_ok=True)
        Path(name).touch()

    def named(kind: str, *command: str) -> list[str]:
        return [
            str(path) for path in repair.scripts(EntryPoint(command=command, kind=kind, name="x"))
        ]  # type: ignore[arg-type]

    assert named("script", "/usr/bin/python", "train.py", "--config", "package/other.py") == [
        "train.py"
    ]
    assert named("module", "python", "-m", "package", "-x") == ["package/__main__.py"]
    assert named("module", "python", "-m", "package.other") == ["package/other.py"]
    assert named("command", "torchrun", "--nproc-per-node", "2", "train.py") == ["train.py"]
    assert named("command", "bash", "train.sh") == []
