"""Further runs of a check: recorded deeper, under controls, or with an operator's values."""

from __future__ import annotations

import shutil
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Literal

from reprocheck.child.reprocheck_child.shared.tensor_types import FILE
from reprocheck.errors import ReprocheckError
from reprocheck.launch.observer import Observer
from reprocheck.launch.run.plan import Request, plan
from reprocheck.launch.run.runs import Enough, record_runs
from reprocheck.launch.run.tail import Output
from reprocheck.launch.run.variables import under_controls, users_environment
from reprocheck.model import Arm, DeeperPair, EntryPoint, Reseeded, RunRecord, Trial
from reprocheck.model.seeds import SeedOrigin
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
    point: int = 0,
    output: Output | None = None,
) -> DeeperPair:
    """Run `entry` twice as `check` did, and add the pair to the record in `folder`.

    Each run records `iterations` iterations, those from `begin` on at `level`.

    A varied run has the values of run `point`. With `runs` 1 it is one half of a pair, to be
    compared with that of another recording. The first run finds the working directory as run 1 of
    the check found it, the second one what the first left. Afterwards it is as it was before this
    call, whatever happens. Raises what `check` raises; what was recorded until then is kept.
    """
    folder = folder.absolute()
    before = record.read(folder)
    pair = DeeperPair(
        level=level, iterations=iterations, inside=inside, begin=begin, runs=(), half=runs == 1
    )

    def keep(made: tuple[RunRecord, ...]) -> None:
        if made:
            record.write(folder, replace(before, deeper=(*before.deeper, replace(pair, runs=made))))

    request = Request(
        runs=runs,
        steps=iterations,
        level=level,
        inside=inside,
        begin=begin,
        created=paths_created(before.runs),
        elsewhere=made_elsewhere(before.runs),
        portable=runs == 1,
        point=point,
    )
    made = plan(entry, settings, folder, observer, output, request)
    return replace(pair, runs=record_runs(made, keep))


def paths_created(runs: Sequence[RunRecord]) -> tuple[str, ...]:
    """Return files and folders that these runs made.

    They stand in the working directory now and did not before the first of them.

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
    """Return files elsewhere that these runs made and that a later one of them read.

    Outside of the working directory: whole paths, masked.
    """
    made = {path for run in runs for path in run.files.made}
    return tuple(sorted(made & {path for run in runs[1:] for path in run.files.read}))


def record_arm(
    entry: EntryPoint,
    settings: Settings,
    folder: Path,
    observer: Observer,
    arm: Arm,
    *,
    seed: int,
    runs: int,
    steps: int | None,
    patched: Mapping[Path, Path] | None = None,
    deep: bool = False,
    output: Output | None = None,
    enough: Enough | None = None,
) -> Arm:
    """Run `entry` under the controls of an arm, and add the arm to the record in `folder`.

    It is added after every run. The controls win over what the user set.

    The runs lie in `arms/NAME` there. The first of them finds the working directory as run 1 of the
    check found it. With `patched`, Python is given these files in place of the user's, which stay
    as they are. Afterwards the working directory is as it was before this call, whatever happens.
    `deep`: more than losses is recorded. `enough`, asked after each run that was kept, says whether
    the rest is not needed. Raises what `check` raises; what was recorded until then is kept.
    """
    folder = folder.absolute()
    before = record.read(folder)
    if any(other.name == arm.name for other in before.arms):
        raise ReprocheckError(
            f"The arm {arm.name} has been recorded already.", "Give it another name."
        )
    request = Request(
        runs=runs,
        steps=steps,
        created=paths_created(before.runs),
        elsewhere=made_elsewhere(before.runs),
        arm=arm.name,
        patched=patched or {},
        level="auto" if deep else "loss",
    )
    user = users_environment()
    seed += arm.value
    under = under_controls(arm.controls, seed, override=True, user=user, spared=arm.spared)
    made = plan(entry, settings, folder, observer, output, request, under)
    arm = replace(
        arm,
        controls=under.names,
        patched=bool(patched) and not arm.fixes,
        in_place=patched is not None,
        renewed=made.renewed,
    )

    def keep(done: tuple[RunRecord, ...]) -> None:
        if done:
            before = record.read(folder)
            others = (other for other in before.arms if other.name != arm.name)
            record.write(folder, replace(before, arms=(*others, replace(arm, runs=done))))

    return replace(arm, runs=record_runs(made, keep, enough))


def record_trial(
    entry: EntryPoint,
    settings: Settings,
    folder: Path,
    observer: Observer,
    *,
    name: str,
    varied: tuple[str, ...],
    point: int,
    steps: int | None,
    output: Output | None = None,
) -> None:
    """Run `entry` once with these variations, and add the trial to the record in `folder`.

    The variations have the values of run `point`. The first trial without variations has two runs,
    which are made as those of the check.

    Raises what `check` raises; what was recorded until then is kept.
    """
    folder = folder.absolute()
    before = record.read(folder)
    request = Request(
        runs=1 if before.trials else 2,
        steps=steps,
        created=paths_created(before.runs),
        elsewhere=made_elsewhere(before.runs),
        arm=name,
        vary=varied,
        varied_from=1,
        point=point,
    )
    made = plan(entry, settings, folder, observer, output, request)

    def keep(done: tuple[RunRecord, ...]) -> None:
        if done:
            trial = Trial(name=name, varied=varied, runs=done)
            others = (other for other in before.trials if other.name != name)
            record.write(folder, replace(before, trials=(*others, trial)))

    record_runs(made, keep)


def watching_seeds(changes: Mapping[str, object] | None = None) -> Mapping[str, object]:
    """Return the settings by which the recorder watches what seeds.

    changes  which calls get another seed, and whether a parsed one is changed
    """
    return {"varied": ["seeding"], "seeding": dict(changes or {})}


def record_reseeded(
    entry: EntryPoint,
    settings: Settings,
    folder: Path,
    observer: Observer,
    origin: SeedOrigin,
    *,
    output: Output | None = None,
) -> None:
    """Run `entry` once with another seed, and add the run to the record in `folder`.

    entry  with the other seed in its command, if it comes from there

    Raises what `check` raises.
    """
    folder = folder.absolute()
    before = record.read(folder)
    changes = {"calls": list(origin.calls), "parsed": origin.kind == "parsed"}
    request = Request(
        runs=1,
        steps=settings.steps,
        level=settings.level_of_runs,
        created=paths_created(before.runs),
        elsewhere=made_elsewhere(before.runs),
        arm=RESEEDED,
        told=watching_seeds(changes),
    )
    made = plan(entry, settings, folder, observer, output, request)

    def keep(done: tuple[RunRecord, ...]) -> None:
        if done:
            run = replace(done[0], number=len(before.runs) + 1)
            reseeded = Reseeded(name=RESEEDED, origin=origin, runs=(run,))
            record.write(folder, replace(before, reseeded=(reseeded,)))

    record_runs(made, keep)


RESEEDED = "another-seed"
"""The arm of the run with another seed."""
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
    """Run `entry` once more, and move what an operator was given to the file `target`.

    The run is recorded as the pair `like` was; the operator is `wanted`. False where it was not
    called with these inputs again.

    The run is no part of the record, and nothing else of it is kept. Raises what `check` raises.
    """
    folder = folder.absolute()
    before = record.read(folder)
    request = Request(
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
    made = plan(entry, settings, folder, observer, output, request)
    try:
        # the record names no run that was made for its values
        record_runs(made, lambda _: None)
        with suppress(FileNotFoundError):
            (folder / KEPT / "trace" / FILE).replace(target)
            return True
        return False
    finally:
        shutil.rmtree(folder / KEPT, ignore_errors=True)
        with suppress(OSError):  # what else the run left there is the user's
            (folder / KEPT).parent.rmdir()
            (folder / KEPT).parent.parent.rmdir()
