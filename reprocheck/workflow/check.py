"""The steps of a check: runs, verdict, deeper runs, search and reports.

Every command and the Python API use these functions.
"""

from __future__ import annotations

from contextlib import AbstractContextManager
from dataclasses import replace
from functools import partial
from pathlib import Path
from secrets import randbelow
from typing import TYPE_CHECKING

from reprocheck.errors import ReprocheckError
from reprocheck.settings.must_differ import NONE
from reprocheck.settings.variations import FIRST_RUN
from reprocheck.workflow.shared import Shared

if TYPE_CHECKING:
    from reprocheck.launch.observer import Teller
    from reprocheck.launch.run.further_runs import Level
    from reprocheck.model import Check, EntryPoint
    from reprocheck.settings import Draw, Settings


NEW_SEEDS = 10**6
"""A new seed of variations is below it: short enough to be typed."""


def checked(
    entry: EntryPoint,
    settings: Settings,
    folder: Path,
    teller: Teller,
    *,
    search: bool = False,
    values: bool = False,
) -> Check:
    """Run the command, judge the runs, and explain a difference as far as the settings ask for it.

    folder  the report folder that the runs are recorded into
    search  whether controls are tried until the cause is confirmed
    values  whether the input tensors of the first differing operation are recorded

    Nothing more is recorded into `folder` afterwards. After KeyboardInterrupt, `folder` holds what
    was recorded so far.
    """
    from reprocheck import launch

    if settings.vary and settings.vary_seed is None and settings.runs > FIRST_RUN:
        settings = replace(settings, vary_seed=randbelow(NEW_SEEDS))
    enough = partial(_nothing_to_compare, folder, teller)
    with _alone(settings, teller):
        launch.check(entry, settings, folder, teller, output=teller.output, enough=enough)
        shared = Shared(entry=entry, settings=settings, folder=folder, teller=teller)
        if settings.vary:
            from reprocheck.workflow import variation_search

            shared = variation_search.without_breaking(shared)
            settings = shared.settings
        if settings.must_differ != NONE:
            from reprocheck.workflow import seed_effect

            seed_effect.measure(entry, settings, folder, teller)
        # loaded here, so that the first run need not wait for it
        from reprocheck.recording import record
        from reprocheck.wording import progress, told
        from reprocheck.workflow import replay
        from reprocheck.workflow.escalation import escalate, with_operands
        from reprocheck.workflow.proof import searched

        teller.clear()
        teller.status(progress.comparing())
        if search:
            record.write(folder, replace(record.read(folder), searched=True))
        found = escalate(replay.judged(folder), entry, settings, folder, teller)
        if settings.vary:
            found = variation_search.search(found, shared)
        if values:
            found = with_operands(found, entry, settings, folder, teller)
        if search:
            found = searched(found, entry, settings, folder, teller)
    replay.close(folder)
    return told(found)


def _nothing_to_compare(folder: Path, teller: Teller) -> bool:
    from reprocheck.workflow import replay

    return replay.nothing_to_compare(folder, teller)


def _alone(settings: Settings, teller: Teller) -> AbstractContextManager[None]:
    """Return a context without another check in the folder, unless both use copies."""
    from reprocheck import launch

    def waits() -> None:
        from reprocheck.wording import progress

        teller.message(progress.waits_for_another_check())

    return launch.alone_in(Path.cwd(), shared=settings.workdir == "copy", waits=waits)


def recorded(
    entry: EntryPoint, settings: Settings, folder: Path, teller: Teller, *, deep: int = 0
) -> Check:
    """Record one side of a comparison in `folder`.

    The runs, one run more at each wanted deeper level of recording, and the user's files.

    deep  iterations that are recorded deeply, where that is more than the checks need
    """
    from reprocheck.wording import told

    with _alone(settings, teller):
        return told(_recorded(entry, settings, folder, teller, deep))


def _recorded(
    entry: EntryPoint, settings: Settings, folder: Path, teller: Teller, deep: int
) -> Check:
    from reprocheck import launch
    from reprocheck.causes.usercode import keep_sources
    from reprocheck.model.statements.check import Unfinished
    from reprocheck.workflow import replay
    from reprocheck.workflow.escalation import keep_caveat, up_to_checks
    from reprocheck.workflow.recorded_pair import recorded_deeply

    launch.check(entry, settings, folder, teller, output=teller.output, portable=True)
    teller.clear()
    check = replay.judged(folder)
    levels: list[Level] = []
    wants_modules = settings.explain or settings.asks_for_modules
    if wants_modules and min(map(recorded_deeply, check.runs[:1]), default=0) < max(deep, 1):
        levels.append("module")
    if settings.level == "op":
        levels.append("op")
    for level in levels if losses_of(check) else ():
        teller.half(level)
        count = up_to_checks(check, settings, deep)
        try:
            launch.record_deeper(
                entry,
                settings,
                folder,
                teller,
                level=level,
                iterations=count,
                runs=1,
                output=teller.output,
            )
        except ReprocheckError as error:
            keep_caveat(folder, Unfinished(what="half", level=level, message=error.message))
        finally:
            teller.clear()
    keep_sources(replay.with_record(check, folder), folder)
    return check


def losses_of(check: Check) -> int:
    """Return how many losses all ranks of run 1 recorded together."""
    return sum(run.recorded_losses for run in check.runs[:1])


def written(check: Check, folder: Path, draw: Draw) -> ReprocheckError | None:
    """Write the reports into `folder`, those that the setting `draw` asks for.

    Returns the error if a report could not be written: the verdict stands without it.
    """
    from reprocheck import report

    try:
        report.write(check, folder, report.names(check, draw))
    except ReprocheckError as error:
        return error
    return None
