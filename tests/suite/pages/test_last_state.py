"""What a night did not select: it keeps its last state in all that shows the night."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from xml.etree import ElementTree

import pytest

from reprocheck.suite import reports, site
from reprocheck.suite.history import open_history
from reprocheck.suite.model import NightReport
from reprocheck.suite.pages import FORMATS, notices, words
from reprocheck.suite.targets import Suite
from tests.suite.changes.story import Story, check, target
from tests.suite.night.five_nights import Tables


@pytest.fixture
def shown(tmp_path: Path) -> Iterator[tuple[NightReport, Path]]:
    """A night of one target, after one in which another failed, and the folder of the pages."""
    targets = (target("a"), target("b"), target("new"))
    address = f"sqlite:///{tmp_path}/history.sqlite"
    suite = Suite(targets=targets, folder=tmp_path, history=address, file=tmp_path / "a.toml")
    with open_history(address) as history:
        story = Story(history, targets[:2])
        story.night(check("a"), check("b", good=False, reason="run 2 differs."))
        story.targets = targets
        story.night(check("a"), selected=("a",))
        yield reports.read(history, story.name(1), suite), site.write(history, suite).index


def test_it_counts_with_its_date(shown: tuple[NightReport, Path]) -> None:
    report, _ = shown
    assert words.headline(report) == "1 of 3 targets fails"
    assert report.counts == {"new failure": 1, "unchanged": 1, "no state yet": 1}
    one = report.named("b")
    assert one is not None and one.check is None
    assert words.sentence(one) == (
        "NOT REPRODUCIBLE (backward): run 2 differs; last checked on 2026-10-01"
    )


def test_its_files_say_that_it_was_not_checked(shown: tuple[NightReport, Path]) -> None:
    report, _ = shown
    suite = ElementTree.fromstring(FORMATS["junit"].render(report))
    (case,) = suite.iterfind(".//testcase[@name='b']/skipped")
    assert case.get("type") == "new failure"
    assert suite.get("failures") == "0"
    assert FORMATS["github"].render(report) == b""
    assert notices.changes(report) == []
    document = json.loads(FORMATS["json"].render(report))
    (row,) = (row for row in document["targets"] if row["name"] == "b")
    assert (row["failed"], row["last_checked"]) == (True, Story.name(0))
    assert document["failed"] == ["b"]


def test_the_overview_has_it(shown: tuple[NightReport, Path]) -> None:
    rows = Tables.rows(shown[1].read_text())
    assert rows["b"][0] == "new failure"
    assert "last checked on 2026-10-01" in rows["b"][-1]
    assert rows["new"][0] == "no state yet"
