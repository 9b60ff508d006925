"""The search for a smallest set of controls that makes the runs agree.

Pure: it asks, and is answered from runs, recorded or still to come.

The search is written as if every answer were there. Where one is missing, `Unanswered` says which
runs to make; the caller makes them and starts again, and everything answered before costs nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

PAIR = 2
ALONE = 2
"""Likely controls that are tried alone, before all are tried together or after."""
FEW = 4
"""Other controls that acted: where they are no more, the likely ones are tried together before
halves of all.
"""


@dataclass(frozen=True, kw_only=True, slots=True)
class Answer:
    """What the runs under a set of controls said.

    agrees    None where it could not be decided: the script crashed, or recorded too little
    exact     whether they agree in every bit
    acted     controls that acted on something in each of these runs; None where that is not known
    blamed    controls that made the script end with an error, where it says so
    """

    agrees: bool | None
    runs: int = PAIR
    exact: bool = True
    acted: frozenset[str] | None = None
    blamed: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True, slots=True)
class Question:
    """Runs to make: `runs` of them in all under these controls (none: as is), and why."""

    controls: tuple[str, ...]
    runs: int
    why: str


class Unanswered(Exception):  # noqa: N818 - a request, not an error
    """The search needs runs that were not made yet."""

    def __init__(self, question: Question) -> None:
        super().__init__(question.why)
        self.question = question


@dataclass(frozen=True, kw_only=True, slots=True)
class Candidates:
    """The controls to search among, each list with the most suspicious first.

    likely     tried alone first; harmless and altering hold them, too. Where there are few of them,
               the most suspicious that acted are tried alone before a set that suffices is halved
    harmless   those that do not alter the training
    altering   those that do; `last`: those of them that a cause speaks for, tried alone where the
               harmless ones do not suffice
    brittle    those that make scripts fail more often than others: looked at first where one does
    reasons    why a control is likely, by its name
    """

    likely: tuple[str, ...]
    harmless: tuple[str, ...]
    altering: tuple[str, ...] = ()
    last: tuple[str, ...] = ()
    brittle: tuple[str, ...] = ()
    reasons: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True, slots=True)
class Found:
    """What the search came to.

    smallest   a set that makes the runs agree, none of whose controls can be left out; no single
               control does where it holds several; empty where nothing was found
    runs       how many runs agree under it
    crashing   controls under which the script ends with an error
    idle       a set under which the runs agreed although none of its controls, or not all that seem
               needed, acted on anything
    complete   whether all controls together were tried where nothing was found
    """

    smallest: tuple[str, ...] = ()
    runs: int = 0
    crashing: tuple[str, ...] = ()
    idle: tuple[str, ...] = ()
    complete: bool = True


Ask = Callable[[Question], Answer]
"""Answers from at least as many runs as are asked for, or raises Unanswered."""
Needed = Callable[[tuple[str, ...], Answer], int]
"""How many runs must agree under a set before chance is excluded, given those that do.

May raise Unanswered, too.
"""


@dataclass(slots=True)
class _Search:
    candidates: Candidates
    ask: Ask
    runs: int
    crashing: list[str] = field(default_factory=list)
    failed: list[frozenset[str]] = field(default_factory=list)
    idle: tuple[str, ...] = ()

    # --------------------------------------------------------------------------------------- asking

    def answer(self, names: Iterable[str], why: str) -> Answer:
        """What the runs under these controls say; what does not suffice is remembered, since no
        part of it suffices either.
        """
        controls = self.ordered(names)
        answer = self.ask(Question(controls=controls, runs=self.runs, why=why))
        if answer.agrees is False:
            self.failed.append(frozenset(controls))
        return answer

    def agrees(self, names: Iterable[str], why: str) -> bool:
        """Whether the runs agree under these controls, one of which acted.

        Where the script crashes, they do not.
        """
        wanted = frozenset(names)
        if any(wanted <= failed for failed in self.failed):
            return False
        answer = self.answer(wanted, why)
        if answer.agrees is None and len(wanted) == 1:
            self.crashing += [name for name in wanted if name not in self.crashing]
        if answer.agrees and answer.acted is not None and not wanted & answer.acted:
            self.by_luck(wanted)
            return False
        return answer.agrees is True

    def by_luck(self, names: Iterable[str]) -> None:
        """Remembers a set under which the runs agreed although it did not make them: it says as
        little as runs that differ.
        """
        self.idle = self.idle or self.ordered(names)
        self.failed.append(frozenset(names))

    def ordered(self, names: Iterable[str]) -> tuple[str, ...]:
        wanted = set(names)
        return tuple(
            name
            for name in (*self.candidates.harmless, *self.candidates.altering)
            if name in wanted
        )

    # ----------------------------------------------------------------------------------- the search

    def smallest(self, *, whole: bool) -> tuple[str, ...]:
        """A smallest set by the answers so far.

        `whole`: whether to look for one beyond the likely and all harmless ones.
        """
        for name in self.candidates.likely[:ALONE]:
            why = self.candidates.reasons.get(name, "the ladder points at it")
            if name not in self.crashing and self.agrees([name], why):
                return (name,)
        harmless, acted = self.together(
            self.candidates.harmless, "all controls that do not alter the training, at once"
        )
        if acted is not None:
            return self.narrowed(harmless, acted) if whole else harmless
        if not whole:
            return ()
        for name in self.candidates.last[:1]:
            why = self.candidates.reasons.get(name, "the ladder points at it")
            if name not in self.crashing and self.agrees([name], why):
                return (name,)
        both, acted = self.together(
            (*self.candidates.altering, *harmless),
            "those did not suffice: with the controls that alter the training as well",
        )
        return self.narrowed(both, acted) if acted is not None else ()

    def together(
        self, names: Sequence[str], why: str
    ) -> tuple[tuple[str, ...], frozenset[str] | None]:
        """All of them without those that crash, and which of them acted on anything; None where the
        runs still differ.
        """
        left = [name for name in names if name not in self.crashing]
        while left:
            if any(set(left) <= failed for failed in self.failed):
                return tuple(left), None
            answer = self.answer(left, why)
            if answer.agrees is not None:
                acted = frozenset(left) if answer.acted is None else answer.acted & frozenset(left)
                return tuple(left), acted if answer.agrees else None
            bad = (
                [name for name in answer.blamed if name in left]
                or self.brittle(left)
                or self.crashes(left)
            )
            if not bad:
                break
            self.crashing += [name for name in bad if name not in self.crashing]
            left = [name for name in left if name not in bad]
            why = f"again without {' and '.join(bad)}, which made the script fail"
        return tuple(left), None

    def brittle(self, names: Sequence[str]) -> list[str]:
        """A control that makes the script fail by itself, among those that do so more often than
        others.
        """
        for name in self.candidates.brittle:
            if (
                name in names
                and self.answer(
                    [name], "the script failed: whether this control makes it fail"
                ).agrees
                is None
            ):
                return [name]
        return []

    def crashes(self, names: Sequence[str]) -> list[str]:
        """A control that makes the script fail, found by halves; of several that do so only
        together, one half.
        """
        if len(names) == 1:
            return list(names)
        middle = (len(names) + 1) // 2
        for half in (names[:middle], names[middle:]):
            answer = self.answer(half, "the script failed: which control makes it fail")
            if answer.agrees is None:
                return [name for name in answer.blamed if name in half] or self.crashes(half)
        return list(names[middle:])

    def narrowed(self, names: Sequence[str], acted: frozenset[str]) -> tuple[str, ...]:
        """A minimal part of a set under which the runs agree; a single control wherever one
        suffices. Empty: what acted does not.
        """
        acting = [name for name in names if name in acted]
        if not acting or any(set(acting) <= failed for failed in self.failed):
            self.by_luck(names)
            return ()
        fresh = [name for name in acting if not self.fails_alone(name)]
        for name in fresh[: max(0, ALONE - len(self.candidates.likely))]:
            if self.agrees([name], f"whether {name} alone would do"):
                return (name,)
        suspects = [name for name in self.candidates.likely if name in acting and name not in fresh]
        if (
            len(suspects) > 1
            and 0 < len(fresh) <= FEW
            and self.agrees(suspects, "each of the likely ones removes a part: together")
        ):
            found = self.minimal((), suspects, known=True)
        else:
            found = self.minimal(
                (), [*fresh, *(name for name in acting if name not in fresh)], known=True
            )
        if len(found) > 1:
            for name in fresh:
                if self.agrees([name], f"whether {name} alone would do"):
                    return (name,)
        return self.ordered(found)

    def fails_alone(self, name: str) -> bool:
        return any(name in failed for failed in self.failed)

    def minimal(self, base: Sequence[str], names: Sequence[str], *, known: bool) -> tuple[str, ...]:
        """What of `names` is needed beside `base`; all of them together suffice.

        `known`: whether `base` alone is known not to.
        """
        if not known and self.agrees(base, self.without(names)):
            return ()
        if len(names) == 1:
            return tuple(names)
        middle = (len(names) + 1) // 2
        first, second = names[:middle], names[middle:]
        of_second = self.minimal((*base, *first), second, known=False)
        of_first = self.minimal((*base, *of_second), first, known=not of_second)
        return (*of_first, *of_second)

    @staticmethod
    def without(names: Sequence[str]) -> str:
        shown = ", ".join(names[:3]) + (f" and {len(names) - 3} more" if len(names) > 3 else "")
        return f"without {shown}"


def find(
    candidates: Candidates,
    ask: Ask,
    needed: Needed,
    *,
    runs: int = PAIR,
    most: int | None = None,
    whole: bool = True,
) -> Found:
    """A smallest set of controls under which the runs agree, and keep agreeing in as many runs as
    chance needs to be excluded.

    runs    runs an arm, two unless the difference is intermittent
    most    runs under the set in the end, where chance can be excluded by more alone
    whole   False where no set can be confirmed: then only the likely controls and all harmless ones
            are tried
    Raises Unanswered where runs are missing.
    """
    search = _Search(candidates=candidates, ask=ask, runs=runs)
    refuted: set[tuple[str, ...]] = set()
    while True:
        smallest = search.smallest(whole=whole)
        if not smallest or smallest in refuted:
            return Found(crashing=tuple(search.crashing), idle=search.idle, complete=whole)
        answer = _again(search, smallest, needed, most)
        if (
            answer.agrees
            and answer.acted is not None
            and whole
            and not answer.acted.issuperset(smallest)
        ):
            search.by_luck(smallest)
            refuted.add(smallest)
            continue
        if answer.agrees:
            return Found(smallest=smallest, runs=answer.runs, crashing=tuple(search.crashing))
        # a few runs had agreed by chance: the difference is intermittent, so as many say nothing
        # from here on
        refuted.add(smallest)
        search.failed += [frozenset(smallest)] if answer.agrees is False else []
        search.runs = max(search.runs, answer.runs)


def _again(search: _Search, smallest: tuple[str, ...], needed: Needed, most: int | None) -> Answer:
    """The same controls in as many runs as it takes."""
    answer = search.answer(smallest, "whether that set suffices")
    while answer.agrees:
        wanted = needed(smallest, answer)
        wanted = wanted if most is None else min(wanted, most)
        if answer.runs >= wanted:
            break
        more = wanted - answer.runs
        why = f"{more} more {'run' if more == 1 else 'runs'}, to exclude that they agree by chance"
        answer = search.ask(Question(controls=search.ordered(smallest), runs=wanted, why=why))
    return answer
