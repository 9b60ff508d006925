"""What the scan finds in the source, beside what ran of it: for the page, the Markdown, the
terminal and report.json.
"""

from __future__ import annotations

from collections.abc import Mapping

from reprocheck.language import count, form, joined, mark, tr
from reprocheck.model.static import Executed, StaticFinding, StaticScan
from reprocheck.report.json_parts import attributes, source_line
from reprocheck.report.text import line
from reprocheck.report.why import origin

STATES: Mapping[Executed, str] = {
    "executed": mark("executed"),
    "entered": mark("its function ran"),
    "not_executed": mark("not executed"),
    "not_seen": mark("not seen to run"),
}
BEFORE = mark("executed before the first difference")

MEANS = mark("A finding can make runs differ; only the runs show whether it does.")


def sentence(scan: StaticScan) -> str:
    """Return a sentence on the findings of the scan.

    Such as `The scan finds 9 places in 3 files: 4 were executed, 1 of them before the first
    difference; the functions of 2 others ran.`
    """
    where = tr("in {files}", files=count(scan.files, "file"))
    if not scan.findings:
        return tr("The scan finds nothing {where}.", where=where)
    found = tr(
        "The scan finds {places} {where}: ",
        places=count(len(scan.findings), "place"),
        where=where,
    )
    first = tr("none was seen to run")
    if scan.executed:
        first = form(
            len(scan.executed),
            "{number} was executed, {before} of them before the first difference",
            "{number} were executed, {before} of them before the first difference",
            number=len(scan.executed),
            before=len(scan.preceding) or tr("none"),
        )
    return tr("{sentence}.", sentence=joined(tr("; "), (found + first, *_others(scan))))


def _others(scan: StaticScan) -> list[str]:
    """Return what is known of the findings whose line was not seen to run."""
    entered = sum(one.executed == "entered" for one in scan.findings)
    left_out = sum(one.executed == "not_executed" for one in scan.findings)
    said = []
    if entered:
        said.append(
            form(
                entered,
                "the function of {number} other ran",
                "the functions of {number} others ran",
                number=entered,
            )
        )
    if left_out:
        said.append(
            form(
                left_out,
                "{number} was not executed",
                "{number} were not executed",
                number=left_out,
            )
        )
    return said


def state(finding: StaticFinding) -> str:
    """Return whether the line ran, in a few words."""
    if finding.precedes:
        return tr(BEFORE)
    return tr(STATES[finding.executed])


def rows(scan: StaticScan) -> tuple[tuple[str, str, str, str], ...]:
    """Return a row for each finding: code, place, what is found there, whether it ran."""
    return tuple(
        (line(one.code), origin(one.source), line(one.message), state(one)) for one in scan.findings
    )


def document(scan: StaticScan | None) -> dict[str, object] | None:
    """Return the part `scan` of report.json; None where nothing was scanned."""
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
