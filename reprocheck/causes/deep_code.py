"""Which code ran, by the record of the deeper runs of a check."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from itertools import chain
from pathlib import Path

from reprocheck.ladder.sources import Recorded
from reprocheck.trace.executed_code import Ran, read_reached


def by_trace(check: Recorded, folder: Path) -> Mapping[str, Sequence[Ran]]:
    """Return trace name -> the code that ran, for the traces of the first deeper run.

    Traces that recorded nothing of that are left out.
    """
    pairs = sorted(check.record.deeper, key=lambda pair: pair.level != "module")
    runs = next((pair.runs for pair in pairs), ())
    if not runs:
        return {}
    paths = sorted((folder / runs[0].trace).glob("*.jsonl"))
    found = {path.name: _read(path, path.stat().st_size) for path in paths}
    return {name: ran for name, ran in found.items() if ran}


def imported(check: Recorded, folder: Path) -> tuple[str, ...]:
    """Return the user's files that the first deeper run imported, in the order of import."""
    ran = chain.from_iterable(by_trace(check, folder).values())
    return tuple(dict.fromkeys(chain.from_iterable(one.files for one in ran)))


@lru_cache(maxsize=4096)
def _read(path: Path, size: int) -> tuple[Ran, ...]:
    """Return the code that ran by a trace; cached, because each report of a check reads it again.

    `size` is the size of the file in bytes, so that a trace that has grown is read again.
    """
    return read_reached(path)
