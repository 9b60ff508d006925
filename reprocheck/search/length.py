"""How many runs a search still takes at most, as far as that is known: played through with each
control as the cause, and with none.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

from reprocheck.model import Check
from reprocheck.search import order
from reprocheck.search.arms import Book
from reprocheck.search.asked import PAIR, Answer, Candidates, Question, Unanswered
from reprocheck.search.chance import Sample
from reprocheck.search.confirm import conducted

MOST_TIMES = 8
"""How often runs as they are may be asked for in one search."""


def most_runs(check: Check, folder: Path) -> int:
    """Return runs from here on, those with a patch included, if one control alone removes the
    difference or none does.
    """
    recorded = Book(check, folder)
    candidates = order.candidates(check, folder)
    causes = ("", *candidates.harmless, *candidates.altering)
    return PAIR + max(_played(recorded, candidates, cause) for cause in causes)


def _played(recorded: Book, candidates: Candidates, cause: str) -> int:
    """Return the runs of a search in which the runs agree wherever `cause` is among the
    controls.
    """
    book = _Imagined(recorded, cause)
    for _ in range(MOST_TIMES):
        try:
            conducted(book.check, book.folder, book, candidates)
        except Unanswered as missing:
            book.as_is(missing.question)
        else:
            break
    return book.further


class _Imagined(Book):
    """What is recorded of a search, and answers made up for what is not; `further` counts the runs
    that those would take.
    """

    def __init__(self, recorded: Book, cause: str) -> None:
        super().__init__(recorded.check, recorded.folder)
        self.judged, self.sample = recorded.judged, recorded.sample
        self.further = 0
        self._cause = cause
        self._made: dict[frozenset[str], int] = {}

    def ask(self, question: Question) -> Answer:
        """Return what is recorded, where that answers; else that the runs agree with the cause
        among the controls.
        """
        found, names = (
            self.of(question.controls, spared=question.spared),
            frozenset(question.controls),
        )
        if found is not None and found.decided:
            return found.answer
        made = max(self._made.get(names, 0), self.made(names))
        self.further += max(0, question.runs - made)
        self._made[names] = max(made, question.runs)
        return Answer(agrees=self._cause in names, runs=self._made[names])

    def sample_beside(self, names: Iterable[str]) -> Sample:
        """Return the most favourable to luck: runs that agree are like one as it is."""
        return self.sample

    def as_is(self, question: Question) -> None:
        """More runs without any control, each with an outcome of its own."""
        more = question.runs - self.made(())
        self.further += more
        self.sample = replace(self.sample, runs=self.sample.runs + more, odd=self.sample.odd + more)
