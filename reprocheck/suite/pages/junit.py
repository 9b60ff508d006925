"""junit.xml of a night: one test case a target.

A target that fails the night is a `failure`, or an `error` where its script could not be checked.
One that was not checked is `skipped`. An attempt before the last one that was not good stands as
`flakyFailure`, which readers of the format take for a pass that is worth a look.
"""

from __future__ import annotations

from xml.etree.ElementTree import Element, SubElement

from reprocheck.report.junit import written
from reprocheck.suite.model import NOT_CHECKED, NightReport, TargetCheck, TargetReport
from reprocheck.suite.pages import words

COULD_NOT_RUN = ("script_failed", "timed_out", "error")
_COUNTED = {"failures": "failure", "errors": "error", "skipped": "skipped"}


def render(report: NightReport) -> bytes:
    """Return the file, valid by the schema of the JUnit plugins of Jenkins (`junit-10.xsd`)."""
    suite = Element(
        "testsuite",
        name=f"reprocheck suite: {report.night.id}",
        timestamp=words.iso(report.night.started),
    )
    for one in report.targets:
        _case(suite, one)
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


def _case(suite: Element, one: TargetReport) -> None:
    case = SubElement(
        suite,
        "testcase",
        classname="reprocheck.suite",
        name=one.name,
        time=f"{words.seconds_of(one):.3f}",
    )
    outcome = _outcome(one)
    message = f"{one.word}: {words.sentence(one)}"
    if outcome:
        found = SubElement(case, outcome, type=one.word, message=message)
        if outcome != "skipped":
            found.text = text(one)
    else:
        SubElement(case, "system-out").text = message
    for attempt in one.attempts[:-1]:
        _attempt(case, attempt)


def _outcome(one: TargetReport) -> str:
    """Return the element that says how a target did; "" where it passed."""
    check = one.check
    if not one.failed:
        return _NOT_FAILED[check is None or one.word in NOT_CHECKED]
    if check is not None and check.verdict in COULD_NOT_RUN:
        return "error"
    return "failure"


_NOT_FAILED = {True: "skipped", False: ""}
"""Whether it was not checked -> its element."""


def _attempt(case: Element, attempt: TargetCheck) -> None:
    """Write an earlier attempt that was not good."""
    if not attempt.good:
        title = f"attempt {attempt.attempt}: {words.title(attempt)}"
        found = SubElement(case, "flakyFailure", type=attempt.verdict, message=title)
        found.text = attempt.reason


def text(one: TargetReport) -> str:
    """Return what is known of a target, a row a fact."""
    rows = [f"{name}: {said}" for name, said in words.facts(one)]
    steps = [f"{why} {command}" for why, command in words.commands(one)]
    return "\n".join((*rows, *steps)).replace("`", "")
