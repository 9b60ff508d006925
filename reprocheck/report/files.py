"""What the runs did to files, and what became of the user's: as sentences and as a part of
report.json.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict
from typing import Any

from reprocheck import language
from reprocheck.language import count, joined, mark, tr
from reprocheck.model import Check, FileChanges, FilesAfter
from reprocheck.report import text

MOST_NAMED = 10

CHANGES = (
    ("created", mark("Created while run {number} was under way: {files}.")),
    ("changed", mark("Changed while run {number} was under way: {files}.")),
    ("deleted", mark("Removed while run {number} was under way: {files}.")),
    (
        "unseen",
        mark(
            "Of these, no process of run {number} was seen to write {files}: another program did,"
            " or a program that cannot be watched."
        ),
    ),
)
"""Kinds of changes by their names in the model, and how they are said."""
OUTSIDE = (
    (
        "new",
        mark("Made by run {number} outside of the working directory, and still there: {files}."),
    ),
    (
        "over",
        mark(
            "Written to by run {number} outside of the working directory, where nothing is put"
            " back: {files}."
        ),
    ),
    (
        "gone",
        mark(
            "Removed by run {number} outside of the working directory, where nothing is put back:"
            " {files}."
        ),
    ),
)
"""Likewise for files elsewhere."""


def sentences(check: Check) -> tuple[str, ...]:
    """Return what the runs of the check did to files, and what was done after them."""
    return (
        *_of_runs(check),
        *(sentence for after in check.record.files_after for sentence in _after(after)),
    )


def document(check: Check) -> dict[str, Any]:
    """Return the part of report.json."""
    names = [*(name for name, _ in CHANGES), "elsewhere", "gone"]
    return {
        "runs": [
            {"run": run.record.number, **{name: getattr(run.record.files, name) for name in names}}
            for run in check.runs
        ],
        "visible": check.state_visible,
        "after": [asdict(after) for after in check.record.files_after],
    }


def named(paths: Sequence[str]) -> str:
    """Return the first paths as code, and how many more there are."""
    quoted = (f"`{text.line(path).replace('`', '')}`" for path in paths[:MOST_NAMED])
    shown = joined(tr(", "), quoted)
    more = len(paths) - MOST_NAMED
    if more <= 0:
        return shown
    return tr(
        "{shown} and {files} more",
        shown=shown,
        files=count(more, "file"),
    )


def _of_runs(check: Check) -> Iterator[str]:
    made: set[str] = set()
    for run in check.runs:
        changes: FileChanges = run.record.files
        made |= {*changes.made}
        groups = {name: getattr(changes, name) for name, _ in CHANGES} | {
            "new": changes.made,
            "over": [path for path in changes.elsewhere if path not in made],
            "gone": [path for path in changes.gone if path not in made],
        }
        for name, sentence in (*CHANGES, *OUTSIDE):
            if groups[name]:
                yield tr(sentence, number=run.record.number, files=named(groups[name]))


def _after(after: FilesAfter) -> Iterator[str]:
    if after.replaced:
        place = tr("`{left}` of the report folder", left=after.left)
        yield tr(
            "Put back after the runs: {named}. What the runs had written there is in {place}.",
            named=named(after.replaced),
            place=place,
        )
    if after.moved:
        yield tr(
            "Made only by runs that were recorded again, and moved to `{left}` of the report"
            " folder: {named}.",
            left=after.left,
            named=named(after.moved),
        )
    if after.others:
        said = tr(
            "Changed by another program, and left as it is: {named}.", named=named(after.others)
        )
        if after.kept:
            before = tr(
                "As they were before: `{before}` of the report folder.", before=after.before
            )
            said = language.sentences(said, before)
        yield said
    if after.saved:
        yield tr(
            "Stood there before a run wrote to the same path, and may be somebody else's: {named},"
            " in `{meanwhile}` of the report folder.",
            named=named(after.saved),
            meanwhile=after.meanwhile,
        )
    if after.lost:
        yield tr("Could not be put back: {named}.", named=named(after.lost))
    if after.unkept:
        yield tr(
            "Changed or removed by the runs, and not kept before: {named}.",
            named=named(after.unkept),
        )
