"""One run: from the environment it gets to the record of how it ended."""

from __future__ import annotations

import contextlib
import json
import shutil
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

from reprocheck import interrupts
from reprocheck.files.limits import NotRegularError, open_regular
from reprocheck.launch import folder_lock
from reprocheck.launch.observer import Observer
from reprocheck.launch.run.process import Ends, GuardedProcess
from reprocheck.launch.run.tail import LogTail, Output, TraceTail
from reprocheck.launch.workdir.file_events import FileEvents
from reprocheck.launch.workdir.interrupted_checks import beat
from reprocheck.launch.workdir.workdir import Workdir
from reprocheck.launch.workdir.writers import written_by
from reprocheck.model import Ended, FileChanges, RunRecord
from reprocheck.redaction import Redaction, known_secrets, mask_log

POLL = 0.1
ATTENDED = 0.001
"""Seconds between two looks at a run, and at what it waits for."""
SILENT = 60.0
LOOK_AT_FILES = 0.5
"""Seconds between two looks at what the processes of a run hold open for writing."""
STOP_WAIT = 60
"""Seconds for which a rank that has come to its stop waits for the others."""
STOP_GRACE = 10.0
"""Seconds for which the command may go on once its ranks have stopped."""
GONE_GRACE = 3.0
"""Seconds for which it may go on once they are gone, too: a launcher such as msrun waits for ranks
that leave without a word.
"""


Attend = Callable[[GuardedProcess], None]
"""Does what the processes of a run wait for."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Job:
    """The inputs of one run. `names`: home folder, user name and host name, to be masked.

    `hidden`: a folder of reprocheck, never a file of the script.

    place          folder of the run, relative to `folder`: see `run_place`
    level, inside  the level of recording, and the module to record; see
                   `docs/reference/trace-format.md`
    portable       whether to use hashes that any interpreter can compute, for a comparison with a
                   recording from another machine
    controls       settings for the recorder on the controls that are on
    told           further settings for the recorder
    attend         called with the processes each time the run is looked at: answers their requests
    varied         the variations of the run
    point          the number of the run whose values these have
    patched        real paths of files, each with that of the file that Python is given instead
    since          when the first run of the pair was planned, in Unix seconds
    """

    number: int
    command: Sequence[str]
    environment: Mapping[str, str]
    workdir: Workdir
    tmpdir: Path
    folder: Path
    place: str
    hidden: Path
    names: tuple[str, str, str]
    steps: int | None
    timeout: float | None
    level: str = "loss"
    inside: str = ""
    begin: int = 1
    portable: bool = False
    controls: Mapping[str, object] = field(default_factory=dict)
    told: Mapping[str, object] = field(default_factory=dict)
    attend: Attend | None = None
    varied: tuple[str, ...] = ()
    point: int = 0
    patched: Mapping[str, str] = field(default_factory=dict)
    fixed_addresses: bool = False
    after_death: Sequence[str] = ()
    output: Output | None = None
    since: float = 0.0

    @property
    def home(self) -> Path:
        """The folder of the run."""
        return self.folder / self.place

    @property
    def trace(self) -> Path:
        """The folder that the recorder writes to."""
        return self.home / "trace"


def run_place(number: int, level: str, arm: str = "", *, begin: int = 1) -> str:
    """Return the folder of a run, from the folder of the check on.

    `run-N`, `LEVEL/run-N` of one that was recorded again, `later/LEVEL/run-N` where that began
    behind iteration 1, `arms/NAME/run-N` in the search.
    """
    if arm:
        return f"arms/{arm}/run-{number}"
    if level in ("auto", "loss"):
        return f"run-{number}"
    place = f"{level}/run-{number}"
    if begin > 1:
        return f"later/{place}"
    return place


def run(job: Job, observer: Observer, halt: threading.Event) -> tuple[RunRecord, FileEvents]:
    """Run the command once; afterwards nothing that it started is alive, and its logs are masked.

    Also what its traces say of files.

    KeyboardInterrupt, or `halt` set by another thread, ends it with `ended="interrupted"`. Raises
    EntryPointError if it cannot be started.
    """
    _prepare(job)
    started = datetime.now(UTC)
    watch = _Watch(job, observer)
    process: GuardedProcess | None = None
    with contextlib.ExitStack() as stack:
        try:
            with interrupts.waiting():  # an interrupt must not find a process that nobody holds yet
                process = stack.enter_context(_start(job))
                stack.callback(job.workdir.secure)  # while its guard can still do it
            _follow(process, watch, halt)
        except KeyboardInterrupt:
            if process is None:
                raise
            watch.ending = "interrupted"
            _finish(process)
    watch.look(time.monotonic())
    watch.trace.close()
    logs = (job.home / "stdout.log", job.home / "stderr.log")
    known = known_secrets(job.command, job.environment)
    observer.masking(job.number)
    with interrupts.waiting():
        masked = sum(mask_log(path, job.names, known) for path in logs)
    settings = job.trace / "recorder.json"
    with contextlib.suppress(FileNotFoundError, NotADirectoryError, NotRegularError):
        with open_regular(settings) as file:
            text = file.read().decode()
        settings.write_text(Redaction("folder", identity=job.names).path(text))
    record = RunRecord(
        number=job.number,
        ended=watch.how_it_ended(process.exit_status),
        exit_status=process.exit_status,
        started=started.isoformat(timespec="seconds"),
        seconds=round(process.ended - process.started, 3),
        trace=f"{job.place}/trace",
        stdout=f"{job.place}/stdout.log",
        stderr=f"{job.place}/stderr.log",
        files=FileChanges(),
        killed=process.killed,
        gone=watch.ends.seen,
        masked=masked,
        varied=job.varied,
        point=job.point,
    )
    return record, watch.trace.files


def _start(job: Job) -> GuardedProcess:
    return GuardedProcess(
        job.command,
        cwd=job.workdir.path,
        environment=job.environment,
        stdout=job.home / "stdout.log",
        stderr=job.home / "stderr.log",
        after_death=job.after_death,
        fixed_addresses=job.fixed_addresses,
        held=(*folder_lock.held(), *job.workdir.hold.descriptors),
    )


class _Watch:
    """Watches a run from outside: its records, its output, its time, and why it must end."""

    def __init__(self, job: Job, observer: Observer) -> None:
        self.job, self.observer = job, observer
        self.ending: Ended | None = None
        self.trace = TraceTail(job.trace)
        self.logs: LogTail | None = None
        if job.output:
            self.logs = LogTail(job.home / "stdout.log", job.home / "stderr.log", job.output)
        self.start = self.grown = time.monotonic()
        self.ends = Ends(self.start)
        self.gone: float | None = None
        self.looked_at_files = 0.0
        self.spoken = 0
        self.told = 0

    def look(self, now: float) -> None:
        """Read new records and output and pass them on."""
        self.ends.look()
        self.trace.ended.update(f"{name}.jsonl" for name in self.ends.seen)
        if self.trace.look():
            self.ends.watch(self.trace.ranks)
            self.grown, self.spoken = now, 0
            self.observer.progress(
                self.job.number, self.trace.iteration, self.trace.loss, now - self.start
            )
        if self.logs:
            self.logs.look()
        if not self.trace.all_gone:
            self.gone = None
        elif self.gone is None:
            self.gone = now
        silent = now - self.grown
        if (
            silent >= SILENT * (self.spoken + 1)
            and not self.trace.stopped
            and not self.trace.all_recorded
        ):
            self.spoken += 1
            self.observer.silent(self.job.number, silent)
            self._tell_of_ranks_that_ended()

    def look_at_files(self, now: float, process: GuardedProcess) -> None:
        """Note which files are being written: programs but Python leave no trace."""
        if now - self.looked_at_files >= LOOK_AT_FILES:
            self.looked_at_files = now
            beat(self.job.folder)
            self.trace.files.written |= written_by(process.tree(), self.job.workdir.path)

    def _tell_of_ranks_that_ended(self) -> None:
        """Tell once, and again where more ranks have ended: others may wait without end."""
        ranks, ended = len(self.trace.training), len(self.trace.training & self.trace.ended)
        if self.told < ended < ranks:
            self.told = ended
            have = {1: "has"}.get(ended, "have")
            self.observer.message(
                f"Run {self.job.number}: {ended} of {ranks} ranks {have} ended; the others may be"
                " waiting for them."
            )

    def must_end(self, now: float) -> bool:
        """Return whether the run must be ended from outside.

        Its time is over, or its ranks have stopped but it goes on.
        """
        all_stopped = self.trace.all_stopped
        if self.job.timeout is not None and now - self.start >= self.job.timeout:
            self.ending = None
            if not all_stopped:
                self.ending = "timed_out"
            return True
        if self.gone is not None and now - self.gone >= GONE_GRACE:
            return True
        grace = STOP_GRACE
        if not all_stopped:  # the others wait for the slowest
            grace += STOP_WAIT
        return bool(self.trace.stopped) and now - self.grown >= grace

    def how_it_ended(self, exit_status: int | None) -> Ended:
        """Return how the run ended: `stopped` if a process stopped itself.

        Whatever its launcher made of that.
        """
        if self.ending:
            return self.ending
        if self.trace.stopped:
            return "stopped"
        if exit_status == 0:
            return "completed"
        return "failed"


def _prepare(job: Job) -> None:
    job.trace.mkdir(parents=True)
    home, user, host = job.names
    settings = {
        "steps": job.steps,
        "level": job.level,
        "inside": job.inside,
        **({"begin": job.begin} if job.begin > 1 else {}),
        **({"portable": True} if job.portable else {}),
        **({"patched": dict(job.patched)} if job.patched else {}),
        "workdir": str(job.workdir.path),
        "output": str(job.hidden),
        "since": job.since,
        **({"began": job.workdir.began} if job.workdir.began is not None else {}),
        "stop_wait": STOP_WAIT,
        "session": True,
        "mask": {"home": home, "user": user, "host": host},
        **job.controls,
        **job.told,
    }
    (job.trace / "recorder.json").write_text(json.dumps(settings))
    shutil.rmtree(job.tmpdir, ignore_errors=True)
    job.tmpdir.mkdir(parents=True, mode=0o700)
    for value in job.environment.values():
        if value.startswith(f"{job.tmpdir}/"):  # a cache that a control moved there
            Path(value).mkdir(parents=True, exist_ok=True)


def _follow(process: GuardedProcess, watch: _Watch, halt: threading.Event) -> None:
    is_ending = False
    while not _waited(process, watch, () if is_ending else watch.ends.descriptors):
        now = time.monotonic()
        watch.look(now)
        watch.look_at_files(now, process)
        # The interpreter may have lost the exception of a signal, in a callback of its own.
        if not is_ending and (halt.is_set() or interrupts.heard()):
            watch.ending = "interrupted"
        if not is_ending and process.exit_status is None and (watch.ending or watch.must_end(now)):
            is_ending = True
            watch.ends.look()
            watch.ends.close()
            process.end()


def _waited(process: GuardedProcess, watch: _Watch, also: Sequence[int]) -> bool:
    """Return the result of `process.wait(POLL, also)`, attending to requests meanwhile.

    The training is waiting for the answers.
    """
    attend = watch.job.attend
    if attend is None:
        return process.wait(POLL, also)
    until = time.monotonic() + POLL
    while (now := time.monotonic()) < until:
        if process.wait(ATTENDED, also):
            return True
        attend(process)
        if time.monotonic() < now + ATTENDED:  # one of `also` is readable
            break
    return False


def _finish(process: GuardedProcess) -> None:
    """End the tree after an interrupt; each further interrupt cuts the graces short."""
    process.end()
    while True:
        try:
            while not process.wait(POLL):
                pass
            return
        except KeyboardInterrupt:
            process.end()
