"""What is removed of a suite, and what always stays."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from reprocheck.suite import site
from reprocheck.suite.history import History, open_history
from reprocheck.suite.history.maintenance import old_rows, remove_old_rows
from reprocheck.suite.model import Suspect
from reprocheck.suite.night import prune
from reprocheck.suite.targets import Suite
from tests.suite.changes.story import Story, check
from tests.suite.nights import suite_in


@pytest.fixture(params=["sqlite", "postgresql"])
def suite(tmp_path: Path, request: pytest.FixtureRequest) -> Suite:
    keys = {"keep": "2"}
    if request.param == "postgresql":
        url = request.getfixturevalue("postgresql").new_database()
        keys["history"] = f'"{url}"'
    return suite_in(tmp_path, "a", "b", **keys)


@pytest.fixture
def history(suite: Suite) -> Iterator[History]:
    with open_history(suite.history) as opened:
        yield opened


def nights(suite: Suite, history: History, number: int) -> list[str]:
    """Nights of both targets; `b` fails the first one, and is checked in the first two alone."""
    story = Story(history, suite.targets)
    for place in range(number):
        night = story.name(place)
        checks = [check("a"), check("b", good=place > 0)]
        made = []
        for one in checks[: 2 if place < 2 else 1]:
            folder = f"nights/{night}/{one.target}/attempt-1"
            (suite.folder / folder).mkdir(parents=True)
            (suite.folder / folder / "report.json").write_text("{}")
            made.append(replace(one, folder=folder))
        (suite.folder / "nights" / night / "night.json").write_text("{}")
        story.night(*made)
    return [story.name(place) for place in range(number)]


def folders(suite: Suite) -> list[str]:
    found = (suite.folder / "nights").glob("*/*/attempt-1")
    return sorted("/".join(path.parts[-3:-1]) for path in found)


def test_the_last_check_and_the_last_failure_of_each_target_always_stay(
    suite: Suite, history: History
) -> None:
    names = nights(suite, history, 6)
    prune.remove_old(suite, history, history.night(names[-1]))
    assert folders(suite) == [
        f"{names[0]}/b",  # its last failure
        f"{names[1]}/b",  # its last check
        f"{names[4]}/a",
        f"{names[5]}/a",
    ]
    there = {path.name for path in (suite.folder / "nights").iterdir()}
    assert there == {names[0], names[1], names[4], names[5]}


def test_nothing_is_removed_until_that_is_asked_for(suite: Suite, history: History) -> None:
    nights(suite, history, 4)
    (suite.folder / "kept" / "gone").mkdir(parents=True)
    (suite.folder / "kept" / "gone" / "0123.zip").write_bytes(b"12345")
    (suite.folder / "bisect" / "a" / "1").mkdir(parents=True)
    os.utime(suite.folder / "bisect" / "a", (1.0, 1.0))
    before = sorted(suite.folder.rglob("*"))
    found = prune.superfluous(suite, history)
    assert sorted(suite.folder.rglob("*")) == before
    said = {one.what: (len(one.paths), one.size) for one in found}
    assert said["reports"] == (2, 4)
    assert said["recordings"] == (1, 5)
    assert said["searches"][0] == 1
    prune.remove(found)
    assert not any(one.paths for one in prune.superfluous(suite, history))
    assert history.nights()


def test_old_rows_go_but_for_those_of_the_last_check_and_the_last_failure(
    suite: Suite, history: History
) -> None:
    names = nights(suite, history, 6)
    before = history.checks()
    assert old_rows(history, keep=3) == 3
    assert history.checks() == before
    assert remove_old_rows(history, keep=3) == 3
    left = [(one.night, one.target) for one in history.checks()]
    assert left == [
        (names[0], "b"),
        (names[1], "b"),
        *((name, "a") for name in names[3:]),
    ]
    assert {one.night for one in history.states()} <= {one.id for one in history.nights()}
    assert old_rows(history, keep=3) == 0


def test_no_page_links_a_report_that_is_gone(suite: Suite, history: History) -> None:
    story = Story(history, suite.targets)
    links: set[str] = set()
    for number in range(7):
        night = story.name(number)
        checks = []
        for one in (check("a"), check("b", good=number not in (0, 4))):
            of_target = f"nights/{night}/{one.target}"
            for report in ("attempt-1", "compared"):
                (suite.folder / of_target / report).mkdir(parents=True)
                (suite.folder / of_target / report / "report.html").touch()
            checks.append(replace(one, folder=f"{of_target}/attempt-1"))
        state = story.night(*checks)["b"]
        suspect = Suspect(report=f"nights/{night}/b/compared", source="train.py:1")
        history.put_states([replace(state, suspect=suspect)])
        prune.remove_old(suite, history, history.night(night))
        for page in site.write(history, suite).index.parent.rglob("*.html"):
            for link in re.findall(r'href="([^"]*report\.html)"', page.read_text()):
                assert (page.parent / link).is_file(), (number, page, link)
                links.add(Path(link).parent.name)
    assert links == {"attempt-1", "compared"}
