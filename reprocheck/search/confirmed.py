"""The causes that the smallest set of controls confirms, each with the line on which its control
acted and a fix that fits.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType

from reprocheck import rules
from reprocheck.causes import likely
from reprocheck.causes.evidence import VAGUE
from reprocheck.causes.fixes import after_control, control_fix, fix_of
from reprocheck.causes.scanned import cause_of, found_by_scan, is_at
from reprocheck.model import Cause, Check, Rung, SourceLine
from reprocheck.search.place import PRIVATE, Place

_NOWHERE: Mapping[str, Sequence[Place]] = MappingProxyType({})
_EACH_FOR_ITSELF = ("single-worker", "data-order")
"""Controls of which the first place says no more than the others."""
_MOST_PLACES = 5
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
    first: list[Cause] = []
    for name in smallest:
        acted = places.get(name, ())
        removed = _removed(
            [one for one in left if not _acted_elsewhere(check, name, one, acted)], name
        )
        cause = (
            removed or _found_by_scan(check, name) or _implied(check, name, frameworks, len(first))
        )
        if acted:
            cause = _at(check, _drawn_there(check, name, cause, frameworks), name, acted)
        cause = replace(cause, fix=after_control(check, cause, name, frameworks))
        if all(cause.code != one.code for one in first):
            first.append(
                replace(cause, confidence="confirmed", evidence=(evidence, *cause.evidence))
            )
        explained = {cause.code} if removed is None else {cause.code, removed.code}
        left = [one for one in left if one.code not in explained]
    return (*first, *left)


def _acted_elsewhere(check: Check, control: str, cause: Cause, acted: Sequence[Place]) -> bool:
    """Whether a cause that the scan alone speaks for has another control of its own, and this one
    acted on other lines.
    """
    if not acted or likely.removes(control, cause.code) or not found_by_scan(cause, check.scan):
        return False
    if _acted_on(cause.source, acted) is not None:
        return False
    findings = [
        one for one in (check.scan.possible if check.scan else ()) if one.code == cause.code
    ]
    origins = [
        one.origin
        for one in findings
        if cause.source is not None and is_at(one.source, cause.source)
    ]
    return not any(_acted_on(origin, acted) for origin in origins)


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
    return replace(
        why, evidence=tuple(dict.fromkeys((*why.evidence, *cause.evidence))), source=None
    )


def _at(check: Check, cause: Cause, control: str, acted: Sequence[Place]) -> Cause:
    """A cause with the line on which its control acted, where it has none that says why, and the
    fix that fits the line.

    That is the first line, or the first at which what it acted on draws random numbers.
    """
    own = _acted_on(cause.source, acted)
    place = own or next((one for one in acted if one.draws), acted[0])
    first = "acted" if place is not acted[0] else "first acted"
    draws = ", which draws random numbers" if place.draws else ""
    said = f"`{control}` {first} at {_named(place)}{draws}.{_elsewhere(control, place, acted)}"
    evidence = (*cause.evidence, said)
    if own is None and cause.source is not None and cause.code not in VAGUE:
        return replace(cause, evidence=evidence)
    hint = "" if found_by_scan(cause, check.scan) else place.hint
    return replace(cause, source=place.line, fix=place.fix or hint or cause.fix, evidence=evidence)


def _named(place: Place) -> str:
    return f"{place.line.file}:{place.line.line} ({place.what})"


def _elsewhere(control: str, place: Place, acted: Sequence[Place]) -> str:
    """The other places of a control that acts in each for itself, where nothing shows which of them
    it is.
    """
    others = [_named(one) for one in acted if not is_at(one.line, place.line)]
    if control not in _EACH_FOR_ITSELF or place.draws or not others:
        return ""
    more = f" and {len(others) - _MOST_PLACES} more" if len(others) > _MOST_PLACES else ""
    return (
        f" It also acted at {', '.join(others[:_MOST_PLACES])}{more}: any of them may be the cause."
    )


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


def _found_by_scan(check: Check, control: str) -> Cause | None:
    """What the scan finds that the control removes, and that ran before the first difference: the
    line that is named alone.
    """
    preceding = check.scan.preceding if check.scan else ()
    found = [
        one for one in preceding if one.severity != "note" and likely.removes(control, one.code)
    ]
    lines = {(one.source.file, one.source.line) for one in found}
    return cause_of(check, found[0]) if len(lines) == 1 else None


def _implied(check: Check, control: str, frameworks: Sequence[str], explained: int = 0) -> Cause:
    """The cause that a control confirms where none was named; `explained`: of how many rungs the
    causes are known.
    """
    rung = _where(check, control, explained)
    known = rules.entry(likely.implied(control, rung.rung if rung else ""))
    detail = (rung.detail,) if rung and rung.detail else ()
    return Cause(
        code=known.code,
        title=known.title_for(frameworks),
        confidence="confirmed",
        evidence=detail,
        source=rung.source if rung else None,
        fix=fix_of(check, known, frameworks),
    )


def _where(check: Check, control: str, explained: int) -> Rung | None:
    """The first rung that differs; for a control of what the script draws or computes the first of
    the training.

    Where the causes of some are known, the next.
    """
    if check.ladder is None:
        return None
    given = control in ("fresh-workdir", "file-order", "single-thread", "no-compile")
    first = (
        check.ladder.first_rung
        if given
        else check.ladder.first_of_training or check.ladder.first_rung
    )
    if first is None or not explained:
        return first
    rungs = check.ladder.rungs
    below = [
        rung
        for rung in rungs[rungs.index(first) + 1 :]
        if rung.status == "differs" and rung.rung != _LATER
    ]
    return below[explained - 1] if explained <= len(below) else first


def fixes(
    device: str, frameworks: Sequence[str], causes: Sequence[Cause], smallest: Sequence[str]
) -> Iterator[str]:
    """The fix of each confirmed cause, else that of the control."""
    for cause in causes:
        if cause.confidence == "confirmed" and cause.fix:
            yield cause.fix
    if not any(cause.confidence == "confirmed" and cause.fix for cause in causes):
        yield from (fix for name in smallest if (fix := control_fix(frameworks, name, device)))
