"""`reprocheck suite merge SHARD...`: what was run elsewhere, in the history of this suite."""

from __future__ import annotations

import os
from collections import defaultdict
from collections.abc import Sequence, Set
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from reprocheck.cli.parameters import argument
from reprocheck.errors import UsageError

if TYPE_CHECKING:
    from reprocheck.cli.terminal import Stream
    from reprocheck.suite.history import History
    from reprocheck.suite.history.shards import Merged
    from reprocheck.suite.model import Night, NightReport
    from reprocheck.suite.night import Outcome
    from reprocheck.suite.targets import Suite

MOST_NIGHTS = 20
"""Nights that are named and whose files are drawn, the newest of those that were looked at."""
UNDECIDED = 3
"""The exit code of a night that lacks shards, where no target fails."""


def command(
    shards: Annotated[
        list[str] | None,
        argument(
            metavar="[SHARD]...",
            help="Folders of suites that ran elsewhere, or their history files; none: joins the"
            " shards that are in the history of this suite.",
        ),
    ] = None,
) -> int:
    """Join the shards of a night; tell what changed as a night does.

    The same merge again changes nothing. Return the exit code of the newest night whose shards were
    looked at: of one that lacks shards 1 where a target fails, else 3; 0 where nothing was joined.
    """
    from reprocheck.cli.suite.outcome import print_outcome
    from reprocheck.cli.terminal import standard_output
    from reprocheck.suite import pages, reports, site
    from reprocheck.suite.history import open_suite
    from reprocheck.suite.night.folder import night_folder, prepare
    from reprocheck.suite.targets import load

    suite = load(Path.cwd())
    sources = [_source(name, suite) for name in shards or ()]
    prepare(suite.folder)
    out = standard_output()
    exit_code = 0
    with open_suite(suite) as history:
        from reprocheck.suite.history.shards import joined_in

        recent = history.nights(MOST_NIGHTS)
        before = {night.id: history.states(night=night.id) for night in recent}
        merged = [_merge(history, suite, file) for file in sources]
        joined = _joined(history, suite, merged)
        told: defaultdict[str, set[tuple[str, str]]] = defaultdict(set)
        for part, states in before.items():
            told[joined_in(history, part)] |= {(one.target, one.state) for one in states}
        _print(out, history, merged, joined.nights)
        if not joined.nights:
            return exit_code
        index = site.write(history, suite).index
        out.line(f"  pages: {os.path.relpath(index)}")
        for night in joined.nights[-MOST_NIGHTS:]:
            report = reports.read(history, night.id, suite)
            pages.write(report, night_folder(suite, night))
            if night.id in joined.of_shards:
                outcome = _outcome(history, night)
                exit_code = outcome.exit_code or (UNDECIDED if _missing(night) else 0)
                is_news = night.id in joined.changed or night == joined.nights[-1]
                if is_news and (outcome.failed or not _missing(night)):
                    print_outcome(outcome, report, suite, None, out)
                _notify(suite, report, told[night.id])
    return exit_code


def _outcome(history: History, night: Night) -> Outcome:
    """Return what a night came to, from the history."""
    from reprocheck.suite.night import Outcome

    states, checks = history.states(night=night.id), history.final(night.id)
    return Outcome(night=night, checks=checks, states=states)


def _missing(night: Night) -> Sequence[int]:
    """Return the numbers of the shards that a night lacks."""
    from reprocheck.suite.history.shards import share_of

    share = share_of(night)
    return share.missing if share else ()


def _notify(suite: Suite, report: NightReport, told: Set[tuple[str, str]]) -> None:
    """Send what was not told of a night before."""
    from reprocheck.cli.terminal import standard_error
    from reprocheck.suite import texts

    for sentence in texts.notify(suite.webhooks, report, suite.owners, told):
        standard_error().labelled("note:", sentence, "bold yellow")


@dataclass(frozen=True, slots=True)
class _Joined:
    """Hold the nights that a merge looked at, oldest first.

    of_shards  names of those that were made as shards
    changed    names of those that have new checks, or were joined now
    """

    nights: tuple[Night, ...]
    of_shards: frozenset[str]
    changed: Set[str]


def _joined(history: History, suite: Suite, merged: Sequence[Merged]) -> _Joined:
    """Join the shards that have ended, and find the states of the nights that changed."""
    from reprocheck.suite.changes import states_of_night
    from reprocheck.suite.history.shards import (
        join,
        joined_in,
        of_shards,
        settle,
        with_operations_of,
        without_states,
    )
    from reprocheck.suite.night.deeper import with_commits

    changed = {one.night for one in join(history)}
    settle(history, suite.folder)
    brought = {
        joined_in(history, night): new for one in merged for night, new in one.nights.items()
    }
    made = of_shards(history)
    changed |= {night for night, new in brought.items() if new and night in made}
    nights = tuple(night for night in history.nights() if night.id in changed | brought.keys())
    for night in nights:
        if night.id in changed or without_states(history, night):
            states = states_of_night(history, night, suite.targets)
            of_night = with_operations_of(history.states(night=night.id), states)
            history.put_states(with_commits(suite, history, night, of_night))
    return _Joined(nights, made, changed)


def _source(name: str, suite: Suite) -> Path:
    """Return the history file in a folder. Raises UsageError if there is none."""
    from reprocheck.suite.targets.suite import HISTORY

    path = Path(name)
    places = (path, path / HISTORY, path / suite.folder.name / HISTORY)
    file = next((place for place in places if place.is_file()), None)
    if file is None:
        raise UsageError(
            f"{name} has no history: no {HISTORY} is in it.",
            f"Name the folder of a suite, such as {suite.folder.name}, or its history file.",
        )
    return file.absolute()


def _merge(history: History, suite: Suite, file: Path) -> Merged:
    """Merge a copy of a history file, with the report folders beside it: neither is changed."""
    from reprocheck.suite.history import open_history
    from reprocheck.suite.history.engine import url_of_file
    from reprocheck.suite.history.shards import bring_kept, bringing, copied, merge

    with copied(file) as copy, open_history(url_of_file(copy), create=False) as other:
        found = merge(history, other, bringing(file.parent, suite.folder))
    bring_kept(file.parent, suite.folder)
    return found


def _print(
    out: Stream, history: History, merged: Sequence[Merged], nights: Sequence[Night]
) -> None:
    from reprocheck.language import count

    if not nights:
        out.paragraph("No two shards of a night are here.")
        return
    checks = sum(sum(one.nights.values()) for one in merged)
    brought = f"{count(checks, 'new check')}, {count(len(nights), 'night')}"
    out.labelled("MERGED", brought, "bold")
    for night in nights[-MOST_NIGHTS:]:
        out.paragraph(_said(history, night), indent=2)
    unended = [night for one in merged for night in one.unended]
    for night in unended:
        out.paragraph(
            f"Shard {night.shard or night.id} did not come to its end: go on with"
            f" `reprocheck suite run --resume {night.id}` there, and merge it again.",
            style="yellow",
        )


def _said(history: History, night: Night) -> str:
    """Describe a night with its missing shards.

    `night 2026-11-23T02-00-00Z-1f3a: 118 of 120 targets good`
    """
    from reprocheck.suite.history.shards import ranges, share_of

    failed = {state.target for state in history.states(night=night.id) if state.failed}
    checks = history.checks(night=night.id)
    last = {check.target: check.good and check.target not in failed for check in checks}
    said = f"night {night.id}: {sum(last.values())} of {len(last)} targets good"
    share = share_of(night)
    if share is None or not share.missing:
        return said
    if len(share.missing) == 1:
        return f"{said}; shard {share.missing[0]} of {share.of} is missing"
    return f"{said}; shards {ranges(share.missing)} of {share.of} are missing"
