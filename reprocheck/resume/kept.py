"""What the trace of a continued run says of files that are no checkpoint."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from reprocheck.model import Run
from reprocheck.trace import events


@dataclass(frozen=True, kw_only=True, slots=True)
class Unkept:
    """Files that a continued run wrote between two iterations.

    ignored   taken for no checkpoint
    removed   written by a saver, and gone before the next iteration
    """

    ignored: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()


def unkept(folder: Path, run: Run) -> Unkept:
    """What the traces of a run say of them."""
    ignored: dict[str, None] = {}
    removed: dict[str, None] = {}
    for path in sorted((folder / run.record.trace).glob("*.jsonl")):
        for event in _events(path):
            ignored.update(dict.fromkeys(event.p))
            removed.update(dict.fromkeys(event.removed))
    return Unkept(ignored=tuple(ignored), removed=tuple(removed))


def _events(path: Path) -> list[events.Unkept]:
    try:
        chunks = list(events.read(path, events.Reading()))
    except OSError:
        return []
    return [event for chunk in chunks for event in chunk if isinstance(event, events.Unkept)]


def found_before(run: Run) -> tuple[str, ...]:
    """Files that a continued run read before its first loss and wrote again later: it did not start
    from scratch, but from what an earlier training left.
    """
    reads = run.first_reads
    changed = run.record.files.changed
    return tuple(path for path in changed if path in reads and reads[path].early)
