"""junit.xml of a night: one test case a target.

A target that fails the night is a `failure`, or an `error` where its script could not be checked.
One that was not checked is `skipped`, and so is one that is allowed to fail. An attempt before the
last one that was not good stands as `flakyFailure`, which readers of the format take for a pass
that is worth a look.
"""

from __future__ import annotations

from xml.etree.ElementTree import Element, SubElement

from reprocheck.report.junit import written
from reprocheck.suite.model import NOT_GREEN, NightReport, TargetReport
from reprocheck.suite.pages import words

COULD_NOT_RUN = ("script_failed", "timed_out", "error")
_COUNTED = {"failures": "failure", "errors": "error", "skipped": "skipped"}


def render(report: NightReport) -> bytes:
    """Render junit.xml, valid by the schema of the JUnit plugins of Jenkins (`junit-10.xsd`)."""
    suite = Element(
        "testsuite",
        name=f"reprocheck suite: {report.night.id}",
        timestamp=words.iso(report.night.started),
    )
    for target in report.targets:
        _case(suite, target)
    counts = {key: len(suite.findall(f"testcase/{tag}")) for key, tag in _COUNTED.items()}
    texts = {key: str(value) for key, value in {"tests": len(suite), **counts}.items()}
    texts["time"] = f"{report.seconds:.3f}"
    suite.attrib.update(texts)
    SubElement(suite, "system-out").text = f"{words.headline(report)}\n{words.counts(report)}"
    # The element around the suites has no count of those that were skipped in this schema.
    del texts["skipped"]
    suites = Element("testsuites", name="reprocheck suite", attrib=texts)
    suites.append(suite)
    return written(suites)


def _case(suite: Element, target: TargetReport) -> None:
    case = SubElement(
        suite,
        "testcase",
        classname="reprocheck.suite",
        name=target.name,
        time=f"{words.seconds_of(target):.3f}",
    )
    outcome = _outcome(target)
    message = f"{target.word}: {words.sentence(target)}"
    if outcome:
        found = SubElement(case, outcome, type=target.word, message=message)
        if outcome != "skipped":
            found.text = text(target)
    else:
        SubElement(case, "system-out").text = message
    for attempt in target.attempts[:-1]:
        if not attempt.good:
            title = f"attempt {attempt.attempt}: {words.title(attempt)}"
            flaky = SubElement(case, "flakyFailure", type=attempt.verdict, message=title)
            flaky.text = attempt.reason


def _outcome(target: TargetReport) -> str:
    """Return the XML element for a target's outcome; "" if the target passed."""
    check = target.decisive
    if target.last_checked:
        return "skipped"
    if not target.failed:
        skipped = target.word in NOT_GREEN
        return "skipped" if target.check is None or not target.check.good or skipped else ""
    if check is not None and check.verdict in COULD_NOT_RUN:
        return "error"
    return "failure"


def text(target: TargetReport) -> str:
    """Return all known facts of a target, one per line, and the changed lines."""
    rows = [f"{name}: {said}" for name, said in words.facts(target)]
    steps = [f"{why} {command}" for why, command in words.commands(target)]
    facts = "\n".join((*rows, *steps)).replace("`", "")
    return "\n".join(filter(None, (facts, words.diff(target))))
