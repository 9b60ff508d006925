"""What the scan finds in the source, beside what ran of it: for the page, the Markdown, the
terminal and report.json.
"""

from __future__ import annotations

from collections.abc import Mapping

from reprocheck.model.static import Executed, StaticFinding, StaticScan
from reprocheck.report.parts import attributes, source_line
from reprocheck.report.text import count, line
from reprocheck.report.why import origin

STATES: Mapping[Executed, str] = {
    "executed": "executed",
    "entered": "its function ran",
    "not_executed": "not executed",
    "not_seen": "not seen to run",
}
BEFORE = "executed before the first difference"

MEANS = "A finding can make runs differ; only the runs show whether it does."


def sentence(scan: StaticScan) -> str:
    """`The scan finds 9 places in 3 files: 4 were executed, 1 of them before the first difference;
    the functions of 2 others ran.`
    """
    where = f"in {count(scan.files, 'file')}"
    if not scan.findings:
        return f"The scan finds nothing {where}."
    found = f"The scan finds {count(len(scan.findings), 'place')} {where}: "
    first = "none was seen to run"
    if scan.executed:
        before = len(scan.preceding) or "none"
        first = (
            f"{_were(len(scan.executed))} executed, {before} of them before the first difference"
        )
    return "; ".join([f"{found}{first}", *_others(scan)]) + "."


def _others(scan: StaticScan) -> list[str]:
    """What is known of the findings whose line was not seen to run."""
    entered = sum(one.executed == "entered" for one in scan.findings)
    left_out = sum(one.executed == "not_executed" for one in scan.findings)
    said = []
    if entered:
        said.append(
            f"the function{'s' * (entered > 1)} of {entered} other{'s' * (entered > 1)} ran"
        )
    if left_out:
        said.append(f"{_were(left_out)} not executed")
    return said


def _were(number: int) -> str:
    if number == 1:
        return "1 was"
    return f"{number} were"


def state(finding: StaticFinding) -> str:
    """Whether the line ran, in a few words."""
    if finding.precedes:
        return BEFORE
    return STATES[finding.executed]


def rows(scan: StaticScan) -> tuple[tuple[str, str, str, str], ...]:
    """A row for each finding: code, place, what is found there, whether it ran."""
    return tuple(
        (line(one.code), origin(one.source), line(one.message), state(one)) for one in scan.findings
    )


def document(scan: StaticScan | None) -> dict[str, object] | None:
    """The part `scan` of report.json; None where nothing was scanned."""
    if scan is None:
        return None
    names = ("code", "name", "severity", "message", "fix", "executed", "precedes")
    return {
        "found": len(scan.findings),
        "executed": len(scan.executed),
        "before_first_difference": len(scan.preceding),
        "files": scan.files,
        "lines": scan.lines,
        "findings": [
            {**attributes(one, *names), "source": source_line(one.source)} for one in scan.findings
        ],
    }
