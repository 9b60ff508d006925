"""Which runs a search may need after those that it asks for now, whatever they will say."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from reprocheck.model import Check
from reprocheck.search import order
from reprocheck.search.arms import Book
from reprocheck.search.asked import Answer, Candidates, Question, Unanswered
from reprocheck.search.chance import Sample
from reprocheck.search.confirm import conducted

MOST = 16
"""How often a search is played through to look ahead."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Supposed:
    """What runs that are not made yet are supposed to say: controls -> the answer."""

    answers: Mapping[frozenset[str], Answer] = field(default_factory=dict)

    def with_answer(self, question: Question, *, agrees: bool) -> Supposed:
        """The same, and that the runs of a question agree or differ."""
        answer = Answer(agrees=agrees, runs=question.runs)
        return Supposed(answers={**self.answers, frozenset(question.controls): answer})

    def of(self, question: Question) -> Answer | None:
        """The answer to a question; None where it asks for more runs than are supposed."""
        answer = self.answers.get(frozenset(question.controls))
        if answer is None or (answer.agrees and answer.runs < question.runs):
            return None
        return answer


Play = Callable[[Supposed], Question | None]
"""What the search asks for next by what is recorded and supposed; None where it would end."""


def following(asked: Question, play: Play) -> Iterator[Question]:
    """The questions that may come after one, the nearest first; of those as near, first what is
    asked where the runs agree.
    """
    nothing = Supposed()
    futures = deque(nothing.with_answer(asked, agrees=agrees) for agrees in (True, False))
    seen = {_key(asked)}
    for _ in range(MOST):
        if not futures:
            return
        supposed = futures.popleft()
        question = play(supposed)
        if question is None:
            continue
        if _key(question) not in seen:
            seen.add(_key(question))
            yield question
        futures += (supposed.with_answer(question, agrees=agrees) for agrees in (True, False))


def _key(question: Question) -> tuple[frozenset[str], int]:
    return frozenset(question.controls), question.runs


def ahead(check: Check, folder: Path, asked: Question) -> Iterator[Question]:
    """The same for the search in a report folder: `runs` of `asked` are those that will be made."""
    recorded = Book(check, folder)
    candidates = order.candidates(check, folder)

    def play(supposed: Supposed) -> Question | None:
        return _next(_Supposing(recorded, supposed), candidates)

    return following(asked, play)


def _next(book: _Supposing, candidates: Candidates) -> Question | None:
    try:
        conducted(book.check, book.folder, book, candidates)
    except Unanswered as missing:
        return missing.question
    return None


class _Supposing(Book):
    """What is recorded of a search, and what is supposed beside it."""

    def __init__(self, recorded: Book, supposed: Supposed) -> None:
        super().__init__(recorded.check, recorded.folder)
        self.judged = recorded.judged
        self._supposed = supposed
        self._as_is_made = recorded.made(())
        more = self.made(()) - self._as_is_made
        seen = recorded.sample
        # Each of them with an outcome of its own.
        self.sample = replace(seen, runs=seen.runs + more, odd=seen.odd + more)

    def ask(self, question: Question) -> Answer:
        """What is supposed, else what is recorded."""
        return self._supposed.of(question) or super().ask(question)

    def made(self, names: Iterable[str]) -> int:
        """How many runs there are under these controls, with those that are supposed."""
        answer = self._supposed.answers.get(frozenset(names))
        if answer is None:
            return super().made(names)
        return answer.runs

    def sample_beside(self, names: Iterable[str]) -> Sample:
        """The runs as they are, unlike those that are supposed to agree where they can be."""
        if frozenset(names) not in self._supposed.answers:
            return super().sample_beside(names)
        unlike = not self.sample.intermittent and all(map(self._anew, names))
        return replace(self.sample, unlike=unlike)
