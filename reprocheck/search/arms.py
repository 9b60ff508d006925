"""The arms of a search, read back: what the runs under each set of controls say, and how the runs
as they are vary.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Hashable, Iterable
from dataclasses import replace
from functools import cached_property
from itertools import chain, filterfalse
from operator import attrgetter
from pathlib import Path

from reprocheck.model import Arm, Check, CheckRecord, Run, RunRecord, Trace
from reprocheck.search.acted import Acting
from reprocheck.search.asked import PAIR, Answer, Question, Unanswered
from reprocheck.search.chance import Sample, sample
from reprocheck.search.judged import Judged, agree


class Book:
    """What the record in a report folder holds of a search."""

    def __init__(self, check: Check, folder: Path) -> None:
        self.check, self.folder = check, folder

    @property
    def record(self) -> CheckRecord:
        """The record, with all arms."""
        return self.check.record

    @cached_property
    def judged(self) -> tuple[Judged, ...]:
        """The arms in the order in which they were begun, those of the same controls as one."""
        groups = defaultdict(list)
        for arm in self.record.arms:
            groups[self._beside(arm), arm.patched].append(arm)
        judged = (self._judged(*key, arms) for key, arms in groups.items())
        return tuple(filter(None, judged))

    def of(self, names: Iterable[str], *, patched: bool = False) -> Judged | None:
        """The runs under these controls; None where there are none."""
        return self._by_controls.get((frozenset(names), patched))

    def made(self, names: Iterable[str]) -> int:
        """How many runs there are under these controls."""
        found = self.of(names)
        if found is None:
            return 0
        return len(found.runs)

    @property
    def patched(self) -> Judged | None:
        """The runs with a patch; None where none was tried, or some run was not given it."""
        found = self.of((), patched=True)
        if found is None or found.untried:
            return None
        return found

    @cached_property
    def _by_controls(self) -> dict[tuple[frozenset[str], bool], Judged]:
        return {(frozenset(one.names), one.patched): one for one in reversed(self.judged)}

    def ask(self, question: Question) -> Answer:
        """Answers the search from what is recorded. Raises Unanswered."""
        found = self.of(question.controls)
        if found is None:
            raise Unanswered(question)
        if len(found.runs) < question.runs and not found.decided:
            raise Unanswered(question)
        return found.answer

    # ------------------------------------------------------------------------- the runs as they are

    @cached_property
    def sample(self) -> Sample:
        """The runs as they are, of the check and those that were recorded again, by their losses up
        to the first difference.

        A loss that is not finite equals others whatever the run was, and no runs under a control
        agree by one: none as they are do, either.
        """
        pairs = [list(filter(self._came_so_far, pair)) for pair in self._as_is()]
        outcomes = [list(map(self._outcome, pair)) for pair in pairs]
        not_finite = filter(self._not_finite, chain.from_iterable(pairs))
        blind = frozenset(map(self._outcome, not_finite))
        return sample(outcomes, carried=bool(self.check.state_left), blind=blind)

    def _as_is(self) -> list[tuple[Run, ...]]:
        untouched = set(chain.from_iterable(one.arms for one in self.judged if one.as_is))
        again = [pair.runs for pair in self.record.deeper]
        for arm in self.record.arms:
            no_control = not self._beside(arm) and not arm.patched
            if no_control or arm.name in untouched:
                again.append(arm.runs)
        return [self.check.runs, *(tuple(map(self._read, runs)) for runs in again)]

    @cached_property
    def _first(self) -> int:
        """The iteration in which the runs first differ."""
        return self.check.verdict.bitwise.first_iteration or 1

    def _came_so_far(self, run: Run) -> bool:
        """Whether every rank of a run came to the first difference."""
        shortest = min((len(trace.losses) for trace in run.traces), default=0)
        return shortest >= self._first

    def _outcome(self, run: Run) -> Hashable:
        """What tells this run from others: the losses of every rank up to the first difference."""
        return tuple(_outcome(trace, self._first) for trace in run.traces)

    def _not_finite(self, run: Run) -> bool:
        """Whether it has a loss that is not finite where the runs first differ, and a check is made
        of that iteration.
        """
        if self._first not in self._checked:
            return False
        losses = (trace.losses.losses(self._first) for trace in run.traces)
        return not all(map(math.isfinite, chain.from_iterable(losses)))

    @cached_property
    def _checked(self) -> frozenset[int]:
        """The iterations of which a check is made."""
        return frozenset(map(attrgetter("iteration"), self.check.verdict.comparisons))

    # --------------------------------------------------------------------- the runs under a control

    def _read(self, run: RunRecord) -> Run:
        from reprocheck.trace import read_run

        return read_run(self.folder, run)

    def _beside(self, arm: Arm) -> tuple[str, ...]:
        """The controls of an arm beside those of the check."""
        return tuple(filterfalse(self.record.controls.__contains__, arm.controls))

    @cached_property
    def _acting(self) -> Acting:
        return Acting(self.check, self.folder)

    def _judged(self, names: tuple[str, ...], patched: bool, arms: list[Arm]) -> Judged | None:
        """None where the arm was broken off before it held a pair."""
        from reprocheck.verdict import judge, paired

        made = chain.from_iterable(arm.runs for arm in arms)
        records = [run for run in made if run.ended != "interrupted"]
        if len(records) < PAIR:
            return None
        numbered = [replace(run, number=number) for number, run in enumerate(records, start=1)]
        runs = paired(list(map(self._read, numbered)), self.record.tolerance)
        verdict = judge(runs, self.record.tolerance, fail_on=self.record.fail_on)
        # The iteration of the last check, or that of the first difference, whichever is later.
        until = max(*self._checked, self._first, 0)
        in_place = any(map(attrgetter("in_place"), arms))
        all_patched = all(map(attrgetter("controls.patched"), runs))
        return Judged(
            names=names,
            patched=patched,
            why=arms[0].why,
            runs=runs,
            verdict=verdict,
            agrees=agree(verdict, runs, until),
            arms=tuple(map(attrgetter("name"), arms)),
            until=until,
            acted=self._acting.of(names, runs),
            untried=in_place and not all_patched,
        )


def _outcome(trace: Trace, last: int) -> Hashable:
    """The losses of a rank up to an iteration, and those of them that a double does not hold."""
    _, end = trace.losses.span(last)
    exact = sorted(item for item in trace.losses.exact.items() if item[0] < end)
    return trace.rank, trace.losses.values[:end].tobytes(), tuple(exact)
