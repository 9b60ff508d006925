"""report.json of a finished check, as far as the nightly reads it.

`docs/reference/report-json.md` and `docs/reference/resume.md` describe these documents. One that an
older version has drawn lacks some of what is read: it is drawn anew from the record, in memory.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import TypeVar

import msgspec

from reprocheck.model import SourceLine
from reprocheck.suite.surface import report_json

FILE = "report.json"


class Line(msgspec.Struct, frozen=True):
    """A line of the user's code."""

    file: str
    line: int | None

    @classmethod
    def at(cls, text: str | None) -> Line | None:
        """Return the line that `file:line` names; None where it names none."""
        source = SourceLine.of(text or "")
        return cls(source.file, source.line) if source else None


class Tolerance(msgspec.Struct, frozen=True):
    """Bounds as of `numpy.allclose`."""

    rtol: float
    atol: float


class Setting(msgspec.Struct, frozen=True):
    """The value of an option that held."""

    value: object


class Bitwise(msgspec.Struct, frozen=True):
    """Whether all runs are equal in every bit; null where that is not known."""

    equal: bool | None
    first_iteration: int | None


class Cause(msgspec.Struct, frozen=True):
    """An entry of the catalogue, and its line."""

    code: str
    source: Line | None


class Lead(msgspec.Struct, frozen=True):
    """The difference that every report tells first."""

    rung: str | None
    place: str | None


class Rung(msgspec.Struct, frozen=True):
    """A rung of the ladder."""

    rung: str
    status: str
    place: str | None
    culprit: str | None
    iteration: int | None
    rank: int | None
    size: str | None
    relative_difference: float | None


class Ladder(msgspec.Struct, frozen=True):
    """All rungs, in their order."""

    rungs: tuple[Rung, ...]


class Drift(msgspec.Struct, frozen=True):
    """What is to be expected of facts of the environment that differ."""

    expects: str
    keys: tuple[str, ...]


class Compared(msgspec.Struct, frozen=True):
    """What lies between two recordings."""

    drift: tuple[Drift, ...]


class SeriesPlace(msgspec.Struct, frozen=True):
    """A value of a series, numbered from 1."""

    number: int


class SeriesRow(msgspec.Struct, frozen=True):
    """A series over all runs and ranks."""

    name: str
    by: str
    state: str
    first_outside: SeriesPlace | None

    @property
    def is_unequal(self) -> bool:
        """Return whether it was compared, and is not equal in every bit."""
        return self.state in ("differs", "within tolerance")


class Environment(msgspec.Struct, frozen=True):
    """Facts of run 1, and the names of those that it did not record itself."""

    facts: Mapping[str, object]
    not_recorded: frozenset[str]


class RecordedRun(msgspec.Struct, frozen=True):
    """A run: how many ranks it had, and the line at which it failed."""

    number: int
    world: int
    failed_at: Line | None


class Report(msgspec.Struct, frozen=True):
    """What the reports of a check and of a check of a resume have in common."""

    verdict: str
    reason: str
    reason_to_paste: str
    exit_code: int
    tolerance: Tolerance
    settings: Mapping[str, Setting]
    runs: tuple[RecordedRun, ...]

    @property
    def values(self) -> dict[str, object]:
        """The options that held, by name."""
        return {name: setting.value for name, setting in self.settings.items()}

    @property
    def failed_at(self) -> Line | None:
        """The line at which the first run failed of which that is known."""
        lines = (run.failed_at for run in self.runs)
        return next((line for line in lines if line is not None), None)


class CheckReport(Report, frozen=True):
    """report.json of a check."""

    failed_check: str | None
    bitwise: Bitwise
    first_divergence: int | None
    series: tuple[SeriesRow, ...]
    lead: Lead | None
    ladder: Ladder | None
    causes: tuple[Cause, ...]
    compared: Compared | None
    environment: Environment

    @property
    def facts(self) -> dict[str, str]:
        """What run 1 recorded of its environment, in the order of the names."""
        facts = self.environment.facts
        recorded = sorted(facts.keys() - self.environment.not_recorded)
        return {name: str(facts[name]) for name in recorded}


class Numbers(msgspec.Struct, frozen=True):
    """An iteration of a resumed run."""

    resumed: int


class ResumeBitwise(msgspec.Struct, frozen=True):
    """Whether the resumed run is equal to the continued one in every bit."""

    equal: bool | None
    first: Numbers | None


class Divergence(msgspec.Struct, frozen=True):
    """The first loss outside the tolerance."""

    iteration: Numbers | None


class StateRung(msgspec.Struct, frozen=True):
    """A rung of the ladder across the gap."""

    name: str
    status: str
    place: str


class Mechanism(msgspec.Struct, frozen=True):
    """An entry of the catalogue, and its line as `file:line`."""

    code: str
    source: str | None


class Place(msgspec.Struct, frozen=True):
    """A point at which the training was stopped and resumed."""

    verdict: str
    bitwise: ResumeBitwise | None
    first_divergence: Divergence | None
    rungs: tuple[StateRung, ...]
    causes: tuple[Mechanism, ...]


class ResumeReport(Report, frozen=True):
    """report.json of a check of a resume. `facts`: what the continued run recorded."""

    places: tuple[Place, ...]
    facts: Mapping[str, object]

    @property
    def decisive(self) -> Place:
        """The place that stands for all."""
        return next(place for place in self.places if place.verdict == self.verdict)


_Read = TypeVar("_Read", bound=Report)


def read(folder: Path, kind: type[_Read]) -> _Read:
    """Return the report in a folder. Raises ReportError where there is none, and no record."""
    with suppress(OSError, msgspec.MsgspecError):
        return msgspec.json.decode((folder / FILE).read_bytes(), type=kind)
    return msgspec.json.decode(report_json(folder), type=kind)
