"""junit.xml, night.json, summary.md, annotations.txt and the text of an issue."""

from __future__ import annotations

import errno
import json
import re
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import jsonschema
import pytest
import xmlschema

import reprocheck.suite.pages as pages
from reprocheck.errors import ReportError
from reprocheck.suite.history import open_history
from reprocheck.suite.model import ORDER, NightReport, State, Suspect, TargetReport
from reprocheck.suite.pages import FORMATS, github, markdown, words, write
from reprocheck.suite.reports import ordered, read, shown
from tests.suite.pages.samples import (
    FAILS,
    MEASURED,
    MEASURES,
    SAMPLES,
    SENTENCES,
    WORKDIR,
    bad,
    good,
    many,
    night,
    one_of_each,
    script_fails,
    settings,
    state,
    suite_of,
    target,
)

BELOW = Path(pages.__file__).parent
SCHEMA = json.loads((BELOW / "night.schema.json").read_text("utf-8"))


@cache
def thousand() -> NightReport:
    return many()


@cache
def junit_schema() -> Any:
    return xmlschema.XMLSchema(Path(__file__).parent / "junit" / "junit-10.xsd")


def rendered(name: str, report: NightReport) -> str:
    return FORMATS[name].render(report).decode()


# -------------------------------------------------------------------------------------------- JUnit


@pytest.mark.parametrize("sample", SAMPLES)
def test_junit_is_valid_by_the_schema_of_jenkins(sample: str) -> None:
    junit_schema().validate(rendered("junit", SAMPLES[sample]()))


def test_the_schema_finds_what_is_not_valid() -> None:
    text = (
        rendered("junit", one_of_each())
        .replace("<testcase ", "<case ")
        .replace("</testcase>", "</case>")
    )
    assert not junit_schema().is_valid(text)


def elements(report: NightReport) -> dict[str, list[str]]:
    """Name of a test case -> the elements in it."""
    suite = ElementTree.fromstring(rendered("junit", report)).find("testsuite")
    assert suite is not None
    return {
        case.attrib["name"]: [inner.tag for inner in case] for case in suite.findall("testcase")
    }


def test_a_target_is_a_test_case_with_the_word_of_its_state() -> None:
    assert elements(one_of_each()) == {
        "new-failure": ["failure"],
        "drift": ["failure"],
        "still-failing": ["failure"],
        "intermittent": ["system-out", "flakyFailure"],
        "moved": ["system-out"],
        "slower": ["system-out"],
        "larger": ["system-out"],
        "gone": ["skipped"],
        "not-run": ["skipped"],
        "fixed": ["system-out"],
        "known-issue": ["skipped"],
        "expected-drift": ["system-out"],
        "new-target": ["system-out"],
        "unchanged": ["system-out"],
    }
    suite = ElementTree.fromstring(rendered("junit", one_of_each())).find("testsuite")
    assert suite is not None
    assert (suite.get("tests"), suite.get("failures"), suite.get("skipped")) == ("14", "3", "3")
    failure = suite.find("testcase/failure")
    assert failure is not None and failure.get("type") == "new failure"
    assert "encoder.blocks.0.dropout" in (failure.text or "")


def test_a_script_that_could_not_be_checked_is_an_error() -> None:
    assert elements(script_fails()) == {"a": ["error"]}


# --------------------------------------------------------------------------------------------- JSON


def test_the_schema_of_the_night_is_a_schema() -> None:
    jsonschema.Draft202012Validator.check_schema(SCHEMA)


@pytest.mark.parametrize("sample", SAMPLES)
def test_every_night_fits_its_schema(sample: str) -> None:
    document = json.loads(rendered("json", SAMPLES[sample]()))
    jsonschema.Draft202012Validator(SCHEMA).validate(document)
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.Draft202012Validator(SCHEMA).validate(document | {"schema_version": 2})


def test_json_says_what_changed_and_how_far_the_curve_is_off() -> None:
    document = json.loads(rendered("json", one_of_each()))
    by_name = {one["name"]: one for one in document["targets"]}
    assert document["failed"] == ["new-failure", "drift", "still-failing"]
    assert by_name["expected-drift"]["changed"] == {"torch": {"then": "2.13.0", "now": "2.14.0"}}
    assert by_name["drift"]["drift"][0] == {
        "series": "loss", "rank": 0, "first_bit": 3, "step": 3.0, "ulp": 1, "beyond": None,
        "relative": 1.2e-7, "value": 0.50000006, "other": 0.5, "missing": False,
        "new": False, "loose": False,
    }  # fmt: skip
    assert by_name["drift"]["baseline"]["why"] == "new data loader"
    assert by_name["gone"]["check"] is None and by_name["gone"]["state"] == "gone"
    assert by_name["intermittent"]["attempts"] == 2


def test_every_format_says_what_a_check_took() -> None:
    report = one_of_each()
    drifted = report.named("drift")
    assert drifted is not None
    document = json.loads(rendered("json", report))
    (of_json,) = (one for one in document["targets"] if one["name"] == "drift")
    assert of_json["check"]["measures"] == MEASURES
    markdown_text, junit_text = rendered("md", report), rendered("junit", report)
    issue = markdown.issue(report.night, drifted).decode()
    for name, said in MEASURED.items():
        assert f"- {name}: {said}" in markdown_text and f"- {name}: {said}" in issue
        assert f"{name}: {said}" in junit_text
        assert (name, said) in words.facts(drifted), "the page and `suite show` draw these"


def test_numbers_that_are_not_finite_are_null() -> None:
    document = json.loads(rendered("json", SAMPLES["hostile"]()))
    difference = document["targets"][0]["drift"][0]
    assert difference["value"] is None and difference["other"] is None


# ----------------------------------------------------------------------------------------- Markdown


def test_the_summary_of_a_thousand_failures_is_short_and_says_so() -> None:
    document = FORMATS["md"].render(thousand())
    assert len(document) < markdown.LARGEST
    text = document.decode()
    assert "1,000 of 1,000 targets fail" in text
    assert text.count("\n| model-") == 1000, "the table takes less than the details"
    left_out = re.search(r"… and (\d+) more targets that fail in detail, which did not fit", text)
    assert left_out and int(left_out[1]) == 1000 - text.count("\n### ")


def test_the_table_of_the_summary_ends_where_the_room_does() -> None:
    long = replace(thousand().targets[0].state, sentence="x" * 5000)  # type: ignore[type-var]
    targets = tuple(replace(one, state=long) for one in thousand().targets)
    document = FORMATS["md"].render(replace(thousand(), targets=targets))
    assert (
        len(document) < markdown.LARGEST and b"more changed targets, which did not fit" in document
    )


def test_the_summary_has_the_words_of_every_state_those_that_fail_first() -> None:
    text = rendered("md", one_of_each())
    places = [text.index(f"| {word.replace(' ', '-')} |") for word in ORDER]
    assert places == sorted(places)
    assert all(f"| **{word}** |" in text for word in FAILS)
    assert "3 of 14 targets fail" in text
    assert "- 12 of 14 targets have no baseline" in text
    drift = text[text.index("### drift: drift") :]
    for said in (
        "differs from step 3 on: 0.50000006 against 0.5 (1 ULP)",
        "operation: aten.addmm in encoder.blocks.0",
        "by Ada Example",
        f'reprocheck suite baseline accept drift --night {night(20, ()).id} --why "REASON"',
    ):
        assert said in drift


def test_the_summary_of_a_night_that_was_killed_says_so() -> None:
    assert "The night has not come to its end: 0 of 2 targets fail so far" in rendered(
        "md", SAMPLES["under_way"]()
    )


def test_hostile_names_stay_text_in_summary_and_issue() -> None:
    report = SAMPLES["hostile"]()
    for text in (rendered("md", report), markdown.issue(report.night, report.targets[0]).decode()):
        outside = re.sub(r"(`+).*?\1", "", text, flags=re.DOTALL)
        assert "<script" not in outside and "\x1b" not in text and "\x00" not in text


def test_the_issue_says_what_changed_since_when_and_how_to_reproduce() -> None:
    report = one_of_each()
    drift = report.named("drift")
    assert drift is not None
    text = markdown.issue(report.night, drift).decode()
    assert text.startswith("# drift: drift since night ")
    versions = text.splitlines()[1]
    assert versions.startswith("torch 2.13.0,") and "reprocheck " in versions
    for said in (
        "## What changed",
        "aten.addmm in encoder.blocks.0, iteration 3",
        "commit: `5f2c9e10ab12`",
        "## How to reproduce",
        "reprocheck suite run drift",
        "| torch | 2.13.0 |",
    ):
        assert said in text


def test_a_failure_names_the_command_that_explains_it() -> None:
    found = one_of_each().named("new-failure")
    assert found is not None and found.target is not None
    options = {"steps": 20, "explain": False}
    with_all = replace(
        target(found.name), options=options, workdir=WORKDIR / "a b", environment={"A": "1"}
    )
    typed = dict(words.commands(replace(found, target=shown(with_all))))
    assert typed["Confirm the cause, and get a fix that was tried:"] == (
        "(cd 'a b' && env A=1 reprocheck explain --steps 20 new-failure.py --lr 0.1)"
    )
    drift = one_of_each().named("drift")
    assert drift is not None and "explain" not in str(words.commands(drift))
    assert "baseline accept" in str(words.commands(drift))
    bad = tuple(replace(check, good=False) for check in drift.attempts)
    assert "baseline accept" not in str(words.commands(replace(drift, attempts=bad)))


# -------------------------------------------------------------------------------------- annotations


def test_annotations_name_file_line_and_title_escaped() -> None:
    report = one_of_each()
    changed = replace(report.targets[0].state, sentence="100 % of\nx")  # type: ignore[type-var]
    row = replace(report.targets[0], name="a: b, c", state=changed)
    first = rendered("github", replace(report, targets=(row,))).splitlines()[0]
    assert first == (
        "::error file=model/net.py,line=12,title=a%3A b%2C c%3A new failure::100 %25 of x"
    )


def test_the_changed_line_is_in_every_format() -> None:
    report = one_of_each()
    drift = report.named("drift")
    assert drift is not None
    (line,) = (row for row in rendered("github", report).splitlines() if "title=drift" in row)
    assert line.startswith("::error file=model/loss.py,line=4,title=drift%3A drift::")
    assert "%0A- return x * 0.1%0A+ return x * 0.15%0A4cc649203e93 Smoother labels" in line
    issue = markdown.issue(report.night, drift).decode()
    for text in (issue, rendered("md", report), rendered("junit", report)):
        assert (
            "changed line: `model/loss.py:4`".replace("`", "" if "<?xml" in text else "`") in text
        )
        assert "changed by: 4cc649203e93 Smoother labels" in text
        assert "-    return x * 0.1\n+    return x * 0.15" in text
    document = json.loads(rendered("json", report))
    (suspect,) = (one["suspect"] for one in document["targets"] if one["suspect"])
    assert suspect["source"] == {"file": "model/loss.py", "line": 4}
    assert suspect["report"].endswith("/drift/drift-compared-1")
    assert suspect["commits"] == ["4cc649203e93 Smoother labels"]


def test_an_annotation_without_a_cause_stands_at_the_first_line_of_the_script() -> None:
    drift = one_of_each().named("drift")
    assert drift is not None and drift.state is not None
    drift = replace(drift, state=replace(drift.state, suspect=Suspect()))
    shown = rendered("github", replace(one_of_each(), targets=(drift,)))
    assert shown.startswith("::error file=drift.py,line=1,title=drift")


def test_no_more_annotations_than_github_shows() -> None:
    lines = rendered("github", thousand()).splitlines()
    assert len(lines) == github.MOST
    assert lines[-1].startswith("::error title=991 more targets::991 more, among them model-0009")
    warned = rendered("github", one_of_each()).splitlines()
    assert [line.split(" ", 1)[0] for line in warned] == ["::error"] * 3 + ["::warning"] * 7


# ------------------------------------------------------------------------------ reading and writing


def test_a_night_is_read_from_a_history_with_retries_states_and_baselines(tmp_path: Path) -> None:
    report = one_of_each()
    suite = suite_of(tmp_path, *(settings(one.name) for one in report.targets if one.target))
    with open_history(suite.history) as history:
        history.begin_night(report.night)
        history.end_night(report.night.id, report.night.ended or 0.0)
        history.add_all(check for one in report.targets for check in one.attempts)
        history.put_states(one.state for one in report.targets if one.state)
        history.accept(next(one.baseline for one in report.targets if one.baseline))
        found = read(history, report.night.id, suite)
    assert {one.name: one.word for one in found.targets} == {
        word.replace(" ", "-"): word for word in SENTENCES
    }
    expected = [
        replace(one, attempts=tuple(replace(check, curves=b"") for check in one.attempts))
        for one in report.targets
    ]
    assert list(found.targets) == expected


def test_what_fails_comes_first_whatever_its_state_is() -> None:
    words: tuple[State, ...] = ("intermittent", "slower", "drift")
    rows = [
        TargetReport(
            name=word,
            target=shown(target(word)),
            state=state(night(1, words), word, word, failed=word == "slower"),
            attempts=(good(night(1, words), word),),
        )
        for word in words
    ]
    assert [one.name for one in ordered(rows)] == ["slower", "drift", "intermittent"]


@pytest.mark.parametrize("sample", SAMPLES)
def test_the_same_night_gives_the_same_bytes(sample: str, tmp_path: Path) -> None:
    files = write(SAMPLES[sample](), tmp_path / "a" / "b")
    assert [file.name for file in files] == [form.filename for form in FORMATS.values()]
    assert [file.read_bytes() for file in files] == [
        form.render(SAMPLES[sample]()) for form in FORMATS.values()
    ]


def test_a_full_disk_is_said_with_what_to_do(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object, **__: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr("tempfile.mkstemp", full)
    with pytest.raises(ReportError, match="No space left on device") as caught:
        write(one_of_each(), tmp_path)
    assert "reprocheck suite report" in caught.value.fix
    assert list(tmp_path.iterdir()) == []


def test_an_attempt_that_was_not_good_is_told_beside_the_last_one() -> None:
    now = night(1, ["a"])
    row = TargetReport(
        name="a",
        target=shown(target("a")),
        state=state(now, "a", "new failure", failed=True),
        attempts=(bad(now, "a"), bad(now, "a", attempt=2)),
    )
    text = rendered("junit", NightReport(night=now, targets=(row,)))
    junit_schema().validate(text)
    assert "attempt 1: NOT REPRODUCIBLE (forward)" in text and "attempts: NOT REPRODUCIBLE" in text
