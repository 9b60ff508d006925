"""Two more runs of a check, recorded at a deeper level, from the state in which its first run
began.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Literal

from reprocheck.launch.observer import Observer
from reprocheck.launch.plan import plan
from reprocheck.launch.runs import record_runs
from reprocheck.launch.tail import Output
from reprocheck.model import DeeperPair, EntryPoint, RunRecord
from reprocheck.recording import record
from reprocheck.settings import Settings

Level = Literal["module", "op"]


def record_deeper(
    entry: EntryPoint,
    settings: Settings,
    folder: Path,
    observer: Observer,
    *,
    level: Level,
    iterations: int,
    inside: str = "",
    begin: int = 1,
    runs: int = 2,
    output: Output | None = None,
) -> DeeperPair:
    """Run `entry` twice as `check` did, recording `iterations` iterations, those from `begin` on at
    `level`, and adds the pair to the record in `folder`.

    With `runs` 1 it is one half of a pair, to be compared with that of another recording. The first
    run finds the working directory as run 1 of the check found it, the second one what the first
    left. Afterwards it is as it was before this call, whatever happens. Raises what `check` raises;
    what was recorded until then is kept.
    """
    folder = folder.absolute()
    before = record.read(folder)
    pair = DeeperPair(
        level=level, iterations=iterations, inside=inside, begin=begin, runs=(), half=runs == 1
    )

    def keep(made: tuple[RunRecord, ...]) -> None:
        if made:
            record.write(folder, replace(before, deeper=(*before.deeper, replace(pair, runs=made))))

    created = paths_created(before.runs)
    made = plan(
        entry,
        settings,
        folder,
        observer,
        output,
        runs=runs,
        steps=iterations,
        level=level,
        inside=inside,
        begin=begin,
        created=created,
        elsewhere=made_elsewhere(before.runs),
        portable=runs == 1,
    )
    return replace(pair, runs=record_runs(made, keep))


def paths_created(runs: Sequence[RunRecord]) -> tuple[str, ...]:
    """Return files and folders that these runs made: they stand in the working directory now and
    did not before the first of them.

    What none of the runs was seen to write may be somebody else's, and is none of them.
    """
    original: set[str] = set()
    created: set[str] = set()
    folders: set[str] = set()
    seen: set[str] = set()
    for run in runs:
        original |= {*run.files.changed, *run.files.deleted} - created
        created |= {*run.files.created} - original
        folders |= {*run.files.folders}
        seen |= {*run.files.created, *run.files.changed, *run.files.folders} - {*run.files.unseen}
    holding = {str(parent) for path in original | (created - seen) for parent in Path(path).parents}
    return tuple(sorted((created & seen) | (folders & seen) - holding))


def made_elsewhere(runs: Sequence[RunRecord]) -> tuple[str, ...]:
    """Return files outside of the working directory that these runs made and that a later one of
    them read: whole paths, masked.
    """
    made = {path for run in runs for path in run.files.made}
    return tuple(sorted(made & {path for run in runs[1:] for path in run.files.read}))
