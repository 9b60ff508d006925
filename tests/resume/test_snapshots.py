"""Snapshots of working directories, and the look for a checkpoint, where there are more files than
are listed.
"""

from __future__ import annotations

import os
from pathlib import Path
from types import SimpleNamespace

import pytest

from reprocheck.child.reprocheck_child import checkpoints
from reprocheck.child.reprocheck_child.archives import Savers
from reprocheck.child.reprocheck_child.checkpoints import Checkpoints
from reprocheck.launch.tree import Tree, read_tree, written_since
from reprocheck.resume.elsewhere import Elsewhere
from reprocheck.resume.model import Checkpoint
from reprocheck.resume.snapshots import Snapshots


def _later(path: Path, than: Path) -> None:
    """Writes to a file until its time of change is behind that of another one."""
    path.parent.mkdir(exist_ok=True)
    while not path.exists() or path.stat().st_ctime_ns <= than.stat().st_ctime_ns:
        path.write_text("new")


@pytest.fixture
def wide(tmp_path: Path) -> Path:
    """A working directory beside a trace: two old files, and what was written since."""
    place, trace = tmp_path / "place", tmp_path / "trace"
    for folder in (place, place / "data", place / ".git", trace):
        folder.mkdir()
    for name in ("train.py", "data/1"):
        (place / name).write_text("old")
    _later(trace / "recorder.json", place / "data" / "1")
    for name in ("out/ckpt.pt", "data/1", ".git/index"):
        _later(place / name, trace / "recorder.json")
    return tmp_path


def test_what_was_written_since_is_found_by_the_clock_of_the_file_system(wide: Path) -> None:
    began = (wide / "trace" / "recorder.json").stat().st_ctime_ns
    assert set(written_since(wide / "place", began)) == {"out/ckpt.pt", "data/1"}


@pytest.mark.parametrize("is_wide", [False, True])
def test_a_snapshot_holds_what_changed_however_many_files_there_are(
    wide: Path, is_wide: bool
) -> None:
    place = wide / "place"
    before = read_tree(place)
    entries = {name: before.entries[name] for name in ("train.py", "data")}
    tree = Tree(entries, complete=not is_wide)
    workdir = SimpleNamespace(path=place, tree=tree)
    taken = Snapshots(wide / "report", wide / "trace", workdir, Elsewhere(""))  # type: ignore[arg-type]
    taken.leave(Checkpoint(iteration=3), "first")
    copy = wide / "copy"
    copy.mkdir()
    (snapshot,) = taken.taken
    (place / "out" / "ckpt.pt").write_text("written in place later")
    snapshot.lay_over(copy)
    found = {str(path.relative_to(copy)) for path in copy.rglob("*") if path.is_file()}
    assert found == {"out/ckpt.pt", "data/1"}
    assert (copy / "out" / "ckpt.pt").read_text() == "new"


def _recorder(place: Path, trace: Path) -> SimpleNamespace:
    """What watches a training that has made three updates."""
    recorder = SimpleNamespace(
        workdir=str(place), folder=str(trace), iteration=1, updated=3, masked=str, deep=None
    )
    recorder.savers = Savers(recorder)
    return recorder


def test_of_too_many_files_those_are_looked_at_that_the_training_writes(
    wide: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(checkpoints, "MOST_FILES", 2)
    recorder = _recorder(wide / "place", wide / "trace")
    watched = Checkpoints(recorder, "", lambda path: None)
    watched.begin()
    seen = wide / "place" / "seen.pt"
    for name in ("seen.pt", "unseen.pt"):
        (wide / "place" / name).write_bytes(b"PK\x03\x04")
    watched._opened(str(seen), "wb", os.O_WRONLY)
    found = watched.found(3)
    assert found is not None and found.paths == ["seen.pt"] and found.save.updates == 3
    assert watched.found(4) is None


def test_a_log_that_stays_open_is_no_part_of_a_checkpoint_beside_it(tmp_path: Path) -> None:
    recorder = _recorder(tmp_path, tmp_path / "trace")
    watched = Checkpoints(recorder, "", lambda path: None)
    with (tmp_path / "run.jsonl").open("w") as log:
        watched.begin()
        log.write("loss")
        log.flush()
        for name in ("last.pt", "last.txt"):
            (tmp_path / name).write_bytes(b"PK\x03\x04" + name.encode())
            watched._opened(str(tmp_path / name), "wb", os.O_WRONLY)
        found = watched.found(3)
    assert found is not None and found.paths == ["last.pt", "last.txt"]
