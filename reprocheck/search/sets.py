"""The search for a smallest set of controls that makes the runs agree.

Pure: it asks, and is answered from runs, recorded or still to come.

The search is written as if every answer were there. Where one is missing, `Unanswered` says which
runs to make; the caller makes them and starts again, and everything answered before costs nothing.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, field, replace
from itertools import filterfalse

from reprocheck.language import tr
from reprocheck.search import words
from reprocheck.search.asked import (
    FRESH,
    PAIR,
    Answer,
    Candidates,
    Difference,
    Found,
    Question,
    is_fix,
)

MOST_PLACES = 4
"""Places of a control at most that are left out in turn: of more, none is."""
ALONE = 2
"""Likely controls that are tried alone before all are tried together, and others that acted after:
they take fewer runs than halves, and a set of several is named only where no control suffices
alone.
"""

AGAIN = 4
"""Runs as they are that have to differ where nothing else shows that a control acts."""
FURTHER = 2
"""Controls that are added at a time of those that the first difference under others speaks for."""
MOST_LED = 4
"""How often that is done at most."""

Ask = Callable[[Question], Answer]
"""Answers from at least as many runs as are asked for, or raises Unanswered."""
Differing = Callable[[tuple[str, ...]], Difference | None]
"""Returns where runs under some controls first differ; None where they do not, or nobody knows."""
Needed = Callable[[tuple[str, ...], Answer], int]
"""How many runs must agree under a set before chance is excluded, given those that do.

May raise Unanswered, too.
"""


@dataclass(frozen=True, slots=True)
class _Together:
    """Controls that were tried at once, without those that crash.

    agree   whether the runs agree under them
    acted   which of them acted on anything, where they do
    """

    names: tuple[str, ...]
    agree: bool = False
    acted: frozenset[str] = frozenset()


@dataclass(slots=True)
class _Search:
    candidates: Candidates
    ask: Ask
    runs: int
    differing: Differing
    crashing: tuple[str, ...] = ()
    failed: list[frozenset[str]] = field(default_factory=list)
    idle: tuple[str, ...] = ()
    stumbling: set[str] = field(default_factory=set)
    reference: tuple[str, ...] = ()
    """The last controls under which the runs agreed: what fewer of them give is held against it."""
    reached: set[str] = field(default_factory=set)
    """Controls and patches that acted in some runs."""
    tried: set[frozenset[str]] = field(default_factory=set)
    shown: set[str] = field(default_factory=set)
    """Controls that act, although nothing recorded says on what: runs without them differ."""
    inert: set[str] = field(default_factory=set)
    """Controls that acted on nothing alone."""

    def answer(
        self, names: Iterable[str], why: str, runs: int = 0, *, deep: bool = False
    ) -> Answer:
        """Return what the runs under these controls say; what does not suffice is remembered, since
        no part of it suffices either.
        """
        controls = self.candidates.ordered(names)
        question = Question(controls=controls, runs=runs or self.runs, why=why, deep=deep)
        if not runs and self.runs == PAIR and set(controls) < set(self.reference):
            question = replace(question, reference=self.reference)
        answer = self.ask(question)
        self.reached.update(answer.acting(controls))
        self.tried.add(frozenset(controls))
        if answer.agrees:
            self.reference = controls
        if answer.agrees is False:
            self.failed.append(frozenset(controls))
            if len(controls) == 1 and not answer.acting(controls):
                self.inert.update(controls)
        return answer

    def fails(self, names: Iterable[str]) -> bool:
        """Return whether it is known that the runs differ under these controls."""
        wanted = frozenset(names)
        return any(map(wanted.issubset, self.failed))

    def agrees(self, names: Iterable[str], why: str, *, deep: bool = False) -> bool:
        """Return whether the runs agree under these controls, one of which acted.

        Where the script crashes, they do not.
        """
        wanted = frozenset(names)
        if self.fails(wanted):
            return False
        answer = self.answer(wanted, why, deep=deep)
        if answer.stumbled:
            self.stumbling.update(wanted)
        elif answer.agrees is None and len(wanted) == 1:
            self.crashed(wanted)
        if answer.agrees and not self.acting(wanted, answer) and not self.acts_unseen(wanted):
            self.by_luck(wanted)
            return False
        return answer.agrees is True

    def acting(self, names: Iterable[str], answer: Answer) -> frozenset[str]:
        """Return those of the controls that acted, by what was recorded or by what differs without
        them.
        """
        return answer.acting(names) | self.shown.intersection(names)

    def acts_unseen(self, names: Collection[str], base: Sequence[str] = ()) -> bool:
        """Return whether controls of which nothing shows on what they act are seen to act, since
        runs under `base` alone differ, made after those that agree.
        """
        if not names or not self.candidates.silent_among(names) or self.runs > PAIR:
            return False
        why = tr(words.WITHOUT_SILENT)
        if not base:
            # Where these agree by now, the difference comes and goes, and nothing is shown.
            differ = not self.ask(Question(controls=(), runs=AGAIN, why=why)).agrees
        else:
            base = self.untried(base)
            differ = bool(base) and self.answer(base, why).agrees is False
        if differ:
            self.shown.update(names)
        return differ

    def untried(self, base: Sequence[str]) -> Sequence[str]:
        """Return a set under which no runs were made so far: with a control beside it that has
        acted on nothing, where they were; empty where there is none.
        """
        idle = [name for name in self.candidates.harmless if name not in self.reached]
        others = [name for name in idle if not self.candidates.silent_among([name])]
        sets = ([*base], *([*base, name] for name in others))
        return next((one for one in sets if frozenset(one) not in self.tried), ())

    def crashed(self, names: Iterable[str]) -> None:
        """Remembers controls under which the script ends with an error."""
        self.crashing = tuple(dict.fromkeys((*self.crashing, *names)))

    def not_crashing(self, names: Iterable[str]) -> tuple[str, ...]:
        """These controls without those under which the script is known to fail."""
        return tuple(filterfalse(self.crashing.__contains__, names))

    def by_luck(self, names: Iterable[str]) -> None:
        """Remembers a set under which the runs agreed although it did not make them: it says as
        little as runs that differ.
        """
        self.idle = self.idle or self.candidates.ordered(names)
        self.reference = ()
        self.failed.append(frozenset(names))

    def reason(self, name: str) -> str:
        """Return why a control is tried that is likely to remove the difference."""
        return self.candidates.reasons.get(name, tr(words.POINTED_AT))

    def smallest(self, *, whole: bool) -> tuple[str, ...]:
        """Return a smallest set by the answers so far.

        `whole`: whether to look for one beyond the likely and all harmless ones.
        """
        alone = self.first_alone(self.worth_alone(), self.reason)
        if alone:
            return alone
        suspects = tuple(filterfalse(self.inert.__contains__, self.candidates.suspects))
        why = (
            tr(words.SUSPECTS_TOGETHER)
            if len(suspects) > 1
            else "".join(map(self.reason, suspects))
        )
        together = self.together(suspects, why, deep=True)
        if self.sufficient(together):
            return self.without_needless(together)
        led = self.led_on(together.names) if whole else ()
        if led:
            return led
        fixes = self.candidates.fixes if whole else ()
        if not self.reached.issuperset(self.candidates.suspects):
            # No control reaches something that is named.
            by_patches = self.by_patches(fixes)
            if by_patches:
                return by_patches
        harmless = self.together(self.candidates.harmless, tr(words.ALL_HARMLESS))
        if not whole:
            # Where no set can be confirmed, none is halved.
            return self.sufficient(harmless)
        if harmless.agree:
            return self.narrowed(harmless)
        beside = self.by_patches(fixes) or self.beside_patches(fixes, harmless.names)
        if beside:
            return beside
        of_first = self.candidates.of_first
        if of_first and self.inert.issuperset(of_first):
            return ()
        alone = self.first_alone(self.candidates.last[:1], self.reason)
        if alone:
            return alone
        every = (*self.candidates.altering, *harmless.names)
        return self.narrowed(self.together(every, tr(words.WITH_ALTERING)))

    def led_on(self, names: tuple[str, ...]) -> tuple[str, ...]:
        """Return a set that suffices, of controls that remove the first difference, and those that
        the next one speaks for, as long as the first one moves; empty where there are none.
        """
        before = self.candidates.first
        for _ in range(MOST_LED):
            left = self.differing(names) if self.fails(names) else None
            if left is None or before is None or not left.is_behind(before):
                break
            before = left
            others = [one for one in self.not_crashing(left.controls) if one not in names]
            further = others[:FURTHER]
            if not further:
                break
            more = self.candidates.ordered((*names, *further))
            together = self.together(more, words.next_difference(further), deep=True)
            if self.sufficient(together):
                return self.without_needless(together)
            names = together.names
        return ()

    def by_patches(self, fixes: Sequence[str]) -> tuple[str, ...]:
        """Return the patches that suffice without any control; empty where all of them do not."""
        together = self.together(fixes, tr(words.PATCHES_TOGETHER))
        if not self.sufficient(together):
            return ()
        return self.without_needless(together)

    def beside_patches(self, fixes: Sequence[str], harmless: Sequence[str]) -> tuple[str, ...]:
        """Return controls and patches that suffice together, since neither does alone."""
        if self.reached.isdisjoint(fixes):
            return ()  # no process has taken a patch
        together = self.together((*harmless, *fixes), tr(words.BESIDE_PATCHES))
        return self.narrowed(together)

    def worth_alone(self) -> tuple[str, ...]:
        """Return the likely controls that are tried alone: none where several causes are sure, and
        one where more are named than could be tried alone, which are then tried together.
        """
        if len(self.candidates.sure) > 1:
            return ()
        return self.candidates.likely[: 1 if len(self.candidates.suspects) > ALONE else ALONE]

    def first_alone(self, names: Iterable[str], why: Callable[[str], str]) -> tuple[str, ...]:
        """Return the first of these controls that suffices alone; empty where none does."""
        for name in self.not_crashing(names):
            if self.agrees([name], why(name), deep=True):
                return (name,)
            free = self.candidates.ordered([name, FRESH])
            if name in self.stumbling and self.agrees(free, tr(words.FREE_NAMES)):
                return free
        return ()

    def together(self, names: Sequence[str], why: str, *, deep: bool = False) -> _Together:
        """Return all of them without those that crash."""
        left = self.not_crashing(names)
        while left and not self.fails(left):
            answer = self.answer(left, why, deep=deep)
            if answer.agrees is not None:
                return _Together(names=left, agree=answer.agrees, acted=answer.acting(left))
            free = self.candidates.ordered([*left, FRESH])
            if answer.stumbled and set(free) != set(left):
                left, why = free, tr(words.FREE_NAMES)
                continue
            bad = self.make_fail(left, answer)
            self.crashed(bad)
            left = self.not_crashing(left)
            why = words.again_without(bad)
        return _Together(names=left)

    def make_fail(self, names: Sequence[str], answer: Answer) -> list[str]:
        """Controls that make the script fail: those that its error names, else one that is known to
        do so often, else what halves show.
        """
        return list(answer.blamed) or self.brittle(names) or self.crashes(names)

    def brittle(self, names: Sequence[str]) -> list[str]:
        """Return a control that makes the script fail by itself, among those that do so more often
        than others.
        """
        for name in filter(names.__contains__, self.candidates.brittle):
            if self.answer([name], tr(words.WHETHER_IT_FAILS)).agrees is None:
                return [name]
        return []

    def crashes(self, names: Sequence[str]) -> list[str]:
        """Return a control that makes the script fail, found by halves; of several that do so only
        together, one half.
        """
        if len(names) == 1:
            return list(names)
        first, second = _halves(names)
        for half in (first, second):
            answer = self.answer(half, tr(words.WHICH_FAILS))
            if answer.agrees is None:
                return list(answer.blamed) or self.crashes(half)
        return list(second)

    def sufficient(self, tried: _Together) -> tuple[str, ...]:
        """Return the controls, where the runs agree under them and one of them acted."""
        if not tried.agree:
            return ()
        if not tried.acted:
            self.by_luck(tried.names)
            return ()
        return tried.names

    def narrowed(self, suffices: _Together) -> tuple[str, ...]:
        """Return a minimal part of a set under which the runs agree; a single control wherever one
        suffices. Empty: what acted does not, or the runs do not agree.
        """
        if not suffices.agree:
            return ()
        acting = list(filter(suffices.acted.__contains__, suffices.names))
        idle = [name for name in suffices.names if name not in acting]
        silent = list(filter(self.candidates.silent.__contains__, idle))
        if self.acts_unseen(silent, acting):
            found = self.with_silent(acting, silent)
            if not found:
                self.by_luck(suffices.names)
            return found
        if not acting or self.fails(acting):
            self.by_luck(suffices.names)
            return ()
        suspects = (*self.candidates.suspects, *self.candidates.fixes)
        named = [name for name in acting if name in suspects]
        others = [name for name in acting if name not in named]
        patched = any(map(is_fix, named))
        if patched and self.agrees(named, words.without(others)):
            return self.without_needless(
                _Together(tuple(named), agree=True, acted=frozenset(named))
            )
        if named and self.fails(named):
            # What is named removes a part at least: what is missing beside it is looked for.
            missing = self.minimal(named, others, known=True)
            found = self.candidates.ordered([*named, *missing])
            return self.without_needless(_Together(found, agree=True, acted=frozenset(found)))
        tried = [name for name in acting if self.fails([name])]
        fresh = list(filterfalse(tried.__contains__, acting))
        alone = self.first_alone(fresh[:ALONE], words.alone)
        if alone:
            return alone
        left = fresh[ALONE:]
        if left and self.agrees(left, words.without([*tried, *fresh[:ALONE]])):
            return self.halved(left, left)
        return self.halved([*fresh, *tried], fresh)

    def with_silent(self, acting: Sequence[str], silent: Sequence[str]) -> tuple[str, ...]:
        """Return a minimal set that holds controls of which nothing shows that they act: runs under
        all that is seen to act differ.
        """
        if not self.agrees((*acting, *silent), tr(words.SILENT)):
            return ()
        needed = self.minimal(acting, silent, known=True)
        self.shown.intersection_update(needed)
        named = [name for name in acting if name in self.candidates.suspects]
        for base in (named, (), acting):
            left = self.candidates.ordered((*base, *needed))
            others = [name for name in acting if name not in base]
            if self.agrees(left, words.without(others)):
                return self.without_needless(_Together(left, agree=True, acted=frozenset(left)))
        return ()

    def halved(self, suffices: Sequence[str], fresh: Sequence[str]) -> tuple[str, ...]:
        """Return a minimal part of controls that suffice; of `fresh` one alone, where one does."""
        found = self.minimal((), suffices, known=True)
        if len(found) > 1:
            return self.first_alone(fresh, words.alone) or self.candidates.ordered(found)
        return found

    def with_parts(self, smallest: tuple[str, ...]) -> tuple[str, ...]:
        """Return the set with a part of a control in its place, where that suffices: a control that
        does two things proves neither as long as one of them may be enough.
        """
        for name in smallest:
            for part in self.candidates.ordered(self.candidates.parts.get(name, ())):
                others = [one for one in smallest if one != name]
                if self.agrees([*others, part], words.part_of(name, part)):
                    return self.candidates.ordered([*others, part])
        return smallest

    def without_needless(self, suffices: _Together) -> tuple[str, ...]:
        """Return what is needed of suspects that suffice together: most of them, so each is left
        out in turn, the least suspicious first, after those that acted on nothing.
        """
        needed = list(suffices.names)
        idle = [name for name in needed if name not in suffices.acted]
        useless = [name for name in idle if not self.candidates.silent_among([name])]
        each = [name for name in reversed(needed) if name not in useless]
        for left_out in (useless, *([name] for name in each)):
            others = [one for one in needed if one not in left_out]
            if left_out and others and self.agrees(others, words.without(left_out)):
                needed = others
        return self.candidates.ordered(needed)

    def needed_at(self, smallest: tuple[str, ...], answer: Answer) -> dict[str, tuple[str, ...]]:
        """Return, of the controls that acted at several places, those of the places at which they
        have to: each place is left out in turn.
        """
        if self.runs > PAIR or any(map(is_fix, smallest)):
            return {}  # a patch moves lines
        found = {}
        for name in smallest:
            places = answer.places.get(name, ())
            if not 2 <= len(places) <= MOST_PLACES:
                continue
            whole = Question(controls=smallest, runs=PAIR, why="", reference=smallest)
            questions = {
                place: replace(whole, why=words.not_at(name, place), spared=(f"{name}@{place}",))
                for place in places
            }
            found[name] = tuple(
                place for place, asked in questions.items() if self.ask(asked).agrees is False
            )
        return {name: places for name, places in found.items() if places}

    def minimal(self, base: Sequence[str], names: Sequence[str], *, known: bool) -> tuple[str, ...]:
        """Return what of `names` is needed beside `base`; all of them together suffice.

        `known`: whether `base` alone is known not to.
        """
        if not known and self.agrees(base, words.without(names)):
            return ()
        if len(names) == 1:
            return tuple(names)
        first, second = _halves(names)
        of_second = self.minimal((*base, *first), second, known=False)
        of_first = self.minimal((*base, *of_second), first, known=not of_second)
        return (*of_first, *of_second)


def _halves(names: Sequence[str]) -> tuple[Sequence[str], Sequence[str]]:
    """The first is the larger one where they are not equal."""
    middle = (len(names) + 1) // 2
    return names[:middle], names[middle:]


def find(
    candidates: Candidates,
    ask: Ask,
    needed: Needed,
    *,
    runs: int = PAIR,
    most: int = sys.maxsize,
    whole: bool = True,
    differing: Differing = lambda names: None,
) -> Found:
    """Return a smallest set of controls under which the runs agree, and keep agreeing in as many
    runs as chance needs to be excluded.

    runs    runs an arm, two unless the difference is intermittent
    most    runs under the set in the end, where chance can be excluded by more alone
    whole   False where no set can be confirmed: then only the likely controls and all harmless ones
            are tried
    differing where runs under controls that do not suffice first differ
    Raises Unanswered where runs are missing.
    """
    search = _Search(candidates=candidates, ask=ask, runs=runs, differing=differing)
    refuted: set[tuple[str, ...]] = set()
    while True:
        smallest = search.with_parts(search.smallest(whole=whole))
        if not smallest or smallest in refuted:
            return Found(crashing=search.crashing, idle=search.idle, complete=whole)
        answer = _again(search, smallest, needed, most)
        acting = search.acting(smallest, answer)
        unseen = [name for name in smallest if name not in acting]
        all_acted = not unseen or search.acts_unseen(unseen, sorted(acting))
        if answer.agrees and (all_acted or not whole):
            at = search.needed_at(smallest, answer) if whole else {}
            return Found(smallest=smallest, runs=answer.runs, crashing=search.crashing, needed=at)
        refuted.add(smallest)
        if answer.agrees:
            search.by_luck(smallest)
            continue
        # A few runs had agreed by chance: the difference is intermittent, so as many say nothing
        # from here on.
        search.runs, search.reference = max(search.runs, answer.runs), ()


def _again(search: _Search, smallest: tuple[str, ...], needed: Needed, most: int) -> Answer:
    """Return the same controls in as many runs as it takes."""
    answer = search.answer(smallest, tr(words.SUFFICES), runs=search.runs)
    while answer.agrees:
        wanted = min(needed(smallest, answer), most)
        if answer.runs >= wanted:
            break
        why = words.more_runs(wanted - answer.runs)
        answer = search.answer(smallest, why, runs=wanted)
    return answer
