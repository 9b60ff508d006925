"""The search for the cause: runs under controls until one set of them is known to remove the
difference, and a patch that is tried.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from reprocheck.errors import message

if TYPE_CHECKING:
    from reprocheck.model import Check, EntryPoint
    from reprocheck.search.asked import Question
    from reprocheck.settings import Settings
    from reprocheck.workflow.stopwatch import Stopwatch
    from reprocheck.workflow.teller import Teller

MOST_ARMS = 60
"""Arms of one search at most: more than any search by halves takes."""


def searched(
    check: Check,
    entry: EntryPoint,
    settings: Settings,
    folder: Path,
    teller: Teller,
    watch: Stopwatch,
) -> Check:
    """The check with what a search over controls says of it.

    What goes wrong becomes a caveat; an interrupt keeps what was recorded.

    watch  hears of the runs, and has the times of their iterations
    """
    from reprocheck.recording import record
    from reprocheck.search.confirm import question
    from reprocheck.workflow.escalation import keep_caveat, wanted
    from reprocheck.workflow.repair import repair

    if not wanted(check, settings):
        teller.remark(_nothing_to_search(check), style="bold")
        return check
    watch.keep_as_is(folder)
    try:
        for number in range(1, MOST_ARMS + 1):
            check = replace(check, record=record.read(folder))
            asked = question(check, folder)
            if asked is None:
                break
            _record(asked, number, check, entry, settings, folder, teller, watch)
        repair(_again(folder), entry, settings, folder, teller, watch)
    except Exception as error:
        keep_caveat(folder, f"The search for the cause ended early: {message(error)}")
    finally:
        teller.clear()
    return _again(folder)


def _record(
    question: Question,
    number: int,
    check: Check,
    entry: EntryPoint,
    settings: Settings,
    folder: Path,
    teller: Teller,
    watch: Stopwatch,
) -> None:
    """The runs that a question asks for, beside those that there are already."""
    from reprocheck import launch
    from reprocheck.search.length import most_runs

    enough = partial(_decided, check, folder, question.controls) if question.controls else None
    names = (*check.record.controls, *question.controls)
    made = sum(
        len(arm.runs)
        for arm in check.record.arms
        if set(arm.controls) == set(names) and not arm.patched
    )
    teller.arm(" + ".join(question.controls) or "as it is", question.why, most_runs(check, folder))
    name = f"{number}-{_short(question.controls)}"
    launch.record_arm(
        *(entry, settings, folder, watch),
        name=name,
        controls=names,
        seed=settings.seed,
        runs=max(1, question.runs - made),
        steps=settings.steps,
        why=question.why,
        output=teller.output,
        enough=enough,
    )
    watch.keep_arm(folder, name)


def _decided(check: Check, folder: Path, controls: tuple[str, ...]) -> bool:
    """Whether the runs of an arm that were made by now say all that it can say."""
    from reprocheck.recording import record
    from reprocheck.search.confirm import decided

    return decided(replace(check, record=record.read(folder)), folder, controls)


def _short(controls: tuple[str, ...]) -> str:
    if not controls:
        return "as-is"
    return "+".join(controls) if len(controls) < 3 else f"{len(controls)}-controls"


def _again(folder: Path) -> Check:
    """The check with what its record says by now."""
    from reprocheck.workflow import replay

    return replay.explained(replay.judged(folder), folder)


def _nothing_to_search(check: Check) -> str:
    """Where the check passes, or says nothing."""
    from reprocheck.report import words

    found = check.verdict.bitwise
    if check.verdict.exit_code != 0:
        return "No losses that differ were recorded, so no control can be tried."
    if found.equal is not False:
        return (
            "No difference was seen: there is nothing to explain. `--runs N` looks for one that"
            " is intermittent."
        )
    if found.one_is_longer:
        missing = f"iteration {found.first_iteration:,} is missing in the other"
        return f"No loss that both runs recorded differs, but one run is longer: {missing}."
    _, where = words.bitwise(check)
    return (
        f"The checks pass, but the losses are not equal in every bit: {where}."
        f" `{words.bitwise_search(check)}` searches for the cause."
    )
