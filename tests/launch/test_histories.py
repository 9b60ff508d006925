"""Whatever a training, its user and other programs do to the files of a folder, before, between and
during the runs, and whenever a check is killed: nothing of the user's is lost, and nothing is
written outside.

The script's actions are watched by the audit hook of the recorder itself. `REPROCHECK_TEST_HISTORIES`
says how many histories are tried.
"""

from __future__ import annotations

import json
import os
import shutil
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any, get_args

import pytest
from hypothesis import HealthCheck, Phase, example, given, settings, strategies as st

from reprocheck.child.reprocheck_child.files_seen import opened_files as recorder_files
from reprocheck.launch.workdir import cleanup, writers
from reprocheck.launch.workdir.archive import Archive
from reprocheck.launch.workdir.file_events import read_events
from reprocheck.launch.workdir.tree import read_tree
from reprocheck.launch.workdir.workdir import InPlace
from reprocheck.model import FilesAfter
from tests.launch.actions import PATHS, Action, Kind, contents, fill, perform

HISTORIES = int(os.environ.get("REPROCHECK_TEST_HISTORIES", "520"))

_taken: list[Any] = []


def _watch(event: str, arguments: tuple[Any, ...]) -> None:
    if _taken:
        _taken[-1](event, arguments)


@dataclass
class _Recorder:
    """As much of the recorder as the hook needs: events go to a trace."""

    folder: str
    trace: Path
    workdir: str
    boundaries: None = None

    def thread(self) -> int:
        return 1

    def emit(self, event: dict[str, Any]) -> None:
        with _unwatched(), self.trace.open("a") as file:
            file.write(json.dumps(event, separators=(",", ":")) + "\n")

    def masked(self, text: str) -> str:
        return text

    def problem(self, what: str, error: Exception) -> None:
        raise AssertionError(what) from error


@contextmanager
def _unwatched() -> Iterator[None]:
    _taken.append(lambda *_: None)
    try:
        yield
    finally:
        _taken.pop()


@dataclass
class History:
    """A folder with a check in it, and what the user last made of each file."""

    root: Path
    report: Path
    mine: dict[str, str] = field(default_factory=dict)
    touched_by_others: set[str] = field(default_factory=set)
    written_in_run: set[str] = field(default_factory=set)
    fragile: set[str] = field(default_factory=set)
    opened: list[Any] = field(default_factory=list)
    count: int = 0
    run: int = 0

    def start(self) -> None:
        self.mine = contents(self.root)
        self.touched_by_others.clear()
        self.workdir = InPlace(
            Archive(folder=self.report, workdir=self.root),
            leave_out=[self.report.parent],
            say=lambda text: None,
        )

    def begin_run(self) -> None:
        self.run += 1
        self.written_in_run.clear()
        self.fragile.clear()
        self.workdir.begin()
        trace = self.report / f"run-{self.run}" / "trace"
        trace.mkdir(parents=True)
        self.recorder = _Recorder(str(trace), trace / "1-1.jsonl", str(self.root))
        self.recorder.trace.touch()
        watched = recorder_files.Files(
            self.recorder, str(self.root), str(self.report.parent), 0.0, self.workdir.began or 0.0
        )
        self.hook = recorder_files._hook(watched)

    def end_run(self) -> None:
        self.workdir.secure()
        self.workdir.end(read_events(self.report.glob(f"run-{self.run}/trace/*.jsonl")))

    def script(self, action: Action) -> None:
        before = contents(self.root)
        _taken.append(self.hook)
        try:
            perform(action, self.root, self._text("of a run"), self.report)
        finally:
            _taken.pop()
        for path in _changed(before, contents(self.root)):
            self.written_in_run.add(path)
            if path in self.fragile:  # saved between two writes of the same run: nobody can tell
                self.mine.pop(path, None)

    def somebody(self, action: Action, who: str, *, keeps_open: bool = False) -> None:
        before, stood = contents(self.root), _modes_and_times(self.root)
        perform(action, self.root, self._text(who))
        path = self.root / action.path
        if keeps_open and path.is_file() and not path.is_symlink():
            self.opened.append(path.open("a"))
        after = contents(self.root)
        self.touched_by_others |= _changed(stood, _modes_and_times(self.root))
        for changed in _changed(before, after):
            self.mine.pop(changed, None)
            if changed in after:
                self.mine[changed] = after[changed]
            if changed in self.written_in_run:
                self.fragile.add(changed)

    def close(self) -> FilesAfter:
        return self.workdir.close()

    def killed(self) -> FilesAfter:
        """The guard, or the next command, finds what the check has left."""
        self.workdir.hold.close()
        return cleanup.clean_up(self.report)

    def _text(self, who: str) -> str:
        self.count += 1
        return f"{self.count}, {who}"


def _names_of(file: IO[str], root: Path) -> set[str]:
    """All names of an open file in a folder."""
    inode = os.fstat(file.fileno()).st_ino
    return {name for name in contents(root) if (root / name).lstat().st_ino == inode}


def _modes_and_times(root: Path) -> dict[str, tuple[int, ...]]:
    return {
        path: (entry.inode, entry.mode, entry.mtime if entry.kind != "folder" else 0)
        for path, entry in read_tree(root, [root / "reports"]).entries.items()
    }


def _changed(before: dict[str, Any], after: dict[str, Any]) -> set[str]:
    return {path for path in before.keys() | after.keys() if before.get(path) != after.get(path)}


actions = st.builds(
    Action,
    kind=st.sampled_from(get_args(Kind)),
    path=st.sampled_from(PATHS),
    other=st.sampled_from(PATHS),
)
Step = tuple[str, Action]


def script(kind: Kind, path: str, other: str = "new") -> Step:
    return "script", Action(kind, path, other)


def user(kind: Kind, path: str) -> Step:
    return "user", Action(kind, path)


actors = ["script", "script", "user", "program", "program that keeps it open"]
steps = st.lists(
    st.tuples(st.sampled_from(actors), actions),
    max_size=5,
)
between = st.lists(st.tuples(st.just("user"), actions), max_size=2)
runs = st.lists(st.tuples(between, steps), min_size=1, max_size=3)
kills = st.none() | st.tuples(st.integers(0, 2), st.integers(0, 6))


def _live(
    history: History, runs: list[Any], last: list[Any], kill: tuple[int, int] | None
) -> FilesAfter:
    for number, (before, during) in enumerate(runs):
        for who, action in before:
            history.somebody(action, who)
        if number == 0:
            history.start()
        if kill == (number, 0):
            return history.killed()
        history.begin_run()
        for step, (who, action) in enumerate(during, 1):
            if who == "script":
                history.script(action)
            else:
                history.somebody(action, who, keeps_open="open" in who)
            if kill == (number, step):
                return history.killed()
        if kill == (number, 6):
            return history.killed()
        history.end_run()
    for who, action in last:
        history.somebody(action, who)
    return history.close()


@settings(
    max_examples=HISTORIES,
    deadline=None,
    suppress_health_check=list(HealthCheck),
    phases=set(Phase) - {Phase.explain},
    report_multiple_bugs=False,
)
@example(  # the user writes, through another name, to a file that the script has renamed
    runs=[([], [script("rename", "a", "b")]), ([user("write", "b")], [])], last=[], kill=None
)
@example(  # what the script renamed is another file by now
    runs=[([], [user("write", "b"), script("rename", "b", "n\udcff"), script("write", "n\udcff")])],
    last=[],
    kill=None,
)
@example(  # a link that could not be made loses nothing, the removal does
    runs=[([], [script("hard link", "a", "b"), user("write", "b"), script("remove", "b")])],
    last=[],
    kill=None,
)
@example(  # a killed run has written through a name that it had made itself
    runs=[([], []), ([], [script("hard link", "a", "new"), script("write", "new")])],
    last=[],
    kill=(1, 2),
)
@example(  # somebody removes the folder of what the script has removed
    runs=[([], [script("remove", "d/e")]), ([user("remove", "d")], [])], last=[], kill=None
)
@given(runs=runs, last=between, kill=kills)
def test_nothing_is_lost_and_nothing_is_written_outside(
    runs: list[Any], last: list[Any], kill: tuple[int, int] | None
) -> None:
    with pytest.MonkeyPatch.context() as patched:  # the other programs are in this process
        patched.setattr(writers, "PROCESSES", f"/proc/{os.getpid()}/task")
        _try(runs, last, kill)


def _try(runs: list[Any], last: list[Any], kill: tuple[int, int] | None) -> None:
    folder = Path(tempfile.mkdtemp(dir=os.environ.get("TMPDIR")))
    root = folder / "work"
    root.mkdir()
    fill(root)
    outside = contents(folder / "else")
    report = root / "reports" / "train-1"
    report.mkdir(parents=True)
    history = History(root=root, report=report)
    try:
        after = _live(history, runs, last, kill)
        assert contents(folder / "else") == outside, "written outside"
        assert after.lost == after.unkept == ()
        _assert_nothing_is_lost(history, after)
    finally:
        for file in history.opened:
            file.close()
        shutil.rmtree(folder)


def _assert_nothing_is_lost(history: History, after: FilesAfter) -> None:
    now = contents(history.root)
    archived = contents(history.report)
    for file in history.opened:
        history.touched_by_others |= _names_of(file, history.root)
    for path, content in history.mine.items():
        touched = any(
            path == other or path.startswith(other + "/") or other.startswith(path + "/")
            for other in history.touched_by_others
        )
        if not touched:
            assert now.get(path) == content, f"{path} is not as it was"
            continue
        if any(text.startswith(content) for text in now.values()):
            continue
        places = [name for name, text in archived.items() if text.startswith(content)]
        assert places, f"{path} is lost: {content}"
        named = [
            *(f"left/{name}" for name in after.replaced),
            *(f"before/{name}" for name in after.kept),
            *(f"meanwhile/{name}" for name in after.saved),
        ]
        assert any(place.startswith(name) for place in places for name in named), (
            f"{path} lies in {places}, and the report names {named}"
        )


sys.addaudithook(_watch)
