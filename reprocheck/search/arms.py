"""The arms of a search, read back: what the runs under each set of controls say, and how the runs
as they are vary.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path

from reprocheck.causes import refusals
from reprocheck.causes.refusals import Refusal
from reprocheck.model import Arm, Check, CheckRecord, Run, RunRecord, Trace, Verdict
from reprocheck.search.acted import Acting
from reprocheck.search.chance import Sample, sample
from reprocheck.search.sets import PAIR, Answer, Question, Unanswered

_ROUNDING_ULPS = {"bfloat16": 2, "float16": 8}
_ULPS = 64
"""Units in the last place by which losses may differ where another order of additions is all that
is left.
"""
_SETS_MODE = "deterministic"
"""The control that an error of deterministic mode speaks of."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Judged:
    """All runs under one set of controls, of one arm or several, and what the criterion says of
    them.

    names   the controls beside those of the check itself      agrees   None where it could not be
            decided
    until   the iteration up to which they must agree: that of the last check, or that of the first
            difference as it is
    acted   the controls that acted on something in each of the runs
    untried a patch was to be tried, and some run had no process that was given its text
    """

    names: tuple[str, ...]
    patched: bool
    why: str
    runs: tuple[Run, ...]
    verdict: Verdict
    agrees: bool | None
    arms: tuple[str, ...]
    until: int
    acted: frozenset[str] = frozenset()
    untried: bool = False

    @property
    def exact(self) -> bool:
        """Whether they agree in every bit, up to the iteration that counts."""
        return self.verdict.bitwise.equal is True or self.later is not None

    @property
    def later(self) -> int | None:
        """The first iteration that differs where those that count agree in every bit: another
        difference than the one that was searched.
        """
        first = self.verdict.bitwise.first_iteration
        return first if first is not None and first > self.until else None

    @property
    def failed(self) -> Run | None:
        """The first run that ended with an error or by the timeout."""
        return next((run for run in self.runs if run.record.ended_badly), None)

    @property
    def refusal(self) -> Refusal | None:
        """The error of deterministic mode in which it ended, if it is one."""
        return refusals.of_run(self.failed) if self.failed else None

    @property
    def answer(self) -> Answer:
        """What the search is told."""
        blamed = (_SETS_MODE,) if self.refusal and _SETS_MODE in self.names else ()
        return Answer(
            agrees=self.agrees,
            runs=len(self.runs),
            exact=self.exact,
            acted=self.acted,
            blamed=blamed,
        )

    @property
    def as_is(self) -> bool:
        """Whether nothing was done in any of the runs: no control was on, or what it set was not
        used, and it intercepted nothing.
        """
        touches = [touch for run in self.runs for touch in run.controls.touches]
        return not self.patched and all(touch.setting for touch in touches)


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
        groups: dict[tuple[tuple[str, ...], bool], list[Arm]] = {}
        for arm in self.record.arms:
            groups.setdefault((self._beside(arm), arm.patched), []).append(arm)
        return tuple(
            found
            for (names, patched), arms in groups.items()
            if (found := self._judged(names, patched, arms)) is not None
        )

    def of(self, names: Iterable[str], *, patched: bool = False) -> Judged | None:
        """The runs under these controls; None where there are none."""
        wanted = set(names)
        return next(
            (one for one in self.judged if set(one.names) == wanted and one.patched is patched),
            None,
        )

    def ask(self, question: Question) -> Answer:
        """Answers the search from what is recorded. Raises Unanswered."""
        found = self.of(question.controls)
        if found is None or (
            found.agrees is not False and len(found.runs) < question.runs and found.failed is None
        ):
            raise Unanswered(question)
        return found.answer

    @cached_property
    def sample(self) -> Sample:
        """The runs as they are, of the check and those that were recorded again, by their losses up
        to the first difference.

        A loss that is not finite equals others whatever the run was, and no runs under a control
        agree by one: none as they are do, either.
        """
        pairs = self._as_is()
        outcomes = [
            [outcome for run in pair if (outcome := self._outcome(run)) is not None]
            for pair in pairs
        ]
        blind = {
            outcome
            for pair in pairs
            for run in pair
            if (outcome := self._outcome(run)) is not None and self._not_finite(run)
        }
        return sample(outcomes, carried=bool(self.check.state_left), blind=blind)

    def _as_is(self) -> list[tuple[Run, ...]]:
        untouched = {name for one in self.judged if one.names and one.as_is for name in one.arms}
        again = [pair.runs for pair in self.record.deeper]
        again += [
            arm.runs for arm in self.record.arms if self._is_as_is(arm) or arm.name in untouched
        ]
        return [self.check.runs, *(tuple(map(self._read, runs)) for runs in again)]

    def _is_as_is(self, arm: Arm) -> bool:
        return not self._beside(arm) and not arm.patched

    def _outcome(self, run: Run) -> Hashable | None:
        """What tells this run from others: the losses of every rank up to the first difference.

        None where it did not come so far.
        """
        last = self.check.verdict.bitwise.first_iteration or 1
        if not run.traces or any(len(trace.losses) < last for trace in run.traces):
            return None
        return tuple(
            (
                trace.rank,
                trace.losses.values[: trace.losses.span(last)[1]].tobytes(),
                _exact(trace, last),
            )
            for trace in run.traces
        )

    def _not_finite(self, run: Run) -> bool:
        """Whether it has a loss that is not finite where the runs first differ, and a check is made
        of that iteration.
        """
        last = self.check.verdict.bitwise.first_iteration or 1
        checked = any(row.iteration == last for row in self.check.verdict.comparisons)
        return checked and any(
            not math.isfinite(loss) for trace in run.traces for loss in trace.losses.losses(last)
        )

    @cached_property
    def _until(self) -> int:
        """The iteration of the last check, or that of the first difference as it is, whichever is
        later.
        """
        verdict = self.check.verdict
        return max(
            (*(row.iteration for row in verdict.comparisons), verdict.bitwise.first_iteration or 1)
        )

    def _read(self, run: RunRecord) -> Run:
        from reprocheck.trace import read_run

        return read_run(self.folder, run)

    def _beside(self, arm: Arm) -> tuple[str, ...]:
        """The controls of an arm beside those of the check."""
        return tuple(name for name in arm.controls if name not in self.record.controls)

    @cached_property
    def _acting(self) -> Acting:
        return Acting(self.check, self.folder)

    def _judged(self, names: tuple[str, ...], patched: bool, arms: list[Arm]) -> Judged | None:
        """None where the arm was broken off before it held a pair."""
        from reprocheck.verdict import judge, paired

        records = [run for arm in arms for run in arm.runs if run.ended != "interrupted"]
        if len(records) < PAIR:
            return None
        numbered = [replace(run, number=number) for number, run in enumerate(records, start=1)]
        runs = paired([self._read(run) for run in numbered], self.record.tolerance)
        verdict = judge(runs, self.record.tolerance, fail_on=_fail_on(self.record))
        why, places = arms[0].why, tuple(arm.name for arm in arms)
        return Judged(
            names=names,
            patched=patched,
            why=why,
            runs=runs,
            verdict=verdict,
            agrees=agree(verdict, runs, self._until),
            arms=places,
            until=self._until,
            acted=self._acting.of(names, runs),
            untried=any(arm.in_place for arm in arms)
            and not all(run.controls.patched for run in runs),
        )


def agree(verdict: Verdict, runs: tuple[Run, ...], until: int) -> bool | None:
    """Whether runs agree for the search: in every bit up to an iteration, or but for what another
    order of additions makes.

    None: could not be decided. The tolerance alone is too wide: runs with other weights pass it now
    and then.
    """
    if verdict.verdict == "not_reproducible" or verdict.exit_code == 1:
        return False
    if verdict.verdict != "reproducible":
        return None
    if verdict.bitwise.equal or (verdict.bitwise.first_iteration or 0) > until:
        return True
    return (
        verdict.first_divergence is None
        and verdict.bitwise.ulp is not None
        and verdict.bitwise.ulp <= _most_ulps(runs)
    )


def within_tolerance_only(judged: Judged) -> bool:
    """Whether the criterion is met and the difference is too large for rounding."""
    return judged.agrees is False and judged.verdict.exit_code == 0


def _most_ulps(runs: tuple[Run, ...]) -> int:
    dtypes = [dtype for run in runs for trace in run.traces for dtype in trace.losses.dtypes]
    return min((_ROUNDING_ULPS.get(dtype, _ULPS) for dtype in dtypes), default=_ULPS)


def _exact(trace: Trace, last: int) -> tuple[tuple[int, str], ...]:
    """The losses up to an iteration that a double does not hold."""
    end = trace.losses.span(last)[1]
    return tuple(sorted((place, text) for place, text in trace.losses.exact.items() if place < end))


def _fail_on(record: CheckRecord) -> str:
    found: Mapping[str, object] = {setting.name: setting.value for setting in record.settings}
    return str(found.get("fail_on") or "checks")
