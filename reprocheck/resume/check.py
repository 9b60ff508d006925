"""From a folder to what a check of a resume says."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

from reprocheck.causes.usercode import UserCode
from reprocheck.model import CheckRecord, Run
from reprocheck.recording import record as check_records
from reprocheck.resume import model, records, sentences
from reprocheck.resume.average import have_other_ranks
from reprocheck.resume.confirm.attempts import attempt_of
from reprocheck.resume.confirm.search import confirmation
from reprocheck.resume.fix.patch_trial import repair_of
from reprocheck.resume.fix.script_fix import in_own_words
from reprocheck.resume.gap.ladder import explain, with_text
from reprocheck.resume.gap.other_ranks import explain_others
from reprocheck.resume.options import option_of
from reprocheck.resume.other_files import beyond_snapshots, checkpoints, found_before, unkept
from reprocheck.resume.verdict import Sides, judged, resumed_from, unrepeatable, with_ladder
from reprocheck.trace import collector
from reprocheck.wording import say
from reprocheck.wording.trace import told_run


@dataclass(frozen=True, kw_only=True, slots=True)
class Recording:
    """What a report folder holds, read; `ladder` and `closed` as the readers of sources ask."""

    folder: Path
    record: CheckRecord
    resume: model.ResumeRecord
    runs: tuple[Run, ...]
    ladder: None = None
    closed: bool = False

    def run(self, number: int | None) -> Run | None:
        """Return the run of a number."""
        return next((run for run in self.runs if run.number == number), None)

    @property
    def code(self) -> UserCode:
        """The files of the script."""
        return UserCode(self, self.folder)


def recording(folder: Path) -> Recording:
    """Return what is recorded in a folder. Raises ReportError."""
    from reprocheck.trace import read_run

    record = check_records.read(folder)
    runs = tuple(told_run(read_run(folder, run)) for run in record.runs)
    return Recording(folder=folder, record=record, resume=records.read(folder), runs=runs)


def load(folder: Path) -> model.ResumeCheck:
    """Return the check of a resume that is recorded in `folder`. Nothing is run. Raises
    ReportError.
    """
    held = recording(folder)
    code = held.code
    outcomes = tuple(_outcome(held, place, code) for place in held.resume.places)
    if held.resume.trial is not None:
        outcomes = _with_repair(held, outcomes, held.resume.trial, code)
    continued = held.run(model.CONTINUED)
    found = found_before(continued) if continued is not None else ()
    if not outcomes:
        outcomes = (_without_place(held, continued, found),)
    caveats = (say(line) for run in held.runs for line in run.caveats)
    return model.ResumeCheck(
        record=held.record,
        asked=held.resume,
        outcomes=outcomes,
        caveats=(
            *sentences.caveats(found, outcomes, held.resume),
            *dict.fromkeys((*held.record.caveats, *caveats)),
        ),
        coverage=tuple(dict.fromkeys(say(line) for run in held.runs for line in run.problems)),
        recorded=held.runs,
        folder=folder.absolute(),
    )


_BY_ENDING: dict[str, model.ResumeVerdict] = {"failed": "script_failed", "timed_out": "timed_out"}


def _outcome(held: Recording, place: model.Place, code: UserCode) -> model.Outcome:
    sides = _sides(held, place)
    if sides is None or place.checkpoint is None:
        reason = sentences.INTERRUPTED.format(run="resumed")
        return model.Outcome(place=place, verdict="inconclusive", reason=reason)
    interrupted = held.run(place.interrupted)
    checkpoint = place.checkpoint
    if interrupted is not None:  # of what a run has left that a signal ended, the script chooses
        written = checkpoints(held.folder, interrupted.record)
        checkpoint = resumed_from(written, sides) or checkpoint
    outcome = judged(place, checkpoint, sides)
    withheld = _withheld(outcome, sides, interrupted)
    if withheld:
        return replace(outcome, verdict="inconclusive", reason=withheld)
    outcome = with_ladder(outcome, _explained(held, outcome, sides, code))
    failed_at = sides.resumed.failed_at
    outcome = replace(outcome, option=_option(held, outcome, code), failed_at=failed_at)
    outcome = in_own_words(outcome, code, drafts=held.resume.trial is None)
    outcome = replace(outcome, reason=sentences.reason(outcome))
    if not held.resume.explain:
        return outcome
    further = ((arm, held.run(arm.run)) for arm in place.arms)
    attempts = tuple(
        attempt_of(arm, _further(held, place, replace(sides, resumed=run), code))
        for arm, run in further
        if run is not None
    )
    return replace(outcome, confirmation=confirmation(outcome, attempts))


def _option(held: Recording, outcome: model.Outcome, code: UserCode) -> model.Option | None:
    """Return the option by which the script is told to resume, where it was not."""
    if outcome.verdict != "starts_over" or outcome.read or held.resume.resume_with:
        return None
    return option_of(code.trees, held.record.entry_point.command)


def _further(held: Recording, place: model.Place, sides: Sides, code: UserCode) -> model.Outcome:
    """Return what two other runs say."""
    assert place.checkpoint is not None
    outcome = judged(place, place.checkpoint, sides)
    return with_ladder(outcome, _explained(held, outcome, sides, code))


def _with_repair(
    held: Recording, outcomes: tuple[model.Outcome, ...], trial: model.Trial, code: UserCode
) -> tuple[model.Outcome, ...]:
    """Return the outcomes, one of them with the patch that was tried."""
    place = trial.place
    if place is None or place.checkpoint is None or not 0 <= trial.of < len(outcomes):
        return outcomes
    sides = _sides(held, place)
    if sides is None:
        return outcomes
    before = outcomes[trial.of]
    repair = repair_of(before, _further(held, place, sides, code), trial.patch)
    return (*outcomes[: trial.of], replace(before, repair=repair), *outcomes[trial.of + 1 :])


def _sides(held: Recording, place: model.Place) -> Sides | None:
    """Return both runs of a place; None where one was not made."""
    continued, resumed = held.run(place.continued), held.run(place.run)
    if continued is None or resumed is None:
        return None
    return Sides(
        continued=continued,
        resumed=resumed,
        go_on=held.resume.go_on,
        tolerance=held.record.tolerance,
    )


def _withheld(outcome: model.Outcome, sides: Sides, interrupted: Run | None) -> str:
    """Return why a difference says nothing of the resume; "" where it does."""
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


def _explained(
    held: Recording, outcome: model.Outcome, sides: Sides, code: UserCode
) -> model.Explained:
    """Return the ladder across the gap, where both runs went on."""
    ended_badly = sides.resumed.record.ended_badly and not outcome.compared
    if outcome.offset is None or outcome.verdict == "inconclusive" or ended_badly:
        return model.Explained()
    checkpoint = outcome.place.checkpoint
    assert outcome.losses is not None and checkpoint is not None
    records = (sides.continued.record, sides.resumed.record)
    equal = outcome.losses.bitwise.equal is True
    try:
        with collector.paused():
            if have_other_ranks(sides.continued, sides.resumed):
                return explain_others(held.folder, records, outcome.offset.k)
            explained = explain(
                held.folder,
                records,
                outcome.offset.k,
                equal=equal,
                checkpoint=checkpoint,
                trees=code.trees,
            )
    except Exception as error:
        what = f"{type(error).__name__}: {error}".rstrip(": ")
        return model.Explained(coverage=(f"the cause could not be determined: {what}",))
    return replace(
        with_text(explained, code),
        coverage=(*explained.coverage, *sentences.behind_steps(outcome, explained)),
    )


def _without_place(held: Recording, continued: Run | None, found: tuple[str, ...]) -> model.Outcome:
    """Return what is said where there is nothing to resume from."""
    place = model.Place(name="first")
    if continued is None:
        reason = sentences.INTERRUPTED.format(run="first")
        return model.Outcome(place=place, verdict="inconclusive", reason=reason)
    left = unkept(held.folder, continued)
    nothing = sentences.Nothing(run=continued, resume=held.resume, unkept=left, found=found)
    verdict = _BY_ENDING.get(continued.record.ended, "inconclusive")
    return model.Outcome(
        place=place, verdict=verdict, reason=sentences.no_place(nothing), continued=continued
    )
