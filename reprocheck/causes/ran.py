"""What the deeper runs of a check say of the code that ran."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from pathlib import Path

from reprocheck.model import Check
from reprocheck.trace.reached import Ran, read_reached


def by_trace(check: Check, folder: Path) -> Mapping[str, Sequence[Ran]]:
    """By the names of the traces of the first deeper run; those that say nothing are left out."""
    pair = next((pair for pair in check.record.deeper if pair.level == "module"), None) or next(
        iter(check.record.deeper), None
    )
    if pair is None or not pair.runs:
        return {}
    paths = sorted((folder / pair.runs[0].trace).glob("*.jsonl"))
    return {path.name: ran for path in paths if (ran := _read(path, path.stat().st_size))}


def imported(check: Check, folder: Path) -> tuple[str, ...]:
    """The files of the user's that these runs imported, in the order in which they did."""
    found = [file for ran in by_trace(check, folder).values() for one in ran for file in one.files]
    return tuple(dict.fromkeys(found))


@lru_cache(maxsize=16)
def _read(path: Path, size: int) -> tuple[Ran, ...]:
    """A trace as long as it is; the drawings of one check read it again and again."""
    return read_reached(path)
