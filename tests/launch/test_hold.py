"""The script removes the folder of the reports, in which the copies of the user's files lie."""

from __future__ import annotations

import subprocess
import time
from pathlib import Path

import pytest

from reprocheck.errors import ReportError
from reprocheck.launch.workdir import snapshot
from reprocheck.launch.workdir.archive import Archive
from reprocheck.launch.workdir.hold import hold_of
from reprocheck.launch.workdir.tree import read_tree
from tests.launch.conftest import Place, driver, wait_until

LARGE = bytes(range(256)) * 1024
WAITS = """
    import os, shutil, signal
    from pathlib import Path
    guard = os.getppid()
    ours = int(Path(f"/proc/{guard}/stat").read_text().rpartition(")")[2].split()[1])
    trace = f"{os.getpid()}-"
    while not any(
        Path(os.path.realpath(opened)).name.startswith(trace)
        for opened in Path(f"/proc/{ours}/fd").iterdir()
    ):
        pass
"""
"""Until reprocheck reads the trace of the script, which is removed with all the rest."""
REMOVES = f"""{WAITS}
    Path("data.txt").write_text("of a run")
    Path("old.txt").unlink(missing_ok=True)
    shutil.rmtree("reports")
    with open("model.bin", "ab") as file:
        file.write(b"of a run")
"""
KILLS_US = """\
    os.kill(ours, signal.SIGKILL)
    signal.pause()
"""
"""The run goes on until its guard has seen that reprocheck is dead."""


@pytest.fixture
def mine(place: Place) -> Path:
    (place.path / "data.txt").write_text("mine")
    (place.path / "old.txt").write_text("mine")
    (place.path / "model.bin").write_bytes(LARGE)
    return place.path


def test_the_files_are_put_back_and_those_of_the_run_are_kept(place: Place, mine: Path) -> None:
    with pytest.raises(ReportError, match="was removed while the runs were under way"):
        place.check(REMOVES)
    assert (mine / "data.txt").read_text() == (mine / "old.txt").read_text() == "mine"
    assert (mine / "model.bin").read_bytes() == LARGE
    left = place.folder / "left"
    assert (left / "data.txt").read_text() == "of a run"
    assert (left / "model.bin").read_bytes() == LARGE + b"of a run"
    assert [path.name for path in place.folder.iterdir()] == ["left"]
    assert not list(mine.parent.glob("reprocheck-*"))


def test_the_guard_keeps_the_files_where_reprocheck_is_killed_as_well(
    place: Place, mine: Path
) -> None:
    subprocess.run(driver(place.script(REMOVES + KILLS_US)), cwd=mine, check=False)
    wait_until(lambda: not list(mine.parent.glob("reprocheck-*")))
    (before,) = mine.glob("reports/train-*/before")
    for name, content in {"data.txt": b"mine", "model.bin": LARGE}.items():
        assert (before / name).read_bytes() == content
    assert not list(mine.glob("reports/train-*/snapshot"))


STOPS_US = """\
    os.kill(ours, signal.SIGSTOP)
"""


def test_reprocheck_may_be_killed_in_the_moment_in_which_a_run_ends(
    place: Place, mine: Path
) -> None:
    """The run is over, its guard has said so, and reprocheck is killed before it hears it."""
    process = subprocess.Popen(driver(place.script(REMOVES + STOPS_US)), cwd=mine)
    wait_until(lambda: b"T" in state_of(process.pid))
    (guard,) = children_of(process.pid)
    wait_until(lambda: not children_of(guard))
    time.sleep(0.3)  # the guard has written, and nothing else can be seen of that
    assert state_of(guard) != b"Z", "it stays until reprocheck has heard it"
    process.kill()
    process.wait(60)
    wait_until(lambda: not list(mine.parent.glob("reprocheck-*")))
    (before,) = mine.glob("reports/train-*/before")
    for name, content in {"data.txt": b"mine", "old.txt": b"mine", "model.bin": LARGE}.items():
        assert (before / name).read_bytes() == content


def state_of(pid: int) -> bytes:
    return Path(f"/proc/{pid}/stat").read_bytes().rpartition(b")")[2].split()[0]


def children_of(pid: int) -> list[int]:
    return [int(word) for word in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]


def test_only_what_is_gone_is_written_again(tmp_path: Path) -> None:
    work, store = tmp_path / "work", tmp_path / "report" / "snapshot"
    work.mkdir()
    (work / "data.txt").write_text("mine")
    snapshot.keep(work, read_tree(work, ()), store)
    owner = (store / snapshot.OWNER).stat().st_ino
    hold = hold_of(store)
    (store / snapshot.PACK).unlink()
    with hold.ended(Archive(folder=store.parent, workdir=work)):
        assert (store / snapshot.PACK).read_bytes() == b"mine"
        assert (store / snapshot.OWNER).stat().st_ino == owner
    assert store.exists(), "what is in it is not removed"
