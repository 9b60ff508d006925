"""The runs of a check of a resume: the continued run, and one resumed run for each place.

Afterwards nothing that was started is alive, and the user's folder is as it was: every run works in
a copy of it.
"""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path

from reprocheck import interrupts
from reprocheck.child.reprocheck_child.shared import marks
from reprocheck.errors import UsageError
from reprocheck.launch import discard, publish
from reprocheck.launch.check import record_of
from reprocheck.launch.observer import Teller
from reprocheck.launch.run.plan import Plan, Request, plan
from reprocheck.launch.run.process import GuardedProcess
from reprocheck.launch.run.runs import one_run
from reprocheck.launch.workdir import cleanup
from reprocheck.launch.workdir.operation import operation
from reprocheck.launch.workdir.tree import refuse_wide_folder
from reprocheck.launch.workdir.workdir import Copies
from reprocheck.model import CheckRecord, EntryPoint, RunRecord
from reprocheck.recording import record
from reprocheck.redaction import Redaction, identity
from reprocheck.resume import model, records
from reprocheck.resume.external_checkpoint import Elsewhere, outside
from reprocheck.resume.other_files import last_checkpoint
from reprocheck.resume.request import (
    AFTER,
    SIGNALS,
    TWICE,
    UNTIL_END,
    Asked,
    refuse,
    resumed_entry,
    told_to_wait,
)
from reprocheck.resume.snapshots import Snapshot, Snapshots
from reprocheck.settings import Settings


class Interruption:
    """Attends to a run, and sends a signal to it once.

    TERM, as from a scheduler, goes to the process that the command started, which tells its child
    processes; KILL ends all processes of the run.
    """

    def __init__(self, trace: Path, name: str) -> None:
        self._trace = trace
        self._signal = SIGNALS[name]

    def attend(self, process: GuardedProcess) -> None:
        """Send the signal once the run waits for it; called again and again."""
        wanted = (self._trace / marks.SIGNAL).exists() and not (self._trace / marks.SENT).exists()
        if not wanted:
            return
        pids: tuple[int, ...] = () if process.pid is None else (process.pid,)
        if self._signal == signal.SIGKILL:
            pids = process.tree()
        for pid in pids:
            with suppress(ProcessLookupError):
                os.kill(pid, self._signal)
        (self._trace / marks.SENT).touch()


RESUMED: Mapping[str, object] = {"boundaries": [1]}
"""What the recorder of a resumed run is told: what the training holds before its first iteration is
recorded.
"""
MOST_KEPT = 2 << 30
"""Bytes of what the continued run holds at its boundaries that are kept to be put back."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Wanted:
    """A resumed run that is to be made.

    Which place, what is put back, where the batches of the continued run begin, and what is put
    back that no `state_dict` has (`docs/reference/trace-format.md`).
    """

    place: int
    rungs: tuple[model.StateRungName, ...]
    batches: Mapping[str, object] = field(default_factory=dict)
    beside: tuple[str, ...] = ()


def recorded(
    entry: EntryPoint,
    settings: Settings,
    folder: Path,
    teller: Teller,
    asked: Asked,
    then: Callable[[Runs], None] | None = None,
) -> None:
    """Record the continued run and its resumed runs in `folder` (made by `launch.prepare`).

    `then` is given what makes further resumed runs, while the snapshots are there.

    KeyboardInterrupt leaves what was recorded by then. Raises UsageError, EntryPointError,
    ReportError; where nothing was run, the folder is gone.
    """
    settings = replace(settings, workdir="copy", jobs=1)
    try:
        refuse(entry)
        refuse_wide_folder(Path.cwd(), entry)
        elsewhere = Elsewhere(asked.pattern)
        elsewhere.refuse()
        request = Request(
            runs=0,  # how many there are is known at the end
            steps=asked.within,
            level="module",
            numbered=True,
            told={**asked.told(), **_keeping(folder, asked, model.CONTINUED)},
        )
        continued = plan(entry, settings, folder.absolute(), teller, teller.output, request)
        try:
            runs = Runs(continued, asked, elsewhere, record_of(continued), _empty(asked))
            with operation("keeping what was recorded"), interrupts.interrupting():
                runs.record()
                if then is not None:
                    then(runs)
        finally:
            with interrupts.waiting():
                elsewhere.remove()
                cleanup.clean_up(folder, continued.scratch)
    except UsageError:
        discard(folder)
        raise
    finally:
        if folder.is_dir():
            publish(folder, settings.keep)


def _empty(asked: Asked) -> model.ResumeRecord:
    """Return the record of a check of which nothing was run yet."""
    return model.ResumeRecord(
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


@dataclass(slots=True)
class Runs:
    """Makes the runs, and more of them as a check that explains wants them.

    Writes both records of the folder again after every run.

    plan     of the continued run
    written  whether places are written down: those of a patch that is tried are not
    first    number of the run that wrote the checkpoint
    places   what each place starts from
    snapshots  what the continued run wrote
    twice    what the first resumed run wrote, where that is resumed from once more
    """

    plan: Plan
    asked: Asked
    elsewhere: Elsewhere
    empty: CheckRecord
    resume: model.ResumeRecord
    runs: list[RunRecord] = field(default_factory=list)
    written: bool = True
    first: int = model.CONTINUED
    places: list[Snapshot] = field(default_factory=list)
    snapshots: list[Snapshots] = field(default_factory=list)

    def record(self) -> None:
        """Make the continued run and one resumed run for each place."""
        self._keep()
        places = self._continued(self.plan)
        if self.asked.interrupt and places:
            self._remove_snapshots()
            places = self._interrupted(places[0])
        self._resume_all(places)
        served = [name for place in self.resume.places for name in place.name.split(" and ")]
        self._change(missed=self.asked.missed(served))

    def put_back(self, wanted: Wanted) -> None:
        """Make one more resumed run, which is given back a part of what the continued run held."""
        start, place = self.places[wanted.place], self.resume.places[wanted.place]
        told = {
            **RESUMED,
            "put_back": {
                "folder": str(_values(self.plan.folder, place.continued)),
                "iteration": start.checkpoint.iteration + 1,
                "rungs": list(wanted.rungs),
                "batches": dict(wanted.batches),
                "beside": list(wanted.beside),
            },
        }
        arm = model.Arm(run=self._next, rungs=wanted.rungs)
        self._resumed(start, told, again=True)
        places = list(self.resume.places)
        places[wanted.place] = replace(place, arms=(*place.arms, arm))
        self._change(places=tuple(places))

    def try_patch(self, of: int, patch: str, files: Mapping[Path, Path]) -> None:
        """Make the runs of a place once more, with these files in place of the user's.

        No snapshot is left for other runs.
        """
        name = self.resume.places[of].name.partition(" and ")[0]
        asked = replace(self.asked, at=(name,), explain=False, interrupt="")
        made = replace(self.plan, patched=files, told=asked.told())
        self._remove_snapshots()
        self.elsewhere.remove()
        trial = Runs(made, asked, self.elsewhere, self.empty, self.resume, self.runs)
        trial.written, trial.first = False, self._next
        trial._resume_all(trial._continued(made))
        places = trial.resume.places[len(self.resume.places) :]
        self._change(trial=model.Trial(of=of, patch=patch, place=next(reversed(places), None)))

    @property
    def _next(self) -> int:
        """The number of the next run."""
        return len(self.runs) + 1

    def _keep(self, _: tuple[RunRecord, ...] = ()) -> None:
        """Write both records. Raises ReportError."""
        record.write(self.plan.folder, replace(self.empty, runs=tuple(self.runs)))
        if self.written:
            records.write(self.plan.folder, self.resume)

    def _change(self, **fields: object) -> None:
        """Write the record of the resume with other values."""
        self.resume = replace(self.resume, **fields)  # type: ignore[arg-type]
        self._keep()

    def _remove_snapshots(self) -> None:
        """Remove what the runs left that wrote checkpoints."""
        for snapshots in self.snapshots:
            snapshots.close()

    @contextmanager
    def _attended(
        self, made: Plan, begins: Snapshot | None = None, *, again: bool = True
    ) -> Iterator[tuple[Copies, Snapshots]]:
        """Yield the copy in which the next run takes place, and what takes snapshots of it.

        The run starts from a snapshot itself where it `begins` with one.
        """
        finish = partial(begins.lay_over, again=again) if begins is not None else None
        workdir = made.copy("", finish=finish)
        trace = made.job(self._next, workdir, "").trace
        try:
            yield workdir, Snapshots(made.folder, trace, workdir, self.elsewhere)
        finally:
            with interrupts.waiting():
                workdir.close()

    def _continued(self, made: Plan, begins: Snapshot | None = None) -> list[Snapshot]:
        """Make the run that writes the checkpoint and goes on; return what it wrote.

        At the places that are asked for.
        """
        with self._attended(made, begins) as (workdir, snapshots):
            self.snapshots.append(snapshots)
            one_run(made, workdir, self._next, self.runs, self._keep, attend=snapshots.attend)
        if snapshots.outside:
            self.elsewhere.remove()
            raise outside(snapshots.outside, self.elsewhere)
        return snapshots.taken

    def _interrupted(self, first: Snapshot) -> list[Snapshot]:
        """Make another run from the start, ended by a signal; return what it left.

        The resumed run finds that.
        """
        until = first.checkpoint.iteration + AFTER
        told = told_to_wait(until, self.asked.interrupt)
        made = replace(self.plan, steps=until + UNTIL_END, told=told)
        self.elsewhere.remove()
        with self._attended(made) as (workdir, snapshots):
            self.snapshots.append(snapshots)
            signals = Interruption(snapshots.trace, self.asked.interrupt)
            one_run(made, workdir, self._next, self.runs, self._keep, attend=signals.attend)
            written = last_checkpoint(made.folder, self.runs[-1]) or first.checkpoint
            snapshots.leave(written, f"{self.asked.interrupt} after update {until}")
        return snapshots.taken

    def _resume_all(self, places: list[Snapshot]) -> None:
        """Make one resumed run for each place.

        Where that is asked for, the first one writes a checkpoint itself and goes on, and another
        one resumes from that.
        """
        for start in places:
            number = self._next
            self._add(start)
            if not self.asked.twice or start is not places[0]:
                self._resumed(start, RESUMED, again=self.asked.explain)
                continue
            keeping = _keeping(self.plan.folder, self.asked, number)
            told = {**self.asked.told(), **RESUMED, **keeping}
            made = replace(self._plan(start, told), steps=self.asked.within)
            for second in self._continued(made, start)[:1]:
                self._add(second, name=TWICE, continued=number)
                self._resumed(second, RESUMED, again=self.asked.explain)

    def _add(self, start: Snapshot, **changes: object) -> None:
        """Add a place whose resumed run comes next."""
        made = self._plan(start, RESUMED)
        shown = Redaction("folder", identity=made.names)
        checkpoint = start.checkpoint
        place = model.Place(
            name=" and ".join(start.names),
            checkpoint=replace(
                checkpoint,
                paths=tuple(map(shown.path, checkpoint.paths)),
                beside=tuple(map(shown.path, checkpoint.beside)),
                target=shown.path(checkpoint.target),
            ),
            run=self._next,
            continued=self.first,
            interrupted=self._next - 1 if self.asked.interrupt else None,
            command=shown.arguments(made.entry.command),
        )
        self.places.append(start)
        place = replace(place, **changes)  # type: ignore[arg-type]
        self._change(places=(*self.resume.places, place))

    def _plan(self, start: Snapshot, told: Mapping[str, object]) -> Plan:
        entry = resumed_entry(self.plan.entry, self.asked, start.checkpoint)
        return replace(self.plan, entry=entry, steps=self.asked.go_on, told=told)

    def _resumed(self, start: Snapshot, told: Mapping[str, object], *, again: bool) -> None:
        """Make a run that starts from a snapshot, at the path of the continued one."""
        made = self._plan(start, told)
        with self._attended(made, start, again=again) as (workdir, _):
            one_run(made, workdir, self._next, self.runs, self._keep)


def _values(folder: Path, number: int) -> Path:
    """Return where a run keeps what it holds, by its number."""
    return folder.absolute() / cleanup.VALUES / str(number)


def _keeping(folder: Path, asked: Asked, number: int) -> dict[str, object]:
    """Return what the recorder of a continued run is told where parts of it are to be put back."""
    if not asked.explain:
        return {}
    return {"keep": {"folder": str(_values(folder, number)), "most": MOST_KEPT}}
