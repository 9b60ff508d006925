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
    """Name a line of the user's code."""

    file: str
    line: int | None

    @classmethod
    def at(cls, text: str | None) -> Line | None:
        """Return the line that `file:line` names; None if the text names no line."""
        source = SourceLine.of(text or "")
        return cls(source.file, source.line) if source else None


class Tolerance(msgspec.Struct, frozen=True):
    """Hold the tolerances rtol and atol, as of `numpy.allclose`."""

    rtol: float
    atol: float


class Setting(msgspec.Struct, frozen=True):
    """Hold the value of an option that was in effect."""

    value: object


class Bitwise(msgspec.Struct, frozen=True):
    """Say whether all runs are equal bitwise; null if that is not known."""

    equal: bool | None
    first_iteration: int | None


class Cause(msgspec.Struct, frozen=True):
    """Hold a cause: an entry of the catalogue, and its source line."""

    code: str
    source: Line | None


class Lead(msgspec.Struct, frozen=True):
    """Hold the difference that every report tells first."""

    rung: str | None
    place: str | None


class Rung(msgspec.Struct, frozen=True):
    """Hold one rung of the ladder."""

    rung: str
    status: str
    place: str | None
    culprit: str | None
    iteration: int | None
    rank: int | None
    size: str | None
    relative_difference: float | None
    source: Line | None
    operator: str | None = None


class Ladder(msgspec.Struct, frozen=True):
    """Hold all rungs of the ladder, in their order."""

    rungs: tuple[Rung, ...]


class Drift(msgspec.Struct, frozen=True):
    """Say what differences to expect from environment facts that differ."""

    expects: str
    keys: tuple[str, ...]


class Source(msgspec.Struct, frozen=True):
    """Hold the unified difference of a file of the user's code."""

    file: str
    diff: str


class Compared(msgspec.Struct, frozen=True):
    """Hold the differences between two recordings."""

    drift: tuple[Drift, ...]
    sources: tuple[Source, ...]


class SeriesPlace(msgspec.Struct, frozen=True):
    """Name one value of a series, numbered from 1."""

    number: int


class SeriesRow(msgspec.Struct, frozen=True):
    """Compare one series over all runs and ranks."""

    name: str
    by: str
    state: str
    first_outside: SeriesPlace | None

    @property
    def is_unequal(self) -> bool:
        """Return whether the series was compared and differs bitwise."""
        return self.state in ("differs", "within tolerance")


class Environment(msgspec.Struct, frozen=True):
    """Hold the environment facts of run 1.

    Beside them are the names of facts that run 1 did not record itself.
    """

    facts: Mapping[str, object]
    not_recorded: frozenset[str]


class RecordedRun(msgspec.Struct, frozen=True):
    """Describe a run: its number of ranks, and the line at which it failed."""

    number: int
    world: int
    failed_at: Line | None


class Report(msgspec.Struct, frozen=True):
    """Hold the fields that the reports of a check and of a resume check share."""

    verdict: str
    reason: str
    reason_to_paste: str
    exit_code: int
    tolerance: Tolerance
    settings: Mapping[str, Setting]
    runs: tuple[RecordedRun, ...]

    @property
    def values(self) -> dict[str, object]:
        """Return the options that were in effect, by name."""
        return {name: setting.value for name, setting in self.settings.items()}

    @property
    def failed_at(self) -> Line | None:
        """Return the line at which the first run failed whose line is known.

        None if there is none.
        """
        lines = (run.failed_at for run in self.runs)
        return next((line for line in lines if line is not None), None)


class CheckReport(Report, frozen=True):
    """Hold report.json of a check."""

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
        """Return the environment facts that run 1 recorded, sorted by name."""
        facts = self.environment.facts
        recorded = sorted(facts.keys() - self.environment.not_recorded)
        return {name: str(facts[name]) for name in recorded}


class Numbers(msgspec.Struct, frozen=True):
    """Hold the numbers of one iteration of a resumed run."""

    resumed: int


class ResumeBitwise(msgspec.Struct, frozen=True):
    """Say whether the resumed run equals the continued run bitwise."""

    equal: bool | None
    first: Numbers | None


class Divergence(msgspec.Struct, frozen=True):
    """Locate the first loss outside the tolerance."""

    iteration: Numbers | None


class StateRung(msgspec.Struct, frozen=True):
    """Hold a rung of the ladder that compares state before the stop with state after the resume."""

    name: str
    status: str
    place: str


class Mechanism(msgspec.Struct, frozen=True):
    """Hold a cause of a resume check: an entry of the catalogue, and its line as `file:line`."""

    code: str
    source: str | None


class Place(msgspec.Struct, frozen=True):
    """Describe a point at which the training was stopped and resumed."""

    verdict: str
    bitwise: ResumeBitwise | None
    first_divergence: Divergence | None
    rungs: tuple[StateRung, ...]
    causes: tuple[Mechanism, ...]


class ResumeReport(Report, frozen=True):
    """Hold report.json of a resume check. `facts`: environment facts of the continued run."""

    places: tuple[Place, ...]
    facts: Mapping[str, object]

    @property
    def decisive(self) -> Place:
        """Return the place that decides the verdict of the whole check."""
        return next(place for place in self.places if place.verdict == self.verdict)


_Read = TypeVar("_Read", bound=Report)


def read(folder: Path, kind: type[_Read]) -> _Read:
    """Return the report in a folder.

    Raises ReportError if the folder has no report and no record.
    """
    with suppress(OSError, msgspec.MsgspecError):
        return msgspec.json.decode((folder / FILE).read_bytes(), type=kind)
    return msgspec.json.decode(report_json(folder), type=kind)
