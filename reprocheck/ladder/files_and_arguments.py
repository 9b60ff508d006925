"""The arguments, files and logs of the runs, and other source in two separate recordings."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from difflib import SequenceMatcher, unified_diff
from itertools import chain, zip_longest
from operator import attrgetter
from pathlib import Path

from reprocheck.files.limits import open_regular
from reprocheck.ladder.external_inputs import given_otherwise, made_by_each_run
from reprocheck.ladder.finding import Finding, step_number
from reprocheck.ladder.pair import Pair
from reprocheck.ladder.sources import both_sides
from reprocheck.model import ChangedLine, Check, Rung, RunRecord, SourceDifference, SourceLine
from reprocheck.model.evidence import (
    Evidence,
    GivenOtherwise,
    LeftBehind,
    generators_of,
    loaded_file,
)
from reprocheck.model.statements.inputs import (
    FoundState,
    LeftFiles,
    LeftWithoutEffect,
    NotGivenAlike,
)

SIGNS = ("resum", "restor", "checkpoint", "continu", "cache", "load", "found", "reus", "skip")
"""Parts of the words with which trainings speak of a state that they found."""
MOST_BYTES = 1 << 18
LONGEST = 120


def of_found_state(check: Check) -> FoundState | None:
    """Return the first log line of a later run on found state that run 1 lacks.

    None if there is none.
    """
    if check.folder is None or len(check.runs) < 2:
        return None
    before = set(_log_lines(check.runs[0].record, check.folder))
    for run in check.runs[1:]:
        for line in _log_lines(run.record, check.folder):
            speaks_of_state = any(sign in line.lower() for sign in SIGNS)
            if speaks_of_state and line not in before:
                return FoundState(run=run.record.number, line=line[:LONGEST])
    return None


def _log_lines(run: RunRecord, folder: Path) -> Iterator[str]:
    """Yield the lines with which the logs of a run begin."""
    for name in (run.stdout, run.stderr):
        text = ""
        with suppress(OSError), open_regular(folder / name) as file:
            text = file.read(MOST_BYTES).decode("utf-8", "replace")
        yield from filter(None, map(str.strip, text.splitlines()))


def files_and_arguments(check: Check, first: Finding | None, lead: Pair | None) -> Rung:
    """Return the rung of files and arguments.

    Files that run 1 left and run 2 read before the first difference, else differing input.
    """
    evidence: Evidence | None = None
    below = ""
    if first is not None:
        evidence, below = first.evidence, first.rung
    loaded = loaded_file(evidence)
    left = list(check.state_left)
    # what each run writes before it loads it is nothing that run 1 left
    if loaded in left and made_by_each_run(check, loaded):
        left.remove(loaded)
    in_time = [path for path in left if _in_time(path, first, lead)]
    same: set[str] = set()
    # One that was seeded equally does not explain it: making a file may have moved it in run 1
    # alone. Keys do not move.
    generators = generators_of(evidence)
    only_keys = all(map(attrgetter("key"), generators.drawn))
    if generators.drawn and (only_keys or not generators.seeded_equally):
        same = set(check.state_alike)
    paths = [path for path in in_time if path not in same]
    if paths:
        state = of_found_state(check)
        return Rung(
            rung="files and arguments",
            status="differs",
            place=paths[0],
            statement=LeftFiles(paths=tuple(paths), says=state),
            evidence=LeftBehind(says=state.line if state else ""),
        )
    given = _given_otherwise(check, below, loaded)
    if given is not None:
        return given
    statement = None
    if left:
        # run 1 itself read the same from all that are in time
        statement = LeftWithoutEffect(paths=tuple(in_time or left), alike=bool(in_time))
    return Rung(rung="files and arguments", status="equal", statement=statement)


def _given_otherwise(check: Check, below: str, loaded: str) -> Rung | None:
    """Return the rung for differing arguments or files; for two recordings, other code, too.

    See `given_otherwise` for `below` and `loaded`. None if no input differs.
    """
    code: Sequence[SourceDifference] = ()
    if check.between is not None:
        code = check.between.other_code
    others = given_otherwise(check, below, loaded)
    names = [*map(attrgetter("file"), code), *map(attrgetter("name"), others)]
    if not names:
        return None
    evidence = GivenOtherwise(kind="source")
    if not code:
        only_names = all(map(attrgetter("names_the_run"), others))
        first = others[0]
        evidence = GivenOtherwise(kind=first.kind, names_the_run=only_names, made=first.made)
    written = [*map(attrgetter("written"), others), ""]
    changed = map(attrgetter("first"), chain.from_iterable(one.changed for one in code))
    return Rung(
        rung="files and arguments",
        status="differs",
        place=names[0],
        statement=NotGivenAlike(code=tuple(code), others=others),
        source=next(filter(None, changed), None) or SourceLine.of(written[0]),
        evidence=evidence,
    )


def _in_time(path: str, first: Finding | None, lead: Pair | None) -> bool:
    """Return whether run 2 opened a file before the first difference.

    True if the deeper runs do not show when.
    """
    if first is None or lead is None:
        return True
    positions = (one.position for one in lead.second.opened if (one.path, one.mode) == (path, "r"))
    # by the first time that it was opened
    number = step_number(lead, first)
    steps = (*lead.steps, *lead.operators)
    reached = sum(step.second is not None for step in steps if step.number < number)
    return next(positions, 0) <= reached


MOST_FILES, MOST_LINES, MOST_CHANGED = 20, 120, 3
"""Files that are shown, lines of the diff of one, and lines of it that are quoted."""
_TEXT = 160


def other_sources(check: Check, folder: Path) -> tuple[SourceDifference, ...]:
    """Return the files that differ between the two recordings, those with differing code first.

    Empty if one of the recordings holds no files.
    """
    if not all(side.sources for side in check.record.compared):
        return ()
    differences = [
        _difference(name, first, second)
        for name, first, second in both_sides(check, folder)
        if first != second
    ]
    return tuple(sorted(differences, key=lambda one: (one.same_code, one.file))[:MOST_FILES])


def _difference(name: str, first: str | None, second: str | None) -> SourceDifference:
    one, other = (first or "").splitlines(), (second or "").splitlines()
    diff = list(unified_diff(one, other, f"run 1/{name}", f"run 2/{name}", lineterm=""))
    shown = SourceDifference(
        file=name,
        diff="\n".join(diff[:MOST_LINES]) + "\n",
        left_out=max(len(diff) - MOST_LINES, 0),
    )
    if first is None or second is None:
        return replace(shown, only_in=2 if first is None else 1)
    lines_changed = []
    blocks = SequenceMatcher(None, one, other, autojunk=False).get_opcodes()
    for tag, start, end, other_start, other_end in blocks:
        if tag == "equal":
            continue
        lines = _lines(name, one, start, end)
        both = zip_longest(lines, _lines(name, other, other_start, other_end))
        lines_changed += [ChangedLine(first=first, second=second) for first, second in both]
    changed = tuple(lines_changed)[:MOST_CHANGED]
    try:
        same_code = ast.dump(ast.parse(first)) == ast.dump(ast.parse(second))
    except (SyntaxError, ValueError, RecursionError):
        same_code = False
    return replace(shown, same_code=same_code, changed=changed)


def _lines(name: str, lines: Sequence[str], start: int, end: int) -> list[SourceLine]:
    return [
        SourceLine(file=name, line=number, text=text.strip()[:_TEXT])
        for number, text in enumerate(lines[start:end], start=start + 1)
    ]
