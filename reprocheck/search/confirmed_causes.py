"""The causes that the smallest set of controls confirms, each with the line on which its control
acted and a fix that fits.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import filterfalse
from operator import attrgetter
from types import MappingProxyType

from reprocheck import rules
from reprocheck.causes.cause import stated_once
from reprocheck.causes.scan_findings import cause_of, found_by_scan
from reprocheck.causes.usercode import is_at
from reprocheck.fixes.advice import advised, after_control
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
_MODULES = {"python": "random", "numpy": "numpy.random", "torch": "torch"}
"""Generator as the ladder names it -> the module that draws from it."""
_READ_ANYWHERE = ("clock",)
"""Those of which that is so where no line is known to make what differs."""
_OF_THE_START = ("fresh-workdir", "file-order", "single-thread", "no-compile")
"""Controls of what a run is given; the others are of what the script draws or computes."""
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
    """Return the causes of a check, with those first, as confirmed, that the smallest set removes.

    `places`: where its controls acted. `needed`: at which of several places they have to.
    """
    left = list(check.causes)
    first: dict[tuple[str, str], Cause] = {}
    for fix in fixes_in(smallest):
        patched = _of_patch(check, left, fix)
        shown = (DiffersWithout(name=fix),) if len(smallest) > 1 else ()
        said = (evidence, *shown, *patched.statements)
        patched = replace(patched, confidence="confirmed", statements=said)
        first[patched.code, patched.at] = patched
        left = _others(left, patched)
    controls = controls_in(smallest)
    units = (one for name in controls for one in _units(check, name, places, needed))
    for unit in units:
        name, acted, drawing = unit.control, unit.acted, unit.drawing
        there = _found_where(check, name, acted)
        lines = {place.line.at for place in acted}
        fitting = [one for one in left if one.at in lines]
        if not unit.place:
            elsewhere = partial(_acted_elsewhere, check, name, acted, there)
            fitting = [one for one in filterfalse(elsewhere, left) if one.at not in unit.elsewhere]
        known = _known(check, name, fitting, (*acted, *drawing), frameworks)
        cause = known or there
        if cause is None and not unit.place:
            cause = _found_by_scan(check, name, alone=len(smallest) == 1)
            cause = cause or _found_where(check, name, places.get(name, ()))
        if cause is None:
            draws = any(place.draws for place in (*acted, *drawing))
            cause = _implied(check, name, frameworks, len(first), draws=draws)
        if known is not None:
            left = _others(left, known)
        if acted:
            cause = _drawn_there(check, name, cause, frameworks)
            cause = _at(check, cause, name, acted)
        elif drawing and cause.source is None:
            cause = _at(check, cause, name, drawing)
        cause = _of_a_series(check, after_control(check, cause, name, frameworks))
        shown = (DiffersWithout(name=name, place=unit.place),) if unit.place else ()
        said = (evidence, *shown, *cause.statements)
        cause = replace(cause, confidence="confirmed", statements=said)
        first.setdefault((cause.code, cause.at), cause)
        left = _others(left, cause)
    return (*first.values(), *left)


def _of_patch(check: Check, causes: Iterable[Cause], fix: str) -> Cause:
    """Return the cause that a patch removes: one that is known there, else what the scan finds."""
    found = next(one for one in check.scanned.findings if one.fix_name == fix and one.editable)
    return next(filter(found.is_for, causes), cause_of(check, found))


@dataclass(frozen=True, kw_only=True, slots=True)
class _Unit:
    """What removes one cause: a control, and the places at which it acted.

    drawing    the places that draw from a generator of the process which differs
    place      where runs have shown that the control has to act, its other places aside: a line, or
               a generator; "" where that was not tested
    elsewhere  lines of other causes that it removes
    """

    control: str
    acted: Sequence[Place] = ()
    drawing: Sequence[Place] = ()
    place: str = ""
    elsewhere: Sequence[str] = ()


def _units(
    check: Check,
    name: str,
    places: Mapping[str, Sequence[Place]],
    needed: Mapping[str, Sequence[str]],
) -> Iterator[_Unit]:
    """Yield what a control removes, once for each cause.

    Of several generators that of the framework comes first: it draws the weights.
    """
    acted, at = places.get(name, ()), needed.get(name, ())
    if name != OF_GENERATORS:
        by_place = {place: [one for one in acted if one.line.at == place] for place in at}
        tested = {place: there for place, there in by_place.items() if there}
        for place, there in tested.items():
            yield _Unit(control=name, acted=there, place=place)
        if not tested:
            yield _Unit(control=name, acted=acted)
        return
    framework = [one for one in at if one not in LIBRARIES]
    own = [one for one in at if one in LIBRARIES]
    if not framework:
        framework, own = own[:1], own[1:]
    drawing = _from_differing(check, acted)
    if framework:
        drawing = [one for one in acted if generator_of(one.what) in framework]
    others = [one.line.at for one in acted if generator_of(one.what) in own]
    yield _Unit(control=name, drawing=drawing, elsewhere=others)
    for generator in own:
        drawn = [one for one in acted if generator_of(one.what) == generator]
        if drawn:
            yield _Unit(control=name, acted=drawn, place=generator)


def _known(
    check: Check,
    control: str,
    fitting: Iterable[Cause],
    places: Sequence[Place],
    frameworks: Sequence[str],
) -> Cause | None:
    """Return the cause that a control removes: of those that are known, unless the places at which
    it acted say more.
    """
    removed = (one for one in fitting if likely.confirms(control, one.code))
    cause = min(removed, key=lambda one: _preference(one, control), default=None)
    seed = next((place.seed for place in places if place.seed is not None), None)
    is_observed = cause is not None and cause.confidence == "observed"
    is_nearest = cause is not None and likely.removes(control, cause.code)
    if seed is not None and not (is_observed or is_nearest):
        return _seeded_at(check, seed, frameworks)
    if _writes_anew(check, places) and not is_observed:
        # What the training shows of it says nothing of the program that wrote the file.
        return replace(_implied(check, control, frameworks), source=None)
    return cause


def _others(causes: Sequence[Cause], explained: Cause) -> list[Cause]:
    """Return the causes of another kind, without those that are only suspected on the line of this
    one.
    """
    different = [one for one in causes if one.code != explained.code]
    return [
        one
        for one in different
        if one.confidence != "suspected" or one.source is None or one.at != explained.at
    ]


def _writes_anew(check: Check, places: Iterable[Place]) -> bool:
    """Return whether a control acted in the program that writes anew in each run what differs."""
    rung = check.first_rung
    if rung is None or rung.source is None or not _is_made_anew(rung):
        return False
    return any(place.line.file == rung.source.file for place in places)


def _is_made_anew(rung: Rung) -> bool:
    """Return whether a rung shows a file that a program of each run writes anew."""
    return isinstance(rung.evidence, GivenOtherwise) and rung.evidence.made


def _seeded_at(check: Check, line: SourceLine, frameworks: Sequence[str]) -> Cause:
    """Return the cause that a seed differs which a line makes."""
    known = rules.entry(CLOCK_SEED)
    cause = Cause(
        code=known.code,
        title=known.title_for(frameworks),
        confidence="confirmed",
        source=line,
    )
    return advised(check, cause, frameworks)


def _preference(cause: Cause, control: str) -> tuple[bool, bool, int]:
    """Return the smaller, the better: a cause that says why before one that says what, what was
    recorded before what fits, and the one that the control is nearest to.
    """
    place = likely.place_of(control, cause.code) or 0
    return is_vague(cause), cause.confidence != "observed", place


def _acted_elsewhere(
    check: Check, control: str, acted: Sequence[Place], there: Cause | None, cause: Cause
) -> bool:
    """Return whether this control acted on other lines than that of a cause, and something else is
    meant: the cause has another control and the scan alone speaks for it, or the scan finds on
    those lines what the control removes (`there`).
    """
    if not acted or cause.source is None:
        return False
    if not _lines_of(check, cause).isdisjoint(place.line.at for place in acted):
        return False
    if found_by_scan(cause, check.scan):
        return not likely.removes(control, cause.code)
    return not is_vague(cause) and there is not None


def _lines_of(check: Check, cause: Cause) -> set[str]:
    """Return the line of a cause, and those from which its number comes there."""
    findings = [one for one in check.scanned.possible if one.code == cause.code]
    origins = [one.origin for one in findings if is_at(one.source, cause.source)]
    seeds = [one.source for one in check.scanned.possible if cause.at in one.seeds_at]
    return {line.at for line in filter(None, (cause.source, *origins, *seeds))}


def _found_where(check: Check, control: str, acted: Sequence[Place]) -> Cause | None:
    """Return what the scan finds on the first line on which a control acted and that it removes."""
    removed = [one for one in check.scanned.possible if likely.confirms(control, one.code)]
    grave = [one for one in removed if one.severity != "note"]
    for place in acted:
        for one in grave:
            if one.source.at == place.line.at:
                return cause_of(check, one)
    return None


def _found_by_scan(check: Check, control: str, *, alone: bool) -> Cause | None:
    """Return what the scan finds that the control removes, and that ran before the first
    difference: the line that is named alone. When lines ran is not recorded up to the difference of
    a series: what was not passed over is enough there. A control that is not `alone` removes
    another difference than the first: what ran is enough.
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
    """Return whether a series differs, and every loss agrees."""
    return check.verdict.failing_series(check.record.fail_on) is not None


def _of_a_series(check: Check, cause: Cause) -> Cause:
    """Return the cause of a difference of a series: no layer made it, or the losses would
    differ.
    """
    if not _is_of_a_series(check):
        return cause
    return replace(cause, title=rules.entry(cause.code).title_for(["python"]))


def _implied(
    check: Check,
    control: str,
    frameworks: Sequence[str],
    explained: int = 0,
    *,
    draws: bool = False,
) -> Cause:
    """Return the cause that a control confirms where none was named; `explained`: of how many rungs
    the causes are known; `draws`: what the control acted on draws random numbers.
    """
    rung = _where(check, control, explained)
    name, source = "", None
    statements: tuple[Statement | str, ...] = ()
    if rung is not None:
        name = rung.rung
        source, statements = _shown(check, rung)
    known = rules.entry(likely.implied(control, name, draws=draws))
    cause = Cause(
        code=known.code,
        title=known.title_for(frameworks),
        confidence="confirmed",
        statements=statements,
        source=source,
    )
    return advised(check, cause, frameworks)


def _shown(check: Check, rung: Rung) -> tuple[SourceLine | None, tuple[Statement | str, ...]]:
    """Return the line and the evidence of a rung; where a generator was given another seed in each
    run, those of the seed: what the control removes has come there before.
    """
    observed = (cause for cause in check.causes if cause.confidence == "observed")
    with_line = next((cause for cause in observed if cause.source is not None), None)
    if with_line is not None and rung.generators.seeded_unequally:
        return with_line.source, with_line.statements
    return rung.source, rung.statements


def _where(check: Check, control: str, explained: int) -> Rung | None:
    """Return the first rung that differs; for a control of what the script draws or computes the
    first of the training.

    Where the causes of some are known, that many behind it, if there are as many.
    """
    ladder, first = check.ladder, check.first_rung
    if ladder is None or first is None:
        return None
    if control not in _OF_THE_START and not _is_made_anew(first):
        first = ladder.first_of_training or first
    behind = ladder.rungs[ladder.rungs.index(first) + 1 :]
    below = [rung for rung in behind if rung.status == "differs" and rung.rung != _LATER]
    differing = [first, *below]
    if explained < len(differing):
        return differing[explained]
    return first


def _drawn_there(check: Check, control: str, cause: Cause, frameworks: Sequence[str]) -> Cause:
    """Return the cause of the line that a generator without a seed acted on.

    A cause that says no more than that something differs gives way.
    """
    if control != PRIVATE or not is_vague(cause):
        return cause
    why = _implied(check, control, frameworks)
    return replace(why, statements=stated_once(why, cause), source=None)


def _from_differing(check: Check, drawing: Sequence[Place]) -> list[Place]:
    """Return the lines that draw from a generator of the process whose state differs."""
    rungs = () if check.ladder is None else check.ladder.rungs
    names = {name for rung in rungs for name in (*rung.generators.names, *rung.unused_generators)}
    modules = {_MODULES[name] for name in names if name in _MODULES}
    return [place for place in drawing if place.what.rpartition(" ")[2] in modules]


def _at(check: Check, cause: Cause, control: str, acted: Sequence[Place]) -> Cause:
    """Return a cause with the line on which its control acted, where it has none that says why, and
    the fix that fits the line.

    That is the first line, or the first at which what it acted on draws random numbers.
    """
    own = next((one for one in acted if one.line.at == cause.at), None)
    place = own or next(filter(attrgetter("draws"), acted), acted[0])
    says_why = cause.source is not None and not is_vague(cause) and control != _OF_MEMORY
    unknown = _EACH_FOR_ITSELF if says_why else (*_EACH_FOR_ITSELF, *_READ_ANYWHERE)
    said = _acted_there(control, place, acted, alone=control not in unknown)
    statements = (*cause.statements, said)
    if own is None and says_why:
        return replace(cause, statements=statements)
    there = replace(cause, source=place.line, statements=statements)
    if own is not None and found_by_scan(cause, check.scan) and cause.fix_from == "place":
        return there
    advice = place.advice
    told = any(one.tells_fix and one.source.at == there.at for one in check.scanned.findings)
    if advice.hint is not None and not told:
        return replace(there, remedy=advice.hint, fix_from="place")
    if advice.fix:
        return replace(there, remedy=advice.fix, fix_from="place")
    return there


def _acted_there(control: str, place: Place, acted: Sequence[Place], *, alone: bool) -> ActedAt:
    """Return where a control acted; where the place may not be meant `alone`, at what others,
    too.
    """
    there = ActedAt(
        control=control,
        at=place.line.at,
        what=place.what,
        first=place is acted[0],
        draws=place.draws,
    )
    if alone or place.draws:
        return there
    # Nothing shows which of them it is.
    others = [(one.line.at, one.what) for one in acted if one.line.at != place.line.at]
    return replace(there, others=tuple(others))
