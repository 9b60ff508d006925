"""Tell what the runs did to files, and what became of the user's.

As sentences and as a part of report.json.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict
from typing import Any

from reprocheck.language import count, tr
from reprocheck.model import Check, FileChanges, FilesAfter
from reprocheck.report.blocks import Bullets, Section, section
from reprocheck.report.text import line

MOST_NAMED = 10

CHANGES = (
    ("created", ("Created while run {number} was under way: {files}.")),
    ("changed", ("Changed while run {number} was under way: {files}.")),
    ("deleted", ("Removed while run {number} was under way: {files}.")),
    (
        "unseen",
        (
            "Of these, no process of run {number} was seen to write {files}: another program did,"
            " or a program that cannot be watched."
        ),
    ),
)
"""Kinds of changes by their names in the model, and how they are said."""
OUTSIDE = (
    (
        "new",
        ("Made by run {number} outside of the working directory, and still there: {files}."),
    ),
    (
        "over",
        (
            "Written to by run {number} outside of the working directory, where nothing is put"
            " back: {files}."
        ),
    ),
    (
        "gone",
        (
            "Removed by run {number} outside of the working directory, where nothing is put back:"
            " {files}."
        ),
    ),
)
"""Likewise for files elsewhere."""


def sentences(check: Check) -> tuple[str, ...]:
    """Return the sentences on what the runs did to files, and on what was done afterwards."""
    return (
        *_of_runs(check),
        *(sentence for after in check.record.files_after for sentence in _after(after)),
    )


def changed_files(check: Check) -> Section | None:
    """Return the section on the user's files; None if nothing happened to any."""
    items = sentences(check)
    if not items:
        return None
    return section("files", tr("Files"), Bullets(items=items))


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
    shown = ", ".join(f"`{line(path).replace('`', '')}`" for path in paths[:MOST_NAMED])
    further = len(paths) - MOST_NAMED
    if further <= 0:
        return shown
    return f"{shown} and {count(further, 'file')} more"


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
                yield sentence.format(number=run.record.number, files=named(groups[name]))


def _after(after: FilesAfter) -> Iterator[str]:
    """Yield the sentences on what became of the user's files after the runs."""
    if after.replaced:
        yield (
            f"Put back after the runs: {named(after.replaced)}. What the runs had written there is"
            f" in `{after.left}` of the report folder."
        )
    if after.moved:
        yield (
            f"Made only by runs that were recorded again, and moved to `{after.left}` of the report"
            f" folder: {named(after.moved)}."
        )
    if after.others:
        sentence = f"Changed by another program, and left as it is: {named(after.others)}."
        if after.kept:
            sentence += f" As they were before: `{after.before}` of the report folder."
        yield sentence
    if after.saved:
        yield (
            "Stood there before a run wrote to the same path, and may be somebody else's:"
            f" {named(after.saved)}, in `{after.meanwhile}` of the report folder."
        )
    if after.lost:
        yield f"Could not be put back: {named(after.lost)}."
    if after.unkept:
        yield f"Changed or removed by the runs, and not kept before: {named(after.unkept)}."
