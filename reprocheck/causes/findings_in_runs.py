"""Scan the files of a check that differs.

Each finding says whether the recorded runs executed its line.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from reprocheck.causes.executed_lines import by_trace, executed
from reprocheck.causes.program import joined, shown_line
from reprocheck.causes.usercode import UserCode
from reprocheck.ladder.sources import Sources
from reprocheck.model import Check, Rung, SourceLine
from reprocheck.model.static import StaticFinding, StaticScan
from reprocheck.scan.finding import SEVERITIES, Finding
from reprocheck.scan.project import Module
from reprocheck.trace.executed_code import Ran


def scanned(check: Check, folder: Path) -> StaticScan | None:
    """Return the findings in the script and in the user's modules that it imported.

    None if no rung of the ladder differs, and no series that makes the check fail.
    """
    rung = check.first_rung
    if rung is None and check.verdict.failing_series(check.record.fail_on) is None:
        return None
    code = UserCode(check, folder)
    sources, modules = code.sources, code.program.modules
    if not modules:
        return None
    ran = _ran(check, folder, rung)
    if sources.notebook in modules:
        ran = joined(ran, sources.notebook, modules[sources.notebook].source.cells)
    seen = _Seen(modules=modules, sources=sources, ran=ran, before=_before(rung, ran))
    # lines of facts that lead to the first difference
    observed = [cause.source for cause in check.causes if cause.confidence == "observed"]
    named = filter(None, (*observed, rung.source if rung else None))
    lines = {line.at for line in named}
    findings = []
    for finding in map(seen.finding, code.program.findings):
        own = {line.at for line in (finding.source, *finding.used)}
        if finding.executed != "executed" and not lines.isdisjoint(own):
            # a fact names the line, or the one that takes its number as a seed: it was executed
            finding = replace(finding, executed="executed", precedes=True)
        findings.append(finding)
    # those that ran in time first, those that ran at all, the graver ones
    findings.sort(
        key=lambda one: (
            not one.precedes,
            one.executed != "executed",
            SEVERITIES.index(one.severity),
        )
    )
    sources.keep()
    return StaticScan(
        findings=tuple(findings),
        files=len(modules),
        lines=sum(len(module.source.lines) for module in modules.values()),
    )


def _ran(check: Check, folder: Path, rung: Rung | None) -> Sequence[Ran]:
    """Return the code that ran in the process that recorded the first difference.

    If that process is not known, in the first process that recorded anything.
    """
    traces = by_trace(check, folder)
    ran = next(iter(traces.values()), ())
    if rung is None or rung.recorded_at is None:
        return ran
    return traces.get(rung.recorded_at.trace, ran)


def _before(rung: Rung | None, ran: Sequence[Ran]) -> int | None:
    """Return the offset in the trace at which the first difference was recorded.

    None if it is not known.
    """
    if rung is None:
        return None
    if rung.recorded_at and rung.recorded_at.trace:
        return rung.recorded_at.at
    if rung.rung != "later":
        return None
    return max((one.at for one in ran), default=None)


@dataclass(frozen=True, kw_only=True, slots=True)
class _Seen:
    """The scanned files, and which of their lines ran.

    modules  path -> scanned file
    sources  texts of the user's files
    ran      the code that ran
    before   the offset in the trace at which the first difference was recorded; None if it is not
             known
    """

    modules: Mapping[str, Module]
    sources: Sources
    ran: Sequence[Ran]
    before: int | None

    def finding(self, one: Finding) -> StaticFinding:
        """Return a finding with whether its line ran, and whether before the first difference."""
        module = self.modules[one.path]
        script = one.path in (self.sources.script, self.sources.notebook)
        offset = len(module.source.line(one.joined_line)[: one.column - 1].encode())
        state, at = executed(
            module.tree, one.path, one.joined_line, self.ran, script=script, offset=offset
        )
        precedes = None
        if at is not None and self.before is not None:
            precedes = at <= self.before
        # the line that makes the number which is set as a seed, and those that set it
        made, _, _ = one.evidence.get("made", "").partition(":")
        used = [place.rpartition(":") for place in one.evidence.get("used", "").splitlines()]
        seeds = [(path, int(line)) for path, _, line in used if path in self.modules]
        return StaticFinding(
            code=one.code,
            name=one.name,
            severity=one.severity,
            message=one.message,
            source=self._line(one.path, one.joined_line),
            fix=one.fix,
            fix_from=one.fix_from,
            patchable=one.patchable,
            editable=one.is_editable,
            executed=state,
            precedes=precedes,
            origin=self._line(one.path, int(made)) if made else None,
            used=tuple(self._line(path, line) for path, line in seeds),
        )

    def _line(self, path: str, line: int) -> SourceLine:
        return shown_line(self.modules[path], line, self.sources)
