"""The history of a suite made anew from the folders of its nights, or completed from them.

Baselines are in no such folder: those that a damaged file still shows are taken over.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import msgspec

from reprocheck.suite.changes import states_of_night
from reprocheck.suite.execution import Performed, left_by, read
from reprocheck.suite.history import History, HistoryError, open_history, open_suite
from reprocheck.suite.history.engine import file_of, parsed
from reprocheck.suite.history.errors import DamagedError
from reprocheck.suite.model import Baseline, Night
from reprocheck.suite.night.folder import NIGHTS, is_id
from reprocheck.suite.night.plan import job_of
from reprocheck.suite.target import Target
from reprocheck.suite.targets import Suite, folder_name

ASIDE = ".damaged"
"""Behind the name of a file that cannot be read, which stays for whoever can read more of it."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Rebuilt:
    """Hold what was recorded that the history lacked.

    left_out  folders of targets that the suite no longer has
    aside     where the damaged history file was moved; None if the history could be read
    """

    nights: int
    checks: int
    baselines: int
    left_out: tuple[Path, ...]
    aside: Path | None


def rebuild(suite: Suite) -> Rebuilt:
    """Record what the folders of the nights hold in the history. Raises HistoryError."""
    kept = _baselines(suite.history)
    aside = _put_aside(suite.history)
    folders = [path for path in sorted((suite.folder / NIGHTS).glob("*")) if is_id(path.name)]
    with open_suite(suite) as history:
        before = len(history.nights())
        history.record_baselines(*(kept if aside else ()))
        checks = sum(_record(folder, suite, history) for folder in folders)
        nights = len(history.nights()) - before
    known = {folder_name(target.name) for target in suite.targets}
    of_targets = (path for folder in folders for path in sorted(folder.iterdir()) if path.is_dir())
    return Rebuilt(
        nights=nights,
        checks=checks,
        baselines=len(kept) if aside else 0,
        left_out=tuple(path for path in of_targets if path.name not in known),
        aside=aside,
    )


def _baselines(address: str) -> tuple[Baseline, ...]:
    """Return the baselines that can be read, in the order in which they were accepted."""
    with suppress(HistoryError), open_history(address, create=False) as history:
        return history.baselines()[::-1]
    return ()


def _put_aside(address: str) -> Path | None:
    """Move an unreadable history file away, and return its new place."""
    url = parsed(address)
    if url.get_backend_name() != "sqlite" or not file_of(url).exists():
        return None
    try:
        with open_history(address, create=False) as history:
            for night in history.nights():
                history.checks(night=night.id, curves=True)
                history.states(night=night.id)
            history.baselines()
    except DamagedError:
        return _moved(file_of(url))
    return None


def _moved(file: Path) -> Path:
    taken = len(list(file.parent.glob(f"{file.name}{ASIDE}*")))
    aside = file.with_name(f"{file.name}{ASIDE}-{taken + 1}")
    file.rename(aside)
    for ending in ("-wal", "-shm"):
        with suppress(FileNotFoundError):
            file.with_name(file.name + ending).rename(f"{aside}{ending}")
    return aside


def _record(folder: Path, suite: Suite, history: History) -> int:
    """Record a night, and return how many of its checks are new."""
    there = {(check.target, check.attempt) for check in history.checks(night=folder.name)}
    performed = [one for target in suite.targets for one in _attempts(target, folder, suite)]
    if not performed:
        return 0
    begun = history.begin_night(_night(folder, performed, suite))
    new = [
        attempt
        for attempt in performed
        if (attempt.job.target.name, attempt.job.attempt) not in there
    ]
    added = history.add_all(map(read, new))
    if begun or added:
        history.put_states(states_of_night(history, history.night(folder.name), suite.targets))
    return added


def _attempts(target: Target, folder: Path, suite: Suite) -> Iterator[Performed]:
    """Yield the checks of a target in a night that have ended."""
    attempt = 1
    while performed := left_by(job_of(target, folder.name, suite, attempt)):
        yield performed
        attempt += 1


class _OfNight(msgspec.Struct):
    started: float
    ended: float | None = None
    shard: str = ""
    commit: str = ""
    executor: str = "local"
    reprocheck_version: str = ""


class _OfTarget(msgspec.Struct):
    name: str
    check: object = None


class _File(msgspec.Struct):
    """Hold the fields of `night.json` that are read here."""

    night: _OfNight
    targets: list[_OfTarget] = []


def _night(folder: Path, performed: list[Performed], suite: Suite) -> Night:
    """Return a night from its `night.json`, or from its checks if it did not end.

    Its targets are in the order of the suite.
    """
    checked = {attempt.job.target.name for attempt in performed}
    ends = [attempt.started + attempt.seconds for attempt in performed]
    of_night = _OfNight(
        started=min(attempt.started for attempt in performed),
        ended=max(ends),
        commit=performed[0].commit,
    )
    file = _File(night=of_night)
    with suppress(OSError, msgspec.MsgspecError):
        file = msgspec.json.decode((folder / "night.json").read_bytes(), type=_File)
    checked |= {target.name for target in file.targets if target.check}
    of_file = [target.name for target in file.targets]
    order = dict.fromkeys([*(target.name for target in suite.targets), *of_file])
    return Night(
        id=folder.name,
        targets=tuple(name for name in order if name in checked or name in of_file),
        selected=tuple(filter(checked.__contains__, order)),
        **msgspec.structs.asdict(file.night),
    )
