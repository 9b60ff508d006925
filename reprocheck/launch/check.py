"""N runs of an entry point, one record: `check` is what `reprocheck run` does between reading its settings and judging."""

from __future__ import annotations

import os
import shutil
import signal
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, cast

from reprocheck import __version__, record
from reprocheck.child.reprocheck_child.masking import identity, mask
from reprocheck.errors import ReportError, UsageError
from reprocheck.launch import cleanup, environment, snapshot
from reprocheck.launch.devices import accelerators
from reprocheck.launch.folder import FIX, publish
from reprocheck.launch.observer import Observer
from reprocheck.launch.run import Job, run
from reprocheck.launch.tail import Output
from reprocheck.launch.variables import WAIT_POLICY, added_variables, users_environment
from reprocheck.launch.workdir import Copies, InPlace, Workdir
from reprocheck.model import CheckRecord, EntryPoint, RunRecord
from reprocheck.settings import Settings


def check(entry: EntryPoint, settings: Settings, folder: Path, observer: Observer, *, output: Output | None = None) -> CheckRecord:
    """Runs `entry` `settings.runs` times and returns the record, which also lies in `folder` (made by `prepare`) after each run.

    `output` takes what the runs print with `--show-output`; by default it goes to stdout and stderr.
    Afterwards nothing that was started is alive and the user's files are as they were, whatever happens. KeyboardInterrupt (also for
    SIGTERM and SIGHUP) is raised again once that is so. Raises UsageError, ReportError, EntryPointError; if nothing was
    run, the folder is gone.
    """
    folder = folder.absolute()
    try:
        _refuse(settings)
        folder.mkdir(parents=True, exist_ok=True)
        return _check(_plan(entry, settings, folder, observer, _output(settings, output)))
    except UsageError:
        _remove_empty(folder)
        raise
    except OSError as error:
        _remove_empty(folder)
        raise ReportError(f"The report cannot be written to {folder}: {error.strerror or error}.", FIX) from None
    finally:
        if folder.is_dir():
            publish(folder, settings.keep)


def _check(plan: _Plan) -> CheckRecord:
    try:
        record.write(plan.folder, plan.record)
        with _signals_interrupt():
            runs = _in_turn(plan) if plan.settings.jobs == 1 else _side_by_side(plan)
        return replace(plan.record, runs=tuple(runs))
    finally:
        shutil.rmtree(plan.scratch, ignore_errors=True)


def _refuse(settings: Settings) -> None:
    """UsageError for runs side by side that would disturb each other."""
    if settings.jobs == 1:
        return
    if settings.workdir != "copy":
        raise UsageError("--jobs runs the script side by side in one working directory.", "Add --workdir copy.")
    found = accelerators(users_environment())
    if found and not settings.jobs_on_accelerator:
        raise UsageError(
            f"--jobs {settings.jobs} would run the script side by side on an accelerator ({snapshot.summary(found)}), which can change its "
            "results.",
            "Leave --jobs at 1, hide the device from the script (CUDA_VISIBLE_DEVICES=-1, for example), or add --jobs-on-accelerator.",
        )


def _remove_empty(folder: Path) -> None:
    """Removes the folder of a check that holds nothing of a run and no file of the user."""
    logs = [path for path in folder.glob("run-*/*.log") if path.stat().st_size]
    if not logs and not any(folder.glob("run-*/trace/*.jsonl")) and not (folder / cleanup.SNAPSHOT).exists():
        shutil.rmtree(folder, ignore_errors=True)


# ---------------------------------------------------------------------------------------------------------------- the plan


@dataclass(frozen=True, kw_only=True, slots=True)
class _Plan:
    """What all runs of a check share. `scratch`: holds their TMPDIR. `hidden`: where reprocheck itself writes."""

    entry: EntryPoint
    settings: Settings
    folder: Path
    scratch: Path
    hidden: Path
    cwd: Path
    observer: Observer
    output: Output | None
    record: CheckRecord
    names: tuple[str, str, str]
    lock: Any

    @property
    def copies(self) -> bool:
        """Whether each run works in a copy of the working directory."""
        return self.settings.workdir == "copy"

    def job(self, number: int, workdir: Workdir, slot: str) -> Job:
        """Run `number`; runs with the same `slot` have the same paths."""
        tmpdir = self.scratch / f"tmp{slot}"
        trace = self.folder / f"run-{number}" / "trace"
        user = users_environment()
        pwd = workdir.path if self.copies else None
        added = added_variables(user, trace=trace, tmpdir=tmpdir, pwd=pwd, side_by_side=self.settings.jobs > 1)
        return Job(
            number=number,
            command=_command_in(self.entry, self.cwd, workdir.path),
            environment=user | added,
            workdir=workdir,
            tmpdir=tmpdir,
            folder=self.folder,
            hidden=trace if self.copies else self.hidden,
            names=self.names,
            steps=self.settings.steps,
            level=self.settings.level,
            timeout=self.settings.timeout,
            after_death=cleanup.command(self.folder, self.scratch),
            output=self.output,
        )

    def in_place(self) -> InPlace:
        """The working directory itself, with a snapshot in the report folder."""
        leave_out = [self.hidden, self.folder.parent / "latest"]
        return InPlace(self.cwd, leave_out=leave_out, store=self.folder / cleanup.SNAPSHOT, say=self.observer.message)

    def copy(self, slot: str) -> Copies:
        """A copy of the working directory in the report folder, on the same file system where that can share blocks."""
        return Copies(
            self.cwd,
            path=self.folder / f"{cleanup.COPY}{slot}",
            leave_out=[self.hidden, self.folder.parent / "latest"],
            say=self.observer.message,
        )


def _plan(entry: EntryPoint, settings: Settings, folder: Path, observer: Observer, output: Output | None) -> _Plan:
    cwd = Path.cwd()
    names = identity()
    scratch = Path(tempfile.mkdtemp(prefix="reprocheck-"))
    hidden = folder if folder.parent == cwd or folder.parent in cwd.parents else folder.parent
    user = users_environment()
    pwd = cwd if settings.workdir == "copy" else None
    added = added_variables(user, trace=folder / "run-1" / "trace", tmpdir=scratch / "tmp", pwd=pwd, side_by_side=settings.jobs > 1)

    def masked(value: Any) -> Any:
        return mask(value, *names) if isinstance(value, str) else value

    facts = environment.facts(cwd)
    plain = CheckRecord(
        reprocheck_version=__version__,
        entry_point=replace(entry, command=tuple(masked(word) for word in entry.command)),
        started=datetime.now(UTC).isoformat(timespec="seconds"),
        tolerance=settings.tolerance,
        settings=tuple(replace(item, value=masked(item.value)) for item in settings.provenance),
        runs=(),
        environment={key: masked(value) for key, value in facts.items()},
        changed_to_observe=_changed(settings, added),
    )
    return _Plan(
        entry=entry,
        settings=settings,
        folder=folder,
        scratch=scratch,
        hidden=hidden,
        cwd=cwd,
        observer=observer,
        output=output,
        record=plain,
        names=names,
        lock=threading.RLock(),
    )


def _changed(settings: Settings, added: Sequence[str] | dict[str, str]) -> tuple[str, ...]:
    """What the launcher itself changes, in words."""
    found = [f"These environment variables are set for the runs: {', '.join(added)}.", "Standard input is empty."]
    if settings.workdir == "copy":
        found.append("The working directory of each run is a copy.")
    if settings.jobs > 1:
        found.append(f"Up to {settings.jobs} runs were under way side by side, in working directories of different names.")
    if WAIT_POLICY in added:
        found.append(f"{WAIT_POLICY}=passive: waiting threads of one run sleep, so that they do not slow down the other.")
    return tuple(found)


def _command_in(entry: EntryPoint, cwd: Path, workdir: Path) -> tuple[str, ...]:
    """The command; in a copy, an absolute path of the script within the working directory leads into the copy."""
    if workdir == cwd or entry.kind != "script":
        return entry.command
    python, script, *args = entry.command
    inside = Path(script).is_absolute() and Path(os.path.normpath(script)).is_relative_to(cwd)
    return (python, str(workdir / Path(os.path.normpath(script)).relative_to(cwd)) if inside else script, *args)


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


# ---------------------------------------------------------------------------------------------------------------- the runs


def _in_turn(plan: _Plan) -> list[RunRecord]:
    """The runs one after the other, in the working directory itself or in a copy at the same path."""
    runs: list[RunRecord] = []
    for left in snapshot.left_behind(plan.folder.parent, plan.cwd):
        plan.observer.message(
            f"An earlier check was killed before it could put your files back. `python -m reprocheck.launch.cleanup {left}` puts them back."
        )
    workdir: Workdir | None = None
    try:
        workdir = plan.copy("") if plan.copies else plan.in_place()
        for number in range(1, plan.settings.runs + 1):
            _one(plan, workdir, number, "", threading.Event(), runs)
    finally:
        with _signals_wait():
            workdir.close() if workdir else cleanup.clean_up(plan.folder)
    return runs


def _side_by_side(plan: _Plan) -> list[RunRecord]:
    """The runs in threads, each in a copy of its own."""
    runs: list[RunRecord] = []
    halt = threading.Event()

    def one(number: int) -> None:
        if halt.is_set():
            return
        workdir = plan.copy(f"-{number}")
        try:
            _one(plan, workdir, number, f"-{number}", halt, runs)
        finally:
            workdir.close()

    with ThreadPoolExecutor(plan.settings.jobs) as pool:
        try:
            for each in [pool.submit(one, number) for number in range(1, plan.settings.runs + 1)]:
                each.result()
        except BaseException:
            halt.set()
            raise
    return sorted(runs, key=lambda item: item.number)


def _one(plan: _Plan, workdir: Workdir, number: int, slot: str, halt: threading.Event, runs: list[RunRecord]) -> None:
    """One run, its files and its place in record.json; KeyboardInterrupt where it was broken off."""
    observer = cast(Observer, _Locked(plan.observer, plan.lock))
    workdir.begin()
    observer.run_started(number, plan.settings.runs)
    result = run(plan.job(number, workdir, slot), observer, halt)
    result = replace(result, files=workdir.end())
    with plan.lock:
        runs.append(result)
        record.write(plan.folder, replace(plan.record, runs=tuple(sorted(runs, key=lambda item: item.number))))
    observer.run_ended(result)
    if result.ended == "interrupted":
        raise KeyboardInterrupt


class _Locked:
    """An observer that hears one thing at a time."""

    def __init__(self, observer: Observer, lock: Any) -> None:
        self._observer, self._lock = observer, lock

    def __getattr__(self, name: str) -> Callable[..., None]:
        method = getattr(self._observer, name)

        def call(*arguments: object) -> None:
            with self._lock:
                method(*arguments)

        return call


@contextmanager
def _signals_interrupt() -> Iterator[None]:
    """SIGTERM and SIGHUP act as Ctrl-C while runs are under way."""
    numbers = [number for number in (signal.SIGTERM, signal.SIGHUP) if signal.getsignal(number) != signal.SIG_IGN]
    with _handled(dict.fromkeys(numbers, _interrupt)):
        yield


@contextmanager
def _signals_wait() -> Iterator[None]:
    """Nothing interrupts the putting back of the user's files."""
    with _handled(dict.fromkeys((signal.SIGINT, signal.SIGTERM, signal.SIGHUP), signal.SIG_IGN)):
        yield


@contextmanager
def _handled(handlers: dict[signal.Signals, Any]) -> Iterator[None]:
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = {number: signal.signal(number, handler) for number, handler in handlers.items()}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler if handler is not None else signal.SIG_DFL)


def _interrupt(number: int, frame: object) -> None:
    raise KeyboardInterrupt
