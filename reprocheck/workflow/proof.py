"""Search for the cause.

Runs under controls until a set of controls is known to remove the difference, then a trial of the
patch.
"""

from __future__ import annotations

import shlex
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING

from reprocheck.errors import message
from reprocheck.model.controls import controls_in, fixes_in
from reprocheck.model.statements.check import Unfinished
from reprocheck.workflow.shared import Shared

if TYPE_CHECKING:
    from reprocheck.launch.observer import Teller
    from reprocheck.model import Check, EntryPoint
    from reprocheck.search.request import Question
    from reprocheck.settings import Settings

MOST_ARMS = 60
"""Arms of one search at most: more than any search by halves takes."""
LEAST_ITERATIONS = 10
"""Iterations of an arm, where the check records as many: a difference that remains shows later than
the one that is searched.
"""


def searched(
    check: Check,
    entry: EntryPoint,
    settings: Settings,
    folder: Path,
    teller: Teller,
) -> Check:
    """Return the check with the result of a search over controls.

    An error becomes a caveat; after an interrupt, what was recorded is kept.
    """
    from reprocheck.report import words
    from reprocheck.search.request import target_of
    from reprocheck.wording import progress
    from reprocheck.workflow.escalation import keep_caveat, wanted
    from reprocheck.workflow.repair import repair

    if not (wanted(check, settings) or target_of(check)):
        bitwise = check.verdict.bitwise
        if bitwise.equal and check.verdict.differing_series:
            rule = f"--fail-on {shlex.quote(check.verdict.next_rule)}"
            reason = progress.series_differs(words.search_with(check, rule))
        elif check.verdict.exit_code != 0:
            reason = progress.no_losses()
        elif bitwise.equal is not False:
            reason = progress.nothing_to_explain()
        else:
            reason = progress.longer(bitwise.first_iteration)
        teller.remark(reason, style="bold")
        return check
    shared = Shared(entry=entry, settings=settings, folder=folder, teller=teller)
    try:
        _search(check, shared)
        repair(_again(folder), entry, settings, folder, teller)
    except Exception as error:
        keep_caveat(folder, Unfinished(what="search", message=message(error)))
    finally:
        teller.clear()
    return _again(folder)


def _search(check: Check, shared: Shared) -> None:
    """Run one arm after another, with no more runs than `--max-runs` allows."""
    from reprocheck.search.folder_search import question
    from reprocheck.search.length import length
    from reprocheck.wording import progress
    from reprocheck.wording.search import why
    from reprocheck.workflow.repair import runs_left, runs_made
    from reprocheck.workflow.replay import with_record

    folder = shared.folder
    for number in range(1, MOST_ARMS + 1):
        check = with_record(check, folder)
        next_question = question(check, folder)
        if next_question is None:
            break
        expected = length(check, folder)
        if number == 1:
            seconds = median(run.record.seconds for run in check.runs)
            cost = progress.cost(expected.least, expected.named, expected.most, seconds)
            shared.teller.remark(cost)
        missing = max(1, next_question.runs - _made(check, next_question))
        if next_question.reference:
            missing = 1
        if missing > runs_left(check, shared.settings):
            shared.teller.remark(progress.ends_after(runs_made(check)), style="yellow")
            break
        arm = progress.arm(next_question.controls)
        shared.teller.arm(arm, why(next_question.why), expected.most)
        _record(next_question, number, check, shared)


def _made(check: Check, question: Question) -> int:
    """Return how many of the runs that a question asks for are in the record."""
    names = {*check.record.controls, *question.controls}
    same = [
        arm for arm in check.record.arms if {*arm.controls, *arm.fixes} == names and not arm.patched
    ]
    alike = (arm for arm in same if (arm.value, arm.spared) == (question.value, question.spared))
    return sum(len(arm.runs) for arm in alike)


def _record(question: Question, number: int, check: Check, shared: Shared) -> None:
    """Make the runs that a question asks for and that are not in the record."""
    from reprocheck import launch
    from reprocheck.model import Arm
    from reprocheck.search.folder_search import FEW, decided
    from reprocheck.workflow.repair import patched_files, runs_left
    from reprocheck.workflow.replay import with_record

    settings, folder = shared.settings, shared.folder
    controls, fixes = controls_in(question.controls), fixes_in(question.controls)
    parts = [*controls, *(["fixes"] if fixes else ())]
    short = "+".join(parts) if len(parts) < 3 else f"{len(parts)}-controls"
    made = _made(check, question)
    runs = missing = max(1, question.runs - made)
    if question.controls and missing < settings.jobs:
        # with --jobs as many side by side as may be asked for next
        runs = max(missing, min(settings.jobs, FEW) - made)

    def enough() -> bool:
        """Return whether the recorded runs answer the question."""
        return decided(with_record(check, folder), folder, question)

    arm = Arm(
        name=f"{number}-{short or 'as-is'}",
        controls=(*check.record.controls, *controls),
        runs=(),
        fixes=fixes,
        reason=question.why,
        value=question.value,
        reference=question.reference,
        spared=question.spared,
    )
    launch.record_arm(
        *(shared.entry, settings, folder, shared.teller, arm),
        seed=settings.seed,
        runs=min(runs, runs_left(check, settings)),
        steps=_iterations(check, settings),
        deep=question.deep and settings.level_of_runs == "auto",
        patched=patched_files(fixes, check, shared.entry, folder) if fixes else None,
        output=shared.teller.output,
        enough=enough if question.controls else None,
    )


def _iterations(check: Check, settings: Settings) -> int | None:
    """Return how many iterations an arm records: enough to show the difference.

    It is enough for the two checks, too.

    If run 1 left files, all iterations of the check, because it is not known which iteration wrote
    them.
    """
    from reprocheck.search.request import target_of
    from reprocheck.workflow.recorded_pair import last_checked

    if check.state_left:
        return settings.steps
    verdict = check.verdict
    shown = (verdict.bitwise.first_iteration or 0, verdict.diverges_from or 0)
    needed = max(LEAST_ITERATIONS, last_checked(check), *shown)
    target = target_of(check)
    if target is not None:
        # What is reported behind an update is there for certain once the next loss is.
        needed = max(needed, target.iteration + 1)
    return min(needed, settings.steps or needed)


def _again(folder: Path) -> Check:
    """Return the check, read again from its folder."""
    from reprocheck.workflow import replay

    return replay.explained(replay.judged(folder), folder)
