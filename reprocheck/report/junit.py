"""Write junit.xml: one suite a check.

With the test cases `script`, `forward check`, `backward check` and, where asked for, the stricter
rule.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from xml.etree import ElementTree
from xml.etree.ElementTree import Element, SubElement

from reprocheck.model import Check, CheckKind, Comparison
from reprocheck.report import causes, seeds, words
from reprocheck.report.text import line, number, printable, tail
from reprocheck.settings.must_differ import NONE

KINDS: tuple[CheckKind, ...] = ("forward", "backward")
COULD_NOT_RUN = ("script_failed", "timed_out")


def render(check: Check) -> bytes:
    """Return junit.xml, valid XML 1.0 whatever the script printed."""
    record = check.record
    suite = Element(
        "testsuite",
        name=f"reprocheck: {record.entry_point.name}",
        timestamp=record.started,
    )
    group = f"reprocheck.{record.entry_point.name}"
    kind = "fail_on" if check.verdict.broken_rule else check.verdict.verdict
    for case in _cases(check):
        found = SubElement(suite, "testcase", classname=group, name=case.name, time="0.000")
        if case.outcome:
            element = SubElement(found, case.outcome, message=case.message)
            element.text = case.text
            if case.outcome != "skipped":
                element.set("type", kind)
    # The runs are made once for all test cases: their time stands with the first.
    seconds = f"{sum(run.record.seconds for run in check.runs):.3f}"
    suite[0].set("time", seconds)
    counts = {key: str(len(suite.findall(f"testcase/{tag}"))) for key, tag in _COUNTS.items()}
    totals = {"tests": str(len(suite)), **counts, "time": seconds}
    suite.attrib.update(totals)
    SubElement(suite, "system-out").text = "\n".join(words.summary(check))
    SubElement(suite, "system-err").text = "\n".join(
        f"--- run {run.number}, standard error\n{tail(run.stderr_tail, 40, 8000)}"
        for run in check.runs
        if run.stderr_tail
    )
    suites = Element("testsuites", name="reprocheck", attrib=totals)
    suites.append(suite)
    return written(suites)


def written(root: Element) -> bytes:
    """Write a document: XML 1.0 has no control characters, whatever stood in names and logs."""
    for element in root.iter():
        element.text = printable(element.text or "") or None
        for name, value in element.attrib.items():
            element.set(name, line(value))
    ElementTree.indent(root)
    document: bytes = ElementTree.tostring(root, encoding="utf-8", xml_declaration=True)
    return document + b"\n"


_COUNTS = {"failures": "failure", "errors": "error", "skipped": "skipped"}


@dataclass(frozen=True, slots=True)
class _Case:
    """A test case: the element with its result (none if it passed), and the text of the element."""

    name: str
    outcome: str = ""
    message: str = ""
    text: str = ""


def _cases(check: Check) -> Iterator[_Case]:
    verdict = check.verdict
    reason = verdict.reason
    yield _script(check)
    yield from (_of_kind(check, kind) for kind in KINDS)
    if check.record.setting("must_differ", NONE) != NONE:
        yield _must_differ(check)
    if verdict.verdict == "reproducible" and verdict.exit_code != 0:
        text = "\n".join(causes.summary(check, every=False))
        yield _Case("stricter rule (--fail-on)", "failure", reason, text)


def _must_differ(check: Check) -> _Case:
    """Return whether another seed changes the training."""
    name = "must differ: seed"
    effect = check.seed_effect
    text = "\n".join(sentence for _, sentence in seeds.facts(check))
    if check.verdict.verdict == "seed_without_effect":
        return _Case(name, "failure", check.verdict.reason, text)
    if effect is not None and effect.differs:
        return _Case(name)
    if check.verdict.verdict == "inconclusive":
        return _Case(name, "error", check.verdict.reason, text)
    return _Case(name, "skipped", "the effect of another seed was not judged")


def _script(check: Check) -> _Case:
    if check.verdict.verdict not in COULD_NOT_RUN:
        return _Case("script")
    return _Case("script", "error", check.verdict.reason, "\n".join(words.summary(check)))


def _of_kind(check: Check, kind: CheckKind) -> _Case:
    """Return the forward or the backward check."""
    name = f"{kind} check"
    verdict = check.verdict
    ranks = words.rank_count(check)
    rows = [row for row in verdict.comparisons if row.kind == kind]
    failed = [row for row in rows if row.passed is False]
    if failed or verdict.failed_check == kind:
        message = verdict.reason
        if verdict.failed_check != kind:
            worst = max(failed, key=lambda row: row.weight)
            message = f"The {kind} check differs, too: {_row(worst, ranks)}."
        said = [*(_row(row, ranks) for row in failed), *causes.summary(check, every=False)]
        return _Case(name, "failure", message, "\n".join(said))
    if rows and all(row.passed for row in rows):
        return _Case(name)
    if verdict.failed_check or verdict.verdict in COULD_NOT_RUN:
        return _Case(name, "skipped", "the check could not be made")
    not_made = (_row(row, ranks) for row in rows if row.passed is None)
    return _Case(name, "error", verdict.reason, "\n".join(not_made))


def _row(row: Comparison, ranks: int) -> str:
    where = f"iteration {row.iteration}, run {row.run}"
    if ranks > 1:
        where += f", rank {row.rank}"
    if row.max_difference is None:
        return f"{where}: {row.detail or 'could not be compared'}"
    return f"{where}: difference {number(row.max_difference)}, allowed {number(row.allowed)}"
