"""The further runs of a varied check.

They find the variation on which the training depends, and leave out one under which the script
fails.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from reprocheck.errors import message
from reprocheck.model.statements.check import Unfinished
from reprocheck.wording.variations import breaks, looking_for, trying
from reprocheck.workflow.escalation import keep_caveat, up_to_checks

if TYPE_CHECKING:
    from reprocheck.model import Check, RunRecord
    from reprocheck.workflow.shared import Shared

MOST_TRIALS = 24


def search(check: Check, shared: Shared) -> Check:
    """Return the check with the trials that find the guilty variation; an error is a caveat.

    Never raises, except for an interrupt.
    """
    settings, folder = shared.settings, shared.folder
    if not settings.explain or check.variations is None or check.variations.wanted is None:
        return check
    from reprocheck.workflow.replay import explained

    shared.teller.remark(looking_for(), style="bold")
    try:
        for _ in range(MOST_TRIALS):
            wanted = None if check.variations is None else check.variations.wanted
            if wanted is None or _runs_made(check) >= (settings.max_runs or MOST_TRIALS):
                break
            _trial(wanted, check, shared)
            check = explained(check, folder)
    except Exception as error:
        keep_caveat(folder, Unfinished(what="search", message=message(error)))
        check = explained(check, folder)
    finally:
        shared.teller.clear()
    return check


def without_breaking(shared: Shared) -> Shared:
    """Return the settings without the variations under which the script fails.

    A run without them becomes run 2 of the record. Where run 2 did not fail, or fails without
    variations, too, nothing is done.
    """
    from reprocheck.recording import record as records
    from reprocheck.workflow.replay import explained, judged

    folder = shared.folder
    while shared.settings.vary:
        record = records.read(folder)
        if not _only_the_varied_run_failed(record.runs):
            return shared
        check = explained(judged(folder), folder)
        found = check.variations
        while found is not None and found.wanted is not None:
            _trial(found.wanted, check, shared, steps=shared.settings.steps)
            check = explained(judged(folder), folder)
            found = check.variations
            if found is not None and found.guilty:
                break
        if found is None or not found.guilty:
            return shared
        name = found.guilty[0].name
        shared.teller.message(breaks(name))
        left = tuple(other for other in found.made if other != name)
        if not left:
            return shared
        shared = replace(shared, settings=replace(shared.settings, vary=left))
        _take_as_run_2(left, name, check, shared)
    return shared


def _only_the_varied_run_failed(runs: Sequence[RunRecord]) -> bool:
    first, *others = runs
    return first.ended_as_planned and any(run.ended == "failed" and run.varied for run in others)


def _take_as_run_2(varied: tuple[str, ...], breaking: str, check: Check, shared: Shared) -> None:
    """Put a run with other variations in the place of run 2; it is made where it was not yet."""
    from reprocheck.recording import record as records

    folder = shared.folder
    if not any(trial.varied == varied for trial in records.read(folder).trials):
        _trial(varied, check, shared, steps=shared.settings.steps)
    record = records.read(folder)
    trial = next(trial for trial in record.trials if trial.varied == varied)
    second = replace(trial.runs[0], number=2)
    records.write(
        folder,
        replace(
            record,
            runs=(record.runs[0], second),
            trials=(),
            not_varied=(*record.not_varied, (breaking, "breaks")),
        ),
    )


def _runs_made(check: Check) -> int:
    return sum(len(trial.runs) for trial in check.record.trials)


def _trial(varied: tuple[str, ...], check: Check, shared: Shared, *, steps: int | None = 0) -> None:
    """Make the runs of a trial.

    steps  how many iterations; 0: as many as the two checks need
    """
    from reprocheck import launch
    from reprocheck.recording import record as records

    settings, teller = shared.settings, shared.teller
    number = len(records.read(shared.folder).trials) + 1
    short = varied[0] if len(varied) == 1 else f"{len(varied)}-variations"
    teller.arm(*trying(varied))
    if steps == 0:
        needed = check.verdict.bitwise.first_iteration or 0
        steps = settings.steps if check.state_left else up_to_checks(check, settings, needed)
    launch.record_trial(
        *(shared.entry, settings, shared.folder, teller),
        name=f"vary-{number}-{short if varied else 'as-is'}",
        varied=varied,
        point=check.differing_run.record.point,
        steps=steps,
        output=teller.output,
    )
