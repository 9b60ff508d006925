"""From a folder to what a check of a resume says."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property, partial
from pathlib import Path

from reprocheck.causes.usercode import UserCode, keep_sources
from reprocheck.fixes import patched_files
from reprocheck.fixes.edits.difference import difference
from reprocheck.launch.observer import Teller
from reprocheck.model import CheckRecord, EntryPoint, Run
from reprocheck.recording import record as check_records
from reprocheck.resume import model, records, sentences
from reprocheck.resume.average import have_other_ranks
from reprocheck.resume.confirm.search import attempt_of, confirmation, next_rungs
from reprocheck.resume.confirm.words import objects
from reprocheck.resume.fix.patch_trial import proposed, repair_of
from reprocheck.resume.fix.script_fix import in_own_words
from reprocheck.resume.gap.batches import batches
from reprocheck.resume.gap.explanation import explain, with_text
from reprocheck.resume.gap.other_ranks import explain_others
from reprocheck.resume.model import ResumeCheck
from reprocheck.resume.options import option_of
from reprocheck.resume.other_files import beyond_snapshots, checkpoints, found_before, unkept
from reprocheck.resume.request import Asked
from reprocheck.resume.runs import Runs, Wanted, recorded
from reprocheck.resume.verdict import Sides, judged, resumed_from, unrepeatable, with_ladder
from reprocheck.settings import Settings
from reprocheck.trace import lines
from reprocheck.wording import say
from reprocheck.wording.trace import told_run

_BY_ENDING: Mapping[str, model.ResumeVerdict] = {
    "failed": "script_failed",
    "timed_out": "timed_out",
}


@dataclass(frozen=True, kw_only=True)
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

    @cached_property
    def code(self) -> UserCode:
        """The files of the script."""
        return UserCode(self, self.folder)

    def sides(self, place: model.Place | None) -> Sides | None:
        """Return the continued and the resumed run of a place; None if either run was not made."""
        if place is None or place.checkpoint is None:
            return None
        continued, resumed = self.run(place.continued), self.run(place.run)
        if continued is None or resumed is None:
            return None
        tolerance = self.record.tolerance
        return Sides(
            continued=continued, resumed=resumed, go_on=self.resume.go_on, tolerance=tolerance
        )


def recording(folder: Path) -> Recording:
    """Read the recording in a folder. Raises ReportError."""
    from reprocheck.trace import read_run

    record = check_records.read(folder)
    runs = tuple(told_run(read_run(folder, run)) for run in record.runs)
    return Recording(folder=folder, record=record, resume=records.read(folder), runs=runs)


def load(folder: Path) -> model.ResumeCheck:
    """Load the check of a resume that is recorded in `folder`, without running anything.

    Raises ReportError.
    """
    recorded = recording(folder)
    outcomes = [_outcome(recorded, place) for place in recorded.resume.places]
    trial = recorded.resume.trial
    if trial is not None and 0 <= trial.of < len(outcomes):  # with the patch that was tried
        before = outcomes[trial.of]
        place, sides = trial.place, recorded.sides(trial.place)
        if place is not None and sides is not None:
            repair = repair_of(before, _compared(recorded, place, sides), trial.patch)
            outcomes[trial.of] = replace(before, repair=repair)
    continued = recorded.run(model.CONTINUED)
    found = found_before(continued) if continued is not None else ()
    if not outcomes:
        outcomes = [_without_place(recorded, continued, found)]
    caveats = (say(line) for run in recorded.runs for line in run.caveats)
    return model.ResumeCheck(
        record=recorded.record,
        asked=recorded.resume,
        outcomes=tuple(outcomes),
        caveats=(
            *sentences.caveats(found, outcomes, recorded.resume),
            *dict.fromkeys((*recorded.record.caveats, *caveats)),
        ),
        coverage=tuple(dict.fromkeys(say(line) for run in recorded.runs for line in run.problems)),
        recorded=recorded.runs,
        folder=folder.absolute(),
    )


def _outcome(recorded: Recording, place: model.Place) -> model.Outcome:
    sides, checkpoint = recorded.sides(place), place.checkpoint
    if sides is None or checkpoint is None:
        reason = sentences.INTERRUPTED.format(run="resumed")
        return model.Outcome(place=place, verdict="inconclusive", reason=reason)
    interrupted = recorded.run(place.interrupted)
    if interrupted is not None:  # of what a run has left that a signal ended, the script chooses
        written = checkpoints(recorded.folder, interrupted.record)
        checkpoint = resumed_from(written, sides) or checkpoint
    outcome = judged(place, checkpoint, sides)
    withheld = _withheld(outcome, sides, interrupted)
    if withheld:
        return replace(outcome, verdict="inconclusive", reason=withheld)
    outcome = with_ladder(outcome, _explained(recorded, outcome, sides))
    option: model.Option | None = None
    if outcome.verdict == "starts_over" and not (outcome.read or recorded.resume.resume_with):
        option = option_of(recorded.code.trees, recorded.record.entry_point.command)
    outcome = replace(outcome, option=option, failed_at=sides.resumed.failed_at)
    outcome = in_own_words(outcome, recorded.code, drafts=recorded.resume.trial is None)
    outcome = replace(outcome, reason=sentences.reason(outcome))
    if not recorded.resume.explain:
        return outcome
    attempts = []
    for arm in place.arms:
        run = recorded.run(arm.run)
        if run is not None:
            further = _compared(recorded, place, replace(sides, resumed=run))
            attempts.append(attempt_of(arm, further))
    return replace(outcome, confirmation=confirmation(outcome, attempts))


def _compared(recorded: Recording, place: model.Place, sides: Sides) -> model.Outcome:
    """Compare the two runs of a place that were made with a patch."""
    assert place.checkpoint is not None
    outcome = judged(place, place.checkpoint, sides)
    return with_ladder(outcome, _explained(recorded, outcome, sides))


def _withheld(outcome: model.Outcome, sides: Sides, interrupted: Run | None) -> str:
    """Return why a difference says nothing about the resume; "" if it does."""
    if not outcome.exit_code or outcome.place.checkpoint is None:
        return ""
    beyond = beyond_snapshots(sides.continued, sides.resumed, outcome.place.checkpoint)
    if beyond:
        return sentences.beyond(beyond)
    if interrupted is None:
        return ""
    differs_at = unrepeatable(sides.continued, interrupted)
    return sentences.not_repeatable(differs_at) if differs_at is not None else ""


def _explained(recorded: Recording, outcome: model.Outcome, sides: Sides) -> model.Explained:
    """Return the ladder across the gap, if both runs went on after the checkpoint."""
    ended_badly = sides.resumed.record.ended_badly and not outcome.compared
    if outcome.offset is None or outcome.verdict == "inconclusive" or ended_badly:
        return model.Explained()
    checkpoint = outcome.place.checkpoint
    assert outcome.losses is not None and checkpoint is not None
    of_runs = recorded.folder, (sides.continued.record, sides.resumed.record), outcome.offset.k
    equal = outcome.losses.bitwise.equal is True
    try:
        with lines.paused():
            if have_other_ranks(sides.continued, sides.resumed):
                return explain_others(*of_runs)
            trees = recorded.code.trees
            explained = explain(*of_runs, equal=equal, checkpoint=checkpoint, trees=trees)
    except Exception as error:
        what = f"{type(error).__name__}: {error}".rstrip(": ")
        return model.Explained(coverage=(f"the cause could not be determined: {what}",))
    return replace(
        with_text(explained, recorded.code),
        coverage=(*explained.coverage, *sentences.behind_steps(outcome, explained)),
    )


def _without_place(
    recorded: Recording, continued: Run | None, found: tuple[str, ...]
) -> model.Outcome:
    """Return the outcome if there is no checkpoint to resume from."""
    place = model.Place(name="first")
    if continued is None:
        reason = sentences.INTERRUPTED.format(run="first")
        return model.Outcome(place=place, verdict="inconclusive", reason=reason)
    left = unkept(recorded.folder, continued)
    nothing = sentences.Nothing(run=continued, resume=recorded.resume, unkept=left, found=found)
    verdict = _BY_ENDING.get(continued.record.ended, "inconclusive")
    reason = sentences.no_place(nothing)
    return model.Outcome(place=place, verdict=verdict, reason=reason, continued=continued)


def checked(
    entry: EntryPoint, settings: Settings, folder: Path, teller: Teller, asked: Asked
) -> ResumeCheck:
    """Record the continued and the resumed runs in `folder` and return the check.

    Raises what `recorded` raises.
    """
    then = partial(_with_cause, folder, teller) if asked.explain else None
    recorded(entry, settings, folder, teller, asked, then)
    _tell(teller, "comparing the runs")
    keep_sources(recording(folder), folder)
    return load(folder)


def _with_cause(folder: Path, teller: Teller, runs: Runs) -> None:
    """Have runs made with parts of what was lost put back, until the needed ones are known.

    Then two with a patch, of the first place for which one is known.
    """
    for number, outcome in enumerate(load(folder).outcomes):
        while rungs := next_rungs(outcome):
            _tell(teller, f"putting back {objects(rungs)}")
            assert outcome.offset is not None
            assert outcome.continued is not None and outcome.resumed is not None
            sides = (outcome.continued.record, outcome.resumed.record)
            runs.put_back(
                Wanted(
                    place=number,
                    rungs=rungs,
                    batches=batches(folder, sides, outcome.offset.k),
                    beside=outcome.explained.beside,
                )
            )
            outcome = load(folder).outcomes[number]
    for number, outcome in enumerate(load(folder).outcomes):
        changed = proposed(outcome)
        if changed:
            _tell(teller, "trying a patch")
            sources = folder.absolute() / "arms" / patched_files.SOURCES
            files = patched_files.written(changed, sources)
            runs.try_patch(number, difference(changed), files)
            return


def _tell(teller: Teller, status: str) -> None:
    teller.clear()
    teller.status(status)
