"""Plan what all runs of a pair share.

Where they work, what they are given, and where their traces go.
"""

from __future__ import annotations

import os
import sys
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import Any

from reprocheck import interrupts
from reprocheck.files.summary import summary
from reprocheck.launch.entry import notebook
from reprocheck.launch.entry.entry_point import CALL
from reprocheck.launch.observer import Observer
from reprocheck.launch.run.run import Job, run_place
from reprocheck.launch.run.tail import Output
from reprocheck.launch.run.variables import (
    Under,
    added_variables,
    under_controls,
    users_environment,
)
from reprocheck.launch.workdir import cleanup
from reprocheck.launch.workdir.archive import Archive
from reprocheck.launch.workdir.interrupted_checks import make_scratch
from reprocheck.launch.workdir.user_folder import Renewed
from reprocheck.launch.workdir.workdir import Copies, InPlace, InPlaceAgain, Workdir, has_room
from reprocheck.model import EntryPoint
from reprocheck.redaction import identity
from reprocheck.settings import Settings
from reprocheck.settings.must_differ import FIRST_SEED, NONE, with_seed
from reprocheck.settings.variations import FIRST_RUN, Point, Varied, make_home, varied


@dataclass(frozen=True, kw_only=True, slots=True)
class Request:
    """Some runs to make.

    runs, steps    how many runs, and how many iterations each
    level, inside  the level of recording, from iteration `begin` on, and the module to record
    portable       whether what is recorded has hashes that any interpreter can make
    elsewhere      files outside of the working directory that earlier runs made and later ones
                   read, masked
    created        paths in the working directory that earlier runs created, nearest to the root
                   first; None for the first runs
    vary           what runs from number `varied_from` on are varied by; None: what the settings say
    point          the number of the run whose values these have, too; 0: each has its own
    arm            name of the arm of the search that the runs belong to, empty for those of the
                   check and of its deeper pairs
    numbered       whether the runs lie in `run-N`, whatever level is recorded
    told           settings for the recorder beyond those of any check
    patched        files (absolute paths), each with the file that Python is given instead
    """

    runs: int
    steps: int | None
    level: str = "loss"
    inside: str = ""
    begin: int = 1
    portable: bool = False
    created: Sequence[str] | None = None
    elsewhere: Sequence[str] = ()
    arm: str = ""
    numbered: bool = False
    told: Mapping[str, object] = field(default_factory=dict)
    patched: Mapping[Path, Path] = field(default_factory=dict)
    vary: Sequence[str] | None = None
    varied_from: int = FIRST_RUN
    point: int = 0


@dataclass(frozen=True, kw_only=True, slots=True)
class Plan(Request):
    """The runs of a request, with the settings that all of them share.

    real_folder    `folder` without links, as it was before the runs
    scratch        the folder that holds the TMPDIR of each run
    hidden         the folder in which reprocheck itself writes
    under          the controls that are on
    varied         what each varied run is varied by
    since          when the first of the runs was planned, in Unix seconds
    renewed        whether no copy of the working directory can be made, so that it is restored
                   after each run instead
    """

    entry: EntryPoint
    settings: Settings
    folder: Path
    real_folder: Path
    scratch: Path
    hidden: Path
    cwd: Path
    observer: Observer
    output: Output | None
    names: tuple[str, str, str]
    lock: Any
    since: float
    under: Under = field(default_factory=Under)
    varied: Mapping[int, Varied] = field(default_factory=dict)
    renewed: bool = False

    @property
    def copies(self) -> bool:
        """Return whether each run works in a copy of the working directory."""
        return self.settings.workdir == "copy" or (self.under.copies and not self.renewed)

    @property
    def jobs(self) -> int:
        """Return how many runs are under way in parallel.

        One, if a control needs all runs at the same path.
        """
        return 1 if self.under.copies else self.settings.jobs

    def varied_in(self, number: int) -> Varied:
        """Return what a run is varied by."""
        return self.varied.get(number, Varied())

    def varied_place(self, number: int) -> str:
        """Return the end of the names of folders that a varied run has at other paths."""
        point = self.point or number
        further = "" if point <= FIRST_RUN else "-and-further" * (point - FIRST_RUN)
        return f"-of-the-varied-run{further}"

    def moved(self, number: int) -> bool:
        """Return whether a run works in a copy at another path, because the path is varied."""
        return self.varied_in(number).has("path") and not self.copies

    def job(self, number: int, workdir: Workdir, slot: str) -> Job:
        """Run `number`; runs with the same `slot` have the same paths."""
        place = run_place(number, self.level, self.arm, begin=self.begin)
        if self.numbered:
            place = run_place(number, "loss")
        trace = self.folder / place / "trace"
        varied = self.varied_in(number)
        in_copy = self.copies or self.moved(number)
        pwd = workdir.path if in_copy else None
        if varied.has("tmpdir"):
            slot += self.varied_place(number)
        variables = self.variables(slot)
        return Job(
            number=number,
            command=self.command(workdir.path),
            environment={
                **users_environment(),
                **varied.environment,
                **self.home(varied, slot),
                **variables,
                **self.added(trace, slot, pwd),
            },
            workdir=workdir,
            tmpdir=self.scratch / f"tmp{slot}",
            folder=self.folder,
            place=place,
            hidden=self.folder / place if in_copy else self.hidden,
            names=self.names,
            steps=self.steps,
            level=self.level,
            inside=self.inside,
            begin=self.begin,
            portable=self.portable,
            controls=self.under.told(variables),
            told={**self.told, **varied.told},
            varied=varied.names,
            point=(self.point or number) if varied.names else 0,
            patched=self.replaced_in(workdir.path),
            fixed_addresses=self.under.fixed_addresses,
            timeout=self.settings.timeout,
            after_death=cleanup.command(self.folder, self.scratch, self.archive(), workdir.hold),
            output=self.output,
            since=self.since,
        )

    def command(self, workdir: Path) -> tuple[str, ...]:
        """Return the command to start in a working directory."""
        words = _command_in(self.entry, self.cwd, workdir)
        if self.settings.must_differ != NONE:
            words = with_seed(words, FIRST_SEED)
        if self.entry.kind == "script" and notebook.is_notebook(words[1]):
            return notebook.command(words, self.cwd / self.entry.command[1], self.folder)
        if words[1:3] == ("-m", CALL):
            return (*words[:-1], str(self.cwd / words[-1]))
        return words

    def added(self, trace: Path, slot: str, pwd: Path | None) -> dict[str, str]:
        """Return the environment variables of ours."""
        return added_variables(
            users_environment(),
            trace=trace,
            tmpdir=self.scratch / f"tmp{slot}",
            pwd=pwd,
            side_by_side=self.jobs > 1,
        )

    def home(self, varied: Varied, slot: str) -> dict[str, str]:
        """Return the variable of the home folder of a varied run; the folder is made anew."""
        if not varied.has("home"):
            return {}
        folder = self.scratch / f"home{slot}"
        make_home(folder, users_environment())
        return {"HOME": str(folder)}

    def variables(self, slot: str) -> dict[str, str]:
        """Return the environment variables of the controls."""
        return self.under.variables(str(self.scratch / f"tmp{slot}"))

    def replaced_in(self, workdir: Path) -> dict[str, str]:
        """Return the files that patched ones replace for Python, by their real paths.

        The user's own, and those of the working copy.
        """
        replaced: dict[str, str] = {}
        for path, new in self.patched.items():
            replaced[str(path.resolve())] = str(new)
            if path.is_relative_to(self.cwd):
                replaced[str((workdir / path.relative_to(self.cwd)).resolve())] = str(new)
        return replaced

    def workdir(self) -> Workdir:
        """Return the folder in which runs that follow each other take place."""
        if self.copies:
            return self.copy("")
        if not self.renewed:
            return self.in_place()
        self.observer.message(
            "There is no space for a copy of the working directory: these runs take place in it,"
            " and it is put back after each of them."
        )
        return Renewed(self.cwd, self.in_place)

    def in_place(self) -> InPlace:
        """Return the working directory itself, with a snapshot in the report folder."""
        leave_out, say = [self.hidden, self.folder.parent / "latest"], self.observer.message
        if self.created is None:
            return InPlace(self.archive(), leave_out=leave_out, say=say)
        place = run_place(1, self.level, self.arm, begin=self.begin).rpartition("/")[0]
        return InPlaceAgain(
            self.archive(place),
            leave_out=leave_out,
            say=say,
            created=self.created,
            elsewhere=self.elsewhere,
        )

    def archive(self, place: str = "") -> Archive:
        """Return the folders that take files of the working directory, for the runs in `place`."""
        return Archive(folder=self.real_folder, workdir=self.cwd, place=place)

    def copy(
        self, slot: str, finish: Callable[[Path], None] | None = None, *, begin: int = 1
    ) -> Copies:
        """Return a copy of the working directory in the report folder, for runs from `begin` on.

        A run behind the first one finds what that left. On the same file system where that can
        share blocks. `finish`: see `Copies`.
        """
        if self.elsewhere:
            self.observer.message(
                "Not in the copy, so these runs find what earlier ones left:"
                f" {summary(self.elsewhere)}."
            )
        return Copies(
            self.cwd,
            root=self.folder / f"{cleanup.COPY}{slot}",
            leave_out=self.not_copied() if begin == 1 else self.own_paths,
            say=self.observer.message,
            finish=finish,
        )

    @property
    def own_paths(self) -> list[Path]:
        """Return the paths of reprocheck itself."""
        return [self.hidden, self.folder.parent / "latest"]

    def not_copied(self) -> list[Path]:
        """Return the paths that are not copied.

        They are those of reprocheck, and those that did not exist before the first run.
        """
        if self.settings.workdir == "copy":
            return self.own_paths
        return [*self.own_paths, *(self.cwd / path for path in self.created or ())]


def plan(
    entry: EntryPoint,
    settings: Settings,
    folder: Path,
    observer: Observer,
    output: Output | None,
    request: Request,
    under: Under | None = None,
) -> Plan:
    """Return the plan of some runs whose report folder is `folder`.

    `scratch` is made, and is to be removed after them.

    `under` are the controls; without them those of the settings. Raises ControlError where the
    user's environment stands against a control.
    """
    cwd = Path.cwd()
    if under is None:
        user = users_environment()
        under = under_controls(settings.controls, settings.seed, override=False, user=user)
    with interrupts.waiting():  # what is made is known to the next command
        scratch = make_scratch(folder, cwd)
    made = Plan(
        **{name.name: getattr(request, name.name) for name in fields(request)},
        entry=entry,
        settings=settings,
        folder=folder,
        real_folder=folder.resolve(),
        scratch=scratch,
        hidden=folder if folder.parent == cwd or folder.parent in cwd.parents else folder.parent,
        cwd=cwd,
        observer=observer,
        output=_output(settings, output),
        names=identity(),
        lock=threading.RLock(),
        since=time.time(),
        under=under,
        varied=_varied_runs(request, settings, under),
    )
    again = request.created is not None and settings.workdir != "copy"
    moves = any(one.has("path") for one in made.varied.values())
    if moves and not has_room(cwd, made.not_copied(), folder):
        in_place = {run: one.without("path", "no space") for run, one in made.varied.items()}
        made = replace(made, varied=in_place)
    return replace(
        made, renewed=again and under.copies and not has_room(cwd, made.not_copied(), folder)
    )


def _varied_runs(request: Request, settings: Settings, under: Under) -> dict[int, Varied]:
    """Return what each varied run is varied by, by the number of the run."""
    names = settings.vary if request.vary is None else request.vary
    user, seed = users_environment(), settings.vary_seed or 0
    return {
        number: varied(names, user, under.names, Point(seed=seed, run=request.point or number))
        for number in range(request.varied_from, request.runs + 1)
    }


def _command_in(entry: EntryPoint, cwd: Path, workdir: Path) -> tuple[str, ...]:
    """Return the command for a copy.

    A path of the script leads into the copy if it is in the working directory, else to where it
    led.
    """
    if workdir == cwd or entry.kind != "script":
        return entry.command
    python, script, *args = entry.command
    place = Path(os.path.normpath(cwd / script))
    if not place.is_relative_to(cwd):
        script = str(place)
    elif Path(script).is_absolute():
        script = str(workdir / place.relative_to(cwd))
    return (python, script, *args)


def _output(settings: Settings, output: Output | None) -> Output | None:
    if not settings.show_output:
        return None

    def to_terminal(stream: str, data: bytes) -> None:
        target = sys.stdout if stream == "stdout" else sys.stderr
        buffer = getattr(target, "buffer", None)
        if buffer is None:
            target.write(data.decode("utf-8", "replace"))
        else:
            target.flush()
            buffer.write(data)
        target.flush()

    return output or to_terminal
