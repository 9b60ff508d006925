"""Real scripts, real processes: a working directory, a way to run a check in it, and a way to see
what is still alive.
"""

from __future__ import annotations

import os
import sys
import textwrap
import time
import uuid
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from reprocheck import launch
from reprocheck.launch.workdir import snapshot
from reprocheck.launch.workdir.archive import Archive
from reprocheck.launch.workdir.file_events import FileEvents
from reprocheck.launch.workdir.restoration import Ours, restore
from reprocheck.model import CheckRecord, FilesAfter, RunRecord
from reprocheck.settings import Settings

ROOT = Path(__file__).resolve().parents[2]


@dataclass
class Listener:
    """An observer that keeps what it heard."""

    started: list[tuple[int, int]] = field(default_factory=list)
    steps: list[tuple[int, int, float | None]] = field(default_factory=list)
    ended: list[RunRecord] = field(default_factory=list)
    messages: list[str] = field(default_factory=list)
    silences: list[float] = field(default_factory=list)
    masked: list[int] = field(default_factory=list)

    def run_started(self, number: int, of: int) -> None:
        self.started.append((number, of))

    def progress(self, number: int, iteration: int, loss: float | None, seconds: float) -> None:
        self.steps.append((number, iteration, loss))

    def silent(self, number: int, seconds: float) -> None:
        self.silences.append(seconds)

    def masking(self, number: int) -> None:
        self.masked.append(number)

    def run_ended(self, record: RunRecord) -> None:
        self.ended.append(record)

    def message(self, text: str) -> None:
        self.messages.append(text)


@dataclass
class Place:
    """A working directory with scripts, and the check of one of them."""

    path: Path
    token: str
    heard: Listener = field(default_factory=Listener)
    folder: Path = Path()

    def script(self, text: str, name: str = "train.py") -> str:
        """Writes a script; TOKEN in it is a word that the command lines of its processes can
        carry.
        """
        (self.path / name).write_text(textwrap.dedent(text).replace("TOKEN", self.token))
        return name

    def check(
        self, text: str, *args: str, output: launch.Output | None = None, **settings: object
    ) -> CheckRecord:
        """A check of a script with this text; the report folder is then `folder`."""
        entry = launch.entry_point(script=self.script(text), args=args)
        self.folder = launch.prepare(self.path / "reports", entry.name)
        return launch.check(entry, Settings(**settings), self.folder, self.heard, output=output)  # type: ignore[arg-type]

    def alive(self) -> list[int]:
        """Processes whose command line holds the token."""
        found = []
        for folder in Path("/proc").iterdir():
            if folder.name.isdigit() and int(folder.name) != os.getpid():
                try:
                    if self.token.encode() in (folder / "cmdline").read_bytes():
                        found.append(int(folder.name))
                except OSError:
                    continue
        return found


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Place]:
    path = tmp_path / "work"
    path.mkdir()
    monkeypatch.chdir(path)
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr("tempfile.tempdir", None)
    made = Place(path=path, token=f"token{uuid.uuid4().hex}")
    yield made
    for pid in made.alive():
        os.kill(pid, 9)


def restored(store: Path, *written: str, until: float | None = None) -> FilesAfter:
    """Puts back what `store` holds, after runs that were seen to write these paths."""
    ours = Ours(events=FileEvents(written={*written}), until=until)
    archive = Archive(folder=store.parent, workdir=snapshot.read(store).root)
    return restore(store, ours, archive)


def wait_until(condition: Callable[[], bool], seconds: float = 120.0) -> None:
    """Waits for something to become true; fails after so many seconds."""
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, "it did not become true"
        time.sleep(0.02)


def driver(script: str, settings: str = "") -> list[str]:
    """The command line of a process that checks `script` in its working directory."""
    code = f"""
        import sys; sys.path.insert(0, {str(ROOT)!r})
        from pathlib import Path
        from reprocheck import launch
        from reprocheck.settings import Settings
        entry = launch.entry_point(script={script!r})
        try:
            launch.check(entry, Settings({settings}), launch.prepare(Path("reports"), "train"), launch.Quiet())
        except KeyboardInterrupt:
            sys.exit(130)
    """
    return [sys.executable, "-c", textwrap.dedent(code)]
