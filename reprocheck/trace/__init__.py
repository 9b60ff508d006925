"""Reads the traces of a run back: `read_run(folder, record)`.

Imports the model, and the grouping of events into iterations that the recorder uses, too.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Hashable, Iterable, Sequence
from itertools import chain, starmap
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from reprocheck.files.limits import content, open_regular
from reprocheck.model import OwnVariable, Process, Run, RunRecord, Sample, Trace
from reprocheck.model.mirrors import Given

if TYPE_CHECKING:
    from reprocheck.trace.process import Recorded

__all__ = ["read_run"]

_TAIL_BYTES, _TAIL_LINES = 8192, 40
_NANOSECONDS = re.compile("[0-9]{1,29}")
_Stated = TypeVar("_Stated", bound=Hashable)


def read_run(folder: Path, record: RunRecord) -> Run:
    """Read one run of the report folder.

    Missing or damaged parts of a trace are left out and named in `problems`; no error is raised.
    """
    from reprocheck.trace import controls, ranks
    from reprocheck.trace.inputs import first_reads, inputs
    from reprocheck.trace.process import read_process
    from reprocheck.trace.trainings import trainings

    paths = _files(folder / record.trace)
    files = [(read_process(path), path) for path in paths]
    files.sort(key=lambda file: (file[0].node or 0, file[0].process.time))
    recorded = [process for process, _ in files]
    ranks.inherit(recorded)
    trained = chain.from_iterable(starmap(trainings, files))
    by_rank = ranks.assign([one for one in trained if one.trained], recorded)
    stops = [one.stopped_at for one in by_rank.values() if one.stopped_at is not None]
    last_stop = max(stops, default=None)
    rank_of = {id(one): rank for rank, one in by_rank.items()}
    every = [*by_rank.values(), *recorded]
    caveats = [
        *chain.from_iterable(one.caveats for one in every),
        *ranks.numbered(by_rank),
        *ranks.in_threads(by_rank),
        *ranks.missing(by_rank, recorded),
    ]
    # the last that each process set
    variables = chain.from_iterable(process.variables for process in recorded)
    settings = _recorder_settings(folder / record.trace)
    return Run(
        record=record,
        traces=tuple(_trace(rank, one, last_stop, record) for rank, one in by_rank.items()),
        processes=tuple(_process(one, rank_of.get(id(one), one.rank), record) for one in recorded),
        world=ranks.world(by_rank),
        absent=ranks.absent(by_rank),
        opened=_opened(recorded),
        inputs=inputs(recorded, record),
        first_reads=first_reads(recorded),
        workdir=str(settings.get("workdir") or ""),
        level=str(settings.get("level") or ""),
        environment=next((one.environment for one in every if one.environment), {}),
        own_variables={event.p: OwnVariable(value=event.v, line=event.l) for event in variables},
        controls=controls.gather(one.controls for one in recorded),
        stdout_tail=_tail(folder / record.stdout),
        stderr_tail=_tail(folder / record.stderr),
        frameworks=dict(chain.from_iterable(one.frameworks.items() for one in reversed(every))),
        changed_to_observe=_once(chain.from_iterable(one.notes for one in every)),
        caveats=_once(caveats),
        problems=_once(chain.from_iterable(one.problems for one in every)),
        given=tuple(_given(one, rank_of.get(id(one), one.rank)) for one in recorded if one.given),
        broken=next((one.broken for one in recorded if one.broken), ""),
        refused_loss=next((one.refused for one in recorded if one.refused), ""),
    )


def _recorder_settings(folder: Path) -> dict[str, object]:
    """Return the recorder's settings file; {} if the file cannot be read."""
    import json

    try:
        settings = json.loads(content(folder / "recorder.json"))
    except (OSError, ValueError, RecursionError):
        return {}
    return settings if isinstance(settings, dict) else {}


def _files(folder: Path) -> list[Path]:
    """Return the trace files of a run, ordered by the nanoseconds in their names.

    The nanoseconds also order processes whose start times in the trace are equal.
    """

    def started(path: Path) -> tuple[int, str]:
        digits = path.stem.rpartition("-")[2]
        if not _NANOSECONDS.fullmatch(digits):
            return 0, path.name
        return int(digits), path.name

    try:
        return sorted(folder.glob("*.jsonl"), key=started)
    except OSError:
        return []


def _trace(rank: int, recorded: Recorded, stopped_at: int | None, record: RunRecord) -> Trace:
    from reprocheck.trace.process import checked, loss_series

    own_stop = recorded.stopped_at
    if own_stop is None:
        own_stop = stopped_at
    grouping = recorded.grouping
    # nothing is known after the first of them
    ends = [end for end in (own_stop, recorded.broken_after) if end is not None]
    losses = loss_series(recorded, min(ends, default=None))
    shortened = len(losses) < len(grouping.ends)
    shown_stop = recorded.stopped_at
    if shortened and not recorded.broken:
        shown_stop = own_stop
    forward, backward = checked(grouping, losses.ends)
    deep = 0
    if recorded.deep:
        deep = len(losses)
    if deep and recorded.left_after is not None:
        deep = min(recorded.left_after, deep)
    return Trace(
        rank=rank,
        process=_process(recorded, rank, record),
        losses=losses,
        series=recorded.series.until(len(losses)),
        samples=tuple(
            Sample(iteration=one.i, clock=one.t, memory=one.m, peak=one.p, device=one.d)
            for one in recorded.samples
        ),
        forward=forward,
        backward=backward,
        unchanged_updates=grouping.unchanged_updates,
        unchanged_passes=grouping.unchanged_passes,
        weights_seen=grouping.weights_seen,
        skipped=tuple(i for i in grouping.skipped if i <= len(losses)),
        unordered=tuple(i for i in grouping.unordered if i <= len(losses)),
        stopped_at=shown_stop,
        deep=deep,
        left_because=recorded.left_because,
        frameworks=dict(recorded.frameworks),
        environment=dict(recorded.environment),
        changed_to_observe=_once(recorded.notes),
        caveats=_once(recorded.caveats),
        problems=_once(recorded.problems),
        cut=recorded.cut,
        broken=recorded.broken,
        unfinished=grouping.unfinished and not shortened,
    )


def _process(recorded: Recorded, rank: int | None, record: RunRecord) -> Process:
    event = recorded.process
    return Process(
        pid=event.pid,
        ppid=event.ppid,
        argv=tuple(event.argv),
        program=recorded.program,
        python=event.python,
        name=event.name,
        rank=rank,
        world=recorded.world,
        ended=recorded.ended,
        error=recorded.error,
        failed_at=recorded.failed_at,
        gone=record.gone.get(recorded.name),
        origin=recorded.origin,
        in_thread=bool(recorded.training),
        started=event.time,
        began=recorded.began,
        left=recorded.left,
        node=recorded.node,
    )


def _given(recorded: Recorded, rank: int | None) -> Given:
    """Return what a process recorded for the sake of mirrors."""
    return Given(pid=recorded.process.pid, rank=rank, facts=tuple(recorded.given))


def _opened(recorded: Sequence[Recorded]) -> tuple[str, ...]:
    """Return the files that the run read before any process of the run wrote them.

    The order is that of the times of the events; an event without a time counts as at the start of
    its process. Appending counts neither as reading nor as writing, because the earlier content of
    the file stays. Files that another machine wrote are left out, because the clocks of two
    machines give no order.
    """
    openings = [
        (process.process.time if event.time is None else event.time, number, place)
        for number, process in enumerate(recorded)
        for place, event in enumerate(process.opened)
    ]
    read: defaultdict[int | None, set[str]] = defaultdict(set)
    written: defaultdict[int | None, set[str]] = defaultdict(set)
    for _, number, place in sorted(openings):
        node, event = recorded[number].node, recorded[number].opened[place]
        if event.m == "w":
            written[node].add(event.p)
        elif event.m == "r" and event.p not in written[node]:
            read[node].add(event.p)
    paths: set[str] = set()
    for node, read_there in read.items():
        elsewhere = (there for other, there in written.items() if other != node)
        paths |= read_there.difference(*elsewhere)
    return tuple(sorted(paths))


def _tail(path: Path) -> str:
    """Return the end of a log: at most 40 lines and 8 KB."""
    try:
        with open_regular(path) as file:
            size = file.seek(0, 2)
            file.seek(max(0, size - _TAIL_BYTES))
            data = file.read(_TAIL_BYTES)
    except OSError:
        return ""
    if size > _TAIL_BYTES and b"\n" in data[:-1]:
        data = data[data.index(b"\n") + 1 :]
    lines = data.decode("utf-8", errors="replace").splitlines(keepends=True)
    return "".join(lines[-_TAIL_LINES:])


def _once(statements: Iterable[_Stated]) -> tuple[_Stated, ...]:
    """Return statements in their order, each of them only once."""
    return tuple(dict.fromkeys(statements))
