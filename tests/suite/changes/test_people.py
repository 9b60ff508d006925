"""What people say of a target: a known issue, quarantine; and commits that do not concern it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from reprocheck.suite.history import open_history
from reprocheck.suite.model import KnownIssue, TargetState
from tests.suite.changes.story import CURVE, Story, check, packed, target

ISSUE = KnownIssue(why="PyTorch 1234 is open", until="2026-09-24", link="https://example.org/1234")
"""The stories begin on 2026-09-21."""
DRIFTED = packed((*CURVE[:3], 0.5))


@pytest.fixture
def story(tmp_path: Path) -> Iterator[Story]:
    """A suite of one target, and no night yet."""
    with open_history(f"sqlite:///{tmp_path}/history.sqlite") as history:
        yield Story(history, [target("a")])


def lived(story: Story, verdicts: str) -> Sequence[TargetState]:
    """The states of nights: `.` passes, `F` fails."""
    return [story.night(check("a", good=letter == "."))["a"] for letter in verdicts]


def test_a_known_issue_may_fail_until_its_date(story: Story) -> None:
    story.targets = (target("a", known_issue=ISSUE),)
    states = lived(story, "FFFFFF")
    assert {one.state for one in states} == {"known issue"}
    assert [one.failed for one in states] == [False] * 4 + [True] * 2
    assert states[0].sentence == (
        "NOT REPRODUCIBLE (backward); known issue until 2026-09-24: PyTorch 1234 is open"
    )
    assert states[5].sentence == (
        "NOT REPRODUCIBLE (backward); the known issue was allowed until 2026-09-24: PyTorch 1234"
        " is open; since 2026-10-05"
    )
    assert [one.since for one in states[3:]] == [story.name(0), "", story.name(4)]


def test_a_known_issue_that_passes_fails_the_night(story: Story) -> None:
    story.targets = (target("a", known_issue=ISSUE),)
    now = lived(story, "FFFFFF.")[6]
    assert (now.state, now.failed, now.since) == ("known issue", True, "")
    assert now.sentence == (
        "passes again after NOT REPRODUCIBLE (backward) since 2026-10-01; it passes, so its known"
        " issue can go: PyTorch 1234 is open"
    )


def test_a_known_issue_may_drift(story: Story) -> None:
    story.night(check("a"))
    story.accept(check("a"))
    story.targets = (target("a", known_issue=ISSUE),)
    now = story.night(check("a", curves=DRIFTED))["a"]
    assert (now.state, now.failed) == ("known issue", False)
    assert now.drift[0].step == 4


def test_what_is_in_quarantine_may_come_and_go(story: Story) -> None:
    story.targets = (target("a", quarantine="the cluster file system"),)
    states = lived(story, ".....F..F...F.")
    assert [one.failed for one in states] == [False] * 14
    assert {one.state for one in states[5:]} == {"intermittent"}
    assert states[5].sentence.endswith("in quarantine: the cluster file system")


def test_what_fails_to_stay_leaves_its_quarantine(story: Story) -> None:
    story.targets = (target("a", quarantine="the cluster file system"),)
    states = lived(story, "." * 20 + "FFF")
    assert [one.failed for one in states[20:]] == [False, True, True]
    assert "in quarantine, but it fails for too long" in states[21].sentence


def test_what_never_passed_and_what_drifts_is_in_no_quarantine(story: Story) -> None:
    story.targets = (target("a", quarantine="flaky"),)
    assert lived(story, "F")[0].failed
    story.night(check("a"))
    story.accept(check("a"), 1)
    now = story.night(check("a", curves=DRIFTED))["a"]
    assert (now.state, now.failed) == ("drift", True)


@pytest.mark.parametrize(("files", "state"), [("same", "intermittent"), ("", "still failing")])
def test_commits_that_touch_none_of_its_files_leave_a_target_to_chance(
    story: Story, files: str, state: str
) -> None:
    for number, letter in enumerate(".F.F..FF"):
        one = check("a", good=letter == ".", commit=f"{number:07}", files=files)
        now = story.night(one)["a"]
    assert now.state == state
