"""Read back the arms of a search.

What the runs under each set of controls say, and how the uncontrolled runs vary.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import cached_property, partial
from itertools import chain, filterfalse
from operator import attrgetter
from pathlib import Path

from reprocheck.causes.start_values import is_what_differs
from reprocheck.causes.usercode import UserCode
from reprocheck.model import Arm, Check, CheckRecord, Run, RunRecord, Verdict
from reprocheck.model.controls import is_fix
from reprocheck.model.reason import Reason
from reprocheck.model.statements.search import Sample
from reprocheck.rules import likely
from reprocheck.search import order
from reprocheck.search.arm_runs import Judged, agree, first_difference, places_of
from reprocheck.search.chance import sample, speaks_for
from reprocheck.search.effective_controls import Acting
from reprocheck.search.lines import lines_of
from reprocheck.search.request import (
    FRESH,
    PAIR,
    Answer,
    Difference,
    Question,
    Unanswered,
    target_of,
)


class Book:
    """The record in a report folder, read as the answers to the questions of a search."""

    def __init__(self, check: Check, folder: Path) -> None:
        self.check, self.folder = check, folder
        self._target = target_of(check)
        """The series that is searched, where that is not the losses."""
        self._asked: dict[tuple[frozenset[str], tuple[str, ...]], Reason] = {}
        """Why the search asked for runs under controls."""
        self.differences: dict[frozenset[str], Difference | None] = {}
        """Where runs under controls first differ, as far as somebody has asked."""

    @property
    def record(self) -> CheckRecord:
        """The record of the check, with all arms of the search."""
        return self.check.record

    @cached_property
    def nothing_to_try(self) -> bool:
        """Return whether the input of the runs explains the difference, and nothing was tried.

        The input that they were started with, and no control.

        Such input is, for example, a seed that a shell script draws.
        """
        tried = any(self._beside(arm) for arm in self.record.arms)
        return not tried and is_what_differs(self.check, self.folder)

    @cached_property
    def judged(self) -> tuple[Judged, ...]:
        """Return the sets of controls in the order of their first arm; arms of a set are one."""
        groups = defaultdict(list)
        for arm in self.record.arms:
            groups[self._beside(arm), arm.patched, arm.spared, arm.value].append(arm)
        known: dict[frozenset[str], Judged] = {}
        judged = []
        for (names, patched, spared, _), arms in groups.items():
            runs = self._judged(names, arms, self._reference(arms[0], known))
            if runs is None:
                continue
            judged.append(runs)
            if not patched and not spared:
                known[frozenset(names)] = runs
        return tuple(judged)

    def _reference(self, arm: Arm, known: Mapping[frozenset[str], Judged]) -> Judged | None:
        """Return the runs under more controls that one run of an arm can be compared with.

        One run says nothing beside runs that do not agree, or if a run leaves what only the second
        run of an arm finds.
        """
        reference = known.get(frozenset(arm.reference)) if arm.reference else None
        if reference is None or self.check.state_left or reference.value != arm.value:
            return None
        return reference if reference.agrees_exactly else None

    def of(
        self, names: Iterable[str], *, patched: bool = False, spared: tuple[str, ...] = ()
    ) -> Judged | None:
        """Return the runs under these controls; None if there are none."""
        return self._by_controls.get((frozenset(names), patched, spared))

    def reason(self, judged: Judged) -> Reason | str:
        """Return why runs were made: the reason of the search, else an older sentence."""
        if isinstance(judged.why, Reason) or judged.patched:
            return judged.why
        return self._asked.get((frozenset(judged.names), judged.spared), judged.why)

    def made(self, names: Iterable[str], *, patched: bool = False) -> int:
        """Return how many runs were made under these controls."""
        found = self.of(names, patched=patched)
        if found is None:
            return 0
        return len(found.runs)

    @cached_property
    def _by_controls(self) -> dict[tuple[frozenset[str], bool, tuple[str, ...]], Judged]:
        return {(frozenset(one.names), one.patched, one.spared): one for one in self.judged}

    @cached_property
    def _value(self) -> int:
        """Return the highest number of a control value under which no run failed.

        0 if there is none.
        """
        return max((one.value for one in self.judged if one.failed is None), default=0)

    def ask(self, question: Question) -> Answer:
        """Answer a question of the search from the recorded runs.

        Raises Unanswered if the runs are missing.
        """
        found = self.of(question.controls, spared=question.spared)
        self._asked.setdefault((frozenset(question.controls), question.spared), question.why)
        if found is None:
            raise Unanswered(replace(question, value=self._value))
        if not found.settles(question):
            raise Unanswered(replace(question, value=found.value))
        if found.wants_another_value:
            another = Reason(key="another value")
            raise Unanswered(replace(question, value=found.value + 1, why=another))
        findings = (one.source.at for one in self.check.scanned.findings)
        named = lines_of(self.check.causes).union(findings)
        if len(named) < 2:
            # One cause alone is not taken apart.
            return found.answer
        places = places_of(found.runs[0].controls.touches, named)
        return replace(found.answer, places=places)

    def differing(self, names: Iterable[str]) -> Difference | None:
        """Return where the runs under these controls first differ.

        None if the runs agree, were not made, or recorded nothing but losses.
        """
        under, key = self.of(names), frozenset(names)
        if under is None:
            return None
        if key not in self.differences:
            self.differences[key] = first_difference(self.check, self.folder, under)
        return self.differences[key]

    @cached_property
    def sample(self) -> Sample:
        """Return the outcomes of the uncontrolled runs, with no controls beside the check's.

        A loss that is not finite is no evidence of agreement: two unlike runs may both give NaN.
        """
        return self._sample_until(self._told_apart)

    def _sample_until(self, last: int) -> Sample:
        outcome = self._outcome(last)
        outcomes = [list(map(outcome, pair)) for pair in self._as_is]
        runs = chain.from_iterable(self._as_is)
        not_finite = (run for run in runs if not self._is_finite(run))
        blind = frozenset(map(outcome, not_finite))
        return sample(outcomes, carried=bool(self.check.state_left), blind=blind)

    def _outcome(self, last: int) -> Callable[[Run], Hashable]:
        """Return a function that gives a key of a run.

        The key is made of its losses up to an iteration, or of its series.
        """
        if self._target is not None:
            return self._target.outcome
        return partial(_outcome, last=last)

    @cached_property
    def _told_apart(self) -> int:
        """Return the iteration up to which losses tell the uncontrolled runs apart.

        The first that differs, or a later one.

        One loss may have few values, for example if it depends on which of four workers is first.
        So if some runs agree in that loss, later losses count, too, as far as they are equal under
        a control: luck has to explain all of them. Something besides the runs must speak for the
        control; otherwise what the control removes might be another, later difference.
        """
        if self._target is not None or not self._sample_until(self._first).intermittent:
            return self._first
        agreed = max(map(self._agreed_until, self.judged), default=0)
        recorded = map(_iterations, chain.from_iterable(self._as_is))
        return max(self._first, min(agreed, *recorded))

    def _agreed_until(self, under: Judged) -> int:
        """Return the last iteration up to which runs agree under controls that all acted.

        0 if the runs do not agree, or if nothing besides the runs speaks for one of the controls.
        """
        spoken_for = any(map(partial(speaks_for, self.check), under.names))
        all_acted = under.acted.issuperset(under.names)
        if not all((spoken_for, under.agrees_exactly, all_acted)):
            return 0
        if under.later is not None:
            return under.later - 1
        return min(map(_iterations, under.runs))

    def sample_beside(self, names: Iterable[str]) -> Sample:
        """Return the differing runs to which the agreeing runs under these controls are compared.

        The differing runs are the uncontrolled ones and those under controls that do not suffice:
        if the controls have no effect, all of these are draws of one kind. A control whose value is
        not new in each start may give other losses in each run alike: runs under such a control are
        compared only with runs under the same control.
        """
        under = self.of(names)
        if under is None or not under.agrees_exactly or self.sample.intermittent:
            return self.sample
        shifting = self._that_shift_losses(under.names, under)
        outcome = self._outcome(self._told_apart)
        agreeing = set(map(outcome, under.runs))
        as_is = list(map(outcome, chain(*self._as_is)))
        comparable = (
            one.runs
            for one in self.judged
            if one.refutes and self._that_shift_losses(one.names, one) in (shifting, frozenset())
        )
        further = list(map(outcome, chain(*comparable)))
        repeated = len({*as_is, *further}) < len(as_is) + len(further)
        lucky = bool(shifting) and not agreeing.isdisjoint(further)
        counts = not repeated and not lucky
        counted = [*as_is, *further] if counts else as_is
        unlike = not shifting and agreeing.isdisjoint(counted)
        if not counts:
            return replace(self.sample, unlike=unlike)
        runs = len(counted)
        return replace(
            self.sample, runs=runs, odd=runs - 1, insufficient=len(further), unlike=unlike
        )

    def _that_shift_losses(self, names: Iterable[str], under: Judged) -> frozenset[str]:
        """Return the controls and patches that may change the losses of every run in the same way.

        For example, a control whose fixed value is not new in each start, or replaces a value of
        the user's.
        """
        overrides = chain.from_iterable(run.controls.overrides for run in under.runs)
        fixed = {one.control for one in overrides}
        return frozenset(name for name in names if name in fixed or not self.is_new(name))

    def is_new(self, name: str) -> bool:
        """Return whether a control or a patch fixes something that is new in each start.

        Such as a hash seed.

        For something that is only often new, such as a clock that may be asked for the day alone,
        an observed cause must show that.
        """
        if is_fix(name):
            return name in self._fixes_anew
        if name not in likely.table().anew_where_shown:
            return name in likely.table().anew
        observed = (one.code for one in self.check.causes if one.confidence == "observed")
        return any(likely.confirms(name, code) for code in observed)

    @cached_property
    def _fixes_anew(self) -> frozenset[str]:
        return order.anew(self.check, self._code)

    @cached_property
    def _code(self) -> UserCode:
        return UserCode(self.check, self.folder)

    @cached_property
    def _as_is(self) -> list[list[Run]]:
        """The uncontrolled runs that reached the first difference, pair by pair."""
        as_is = chain.from_iterable(one.arms for one in self.judged if one.as_is)
        untouched = set(map(attrgetter("name"), as_is))
        again = [pair.runs for pair in self.record.deeper if not pair.of_check]
        for arm in self.record.arms:
            no_control = not self._beside(arm) and not arm.patched
            if no_control or arm.name in untouched:
                again.append(arm.runs)
        pairs = [self.check.runs, *(tuple(map(self._read, runs)) for runs in again)]
        return [[run for run in pair if _iterations(run) >= self._first] for pair in pairs]

    @cached_property
    def _first(self) -> int:
        """The iteration in which the runs first differ."""
        return self.check.verdict.bitwise.first_iteration or 1

    def _is_finite(self, run: Run) -> bool:
        """Return whether the losses of a run are finite where the runs first differ.

        True if neither the forward nor the backward check covers that iteration.
        """
        if self._target is not None:
            return self._target.is_finite(run)
        if self._first not in self._checked:
            return True
        losses = (trace.losses.losses(self._first) for trace in run.traces)
        return all(map(math.isfinite, chain.from_iterable(losses)))

    @cached_property
    def _checked(self) -> frozenset[int]:
        """The iterations that the forward and the backward check cover."""
        return frozenset(map(attrgetter("iteration"), self.check.verdict.comparisons))

    def _read(self, run: RunRecord) -> Run:
        from reprocheck.trace import read_run

        return read_run(self.folder, run)

    def _beside(self, arm: Arm) -> tuple[str, ...]:
        """Return the controls of an arm beside those of the check, and the lines of its patches."""
        controls = filterfalse(self.record.controls.__contains__, arm.controls)
        return (*controls, *arm.fixes)

    def _judged(
        self, names: tuple[str, ...], arms: list[Arm], whole: Judged | None
    ) -> Judged | None:
        """Judge the runs that some arms made under the same controls.

        None if the arms were interrupted before a pair was made.

        A failed run needs no second run, nor does a run that is compared with the runs of `whole`.
        """
        from reprocheck.verdict import judge, paired

        made = chain.from_iterable(arm.runs for arm in arms)
        records = [run for run in made if run.ended != "interrupted"]
        failed = any(map(attrgetter("ended_badly"), records))
        if failed or len(records) != 1:
            whole = None
        if whole is None and len(records) < PAIR and not failed:
            return None
        first = [] if whole is None else [whole.runs[0]]
        numbered = [replace(run, number=n) for n, run in enumerate(records, start=1 + len(first))]
        runs = paired([*first, *map(self._read, numbered)], self.record.tolerance)
        verdict = judge(runs, self.record.tolerance, fail_on=self.record.fail_on)
        own = runs[len(first) :]
        fails_alike = self._fail_alike(own)
        agrees = self._agree(verdict, runs)
        if fails_alike:
            agrees = len(own) >= PAIR or None
        if whole is not None and not self._says_enough(names, arms[0], whole, agrees, verdict):
            agrees = None
        in_place = any(map(attrgetter("in_place"), arms))
        return Judged(
            names=names,
            patched=arms[0].patched,
            why=arms[0].reason or arms[0].why,
            runs=own,
            verdict=verdict,
            agrees=agrees,
            arms=tuple(arms),
            until=self._until,
            acted=Acting(self.check, self._code).of(names, own),
            reference=() if whole is None else whole.names,
            spared=arms[0].spared,
            untried=in_place and not all(map(attrgetter("controls.patched"), own)),
            fails_alike=fails_alike,
        )

    def _fail_alike(self, runs: Sequence[Run]) -> bool:
        """Return whether runs fail at the same place behind the checks, with the same bits."""
        ends = {(run.failed_at, run.last_words, _outcome(run, _iterations(run))) for run in runs}
        return len(ends) == 1 and all(
            run.record.ended == "failed" and _iterations(run) >= self._until for run in runs
        )

    def _says_enough(
        self,
        names: tuple[str, ...],
        arm: Arm,
        whole: Judged,
        agrees: bool | None,
        verdict: Verdict,
    ) -> bool:
        """Return whether one run is enough to answer, beside runs that agree under more controls.

        A run with other losses is enough only if the controls left out fix something new in each
        start: other controls could change the losses of every run in the same way.
        """
        left_out = set(whole.names).difference(names)
        left_out.update(one.partition("@")[0] for one in arm.spared)
        if agrees:
            return FRESH not in left_out and verdict.bitwise.equal_until(self._until)
        # `entropy` gives other numbers to the generators that `private-rng` has given theirs
        taken_over = "private-rng" in left_out and "entropy" in names
        return not taken_over and not self._that_shift_losses(left_out, whole)

    @cached_property
    def _until(self) -> int:
        """The iteration of the last check, or that of the first difference, whichever is later."""
        return max(*self._checked, self._first, 0)

    def _agree(self, verdict: Verdict, runs: Sequence[Run]) -> bool | None:
        """Return whether runs agree in the searched losses or series.

        None if that could not be decided.
        """
        if self._target is not None:
            return self._target.agree(verdict, self._until)
        if self.check.verdict.passed and verdict.passed:
            # What is searched is within the tolerance, and may be no more than rounding.
            return verdict.bitwise.equal_until(self._until)
        return agree(verdict, runs, self._until)


def _iterations(run: Run) -> int:
    """Return the number of iterations that every rank of a run recorded."""
    series = map(attrgetter("losses"), run.traces)
    return min(map(len, series), default=0)


def _outcome(run: Run, last: int) -> Hashable:
    """Return the losses of every rank up to an iteration, as a key that tells runs apart.

    Losses that a double does not hold are in the key, too.
    """
    outcomes = []
    for trace in run.traces:
        _, end = trace.losses.span(last)
        exact = sorted(item for item in trace.losses.exact.items() if item[0] < end)
        outcomes.append((trace.rank, trace.losses.values[:end].tobytes(), tuple(exact)))
    return tuple(outcomes)
