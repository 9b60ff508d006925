"""Arms that are made beside others: what is asked for is recorded as it is made, the rest counts for
nothing and leaves nothing behind.
"""

from __future__ import annotations

import os
import signal
import threading
from functools import partial

import pytest

from reprocheck import launch
from reprocheck.launch.runs import Beside, Rooms
from reprocheck.model import Arm
from reprocheck.recording import record
from reprocheck.settings import Settings
from tests.launch.conftest import Place, wait_until

WAITS = """
    import os, time, reprocheck
    for step in range(3):
        reprocheck.log_loss(1 / (step + 1))
        if "PYTHONHASHSEED" in os.environ: open(os.environ["TMPDIR"] + "/waits", "w").close(), time.sleep(600)
"""
"""Waits under the control `hash-seed`."""


def waiting(place: Place) -> int:
    """How many runs wait."""
    return len(list(place.path.parent.glob("reprocheck-*/*/waits")))


def test_arms_beside_each_other(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("PYTHONHASHSEED", raising=False)
    settings = {"jobs": 2, "workdir": "copy"}
    place.check(WAITS, place.token, **settings)
    entry = launch.entry_point(script="train.py", args=[place.token])
    begin = partial(
        launch.begin_arm,
        *(entry, Settings(**settings), place.folder, place.heard, Rooms(4)),  # type: ignore[arg-type]
        seed=0,
        runs=2,
        steps=3,
    )

    slow = begin(name="1-hash-seed", controls=["hash-seed"])
    wait_until(lambda: waiting(place) == 2, 120)
    spare = begin(name="2-clock", controls=["clock"])
    wait_until(lambda: spare.ended, 120)
    assert record.read(place.folder).arms == () and len(place.heard.ended) == 2
    asked = begin(name="3-seed", controls=["seed"])
    asked.keep("it may be this")
    assert len(place.heard.ended) == 4, "those of the check, and of the arm that is asked for"
    slow.drop()
    for arm in (slow, spare, asked):
        arm.close()
    held = [(arm.name, arm.why, len(arm.runs), arm.unneeded) for arm in _arms(place)]
    assert held == [("3-seed", "it may be this", 2, False), ("2-clock", "", 2, True)]
    _is_gone(place, "2-clock", "3-seed")

    slow = begin(name="4-hash-seed", controls=["hash-seed"])
    other = begin(name="5-hash-seed", controls=["hash-seed"])
    wait_until(lambda: waiting(place) == 4, 120)
    threading.Timer(0.5, os.kill, (os.getpid(), signal.SIGINT)).start()
    with pytest.raises(KeyboardInterrupt):
        slow.keep("it may be that")
    for arm in (slow, other):
        arm.close()
    last = _arms(place)[-1]
    assert (last.name, {run.ended for run in last.runs}) == ("4-hash-seed", {"interrupted"})
    _is_gone(place, "2-clock", "3-seed", "4-hash-seed")


def _arms(place: Place) -> tuple[Arm, ...]:
    return record.read(place.folder).arms


def _is_gone(place: Place, *arms: str) -> None:
    """Nothing is left but the folders of these arms."""
    assert sorted(path.name for path in (place.folder / "arms").iterdir()) == list(arms)
    assert not list(place.folder.glob("workdir*"))
    assert place.alive() == [] and waiting(place) == 0


def test_runs_that_somebody_waits_for_go_first() -> None:
    rooms, order = Rooms(1), []
    asked, beside = Beside(rooms=rooms), Beside(rooms=rooms)
    dropped = Beside(rooms=rooms)

    def run(name: str, one: Beside) -> None:
        with rooms.room(one) as entered:
            order.append((name, entered))

    with rooms.room(beside):
        others = [
            threading.Thread(target=run, args=("beside", beside)),
            threading.Thread(target=run, args=("dropped", dropped)),
            threading.Thread(target=run, args=("asked", asked)),
        ]
        for thread in others:
            thread.start()
        dropped.halt.set()
        asked.first.set()
        rooms.look_again()
        others[1].join(120)
        wait_until(lambda: len(rooms._waiting) == 2)
    for thread in others:
        thread.join(120)
    assert order == [("dropped", False), ("asked", True), ("beside", True)]
