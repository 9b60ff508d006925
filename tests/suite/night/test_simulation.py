"""Nights of every shape tell what happened, at the right target and once; all that a night writes
says the same.

`python -m benchmarks --suite --only suite-nights` lives 1,000 nights of these and more.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from html.parser import HTMLParser
from pathlib import Path
from xml.etree import ElementTree

import pytest

from benchmarks.suite_nights import FLAKY, SHAPES, Told, World, accepted, live, living
from reprocheck.suite.history import open_history
from reprocheck.suite.model import TargetState
from reprocheck.suite.pages.notices import TOLD
from reprocheck.suite.targets import load

NIGHTS = 5


@pytest.mark.parametrize("shape", SHAPES)
def test_each_night_tells_what_happened_and_nothing_else(shape: str, tmp_path: Path) -> None:
    assert live(shape, 1, NIGHTS, tmp_path) == []


# ------------------------------------------------------------------------------ one night


@dataclass(frozen=True)
class OneNight:
    """A night in which much happened, and all that it wrote.

    folder  of its files
    page    its page
    """

    exit_code: int
    terminal: str
    folder: Path
    page: str
    states: dict[str, TargetState]
    sent: list[Told]

    @property
    def failed(self) -> set[str]:
        return {name for name, state in self.states.items() if state.failed}

    def read(self, name: str) -> str:
        return (self.folder / name).read_text(encoding="utf-8")


def happens(world: World) -> None:
    """One thing at each target."""
    world.night, world.clock = 1, world.clock + 86400
    world.lives["a"].version += 1
    world.lives["b"].broken = True
    world.lives[FLAKY].flaked = True
    world.lives["new"] = world.lives.pop("c")
    world.sent.clear()
    world.write()


@pytest.fixture(scope="module", params=["run", "merge"])
def one(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> OneNight:
    """The night on one machine, and of two shards."""
    folder = tmp_path_factory.mktemp("night")
    world = World(folder, seed=1)
    with living(world, draws=True):
        world.says("run", "-q")
        accepted(world, *world.lives)
        happens(world)
        if request.param == "run":
            code, said = world.says("run", "-q", "--retries", "1")
        else:
            parts = ("shards/1", "shards/2")
            for number, part in enumerate(parts, start=1):
                shard = ("--shard", f"{number}/2", "--folder", part)
                world.says("run", "-q", "--retries", "1", *shard)
            code, said = world.says("merge", *parts)
    with open_history(load(folder).history) as history:
        night = history.nights()[-1].id
        states = {state.target: state for state in history.states(night=night)}
    page = (folder / "nightly" / "site" / "nights" / f"{night}.html").read_text()
    terminal = " ".join(said.split())
    of_night = folder / "nightly" / "nights" / night
    return OneNight(code, terminal, of_night, page, states, world.sent)


def test_the_states_are_what_happened(one: OneNight) -> None:
    words = {name: state.state for name, state in one.states.items()}
    assert words == {
        "a": "drift",
        "b": "new failure",
        "c": "gone",
        "d": "unchanged",
        "e": "unchanged",
        "flaky": "intermittent",
        "new": "new target",
        "unguarded": "unchanged",
    }
    assert one.failed == {"a", "b", "flaky"}
    assert one.exit_code == 1


def test_the_terminal_says_the_same(one: OneNight) -> None:
    assert "FAILED night" in one.terminal
    for name, state in one.states.items():
        said = f" {name} {state.state}. {state.sentence}".replace("→", "->")
        assert (said in one.terminal) == state.failed, name
    assert "From version 0 to 1. train.py:1 -old +new since" in one.terminal


class Table(HTMLParser):
    """The rows of the table of targets: whether they fail, and the text of their cells."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.rows: list[tuple[bool, list[str]]] = []
        self.feed(page)

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        if tag == "tr":
            self.rows.append(("data-failed" in dict(attributes), []))
        elif tag in ("td", "th") and self.rows:
            self.rows[-1][1].append("")

    def handle_data(self, data: str) -> None:
        if self.rows and self.rows[-1][1]:
            self.rows[-1][1][-1] += data.strip()


def test_the_page_says_the_same(one: OneNight) -> None:
    rows = Table(one.page).rows[1:]
    assert {row[0]: row[1] for _, row in rows} == {
        name: state.state for name, state in one.states.items()
    }
    assert {row[0] for failed, row in rows if failed} == one.failed
    assert "-old\n+new" in one.page and "train.py:1" in one.page
    links = re.findall(r'href="\.\./\.\./([^"]*-compared-[^"/]*)/report\.html"', one.page)
    assert [Path(link).parent.name for link in links] == ["b", "a"], "by chance nothing is compared"
    assert all((one.folder.parents[1] / link).is_dir() for link in links)


def test_the_files_say_the_same(one: OneNight) -> None:
    document = json.loads(one.read("night.json"))
    assert set(document["failed"]) == one.failed
    by_name = {target["name"]: target for target in document["targets"]}
    assert {name: target["state"] for name, target in by_name.items()} == {
        name: state.state for name, state in one.states.items()
    }
    assert by_name["a"]["suspect"]["source"] == {"file": "train.py", "line": 1}
    cases = ElementTree.fromstring(one.read("junit.xml")).iter("testcase")
    tags = {case.get("name"): {inner.tag for inner in case} for case in cases}
    assert {name for name, inner in tags.items() if inner & {"failure", "error"}} == one.failed
    assert set(tags) == set(one.states)
    summary = one.read("summary.md")
    for name, state in one.states.items():
        word = f"**{state.state}**" if state.failed else state.state
        assert f"| {name} | {word} |" in summary


def annotated(one: OneNight, level: str) -> Iterator[str]:
    return (row for row in one.read("annotations.txt").splitlines() if row.startswith(f"::{level}"))


def test_the_annotations_say_the_same(one: OneNight) -> None:
    titles = [re.search(r"title=(.*?)%3A (.*?)::", row) for row in annotated(one, "error")]
    named = {found[1]: found[2] for found in titles if found}
    assert named == {name: one.states[name].state for name in one.failed}
    (of_drift,) = (row for row in annotated(one, "error") if "title=a%3A" in row)
    assert of_drift.startswith("::error file=train.py,line=1,") and "%0A-old%0A+new" in of_drift


def test_the_notice_says_the_same(one: OneNight) -> None:
    expected = [(name, state.state) for name, state in one.states.items() if state.state in TOLD]
    assert sorted(one.sent) == sorted(expected)
