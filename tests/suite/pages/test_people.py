"""Known issues and quarantine: all that shows a night says the same of them, and owners are told."""

from __future__ import annotations

import io
import json
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass, replace
from xml.etree import ElementTree

import pytest

from reprocheck.cli.suite.outcome import print_outcome
from reprocheck.cli.terminal import Stream
from reprocheck.suite import reports, site, texts
from reprocheck.suite.history import open_history
from reprocheck.suite.model import KnownIssue, NightReport
from reprocheck.suite.night import Outcome
from reprocheck.suite.pages import FORMATS
from reprocheck.suite.target import Target
from reprocheck.suite.targets import Suite
from tests.suite.changes.story import Story, check, target
from tests.suite.night.five_nights import Tables
from tests.suite.pages.test_notices import Hook

OPEN = KnownIssue(why="PyTorch 1234", until="2030-01-01", link="https://example.org/1234")
TARGETS = (
    target("allowed", known_issue=OPEN, owner="@ada"),
    target("over", known_issue=replace(OPEN, until="2026-01-01"), owner="@ada"),
    target("passes", known_issue=OPEN, owner="@bob"),
    target("comes and goes", quarantine="the disk", owner="@ada"),
    target("stays", quarantine="the disk"),
    target("good"),
)
GOOD = {"passes", "good"}
RED = {"over", "passes", "stays"}
ALLOWED = {"allowed", "comes and goes"}


@dataclass(frozen=True, kw_only=True)
class Shown:
    """A night, and all that was said of it."""

    report: NightReport
    outcome: Outcome
    terminal: str
    page: dict[str, list[str]]
    index: dict[str, list[str]]


@pytest.fixture(scope="module")
def shown(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Shown]:
    """The night after many good ones and a failure of what is in quarantine."""
    folder = tmp_path_factory.mktemp("suite")
    address = f"sqlite:///{folder}/history.sqlite"
    suite = Suite(targets=TARGETS, folder=folder, history=address, file=folder / "a.toml")
    with open_history(address) as history:
        story = Story(history, [_unmarked(one) for one in TARGETS])
        for _ in range(20):
            story.night(*(check(one.name) for one in TARGETS))
        story.targets = [one if one.name == "stays" else _unmarked(one) for one in TARGETS]
        story.night(*(check(one.name, good=one.name != "stays") for one in TARGETS))
        story.targets = TARGETS
        states = story.night(*(check(one.name, good=one.name in GOOD) for one in TARGETS))
        night = history.night(story.name(21))
        report = reports.read(history, night.id, suite)
        checks = history.final(night.id)
        outcome = Outcome(night=night, checks=checks, states=tuple(states.values()))
        written = site.write(history, suite)
    text = io.StringIO()
    print_outcome(outcome, report, suite, written.index, Stream(text))
    yield Shown(
        report=report,
        outcome=outcome,
        terminal=" ".join(text.getvalue().split()),
        page=Tables.rows((written.index.parent / "nights" / f"{night.id}.html").read_text()),
        index=Tables.rows(written.index.read_text()),
    )


def _unmarked(one: Target) -> Target:
    return replace(one, known_issue=None, quarantine="")


def test_exit_code_and_terminal_agree(shown: Shown) -> None:
    assert shown.outcome.exit_code == 1
    assert {one.target for one in shown.outcome.failed} == RED
    assert replace(shown.outcome, states=_allowed(shown.outcome)).exit_code == 0
    for one in shown.outcome.states:
        if one.target in RED | ALLOWED:
            assert f" {one.target} {one.state}. {one.sentence} " in f"{shown.terminal} "


def _allowed(outcome: Outcome) -> tuple:
    return tuple(one for one in outcome.states if one.target in ALLOWED)


def test_files_and_pages_agree(shown: Shown) -> None:
    suite = ElementTree.fromstring(FORMATS["junit"].render(shown.report))
    kinds = {case.get("name"): case[0].tag for case in suite.iter("testcase")}
    assert {name for name, kind in kinds.items() if kind == "failure"} == RED
    assert {name for name, kind in kinds.items() if kind == "skipped"} == ALLOWED

    lines = FORMATS["github"].render(shown.report).decode().splitlines()
    for level, names in (("error", RED), ("warning", ALLOWED)):
        titles = [line for line in lines if line.startswith(f"::{level} ")]
        assert len(titles) == len(names)
        assert all(any(f"title={name}%3A" in line for line in titles) for name in names)

    document = json.loads(FORMATS["json"].render(shown.report))
    rows = {row["name"]: row for row in document["targets"]}
    assert set(document["failed"]) == RED == {name for name in rows if rows[name]["failed"]}
    assert rows["allowed"]["known_issue"] == {
        "why": "PyTorch 1234",
        "until": "2030-01-01",
        "link": "https://example.org/1234",
    }
    assert (rows["stays"]["quarantine"], rows["over"]["owner"]) == ("the disk", "@ada")

    summary = FORMATS["md"].render(shown.report).decode()
    for one in shown.outcome.states:
        word = f"**{one.state}**" if one.target in RED else one.state
        assert f"| {one.target} | {word} |" in summary
        for rows_of in (shown.page, shown.index):
            assert rows_of[one.target][0] == one.state


def test_the_notice_goes_to_the_owner(shown: Shown) -> None:
    everybody, ada, bob = Hook(200), Hook(200), Hook(200)
    with ExitStack() as stack:
        urls = [stack.enter_context(hook.listening()) for hook in (everybody, ada, bob)]
        of_owners = {"@ada": urls[1:2], "@bob": urls[2:], "@eve": urls[2:]}
        assert texts.notify(urls[:1], shown.report, of_owners) == []
    told = {row["target"]: row["owner"] for row in everybody.bodies[0]["changes"]}
    assert told == {"over": "@ada", "passes": "@bob", "stays": ""}
    assert "\n- over (@ada): known issue. " in everybody.bodies[0]["text"]
    assert [row["target"] for row in ada.bodies[0]["changes"]] == ["over"]
    assert [row["target"] for row in bob.bodies[0]["changes"]] == ["passes"]
