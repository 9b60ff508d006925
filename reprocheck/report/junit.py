"""junit.xml: one suite a check, with the test cases `script`, `forward check`, `backward check`
and, where asked for, the stricter rule.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from xml.etree import ElementTree
from xml.etree.ElementTree import Element, SubElement

from reprocheck.model import Check, CheckKind, Comparison
from reprocheck.report import why, words
from reprocheck.report.text import line, number, tail

KINDS: tuple[CheckKind, ...] = ("forward", "backward")
COULD_NOT_RUN = ("script_failed", "timed_out")


def render(check: Check) -> bytes:
    """junit.xml, valid XML 1.0 whatever the script printed."""
    record = check.record
    suite = Element(
        "testsuite",
        name=f"reprocheck: {line(record.entry_point.name)}",
        timestamp=line(record.started),
    )
    group = f"reprocheck.{line(record.entry_point.name)}"
    seconds = sum(run.record.seconds for run in check.runs)
    for index, (name, outcome, message, text) in enumerate(_cases(check)):
        case = SubElement(
            suite,
            "testcase",
            classname=group,
            name=name,
            time=f"{seconds if index == 0 else 0:.3f}",
        )
        if outcome:
            element = SubElement(case, outcome, message=message)
            element.text = text
            if outcome != "skipped":
                element.set("type", check.verdict.verdict)
    counts = {key: str(len(suite.findall(f"testcase/{tag}"))) for key, tag in _COUNTS.items()}
    totals = {"tests": str(len(suite)), **counts, "time": f"{seconds:.3f}"}
    suite.attrib.update(totals)
    SubElement(suite, "system-out").text = "\n".join(words.summary(check))
    SubElement(suite, "system-err").text = "\n".join(
        f"--- run {run.number}, standard error\n{tail(run.stderr_tail, 40, 8000)}"
        for run in check.runs
        if run.stderr_tail
    )
    suites = Element("testsuites", name="reprocheck", attrib=totals)
    suites.append(suite)
    ElementTree.indent(suites)
    document: bytes = ElementTree.tostring(suites, encoding="utf-8", xml_declaration=True)
    return document + b"\n"


_COUNTS = {"failures": "failure", "errors": "error", "skipped": "skipped"}


def _cases(check: Check) -> Iterator[tuple[str, str, str, str]]:
    """(name, element or "", message, text) of each test case."""
    verdict = check.verdict
    reason = line(verdict.reason)
    stopped = verdict.verdict in COULD_NOT_RUN
    ranks = words.rank_count(check)
    yield "script", "error" if stopped else "", reason, "\n".join(words.summary(check))
    for kind in KINDS:
        rows = [row for row in verdict.comparisons if row.kind == kind]
        failed = [row for row in rows if row.passed is False]
        if failed or verdict.failed_check == kind:
            message = (
                reason
                if verdict.failed_check == kind or not failed
                else _differs(kind, failed, ranks)
            )
            yield (
                f"{kind} check",
                "failure",
                message,
                "\n".join(
                    [*(_row(row, ranks) for row in failed), *why.summary(check, every=False)]
                ),
            )
        elif rows and all(row.passed for row in rows):
            yield f"{kind} check", "", "", ""
        elif stopped or verdict.failed_check:
            yield f"{kind} check", "skipped", "the check could not be made", ""
        else:
            yield (
                f"{kind} check",
                "error",
                reason,
                "\n".join(_row(row, ranks) for row in rows if row.passed is None),
            )
    if verdict.verdict == "reproducible" and verdict.exit_code != 0:
        yield (
            "stricter rule (--fail-on)",
            "failure",
            reason,
            "\n".join(why.summary(check, every=False)),
        )


def _differs(kind: CheckKind, failed: Sequence[Comparison], ranks: int) -> str:
    """What the check that did not decide the verdict says for itself."""
    worst = max(failed, key=lambda row: row.weight)
    return f"The {kind} check differs, too: {_row(worst, ranks)}."


def _row(row: Comparison, ranks: int) -> str:
    rank = f", rank {row.rank}" if ranks > 1 else ""
    text = f"iteration {row.iteration}, run {row.run}{rank}: "
    if row.max_difference is None:
        return text + (line(row.detail) or "could not be compared")
    return text + f"difference {number(row.max_difference)}, allowed {number(row.allowed)}"
