"""Merge the recordings of all machines of one run into one recording with all ranks.

The content of traces stays the same. Their names get the number of their machine in front:
`nodeN-PID-NANOSECONDS.jsonl`. Ranks are those that the processes reported, and clocks of different
machines are never compared. The merged recording is read like any other.
"""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass, replace
from datetime import datetime
from itertools import chain, combinations
from operator import attrgetter
from pathlib import Path, PurePath

from reprocheck._version import __version__
from reprocheck.errors import ReportError, UsageError
from reprocheck.files.summary import summary
from reprocheck.language.ranks import named
from reprocheck.model import CheckRecord, DeeperPair, Ended, FileChanges, Run, RunRecord
from reprocheck.recording import bundle, record as records, sides

_WORST: tuple[Ended, ...] = ("failed", "timed_out", "interrupted", "stopped", "completed")
"""How a run ended, where its machines do not agree."""
_RECORD = (
    "Record each node with `reprocheck record -- torchrun --nnodes N --node-rank K … train.py`."
)
_MOST_KEYS = 5
_TOGETHER = 10
"""Minutes within which the nodes of a run are started, clocks that are wrong included."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Node:
    """One machine of a run, with its recording.

    number  from 0, in the order of the lowest ranks
    name    the path that the user gave for the recording
    folder  the recording as a folder
    record  the record of the recording
    runs    the runs, read back
    """

    number: int = 0
    name: str
    folder: Path
    record: CheckRecord
    runs: tuple[Run, ...]

    @property
    def ranks(self) -> frozenset[int]:
        """The ranks that trained on this machine in run 1."""
        return frozenset(trace.rank for trace in self.runs[0].traces)

    @property
    def worlds(self) -> frozenset[int]:
        """The numbers of ranks (world sizes) that the processes reported.

        0 for one that reported none.
        """
        return frozenset(trace.process.world or 0 for trace in self.runs[0].traces)


@dataclass(frozen=True, kw_only=True, slots=True)
class Merged:
    """The result of a merge: the number of machines, the ranks, and the missing ranks."""

    nodes: int
    ranks: tuple[int, ...]
    missing: tuple[int, ...]


def merge(paths: Sequence[Path], target: Path) -> Merged:
    """Merge recordings (folders or zips) into `target`, a zip or a new folder.

    A zip if its name ends in .zip.

    Raises UsageError if the recordings are not of the same run, and ReportError if a recording
    cannot be read or `target` cannot be written.
    """
    from reprocheck.trace import read_run

    _refuse_call(paths, target)
    with ExitStack() as stack:
        recorded = []
        for path in paths:
            folder = stack.enter_context(bundle.opened(path))
            record = bundle.read(folder)
            runs = tuple(read_run(folder, run) for run in record.runs)
            recorded.append(Node(name=str(path), folder=folder, record=record, runs=runs))
        for node in recorded:
            _refuse_one(node)
        for one, other in combinations(recorded, 2):
            _refuse_pair(one, other)
        recorded.sort(key=lambda node: min(node.ranks))
        nodes = [replace(node, number=number) for number, node in enumerate(recorded)]
        ranks = sorted(chain.from_iterable(node.ranks for node in nodes))
        world = max(nodes[0].worlds)
        missing = tuple(sorted(set(range(world)) - set(ranks)))
        _write(nodes, missing, target)
    return Merged(nodes=len(nodes), ranks=tuple(ranks), missing=missing)


def _refuse_call(paths: Sequence[Path], target: Path) -> None:
    """Raise UsageError or ReportError if the recordings or the target of a merge cannot be used."""
    if len(paths) < 2:
        raise UsageError(
            f"merge takes the recordings of two nodes or more, not {len(paths)}.",
            "reprocheck merge node0 node1 -o run.zip",
        )
    if len({path.resolve() for path in paths}) < len(paths):
        raise UsageError("The same recording is named twice.", "Name each node's recording once.")
    if target.exists() and (target.suffix != ".zip" or target.is_dir()):
        raise ReportError(
            f"{target} exists already.", "Name a new folder, or a file that ends in .zip, with -o."
        )


def _refuse_pair(first: Node, node: Node) -> None:
    """Raise UsageError for two recordings that are not parts of one run."""
    both = f"{first.name} and {node.name}"
    one, other = sides.what_ran(first.record.entry_point), sides.what_ran(node.record.entry_point)
    if one != other:
        raise UsageError(
            f"{first.name} is a recording of {one}, {node.name} one of {other}: these are not"
            " parts of one run.",
            _RECORD,
        )
    if len(first.runs) != len(node.runs):
        raise UsageError(
            f"{both} hold {len(first.runs)} and {len(node.runs)} runs.",
            "Record each node with the same --runs.",
        )
    if first.record.controls != node.record.controls:
        raise UsageError(
            f"{both} were recorded under different controls.",
            "Record each node with the same controls.",
        )
    if first.worlds != node.worlds:
        raise UsageError(
            f"The ranks of {first.name} say that they are {_sizes(first)}, those of {node.name}"
            f" {_sizes(node)}.",
            _RECORD,
        )
    in_both = sorted(first.ranks & node.ranks)
    if in_both:
        raise UsageError(
            f"{first.name} and {node.name} both have {named(in_both)}.",
            "Start each node with its own --node-rank, and name the recordings of one run.",
        )


def _sizes(node: Node) -> str:
    return " and ".join(sorted(map(str, node.worlds)))


def _refuse_one(node: Node) -> None:
    processes = chain.from_iterable(run.processes for run in node.runs)
    if any(process.node is not None for process in processes):
        raise UsageError(
            f"{node.name} is already merged from several nodes.",
            "Name the recordings of all nodes at once.",
        )
    if not node.ranks:
        raise UsageError(
            f"No rank of {node.name} recorded a loss.",
            "Leave it out to see the others, or record the run again.",
        )
    if min(node.worlds) < 2:
        raise UsageError(
            f"{node.name} has no record of its rank.",
            "Ranks are known from torch.distributed or MindSpore, or from the variables of the"
            " launcher (RANK and WORLD_SIZE).",
        )


def _write(nodes: Sequence[Node], missing: Sequence[int], target: Path) -> None:
    """Write the record of the whole run, and the files of all nodes beside it."""
    of_nodes = [node.record for node in nodes]
    changed = chain.from_iterable(record.changed_to_observe for record in of_nodes)
    own = (f"Node {node.number}: {line}" for node in nodes for line in node.record.caveats)
    try:
        with tempfile.TemporaryDirectory(
            prefix=".merge-", dir=target.absolute().parent, ignore_cleanup_errors=True
        ) as temporary:
            folder = Path(temporary) / "run"
            folder.mkdir()
            whole = replace(
                of_nodes[0],
                reprocheck_version=__version__,
                runs=_runs([record.runs for record in of_nodes], nodes, folder),
                changed_to_observe=tuple(dict.fromkeys(changed)),
                caveats=(*_caveats(nodes, missing), *own),
                deeper=tuple(_deeper(nodes, folder)),
                arms=(),
            )
            records.write(folder, whole)
            (folder / sides.SOURCES).write_text(
                sides.together([node.folder for node in nodes]), encoding="utf-8"
            )
            if target.suffix == ".zip":
                bundle.pack(folder, target)
            else:
                folder.rename(target)
    except OSError as error:
        raise ReportError(
            f"{target} cannot be written: {error.strerror or error}.", "Name another place with -o."
        ) from None


def _runs(
    recorded: Iterable[Sequence[RunRecord]], nodes: Sequence[Node], folder: Path
) -> tuple[RunRecord, ...]:
    """Return the merged runs, given the runs of each machine."""
    return tuple(_run(parts, nodes, folder) for parts in zip(*recorded, strict=True))


def _run(parts: Sequence[RunRecord], nodes: Sequence[Node], folder: Path) -> RunRecord:
    """Return one merged run; its files lie where they lie on the first machine."""
    one = parts[0]
    home = PurePath(one.trace).parent
    (folder / one.trace).mkdir(parents=True)
    of_nodes = list(zip(nodes, parts, strict=True))
    gone: dict[str, float] = {}
    for node, part in of_nodes:
        for path in bundle.files(node.folder, part.trace):
            name = PurePath(path).name
            target = folder / one.trace / name
            if name != "recorder.json":
                target = target.with_name(_name(node, name))
            if not target.exists():
                shutil.copyfile(node.folder / path, target)
        gone |= {_name(node, stem): at for stem, at in part.gone.items()}
    ending = min(parts, key=_badness)
    # What ended the run stands at the end of the logs.
    of_nodes.sort(key=lambda pair: _badness(pair[1]), reverse=True)
    for name in ("stdout", "stderr"):
        logs = [(node, getattr(part, name)) for node, part in of_nodes]
        _join_logs(logs, folder / home / f"{name}.log")
    return replace(
        one,
        ended=ending.ended,
        exit_status=ending.exit_status,
        seconds=max(part.seconds for part in parts),
        stdout=f"{home}/stdout.log",
        stderr=f"{home}/stderr.log",
        killed=sum(part.killed for part in parts),
        files=_files([part.files for part in parts]),
        gone=gone,
    )


def _badness(run: RunRecord) -> int:
    """Return a sort key: the worse a run ended, the smaller."""
    return _WORST.index(run.ended)


def _name(node: Node, name: str) -> str:
    from reprocheck.trace.process import NODE

    return f"{NODE}{node.number}-{name}"


def _join_logs(logs: Sequence[tuple[Node, str]], target: Path) -> None:
    with target.open("wb") as file:
        for node, path in logs:
            source = node.folder / path
            if not source.is_symlink() and source.is_file() and source.stat().st_size:
                file.write(f"--- node {node.number}\n".encode())
                with source.open("rb") as log:
                    shutil.copyfileobj(log, file)


def _files(changes: Sequence[FileChanges]) -> FileChanges:
    def together(name: str) -> tuple[str, ...]:
        return tuple(sorted(set(chain.from_iterable(map(attrgetter(name), changes)))))

    return FileChanges(
        created=together("created"),
        changed=together("changed"),
        deleted=together("deleted"),
        folders=together("folders"),
        unseen=together("unseen"),
        elsewhere=together("elsewhere"),
        made=together("made"),
        gone=together("gone"),
        read=together("read"),
        copied=all(one.copied for one in changes),
    )


def _deeper(nodes: Sequence[Node], folder: Path) -> Iterator[DeeperPair]:
    """Yield the deeper levels of recording that all machines have."""
    for level in nodes[0].record.deeper:
        recorded = chain.from_iterable(node.record.deeper for node in nodes)
        pairs = [one for one in recorded if one.level == level.level]
        lengths = {len(one.runs) for one in pairs}
        if len(pairs) != len(nodes) or len(lengths) > 1:
            continue
        runs = _runs([one.runs for one in pairs], nodes, folder)
        whole = replace(level, iterations=min(one.iterations for one in pairs), runs=runs)
        if len({one.inside for one in pairs}) > 1:
            whole = replace(whole, inside="")
        yield whole


def _caveats(nodes: Sequence[Node], missing: Sequence[int]) -> Iterator[str]:
    from reprocheck.child.reprocheck_child.shared.variables import OF_THE_RANK

    if missing:
        yield (
            f"No node that was merged has {named(missing)}. If a node is missing, merge again with"
            " its recording."
        )
    steps = [node.record.setting("steps") for node in nodes]
    if len(set(steps)) > 1:
        yield (
            f"The nodes were recorded with different --steps ({', '.join(map(str, steps))}): ranks"
            " that stop early keep others waiting."
        )
    minutes = 0.0
    with suppress(ValueError):
        times = [datetime.fromisoformat(node.record.started).timestamp() for node in nodes]
        minutes = (max(times) - min(times)) / 60
    if minutes > _TOGETHER:
        yield (
            f"By their clocks, the nodes were started {minutes:.0f} minutes apart."
            " Do they belong to one run?"
        )
    first = nodes[0].runs[0].traces[0].environment
    for node in nodes[1:]:
        facts = node.runs[0].traces[0].environment
        in_both = first.keys() & facts.keys() - OF_THE_RANK
        keys = sorted(key for key in in_both if first[key] != facts[key])
        if keys:
            yield f"Node {node.number} is not like node 0 in {summary(keys, _MOST_KEYS)}."
