"""Use findings of the scan as causes, and for the lines and fixes of other causes.

Then the leading cause is chosen.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice, takewhile
from operator import attrgetter
from pathlib import Path
from typing import Literal

from reprocheck.causes.findings_in_runs import scanned
from reprocheck.causes.layers import made_at
from reprocheck.causes.usercode import is_at
from reprocheck.fixes.advice import advised
from reprocheck.model import RUNGS, Cause, Check, Rung, RungName, SourceLine
from reprocheck.model.statement import Statement
from reprocheck.model.statements.causes import FoundByScan, MakesSeed
from reprocheck.model.statements.fixes import AtLines
from reprocheck.model.static import StaticFinding, StaticScan
from reprocheck.rules import entry
from reprocheck.rules.likely import confirming, draws, is_vague, nearest, without_effect

MOST_SUSPECTED = 3
MOST_LINES_FIXED = 3
"""Lines that the fix of one cause changes at most."""
_DRAWS: frozenset[RungName] = frozenset({"RNG state", "batch"})
_OF_TRAINING = ("initial weights", "batch", "forward")
"""Rungs of which a framework that is hooked always records one."""
_tells_fix = attrgetter("tells_fix")
_patchable = attrgetter("patchable")
_precedes = attrgetter("precedes")


def with_scan(check: Check, folder: Path) -> Check:
    """Return a check with findings of the scan added to its causes.

    A finding alone becomes a cause only if no other cause names a line.
    """
    check = replace(check, scan=scanned(check, folder))
    check = replace(check, causes=suspected(check))
    return replace(check, causes=made_at(check, folder))


def suspected(check: Check) -> tuple[Cause, ...]:
    """Return the causes of a check, with causes and lines that the scan adds.

    Added causes come first.

    A cause from the scan alone is never more than suspected.
    """
    scan, rung = check.scan, check.first_rung
    if scan is None or rung is None or check.record.compared:
        return check.causes
    # each with the line that the scan knows for it, and the fix for that line
    own = [_at_the_one(cause, _like(cause, scan)) for cause in check.causes]
    placed = [_with_patch(_at_its_origin(cause, scan), scan) for cause in own]
    first: dict[str, StaticFinding] = {}
    for one in _added(check, scan, placed, rung):
        first.setdefault(one.code, one)
    added = [cause_of(check, one) for one in islice(first.values(), MOST_SUSPECTED)]
    others = [cause for cause in placed if cause.code not in first]
    causes = (*added, *others)
    for leads in _ORDER:
        causes = leads.applied(causes, scan)
    return causes


def cause_of(check: Check, one: StaticFinding) -> Cause:
    """Return the suspected cause that a finding shows, on the line of the finding."""
    cause = Cause(
        code=one.code,
        title=entry(one.name).title,
        confidence="suspected",
        statements=(_found(one),),
        source=one.source,
    )
    return _with_fix_of(advised(check, cause), one)


def located(check: Check, causes: Sequence[Cause], controls: Sequence[str]) -> tuple[Cause, ...]:
    """Return the causes with lines and fixes of the scan, after a search found `controls`.

    The controls are those that remove the difference.

    A confirmed cause without a line gets the line that the scan knows, if only one line can be
    meant.
    """
    scan = check.scanned
    grave = [one for one in scan.possible if one.may_change_results]
    removed = [one for one in grave if not confirming(one.code).isdisjoint(controls)]
    located_causes = []
    for cause in causes:
        if cause.confidence == "confirmed":
            cause = _at_the_one(_at_the_one(cause, _like(cause, scan)), removed)
        located_causes.append(_with_patch(cause, scan))
    return tuple(located_causes)


_Kind = Literal["vague", "bare", "mere hint", "named"]
"""What a cause names: `vague` says no more than that something differs, `bare` no line, a `mere
hint` one at which the scan knows of nothing.
"""


def _kind(cause: Cause, scan: StaticScan) -> _Kind:
    if is_vague(cause):
        return "vague"
    if _is_bare(cause, scan):
        return "bare"
    if _is_mere_hint(cause, scan):
        return "mere hint"
    return "named"


def _added(
    check: Check, scan: StaticScan, causes: Sequence[Cause], rung: Rung
) -> Iterator[StaticFinding]:
    """Yield findings on the way to the first difference, or in code that may have run.

    Nothing if a cause names a line; only sure findings if the causes are mere hints.
    """
    kinds = {_kind(cause, scan) for cause in causes}
    if "named" in kinds:
        return
    fixed = without_effect(check)
    # of what may have run those that no other of their kind is beside: one line alone can be meant
    alike = Counter(one.code for one in scan.possible)
    alone = [one for one in scan.possible if alike[one.code] == 1 and not one.precedes]
    possible = [one for one in (*scan.preceding, *alone) if nearest(one.code) not in fixed]
    fitting = [one for one in possible if _fits(one, rung)]
    if "mere hint" in kinds:
        fitting = [one for one in filter(_precedes, fitting) if one.severity == "error"]
    yield from fitting
    if not kinds or "bare" in kinds:
        return
    assert check.ladder is not None  # a rung of it differs
    statuses = {rung.status for rung in check.ladder.rungs if rung.rung in _OF_TRAINING}
    losses_alone = statuses <= {"not_recorded"}
    if not losses_alone:
        # the record can tell which lines ran
        possible = list(filter(_precedes, possible))
    yield from (one for one in possible if _may_reach(one, rung))


def _fits(one: StaticFinding, rung: Rung) -> bool:
    """Return whether a finding fits the first differing rung.

    It does if its kind shows on that rung, if it is on the line of the rung, or if it is an error
    that draws before.
    """
    shown_on = entry(one.name).rung
    shows = shown_on == rung.rung or is_at(one.source, rung.source)
    if shows and one.may_change_results:
        return True
    drawn_before = _DRAWS & _down_to(rung)
    return one.severity == "error" and shown_on in drawn_before


def _may_reach(one: StaticFinding, rung: Rung) -> bool:
    """Return whether a source of randomness may reach the first differing rung unrecorded.

    No draw makes a difference of rounding alone. Agreeing rungs above do not exclude a finding:
    they hold no record of weights that are built late, or of numbers that a module draws at its
    import. What a generator draws may become anything, initial weights too.
    """
    if is_vague(one) or rung.size == "rounding":
        return False
    reaches = entry(one.name).rung in {"RNG state", *_down_to(rung)}
    return reaches and draws(one.code) and one.may_change_results


def _down_to(rung: Rung) -> frozenset[RungName]:
    """Return the rungs of the ladder from the top down to a given one."""
    return frozenset(RUNGS[: RUNGS.index(rung.rung) + 1])


def found_by_scan(cause: Cause, scan: StaticScan | None) -> bool:
    """Return whether a cause is suspected, and the scan finds the same cause on its line."""
    if scan is None or cause.confidence != "suspected":
        return False
    return any(one.is_for(cause) for one in scan.possible)


def _is_bare(cause: Cause, _: StaticScan) -> bool:
    """Return whether a cause is suspected and has no line."""
    return cause.confidence == "suspected" and cause.source is None


def _is_mere_hint(cause: Cause, scan: StaticScan) -> bool:
    """Return whether a cause is suspected for a line, but the scan does not confirm it.

    The scan has a rule for the cause, finds it nowhere, and finds nothing on that line.
    """
    if cause.source is None or cause.confidence != "suspected":
        return False
    about = {cause.code, cause.at}
    found = any(about & {one.code, one.source.at} for one in scan.possible)
    return entry(cause.code).scan and not found


@dataclass(frozen=True, kw_only=True, slots=True)
class _Leads:
    """A rule of the order of causes: `strong` causes are moved before the first `weak` one."""

    strong: Callable[[Cause, StaticScan], bool]
    weak: Callable[[Cause, StaticScan], bool]

    def applied(self, causes: Sequence[Cause], scan: StaticScan) -> tuple[Cause, ...]:
        """Return the causes with the strong ones moved before the first weak one."""
        before = tuple(takewhile(lambda cause: not self.weak(cause, scan), causes))
        behind = causes[len(before) :]
        return (*before, *sorted(behind, key=lambda cause: not self.strong(cause, scan)))


def _passed_in_time(cause: Cause, scan: StaticScan) -> bool:
    """Return whether the scan finds more than a note on a line that ran before the difference.

    The line is that of a cause.
    """
    grave = [one for one in scan.preceding if one.may_change_results]
    return found_by_scan(cause, replace(scan, findings=tuple(grave)))


_ORDER = (
    _Leads(strong=found_by_scan, weak=_is_bare),
    _Leads(strong=_passed_in_time, weak=_is_mere_hint),
)
"""Each row is applied to what the one before it has left."""


def _like(cause: Cause, scan: StaticScan) -> list[StaticFinding]:
    """Return the findings with the code of a cause.

    Those on lines that ran before the first difference, else those on lines that may have run.
    """
    like = [one for one in scan.possible if one.code == cause.code]
    return list(filter(_precedes, like)) or like


def _at_the_one(cause: Cause, found: Sequence[StaticFinding]) -> Cause:
    """Return a cause with line and fix of findings, if it has no line and they share one."""
    if cause.source is not None or len({one.source.at for one in found}) != 1:
        return cause
    return _at(cause, found[0], found[0].source, _found(found[0]))


def _at_its_origin(cause: Cause, scan: StaticScan) -> Cause:
    """Return a cause on the line that sets a seed, moved to the line that makes the number."""
    found = [one for one in scan.possible if cause.at in one.seeds_at]
    if len(found) != 1:
        return cause
    return _at(cause, found[0], found[0].changed, MakesSeed(source=cause.at))


def _at(cause: Cause, one: StaticFinding, line: SourceLine, shown: Statement) -> Cause:
    """Return a cause with a line, the fix of a finding, and a statement for the line."""
    return _with_fix_of(replace(cause, source=line, statements=(*cause.statements, shown)), one)


def _found(one: StaticFinding) -> FoundByScan:
    return FoundByScan(message=one.message, precedes=one.precedes is True)


def _with_patch(cause: Cause, scan: StaticScan) -> Cause:
    """Return a cause with the patch of the scan as its fix.

    It is the patch of its own line, else of the few other lines of the same cause.

    If the scan has no patch for the line, its advice still fits better than the general fix of the
    catalogue.
    """
    told = list(filter(_tells_fix, scan.findings))
    patched = list(filter(_patchable, told))
    here = [one for one in patched if one.changed.at == cause.at]
    if here:
        return _with_fix_of(cause, min(here, key=lambda one: one.code != cause.code))
    if cause.fix_from != "catalogue":
        return cause
    place = (cause.code, cause.at)
    by_hand = [one for one in told if (one.code, one.source.at) == place]
    if by_hand:
        return _with_fix_of(cause, by_hand[0])
    # the runs came to its function, and were not seen to take the step that would have kept the
    # cause away: the scan says what makes them take it
    of_code = [one for one in told if one.code == cause.code and not one.patchable]
    passed_by = [one for one in of_code if one.executed in ("entered", "not_executed")]
    if len(passed_by) == 1:
        statements = (*cause.statements, _found(passed_by[0]))
        remedy = _at_lines(passed_by)
        return replace(cause, remedy=remedy, fix_from="place", statements=statements)
    in_time = filter(_precedes, patched)
    return _fixed_elsewhere(cause, [one for one in in_time if one.code == cause.code])


def _fixed_elsewhere(cause: Cause, found: Sequence[StaticFinding]) -> Cause:
    """Return a cause with the fix of other lines, if it has a line and the others are few.

    If there is one other line, it replaces a line that only fits, because the user is to change it.
    """
    few = range(1, MOST_LINES_FIXED + 1)
    if cause.source is None or len(found) not in few:
        return cause
    if len(found) == 1 and cause.confidence != "observed":
        return _at(cause, found[0], found[0].source, _found(found[0]))
    return replace(cause, remedy=_at_lines(found), fix_from="place")


def _at_lines(found: Sequence[StaticFinding]) -> AtLines:
    return AtLines(fixes=tuple((one.source.at, one.fix) for one in found))


def _with_fix_of(cause: Cause, one: StaticFinding) -> Cause:
    """Return a cause with the fix of a finding.

    Its own fix stays if the finding only says where to read more.
    """
    if not one.tells_fix:
        return cause
    return replace(cause, remedy=one.fix, fix_from=one.fix_from)
