"""What the trace of a continued run says of files that are no checkpoint."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import TypeVar

from reprocheck.model import Run, RunRecord
from reprocheck.resume.model import Checkpoint
from reprocheck.resume.verdict import read_early
from reprocheck.trace import events


@dataclass(frozen=True, kw_only=True, slots=True)
class Unkept:
    """Files that a continued run wrote between two iterations and that are no kept checkpoint.

    ignored    not taken for a checkpoint
    removed    written by a saver, and gone before the next iteration
    temporary  written to the folder for temporary files, which no snapshot holds
    passed     checkpoints that were written at no requested place
    epochs     how many epochs are known to have begun
    """

    ignored: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()
    temporary: tuple[str, ...] = ()
    passed: int = 0
    epochs: int = 0


def unkept(folder: Path, run: Run) -> Unkept:
    """Return the files that a run wrote, by its traces, and that are no kept checkpoint."""
    unkept_files = _events(folder, run.record, events.Unkept)

    def each_once(paths: Iterable[Sequence[str]]) -> tuple[str, ...]:
        return tuple(dict.fromkeys(chain.from_iterable(paths)))

    return Unkept(
        ignored=each_once(event.p for event in unkept_files),
        removed=each_once(event.removed for event in unkept_files),
        temporary=each_once(event.temporary for event in unkept_files),
        passed=max((event.passed for event in unkept_files), default=0),
        epochs=max((event.epochs for event in unkept_files), default=0),
    )


def last_checkpoint(folder: Path, record: RunRecord) -> Checkpoint | None:
    """Return the last checkpoint that a run was seen to write."""
    return next(reversed(checkpoints(folder, record)), None)


def checkpoints(folder: Path, record: RunRecord) -> list[Checkpoint]:
    """Return the checkpoints that a run was seen to write, in order."""
    return [checkpoint_of(event) for event in _events(folder, record, events.Checkpoint)]


def checkpoint_of(event: events.Checkpoint) -> Checkpoint:
    """Return the checkpoint that a process told of."""
    return Checkpoint(
        iteration=event.i,
        by=event.by,
        line=event.l,
        paths=tuple(event.p),
        beside=tuple(event.o),
        target=event.t,
        size=event.s,
    )


Kind = TypeVar("Kind", bound=events.Event)


def _events(folder: Path, record: RunRecord, kind: type[Kind]) -> list[Kind]:
    """Return the events of one kind, of all processes of a run."""
    of_kind: list[Kind] = []
    for path in sorted((folder / record.trace).glob("*.jsonl")):
        with suppress(OSError):
            for chunk in events.read(path, events.Reading()):
                of_kind += [event for event in chunk if isinstance(event, kind)]
    return of_kind


def beyond_snapshots(continued: Run, resumed: Run, checkpoint: Checkpoint) -> tuple[str, ...]:
    """Return files that the resumed run read in the state that the continued run left at its end.

    They lie outside of the working directory, so that no snapshot holds them, and were read before
    the first loss.
    """
    read = {*read_early(resumed), *resumed.record.files.read}
    left = continued.record.files.elsewhere
    return tuple(path for path in left if path in read and path not in checkpoint.files)


def found_before(run: Run) -> tuple[str, ...]:
    """Return files that a continued run read before its first loss and wrote later.

    Such a run did not start from scratch, but from files of an earlier training.
    """
    early = read_early(run)
    return tuple(path for path in run.record.files.changed if path in early)
