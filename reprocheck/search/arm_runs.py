"""All runs under one set of controls, and what the criterion of the check says of the runs."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from operator import attrgetter
from pathlib import Path

from reprocheck.causes import refusals
from reprocheck.causes.cause import causes_of
from reprocheck.causes.refusals import Refusal
from reprocheck.causes.scan_findings import with_scan
from reprocheck.ladder.rungs import ladder_of
from reprocheck.model import Arm, Check, DeeperPair, Run, Touch, Verdict
from reprocheck.model.controls import fixes_in
from reprocheck.model.reason import Reason
from reprocheck.rules import likely
from reprocheck.search.order import candidates
from reprocheck.search.request import FRESH, PAIR, Answer, Difference, Question

_ROUNDING_ULPS = {"bfloat16": 2, "float16": 8}
_ULPS = 64
"""Units in the last place by which losses may differ where another order of additions is all that
is left.
"""
OF_GENERATORS = "seed"
"""The control that can be told not to act on the generator of a library."""
LIBRARIES = ("random", "numpy.random")
"""Generators of no framework, of which each line that draws is told."""
IMPORTED = "import"
"""Said of a line that makes a library import another one, which draws as it is imported."""
_GENERATOR = re.compile(r"(?:numbers drawn from|state of|the seed of) ([\w.]+)")
_SETS_MODE = "deterministic"
"""The control that an error of deterministic mode speaks of."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Judged:
    """All runs under one set of controls, and what the criterion says of them.

    They may be of one arm or several.

    names        the controls beside those of the check itself, and the patches
    patched      whether the runs were made with the patch of the report in place
    why          why the runs were made: a reason; a sentence in records of older versions
    agrees       whether the runs agree; None if that could not be decided
    until        the iteration up to which the runs must agree: the last one of the forward and
                 backward check or the first that differs without controls, whichever is later
    acted        the controls that acted on something in each of the runs
    untried      whether some run of a patch had no process that was given the patched text
    fails_alike  whether the runs fail at the same place behind `until`, with the same bits up to
                 there: each counts as much as a run that does not fail
    reference    a larger set of controls; the single run here was compared with a run under that
                 set
    spared       places at which a control did not act, as `control@place`
    """

    names: tuple[str, ...]
    patched: bool
    why: Reason | str
    runs: tuple[Run, ...]
    verdict: Verdict
    agrees: bool | None
    arms: tuple[Arm, ...]
    until: int
    acted: frozenset[str] = frozenset()
    untried: bool = False
    fails_alike: bool = False
    reference: tuple[str, ...] = ()
    spared: tuple[str, ...] = ()

    @property
    def value(self) -> int:
        """Return which of the possible values the controls used, from 0."""
        return max((arm.value for arm in self.arms), default=0)

    @property
    def wants_another_value(self) -> bool:
        """Return whether the script fails under a value of a control that has other values.

        From run 1 on.

        An error that deterministic mode raises does not count.
        """
        answer = self.answer
        values = max(map(likely.values, self.names), default=1)
        if len(self.names) > 1:
            values = min(values, PAIR)
        if self.failed is None or self.fails_alike or answer.stumbled or answer.blamed:
            return False
        return self.failed.record.ended == "failed" and self.value + 1 < values

    @property
    def exact(self) -> bool:
        """Return whether the losses of the runs are equal in every bit up to iteration `until`."""
        return self.fails_alike or self.verdict.bitwise.equal_until(self.until)

    @property
    def later(self) -> int | None:
        """Return the first differing iteration if it lies behind `until`.

        That is another difference than the searched one.
        """
        first = self.verdict.bitwise.first_iteration
        if first is None or first <= self.until:
            return None
        return first

    @property
    def decided(self) -> bool:
        """Return whether the runs differ or fail, so that more runs cannot change the answer."""
        return self.agrees is False or (self.failed is not None and not self.fails_alike)

    def settles(self, asked: Question) -> bool:
        """Return whether no more runs are needed to answer a question."""
        if asked.reference and self.agrees:
            return True
        return self.decided or len(self.runs) >= asked.runs

    @property
    def acted_at(self) -> frozenset[tuple[str, str]]:
        """Return the pairs of a control and a line at which it acted in every run.

        The line is one of the user's, as `file:line`.
        """
        return frozenset.intersection(*map(_acted_at, self.runs))

    @property
    def agrees_exactly(self) -> bool:
        """Return whether the runs agree, and agree in every bit."""
        return self.agrees is True and self.exact

    @property
    def failed(self) -> Run | None:
        """The first run that ended with an error or by the timeout."""
        return next(filter(attrgetter("record.ended_badly"), self.runs), None)

    @property
    def refusal(self) -> Refusal | None:
        """The error of deterministic mode that ended the first failed run.

        None for any other end.
        """
        if self.failed is None:
            return None
        return refusals.of_run(self.failed)

    @property
    def answer(self) -> Answer:
        """Return what these runs answer to the search."""
        blamed: tuple[str, ...] = ()
        if self.refusal and _SETS_MODE in self.names:
            blamed = (_SETS_MODE,)
        return Answer(
            agrees=self.agrees,
            runs=len(self.runs),
            exact=self.exact,
            acted=self.acted,
            blamed=blamed,
            stumbled=self.failed is not None and self.failed is not self.runs[0],
        )

    @property
    def as_is(self) -> bool:
        """Return whether no run was altered.

        No patch was applied, and no control intercepted a call or set anything that the script
        used.
        """
        touches = chain.from_iterable(run.controls.touches for run in self.runs)
        only_set = all(map(attrgetter("setting"), touches))
        return only_set and not self.patched and not fixes_in(self.names)

    @property
    def refutes(self) -> bool:
        """Return whether the runs ended without an error under these controls, and differ."""
        whole = not (self.failed or self.untried or self.spared or self.patched)
        return whole and self.agrees is False and not self.as_is

    @property
    def within_tolerance_only(self) -> bool:
        """Return whether the runs meet the criterion, but differ by more than rounding."""
        ulp = self.verdict.bitwise.ulp
        is_rounding = ulp is not None and ulp <= _most_ulps(self.runs)
        return self.agrees is False and self.verdict.exit_code == 0 and not is_rounding


def places_of(touches: Iterable[Touch], named: Collection[str]) -> dict[str, tuple[str, ...]]:
    """Return the places at which controls acted.

    For the controls that can be switched off at one place.

    A place is a line of the user's code; for `seed`, a generator of a library. Places count only if
    a line there is `named` as a cause, and each line counts once; the generator of a framework
    always counts, because nothing tells at which lines a framework draws weights.
    """
    lines: dict[str, dict[str, None]] = {name: {} for name in likely.table().by_line}
    generators: dict[str, None] = {}
    named_by_generators: set[str] = set()
    for touch in touches:
        at = {one.source.at: None for one in touch.lines if one.takes != IMPORTED}
        if touch.control in lines:
            lines[touch.control].update((line, None) for line in at if line in named)
        if touch.control != OF_GENERATORS or touch.setting:
            continue
        further = named_by_generators.union(filter(named.__contains__, at))
        generator = generator_of(touch.what)
        if generator not in LIBRARIES or further != named_by_generators:
            generators[generator] = None
        named_by_generators = further
    return {OF_GENERATORS: tuple(generators), **{name: tuple(at) for name, at in lines.items()}}


def generator_of(what: str) -> str:
    """Return the generator that a touch of `seed` names.

    `numpy.random` of `numbers drawn from numpy.random`; for `tf.random.set_seed`, the library whose
    draws the function seeds.
    """
    named = _GENERATOR.match(what)
    return named[1] if named else what.partition(".")[0]


def _acted_at(run: Run) -> frozenset[tuple[str, str]]:
    acted = (touch for touch in run.controls.touches if not touch.setting)
    return frozenset((touch.control, one.source.at) for touch in acted for one in touch.lines)


def agree(verdict: Verdict, runs: Sequence[Run], until: int) -> bool | None:
    """Return whether the losses of runs are equal up to an iteration, or nearly so.

    Equal in every bit, or different by rounding.

    None if that could not be decided. The tolerance of the check alone is too wide: runs with other
    weights meet the tolerance now and then.
    """
    if verdict.verdict == "not_reproducible" or verdict.exit_code == 1:
        return False
    if verdict.verdict != "reproducible":
        return None
    bitwise = verdict.bitwise
    if bitwise.equal_until(until):
        return True
    if verdict.first_divergence is not None or bitwise.ulp is None:
        return False
    return bitwise.ulp <= _most_ulps(runs)


def _most_ulps(runs: Sequence[Run]) -> int:
    losses = (trace.losses for run in runs for trace in run.traces)
    dtypes = set(chain.from_iterable(map(attrgetter("dtypes"), losses)))
    return min((_ROUNDING_ULPS.get(dtype, _ULPS) for dtype in dtypes), default=_ULPS)


def first_difference(check: Check, folder: Path, judged: Judged) -> Difference | None:
    """Return where runs under controls first differ.

    None if the runs agree, or recorded nothing but losses.
    """
    under = _as_check(check, folder, judged)
    if under is None or under.first_rung is None:
        return None
    among = candidates(with_scan(replace(under, causes=causes_of(under, folder)), folder), folder)
    assert among.first is not None, "there is a rung that differs"
    nearest = dict.fromkeys((*among.sure, *among.likely, *among.suspects))
    return replace(among.first, controls=tuple(nearest))


def _as_check(check: Check, folder: Path, judged: Judged) -> Check | None:
    """Return the first two runs under controls as a check with its ladder.

    None if the runs agree, or recorded nothing but losses.
    """
    runs = judged.runs[:PAIR]
    if judged.agrees is not False or len(runs) < PAIR:
        return None
    iterations = min(min((trace.deep for trace in run.traces), default=0) for run in runs)
    if not iterations:
        return None
    records = tuple(run.record for run in runs)
    record = replace(
        check.record,
        runs=records,
        controls=(*check.record.controls, *judged.names),
        arms=(),
        deeper=(DeeperPair(level="module", iterations=iterations, runs=records, of_check=True),),
    )
    under = replace(check, record=record, runs=runs, verdict=judged.verdict, causes=(), scan=None)
    if FRESH in judged.names:
        under = replace(under, state_left=(), state_alike=())
    return replace(under, ladder=ladder_of(under, folder))
