"""What the scan finds in the files of a check that differs, and what the recorded runs show of these places."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from pathlib import Path

from reprocheck.explain.cause import VAGUE
from reprocheck.explain.cells import as_notebook, joined
from reprocheck.explain.executed import executed
from reprocheck.explain.sources import CELL, Sources
from reprocheck.model import RUNGS, Cause, Check, Rung, SourceLine
from reprocheck.model.static import StaticFinding, StaticScan
from reprocheck.rules import entry
from reprocheck.scan.finding import SEVERITIES, UNUSED_IGNORE, Finding
from reprocheck.scan.judge import finished, judged, reached
from reprocheck.scan.project import Module, of_program
from reprocheck.trace.reached import Ran, read_reached

MOST_FILES, MOST_LINES = 60, 20_000
"""What is scanned at most: two seconds or so, beside runs that take longer."""
MOST_SUSPECTED = 3
_DRAWS = ("RNG state", "batch")


def scanned(check: Check, folder: Path) -> StaticScan | None:
    """The findings in the script and in what it imported of the user's. None where nothing was recorded below the loss or differs."""
    if check.ladder is None or check.ladder.first is None:
        return None
    sources = Sources(check, folder)
    traces = _traces(check, folder)
    rung = check.ladder.first_rung
    name = str(rung.facts.get("trace", "")) if rung is not None else ""
    ran = traces.get(name) or next(iter(traces.values()), ())
    texts = _texts(sources, ran)
    if not texts:
        return None
    modules, found = _found(tuple(texts.items()), sources.script or sources.notebook)
    if sources.notebook in modules:
        ran = joined(ran, sources.notebook, modules[sources.notebook].source.cells)
    before = _before(rung, ran, name)
    joint = [_joined(one, modules[one.path], ran, before, sources) for one in found if one.path in modules]
    sources.keep()
    joint.sort(key=lambda one: (not one.precedes, one.executed != "executed", SEVERITIES.index(one.severity)))
    return StaticScan(findings=tuple(joint), files=len(modules), lines=sum(len(module.source.lines) for module in modules.values()))


def suspected(check: Check) -> tuple[Cause, ...]:
    """The causes of a check, with the line that the scan found for one without, and those first that the scan adds.

    It adds what it found on the way to the first difference, and only where no cause names a line but such as say no more than that
    something differs. A finding of the scan is never more than suspected.
    """
    rung = check.ladder.first_rung if check.ladder is not None else None
    if check.scan is None or rung is None or check.record.compared:
        return check.causes
    causes = tuple(_with_line(cause, check.scan) for cause in check.causes)
    if any(cause.code not in VAGUE and (cause.confidence != "suspected" or cause.source is not None) for cause in causes):
        return causes
    found: dict[str, Cause] = {}
    for one in check.scan.preceding:
        known = entry(one.name)
        here = one.severity != "note" and (known.rung == rung.rung or _is_at(one.source, rung.source))
        drawn = one.severity == "error" and known.rung in _DRAWS and RUNGS.index(known.rung) <= RUNGS.index(rung.rung)
        if here or drawn:
            evidence = (f"The scan: {one.message}. The line was executed before the first difference.",)
            fix = one.fix if "reprocheck rules" not in one.fix else known.fix
            cause = Cause(code=one.code, title=known.title, confidence="suspected", evidence=evidence, source=one.source, fix=fix)
            found.setdefault(one.code, cause)
    added = list(found.values())[:MOST_SUSPECTED]
    return (*added, *(cause for cause in causes if cause.code not in found))


def _with_line(cause: Cause, scan: StaticScan) -> Cause:
    """A cause with the one line at which the scan found its like, where it has none and that line was executed in time."""
    lines = {one.source for one in scan.preceding if one.code == cause.code} if cause.source is None else set()
    return replace(cause, source=lines.pop()) if len(lines) == 1 else cause


def _is_at(one: SourceLine, other: SourceLine | None) -> bool:
    return other is not None and (one.file, one.line) == (other.file, other.line)


def _traces(check: Check, folder: Path) -> Mapping[str, Sequence[Ran]]:
    """What the traces of the first deeper run say of the code that ran, by file name; those that say nothing are left out."""
    pair = next((pair for pair in check.record.deeper if pair.level == "module"), None) or next(iter(check.record.deeper), None)
    if pair is None or not pair.runs:
        return {}
    paths = sorted((folder / pair.runs[0].trace).glob("*.jsonl"))
    return {path.name: ran for path in paths if (ran := read_reached(path))}


def _texts(sources: Sources, ran: Sequence[Ran]) -> dict[str, str]:
    """The script and the files that were imported, as they were. Nothing where they are too many to be scanned beside a run."""
    names = [sources.script, *(name for one in ran for name in (*one.files, *(file for file, _ in one.lines)))]
    notebook = as_notebook(sources)
    texts: dict[str, str] = {sources.notebook: notebook} if notebook else {}
    lines = 0
    for name in list(dict.fromkeys(filter(None, names)))[:MOST_FILES]:
        text = sources.text(name)
        lines += text.count("\n") if text else 0
        if text is not None and lines <= MOST_LINES and CELL not in name:
            texts[name] = text
    return texts if (sources.script or sources.notebook) in texts else {}


@lru_cache(maxsize=2)
def _found(texts: tuple[tuple[str, str], ...], script: str) -> tuple[dict[str, Module], tuple[Finding, ...]]:
    project = of_program(dict(texts), script)
    modules = list(project)
    reached(project, modules)
    found, _ = judged(project, modules)
    kept = [one for one in finished(project, found) if one.suppressed is None and one.code != UNUSED_IGNORE]
    return {module.shown: module for module in modules}, tuple(kept)


def _before(rung: Rung | None, ran: Sequence[Ran], trace: str) -> int | None:
    """The offset in the trace by which the first difference was recorded; None where the trace does not show it."""
    if rung is None:
        return None
    at = rung.facts.get("at")
    if trace and isinstance(at, int):
        return at
    return max((one.at for one in ran), default=None) if rung.rung == "later" else None


def _joined(one: Finding, module: Module, ran: Sequence[Ran], before: int | None, sources: Sources) -> StaticFinding:
    state, at = executed(module.tree, one.path, one.joined_line, ran, script=one.path in (sources.script, sources.notebook))
    line = sources.with_text(SourceLine(file=one.path if one.cell is None else f"{one.path}{CELL}{one.cell}", line=one.line))
    assert line is not None
    return StaticFinding(
        code=one.code,
        name=one.name,
        severity=one.severity,
        message=one.message,
        source=line,
        fix=one.fix,
        executed=state,
        precedes=None if at is None or before is None else at <= before,
    )
