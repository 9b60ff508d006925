"""Nights of a suite that were never run: their checks are written straight into a history."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from reprocheck.suite.changes import states_of_night
from reprocheck.suite.curves import pack
from reprocheck.suite.history import History
from reprocheck.suite.model import Baseline, Key, Night, TargetCheck, TargetState
from reprocheck.suite.target import Target
from tests.suite.baselines.curves import curve

TORCH = {"torch": "2.12.0", "device": "CPU"}
CURVE = (1.0, 0.75, 0.5, 0.375)
FIRST = 1_790_000_000.0
DAY = 86400.0


def key(**facts: str) -> Key:
    """The environment key of the stories, with other facts where they are given."""
    return Key(facts={**TORCH, **facts})


def target(name: str, **fields: object) -> Target:
    return replace(Target(name=name, words=("train.py",), workdir=Path("/")), **fields)


def check(name: str, *, good: bool = True, **fields: object) -> TargetCheck:
    """A check that passed, or failed in its backward check."""
    plain = TargetCheck(
        night="",
        target=name,
        verdict="reproducible" if good else "not_reproducible",
        failed_check="" if good else "backward",
        exit_code=0 if good else 1,
        good=good,
        bitwise=good,
        key=key(),
        commit="c0ffee",
        seconds=10.0,
        curves=packed(CURVE),
    )
    return replace(plain, **fields)


def packed(values: Sequence[float], dtype: str = "float32") -> bytes:
    return pack([curve(values, dtype=dtype)])


class Story:
    """A history that nights are added to, one a day."""

    def __init__(self, history: History, targets: Sequence[Target]) -> None:
        self.history = history
        self.targets = tuple(targets)
        self.number = 0

    def night(
        self,
        *checks: TargetCheck,
        selected: Sequence[str] | None = None,
        ended: bool = True,
    ) -> Mapping[str, TargetState]:
        """One night with these checks: its states by target, which are put into the history."""
        names = tuple(one.name for one in self.targets)
        night = Night(
            id=self.name(self.number),
            started=FIRST + self.number * DAY,
            targets=names,
            selected=names if selected is None else tuple(selected),
        )
        self.number += 1
        self.history.begin_night(night)
        for one in checks:
            self.history.add(replace(one, night=night.id, started=night.started))
        if ended:
            self.history.end_night(night.id, night.started + 3600)
        states = states_of_night(self.history, night, self.targets)
        self.history.put_states(states)
        return {state.target: state for state in states}

    def accept(self, one: TargetCheck, number: int = 0, *, bitwise: bool = True) -> None:
        """The curves of a check become the baseline in the morning after night `number`."""
        self.history.accept(
            Baseline(
                target=one.target,
                key=one.key,
                curves=one.curves,
                why="as it should be",
                who="me",
                when=FIRST + number * DAY + 7200,
                bitwise=bitwise,
                night=self.name(number),
                commit=one.commit,
                environment=dict(one.beside),
            )
        )

    @staticmethod
    def name(number: int) -> str:
        """The name of night `number`."""
        return f"2026-10-{number + 1:02}T02-00-00Z-0000"
