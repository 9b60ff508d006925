"""The causes that the smallest set of controls confirms, each with the line on which its control
acted and a fix that fits.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType

from reprocheck import rules
from reprocheck.causes import likely
from reprocheck.causes.evidence import VAGUE
from reprocheck.causes.fixes import after_control, control_fix, fix_of
from reprocheck.causes.scanned import cause_of, found_by_scan
from reprocheck.causes.usercode import is_at
from reprocheck.model import Cause, Check, Rung, SourceLine
from reprocheck.search import words
from reprocheck.search.place import PRIVATE, Place

_NOWHERE: Mapping[str, Sequence[Place]] = MappingProxyType({})
_EACH_FOR_ITSELF = ("single-worker", "data-order")
"""Controls of which the first place says no more than the others."""
_OF_THE_START = ("fresh-workdir", "file-order", "single-thread", "no-compile")
"""Controls of what a run is given; the others are of what the script draws or computes."""
_LATER = "later"
"""The rung of what differs after the iterations that were looked into."""


def confirmed(
    check: Check,
    smallest: Sequence[str],
    evidence: str,
    frameworks: Sequence[str] = (),
    places: Mapping[str, Sequence[Place]] = _NOWHERE,
) -> tuple[Cause, ...]:
    """The causes of a check, with those first, as confirmed, that the smallest set removes.

    `places`: where its controls acted.
    """
    left = list(check.causes)
    first: dict[str, Cause] = {}
    for name in smallest:
        acted = places.get(name, ())
        fitting = [one for one in left if not _acted_elsewhere(check, name, one, acted)]
        known = _removed(fitting, name)
        cause = (
            known or _found_by_scan(check, name) or _implied(check, name, frameworks, len(first))
        )
        explained = {known.code} if known else set()
        if acted:
            cause = _drawn_there(check, name, cause, frameworks)
            cause = _at(check, cause, name, acted)
        fix = after_control(check, cause, name, frameworks)
        said = (evidence, *cause.evidence)
        first.setdefault(cause.code, replace(cause, fix=fix, confidence="confirmed", evidence=said))
        explained.add(cause.code)
        left = [one for one in left if one.code not in explained]
    return (*first.values(), *left)


# -------------------------------------------------------------------------------- which cause it is


def _removed(causes: Sequence[Cause], control: str) -> Cause | None:
    """The cause that the control is nearest to; one that says why before one that says what, what
    was recorded before what fits.
    """
    fits = [cause for cause in causes if likely.confirms(control, cause.code)]
    return min(fits, key=lambda cause: _preference(cause, control), default=None)


def _preference(cause: Cause, control: str) -> tuple[bool, bool, int]:
    """The smaller, the better."""
    place = likely.place_of(control, cause.code) or 0
    return cause.code in VAGUE, cause.confidence != "observed", place


def _acted_elsewhere(check: Check, control: str, cause: Cause, acted: Sequence[Place]) -> bool:
    """Whether a cause that the scan alone speaks for has another control of its own, and this one
    acted on other lines.
    """
    if not acted or likely.removes(control, cause.code):
        return False
    if not found_by_scan(cause, check.scan):
        return False
    findings = [one for one in check.scanned.possible if one.code == cause.code]
    origins = [one.origin for one in findings if is_at(one.source, cause.source)]
    return not any(_acted_on(line, acted) for line in (cause.source, *origins))


def _found_by_scan(check: Check, control: str) -> Cause | None:
    """What the scan finds that the control removes, and that ran before the first difference: the
    line that is named alone.
    """
    preceding = [one for one in check.scanned.preceding if one.severity != "note"]
    found = [one for one in preceding if likely.removes(control, one.code)]
    lines = {one.source.at for one in found}
    return cause_of(check, found[0]) if len(lines) == 1 else None


def _implied(check: Check, control: str, frameworks: Sequence[str], explained: int = 0) -> Cause:
    """The cause that a control confirms where none was named; `explained`: of how many rungs the
    causes are known.
    """
    rung = _where(check, control, explained)
    known = rules.entry(likely.implied(control, rung.rung if rung else ""))
    cause = Cause(
        code=known.code,
        title=known.title_for(frameworks),
        confidence="confirmed",
        fix=fix_of(check, known, frameworks),
    )
    if rung is None:
        return cause
    return replace(cause, evidence=tuple(filter(None, [rung.detail])), source=rung.source)


def _where(check: Check, control: str, explained: int) -> Rung | None:
    """The first rung that differs; for a control of what the script draws or computes the first of
    the training.

    Where the causes of some are known, the next.
    """
    ladder, first = check.ladder, check.first_rung
    if ladder is None or first is None:
        return None
    if control not in _OF_THE_START:
        first = ladder.first_of_training or first
    behind = ladder.rungs[ladder.rungs.index(first) + 1 :]
    below = [rung for rung in behind if rung.status == "differs" and rung.rung != _LATER]
    return dict(enumerate(below, start=1)).get(explained, first)


# ------------------------------------------------------------------------------------ on which line


def _acted_on(line: SourceLine | None, acted: Sequence[Place]) -> Place | None:
    """Where the control acted on a line."""
    return next((place for place in acted if is_at(place.line, line)), None)


def _drawn_there(check: Check, control: str, cause: Cause, frameworks: Sequence[str]) -> Cause:
    """A generator without a seed is known by the line that it acted on: a cause that says no more
    than that something differs gives way.
    """
    if control != PRIVATE or cause.code not in VAGUE:
        return cause
    why = _implied(check, control, frameworks)
    evidence = tuple(dict.fromkeys((*why.evidence, *cause.evidence)))
    return replace(why, evidence=evidence, source=None)


def _at(check: Check, cause: Cause, control: str, acted: Sequence[Place]) -> Cause:
    """A cause with the line on which its control acted, where it has none that says why, and the
    fix that fits the line.

    That is the first line, or the first at which what it acted on draws random numbers.
    """
    drawing = [one for one in acted if one.draws]
    own = _acted_on(cause.source, acted)
    place = own or (*drawing, *acted)[0]
    said = words.acted_at(control, _named(place), first=place is acted[0], draws=place.draws)
    others = [_named(one) for one in acted if not is_at(one.line, place.line)]
    if others and control in _EACH_FOR_ITSELF and not place.draws:
        # Nothing shows which of them it is.
        said += words.also_acted_at(others)
    evidence = (*cause.evidence, said)
    says_why = cause.source is not None and cause.code not in VAGUE
    if own is None and says_why:
        return replace(cause, evidence=evidence)
    fix = place.fix or cause.fix
    if place.hint and not found_by_scan(cause, check.scan):
        fix = place.hint
    return replace(cause, source=place.line, fix=fix, evidence=evidence)


def _named(place: Place) -> str:
    return words.place(place.line.at, place.what)


def fixes(
    device: str, frameworks: Sequence[str], causes: Sequence[Cause], smallest: Sequence[str]
) -> list[str]:
    """The fix of each confirmed cause, else that of the control."""
    own = [cause.fix for cause in causes if cause.confidence == "confirmed" and cause.fix]
    if own:
        return own
    return list(filter(None, (control_fix(frameworks, name, device) for name in smallest)))
