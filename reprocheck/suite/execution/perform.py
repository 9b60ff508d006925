"""One job in a process tree of its own: started, waited for, ended, and its report put in place.

The report is written into a folder beside its place, and moved there in one step once all that
belongs to it is there. So what stands at its place is whole, also where this process is killed: the
next one reads it (`left_by`), or starts the job anew.
"""

from __future__ import annotations

import io
import os
import shutil
import subprocess
import sys
import tempfile
import time
import zipfile
from collections.abc import Iterator
from contextlib import ExitStack, suppress
from pathlib import Path

import msgspec

from reprocheck.errors import ReportError, ReprocheckError
from reprocheck.redaction import identity, mask_log
from reprocheck.suite.execution.claims import NOTHING, Claim
from reprocheck.suite.execution.job import Job, Performed, command_words
from reprocheck.suite.execution.own_files import digest_of_files
from reprocheck.suite.surface import GuardedProcess, holds_user_files, put_back

NOTE = "suite.json"
"""In the folder of a report: what `Performed` has beside the job."""
STDOUT, STDERR = "suite-stdout.log", "suite-stderr.log"
"""In the folder of a report: what `reprocheck run` printed."""
ROOM = 1 << 20
"""Bytes that must be free before a check begins."""


class UnderWay:
    """Run a job that was started; a context manager at whose end no process of the job is alive.

    `claim`: the locks of the job, held by its processes even if this process is killed.

    Raises ReportError if the job's folder cannot be written.
    """

    def __init__(self, job: Job, claim: Claim) -> None:
        self.job = job
        self._claim = claim
        self.started = time.time()
        self._clock = time.monotonic()
        self._work = _work_folder(job)
        self._commit = commit_of(job.target.workdir)
        self._files = digest_of_files(job.target)
        self._error = ""
        self._closing = ExitStack()
        self._process = self._guarded()

    def _guarded(self) -> GuardedProcess | None:
        if not self.job.target.workdir.is_dir():
            self._error = f"There is no folder {self.job.target.workdir}."
            return None
        _put_back_of_killed(self.job, self._work)
        # -P: no module of the working directory stands in for one of ours
        command = (sys.executable, "-P", "-m", "reprocheck", *command_words(self.job, self._work))
        process = GuardedProcess(
            command,
            cwd=self.job.target.workdir,
            environment={**os.environ, **self.job.target.environment, **self.job.environment},
            stdout=self._work / STDOUT,
            stderr=self._work / STDERR,
            held=self._claim.descriptors,
        )
        return self._closing.enter_context(process)

    def wait(self, seconds: float) -> bool:
        """Wait at most this many seconds; return True once all processes of the job have ended."""
        if self._process is None:
            return True
        try:
            return self._process.wait(seconds)
        except ReprocheckError as error:
            self._error = error.message
            return True

    def end(self) -> None:
        """Ask all processes of the job to end; `wait` returns True once they have ended."""
        if self._process is not None:
            self._process.end()

    def performed(self) -> Performed:
        """Return the result of the job, once it has ended, and move its report to its place.

        Raises ReportError if the report cannot be moved, or if the check failed on a full disk: its
        result then says nothing about the target, and the check has to be repeated.
        """
        status = None
        if self._process is not None:
            status = self._process.exit_status
        _put_back_of_killed(self.job, self._work)
        if status != 0:
            _need_room(self._work)
        performed = Performed(
            job=self.job,
            started=self.started,
            seconds=time.monotonic() - self._clock,
            exit_status=status,
            commit=self._commit,
            files=self._files,
            error=self._error,
        )
        _put_in_place(performed, self._work)
        return performed

    def __enter__(self) -> UnderWay:
        return self

    def __exit__(self, *raised: object) -> None:
        self.close()

    def close(self) -> None:
        """End the processes of the job that are still alive."""
        self._closing.close()


def perform(job: Job, claim: Claim = NOTHING) -> Performed:
    """Start the job and wait for it. Raises ReportError if its folder cannot be written."""
    with UnderWay(job, claim) as under_way:
        while not under_way.wait(1.0):
            pass
        return under_way.performed()


def left_by(job: Job) -> Performed | None:
    """Return the result of a job whose report stands at its place; None if there is no report."""
    try:
        note = msgspec.json.decode((job.folder / NOTE).read_bytes(), type=_Note)
    except (OSError, msgspec.MsgspecError):
        return None
    return Performed(job=job, **msgspec.structs.asdict(note))


class _Note(msgspec.Struct, kw_only=True, frozen=True):
    """Hold the content of `suite.json`: a Performed without its job."""

    started: float
    seconds: float
    exit_status: int | None
    commit: str
    files: str = ""
    error: str


def _work_folder(job: Job) -> Path:
    """Return a new folder beside the place of the report.

    Raises ReportError if the folder cannot be made, or the disk is full.
    """
    beside = job.folder.parent
    try:
        beside.mkdir(parents=True, exist_ok=True)
        work = Path(tempfile.mkdtemp(prefix=f".{job.folder.name}-", dir=beside))
    except OSError as error:
        raise _no_place(beside, error) from None
    _need_room(work)
    return work


def _need_room(work: Path) -> None:
    """Raise ReportError, and remove the folder, if its disk is full."""
    probe = work / ".probe"
    try:
        probe.write_bytes(bytes(ROOM))
        probe.unlink()
    except OSError as error:
        _remove(work)
        raise _no_place(work.parent, error) from None


def _no_place(folder: Path, error: OSError) -> ReportError:
    return ReportError(
        f"{folder} cannot be written: {error.strerror or error}.",
        'Make room, or name another folder: folder = "..." in [tool.reprocheck.suite].',
    )


def _put_in_place(performed: Performed, work: Path) -> None:
    """Move the report of a job to its place.

    Remnants of this job and of killed attempts are removed first, because nobody repeats an attempt
    whose report is in place.
    """
    job = performed.job
    report = _report_in(work)
    note = _Note(
        started=performed.started,
        seconds=performed.seconds,
        exit_status=performed.exit_status,
        commit=performed.commit,
        files=performed.files,
        error=job.redaction.text(performed.error),
    )
    try:
        for name in (STDOUT, STDERR):
            mask_log(work / name, identity(), job.secrets)
        if report != work:
            for name in (STDOUT, STDERR, "recording.zip"):
                if (work / name).exists():
                    (work / name).replace(report / name)
        (report / NOTE).write_bytes(msgspec.json.format(msgspec.json.encode(note)))
        ready = work.with_name(f"{work.name}-ready")
        report.rename(ready)
        for left in _attempts(job):
            if left != ready:
                _remove(left)
        ready.rename(job.folder)
    except OSError as error:
        raise _unwritable(job, error) from None


def _report_in(work: Path) -> Path:
    """Return the report folder inside a work folder; the work folder itself if there is none."""
    found = (record.parent for record in work.glob("*/record.json"))
    return next((folder for folder in found if not folder.is_symlink()), work)


def _put_back_of_killed(job: Job, work: Path) -> None:
    """Restore the user's files that killed checks could not restore themselves.

    They are those of this check, or of one of a killed night. A note is appended to the stderr of
    the check.
    """
    report = _report_in(work)
    workdir = job.target.workdir.resolve()
    sentences: list[str] = []
    for place in _attempts(job):
        sentences += put_back(place, workdir, moved=(report, job.folder))
    if sentences:
        with suppress(OSError), (work / STDERR).open("a", encoding="utf-8") as file:
            file.writelines(f"{sentence}\n" for sentence in sentences)


def _attempts(job: Job) -> Iterator[Path]:
    """Yield the work folders of this attempt of a job, including those of killed processes."""
    return job.folder.parent.glob(f".{job.folder.name}-*")


def _remove(work: Path) -> None:
    """Remove the work folder of a job.

    It stays if it holds files of the user that exist nowhere else.
    """
    if not holds_user_files(work):
        shutil.rmtree(work, ignore_errors=True)


def packed(job: Job) -> bytes:
    """Return the report folder of a job that has ended, as a zip."""
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w", zipfile.ZIP_DEFLATED, strict_timestamps=False) as archive:
        for path in sorted(job.folder.rglob("*")):
            if path.is_file() or path.is_dir():
                archive.write(path, path.relative_to(job.folder))
    return data.getvalue()


def unpacked(data: bytes, job: Job) -> Performed:
    """Return the result of a job that ran on another machine, and put its report in place here.

    Raises ReportError if the report cannot be written, or the zip holds no such report.
    """
    work = _work_folder(job)
    report = work / "report"
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            archive.extractall(report)
        report.rename(job.folder)
    except OSError as error:
        raise _unwritable(job, error) from None
    finally:
        shutil.rmtree(work, ignore_errors=True)
    performed = left_by(job)
    if performed is None:
        raise ReportError(f"{job.folder} holds no report of a check.", "Remove it.")
    return performed


def _unwritable(job: Job, error: OSError) -> ReportError:
    return ReportError(
        f"{job.folder} cannot be written: {error.strerror or error}.", "Make room on its disk."
    )


def tail(folder: Path, lines: int = 12) -> str:
    """Return the last lines that `reprocheck run` wrote to stderr; "" if it wrote none."""
    with suppress(OSError):
        text = (folder / STDERR).read_bytes()[-8192:].decode("utf-8", "replace")
        return "\n".join(text.strip().splitlines()[-lines:])
    return ""


def commit_of(folder: Path) -> str:
    """Return the commit of a folder: 40 digits.

    They end in `+` where tracked files are modified; "" where there is no git or no commit.
    """
    head = _git(folder, "rev-parse", "--verify", "--quiet", "HEAD")
    if not head:
        return ""
    changed = _git(folder, "status", "--porcelain", "--untracked-files=no")
    return f"{head}+" if changed else head


def commits_of(file: Path, since: str) -> tuple[str, ...]:
    """Return the commits since another one that change a file, the newest first.

    `4cc649203e93 Smoother labels`; none where that is not known.

    since  a commit as `commit_of` returns it
    """
    if not since:
        return ()
    span = f"{since.rstrip('+')}..HEAD"
    words = ("log", "--abbrev=12", "--format=%h %s", span, "--", file.name)
    found = _git(file.parent, *words).splitlines()
    if _git(file.parent, "status", "--porcelain", "--untracked-files=no", "--", file.name):
        found.insert(0, "changes that are not committed")
    return tuple(found)


def is_as_in(file: Path, commit: str) -> bool:
    """Return whether a file is known to be as it was in a commit, as `commit_of` returns it.

    A commit with changes beside it tells nothing, and neither does one that git does not have.
    """
    if not commit:
        return False
    then = _git(file.parent, "rev-parse", "--verify", "--quiet", f"{commit}:./{file.name}")
    return bool(then) and then == _git(file.parent, "hash-object", "--", file.name)


def _git(folder: Path, *words: str) -> str:
    """Return what git prints; "" if it fails.

    Git takes no lock, because the user may commit meanwhile.
    """
    try:
        done = subprocess.run(
            ["git", "--no-optional-locks", "-C", str(folder), *words],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            check=True,
        )
    except (OSError, subprocess.SubprocessError):
        return ""
    return done.stdout.decode("utf-8", "replace").strip()
