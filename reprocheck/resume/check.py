"""From a folder to what a check of a resume says."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from reprocheck.model import CheckRecord, Run
from reprocheck.recording import record as check_records
from reprocheck.resume import records, sentences
from reprocheck.resume.average import have_other_ranks
from reprocheck.resume.confirm.attempts import attempt_of
from reprocheck.resume.confirm.search import confirmation
from reprocheck.resume.fix.tried import repair_of
from reprocheck.resume.gap.ladder import explain
from reprocheck.resume.gap.others import explain_others
from reprocheck.resume.kept import beyond_snapshots, checkpoints, found_before, unkept
from reprocheck.resume.model import (
    CONTINUED,
    Checkpoint,
    Explained,
    Outcome,
    Place,
    ResumeCheck,
    ResumeRecord,
    ResumeVerdict,
    Trial,
)
from reprocheck.resume.verdict import Sides, judged, resumed_from, unrepeatable, with_ladder
from reprocheck.trace import collector


def load(folder: Path) -> ResumeCheck:
    """The check of a resume that is recorded in `folder`. Nothing is run. Raises ReportError."""
    from reprocheck.trace import read_run

    record, resume = check_records.read(folder), records.read(folder)
    runs = {run.number: read_run(folder, run) for run in record.runs}
    continued = runs.get(CONTINUED)
    outcomes = tuple(_outcome(folder, place, record, resume, runs) for place in resume.places)
    if resume.trial is not None:
        outcomes = _with_repair(folder, outcomes, resume.trial, record, resume, runs)
    found: tuple[str, ...] = ()
    if continued is not None:
        found = found_before(continued)
    if not outcomes:
        outcomes = (_without_place(folder, resume, continued, found),)
    return ResumeCheck(
        record=record,
        asked=resume,
        outcomes=outcomes,
        caveats=(*sentences.caveats(found, outcomes, resume), *_recorded_caveats(record, runs)),
        coverage=tuple(dict.fromkeys(line for run in runs.values() for line in run.problems)),
        folder=folder.absolute(),
    )


def _recorded_caveats(record: CheckRecord, runs: dict[int, Run]) -> tuple[str, ...]:
    each = (line for run in runs.values() for line in run.caveats)
    return tuple(dict.fromkeys((*record.caveats, *each)))


def _outcome(
    folder: Path, place: Place, record: CheckRecord, resume: ResumeRecord, runs: dict[int, Run]
) -> Outcome:
    sides = _sides(place, record, resume, runs)
    if sides is None or place.checkpoint is None:
        reason = sentences.INTERRUPTED.format(run="resumed")
        return Outcome(place=place, verdict="inconclusive", reason=reason)
    interrupted = runs.get(place.interrupted or 0)
    outcome = judged(place, _checkpoint(folder, place.checkpoint, sides, interrupted), sides)
    withheld = _withheld(outcome, sides, interrupted)
    if withheld:
        return replace(outcome, verdict="inconclusive", reason=withheld)
    outcome = with_ladder(outcome, _explained(folder, outcome, sides))
    outcome = replace(outcome, reason=sentences.reason(outcome))
    if not resume.explain:
        return outcome
    made = [arm for arm in place.arms if arm.run in runs]
    attempts = tuple(
        attempt_of(arm, _further(folder, place, replace(sides, resumed=runs[arm.run])))
        for arm in made
    )
    return replace(outcome, confirmation=confirmation(outcome, attempts))


def _further(folder: Path, place: Place, sides: Sides) -> Outcome:
    """What two other runs say."""
    assert place.checkpoint is not None
    outcome = judged(place, place.checkpoint, sides)
    return with_ladder(outcome, _explained(folder, outcome, sides))


def _with_repair(
    folder: Path,
    outcomes: tuple[Outcome, ...],
    trial: Trial,
    record: CheckRecord,
    resume: ResumeRecord,
    runs: dict[int, Run],
) -> tuple[Outcome, ...]:
    """The outcomes, one of them with the patch that was tried."""
    place = trial.place
    if place is None or place.checkpoint is None or not 0 <= trial.of < len(outcomes):
        return outcomes
    sides = _sides(place, record, resume, runs, trial.continued)
    if sides is None:
        return outcomes
    before = outcomes[trial.of]
    repair = repair_of(before, _further(folder, place, sides), trial.patch)
    return (*outcomes[: trial.of], replace(before, repair=repair), *outcomes[trial.of + 1 :])


def _sides(
    place: Place,
    record: CheckRecord,
    resume: ResumeRecord,
    runs: dict[int, Run],
    number: int = CONTINUED,
) -> Sides | None:
    """Both runs of a place, the continued one by its number; None where one was not made."""
    continued, resumed = runs.get(number), runs.get(place.run or 0)
    if continued is None or resumed is None:
        return None
    return Sides(
        continued=continued, resumed=resumed, go_on=resume.go_on, tolerance=record.tolerance
    )


def _checkpoint(
    folder: Path, named: Checkpoint, sides: Sides, interrupted: Run | None
) -> Checkpoint:
    """What the resumed run has resumed from: of what a run has left that a signal ended, the script
    chooses.
    """
    if interrupted is None:
        return named
    return resumed_from(checkpoints(folder, interrupted.record), sides) or named


def _withheld(outcome: Outcome, sides: Sides, interrupted: Run | None) -> str:
    """Why a difference says nothing of the resume; "" where it does."""
    if not outcome.exit_code or outcome.place.checkpoint is None:
        return ""
    beyond = beyond_snapshots(sides.continued, sides.resumed, outcome.place.checkpoint)
    if beyond:
        return sentences.beyond(beyond)
    if interrupted is None:
        return ""
    differs_at = unrepeatable(sides.continued, interrupted)
    if differs_at is None:
        return ""
    return sentences.not_repeatable(differs_at)


def _explained(folder: Path, outcome: Outcome, sides: Sides) -> Explained:
    """The ladder across the gap, where both runs went on."""
    ended_badly = sides.resumed.record.ended_badly and not outcome.compared
    if outcome.offset is None or outcome.verdict == "inconclusive" or ended_badly:
        return Explained()
    checkpoint = outcome.place.checkpoint
    assert outcome.losses is not None and checkpoint is not None
    records = (sides.continued.record, sides.resumed.record)
    equal = outcome.losses.bitwise.equal is True
    try:
        with collector.paused():
            if have_other_ranks(sides.continued, sides.resumed):
                return explain_others(folder, records, outcome.offset.k)
            explained = explain(folder, records, outcome.offset.k, equal=equal, saver=checkpoint.by)
    except Exception as error:
        what = f"{type(error).__name__}: {error}".rstrip(": ")
        return Explained(coverage=(f"the cause could not be determined: {what}",))
    return replace(
        explained, coverage=(*explained.coverage, *sentences.behind_steps(outcome, explained))
    )


def _without_place(
    folder: Path, resume: ResumeRecord, continued: Run | None, found: tuple[str, ...]
) -> Outcome:
    """What is said where there is nothing to resume from."""
    place = Place(name="first")
    if continued is None:
        reason = sentences.INTERRUPTED.format(run="first")
        return Outcome(place=place, verdict="inconclusive", reason=reason)
    nothing = sentences.Nothing(
        run=continued, resume=resume, unkept=unkept(folder, continued), found=found
    )
    verdict = _BY_ENDING.get(continued.record.ended, "inconclusive")
    return Outcome(
        place=place, verdict=verdict, reason=sentences.no_place(nothing), continued=continued
    )


_BY_ENDING: dict[str, ResumeVerdict] = {"failed": "script_failed", "timed_out": "timed_out"}
