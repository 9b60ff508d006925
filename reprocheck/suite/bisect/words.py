"""The sentences of a search, made last, of its result."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

from reprocheck.language import count
from reprocheck.suite.bisect.result import Bisected, Guilty, Outcome

FILES_SHOWN = 10
SKIPPED_SHOWN = 5


@dataclass(frozen=True, kw_only=True, slots=True)
class Words:
    """Hold what is printed about a search.

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


def words(search: Bisected) -> Words:
    """Describe the result of a search in words."""
    return Words(head=HEADS[search.outcome], lines=tuple(_lines(search)))


def _lines(search: Bisected) -> Iterator[str]:
    yield _SENTENCES[search.outcome](search)
    for number, guilty in enumerate(search.guilty):
        if number:
            yield ""
        yield from _guilty(guilty)
    if not search.guilty:
        yield from (f"option   {name} {_from_to(*pair)}" for name, pair in search.options.items())
    if search.candidates:
        between = f"{count(search.candidates, 'change')} between {search.good} and {search.bad}"
        judged = sum(checked.answer != "skip" for checked in search.checked)
        before = judged - search.made
        earlier = f", {before} of them made earlier" if before > 0 else ""
        yield ""
        yield f"{between}; {count(judged, 'check')}{earlier}, at most {search.most} needed."
    if search.guilty and search.options:
        yield (
            f"Each check was made with the options of {search.options_of}. They differ, too:"
            f" {_named(search.options)}."
        )
    skipped = [checked for checked in search.checked if checked.answer == "skip"]
    for checked in skipped[:SKIPPED_SHOWN]:
        first_line = checked.reason.partition("\n")[0]
        yield f"Not checked: {checked.candidate}. {first_line}"
    if len(skipped) > SKIPPED_SHOWN:
        yield f"Not checked: {count(len(skipped) - SKIPPED_SHOWN, 'more')}."
    if search.outcome in ("found", "several") and not search.good_checked:
        yield f"The good end was not checked here: that it is good is what {search.good} recorded."
    yield from search.notes
    if search.elsewhere:
        yield f"Beside it these differ between the nights: {_named(search.elsewhere)}."


def _found(search: Bisected) -> str:
    reason = next(
        (check.reason for check in reversed(search.checked) if check.answer == "bad"), "It is bad"
    )
    what = "commit"
    if not search.guilty[0].commit:
        what = "release" if len(search.guilty[0].packages) == 1 else "change of packages"
    return f"{search.target} differs since this {what}: {reason.rstrip('.')}."


def _several(search: Bisected) -> str:
    return (
        f"{search.target} differs since one of these {len(search.guilty)} changes; those between"
        " could not be checked."
    )


def _options(search: Bisected) -> str:
    return (
        f"{search.target} has other options since {search.bad}; no code and no package differs, so"
        " nothing was checked."
    )


def _good_is_bad(search: Bisected) -> str:
    reason = search.checked[-1].reason.rstrip(".")
    if search.options_of == search.bad:
        return (
            f"The good end is bad with the options of {search.bad} ({reason}): they are the change,"
            " or what follows from them."
        )
    return (
        f"The good end is bad here ({reason}), so what made {search.good} good is neither a commit"
        " nor a package: look at the machine, its driver, data and variables."
    )


def _bad_is_good(search: Bisected) -> str:
    if search.options:
        return (
            f"The bad end is good with the options of {search.options_of}: neither a commit nor a"
            " package is the change, but the options."
        )
    return (
        f"The bad end is good here, so what made {search.bad} bad is neither a commit nor a"
        " package, or it does not show in each check."
    )


def _skipped(search: Bisected) -> str:
    reason = search.checked[0].reason.rstrip(".")
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
        moved = f"{change.before} -> {change.after}"
        if not change.before:
            moved = f"{change.after} (not there before)"
        elif not change.after:
            moved = f"{change.before} (not there any more)"
        yield f"package  {change.name} {moved}"
        if change.link:
            yield f"         {change.link}"


def _named(changed: Mapping[str, tuple[str, str]]) -> str:
    return ", ".join(f"{name} ({_from_to(*both)})" for name, both in changed.items())


def _from_to(then: str, now: str) -> str:
    return f"{then or 'not there'} -> {now or 'not there'}"
