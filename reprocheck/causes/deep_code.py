"""What the deeper runs of a check say of the code that ran."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from itertools import chain
from pathlib import Path

from reprocheck.ladder.sources import Recorded
from reprocheck.trace.executed_code import Ran, read_reached


def by_trace(check: Recorded, folder: Path) -> Mapping[str, Sequence[Ran]]:
    """Return what ran, by the names of the traces of the first deeper run; those that say
    nothing are left out.
    """
    pairs = sorted(check.record.deeper, key=lambda pair: pair.level != "module")
    runs = next((pair.runs for pair in pairs), ())
    if not runs:
        return {}
    paths = sorted((folder / runs[0].trace).glob("*.jsonl"))
    found = {path.name: _read(path, path.stat().st_size) for path in paths}
    return {name: ran for name, ran in found.items() if ran}


def imported(check: Recorded, folder: Path) -> tuple[str, ...]:
    """Return the files of the user's that these runs imported, in the order in which they did."""
    ran = chain.from_iterable(by_trace(check, folder).values())
    return tuple(dict.fromkeys(chain.from_iterable(one.files for one in ran)))


@lru_cache(maxsize=4096)
def _read(path: Path, size: int) -> tuple[Ran, ...]:
    """Return a trace as long as it is; the drawings of one check read it again and again."""
    return read_reached(path)
