"""Estimate how many runs a search still takes.

It is played through with each control as the cause, with all named controls together, and with
none.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path

from reprocheck.model import Check
from reprocheck.model.statements.search import Sample
from reprocheck.search import order
from reprocheck.search.arms import Book
from reprocheck.search.folder_search import conducted
from reprocheck.search.request import PAIR, Answer, Candidates, Question, Unanswered

MOST_TIMES = 8
"""How often runs as they are may be asked for in one search."""
_NONE = "none"
"""Stands for a cause that no control removes."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Length:
    """How many runs a search still takes.

    least  the fewest runs, if the record or the scan names the true causes; without trying a patch
    named  the most runs if the record or the scan names the true causes; a patch is tried, too
    most   the most runs, whatever the cause is
    """

    least: int
    named: int
    most: int


def length(check: Check, folder: Path) -> Length:
    """Return how many runs the search takes, in the best and the worst cases.

    If one control or patch removes the difference, if all named controls together do, or if none
    does.
    """
    recorded = Book(check, folder)
    candidates = order.candidates(check, folder)
    suspects = candidates.suspects or candidates.likely or candidates.harmless
    named = [*zip(suspects), candidates.sure or suspects, suspects]
    others = zip((_NONE, *candidates.harmless, *candidates.altering, *candidates.fixes))
    lucky = [_played(recorded, candidates, frozenset(causes), lucky=True) for causes in named]
    of_named = [_played(recorded, candidates, frozenset(causes)) for causes in named]
    of_others = [_played(recorded, candidates, frozenset(causes)) for causes in others]
    return Length(
        least=min(lucky),
        named=PAIR + max(of_named),
        most=PAIR + max(*of_named, *of_others),
    )


def _played(
    recorded: Book, candidates: Candidates, causes: frozenset[str], *, lucky: bool = False
) -> int:
    """Return how many runs a search takes if the runs agree under all of `causes`.

    Whenever all of them are among the controls.

    If `lucky`, the runs under controls of what is new in each start are unlike every uncontrolled
    run.
    """
    book = _Imagined(recorded, causes, lucky=lucky)
    for _ in range(MOST_TIMES):
        try:
            conducted(book.check, book.folder, book, candidates)
        except Unanswered as missing:
            book.as_is(missing.question)
        else:
            break
    return book.starts


class _Imagined(Book):
    """The recorded runs of a search, with answers made up for missing runs.

    `starts` counts the runs that the made-up answers would take.
    """

    def __init__(self, recorded: Book, causes: frozenset[str], *, lucky: bool) -> None:
        super().__init__(recorded.check, recorded.folder)
        self.judged, self.sample = recorded.judged, recorded.sample
        self.differences = recorded.differences
        self.starts = 0
        self._causes = causes
        self._lucky = lucky
        self._made: dict[frozenset[str], int] = {}
        self._differing: set[frozenset[str]] = set()
        """Sets that do not suffice, and fix what is new in each start alone."""

    def ask(self, question: Question) -> Answer:
        """Return the recorded answer, else that runs agree if the causes are among the controls."""
        found = self.of(question.controls, spared=question.spared)
        names = frozenset(question.controls)
        made = max(self._made.get(names, 0), self.made(names))
        wanted = 1 if question.reference and self._lucky else question.runs
        answer = Answer(agrees=self._causes <= names, runs=max(made, wanted))
        if found is not None and found.decided:
            answer, wanted = found.answer, made
        self.starts += max(0, wanted - made)
        self._made[names] = max(made, wanted)
        if names and answer.agrees is False and all(map(self.is_new, names)):
            self._differing.add(names)
        return answer

    def sample_beside(self, names: Iterable[str]) -> Sample:
        """Return the uncontrolled runs, taken to be like the agreeing ones.

        That is most favourable to luck.
        """
        unlike = self._lucky and not self.sample.intermittent and all(map(self.is_new, names))
        if not unlike:
            return self.sample
        further = sum(map(self._made.__getitem__, self._differing))
        runs, odd = self.sample.runs + further, self.sample.odd + further
        return replace(self.sample, runs=runs, odd=odd, insufficient=further, unlike=True)

    def as_is(self, question: Question) -> None:
        """Pretend that more runs were made without any control, each with an outcome of its own."""
        more = question.runs - self.made(())
        self.starts += more
        self.sample = replace(self.sample, runs=self.sample.runs + more, odd=self.sample.odd + more)
