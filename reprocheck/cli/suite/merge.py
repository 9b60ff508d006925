"""`reprocheck suite merge SHARD...`: what was run elsewhere, in the history of this suite."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from reprocheck.cli.parameters import argument
from reprocheck.errors import ReportError, UsageError

if TYPE_CHECKING:
    from reprocheck.cli.terminal import Stream
    from reprocheck.suite.history import History
    from reprocheck.suite.history.shards import Merged
    from reprocheck.suite.model import Night
    from reprocheck.suite.targets import Suite

MOST_NIGHTS = 20
"""Nights that are named and whose files are drawn, the newest of those that were looked at."""


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
    """Join the shards of a night. The same merge again changes nothing.

    Exit 0 also where shards are missing: it says so.
    """
    from reprocheck.cli.terminal import standard_output
    from reprocheck.suite.history import open_suite
    from reprocheck.suite.night.folder import prepare
    from reprocheck.suite.targets import load

    suite = load(Path.cwd())
    sources = [_source(name, suite) for name in shards or ()]
    prepare(suite.folder)
    with open_suite(suite) as history:
        from reprocheck.suite.changes import states_of_night
        from reprocheck.suite.history.shards import join, joined_in, settle, without_states

        merged = [_merge(history, suite, file) for file in sources]
        changed = {night.night for night in join(history)}
        settle(history, suite.folder)
        for brought in merged:
            changed.update(joined_in(history, night) for night in brought.nights)
        nights = tuple(night for night in history.nights() if night.id in changed)
        for night in nights:
            if without_states(history, night):
                history.put_states(states_of_night(history, night, suite.targets))
        _print(standard_output(), history, merged, nights)
        if nights:
            index = _drawn(history, suite, nights[-MOST_NIGHTS:])
            standard_output().line(f"  pages: {os.path.relpath(index)}")
    return 0


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
    from reprocheck.suite.history.shards import bring_kept, bringing, merge

    with _copied(file) as copy, open_history(url_of_file(copy), create=False) as other:
        found = merge(history, other, bringing(file.parent, suite.folder))
    bring_kept(file.parent, suite.folder)
    return found


@contextmanager
def _copied(file: Path) -> Iterator[Path]:
    """Yield a copy of a SQLite file, including its latest writes (from the write-ahead log)."""
    with tempfile.TemporaryDirectory(prefix="reprocheck-merge-") as folder:
        copy = Path(folder) / file.name
        try:
            shutil.copyfile(file, copy)
            journal = file.with_name(f"{file.name}-wal")
            if journal.exists():
                shutil.copyfile(journal, copy.with_name(f"{copy.name}-wal"))
        except OSError as error:
            raise ReportError(
                f"{file} cannot be read: {error.strerror}.", "Copy it anew."
            ) from None
        yield copy


def _drawn(history: History, suite: Suite, nights: Sequence[Night]) -> Path:
    """Draw the files of the nights, and the site; return the first page of the site."""
    from reprocheck.suite import pages, reports, site
    from reprocheck.suite.night.folder import night_folder

    for night in nights:
        pages.write(reports.read(history, night.id, suite), night_folder(suite, night))
    return site.write(history, suite).index


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
    """Describe a night: `night 2026-11-23T02-00-00Z-1f3a: 118 of 120 targets good`, and its missing
    shards.
    """
    from reprocheck.suite.history.shards import ranges, share_of

    last = {check.target: check.good for check in history.checks(night=night.id)}
    said = f"night {night.id}: {sum(last.values())} of {len(last)} targets good"
    share = share_of(night)
    if share is None:
        return said
    if len(share.missing) == 1:
        return f"{said}; shard {share.missing[0]} of {share.of} is missing"
    return f"{said}; shards {ranges(share.missing)} of {share.of} are missing"
