"""What the scan finds in the files of a check that differs, and what the recorded runs show of
these places.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from reprocheck.causes.cells import joined
from reprocheck.causes.evidence import is_vague
from reprocheck.causes.executed import executed
from reprocheck.causes.fixes import fix_of
from reprocheck.causes.likely import confirms, draws, removes, without_effect
from reprocheck.causes.program import shown_line
from reprocheck.causes.ran import by_trace
from reprocheck.causes.usercode import UserCode, is_at
from reprocheck.ladder.sources import Sources
from reprocheck.model import RUNGS, Cause, Check, Rung, RungName
from reprocheck.model.static import StaticFinding, StaticScan
from reprocheck.rules import entry
from reprocheck.scan.finding import SEVERITIES, Finding
from reprocheck.scan.judge import where_to_read
from reprocheck.scan.project import Module
from reprocheck.trace.reached import Ran

MOST_SUSPECTED = 3
MOST_LINES_FIXED = 3
"""Lines that the fix of one cause changes at most."""
_DRAWS = ("RNG state", "batch")
_OF_TRAINING = ("initial weights", "batch", "forward")
"""Rungs of which a framework that is hooked always records one."""


def scanned(check: Check, folder: Path) -> StaticScan | None:
    """The findings in the script and in what it imported of the user's.

    None where nothing was recorded below the loss or differs.
    """
    rung = check.first_rung
    if rung is None:
        return None
    code = UserCode(check, folder)
    sources = code.sources
    traces = by_trace(check, folder)
    name = rung.recorded_at.trace if rung.recorded_at else ""
    ran = traces.get(name) or next(iter(traces.values()), ())
    modules, found = code.program.modules, code.program.findings
    if not modules:
        return None
    if sources.notebook in modules:
        ran = joined(ran, sources.notebook, modules[sources.notebook].source.cells)
    before = _before(rung, ran)
    recorded = _recorded_lines(check)
    joint = [
        _as_recorded(_joined(one, modules, ran, before, sources), recorded)
        for one in found
        if one.path in modules
    ]
    sources.keep()
    joint.sort(
        key=lambda one: (
            not one.precedes,
            one.executed != "executed",
            SEVERITIES.index(one.severity),
        )
    )
    return StaticScan(
        findings=tuple(joint),
        files=len(modules),
        lines=sum(len(module.source.lines) for module in modules.values()),
    )


def suspected(check: Check) -> tuple[Cause, ...]:
    """The causes of a check, with the line that the scan found for one without, and those first
    that the scan adds.

    It adds what it found on the way to the first difference, or in code of which that is not known,
    and only where no cause names a line but such as say no more than that something differs. Beside
    lines at which the scan knows of nothing it adds what it is sure of alone. A finding of the scan
    is never more than suspected.
    """
    rung = check.first_rung
    if check.scan is None or rung is None or check.record.compared:
        return check.causes
    causes = tuple(
        _with_patch(at_its_origin(_with_line(cause, check.scan), check.scan), check.scan)
        for cause in check.causes
    )
    named = [
        cause
        for cause in causes
        if not is_vague(cause) and (cause.confidence != "suspected" or cause.source is not None)
    ]
    if any(not _is_mere_hint(cause, check.scan) for cause in named):
        return _found_lines_first(causes, check.scan)
    fixed = without_effect(check)
    possible = [
        one
        for one in (*check.scan.preceding, *_alone(check.scan))
        if not any(removes(name, one.code) for name in fixed)
    ]
    fitting = [one for one in possible if _fits(one, rung)]
    unexplained = bool(causes) and all(is_vague(cause) or cause in named for cause in causes)
    unseen = _saw_no_training(check)
    sources = [
        one
        for one in possible
        if unexplained and (one.precedes or unseen) and _may_reach(one, rung)
    ]
    if named:
        fitting = [one for one in fitting if one.precedes and one.severity == "error"]
    found: dict[str, Cause] = {}
    for one in (*fitting, *sources):
        found.setdefault(one.code, cause_of(check, one))
    added = list(found.values())[:MOST_SUSPECTED]
    return _found_lines_first(
        (*added, *(cause for cause in causes if cause.code not in found)), check.scan
    )


def cause_of(check: Check, one: StaticFinding) -> Cause:
    """The cause that a finding speaks for, on its line."""
    known = entry(one.name)
    fix = _fix(one) or fix_of(check, known)
    return Cause(
        code=one.code,
        title=known.title,
        confidence="suspected",
        evidence=(_said(one),),
        source=one.source,
        fix=fix,
    )


def _fits(one: StaticFinding, rung: Rung) -> bool:
    """Whether a finding is of the kind that shows on the first differing rung, stands on its line,
    or is an error that draws before it.
    """
    known = entry(one.name)
    if one.severity != "note" and (known.rung == rung.rung or is_at(one.source, rung.source)):
        return True
    return one.severity == "error" and known.rung in _DRAWS and _not_below(known.rung, rung)


def _may_reach(one: StaticFinding, rung: Rung) -> bool:
    """Whether a finding is a source of randomness that may reach the first differing rung on a way
    that nothing recorded.

    No draw makes a difference of rounding alone. What the rungs above say does not acquit it:
    weights that are built late, or numbers that a module draws as it is imported, are in none of
    their records. What a generator draws may become anything, initial weights too.
    """
    if one.severity == "note" or is_vague(one) or rung.size == "rounding":
        return False
    above = entry(one.name).rung
    return draws(one.code) and (above == "RNG state" or _not_below(above, rung))


def _saw_no_training(check: Check) -> bool:
    """Whether the losses alone were recorded, as of a training without a framework: no record can
    tell which lines ran.
    """
    rungs = check.ladder.rungs if check.ladder is not None else ()
    return not any(rung.status != "not_recorded" for rung in rungs if rung.rung in _OF_TRAINING)


def _not_below(name: RungName, rung: Rung) -> bool:
    return RUNGS.index(name) <= RUNGS.index(rung.rung)


def _found_lines_first(causes: tuple[Cause, ...], scan: StaticScan) -> tuple[Cause, ...]:
    """The causes with those whose line the scan found before the first that is suspected and has no
    line.

    Those whose line the runs passed before the first difference come before the first mere hint,
    too.
    """
    found = [cause for cause in causes if found_by_scan(cause, scan)]
    bare = [cause for cause in causes if cause.confidence == "suspected" and cause.source is None]
    in_time = [cause for cause in found if _passed_in_time(cause, scan)]
    hints = [cause for cause in causes if _is_mere_hint(cause, scan)]
    return _led_by(in_time, hints, _led_by(found, bare, causes))


def _led_by(
    strong: Sequence[Cause], weak: Sequence[Cause], causes: tuple[Cause, ...]
) -> tuple[Cause, ...]:
    """The causes with the strong ones before the first weak one."""
    first = next((number for number, cause in enumerate(causes) if cause in weak), len(causes))
    before, behind = causes[:first], causes[first:]
    return (
        *before,
        *(cause for cause in behind if cause in strong),
        *(cause for cause in behind if cause not in strong),
    )


def _is_mere_hint(cause: Cause, scan: StaticScan) -> bool:
    """Whether a cause is suspected for a line, and the scan, which has a rule for it, finds it
    nowhere, and nothing on that line.
    """
    hinted = cause.confidence == "suspected" and cause.source is not None
    if not hinted or not entry(cause.code).scan:
        return False
    return not any(
        one.code == cause.code or is_at(one.source, cause.source) for one in scan.possible
    )


def _passed_in_time(cause: Cause, scan: StaticScan) -> bool:
    """Whether the scan finds more than a note at the line of a cause, and the runs passed it before
    the first difference.
    """
    return found_by_scan(
        cause,
        replace(scan, findings=tuple(one for one in scan.preceding if one.severity != "note")),
    )


def found_by_scan(cause: Cause, scan: StaticScan | None) -> bool:
    """Whether a cause is suspected, and the scan finds the same on its line."""
    if scan is None or cause.confidence != "suspected":
        return False
    return any(
        one.code == cause.code and (is_at(one.source, cause.source) or cause.source == one.origin)
        for one in scan.possible
    )


def located(check: Check, causes: Sequence[Cause], controls: Sequence[str]) -> tuple[Cause, ...]:
    """The causes as a search leaves them, where `controls` remove the difference: a confirmed one
    without a line gets that which the scan knows, if one alone can be meant, and each the fix that
    the scan has for its line.
    """
    scan = check.scan
    if scan is None:
        return tuple(causes)
    found = [one for one in scan.possible if one.severity != "note"]
    removed = [one for one in found if any(confirms(name, one.code) for name in controls)]
    return tuple(_with_patch(_confirmed_at(cause, scan, removed), scan) for cause in causes)


def _confirmed_at(cause: Cause, scan: StaticScan, removed: Sequence[StaticFinding]) -> Cause:
    if cause.confidence != "confirmed" or cause.source is not None:
        return cause
    own = _with_line(cause, scan)
    return own if own.source is not None else _at_the_one(cause, removed)


def _with_line(cause: Cause, scan: StaticScan) -> Cause:
    """A cause with the one line at which the scan found its like, where it has none: one that was
    executed in time, or may have been.
    """
    if cause.source is not None:
        return cause
    like = [one for one in scan.possible if one.code == cause.code]
    return _at_the_one(cause, [one for one in like if one.precedes] or like)


def _alone(scan: StaticScan) -> list[StaticFinding]:
    """Of what may have run the findings that no other of their kind is beside: one line alone can
    be meant.
    """
    found = [one for one in scan.possible if not one.precedes]
    codes = [one.code for one in scan.possible]
    return [one for one in found if codes.count(one.code) == 1]


def _at_the_one(cause: Cause, found: Sequence[StaticFinding]) -> Cause:
    """A cause with the line and the fix of a finding, where there is one line alone."""
    lines = {(one.source.file, one.source.line) for one in found}
    if len(lines) != 1:
        return cause
    one = found[0]
    return replace(
        cause, source=one.source, fix=_fix(one) or cause.fix, evidence=(*cause.evidence, _said(one))
    )


def at_its_origin(cause: Cause, scan: StaticScan) -> Cause:
    """A cause that stands where a number is set as a seed, with the line that makes the number."""
    if cause.source is None:
        return cause
    made = [one for one in scan.possible if one.origin]
    found = [one for one in made if any(is_at(line, cause.source) for line in one.used)]
    if len(found) != 1:
        return cause
    one = found[0]
    said = (
        f"The scan: the number that {cause.source.file}:{cause.source.line} sets as a seed is made"
        " in this line."
    )
    return replace(
        cause, source=one.origin, fix=_fix(one) or cause.fix, evidence=(*cause.evidence, said)
    )


def _said(one: StaticFinding) -> str:
    ran = "Whether the line ran was not seen."
    if one.precedes:
        ran = "The line was executed before the first difference."
    return f"The scan: {one.message}. {ran}"


def _fix(one: StaticFinding) -> str:
    """What the finding says of its own line; "" where that is no more than where to read."""
    return "" if one.fix == where_to_read(one.code) else one.fix


def _with_patch(cause: Cause, scan: StaticScan) -> Cause:
    """A cause with what the scan would change as the fix: in its line, else in the few others where
    it finds the same cause.

    What the scan says of the line where it cannot change it is still nearer than what the catalogue
    has for every program.
    """
    told = [one for one in scan.findings if _fix(one)]
    fixed = [one for one in told if one.patchable]
    here = [one for one in fixed if is_at(one.origin or one.source, cause.source)]
    same = next((one for one in here if one.code == cause.code), None) or next(iter(here), None)
    if same is not None:
        return replace(cause, fix=same.fix)
    if not _is_general(cause):
        return cause
    by_hand = next(
        (one for one in told if one.code == cause.code and is_at(one.source, cause.source)), None
    )
    if by_hand is not None:
        return replace(cause, fix=by_hand.fix)
    elsewhere = [one for one in fixed if one.code == cause.code and one.precedes]
    lines = [f"{one.source.file}:{one.source.line}: {one.fix}" for one in elsewhere]
    if cause.source is None or not 0 < len(lines) <= MOST_LINES_FIXED:
        return cause
    return replace(cause, fix="\n".join(lines))


def _is_general(cause: Cause) -> bool:
    """Whether the fix of a cause is one that the catalogue has for every program."""
    known = entry(cause.code)
    return cause.fix in (known.fix, *known.fixes.values())


def _before(rung: Rung, ran: Sequence[Ran]) -> int | None:
    """The offset in the trace by which the first difference was recorded; None where the trace does
    not show it.
    """
    if rung.recorded_at and rung.recorded_at.trace:
        return rung.recorded_at.at
    if rung.rung != "later":
        return None
    return max((one.at for one in ran), default=None)


def _recorded_lines(check: Check) -> frozenset[tuple[str, int]]:
    """The lines of facts that lead to the first difference: that of its rung, and those of the
    causes that were observed.
    """
    observed = [cause for cause in check.causes if cause.confidence == "observed"]
    lines = [one.source for one in (*observed, check.first_rung) if one]
    return frozenset((line.file, line.line) for line in lines if line)


def _as_recorded(one: StaticFinding, recorded: frozenset[tuple[str, int]]) -> StaticFinding:
    """A finding on a line that a recorded fact names, or that gives such a line its seed: it was
    executed, whatever else was seen of it.
    """
    lines = {(line.file, line.line) for line in (one.source, *one.used)}
    if one.executed == "executed" or not lines & recorded:
        return one
    return replace(one, executed="executed", precedes=True)


def _joined(
    one: Finding,
    modules: Mapping[str, Module],
    ran: Sequence[Ran],
    before: int | None,
    sources: Sources,
) -> StaticFinding:
    module = modules[one.path]
    script = one.path in (sources.script, sources.notebook)
    offset = len(module.source.line(one.joined_line)[: one.column - 1].encode())
    state, at = executed(module.tree, one.path, one.joined_line, ran, script=script, offset=offset)
    used = [
        (file, line)
        for file, _, line in (
            row.rpartition(":") for row in one.evidence.get("used", "").splitlines()
        )
    ]
    made = one.evidence.get("made", "").partition(":")[0]
    return StaticFinding(
        code=one.code,
        name=one.name,
        severity=one.severity,
        message=one.message,
        source=shown_line(module, one.joined_line, sources),
        fix=one.fix,
        patchable=one.patchable,
        executed=state,
        precedes=None if at is None or before is None else at <= before,
        origin=shown_line(module, int(made), sources) if made else None,
        used=tuple(
            shown_line(modules[file], int(line), sources) for file, line in used if file in modules
        ),
    )
