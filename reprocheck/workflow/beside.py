"""Arms of a search side by side: the one that is asked for, and those that may come next."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Protocol

from reprocheck.language import english
from reprocheck.search.asked import Question

ROOMS = 2
"""Runs that are begun, for each that may be under way at once: where the runs of an arm do not end
together, one of another takes the place of the first.
"""


class Begun(Protocol):
    """An arm that was begun; `launch.ArmBeside` is one."""

    @property
    def name(self) -> str: ...
    @property
    def ended(self) -> bool: ...

    def keep(self, why: str) -> None:
        """The search asks for it: waits for its end, and adds it to the record."""

    def drop(self) -> None:
        """Ends its runs."""

    def close(self) -> None:
        """Nothing of it is alive afterwards."""


Begin = Callable[[Question, int, int], Begun]
"""Begins an arm for a question: so many runs more than there are, and the number of the arm."""
Ahead = Callable[[Question], Iterable[Question]]
"""What may be asked after a question, the nearest first."""
Made = Callable[[Iterable[str]], int]
"""How many runs the record holds under some controls."""


@dataclass(frozen=True, kw_only=True, slots=True)
class _Arm:
    """An arm that was begun for a question: `begun` makes the last `runs` of its runs."""

    question: Question
    runs: int
    begun: Begun

    def is_under(self, question: Question) -> bool:
        """Whether its runs are made under the controls of a question."""
        return set(self.question.controls) == set(question.controls)


class ArmsBeside:
    """The arms of one search. What it asks for comes first; beside it are begun the arms that may
    be asked for next, as far as `jobs` runs at once leave room. They count for nothing before the
    search asks for them, so that it comes to the same as one arm after the other.
    """

    def __init__(self, begin: Begin, jobs: int) -> None:
        self._begin = begin
        self._jobs = jobs
        self._number = 0
        self._waiting: list[_Arm] = []
        self._dropped: list[_Arm] = []

    def make(self, asked: Question, made: Made, ahead: Ahead) -> str:
        """Makes the runs that the search asks for, or some of them; ends those of arms that it will
        not ask for any more. Returns the name of the arm.
        """
        arm = next((one for one in self._waiting if one.is_under(asked)), None)
        if arm is None:
            arm = self._begun(asked, asked.runs - made(asked.controls))
        else:
            self._waiting.remove(arm)
        try:
            self._look_ahead(arm, made, list(ahead(arm.question)))
            arm.begun.keep(english(asked.why))
        finally:
            arm.begun.close()
        return arm.begun.name

    def close(self) -> None:
        """Ends every arm that the search has not asked for."""
        arms = [*self._waiting, *self._dropped]
        for arm in arms:
            arm.begun.drop()
        for arm in arms:
            arm.begun.close()
        self._waiting, self._dropped = [], []

    def _look_ahead(self, asked: _Arm, made: Made, coming: list[Question]) -> None:
        """Ends what is not coming any more, and begins what is."""
        for arm in [one for one in self._waiting if not one.begun.ended]:
            if not any(map(arm.is_under, coming)):
                arm.begun.drop()
                self._waiting.remove(arm)
                self._dropped.append(arm)
        for question in coming:
            alike = [one.question.runs for one in (asked, *self._waiting) if one.is_under(question)]
            there = max((made(question.controls), *alike))
            full = self._under_way(asked) >= ROOMS * self._jobs
            if question.runs > there and not full:
                self._waiting.append(self._begun(question, question.runs - there))

    def _under_way(self, asked: _Arm) -> int:
        """Runs that are under way, or wait for it."""
        return sum(one.runs for one in (asked, *self._waiting) if not one.begun.ended)

    def _begun(self, question: Question, missing: int) -> _Arm:
        runs = max(1, missing)
        self._number += 1
        begun = self._begin(question, runs, self._number)
        return _Arm(question=question, runs=runs, begun=begun)
