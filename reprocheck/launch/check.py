"""N runs of an entry point, one record: `check` is what `reprocheck run` does between reading its
settings and judging.
"""

from __future__ import annotations

import os
import shutil
from dataclasses import replace
from datetime import UTC, datetime
from itertools import starmap
from pathlib import Path

from reprocheck._version import __version__
from reprocheck.errors import UsageError
from reprocheck.files.summary import summary
from reprocheck.launch import environment, snapshot
from reprocheck.launch.archive import ARCHIVES
from reprocheck.launch.earlier_checks import checks_beside, found_by_all, left_in
from reprocheck.launch.environment import accelerators
from reprocheck.launch.folder import discard, publish
from reprocheck.launch.observer import Observer
from reprocheck.launch.operation import operation
from reprocheck.launch.plan import Plan, plan
from reprocheck.launch.runs import Enough, record_runs
from reprocheck.launch.tail import Output
from reprocheck.launch.tree import refuse_wide_folder
from reprocheck.launch.variables import WAIT_POLICY, users_environment
from reprocheck.model import CheckRecord, EntryPoint, RunRecord
from reprocheck.model.record import CHANGES
from reprocheck.recording import record
from reprocheck.redaction import Redaction, redacted
from reprocheck.settings import Settings


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
    """Run `entry` `settings.runs` times and returns the record, which also lies in `folder` (made
    by `prepare`) after each run.

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
            made = plan(
                entry,
                settings,
                folder,
                observer,
                output,
                runs=settings.runs,
                steps=settings.steps,
                level=settings.level_of_runs,
                portable=portable,
            )
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
    """Remove the folder of a check that holds nothing of a run, no file of the user, and nothing
    that cannot be looked at.
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
