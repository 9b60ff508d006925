"""Remember what runs said under each set of controls and patches that was tried.

Also what follows for other sets.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, field, replace
from itertools import filterfalse

from reprocheck.model.reason import Reason
from reprocheck.search.request import FRESH, PAIR, Answer, Candidates, Difference, Question

AGAIN = 4
"""Runs as they are that have to differ where nothing else shows that a control acts."""

Ask = Callable[[Question], Answer]
"""Answers from at least as many runs as are asked for, or raises Unanswered."""
Differing = Callable[[tuple[str, ...]], Difference | None]
"""Returns where runs under some controls first differ; None where they do not, or nobody knows."""
Needed = Callable[[tuple[str, ...], Answer], int]
"""How many runs must agree under a set before chance is excluded, given those that do.

May raise Unanswered, too.
"""


@dataclass(frozen=True, slots=True)
class Together:
    """Controls that were tried at once, without those under which the script crashes.

    names  the controls
    agree  whether the runs agree under the controls
    acted  the controls that acted on anything; empty if the runs were not made or say nothing
    """

    names: tuple[str, ...]
    agree: bool = False
    acted: frozenset[str] = frozenset()


@dataclass(slots=True)
class Experiments:
    """The sets that a search has tried, and what their runs said."""

    candidates: Candidates
    ask: Ask
    runs: int
    differing: Differing
    answers: dict[frozenset[str], Answer] = field(default_factory=dict)
    """What the runs under each set said last."""
    lucky: set[frozenset[str]] = field(default_factory=set)
    """Sets under which the runs agreed although they did not make them."""
    tried: dict[tuple[frozenset[str], int], Together] = field(default_factory=dict)
    """What runs said under many controls at once, by these and by the runs of an arm."""
    crashing: tuple[str, ...] = ()
    idle: tuple[str, ...] = ()
    reference: tuple[str, ...] = ()
    """The last controls under which the runs agreed: what fewer of them give is held against it."""
    shown: set[str] = field(default_factory=set)
    """Controls that act, although nothing recorded says on what: runs without them differ."""

    def answer(
        self, names: Iterable[str], why: Reason, runs: int = 0, *, deep: bool = False
    ) -> Answer:
        """Return what the runs under these controls say."""
        controls = self.candidates.ordered(names)
        question = Question(controls=controls, runs=runs or self.runs, why=why, deep=deep)
        if not runs and self.runs == PAIR and set(controls) < set(self.reference):
            question = replace(question, reference=self.reference)
        answer = self.ask(question)
        self.answers[frozenset(controls)] = answer
        if answer.agrees:
            self.reference = controls
        return answer

    def differ_under(self, names: Iterable[str]) -> bool:
        """Return whether the runs are known to differ under these controls.

        That is so if the runs differ under a set that holds all of these controls.
        """
        wanted = frozenset(names)
        failed = (one for one, answer in self.answers.items() if answer.agrees is False)
        return any(map(wanted.issubset, (*failed, *self.lucky)))

    def agrees(self, names: Iterable[str], why: Reason, *, deep: bool = False) -> bool:
        """Return whether the runs agree under these controls, one of which acted.

        False if the script crashes.
        """
        wanted = frozenset(names)
        if self.differ_under(wanted):
            return False
        answer = self.answer(wanted, why, deep=deep)
        if answer.agrees is None and not answer.stumbled and len(wanted) == 1:
            self.crashed(wanted)
        if not answer.agrees:
            return False
        if self.acting(wanted, answer) or self.acts_unseen(self.silent(wanted)):
            return True
        self.note_luck(wanted)
        return False

    def acting(self, names: Iterable[str], answer: Answer) -> frozenset[str]:
        """Return the controls that acted, by the record or because runs without them differ."""
        return answer.acting(names) | self.shown.intersection(names)

    def reached(self) -> set[str]:
        """Return the controls and patches that acted in some runs."""
        acted = (answer.acting(names) for names, answer in self.answers.items())
        return set().union(*acted)

    def all_act(self, names: tuple[str, ...], answer: Answer) -> bool:
        """Return whether the record or other runs show that every control of a set acts."""
        acting = self.acting(names, answer)
        unseen = [name for name in names if name not in acting]
        if not unseen:
            return True
        return self.silent(unseen) == unseen and self.acts_unseen(unseen, sorted(acting))

    def silent(self, names: Iterable[str]) -> list[str]:
        """Return the controls whose effect is never recorded."""
        return list(filter(self.candidates.silent.__contains__, names))

    def acts_unseen(self, names: Collection[str], base: Sequence[str] = ()) -> bool:
        """Return whether controls whose effect is never recorded act.

        Runs without them differ.

        The runs without are those under `base` alone, made after the runs that agree.
        """
        if not names or self.runs > PAIR:
            return False
        why = Reason(key="without silent")
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
        """Return the controls of `base` under which no runs were made.

        Runs under `base` and an ineffective control count, too.

        Empty if runs were made under all of these sets.
        """
        reached = self.reached()
        idle = [name for name in self.candidates.harmless if name not in reached]
        others = [name for name in idle if name not in self.candidates.silent]
        sets = ([*base], *([*base, name] for name in others))
        return next((one for one in sets if frozenset(one) not in self.answers), ())

    def note_luck(self, names: Iterable[str]) -> None:
        """Remember a set under which runs agreed by luck: it says as little as a difference."""
        self.idle = self.idle or self.candidates.ordered(names)
        self.reference = ()
        self.lucky.add(frozenset(names))

    def crashed(self, names: Iterable[str]) -> None:
        """Remember controls under which the script ends with an error."""
        self.crashing = tuple(dict.fromkeys((*self.crashing, *names)))

    def not_crashing(self, names: Iterable[str]) -> tuple[str, ...]:
        """Return the controls under which the script is not known to fail."""
        return tuple(filterfalse(self.crashing.__contains__, names))

    def confirmed(self, smallest: tuple[str, ...], needed: Needed, most: int) -> Answer:
        """Return what the set says once enough runs were made under it.

        So many are enough as `needed` asks for, or `most`.
        """
        answer = self.answer(smallest, Reason(key="suffices"), runs=self.runs)
        while answer.agrees:
            wanted = min(needed(smallest, answer), most)
            if answer.runs >= wanted:
                break
            why = Reason(key="more runs", runs=wanted - answer.runs)
            answer = self.answer(smallest, why, runs=wanted)
        return answer

    def reason(self, name: str) -> Reason:
        """Return why a control is tried that is likely to remove the difference."""
        return self.candidates.reasons.get(name, Reason(key="the ladder speaks for it"))

    def is_inert(self, name: str) -> bool:
        """Return whether a control was tried alone, acted on nothing, and the runs differed."""
        answer = self.answers.get(frozenset([name]))
        return answer is not None and answer.agrees is False and not answer.acting([name])

    def first_alone(self, names: Iterable[str], why: Callable[[str], Reason]) -> tuple[str, ...]:
        """Return the first of these controls under which alone the runs agree.

        Empty if there is none.
        """
        for name in self.not_crashing(names):
            if self.agrees([name], why(name), deep=True):
                return (name,)
            answer = self.answers.get(frozenset([name]))
            free = self.candidates.ordered([name, FRESH])
            stumbled = answer is not None and answer.stumbled
            if stumbled and self.agrees(free, Reason(key="free names")):
                return free
        return ()

    def together(self, names: Sequence[str], why: Reason, *, deep: bool = False) -> Together:
        """Return what runs say under all of the controls but those that make the script fail."""
        key = frozenset(names), self.runs
        if key not in self.tried:
            self.tried[key] = self._together(names, why, deep=deep)
        tried = self.tried[key]
        by_luck = tried.agree and self.differ_under(tried.names)
        return Together(tried.names) if by_luck else tried

    def _together(self, names: Sequence[str], why: Reason, *, deep: bool) -> Together:
        left = self.not_crashing(names)
        while left and not self.differ_under(left):
            answer = self.answer(left, why, deep=deep)
            if answer.agrees is not None:
                return Together(names=left, agree=answer.agrees, acted=answer.acting(left))
            free = self.candidates.ordered([*left, FRESH])
            if answer.stumbled and set(free) != set(left):
                left, why = free, Reason(key="free names")
                continue
            bad = self.make_fail(left, answer)
            self.crashed(bad)
            left = self.not_crashing(left)
            why = Reason(key="without failing", names=tuple(bad))
        return Together(names=left)

    def make_fail(self, names: Sequence[str], answer: Answer) -> list[str]:
        """Return controls that make the script fail.

        Those that its error names, else one that does so by itself, of those that do so more often
        than others, else what halves show.
        """
        if answer.blamed:
            return list(answer.blamed)
        for name in filter(names.__contains__, self.candidates.brittle):
            if self.answer([name], Reason(key="fails alone")).agrees is None:
                return [name]
        return self.crashes(names)

    def crashes(self, names: Sequence[str]) -> list[str]:
        """Return a control that makes the script fail, found by halves.

        Of several that do so only together, one half.
        """
        if len(names) == 1:
            return list(names)
        first, second = halves(names)
        for half in (first, second):
            answer = self.answer(half, Reason(key="which fails"))
            if answer.agrees is None:
                return list(answer.blamed) or self.crashes(half)
        return list(second)

    def is_enough(self, tried: Together) -> bool:
        """Return whether a set of controls explains the difference.

        It does if the runs agree under it and one of its controls acted. Runs that agree although
        none acted are noted as luck.
        """
        if not tried.agree:
            return False
        if tried.acted or self.acts_unseen(self.silent(tried.names)):
            return True
        self.note_luck(tried.names)
        return False


def halves(names: Sequence[str]) -> tuple[Sequence[str], Sequence[str]]:
    """Return the first and the second half; the first is longer if the number is odd."""
    middle = (len(names) + 1) // 2
    return names[:middle], names[middle:]
