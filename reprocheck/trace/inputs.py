"""Find the files that a run read.

The files that the run was given, and files that the run made.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import chain
from operator import attrgetter
from typing import TYPE_CHECKING

from reprocheck.model import FirstRead, InputFile, RunRecord
from reprocheck.trace.origin import ById

if TYPE_CHECKING:
    from reprocheck.trace.process import Recorded

_TRAINED = attrgetter("trained")
_BEGUN = attrgetter("process.time")


def inputs(recorded: Sequence[Recorded], record: RunRecord) -> dict[str, InputFile]:
    """Return each input file of a run, as the process that opened the file first found it.

    A file that the run itself made counts as input only if another program of the run had finished
    the file before the training process began: for example, a script that prepares the data.
    """
    own = {*record.files.created, *record.files.changed, *_written_by(recorded)}
    of_trainers = _written_by(filter(_TRAINED, recorded))
    by_id = ById(recorded)
    files: dict[str, InputFile] = {}
    for one in recorded:
        family = list(by_id.family(one))
        begun = next(map(_BEGUN, filter(_TRAINED, family)), 0.0)
        of_family = _written_by(family)
        for event in one.inputs:
            is_own = event.p in own
            of_training = event.p in of_trainers or event.p in of_family
            if is_own and (event.t >= begun or of_training):
                continue
            writers = (other.wrote.get(event.p) for other in recorded)
            file = InputFile(
                size=event.s,
                time=event.t,
                hash=event.h,
                made=is_own,
                line=event.l,
                written=next(filter(None, writers), ""),
            )
            files.setdefault(event.p, file)
    return files


def _written_by(recorded: Iterable[Recorded]) -> set[str]:
    return set(chain.from_iterable(map(attrgetter("wrote"), recorded)))


def first_reads(recorded: Sequence[Recorded]) -> dict[str, FirstRead]:
    """Return each file that a process read, as the first reader found it.

    A read is `early` if it came before the first loss of the process; for a process that does not
    train, before the first loss of any process.
    """
    earliest = min((one.began for one in recorded if one.began is not None), default=None)
    reads: dict[str, FirstRead] = {}
    for one in recorded:
        began = earliest if one.began is None else one.began
        times = {event.p: event.time for event in reversed(one.opened) if event.m == "r"}
        for event in one.inputs:
            time = times.get(event.p)
            early = began is None or (time is not None and time < began)
            reads.setdefault(
                event.p,
                FirstRead(size=event.s, hash=event.h, early=early, line=event.l, at_import=event.i),
            )
    return reads
