"""The trainings that run in threads or tasks of one process: `trainings(recorded, path)`."""

from __future__ import annotations

from array import array
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from reprocheck.child.reprocheck_child.shared.iterations import Grouping
from reprocheck.child.reprocheck_child.shared.trainings import SEVERAL, Trainings
from reprocheck.model.statements.trace import LossesOfSeveral
from reprocheck.trace import events
from reprocheck.trace.events import Irregular, Loss, Optimizer, Regular, Update
from reprocheck.trace.process import Recorded, take
from reprocheck.trace.series import Columns

if TYPE_CHECKING:
    from reprocheck.child.reprocheck_child.shared.trainings import Member

_LONGEST_NAME = 60
_OF_A_TRAINING = (Loss, Optimizer, Update, Regular, Irregular)


def trainings(recorded: Recorded, path: Path) -> list[Recorded]:
    """Return the trainings of a process, each with its own losses.

    A process with a single training is returned as it is. The trace file is read a second time,
    because only its end shows which threads train.
    """
    if not recorded.in_threads:
        return [recorded]
    try:
        members = Trainings()
        for event in _events(path):
            thread = getattr(event, "t", "")
            if isinstance(event, (Loss, Regular)):
                members.loss(thread)
            if isinstance(event, (Update, Regular)):
                members.update(thread, event.o)
        groups = members.several()
        if not groups:
            # several may run whose losses cannot be told apart
            of_optimizers = [group for group in members.groups if group - members.losses.keys()]
            if len(of_optimizers) > 1:
                recorded.caveats.append(LossesOfSeveral())
            return [recorded]
        parts = [_part(recorded, group) for group in groups]
        _fill(parts, groups, path)
    except OSError:
        return [recorded]
    for part in parts:
        part.grouping.finish()
        # The recorder looks at weights until it sees some that change, whosever they are.
        part.grouping.weights_seen |= recorded.grouping.weights_seen
    return parts


def _part(recorded: Recorded, group: set[Member]) -> Recorded:
    """Return one training of a process as a `Recorded` of its own, still without losses.

    The rank of the process is left out, because the other trainings of the process have the same.
    """
    threads = sorted(member for member in group if isinstance(member, str))
    return replace(
        recorded,
        grouping=Grouping(),
        values=array("d"),
        dtype_of=array("B"),
        dtypes={},
        exact={},
        series=Columns(),
        in_stretches=0,
        rank=None,
        deep=False,
        left_because=SEVERAL,
        training=(f"rank {recorded.rank}", threads[0][:_LONGEST_NAME]),
    )


def _fill(parts: list[Recorded], groups: list[set[Member]], path: Path) -> None:
    """Give each training its losses and updates from the trace file.

    A regular stretch belongs to the main thread. Events of no training, such as those of an
    optimizer that never steps, are left out.
    """
    owners = {member: part for part, group in zip(parts, groups, strict=True) for member in group}
    for event in _events(path):
        if isinstance(event, _OF_A_TRAINING):
            owner = owners.get(getattr(event, "o", getattr(event, "t", "")))
            if owner is not None:
                take(owner, [event])
    for part in parts:
        take(part, [Irregular(u=False)])


def _events(path: Path) -> Iterator[events.AnyEvent]:
    for chunk in events.read(path, events.Reading()):
        yield from chunk
