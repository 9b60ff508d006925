"""Reads the traces of the levels `module` and `op`, by rank.

`read_deep(folder, run)` finds the trace file of each rank; the facts of a rank are read only when
they are asked for.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from operator import attrgetter
from pathlib import Path

from reprocheck.model import RunRecord
from reprocheck.model.statements.trace import LinesLeftOut
from reprocheck.trace import ranks
from reprocheck.trace.deep import DeepTrace, Seen
from reprocheck.trace.deep_file import DeepFile, read, to_the_end
from reprocheck.trace.process import Recorded, unknown


@dataclass(frozen=True, kw_only=True, slots=True)
class _Whose:
    """Name the trace file of one rank, and the seeds that the rank's data workers reported.

    has_rank  whether the process reported its rank itself
    """

    path: Path
    has_rank: bool
    worker_seeds: tuple[Seen, ...]


@dataclass(frozen=True, slots=True)
class DeepRun:
    """Read the traces of one run at level `module` or `op`, one rank at a time.

    The facts of all ranks together do not fit into memory.
    """

    traces: Mapping[int, _Whose]

    @property
    def ranks(self) -> tuple[int, ...]:
        """Return the ranks that have a trace, in order."""
        return tuple(sorted(self.traces))

    @property
    def have_ranks(self) -> bool:
        """Return whether every process reported its rank itself."""
        return all(one.has_rank for one in self.traces.values())

    def under(self, numbers: Mapping[int, int]) -> DeepRun:
        """Return the same traces with other rank numbers.

        numbers  old rank -> new rank; ranks that are missing there keep their number
        """
        return DeepRun({numbers.get(rank, rank): one for rank, one in self.traces.items()})

    def read(self, rank: int) -> DeepTrace:
        """Return all facts that a rank recorded."""
        return self.trace(rank, read(self.path(rank)))

    def read_place(self, rank: int, place: str, iteration: int) -> DeepTrace:
        """Return the facts that a rank recorded at one place up to the end of an iteration.

        Facts of other places may stand among the result.

        place  where in the training the facts were recorded, such as the name of a module
        """
        name = json.dumps(place).encode()

        def is_wanted(line: bytes) -> bool:
            # `in` takes five times as long: it tries the bytes as a number before
            return line.find(name) >= 0 or _is_no_fact(line)

        def is_over(file: DeepFile) -> bool:
            return file.grouping.closed >= iteration

        return self.trace(rank, read(self.path(rank), is_wanted, is_over))

    def path(self, rank: int) -> Path:
        """Return the trace file of a rank."""
        return self.traces[rank].path

    def trace(self, rank: int, file: DeepFile) -> DeepTrace:
        """Return the facts of a rank from its trace file, as far as the file was read."""
        problems = [*file.recorded.problems, *unknown(file.recorded.process.v, {})]
        if file.garbage:
            problems.append(LinesLeftOut(kind="no events", number=file.garbage))
        if file.left_out:
            problems.append(LinesLeftOut(kind="facts", number=file.left_out, most=file.most))
        return DeepTrace(
            rank=rank,
            path=file.path,
            seen=tuple(file.seen),
            opened=tuple(file.opened),
            unrecorded=tuple(file.unrecorded),
            algorithm=file.algorithm,
            frameworks=dict(file.recorded.frameworks),
            problems=tuple(problems),
            ended=file.ended,
            worker_seeds=self.traces[rank].worker_seeds,
        )


def read_deep(folder: Path, run: RunRecord) -> DeepRun:
    """Find the trace file of each rank of a run.

    Missing or damaged parts are left out and named in `problems` of the traces.
    """
    try:
        paths = sorted((folder / run.trace).glob("*.jsonl"))
    except OSError:
        return DeepRun({})
    files = [_outline(path, _says_its_rank) for path in paths]
    own_ranks = [file.recorded.rank for file in _trained(files)]
    # where one has no rank of its own, it is decided by all that they say
    if None in own_ranks or len(set(own_ranks)) < len(own_ranks):
        files = [_outline(path, to_the_end) for path in paths]
    trained = _trained(files)
    trained.sort(
        key=lambda file: (file.recorded.node or 0, file.recorded.process.time, file.path.name)
    )
    file_of = {id(file.recorded): file for file in trained}
    by_rank = ranks.assign([file.recorded for file in trained], [file.recorded for file in files])
    seeds_of = _worker_seeds(files)
    return DeepRun(
        {
            rank: _Whose(
                path=file_of[id(recorded)].path,
                has_rank=not recorded.origin,
                worker_seeds=seeds_of.get(recorded.process.pid, ()),
            )
            for rank, recorded in by_rank.items()
        }
    )


@dataclass(frozen=True, kw_only=True, slots=True)
class _Outline:
    """Describe the process of one trace file, without its facts.

    seeds  the seeds that data workers reported to have set
    """

    path: Path
    recorded: Recorded
    trained: bool
    has_facts: bool
    seeds: tuple[Seen, ...]


def _outline(path: Path, is_enough: Callable[[DeepFile], bool]) -> _Outline:
    file = read(path, _is_no_fact, is_enough)
    # Which of several trainings a fact is of is not known.
    one = not file.trainings.several()
    seeds = (seen for seen in file.seen if seen.kind == "seed" and seen.worker is not None)
    return _Outline(
        path=path,
        recorded=file.recorded,
        trained=one and file.trained,
        has_facts=one and (file.skipped or bool(file.seen)),
        seeds=tuple(seeds),
    )


def _says_its_rank(file: DeepFile) -> bool:
    """Return whether the lines read so far show the rank and a loss or an update.

    After the first loss no rank is expected any more, because a framework reports the rank earlier.
    """
    return file.trained and file.recorded.rank is not None


def _trained(files: Sequence[_Outline]) -> list[_Outline]:
    """Return the files of the processes that trained; if there are none, the files with facts."""
    return [file for file in files if file.trained] or [file for file in files if file.has_facts]


def _worker_seeds(files: Sequence[_Outline]) -> dict[int, tuple[Seen, ...]]:
    """Return the seeds that data workers set, by the process id of their parent."""
    seeds_of: dict[int, list[Seen]] = {}
    for file in files:
        if file.seeds:
            seeds_of.setdefault(file.recorded.process.ppid, []).extend(file.seeds)
    return {pid: tuple(sorted(seeds, key=attrgetter("worker"))) for pid, seeds in seeds_of.items()}


_FACTS = (b'{"e":"seen"', b'{"e":"again"', b'{"e":"ran"')
"""Facts, and lines that say nothing without the facts before them."""
_SEED = b'{"e":"seen","r":"seed"'


def _is_no_fact(line: bytes) -> bool:
    """Return whether a line describes its process, not the training; seeds count, too."""
    return not line.startswith(_FACTS) or line.startswith(_SEED)
