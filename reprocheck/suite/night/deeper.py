"""Deeper recordings: one of each target and key that is good is kept, so that a later night can
name the first operation in which it differs.

`kept/TARGET/KEY.zip` is a recording at level `module`; `KEY.json` beside it says of which curves.
It is made again once other curves are accepted.
"""

from __future__ import annotations

import hashlib
import shutil
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path, PurePosixPath

import msgspec

from reprocheck.errors import ReprocheckError, UsageError
from reprocheck.files.atomic import replacing
from reprocheck.suite import curves
from reprocheck.suite.baselines.operation import between
from reprocheck.suite.execution import Job, Performed, perform
from reprocheck.suite.history import History
from reprocheck.suite.model import Baseline, Key, Night, TargetCheck, TargetState
from reprocheck.suite.night.folder import NIGHTS
from reprocheck.suite.targets import Suite, folder_name

RECORDING = "recording"
"""The folder of a recording, beside the attempts of its target."""
COMPARABLE = ("reproducible", "not_reproducible")
"""Verdicts of trainings that came far enough to be recorded."""


class _About(msgspec.Struct, kw_only=True, frozen=True):
    """`KEY.json`: what a kept recording is of.

    curves    hash of the curves of its check, without a clock's
    accepted  when the baseline was accepted that held then; 0 without any
    """

    night: str
    curves: str
    accepted: float = 0.0


@dataclass(frozen=True, slots=True)
class Wanted:
    """A recording to be made of the target of a check, and what for.

    kept   where it is to be kept; None: it is held against `against`
    """

    job: Job
    check: TargetCheck
    baseline: Baseline | None
    kept: Path | None = None
    against: Path | None = None


def kept_place(target: str, key: Key) -> str:
    """Return the kept recording of a target and key, relative to the folder of the suite."""
    return str(PurePosixPath("kept", folder_name(target), f"{key.digest}.zip"))


def wanted(
    suite: Suite,
    history: History,
    night: Night,
    checks: Iterable[TargetCheck],
    states: Mapping[str, TargetState],
) -> tuple[Wanted, ...]:
    """Return the recordings that are to be made after the checks of a night."""
    found = []
    for check in checks:
        state = states.get(check.target)
        if state is None or check.verdict not in COMPARABLE:
            continue
        baseline = history.baseline(check.target, check.key)
        file = suite.folder / kept_place(check.target, check.key)
        if baseline is not None:
            adopt(suite, baseline)
        job = _job(suite, night, check)
        if job is None:
            continue
        if state.failed:
            if baseline is not None and file.exists() and state.state != "intermittent":
                found.append(Wanted(job, check, baseline, against=file))
        elif check.good and not state.drift and _is_missing(file, check, baseline):
            found.append(Wanted(job, check, baseline, kept=file))
    return tuple(found)


def keep(one: Wanted, performed: Performed) -> None:
    """Put a recording at its place. One that could not be made is tried again the next night.

    Raises OSError where it cannot be written.
    """
    recording = performed.job.recording
    if one.kept is None or not recording.is_file():
        return
    _put(recording, one.kept, one.check.night, one.check.curves, one.baseline)
    shutil.rmtree(performed.job.folder, ignore_errors=True)


def operation(recording: Wanted, performed: Performed) -> str:
    """Return the first operation in which a night differs from the kept recording, as a sentence;
    where it is not known, why.
    """
    if recording.against is None:
        return ""
    if why := performed.no_recording:
        return f"The training could not be recorded once more at level module: {why}."
    about = _about(recording.against)
    since = f"night {about.night}" if about else "the last green night"
    names = (since, f"night {performed.job.night}")
    try:
        found = between(
            recording.against, performed.job.recording, performed.job.folder.parent, names=names
        )
    except ReprocheckError as error:
        return error.message
    return found.sentence


def _job(suite: Suite, night: Night, check: TargetCheck) -> Job | None:
    """Return the job that records a target; None where the suite has it no longer."""
    target = next((target for target in suite.targets if target.name == check.target), None)
    if target is None:
        return None
    place = _place(night.id, check.target)
    shutil.rmtree(suite.folder / place, ignore_errors=True)  # of a night that was interrupted here
    return Job(target=target, night=night.id, root=suite.folder, place=place, kind="recording")


def _place(night: str, target: str) -> str:
    return str(PurePosixPath(NIGHTS, night, folder_name(target), RECORDING))


def _is_missing(file: Path, check: TargetCheck, baseline: Baseline | None) -> bool:
    """Return whether there is no recording of the training that counts now."""
    about = _about(file)
    if about is None or not file.exists():
        return True
    return baseline is not None and not _belongs(about, baseline)


def _belongs(about: _About, baseline: Baseline) -> bool:
    return about.accepted == baseline.when or about.curves == _digest(baseline.curves)


def adopt(suite: Suite, baseline: Baseline) -> None:
    """Where the curves of a night were accepted in which the training had been recorded, to be held
    against those before or for the acceptance, that recording is the one to be kept.
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
    """Record the training of a check now, as its night does.

    Raises UsageError where the suite has the target no longer, or nothing was recorded; ReportError
    where the folder cannot be written.
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
    """Return whether a recording of a check is kept, or was made in its night."""
    kept = suite.folder / kept_place(check.target, check.key)
    return kept.is_file() or is_recorded_in_night(suite, check)


def is_recorded_in_night(suite: Suite, check: TargetCheck) -> bool:
    """Return whether the training of a check was recorded in its night."""
    return (suite.folder / _place(check.night, check.target) / "recording.zip").is_file()


def _put(recording: Path, file: Path, night: str, packed: bytes, baseline: Baseline | None) -> None:
    """Write a recording and what it is of; the latter last."""
    file.parent.mkdir(parents=True, exist_ok=True)
    with recording.open("rb") as source, replacing(file) as target:
        shutil.copyfileobj(source, target)
    about = _About(night=night, curves=_digest(packed), accepted=baseline.when if baseline else 0.0)
    with replacing(file.with_suffix(".json")) as note:
        note.write(msgspec.json.format(msgspec.json.encode(about)))


def _about(file: Path) -> _About | None:
    """Return what a kept recording is of; None where there is none."""
    with suppress(OSError, msgspec.MsgspecError):
        return msgspec.json.decode(file.with_suffix(".json").read_bytes(), type=_About)
    return None


def _digest(packed: bytes) -> str:
    """Hash of the series that say which training it was: a clock's are others in each night."""
    compared = curves.without_clocks(curves.unpack(packed))
    return hashlib.sha256(curves.pack(compared)).hexdigest()


def with_operations(
    states: Iterable[TargetState], sentences: Mapping[str, str]
) -> tuple[TargetState, ...]:
    """Return the states with the operations that were found, by target."""
    return tuple(
        replace(state, operation=sentences.get(state.target, state.operation)) for state in states
    )
