"""A check as a whole: everything a report shows."""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import chain
from math import isfinite
from operator import attrgetter
from pathlib import Path
from typing import Protocol

from reprocheck.model.compared import Between
from reprocheck.model.controls import Search
from reprocheck.model.explanation import Cause, Ladder, Lead, Rung
from reprocheck.model.record import CheckRecord
from reprocheck.model.seeds import SeedEffect
from reprocheck.model.statement import Statement
from reprocheck.model.static import StaticScan
from reprocheck.model.trace import Run, Trace
from reprocheck.model.variations import Variations
from reprocheck.model.verdict import EnvironmentDifference, Verdict

_NOT_SCANNED = StaticScan(findings=())
_GIVEN = ("environment", "files and arguments")
"""Rungs of what runs were given; the others are of the training."""
FRAMEWORKS = ("torch", "torch_npu", "mindspore", "tensorflow", "keras", "jax", "jaxlib")
"""Packages whose releases change numbers."""


class Recorded(Protocol):
    """A recorded check, of either kind: of repeated runs, or of a resume."""

    @property
    def record(self) -> CheckRecord: ...

    @property
    def runs(self) -> tuple[Run, ...]: ...


@dataclass(frozen=True, kw_only=True, slots=True)
class Check:
    """N runs and their comparison: everything a report shows."""

    record: CheckRecord
    runs: tuple[Run, ...]
    verdict: Verdict
    environment_differences: tuple[EnvironmentDifference, ...] = ()
    state_left: tuple[str, ...] = ()
    """Files that changed while run 1 was under way and that a later run opened for reading before
    it wrote them itself.
    """
    state_alike: tuple[str, ...] = ()
    """Those of them from which run 1 itself read the same as each later run: a cache that is made
    at the first start, for example.
    """
    state_visible: tuple[str, ...] = ()
    """The others of them that stood there when run 2 began."""
    state_caution: Statement | None = None
    """The one of the cautions that says what of run 1 was read."""
    changes: tuple[Statement | str, ...] = ()
    """What was changed to observe the runs, beside what the record holds; here and below, texts are
    those that a recording holds.
    """
    cautions: tuple[Statement | str, ...] = ()
    """What a reader must know beside the verdict."""
    unrecorded: tuple[Statement | str, ...] = ()
    """What was recorded, and what could not be."""
    state_caveat: str = ""
    changed_to_observe: tuple[str, ...] = ()
    caveats: tuple[str, ...] = ()
    coverage: tuple[str, ...] = ()
    """The sentences that are made of these four, once the check is told (`reprocheck.wording`)."""
    ladder: Ladder | None = None
    causes: tuple[Cause, ...] = ()
    """Best first."""
    lead: Lead | None = None
    """What every report tells first; None where nothing was recorded below the loss."""
    search: Search | None = None
    variations: Variations | None = None
    """What the second run was varied by, and which of that the training depends on."""
    seed_effect: SeedEffect | None = None
    """What another seed changed, where it must change something."""
    scan: StaticScan | None = None
    """What the source shows, beside what ran of it."""
    between: Between | None = None
    """Of two recordings that were made apart: what stands between them."""

    folder: Path | None = field(default=None, compare=False)
    """The report folder, where there is one."""
    closed: bool = field(default=False, compare=False)
    """Whether it was read back from its folder: no file of the user's is read for its reports then
    beside what the folder holds.
    """

    def __repr__(self) -> str:
        name = self.record.entry_point.name
        return f"<Check of {name!r}: {self.verdict.title}, in {str(self.folder)!r}>"

    def _repr_html_(self) -> str:
        """Return the HTML that a notebook shows for this check."""
        from html import escape

        shown = (self.verdict.title, self.verdict.reason, str(self.folder))
        title, reason, folder = map(escape, shown)
        return f"<p><b>{title}</b><br>{reason}<br><code>{folder}</code></p>"

    @property
    def passed(self) -> bool:
        """Return whether the exit code is 0.

        The forward and the backward check agree, and nothing that the setting `fail_on` names has
        happened.
        """
        return self.verdict.passed

    @property
    def differing_run(self) -> Run:
        """The run that differs from run 1 first: that failed, in losses, else in a series.

        Run 2 if none differs.
        """
        verdict = self.verdict
        broken = (run.number for run in self.runs[1:] if run.record.ended_badly)
        failed = (row.run for row in verdict.comparisons if row.passed is False)
        later = map(attrgetter("run"), filter(None, (verdict.first_divergence,)))
        # the first group is that of run 1
        others = chain.from_iterable(map(attrgetter("runs"), verdict.outcomes.groups[1:]))
        series = filter(None, (verdict.failing_series(self.record.fail_on),))
        reported = map(attrgetter("first_outside.run"), series)
        number = next(chain(failed, later, broken, others, reported), 2)
        return next((run for run in self.runs[1:] if run.number == number), self.runs[1])

    @property
    def first_rung(self) -> Rung | None:
        """The first rung of the ladder that differs.

        None if none differs, or no ladder was made.
        """
        return self.ladder.first_rung if self.ladder else None

    @property
    def training_rung(self) -> Rung | None:
        """Return the first differing rung after those of what was given to a run.

        Those are arguments, files and environment.
        """
        rungs = self.ladder.rungs if self.ladder else ()
        of_training = (rung for rung in rungs if rung.rung not in _GIVEN)
        return next((rung for rung in of_training if rung.status == "differs"), None)

    @property
    def leading(self) -> Rung | None:
        """The rung that the report tells first; None if no rung differs, or no ladder was made."""
        if self.ladder is None or self.lead is None or self.lead.rung is None:
            return None
        return self.ladder.rung(self.lead.rung)

    @property
    def smallest(self) -> tuple[str, ...]:
        """The smallest set of controls that removes the difference; empty if none was found."""
        return self.search.smallest if self.search else ()

    @property
    def scanned(self) -> StaticScan:
        """The scan of the source code; a scan without findings if none was made."""
        return self.scan or _NOT_SCANNED

    @property
    def not_finite(self) -> bool:
        """Return whether a loss that the two checks take is NaN or infinite in any run."""
        for trace in self.traces:
            for part in filter(None, (trace.forward, trace.backward)):
                values = trace.losses.values[part.start : part.end]
                if not all(map(isfinite, values)):
                    return True
        return False

    @property
    def stopped_early(self) -> int | None:
        """The iteration at which run 1 was stopped; None if run 1 ran to its end."""
        stops = [trace.stopped_at for trace in self.traces if trace.stopped_at is not None]
        return min(stops, default=None)

    @property
    def traces(self) -> tuple[Trace, ...]:
        """The traces of all runs, run by run."""
        return tuple(chain.from_iterable(run.traces for run in self.runs))
