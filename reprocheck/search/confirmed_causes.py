"""Confirm the causes that the smallest set of controls removes.

Each with the line on which its control acted and a fix that fits.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import chain, filterfalse
from operator import attrgetter
from types import MappingProxyType

from reprocheck import rules
from reprocheck.causes.cause import stated_once
from reprocheck.causes.scan_findings import cause_of, found_by_scan
from reprocheck.causes.usercode import is_at
from reprocheck.fixes.advice import advised, after_control
from reprocheck.fixes.seeds import BY_NAME
from reprocheck.model import Cause, Check, Rung, SourceLine
from reprocheck.model.controls import controls_in, fixes_in
from reprocheck.model.evidence import GivenOtherwise
from reprocheck.model.statement import Statement
from reprocheck.model.statements.search import ActedAt, DiffersWithout
from reprocheck.rules import likely
from reprocheck.rules.likely import is_vague
from reprocheck.search.arm_runs import LIBRARIES, OF_GENERATORS, generator_of
from reprocheck.search.place import PRIVATE, Place

_NOWHERE: Mapping[str, Sequence[Place]] = MappingProxyType({})
_EACH_FOR_ITSELF = ("single-worker", "data-order", "seed")
"""Controls of which the first place says no more than the others."""
_OF_MEMORY = "fill-memory"
"""The control of memory that nobody filled: what asked for it is the line, and not what differs
afterwards.
"""
_READ_ANYWHERE = ("clock",)
"""Those of which that is so where no line is known to make what differs."""
CLOCK_SEED = "clock-seed"
_LATER = "later"
"""The rung of what differs after the iterations that were looked into."""


def confirmed(
    check: Check,
    smallest: Sequence[str],
    evidence: Statement,
    frameworks: Sequence[str] = (),
    places: Mapping[str, Sequence[Place]] = _NOWHERE,
    needed: Mapping[str, Sequence[str]] = MappingProxyType({}),
) -> tuple[Cause, ...]:
    """Return the causes of a check, those that the smallest set of controls confirms first.

    places  control -> the lines or generators at which it acted
    needed  control -> those of its places at which it has to act
    """
    left = list(check.causes)
    proved: dict[tuple[str, str], Cause] = {}
    findings = {one.fix_name: one for one in reversed(check.scanned.findings) if one.editable}
    for fix in fixes_in(smallest):
        finding = findings[fix]
        patched = next(filter(finding.is_for, left), cause_of(check, finding))
        shown = [DiffersWithout(name=fix)] if len(smallest) > 1 else []
        patched = _as_confirmed(patched, evidence, *shown)
        proved[patched.code, patched.at] = patched
        left = _others(left, patched)
    controls = controls_in(smallest)
    for unit in chain.from_iterable(_units(check, name, places, needed) for name in controls):
        there = _found_where(check, unit.control, unit.acted)
        known = _known(check, unit, _fitting(check, unit, left, there), frameworks)
        cause = known or there
        if cause is None and not unit.place:
            cause = _found_by_scan(check, unit.control, alone=len(smallest) == 1)
            cause = cause or _found_where(check, unit.control, places.get(unit.control, ()))
        if cause is None:
            draws = any(place.draws for place in unit.places)
            cause = _implied(check, unit.control, frameworks, len(proved), draws=draws)
        if known is not None:
            left = _others(left, known)
        cause = _at_unit(check, cause, unit, frameworks)
        cause = after_control(check, cause, unit.control, frameworks)
        if _is_of_a_series(check):
            # no layer made the difference, or the losses would differ
            cause = replace(cause, title=rules.entry(cause.code).title_for(["python"]))
        shown = [DiffersWithout(name=unit.control, place=unit.place)] if unit.place else []
        cause = _as_confirmed(cause, evidence, *shown)
        proved.setdefault((cause.code, cause.at), cause)
        left = _others(left, cause)
    return (*proved.values(), *left)


def _as_confirmed(cause: Cause, *evidence: Statement) -> Cause:
    statements = (*evidence, *cause.statements)
    return replace(cause, confidence="confirmed", statements=statements)


@dataclass(frozen=True, kw_only=True, slots=True)
class _Unit:
    """A control and the places at which it acted to remove one cause.

    control    the name of the control
    acted      the places at which the control acted and that belong to this cause
    drawing    the places that draw from a generator of the process which differs
    place      the only place at which the control has to act, as runs have shown: a line or a
               generator; "" if no runs tested that
    elsewhere  the lines of other causes that the control removes
    """

    control: str
    acted: Sequence[Place] = ()
    drawing: Sequence[Place] = ()
    place: str = ""
    elsewhere: Sequence[str] = ()

    @property
    def places(self) -> tuple[Place, ...]:
        """All places of the unit."""
        return (*self.acted, *self.drawing)


def _units(
    check: Check,
    name: str,
    places: Mapping[str, Sequence[Place]],
    needed: Mapping[str, Sequence[str]],
) -> Iterator[_Unit]:
    """Yield a control with its places, once for each cause that it removes."""
    acted, needed_at = places.get(name, ()), needed.get(name, ())
    if name == OF_GENERATORS:
        yield from _units_of_generators(check, acted, needed_at)
        return
    tested = {at: [place for place in acted if place.line.at == at] for at in needed_at}
    units = [_Unit(control=name, acted=there, place=at) for at, there in tested.items() if there]
    yield from units or [_Unit(control=name, acted=acted)]


def _units_of_generators(
    check: Check, acted: Sequence[Place], generators: Sequence[str]
) -> Iterator[_Unit]:
    """Yield the units of the control `seed`, that of the framework first: it draws the weights.

    Without a generator of a framework, the first other generator stands in its place.
    """
    leading = [name for name in generators if name not in LIBRARIES] or generators[:1]
    if leading:
        drawing = [place for place in acted if generator_of(place.what) in leading]
    else:
        modules = _differing_modules(check)
        drawing = [place for place in acted if place.what.rpartition(" ")[2] in modules]
    others = [name for name in generators if name not in leading]
    by_library = {name: [p for p in acted if generator_of(p.what) == name] for name in others}
    elsewhere = [place.line.at for place in chain.from_iterable(by_library.values())]
    yield _Unit(control=OF_GENERATORS, drawing=drawing, elsewhere=elsewhere)
    for name, drawn in by_library.items():
        if drawn:
            yield _Unit(control=OF_GENERATORS, acted=drawn, place=name)


def _differing_modules(check: Check) -> set[str]:
    """Return the modules that draw from generators whose states differ on any rung."""
    rungs = () if check.ladder is None else check.ladder.rungs
    differing = ((*rung.generators.names, *rung.unused_generators) for rung in rungs)
    names = BY_NAME.keys() & chain.from_iterable(differing)
    return {BY_NAME[name].draws for name in names}


def _fitting(
    check: Check, unit: _Unit, causes: Sequence[Cause], there: Cause | None
) -> list[Cause]:
    """Return the causes that may be what a unit removes.

    `there`: what the scan finds where it acted.
    """
    if unit.place:
        lines = {place.line.at for place in unit.acted}
        return [cause for cause in causes if cause.at in lines]
    elsewhere = partial(_acted_elsewhere, check, unit.control, unit.acted, there)
    return [one for one in filterfalse(elsewhere, causes) if one.at not in unit.elsewhere]


def _known(
    check: Check, unit: _Unit, fitting: Iterable[Cause], frameworks: Sequence[str]
) -> Cause | None:
    """Return the known cause that a unit removes, unless the places at which it acted say more."""

    def preference(cause: Cause) -> tuple[bool, bool, int]:
        """Return a sort key: causes that say why, then observed ones, then the nearest."""
        nearness = likely.place_of(unit.control, cause.code) or 0
        return is_vague(cause), cause.confidence != "observed", nearness

    removed = (cause for cause in fitting if likely.confirms(unit.control, cause.code))
    cause = min(removed, key=preference, default=None)
    seed = next(filter(None, (place.seed for place in unit.places)), None)
    is_observed = cause is not None and cause.confidence == "observed"
    is_nearest = cause is not None and likely.removes(unit.control, cause.code)
    if seed is not None and not (is_observed or is_nearest):
        return _cause_of(check, CLOCK_SEED, frameworks, seed)
    rung = check.first_rung
    if is_observed or rung is None or rung.source is None or not _is_made_anew(rung):
        return cause
    if any(place.line.file == rung.source.file for place in unit.places):
        # What the training shows of it says nothing of the program that wrote the file.
        return replace(_implied(check, unit.control, frameworks), source=None)
    return cause


def _at_unit(check: Check, cause: Cause, unit: _Unit, frameworks: Sequence[str]) -> Cause:
    """Return a cause with the line on which the control of a unit acted."""
    if unit.acted and unit.control == PRIVATE and is_vague(cause):
        # a generator without a seed is known by the line that it acted on
        why = _implied(check, unit.control, frameworks)
        cause = replace(why, statements=stated_once(why, cause), source=None)
    if unit.acted:
        return _at(check, cause, unit.control, unit.acted)
    if unit.drawing and cause.source is None:
        return _at(check, cause, unit.control, unit.drawing)
    return cause


def _cause_of(
    check: Check,
    name: str,
    frameworks: Sequence[str],
    source: SourceLine | None,
    statements: tuple[Statement | str, ...] = (),
) -> Cause:
    """Return an entry of the catalogue of causes as a confirmed cause."""
    known = rules.entry(name)
    cause = Cause(
        code=known.code,
        title=known.title_for(frameworks),
        confidence="confirmed",
        statements=statements,
        source=source,
    )
    return advised(check, cause, frameworks)


def _others(causes: Sequence[Cause], explained: Cause) -> list[Cause]:
    """Return the causes of another kind than the explained one.

    Causes that are only suspected on the line of the explained cause are left out.
    """
    different = [one for one in causes if one.code != explained.code]
    return [
        one
        for one in different
        if one.confidence != "suspected" or one.source is None or one.at != explained.at
    ]


def _is_made_anew(rung: Rung) -> bool:
    """Return whether a rung shows a file that a program writes anew in each run."""
    return isinstance(rung.evidence, GivenOtherwise) and rung.evidence.made


def _acted_elsewhere(
    check: Check, control: str, acted: Sequence[Place], there: Cause | None, cause: Cause
) -> bool:
    """Return whether a control acted on other lines than a cause's, and removes another.

    That is so if the cause is known from the scan alone and has another control, or if the scan
    finds on the lines of the control what the control removes (`there`).
    """
    if not acted or cause.source is None:
        return False
    # its line, and those from which its number comes there
    findings = [one for one in check.scanned.possible if one.code == cause.code]
    origins = [one.origin for one in findings if is_at(one.source, cause.source)]
    seeds = [one.source for one in check.scanned.possible if cause.at in one.seeds_at]
    lines = {line.at for line in filter(None, (cause.source, *origins, *seeds))}
    if not lines.isdisjoint(place.line.at for place in acted):
        return False
    if found_by_scan(cause, check.scan):
        return not likely.removes(control, cause.code)
    return not is_vague(cause) and there is not None


def _found_where(check: Check, control: str, acted: Sequence[Place]) -> Cause | None:
    """Return the cause that the scan finds where a control first acted.

    The control removes it.
    """
    removed = [one for one in check.scanned.possible if likely.confirms(control, one.code)]
    grave = [one for one in removed if one.severity != "note"]
    for place in acted:
        for one in grave:
            if one.source.at == place.line.at:
                return cause_of(check, one)
    return None


def _found_by_scan(check: Check, control: str, *, alone: bool) -> Cause | None:
    """Return the cause that the scan finds and a control removes, if it is on one line alone.

    The line must have run before the first difference. For the difference of a series a line that
    may have run is enough, because when lines ran is not recorded that far. A control that is not
    `alone` removes another difference than the first: a line that ran is enough.
    """
    scan = check.scanned
    fitting = scan.possible if _is_of_a_series(check) else scan.preceding
    if not alone:
        fitting = tuple(one for one in scan.findings if one.ran)
    removed = (one for one in fitting if likely.removes(control, one.code))
    found = [one for one in removed if one.severity != "note"]
    if len({one.source.at for one in found}) != 1:
        return None
    return cause_of(check, found[0])


def _is_of_a_series(check: Check) -> bool:
    """Return whether a series differs that `--fail-on` names, while every loss agrees."""
    return check.verdict.failing_series(check.record.fail_on) is not None


def _implied(
    check: Check,
    control: str,
    frameworks: Sequence[str],
    explained: int = 0,
    *,
    draws: bool = False,
) -> Cause:
    """Return the cause that a control confirms if no cause was named.

    explained  how many rungs have a known cause already
    draws      whether the control acted on something that draws random numbers
    """
    rung = _where(check, control, explained)
    if rung is None:
        return _cause_of(check, likely.implied(control, "", draws=draws), frameworks, None)
    source = rung.source
    statements: tuple[Statement | str, ...] = rung.statements
    observed = (cause for cause in check.causes if cause.confidence == "observed")
    with_line = next((cause for cause in observed if cause.source is not None), None)
    if with_line is not None and rung.generators.seeded_unequally:
        # what the control removes has come to the generator by its seed
        source, statements = with_line.source, with_line.statements
    name = likely.implied(control, rung.rung, draws=draws)
    return _cause_of(check, name, frameworks, source, statements)


def _where(check: Check, control: str, explained: int) -> Rung | None:
    """Return the first rung that differs.

    For a control of what the script draws or computes, the first of the training.

    If causes of `explained` rungs are known, the rung that many places behind, if there is one.
    """
    ladder, first = check.ladder, check.first_rung
    if ladder is None or first is None:
        return None
    if control not in likely.table().start and not _is_made_anew(first):
        first = check.training_rung or first
    behind = ladder.rungs[ladder.rungs.index(first) + 1 :]
    below = [rung for rung in behind if rung.status == "differs" and rung.rung != _LATER]
    differing = [first, *below]
    if explained < len(differing):
        return differing[explained]
    return first


def _at(check: Check, cause: Cause, control: str, acted: Sequence[Place]) -> Cause:
    """Return a cause with the line on which its control acted, and the fix that fits the line.

    A line that says why the runs differ is kept. The line is the first one, or the first at which
    something that draws random numbers was called.
    """
    own = next((place for place in acted if place.line.at == cause.at), None)
    place = own or next(filter(attrgetter("draws"), acted), acted[0])
    says_why = cause.source is not None and not is_vague(cause) and control != _OF_MEMORY
    may_be_others = control in _EACH_FOR_ITSELF or (control in _READ_ANYWHERE and not says_why)
    others: list[tuple[str, str]] = []
    if may_be_others and not place.draws:
        # Nothing shows which of them it is.
        others = [(one.line.at, one.what) for one in acted if one.line.at != place.line.at]
    acted_there = ActedAt(
        control=control,
        at=place.line.at,
        what=place.what,
        first=place is acted[0],
        draws=place.draws,
        others=tuple(others),
    )
    cause = replace(cause, statements=(*cause.statements, acted_there))
    if own is None and says_why:
        return cause
    there = replace(cause, source=place.line)
    if own is not None and found_by_scan(cause, check.scan) and cause.fix_from == "place":
        return there
    is_told = any(one.tells_fix and one.source.at == there.at for one in check.scanned.findings)
    remedy = (None if is_told else place.advice.hint) or place.advice.fix
    if not remedy:
        return there
    return replace(there, remedy=remedy, fix_from="place")
