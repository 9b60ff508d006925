"""The patch for a confirmed cause: which findings it mends, how it is tried, and where it is kept."""

from __future__ import annotations

import shutil
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from explaining import PRIVATE, Explained

import reprocheck as package
from reprocheck import record
from reprocheck.cli import repair
from reprocheck.cli.console import Console
from reprocheck.cli.stopwatch import Stopwatch
from reprocheck.model import Cause, Check, EntryPoint, RunRecord, Search, SourceLine
from reprocheck.scan import Finding
from reprocheck.settings import Settings

MENDED = PRIVATE.replace("random.Random()", "random.Random(0)")
NOT_MENDED = PRIVATE.replace("rng = ", "other = rng = ")


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


def mend(folder: Path, text: str, monkeypatch: pytest.MonkeyPatch) -> Check:
    """What `explain` does with a patch that makes `text` of the script."""
    check = package.load(folder)
    entry = replace(check.record.entry_point, command=(sys.executable, "train.py"))
    monkeypatch.setattr(repair, "changes", lambda check, entry: {Path("train.py"): text})
    held = Settings(quiet=True)
    console = Console(held)
    repair.repair(check, entry, held, folder, console, watch=Stopwatch(console))
    return package.load(folder)


def test_a_patch_is_tried_in_a_copy_and_shown_as_a_difference(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    check = mend(folder, MENDED, monkeypatch)
    assert check.search is not None
    assert "-rng = random.Random()\n+rng = random.Random(0)\n" in check.search.patch
    assert check.search.patch.startswith("--- a/train.py\n+++ b/train.py\n")
    last = check.search.tried[-1]
    assert (last.patched, last.controls, last.runs, last.agrees, last.bitwise) == (True, (), 2, True, True)
    assert (check.search.smallest, check.causes[0].confidence) == (("private-rng",), "confirmed")
    assert Path("train.py").read_text() == PRIVATE, "the user's file is left alone"


def test_a_patch_that_does_not_help_is_not_offered(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    check = mend(folder, NOT_MENDED, monkeypatch)
    assert check.search is not None
    assert (check.search.patch, check.search.tried[-1].patched, check.search.tried[-1].agrees) == ("", True, False)
    assert check.search.smallest == ("private-rng",), "the cause stays confirmed"


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


def test_findings_about_the_confirmed_cause_are_mended(folder: Path) -> None:
    base = package.load(folder)
    cause = Cause(code="RC601", title="", confidence="confirmed", source=SourceLine(file="train.py", line=3))
    check = replace(
        base, causes=(cause, replace(cause, code="RC501", confidence="suspected")), search=Search(tried=(), smallest=("private-rng",))
    )
    here, coded, elsewhere = finding("RC407", 3), finding("RC601", 9), finding("RC407", 20)
    assert repair.fitting_findings((here, coded, elsewhere, finding("RC501", 9), finding("RC601", 3, patchable=False)), check) == (
        here,
        coded,
    )
    assert repair.fitting_findings((elsewhere, finding("RC501", 9)), check) == (elsewhere,), "else what the control removes"
    assert repair.fitting_findings((finding("RC501", 9),), check) == ()


def test_scripts_that_a_command_names(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("train.py", "package/__main__.py", "package/other.py"):
        Path(name).parent.mkdir(exist_ok=True)
        Path(name).touch()

    def named(kind: str, *command: str) -> list[str]:
        return [str(path) for path in repair.scripts(EntryPoint(command=command, kind=kind, name="x"))]  # type: ignore[arg-type]

    assert named("script", "/usr/bin/python", "train.py", "--config", "package/other.py") == ["train.py"]
    assert named("module", "python", "-m", "package", "-x") == ["package/__main__.py"]
    assert named("module", "python", "-m", "package.other") == ["package/other.py"]
    assert named("command", "torchrun", "--nproc-per-node", "2", "train.py") == ["train.py"]
    assert named("command", "bash", "train.sh") == []


def test_the_time_of_an_iteration() -> None:
    watch = Stopwatch(Console(Settings(quiet=True)))
    for number, step in ((1, 0.5), (2, 0.7)):
        watch.run_started(number, 2)
        for iteration in range(5):
            watch.progress(number, iteration, 1.0, 2 + iteration * step)
        watch.run_ended(RunRecord(number=number, ended="completed", exit_status=0, started="", seconds=9.0, trace="", stdout="", stderr=""))
    assert watch.step_seconds() == pytest.approx(0.6)
    assert watch.step_seconds() is None, "each time is told once"
    watch.progress(1, 1, 1.0, 2.0)
    watch.progress(1, 9, 1.0, 2.4)
    assert watch.step_seconds() is None, "too short to say anything"
