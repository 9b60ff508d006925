"""One more run of a check that keeps what a single operator is given, value by value."""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

from reprocheck.child.reprocheck_child.shared.tensor_types import FILE
from reprocheck.launch.deeper import made_elsewhere, paths_created
from reprocheck.launch.observer import Observer
from reprocheck.launch.plan import plan
from reprocheck.launch.runs import record_runs
from reprocheck.launch.tail import Output
from reprocheck.model import DeeperPair, EntryPoint, RunRecord
from reprocheck.recording import record
from reprocheck.settings import Settings

ARM = "values"
"""The run lies where those of the search do."""
KEPT = Path("arms", ARM, "run-1")


def record_operands(
    entry: EntryPoint,
    settings: Settings,
    folder: Path,
    observer: Observer,
    target: Path,
    *,
    like: DeeperPair,
    wanted: Mapping[str, object],
    output: Output | None = None,
) -> bool:
    """Run `entry` once more as the pair `like` was recorded, and moves what the operator `wanted`
    was given to the file `target`. False where it was not called with these inputs again.

    The run is no part of the record, and nothing else of it is kept. Raises what `check` raises.
    """
    folder = folder.absolute()
    before = record.read(folder)
    made = plan(
        entry,
        settings,
        folder,
        observer,
        output,
        runs=1,
        steps=like.iterations,
        level="op",
        inside=like.inside,
        begin=like.begin,
        created=paths_created(before.runs),
        elsewhere=made_elsewhere(before.runs),
        arm=ARM,
        told={"values": wanted},
    )
    try:
        record_runs(made, _not_kept)
        with suppress(FileNotFoundError):
            (folder / KEPT / "trace" / FILE).replace(target)
            return True
        return False
    finally:
        shutil.rmtree(folder / KEPT, ignore_errors=True)
        with suppress(OSError):  # what else the run left there is the user's
            (folder / KEPT).parent.rmdir()
            (folder / KEPT).parent.parent.rmdir()


def _not_kept(_: tuple[RunRecord, ...]) -> None:
    """Raise the error of a record that names no run made for its values."""
