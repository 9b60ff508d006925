"""Make and compare deeper recordings.

One of each target and key that is good is kept, so that a later night can name the first operation
in which it differs.

`kept/TARGET/KEY.zip` is a recording at level `module`; `KEY.json` beside it says of which curves.
It is made again once other curves are accepted.
"""

from __future__ import annotations

import hashlib
import shutil
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path, PurePosixPath

import msgspec

from reprocheck.errors import ReprocheckError, UsageError
from reprocheck.files.atomic import replacing
from reprocheck.suite import curves
from reprocheck.suite.baselines.accepted import AcceptedBaselines
from reprocheck.suite.baselines.operation import between
from reprocheck.suite.execution import Job, Performed, perform
from reprocheck.suite.execution.perform import commits_of, is_as_in
from reprocheck.suite.history import History
from reprocheck.suite.model import (
    LOOKED_BACK,
    Baseline,
    Key,
    Night,
    Suspect,
    TargetCheck,
    TargetState,
    green_before,
)
from reprocheck.suite.night.folder import NIGHTS
from reprocheck.suite.targets import Suite, folder_name

RECORDING = "recording"
"""The folder of a recording, beside the attempts of its target."""
COMPARABLE = ("reproducible", "not_reproducible")
"""Verdicts of trainings that came far enough to be recorded."""


class _About(msgspec.Struct, kw_only=True, frozen=True):
    """Describe a kept recording: the content of `KEY.json`.

    curves    hash of the curves of the recorded check, without series of a clock
    accepted  when the baseline that then counted was accepted; 0 if there was none
    """

    night: str
    curves: str
    accepted: float = 0.0


@dataclass(frozen=True, slots=True)
class Wanted:
    """Hold a deeper recording to be made, and its purpose.

    kept     where to keep the recording; None: it is compared with `against` instead
    against  the kept recording of a good night to compare with; None: the recording is kept
    """

    job: Job
    check: TargetCheck
    baseline: Baseline | None
    kept: Path | None = None
    against: Path | None = None


def kept_place(target: str, key: Key) -> str:
    """Return the path of the kept recording of a target and environment key.

    It is relative to the folder of the suite.
    """
    return str(PurePosixPath("kept", folder_name(target), f"{key.digest}.zip"))


def wanted(
    suite: Suite,
    history: History,
    night: Night,
    checks: Iterable[TargetCheck],
    states: Mapping[str, TargetState],
) -> tuple[Wanted, ...]:
    """Return the deeper recordings to make after the checks of a night."""
    accepted = AcceptedBaselines(history.baselines())
    found = []
    for check in checks:
        state = states.get(check.target)
        if state is None or check.verdict not in COMPARABLE:
            continue
        baseline = accepted.counting(check)
        if baseline is not None:
            adopt(suite, baseline)
        file, of_home = _kept_files(suite, check.target, check.key)
        job = _job(suite, night, check)
        if job is None:
            continue
        if state.failed:
            against = next((kept for kept in (of_home, file) if kept.exists()), None)
            by_chance = state.state in ("intermittent", "known issue")
            if baseline is not None and against and not by_chance:
                found.append(Wanted(job, check, baseline, against=against))
            continue
        # a drift from another key is accepted later, and its recording with it
        is_expected = not state.drift or baseline is None
        if check.good and is_expected and _is_missing((file, of_home), baseline):
            found.append(Wanted(job, check, baseline, kept=file))
    return tuple(found)


def keep(one: Wanted, performed: Performed) -> None:
    """Move a recording to its place; one that could not be made is tried again the next night.

    Raises OSError if the place cannot be written.
    """
    recording = performed.job.recording
    if one.kept is None or not recording.is_file():
        return
    _put(recording, one.kept, one.check.night, one.check.curves, one.baseline)
    shutil.rmtree(performed.job.folder, ignore_errors=True)


@dataclass(frozen=True, slots=True)
class Found:
    """Hold the first operation in which a night differs from the kept recording.

    It is a sentence that says why if it is unknown, and the changed line behind it.
    """

    operation: str
    suspect: Suspect = field(default_factory=Suspect)


def compared(recording: Wanted, performed: Performed) -> Found | None:
    """Return in what a night differs from the kept recording.

    None if there is nothing to compare. The commits of the suspect are left out.
    """
    if recording.against is None:
        return None
    if why := performed.no_recording:
        return Found(f"The training could not be recorded once more at level module: {why}.")
    job = performed.job
    about = _about(recording.against)
    since = f"night {about.night}" if about else "the last green night"
    names = (since, f"night {job.night}")
    try:
        found = between(recording.against, job.recording, job.folder.parent, names=names)
    except ReprocheckError as error:
        return Found(error.message)
    return Found(found.sentence, found.suspect(job.root))


def with_commits(
    suite: Suite, history: History, night: Night, states: Sequence[TargetState]
) -> tuple[TargetState, ...]:
    """Return the states of a night with the commits that change the suspected files.

    They are those since the last good night; where none is known, since the accepted check. A line
    that the last good night had already is no suspect.
    """
    suspected = [state for state in states if state.suspect.source]
    if not suspected:
        return tuple(states)
    names = [state.target for state in suspected]
    earlier = history.past_states(names, LOOKED_BACK, before=night.id)
    green = {one.target: (green_before(one, earlier[one.target]), one.target) for one in suspected}
    commits = history.commits_at(green.values())
    accepted = AcceptedBaselines(history.baselines())
    folders = {target.name: target.workdir for target in suite.targets}

    def completed(state: TargetState) -> TargetState:
        file, _, _ = state.suspect.source.rpartition(":")
        if not file or state.target not in folders:
            return state
        of_baselines = (baseline.commit for baseline in accepted.of(state.target))
        good = commits.get(green[state.target], "")
        path = folders[state.target] / file
        if is_as_in(path, good):
            # the kept recording is older than the last good night, which had the line already
            return replace(state, suspect=Suspect(report=state.suspect.report))
        found = commits_of(path, good or next(of_baselines, "")) or state.suspect.commits
        return replace(state, suspect=replace(state.suspect, commits=found))

    return tuple(map(completed, states))


def _job(suite: Suite, night: Night, check: TargetCheck) -> Job | None:
    """Return the job that records a target; None if the suite has it no longer."""
    target = next((target for target in suite.targets if target.name == check.target), None)
    if target is None:
        return None
    place = _place(night.id, check.target)
    shutil.rmtree(suite.folder / place, ignore_errors=True)  # of a night that was interrupted here
    return Job(target=target, night=night.id, root=suite.folder, place=place, kind="recording")


def _place(night: str, target: str) -> str:
    return str(PurePosixPath(NIGHTS, night, folder_name(target), RECORDING))


def _kept_files(suite: Suite, target: str, key: Key) -> tuple[Path, Path]:
    """Return where the recording of a target and key is kept.

    Beside it, where the suite itself keeps it, which is another place for a shard.
    """
    place = kept_place(target, key)
    return suite.folder / place, (suite.home or suite.folder) / place


def _is_missing(files: Iterable[Path], baseline: Baseline | None) -> bool:
    """Return whether none of these files is the recording of what counts now.

    The baseline says which training that is, if there is one.
    """
    kept = [about for file in files if file.exists() and (about := _about(file))]
    return not any(baseline is None or _belongs(about, baseline) for about in kept)


def _belongs(about: _About, baseline: Baseline) -> bool:
    return about.accepted == baseline.when or about.curves == _digest(baseline.curves)


def adopt(suite: Suite, baseline: Baseline) -> None:
    """Keep the recording made in the baseline's night.

    It is kept if there is one and the kept recording is of other curves.
    """
    if not baseline.night:
        return
    file = suite.folder / kept_place(baseline.target, baseline.key)
    about = _about(file)
    made = suite.folder / _place(baseline.night, baseline.target) / "recording.zip"
    if made.is_file() and (about is None or not _belongs(about, baseline)):
        with suppress(OSError):
            _put(made, file, baseline.night, baseline.curves, baseline)


def record_for(suite: Suite, check: TargetCheck) -> None:
    """Record the training of a check now, as its night would have done.

    Raises UsageError if the suite no longer has the target, or nothing was recorded; ReportError if
    the folder cannot be written.
    """
    job = _job(suite, Night(id=check.night, started=check.started), check)
    if job is None:
        raise UsageError(
            f"The suite has no target {check.target} to record.", "Leave out --record."
        )
    performed = perform(job)
    if why := performed.no_recording:
        raise UsageError(
            f"The deeper recording of {check.target} could not be made: {why}.",
            f"Leave out --record, or look at {job.folder}.",
        )


def is_recorded(suite: Suite, check: TargetCheck) -> bool:
    """Return whether a recording of a check's target and key is there.

    It is kept, or was made in the check's night.
    """
    kept = suite.folder / kept_place(check.target, check.key)
    return kept.is_file() or is_recorded_in_night(suite, check)


def is_recorded_in_night(suite: Suite, check: TargetCheck) -> bool:
    """Return whether the training of a check was recorded in its night."""
    return (suite.folder / _place(check.night, check.target) / "recording.zip").is_file()


def _put(recording: Path, file: Path, night: str, packed: bytes, baseline: Baseline | None) -> None:
    """Write a recording, and then the `KEY.json` that describes it."""
    file.parent.mkdir(parents=True, exist_ok=True)
    with recording.open("rb") as source, replacing(file) as target:
        shutil.copyfileobj(source, target)
    about = _About(night=night, curves=_digest(packed), accepted=baseline.when if baseline else 0.0)
    with replacing(file.with_suffix(".json")) as note:
        note.write(msgspec.json.format(msgspec.json.encode(about)))


def _about(file: Path) -> _About | None:
    """Return the description of a kept recording, from `KEY.json`; None if there is none."""
    with suppress(OSError, msgspec.MsgspecError):
        return msgspec.json.decode(file.with_suffix(".json").read_bytes(), type=_About)
    return None


def _digest(packed: bytes) -> str:
    """Return a hash of packed curves without series of a clock, which differ in every night."""
    compared = curves.without_clocks(curves.unpack(packed))
    return hashlib.sha256(curves.pack(compared)).hexdigest()


def with_operation(state: TargetState, found: Mapping[str, Found]) -> TargetState:
    """Return a state with the first differing operation that was found for its target, if any."""
    one = found.get(state.target)
    if one is None:
        return state
    return replace(state, operation=one.operation, suspect=one.suspect)
