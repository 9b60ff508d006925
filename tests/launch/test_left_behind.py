"""reprocheck, its guard and the script are killed at once: the next command in the folder puts the
files back.
"""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from reprocheck.launch.workdir import interrupted_checks
from reprocheck.recording import record
from tests.launch.conftest import Place, driver, wait_until

WRITES = """
    import time
    from pathlib import Path
    Path("data.txt").write_text("of a run")
    Path("edited.txt").write_text("of a run")
    Path("reports/ready").touch()
    time.sleep(600)  # TOKEN
"""


def descendants(root: int) -> list[int]:
    """A process and all below it."""
    found = [root]
    for pid in found:
        found += map(int, Path(f"/proc/{pid}/task/{pid}/children").read_text().split())
    return found


def kill_all(place: Place) -> None:
    """Starts a check and kills it, its guard and its script with one signal each, once the script
    has written. All are stopped before, and reprocheck is killed last: its death would continue
    the guard.
    """
    (place.path / "reports").mkdir()
    process = subprocess.Popen(driver(place.script(WRITES)), cwd=place.path)
    wait_until((place.path / "reports" / "ready").exists)
    every = descendants(process.pid)
    for pid in every:
        os.kill(pid, signal.SIGSTOP)
    for pid in reversed(every):
        os.kill(pid, signal.SIGKILL)
    process.wait(120)
    assert len(every) >= 3
    wait_until(lambda: not place.alive())


@pytest.fixture
def killed(place: Place) -> Path:
    """A check that was killed with everything that it had started; its report folder."""
    (place.path / "data.txt").write_text("mine")
    (place.path / "edited.txt").write_text("mine")
    kill_all(place)
    (folder,) = place.path.glob("reports/train-*")
    assert (place.path / "data.txt").read_text() == "of a run"
    return folder


def reprocheck(*words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "reprocheck", *words], capture_output=True, text=True
    )


def test_any_command_in_the_folder_puts_the_files_back_and_says_so(
    place: Place, killed: Path
) -> None:
    (scratch,) = place.path.parent.glob("reprocheck-*")
    shutil.copytree(scratch, scratch.with_name("reprocheck-beside"))
    done = reprocheck("rules", "RC101")
    assert (
        (place.path / "data.txt").read_text() == (place.path / "edited.txt").read_text() == "mine"
    )
    assert (killed / "left" / "data.txt").read_text() == "of a run"
    assert "data.txt" in done.stderr and "are put back" in " ".join(done.stderr.split())
    assert not (killed / "snapshot").exists()
    assert not list(place.path.parent.glob("reprocheck-*")), (
        "the folders of the runs' temporary files are gone, too"
    )
    assert reprocheck("rules", "RC101").stderr == ""


def test_what_somebody_changed_after_the_check_was_killed_stays(
    place: Place, killed: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(interrupted_checks, "SLACK", 0.0)
    last = (place.path / "edited.txt").stat().st_ctime_ns
    os.utime(killed / "snapshot" / "owner.json", ns=(last, last))

    def edit() -> bool:
        (place.path / "edited.txt").write_text("mine, edited later")
        return (place.path / "edited.txt").stat().st_ctime_ns > last

    wait_until(edit)
    said = list(interrupted_checks.restored(place.path / "reports", place.path))
    assert (place.path / "data.txt").read_text() == "mine"
    assert (place.path / "edited.txt").read_text() == "mine, edited later"
    assert (killed / "before" / "edited.txt").read_text() == "mine"
    assert "data.txt" in said[0] and "edited.txt" in said[1]
    assert record.read(killed).files_after[0].others == ("edited.txt",)


def test_a_check_that_is_under_way_is_left_alone(place: Place) -> None:
    (place.path / "data.txt").write_text("mine")
    (place.path / "reports").mkdir()
    process = subprocess.Popen(driver(place.script(WRITES)), cwd=place.path)
    wait_until((place.path / "reports" / "ready").exists)
    try:
        assert list(interrupted_checks.restored(place.path / "reports", place.path)) == []
        assert (place.path / "data.txt").read_text() == "of a run"
    finally:
        process.send_signal(signal.SIGINT)
        process.wait(120)
    assert (place.path / "data.txt").read_text() == "mine"
