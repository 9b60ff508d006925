"""Snapshots of working directories, and the look for a checkpoint, where there are more files than
are listed.
"""

from __future__ import annotations

import os
from pathlib import Path
from types import SimpleNamespace

import pytest

from reprocheck.child.reprocheck_child.resume import checkpoints
from reprocheck.child.reprocheck_child.resume.archives import Save, Savers
from reprocheck.child.reprocheck_child.resume.checkpoints import Checkpoints
from reprocheck.launch.workdir.tree import Tree, read_tree, written_since
from reprocheck.resume.external_checkpoint import Elsewhere
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


WHOLE = {"model": "weights", "optimizer": "optimizer", "step": "int"}
"""What a saver is given, by key: kinds as a trace names them."""


class _Archives:
    """Knows what is saved as `Archives` does, of a dict that says it."""

    @staticmethod
    def contents(value: dict[str, str]) -> list[list[object]]:
        return [[f"['{key}']", {"d": kind, "v": ""}] for key, kind in value.items()]

    def saved(self, *_: object) -> None:
        pass


class _Training:
    """Saves as a training does in a folder, and asks which checkpoint stands there."""

    def __init__(self, folder: Path, pattern: str = "") -> None:
        folder.mkdir()
        self.folder = folder
        self.recorder = _recorder(folder, folder.parent / "trace")
        self.recorder.deep = SimpleNamespace(boundary=SimpleNamespace(archives=_Archives()))
        self.watched = Checkpoints(self.recorder, pattern, lambda path: None)
        self.recorder.savers.make = lambda by: Save(by, "train.py:9", 3)
        self.watched.begin()

    def write(self, name: str, content: str = "") -> None:
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        self.watched._opened(str(path), "wb", os.O_WRONLY)
        path.write_bytes(b"PK\x03\x04" + (content or name).encode())

    def save(self, holds: dict[str, str], *names: str, by: str = "torch.save") -> None:
        end = self.recorder.savers._begin(by, (0, "obj"), (holds, names[0]), {})
        for name in names:
            self.write(name)
        end(None)

    def copy(self, name: str, target: str) -> None:
        self.watched._about_to_copy(name, str(self.folder / target))
        self.write(target, name)

    def link(self, name: str, target: str) -> None:
        os.symlink(name, self.folder / target)

    def found(self) -> tuple[str, list[str]]:
        """What names the checkpoint, and the files beside it."""
        found = self.watched.found(3)
        assert found is not None
        return found.target, found.beside


def test_a_checkpoint_is_the_file_that_the_saver_wrote_and_no_copy_of_it(tmp_path: Path) -> None:
    training = _Training(tmp_path / "place")
    training.save(WHOLE, "runs/step_8.pt")
    training.copy("runs/step_8.pt", "runs/last.pt")
    training.link("step_8.pt", "runs/newest.pt")
    assert training.found() == ("runs/step_8.pt", ["runs/last.pt"])


def test_of_several_saves_the_newest_whole_one_is_the_checkpoint(tmp_path: Path) -> None:
    training = _Training(tmp_path / "place")
    training.save(WHOLE, "best.pt")
    training.save(WHOLE, "last.pt")
    training.save({"model": "weights"}, "weights.pt")
    training.write("extra.npz")
    assert training.found() == ("last.pt", ["best.pt", "extra.npz", "weights.pt"])


def test_parts_that_were_saved_one_by_one_are_the_folder_that_holds_nothing_else(
    tmp_path: Path,
) -> None:
    training = _Training(tmp_path / "place")
    training.save({"": "weights"}, "ckpt/step-3/model.pt")
    training.save({"": "optimizer"}, "ckpt/step-3/optimizer.pt")
    assert training.found() == ("ckpt/step-3", [])


def test_where_the_parts_lie_among_other_files_nothing_names_the_checkpoint(
    tmp_path: Path,
) -> None:
    training = _Training(tmp_path / "place")
    (tmp_path / "place" / "train.py").write_text("the script")
    training.save({"": "weights"}, "model.pt")
    training.save({"": "optimizer"}, "optimizer.pt")
    assert training.found() == ("", [])


@pytest.mark.parametrize(
    ("by", "names", "target"),
    [
        ("torch.distributed.checkpoint.save", ["dcp/3/.metadata", "dcp/3/__0_0.distcp"], "dcp/3"),
        ("transformers.Trainer", ["out/checkpoint-3/trainer_state.json"], "out/checkpoint-3"),
        ("Accelerator.save_state", ["acc/model.safetensors", "acc/optimizer.bin"], "acc"),
        ("Trainer.save_checkpoint", ["lightning/step=3.ckpt"], "lightning/step=3.ckpt"),
        ("tf.train.Checkpoint", ["tf/ckpt-1.index", "tf/ckpt-1.data-00000-of-00001"], "tf/ckpt-1"),
        ("keras.Model.save", ["model.keras"], "model.keras"),
        ("mindspore.save_checkpoint", ["net.ckpt"], "net.ckpt"),
    ],
)
def test_a_checkpoint_is_what_the_framework_writes(
    tmp_path: Path, by: str, names: list[str], target: str
) -> None:
    training = _Training(tmp_path / "place")
    training.save(WHOLE, *names, by=by)
    assert training.found() == (target, [])


def test_a_pattern_names_the_newest_file_or_the_folder_that_it_is_of(tmp_path: Path) -> None:
    training = _Training(tmp_path / "place", "*.pt")
    training.save(WHOLE, "best.pt")
    training.save(WHOLE, "last.pt")
    assert training.found() == ("last.pt", ["best.pt"])
    folders = _Training(tmp_path / "folders", "out/step-*")
    folders.save({"": "weights"}, "out/step-3/model.pt")
    folders.save({"": "optimizer"}, "out/step-3/optimizer.pt")
    assert folders.found() == ("out/step-3", [])
