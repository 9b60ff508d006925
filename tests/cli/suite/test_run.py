"""`reprocheck suite run` as one types it."""

from __future__ import annotations

import json
import re
import shlex
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from reprocheck.suite.history import open_history
from reprocheck.suite.targets import load
from tests.conftest import clean_environment, reprocheck_here
from tests.suite.here import checks_here
from tests.suite.nights import BAD, GOOD

TOKEN = "REPROCHECK_TEST_NIGHT"
WAITS = f"""
import os, time
from pathlib import Path
Path("started").touch()
while not Path("go").exists():
    time.sleep(0.02)
{GOOD}
"""
SETTINGS = """
draw = false
explain = false
[[target]]
name = "before"
run = "good.py"
[[target]]
name = "waits"
run = "waits.py"
[[target]]
name = "without"
run = "good.py"
"""
PATIENCE = 120.0


def wait_for(condition: Callable[[], bool]) -> None:
    """Until a condition holds, which is asked again and again."""
    until = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < until, "it did not come to that"
        time.sleep(0.02)


def of_night(folder: Path) -> Iterator[str]:
    """The processes that were started by a night in this folder."""
    for path in Path("/proc").glob("[0-9]*/environ"):
        try:
            if f"{TOKEN}={folder}".encode() in path.read_bytes():
                yield path.parent.name
        except OSError:
            continue


def begun(folder: Path, *words: str) -> subprocess.Popen[str]:
    """A night that has come to the check that waits."""
    (folder / "started").unlink(missing_ok=True)
    process = subprocess.Popen(
        [sys.executable, "-m", "reprocheck", "suite", "run", "--no-record", *words],
        cwd=folder,
        env=clean_environment(**{TOKEN: str(folder)}),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        stdin=subprocess.DEVNULL,
        text=True,
    )
    wait_for((folder / "started").exists)
    return process


def test_a_night_that_is_interrupted_goes_on(tmp_path: Path) -> None:
    (tmp_path / "reprocheck.toml").write_text(SETTINGS)
    (tmp_path / "good.py").write_text(GOOD)
    (tmp_path / "waits.py").write_text(WAITS)
    interrupted = begun(tmp_path, "--retries", "1")
    refused = reprocheck_here("suite", "run", "--resume", "last", cwd=tmp_path)
    assert refused.returncode == 2
    assert "is under way" in " ".join(refused.stderr.split())
    interrupted.send_signal(signal.SIGINT)
    _, said = interrupted.communicate(timeout=PATIENCE)
    assert interrupted.returncode == 130
    assert list(of_night(tmp_path)) == []
    assert "Kept of this night: 1 check." in " ".join(said.split())
    command = re.search(r"reprocheck suite run --resume \S+ --retries 1", " ".join(said.split()))
    assert command is not None

    resume = shlex.split(command[0])[3:]
    (tmp_path / "go").touch()
    done = reprocheck_here("suite", "run", "--no-record", *resume, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    with open_history(load(tmp_path).history) as history:
        (night,) = history.nights()
        checks = history.checks()
    assert night.ended is not None
    assert sorted(check.target for check in checks) == ["before", "waits", "without"]
    assert all(check.good and check.attempt == 1 for check in checks)
    left = sorted(
        path.name for path in (tmp_path / "nightly" / "nights" / night.id / "waits").iterdir()
    )
    assert left == ["attempt-1"]


@pytest.fixture(scope="module")
def night(
    tmp_path_factory: pytest.TempPathFactory,
) -> tuple[Path, subprocess.CompletedProcess[str]]:
    """Two nights: one where a target is bad, and what it printed."""
    folder = tmp_path_factory.mktemp("suite")
    (folder / "good.py").write_text(GOOD)
    (folder / "bad.py").write_text(BAD)
    (folder / "reprocheck.toml").write_text(
        "draw = false\nexplain = false\n"
        '[[target]]\nname = "good"\nrun = "good.py"\ntags = ["fast"]\n'
        '[[target]]\nname = "bad"\nrun = "bad.py"\nexplain = true\n'
        '[[target]]\nname = "big"\nrun = "good.py"\nneeds = {gpus = 1000}\n'
    )
    with checks_here():
        done = reprocheck_here("suite", "run", "--format", "json", cwd=folder, COLUMNS="80")
    return folder, done


def test_a_night_prints_a_line_a_check_and_ends_with_what_to_do(
    night: tuple[Path, subprocess.CompletedProcess[str]],
) -> None:
    _, done = night
    assert done.returncode == 1
    shown = [re.sub(r"\d{4}-\S+", "NIGHT", line) for line in done.stderr.splitlines()]
    assert max(map(len, shown)) <= 80
    text = "\n".join(re.sub(r"[\d.]+ s$", "N s", line) for line in shown)
    assert "night NIGHT 2 targets" in text
    assert "1 of 2  bad: NOT REPRODUCIBLE (forward), N s" in text
    assert "2 of 2  good: REPRODUCIBLE, N s" in text
    states = "FAILED night NIGHT 2 targets checked: 1 new failure, 1 not run, 1 new target"
    assert states in " ".join(text.split())
    assert shown[-8:] == [
        "  3 of 3 targets have no baseline",
        "  pages: nightly/site/index.html",
        "  look at one:",
        "    reprocheck suite show bad",
        "  check what failed again:",
        "    reprocheck suite run --only-failed",
        "  hold the next nights against this one:",
        '    reprocheck suite baseline accept --night NIGHT --why "REASON"',
    ]


def test_stdout_is_the_format_that_was_asked_for_alone(
    night: tuple[Path, subprocess.CompletedProcess[str]],
) -> None:
    folder, done = night
    document = json.loads(done.stdout)
    (written,) = (folder / "nightly" / "nights").glob("*/night.json")
    assert json.loads(written.read_text()) == document
    assert {path.name for path in written.parent.iterdir()} >= {"junit.xml", "summary.md"}


def test_an_annotation_points_at_the_line_of_the_cause(
    night: tuple[Path, subprocess.CompletedProcess[str]],
) -> None:
    folder, _ = night
    (written,) = (folder / "nightly" / "nights").glob("*/annotations.txt")
    line = 1 + BAD.splitlines().index(next(row for row in BAD.splitlines() if "read_text" in row))
    assert f"::error file=bad.py,line={line},title=bad" in written.read_text()


def test_the_folder_of_a_suite_is_hidden_from_git_and_from_snapshots(
    night: tuple[Path, subprocess.CompletedProcess[str]],
) -> None:
    from reprocheck.launch.workdir.tree import read_tree

    folder, _ = night
    assert (folder / "nightly" / ".gitignore").read_text() == "*\n"
    assert read_tree(folder).skipped == ("nightly",)


def test_a_good_target_has_a_deeper_recording_and_a_bad_one_has_none(
    night: tuple[Path, subprocess.CompletedProcess[str]],
) -> None:
    folder, _ = night
    (kept,) = (folder / "nightly" / "kept").rglob("*.zip")
    assert kept.parent.name == "good"


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--resume", "last"], "No night was interrupted."),
        (["--resume", "last", "good"], "--resume goes on with the targets of that night."),
        (["--executor", "cloud"], "--executor cloud: there is no such executor."),
        (["--format", "pdf"], "--format pdf: there is no such format of a night."),
        (["-o", "night.pdf"], "-o night.pdf does not name a format of a night."),
        (["-o", "missing/night.xml"], "missing/night.xml cannot be written"),
        (["--shard", "3/2"], "shard"),
        (["absent"], "absent"),
    ],
)
def test_what_cannot_be_asked_for_is_answered_with_what_can(
    night: tuple[Path, subprocess.CompletedProcess[str]],
    words: list[str],
    said: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    from reprocheck.cli import main

    monkeypatch.chdir(night[0])
    monkeypatch.setenv("COLUMNS", "200")
    assert main(["suite", "run", *words]) == 2
    shown = capsys.readouterr().err
    assert said in shown
    assert "fix:" in shown
