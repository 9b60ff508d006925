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
from reprocheck.launch.wide_folders import refuse_wide_folder
from reprocheck.model import CheckRecord, EntryPoint, RunRecord
from reprocheck.recording import record
from reprocheck.redaction import Redaction, identity
from reprocheck.resume import model, records
from reprocheck.resume.external_checkpoint import Elsewhere
from reprocheck.resume.interruption import Interruption
from reprocheck.resume.other_files import last_checkpoint
from reprocheck.resume.request import (
    AFTER,
    TWICE,
    UNTIL_END,
    Asked,
    refuse,
    resumed_entry,
    told_to_wait,
)
from reprocheck.resume.snapshots import Snapshot, Snapshots
from reprocheck.resume.uncovered_checkpoint import outside
from reprocheck.settings import Settings

RESUMED: Mapping[str, object] = {"boundaries": [1]}
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
    rungs: tuple[model.StateRungName, ...]
    batches: Mapping[str, object] = field(default_factory=dict)
    beside: tuple[str, ...] = ()


@dataclass(kw_only=True, slots=True)
class _Kept:
    """What the folder holds by now: written again after every run."""

    folder: Path
    empty: CheckRecord
    resume: model.ResumeRecord
    runs: list[RunRecord] = field(default_factory=list)
    written: bool = True
    """Whether its places are written down: those of a patch that is tried are not."""

    def keep(self, runs: tuple[RunRecord, ...] = ()) -> None:
        """Write both records. Raises ReportError."""
        record.write(self.folder, replace(self.empty, runs=tuple(self.runs)))
        if self.written:
            records.write(self.folder, self.resume)

    def add(self, place: model.Place) -> None:
        """Add one more place."""
        self.resume = replace(self.resume, places=(*self.resume.places, place))
        self.keep()

    def missed(self, names: tuple[str, ...]) -> None:
        """Places that were asked for in vain."""
        self.resume = replace(self.resume, missed=names)
        self.keep()

    def add_arm(self, number: int, arm: model.Arm) -> None:
        """Add one more run of a place."""
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
    """Record the continued run and its resumed runs in `folder` (made by `launch.prepare`).

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
        runs=0,  # how many there are is known at the end
        steps=asked.within,
        level="module",
        numbered=True,
        told={**asked.told(), **_keeping(folder, asked, model.CONTINUED)},
    )
    resume = model.ResumeRecord(
        places=(),
        go_on=asked.go_on,
        within=asked.within,
        at=asked.at,
        resume_with=Redaction("folder", identity=identity()).command(asked.resume_with),
        pattern=asked.pattern,
        interrupt=asked.interrupt,
        ranks=asked.ranks,
        explain=asked.explain,
    )
    kept = _Kept(folder=folder, empty=record_of(continued), resume=resume)
    snapshots: Snapshots | None = None
    making: Further | None = None
    try:
        with operation("keeping what was recorded"), interrupts.interrupting():
            kept.keep()
            snapshots = _continued(continued, model.CONTINUED, kept, elsewhere)
            places = snapshots.taken
            if asked.interrupt and places:
                snapshots.close()
                snapshots = _interrupted(places[0], continued, kept, asked, elsewhere)
                places = snapshots.taken
            making = Further(snapshots, continued, kept, asked, elsewhere)
            making.resume_all()
            served = " and ".join(place.name for place in kept.resume.places)
            kept.missed(asked.missed(served.split(" and ")))
            if then is not None:
                then(making)
    finally:
        with interrupts.waiting():
            if snapshots is not None:
                snapshots.close()
            if making is not None:
                making.close()
            elsewhere.remove()
            shutil.rmtree(continued.scratch, ignore_errors=True)
            cleanup.clean_up(folder)


def _continued(
    made: Plan, number: int, kept: _Kept, elsewhere: Elsewhere, begins: Snapshot | None = None
) -> Snapshots:
    """Return the run that writes the checkpoint and goes on; `begins`: what it starts from
    itself.
    """
    finish = partial(begins.lay_over, again=True) if begins is not None else None
    workdir = made.copy("", finish=finish)
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


@dataclass(slots=True)
class Further:
    """Makes the resumed runs while the snapshots are there, and more of them as a check that
    explains wants them.

    first   number of the run that wrote the checkpoint
    twice   what the first resumed run wrote, where that is resumed from once more
    places  what each place starts from
    """

    snapshots: Snapshots
    continued: Plan
    kept: _Kept
    asked: Asked
    elsewhere: Elsewhere
    first: int = model.CONTINUED
    twice: Snapshots | None = None
    places: list[Snapshot] = field(default_factory=list)

    def resume_all(self) -> None:
        """Make one resumed run for each place."""
        for number, taken in enumerate(self.snapshots.taken):
            if number == 0 and self.asked.twice:
                self._resume_twice(taken)
            else:
                place = self._place(taken)
                self.kept.add(place)
                self._run(taken, place, RESUMED)

    def _resume_twice(self, taken: Snapshot) -> None:
        """Make a resumed run that writes a checkpoint, and one that resumes from that."""
        first = self._place(taken)
        number = first.run or 0
        self.kept.add(first)
        told = {
            **self.asked.told(),
            **RESUMED,
            **_keeping(self.continued.folder, self.asked, number),
        }
        made = replace(self._plan(taken, told), steps=self.asked.within)
        self.twice = _continued(made, number, self.kept, self.elsewhere, taken)
        for again in self.twice.taken[:1]:
            place = replace(self._place(again), name=TWICE, continued=number)
            self.kept.add(place)
            self._run(again, place, RESUMED)

    def close(self) -> None:
        """Remove what a resumed run left."""
        if self.twice is not None:
            self.twice.close()

    def put_back(self, wanted: Wanted) -> None:
        """Make one more resumed run, which is given back a part of what the continued run held."""
        taken, place = self.places[wanted.place], self.kept.resume.places[wanted.place]
        told = {
            **RESUMED,
            "put_back": {
                "folder": str(_values(self.continued.folder, place.continued)),
                "iteration": taken.checkpoint.iteration + 1,
                "rungs": list(wanted.rungs),
                "batches": dict(wanted.batches),
                "beside": list(wanted.beside),
            },
        }
        arm = model.Arm(run=self._next, rungs=wanted.rungs)
        self._run(taken, None, told)
        self.kept.add_arm(wanted.place, arm)

    def patched(self, of: int, patch: str, files: Mapping[Path, Path]) -> None:
        """Make the runs of a place once more, with these files in place of the user's.

        No snapshot is left for other runs.
        """
        name = self.kept.resume.places[of].name.partition(" and ")[0]
        asked = replace(self.asked, at=(name,), explain=False, interrupt="")
        self.snapshots.close()
        self.close()
        self.elsewhere.remove()
        made = replace(self.continued, patched=files, told=asked.told())
        record = _Kept(folder=self.kept.folder, empty=self.kept.empty, resume=self.kept.resume)
        record.runs, record.written = self.kept.runs, False
        number = self._next
        taken = _continued(made, number, record, self.elsewhere)
        further = Further(taken, made, record, asked, self.elsewhere, first=number)
        try:
            further.resume_all()
        finally:
            taken.close()
            further.close()
        places = record.resume.places[len(self.kept.resume.places) :]
        trial = model.Trial(of=of, patch=patch, place=next(reversed(places), None))
        self.kept.resume = replace(self.kept.resume, trial=trial)
        self.kept.keep()

    @property
    def _next(self) -> int:
        """The number of the next run."""
        return len(self.kept.runs) + 1

    def _place(self, taken: Snapshot) -> model.Place:
        """Return a place whose resumed run comes next."""
        number = self._next
        made = self._plan(taken, RESUMED)
        self.places.append(taken)
        return model.Place(
            name=" and ".join(taken.names),
            checkpoint=_masked(taken.checkpoint, made),
            run=number,
            continued=self.first,
            interrupted=number - 1 if self.asked.interrupt else None,
            command=Redaction("folder", identity=made.names).arguments(made.entry.command),
        )

    def _plan(self, taken: Snapshot, told: Mapping[str, object]) -> Plan:
        entry = resumed_entry(self.continued.entry, self.asked, taken.checkpoint)
        return replace(self.continued, entry=entry, steps=self.asked.go_on, told=told)

    def _run(self, taken: Snapshot, place: model.Place | None, told: Mapping[str, object]) -> None:
        """Make a run that starts from a snapshot, at the path of the continued one."""
        made = self._plan(taken, told)
        again = place is None or self.asked.explain
        workdir = made.copy("", finish=partial(taken.lay_over, again=again))
        try:
            one_run(made, workdir, self._next, self.kept.runs, self.kept.keep)
        finally:
            with interrupts.waiting():
                workdir.close()


def _values(folder: Path, number: int) -> Path:
    """Return where a run keeps what it holds, by its number."""
    return folder.absolute() / cleanup.VALUES / str(number)


def _keeping(folder: Path, asked: Asked, number: int) -> dict[str, object]:
    """Return what the recorder of a continued run is told where parts of it are to be put back."""
    if not asked.explain:
        return {}
    return {"keep": {"folder": str(_values(folder, number)), "most": MOST_KEPT}}


def _masked(checkpoint: model.Checkpoint, made: Plan) -> model.Checkpoint:
    """Return a checkpoint as a record names it."""
    shown = Redaction("folder", identity=made.names).path
    return replace(
        checkpoint,
        paths=tuple(map(shown, checkpoint.paths)),
        beside=tuple(map(shown, checkpoint.beside)),
        target=shown(checkpoint.target),
    )
