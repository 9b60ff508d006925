"""Report what the scan finds in the source, beside what ran of it.

For the page, the Markdown, the terminal and report.json.
"""

from __future__ import annotations

from collections.abc import Mapping

from reprocheck.language import count, tr
from reprocheck.model import Check
from reprocheck.model.static import Executed, StaticFinding, StaticScan
from reprocheck.report.blocks import Section, Table, Text, section
from reprocheck.report.json_parts import attributes, source_line
from reprocheck.report.text import line, origin

STATES: Mapping[Executed, str] = {
    "executed": "executed",
    "entered": "its function ran",
    "not_executed": "not executed",
    "not_seen": "not seen to run",
}
BEFORE = "executed before the first difference"
MEANS = "A finding can make runs differ; only the runs show whether it does."


def what_the_source_shows(check: Check) -> Section | None:
    """Return the section on the findings of the scan, a row for each place.

    None if nothing was scanned.
    """
    scan = check.scan
    if scan is None:
        return None
    title = tr("What the source shows")
    lead = Text(sentence(scan), "lead")
    if not scan.findings:
        return section("scan", title, lead)
    findings = Table(
        title=title,
        heads=("rule", "place", "what", "ran"),
        rows=rows(scan),
        marked=frozenset(index for index, one in enumerate(scan.findings) if one.precedes),
        strong=3,
        captioned=False,
    )
    return section("scan", title, lead, Text(MEANS), findings)


def sentence(scan: StaticScan) -> str:
    """Return a sentence on the findings of the scan.

    Such as `The scan finds 9 places in 3 files: 4 were executed, 1 of them before the first
    difference; the functions of 2 others ran.`
    """
    where = f"in {count(scan.files, 'file')}"
    if not scan.findings:
        return f"The scan finds nothing {where}."
    executed = "none was seen to run"
    if scan.executed:
        before = len(scan.preceding) or "none"
        executed = (
            f"{_were(len(scan.executed))} executed, {before} of them before the first difference"
        )
    entered = sum(one.executed == "entered" for one in scan.findings)
    left_out = sum(one.executed == "not_executed" for one in scan.findings)
    parts = [f"The scan finds {count(len(scan.findings), 'place')} {where}: {executed}"]
    if entered == 1:
        parts.append("the function of 1 other ran")
    elif entered:
        parts.append(f"the functions of {entered} others ran")
    if left_out:
        parts.append(f"{_were(left_out)} not executed")
    return f"{'; '.join(parts)}."


def _were(number: int) -> str:
    return f"{number} {'was' if number == 1 else 'were'}"


def state(finding: StaticFinding) -> str:
    """Return whether the line ran, in a few words."""
    if finding.precedes:
        return BEFORE
    return STATES[finding.executed]


def rows(scan: StaticScan) -> tuple[tuple[str, str, str, str], ...]:
    """Return a row for each finding: code, place, what is found there, whether it ran."""
    return tuple(
        (line(one.code), origin(one.source), line(one.message), state(one)) for one in scan.findings
    )


def document(scan: StaticScan | None) -> dict[str, object] | None:
    """Return the part `scan` of report.json; None if nothing was scanned."""
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
