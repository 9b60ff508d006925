"""A night under way, as lines and as a live table, without running anything."""

from __future__ import annotations

import io
from pathlib import Path

import pytest

from reprocheck.cli.suite.night_view import NightView
from reprocheck.suite.execution import Job, Performed
from reprocheck.suite.model import Night, TargetCheck
from reprocheck.suite.target import Target
from tests.cli import screen

NIGHT = Night(id="2026-11-23T02-00-00Z-1f3a", started=0.0)


class Terminal(io.StringIO):
    """A stream that says it is a terminal."""

    encoding = "utf-8"

    def isatty(self) -> bool:
        return True


def job(name: str) -> Job:
    target = Target(name=name, words=("train.py",), workdir=Path("/"))
    return Job(target=target, night=NIGHT.id, root=Path("/"), place=name, kind="recording")


def told(view: NightView) -> None:
    """A night whose checks are over, and which has made one of three recordings."""
    view.begun(NIGHT, 3, 0)
    for name in ("resnet", "bert", "gpt"):
        view.ended(
            TargetCheck(night=NIGHT.id, target=name, verdict="reproducible", good=True, seconds=2),
            again=False,
        )
    view.recording(3)
    for name in ("resnet", "bert", "gpt"):
        view.started(job(name))
    view.recorded(Performed(job=job("resnet"), started=0.0, seconds=3.0), "")


def test_deeper_recordings_are_told_one_by_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stderr", io.StringIO())
    now = [0.0]
    view = NightView(clock=lambda: now[0])
    told(view)
    view.recorded(Performed(job=job("bert"), started=0.0, seconds=3.0), "exit status 1")
    now[0] = 61.0
    view.tick()
    assert isinstance(view.err.file, io.StringIO)
    assert view.err.file.getvalue().splitlines()[4:] == [
        "3 deeper recordings to be made, at level module",
        "1 of 3  resnet: recorded, 3.0 s",
        "2 of 3  bert: not recorded: exit status 1",
        "3 of 3 checked - 2 of 3 recorded - under way: gpt - 1 min 1 s",
    ]


def test_the_live_table_has_the_deeper_recordings_under_way(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    terminal = Terminal()
    monkeypatch.setattr("sys.stderr", terminal)
    monkeypatch.setenv("TERM", "xterm")
    view = NightView(color="never", clock=lambda: 0.0)
    told(view)
    assert view._live is not None
    view._live.refresh()
    shown = [row.rstrip() for row in screen.rows(terminal.getvalue())]
    view.close()
    names = {row.split()[0] if row[0] == " " else row.split()[1] for row in shown[-6:-1]}
    assert names == {"resnet", "bert", "gpt"}
    assert shown[-4].split() == ["resnet", "Recorded", "·", "3.0", "s"]
    assert shown[-3].startswith("> bert ")
    assert "Recording at level module" in shown[-2]
    assert shown[-1] == "3 of 3 checked · 1 of 3 recorded · 0.0 s"
