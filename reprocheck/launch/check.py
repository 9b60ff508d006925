"""Run an entry point N times, into one record.

`check` is what `reprocheck run` does between reading its settings and judging.
"""

from __future__ import annotations

import contextlib
import os
import shutil
from collections.abc import Iterable, Mapping
from dataclasses import replace
from datetime import UTC, datetime
from itertools import starmap
from pathlib import Path

from reprocheck._version import __version__
from reprocheck.errors import ReportError, UsageError
from reprocheck.files.summary import summary
from reprocheck.launch.folder import discard, publish
from reprocheck.launch.observer import Observer
from reprocheck.launch.run import environment
from reprocheck.launch.run.environment import accelerators
from reprocheck.launch.run.further_runs import made_elsewhere, watching_seeds
from reprocheck.launch.run.plan import Plan, Request, plan
from reprocheck.launch.run.runs import Enough, record_runs
from reprocheck.launch.run.tail import Output
from reprocheck.launch.run.variables import WAIT_POLICY, users_environment
from reprocheck.launch.workdir import snapshot
from reprocheck.launch.workdir.archive import ARCHIVES
from reprocheck.launch.workdir.changed_files import MOST_NAMED, real
from reprocheck.launch.workdir.file_events import read_events
from reprocheck.launch.workdir.operation import operation
from reprocheck.launch.workdir.tree import refuse_wide_folder
from reprocheck.model import CheckRecord, EntryPoint, RunRecord
from reprocheck.model.record import CHANGES
from reprocheck.recording import record
from reprocheck.redaction import Redaction, redacted
from reprocheck.settings import Settings
from reprocheck.settings.must_differ import NONE
from reprocheck.settings.variations import FIRST_RUN

MOST_LOOKED_AT = 20
"""Report folders, the newest first."""

MOST_FILES = 200
SLACK = 2.0
"""Seconds after the end of a check's last run within which a file may still have been written by
it.
"""


def checks_beside(folder: Path, name: str) -> dict[Path, CheckRecord]:
    """Return the folders and records of other checks of this name, the newest first.

    Folders that cannot be read are left out.
    """
    others = (one for one in folder.parent.glob(f"{name}-*") if one != folder and one.is_dir())
    records = {}
    for other in sorted(others, reverse=True)[:MOST_LOOKED_AT]:
        with contextlib.suppress(ReportError):
            records[other] = record.read(other)
    return records


def left_in(cwd: Path, checks: Mapping[Path, CheckRecord]) -> dict[str, str]:
    """Return files of the working directory that earlier checks made there -> when the check began.

    A cache that the run which made it read before it trained does not count, because all runs start
    alike from it.
    """
    files_left: dict[str, str] = {}
    for other, known in checks.items():
        each = [run.files for run in known.runs if not run.files.copied]
        created = {path for files in each for path in files.created}
        made = created - {path for files in each for path in files.unseen}
        if made:
            made -= read_events(other.glob("run-1/trace/*.jsonl")).early
        until = max((_ended(run) for run in known.runs), default=0.0) + SLACK
        left = (path for path in sorted(made) if _written_until(cwd / path, until))
        files_left = {**dict.fromkeys(left, known.started), **files_left}
    return dict(list(files_left.items())[:MOST_FILES])


def _ended(run: RunRecord) -> float:
    if not run.started:
        return 0.0
    return datetime.fromisoformat(run.started).timestamp() + run.seconds


def _written_until(path: Path, until: float) -> bool:
    """Return whether a file is there, and was last written to by then."""
    try:
        return path.is_file() and path.stat().st_mtime <= until
    except OSError:
        return False


def found_by_all(entry: EntryPoint, checks: Iterable[CheckRecord]) -> tuple[str, ...]:
    """Return caveats on files that earlier checks of `entry` left for each run to find.

    They are masked as in a record.
    """
    same = (one for one in checks if one.entry_point.command == entry.command)
    left = {path for one in same for path in made_elsewhere(one.runs) if real(path).is_file()}
    if not left:
        return ()
    named = summary(sorted(left), MOST_NAMED)
    return (
        (
            f"Each run finds what an earlier check of this command left: {named}. In that check,"
            " run 1 made it and a later run read it. Where these runs read it, this check says"
            " nothing of a start without it: remove it first."
        ),
    )


def check(
    entry: EntryPoint,
    settings: Settings,
    folder: Path,
    observer: Observer,
    *,
    output: Output | None = None,
    enough: Enough | None = None,
    portable: bool = False,
) -> CheckRecord:
    """Run `entry` `settings.runs` times and return the record.

    It also lies in `folder` (made by `prepare`) after each run.

    `output` takes what the runs print with `--show-output`; by default it goes to stdout and
    stderr. `portable`: what is recorded deeply has hashes that any interpreter can make. `enough`
    is asked after each run whether the others would say nothing more.
    Afterwards nothing that was started is alive and the user's files are as they were, whatever
    happens. KeyboardInterrupt (also for SIGTERM and SIGHUP) is raised again once that is so. Raises
    UsageError, ReportError, EntryPointError; if nothing was run, the folder is gone.
    """
    folder = folder.absolute()
    try:
        _refuse(settings)
        refuse_wide_folder(Path.cwd(), entry)
        with operation("preparing the runs"):
            folder.mkdir(parents=True, exist_ok=True)
            request = Request(
                runs=settings.runs,
                steps=settings.steps,
                level=settings.level_of_runs,
                portable=portable,
                told=watching_seeds() if settings.must_differ != NONE else {},
            )
            made = plan(entry, settings, folder, observer, output, request)
            try:
                empty = record_of(made)
            except BaseException:
                shutil.rmtree(made.scratch, ignore_errors=True)
                raise
        with operation("keeping what was recorded"):
            return _check(made, empty, enough)
    except (UsageError, KeyboardInterrupt):
        _remove_empty(folder)
        raise
    finally:
        if folder.is_dir():
            publish(folder, settings.keep)


def _check(made: Plan, empty: CheckRecord, enough: Enough | None) -> CheckRecord:
    def keep(runs: tuple[RunRecord, ...]) -> None:
        record.write(made.folder, replace(empty, runs=runs))

    return replace(empty, runs=record_runs(made, keep, enough))


def record_of(made: Plan) -> CheckRecord:
    """Return the record of a check of which nothing was run yet. Names and secrets are masked."""
    redaction = Redaction("folder", identity=made.names)
    command = redaction.arguments(made.entry.command)
    added = made.added(made.folder / "run-1" / "trace", "", made.cwd if made.copies else None)
    settings = tuple(redacted(item, redaction) for item in made.settings.provenance)
    facts = dict(filter(None, starmap(redaction.fact, environment.facts(made.cwd).items())))
    entry = replace(made.entry, command=command)
    earlier = checks_beside(made.folder, entry.name)
    changed = [CHANGES["variables"].format(names=", ".join(added)), CHANGES["no input"]]
    if made.settings.workdir == "copy":
        changed.append(CHANGES["copies"])
    if made.jobs > 1:
        changed.append(CHANGES["side by side"].format(jobs=made.jobs))
    if WAIT_POLICY in added:
        changed.append(CHANGES["waiting"].format(name=WAIT_POLICY))
    return CheckRecord(
        vary_seed=made.settings.vary_seed or 0,
        not_varied=made.varied_in(FIRST_RUN).left_out,
        reprocheck_version=__version__,
        entry_point=entry,
        started=datetime.now(UTC).isoformat(timespec="seconds"),
        tolerance=made.settings.tolerance,
        settings=settings,
        runs=(),
        environment=facts,
        masked=redaction.counts.total(),
        changed_to_observe=tuple(changed),
        caveats=found_by_all(entry, earlier.values()),
        earlier=left_in(made.cwd, earlier),
        controls=made.under.names,
    )


def _refuse(settings: Settings) -> None:
    """Raise UsageError for runs side by side that would disturb each other."""
    if settings.jobs == 1:
        return
    if settings.workdir != "copy":
        raise UsageError(
            "--jobs runs the script side by side in one working directory.", "Add --workdir copy."
        )
    devices = accelerators(users_environment())
    if devices and not settings.jobs_on_accelerator:
        raise UsageError(
            f"--jobs {settings.jobs} would run the script side by side on an accelerator"
            f" ({summary(devices)}), which can change its results.",
            "Leave --jobs at 1, hide the device from the script (CUDA_VISIBLE_DEVICES=-1, for"
            " example), or add --jobs-on-accelerator.",
        )


def _remove_empty(folder: Path) -> None:
    """Remove the folder of a check that holds nothing worth keeping.

    Nothing of a run, no file of the user, and nothing that cannot be looked at.
    """
    if not all(
        os.access(path, os.R_OK | os.X_OK)
        for path in (folder, *folder.glob("run-*"), *folder.glob("run-*/trace"))
    ):
        return
    logs = [path for path in folder.glob("run-*/*.log") if path.stat().st_size]
    has_files = any((folder / name).exists() for name in (snapshot.STORE, *ARCHIVES))
    if not logs and not any(folder.glob("run-*/trace/*.jsonl")) and not has_files:
        discard(folder)
