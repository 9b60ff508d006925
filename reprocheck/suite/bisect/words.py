"""The sentences of a search, made last, of its result."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

from reprocheck.language import count
from reprocheck.suite.bisect.packages import Change
from reprocheck.suite.bisect.result import Bisected, Guilty, Outcome

FILES_SHOWN = 10
SKIPPED_SHOWN = 5


@dataclass(frozen=True, kw_only=True, slots=True)
class Words:
    """What is printed of a search.

    head   two or three words in capitals
    lines  sentences and facts, most important first
    """

    head: str
    lines: tuple[str, ...]


HEADS: Mapping[Outcome, str] = {
    "found": "FOUND",
    "several": "FOUND SEVERAL",
    "options": "FOUND",
    "good end is bad": "NOT FOUND",
    "bad end is good": "NOT FOUND",
    "bad end is skipped": "NOT FOUND",
}


def words(found: Bisected) -> Words:
    """Return a search in words."""
    return Words(head=HEADS[found.outcome], lines=tuple(_lines(found)))


def _lines(found: Bisected) -> Iterator[str]:
    yield _SENTENCES[found.outcome](found)
    for number, guilty in enumerate(found.guilty):
        if number:
            yield ""
        yield from _guilty(guilty)
    if not found.guilty:
        yield from (f"option   {name} {_from_to(*pair)}" for name, pair in found.options.items())
    if found.candidates:
        yield ""
        yield _counted(found)
    if found.guilty and found.options:
        yield (
            f"Each check was made with the options of {found.options_of}. They differ, too:"
            f" {_named(found.options)}."
        )
    skipped = [checked for checked in found.checked if checked.answer == "skip"]
    for checked in skipped[:SKIPPED_SHOWN]:
        first_line = checked.reason.partition("\n")[0]
        yield f"Not checked: {checked.candidate}. {first_line}"
    if len(skipped) > SKIPPED_SHOWN:
        yield f"Not checked: {count(len(skipped) - SKIPPED_SHOWN, 'more')}."
    if found.outcome in ("found", "several") and not found.good_checked:
        yield f"The good end was not checked here: that it is good is what {found.good} recorded."
    yield from found.notes
    if found.elsewhere:
        yield f"Beside it these differ between the nights: {_named(found.elsewhere)}."


def _found(found: Bisected) -> str:
    reason = next(
        (one.reason for one in reversed(found.checked) if one.answer == "bad"), "It is bad"
    )
    what = "commit"
    if not found.guilty[0].commit:
        what = "release" if len(found.guilty[0].packages) == 1 else "change of packages"
    return f"{found.target} differs since this {what}: {reason.rstrip('.')}."


def _several(found: Bisected) -> str:
    return (
        f"{found.target} differs since one of these {len(found.guilty)} changes; those between"
        " could not be checked."
    )


def _options(found: Bisected) -> str:
    return (
        f"{found.target} has other options since {found.bad}; no code and no package differs, so"
        " nothing was checked."
    )


def _good_is_bad(found: Bisected) -> str:
    reason = found.checked[-1].reason.rstrip(".")
    if found.options_of == found.bad:
        return (
            f"The good end is bad with the options of {found.bad} ({reason}): they are the change,"
            " or what follows from them."
        )
    return (
        f"The good end is bad here ({reason}), so what made {found.good} good is neither a commit"
        " nor a package: look at the machine, its driver, data and variables."
    )


def _bad_is_good(found: Bisected) -> str:
    if found.options:
        return (
            f"The bad end is good with the options of {found.options_of}: neither a commit nor a"
            " package is the change, but the options."
        )
    return (
        f"The bad end is good here, so what made {found.bad} bad is neither a commit nor a"
        " package, or it does not show in each check."
    )


def _skipped(found: Bisected) -> str:
    reason = found.checked[0].reason.rstrip(".")
    return f"The bad end cannot be checked here: {reason}."


_SENTENCES: Mapping[Outcome, Callable[[Bisected], str]] = {
    "found": _found,
    "several": _several,
    "options": _options,
    "good end is bad": _good_is_bad,
    "bad end is good": _bad_is_good,
    "bad end is skipped": _skipped,
}


def _guilty(guilty: Guilty) -> Iterator[str]:
    if guilty.commit is not None:
        commit = guilty.commit
        yield f"commit   {commit.hash}"
        yield f"author   {commit.author}"
        yield f"date     {commit.date}"
        yield f"subject  {commit.subject}"
        for path in commit.files[:FILES_SHOWN]:
            yield f"file     {path}"
        if len(commit.files) > FILES_SHOWN:
            yield f"file     and {len(commit.files) - FILES_SHOWN} more"
    for change in guilty.packages:
        yield f"package  {change.name} {_moved(change)}"
        if change.link:
            yield f"         {change.link}"


def _moved(change: Change) -> str:
    if not change.before:
        return f"{change.after} (not there before)"
    if not change.after:
        return f"{change.before} (not there any more)"
    return f"{change.before} -> {change.after}"


def _counted(found: Bisected) -> str:
    between = f"{count(found.candidates, 'change')} between {found.good} and {found.bad}"
    judged = sum(one.answer != "skip" for one in found.checked)
    before = judged - found.made
    earlier = f", {before} of them made earlier" if before > 0 else ""
    return f"{between}; {count(judged, 'check')}{earlier}, at most {found.most} needed."


def _named(changed: Mapping[str, tuple[str, str]]) -> str:
    return ", ".join(f"{name} ({_from_to(*both)})" for name, both in changed.items())


def _from_to(then: str, now: str) -> str:
    return f"{then or 'not there'} -> {now or 'not there'}"
