"""The runs of a check of a resume: the continued run, and one resumed run for each place.

Afterwards nothing that was started is alive, and the user's folder is as it was: every run works in
a copy of it.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path

from reprocheck import interrupts
from reprocheck.errors import UsageError
from reprocheck.launch import cleanup
from reprocheck.launch.check import record_of
from reprocheck.launch.folder import discard, publish
from reprocheck.launch.operation import operation
from reprocheck.launch.plan import Plan, plan
from reprocheck.launch.runs import one_run
from reprocheck.launch.teller import Teller
from reprocheck.launch.wide import refuse_wide_folder
from reprocheck.model import CheckRecord, EntryPoint, RunRecord
from reprocheck.recording import record
from reprocheck.redaction import Redaction, identity
from reprocheck.resume import records
from reprocheck.resume.asked import (
    AFTER,
    UNTIL_END,
    Asked,
    refuse,
    resumed_entry,
    told_to_wait,
)
from reprocheck.resume.elsewhere import Elsewhere
from reprocheck.resume.interruption import Interruption
from reprocheck.resume.kept import last_checkpoint
from reprocheck.resume.model import (
    CONTINUED,
    Arm,
    Checkpoint,
    Place,
    ResumeRecord,
    StateRungName,
    Trial,
)
from reprocheck.resume.outside import outside
from reprocheck.resume.snapshots import Snapshot, Snapshots
from reprocheck.settings import Settings

RESUMED = {"boundaries": [1]}
"""What the recorder of a resumed run is told: what the training holds before its first iteration is
recorded.
"""

MOST_KEPT = 2 << 30
"""Bytes of what the continued run holds at its boundaries that are kept to be put back."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Wanted:
    """A resumed run that is to be made: which place, what is put back, where the batches of the
    continued run begin, and what is put back that no `state_dict` has
    (`docs/reference/trace-format.md`).
    """

    place: int
    rungs: tuple[StateRungName, ...]
    batches: Mapping[str, object] = field(default_factory=dict)
    beside: tuple[str, ...] = ()


@dataclass(kw_only=True, slots=True)
class _Kept:
    """What the folder holds by now: written again after every run."""

    folder: Path
    empty: CheckRecord
    resume: ResumeRecord
    runs: list[RunRecord] = field(default_factory=list)

    def keep(self, runs: tuple[RunRecord, ...] = ()) -> None:
        """Writes both records. Raises ReportError."""
        record.write(self.folder, replace(self.empty, runs=tuple(self.runs)))
        records.write(self.folder, self.resume)

    def add(self, place: Place) -> None:
        """One more place."""
        self.resume = replace(self.resume, places=(*self.resume.places, place))
        self.keep()

    def missed(self, names: tuple[str, ...]) -> None:
        """Places that were asked for in vain."""
        self.resume = replace(self.resume, missed=names)
        self.keep()

    def add_arm(self, number: int, arm: Arm) -> None:
        """One more run of a place."""
        places = list(self.resume.places)
        places[number] = replace(places[number], arms=(*places[number].arms, arm))
        self.resume = replace(self.resume, places=tuple(places))
        self.keep()


def recorded(
    entry: EntryPoint,
    settings: Settings,
    folder: Path,
    teller: Teller,
    asked: Asked,
    then: Callable[[Further], None] | None = None,
) -> None:
    """Records the continued run and its resumed runs in `folder` (made by `launch.prepare`).

    `then` is given what makes further resumed runs, while the snapshots are there.

    KeyboardInterrupt leaves what was recorded by then. Raises UsageError, EntryPointError,
    ReportError; where nothing was run, the folder is gone.
    """
    try:
        settings = replace(settings, workdir="copy", jobs=1)
        _recorded(entry, settings, folder, teller, asked, then)
    except UsageError:
        discard(folder)
        raise
    finally:
        if folder.is_dir():
            publish(folder, settings.keep)


def _recorded(
    entry: EntryPoint,
    settings: Settings,
    folder: Path,
    teller: Teller,
    asked: Asked,
    then: Callable[[Further], None] | None,
) -> None:
    refuse(entry)
    refuse_wide_folder(Path.cwd(), entry)
    elsewhere = Elsewhere(asked.pattern)
    elsewhere.refuse()
    continued = plan(
        entry,
        settings,
        folder.absolute(),
        teller,
        teller.output,
        runs=2,
        steps=asked.within,
        level="module",
        numbered=True,
        told={**asked.told(), **_keeping(folder, asked)},
    )
    resume = ResumeRecord(
        places=(),
        go_on=asked.go_on,
        within=asked.within,
        resume_with=Redaction("folder", identity=identity()).command(asked.resume_with),
        pattern=asked.pattern,
        interrupt=asked.interrupt,
        ranks=asked.ranks,
        explain=asked.explain,
    )
    kept = _Kept(folder=folder, empty=record_of(continued), resume=resume)
    snapshots: Snapshots | None = None
    try:
        with operation("keeping what was recorded"), interrupts.interrupting():
            kept.keep()
            snapshots = _continued(continued, CONTINUED, kept, elsewhere)
            places = snapshots.taken
            kept.missed(asked.missed([name for taken in places for name in taken.names]))
            if asked.interrupt and places:
                snapshots.close()
                snapshots = _interrupted(places[0], continued, kept, asked, elsewhere)
                places = snapshots.taken
            for taken in places:
                _resumed(taken, continued, kept, asked)
            if then is not None:
                then(Further(snapshots, continued, kept, asked, elsewhere))
    finally:
        with interrupts.waiting():
            if snapshots is not None:
                snapshots.close()
            elsewhere.remove()
            shutil.rmtree(continued.scratch, ignore_errors=True)
            cleanup.clean_up(folder)


def _continued(made: Plan, number: int, kept: _Kept, elsewhere: Elsewhere) -> Snapshots:
    """The run that writes the checkpoint and goes on."""
    workdir = made.copy("")
    trace = made.job(number, workdir, "").trace
    snapshots = Snapshots(made.folder, trace, workdir, elsewhere)
    try:
        one_run(made, workdir, number, kept.runs, kept.keep, attend=snapshots.attend)
    except BaseException:
        snapshots.close()
        raise
    finally:
        with interrupts.waiting():
            workdir.close()
    if snapshots.outside:
        snapshots.close()
        elsewhere.remove()
        raise outside(snapshots.outside, elsewhere)
    return snapshots


def _interrupted(
    first: Snapshot, continued: Plan, kept: _Kept, asked: Asked, elsewhere: Elsewhere
) -> Snapshots:
    """Another run from the start, ended by a signal; what it left is what the resumed run finds."""
    until = first.checkpoint.iteration + AFTER
    number = len(kept.runs) + 1
    made = replace(
        continued,
        steps=until + UNTIL_END,
        told=told_to_wait(until, asked.interrupt),
        runs=number + 1,
    )
    elsewhere.remove()
    workdir = made.copy("")
    trace = made.job(number, workdir, "").trace
    left = Snapshots(made.folder, trace, workdir, elsewhere)
    signals = Interruption(trace, asked.interrupt)
    try:
        one_run(made, workdir, number, kept.runs, kept.keep, attend=signals.attend)
        written = last_checkpoint(made.folder, kept.runs[-1]) or first.checkpoint
        left.leave(written, f"{asked.interrupt} after update {until}")
    finally:
        with interrupts.waiting():
            workdir.close()
    return left


def _resumed(taken: Snapshot, continued: Plan, kept: _Kept, asked: Asked) -> None:
    """The run that starts from a snapshot, at the path of the continued one."""
    number = len(kept.runs) + 1
    made = _plan(taken, continued, asked, number, RESUMED)
    kept.add(_place(taken, made, number, asked))
    _run(made, taken, number, kept, again=asked.explain)


def _place(taken: Snapshot, made: Plan, number: int, asked: Asked) -> Place:
    return Place(
        name=" and ".join(taken.names),
        checkpoint=_masked(taken.checkpoint, made),
        run=number,
        interrupted=number - 1 if asked.interrupt else None,
        command=Redaction("folder", identity=made.names).arguments(made.entry.command),
    )


@dataclass(frozen=True, slots=True)
class Further:
    """Makes more runs while the snapshots are there, as a check that explains wants them."""

    snapshots: Snapshots
    continued: Plan
    kept: _Kept
    asked: Asked
    elsewhere: Elsewhere

    def put_back(self, wanted: Wanted) -> None:
        """One more resumed run, which is given back a part of what the continued run held."""
        taken, number = self.snapshots.taken[wanted.place], len(self.kept.runs) + 1
        told = {
            **RESUMED,
            "put_back": {
                "folder": str(self.continued.folder / cleanup.VALUES),
                "iteration": taken.checkpoint.iteration + 1,
                "rungs": list(wanted.rungs),
                "batches": dict(wanted.batches),
                "beside": list(wanted.beside),
            },
        }
        made = _plan(taken, self.continued, self.asked, number, told)
        _run(made, taken, number, self.kept, again=True)
        self.kept.add_arm(wanted.place, Arm(run=number, rungs=wanted.rungs))

    def patched(self, of: int, patch: str, files: Mapping[Path, Path]) -> None:
        """Another continued run for which Python is given these files in place of the user's, and
        one that resumes from it. No snapshot is left for other runs.
        """
        name = self.snapshots.taken[of].names[0]
        asked = replace(self.asked, at=(name,), explain=False)
        self.snapshots.close()
        self.elsewhere.remove()
        number = len(self.kept.runs) + 1
        made = replace(self.continued, patched=files, told=asked.told(), runs=number + 1)
        trial = Trial(of=of, patch=patch, continued=number)
        taken = _continued(made, number, self.kept, self.elsewhere)
        try:
            for snapshot in taken.taken[:1]:
                resumed = _plan(snapshot, made, asked, number + 1, RESUMED)
                trial = replace(trial, place=_place(snapshot, resumed, number + 1, asked))
                _run(resumed, snapshot, number + 1, self.kept, again=False)
        finally:
            taken.close()
        self.kept.resume = replace(self.kept.resume, trial=trial)
        self.kept.keep()


def _plan(
    taken: Snapshot, continued: Plan, asked: Asked, number: int, told: Mapping[str, object]
) -> Plan:
    entry = resumed_entry(continued.entry, asked, taken.checkpoint)
    return replace(continued, entry=entry, steps=asked.go_on, told=told, runs=number)


def _run(made: Plan, taken: Snapshot, number: int, kept: _Kept, *, again: bool) -> None:
    workdir = made.copy("", finish=partial(taken.lay_over, again=again))
    try:
        one_run(made, workdir, number, kept.runs, kept.keep)
    finally:
        with interrupts.waiting():
            workdir.close()


def _keeping(folder: Path, asked: Asked) -> dict[str, object]:
    """What the recorder of the continued run is told where parts of it are to be put back."""
    if not asked.explain:
        return {}
    return {"keep": {"folder": str(folder.absolute() / cleanup.VALUES), "most": MOST_KEPT}}


def _masked(checkpoint: Checkpoint, made: Plan) -> Checkpoint:
    """A checkpoint as a record names it."""
    shown = Redaction("folder", identity=made.names).path
    return replace(checkpoint, paths=tuple(map(shown, checkpoint.paths)))
