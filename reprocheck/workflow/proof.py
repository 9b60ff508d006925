"""The search for the cause: runs under controls until one set of them is known to remove the
difference, and a patch that is tried.
"""

from __future__ import annotations

import shlex
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING

from reprocheck.errors import message
from reprocheck.model.controls import controls_in, fixes_in
from reprocheck.model.statements.check import Unfinished

if TYPE_CHECKING:
    from reprocheck.launch.teller import Teller
    from reprocheck.model import Check, EntryPoint
    from reprocheck.search.request import Question
    from reprocheck.settings import Settings

MOST_ARMS = 60
"""Arms of one search at most: more than any search by halves takes."""
LEAST_ITERATIONS = 10
"""Iterations of an arm, where the check records as many: a difference that remains shows later than
the one that is searched.
"""


@dataclass(frozen=True, kw_only=True, slots=True)
class _Shared:
    """What all arms of one search share."""

    entry: EntryPoint
    settings: Settings
    folder: Path
    teller: Teller


def searched(
    check: Check,
    entry: EntryPoint,
    settings: Settings,
    folder: Path,
    teller: Teller,
) -> Check:
    """Return the check with what a search over controls says of it.

    What goes wrong becomes a caveat; an interrupt keeps what was recorded.
    """
    from reprocheck.search.target import target_of
    from reprocheck.workflow.escalation import keep_caveat, wanted
    from reprocheck.workflow.repair import repair

    if not (wanted(check, settings) or target_of(check)):
        teller.remark(_nothing_to_search(check), style="bold")
        return check
    shared = _Shared(entry=entry, settings=settings, folder=folder, teller=teller)
    try:
        _in_turn(check, shared)
        repair(_again(folder), entry, settings, folder, teller)
    except Exception as error:
        keep_caveat(folder, Unfinished(what="search", message=message(error)))
    finally:
        teller.clear()
    return _again(folder)


def _in_turn(check: Check, shared: _Shared) -> None:
    """Search, one arm after the other, in no more runs than `--max-runs` allows."""
    from reprocheck.search.folder_search import question
    from reprocheck.search.length import length
    from reprocheck.wording import progress
    from reprocheck.wording.search import why
    from reprocheck.workflow.repair import runs_made
    from reprocheck.workflow.replay import with_record

    folder = shared.folder
    for number in range(1, MOST_ARMS + 1):
        check = with_record(check, folder)
        asked = question(check, folder)
        if asked is None:
            break
        expected = length(check, folder)
        if number == 1:
            seconds = median(run.record.seconds for run in check.runs)
            cost = progress.cost(expected.least, expected.named, expected.most, seconds)
            shared.teller.remark(cost)
        if not _is_allowed(asked, check, shared.settings):
            shared.teller.remark(progress.ends_after(runs_made(check)), style="yellow")
            break
        shared.teller.arm(progress.arm(asked.controls), why(asked.why), expected.most)
        _record(asked, number, check, shared)


def _is_allowed(question: Question, check: Check, settings: Settings) -> bool:
    """Return whether `--max-runs` allows the runs that a question asks for."""
    from reprocheck.workflow.repair import runs_left

    missing = 1 if question.reference else max(1, question.runs - _made(check, question))
    return missing <= runs_left(check, settings)


def _made(check: Check, question: Question) -> int:
    """Return how many runs the record holds of those that a question asks for."""
    names = {*check.record.controls, *question.controls}
    same = [
        arm for arm in check.record.arms if {*arm.controls, *arm.fixes} == names and not arm.patched
    ]
    alike = (arm for arm in same if (arm.value, arm.spared) == (question.value, question.spared))
    return sum(len(arm.runs) for arm in alike)


def _record(question: Question, number: int, check: Check, shared: _Shared) -> None:
    """Make the runs that a question asks for, beside those that there are already."""
    from reprocheck import launch
    from reprocheck.workflow.repair import patched_files, runs_left

    settings, folder = shared.settings, shared.folder
    enough = partial(_decided, check, folder, question) if question.controls else None
    names = (*check.record.controls, *controls_in(question.controls))
    fixes = fixes_in(question.controls)
    made = _made(check, question)
    name = f"{number}-{_short(question.controls)}"
    launch.record_arm(
        *(shared.entry, settings, folder, shared.teller),
        name=name,
        controls=names,
        seed=settings.seed,
        runs=min(_at_once(question, made, settings.jobs), runs_left(check, settings)),
        steps=_iterations(check, settings),
        reason=question.why,
        value=question.value,
        reference=question.reference,
        spared=question.spared,
        fixes=fixes,
        deep=question.deep and settings.level_of_runs == "auto",
        patched=patched_files(fixes, check, shared.entry, folder) if fixes else None,
        output=shared.teller.output,
        enough=enough,
    )


def _iterations(check: Check, settings: Settings) -> int | None:
    """Return how many iterations an arm records: those that show the difference, and as many as the
    check does by default; all of the check where run 1 left files, which it wrote somewhere on its
    way.
    """
    from reprocheck.search.target import target_of
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


def _at_once(question: Question, made: int, jobs: int) -> int:
    """Return how many runs an arm makes: with `--jobs` as many side by side as may be asked for
    next.
    """
    from reprocheck.search.folder_search import FEW

    missing = max(1, question.runs - made)
    if not question.controls or missing >= jobs:
        return missing
    return max(missing, min(jobs, FEW) - made)


def _decided(check: Check, folder: Path, asked: Question) -> bool:
    """Return whether the runs of an arm that were made by now say all that it can say."""
    from reprocheck.search.folder_search import decided
    from reprocheck.workflow.replay import with_record

    return decided(with_record(check, folder), folder, asked)


def _short(controls: tuple[str, ...]) -> str:
    if not controls:
        return "as-is"
    names = [*controls_in(controls), *(["fixes"] if fixes_in(controls) else ())]
    return "+".join(names) if len(names) < 3 else f"{len(names)}-controls"


def _again(folder: Path) -> Check:
    """Return the check with what its record says by now."""
    from reprocheck.workflow import replay

    return replay.explained(replay.judged(folder), folder)


def _nothing_to_search(check: Check) -> str:
    """Return why there is nothing to search: the check passes, or says nothing."""
    from reprocheck.report import words
    from reprocheck.wording import progress

    bitwise = check.verdict.bitwise
    if bitwise.equal and check.verdict.differing_series:
        rule = f"--fail-on {shlex.quote(check.verdict.next_rule)}"
        return progress.series_differs(words.search_with(check, rule))
    if check.verdict.exit_code != 0:
        return progress.no_losses()
    if bitwise.equal is not False:
        return progress.nothing_to_explain()
    return progress.longer(bitwise.first_iteration)
