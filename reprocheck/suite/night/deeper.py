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
from reprocheck.suite.baselines.accepted import AcceptedBaselines
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
    """Return the path of the kept recording of a target and environment key, relative to the folder
    of the suite.
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
    """Move a recording to its place; one that could not be made is tried again the next night.

    Raises OSError if the place cannot be written.
    """
    recording = performed.job.recording
    if one.kept is None or not recording.is_file():
        return
    _put(recording, one.kept, one.check.night, one.check.curves, one.baseline)
    shutil.rmtree(performed.job.folder, ignore_errors=True)


def operation(recording: Wanted, performed: Performed) -> str:
    """Return, as a sentence, the first operation in which a night differs from the kept recording;
    if it is unknown, say why.
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
    """Return the job that records a target; None if the suite has it no longer."""
    target = next((target for target in suite.targets if target.name == check.target), None)
    if target is None:
        return None
    place = _place(night.id, check.target)
    shutil.rmtree(suite.folder / place, ignore_errors=True)  # of a night that was interrupted here
    return Job(target=target, night=night.id, root=suite.folder, place=place, kind="recording")


def _place(night: str, target: str) -> str:
    return str(PurePosixPath(NIGHTS, night, folder_name(target), RECORDING))


def _is_missing(file: Path, check: TargetCheck, baseline: Baseline | None) -> bool:
    """Return whether the training that counts now (by the baseline, if any) has no kept
    recording.
    """
    about = _about(file)
    if about is None or not file.exists():
        return True
    return baseline is not None and not _belongs(about, baseline)


def _belongs(about: _About, baseline: Baseline) -> bool:
    return about.accepted == baseline.when or about.curves == _digest(baseline.curves)


def adopt(suite: Suite, baseline: Baseline) -> None:
    """Keep the recording made in the baseline's night, if there is one and the kept recording is of
    other curves.
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
    """Return whether a recording of a check's target and key is kept, or was made in the check's
    night.
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


def with_operations(
    states: Iterable[TargetState], sentences: Mapping[str, str]
) -> tuple[TargetState, ...]:
    """Return the states, each with the first differing operation that was found for its target."""
    return tuple(
        replace(state, operation=sentences.get(state.target, state.operation)) for state in states
    )
