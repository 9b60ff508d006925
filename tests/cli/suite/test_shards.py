"""Shards of a night in folders of their own, and their merge, as the recipe for Slurm has them."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest

from reprocheck.cli import main
from reprocheck.suite.history import open_history
from reprocheck.suite.model import TargetState
from reprocheck.suite.pages import notices
from reprocheck.suite.targets import load
from tests.suite.here import checks_here

TRAINING = """
import sys
import reprocheck
for step in range(3):
    reprocheck.log_loss(float(sys.argv[1]) / (step + {start}))
"""
SETTINGS = """
draw = false
explain = false
[suite]
webhooks = "http://localhost:1/hook"
[[target]]
name = "t"
run = "train.py {n}"
matrix = { n = [1, 2, 3, 4] }
"""
ALL = {f"t[n={n}]" for n in (1, 2, 3, 4)}


class Team:
    """A suite in a folder, and what its commands print and send."""

    def __init__(self, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
        self.folder = folder
        self.capsys = capsys
        self.sent: list[dict[str, Any]] = []

    def says(self, *words: str) -> tuple[int, str]:
        """The exit code of a command of the suite, and what it prints on stdout, as one line."""
        self.capsys.readouterr()
        with checks_here():
            code = main(["suite", *words])
        return code, " ".join(self.capsys.readouterr().out.split())

    def trains(self, start: int) -> None:
        """The training changes."""
        (self.folder / "train.py").write_text(TRAINING.format(start=start))

    def shards(self) -> list[int]:
        """Both shares of a night, each in its folder: their exit codes."""
        parts = [f"--shard={n}/2 --folder=shards/{n}".split() for n in (1, 2)]
        return [self.says("run", "--quiet", *part)[0] for part in parts]

    def told(self) -> list[tuple[str, str]]:
        """Target and state of all that was sent since it was asked for the last time."""
        changes = [change for body in self.sent for change in body["changes"]]
        self.sent.clear()
        return [(one["target"], one["state"]) for one in changes]

    def states(self) -> dict[str, TargetState]:
        """The states of the newest night."""
        with open_history(load(self.folder).history, create=False) as history:
            return {one.target: one for one in history.states(night=history.nights()[-1].id)}


@pytest.fixture
def team(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Iterator[Team]:
    (tmp_path / "reprocheck.toml").write_text(SETTINGS)
    monkeypatch.chdir(tmp_path)
    made = Team(tmp_path, capsys)
    made.trains(1)
    monkeypatch.setattr(notices, "_post", lambda _url, body, _: made.sent.append(json.loads(body)))
    yield made


def test_a_merge_of_a_whole_night_ends_prints_and_notifies_as_a_night_does(team: Team) -> None:
    assert team.says("run", "--quiet")[0] == 0
    assert team.says("baseline", "accept", "--why", "the first night")[0] == 0
    assert team.told() == []

    team.trains(2)
    assert team.shards() == [1, 1], "a shard has the baselines of its suite"
    assert team.told() == [], "a shard knows no history: the merge tells"

    code, said = team.says("merge", "shards/1")
    assert code == 1
    assert "shard 2 of 2 is missing" in said
    assert said.count("First to differ from night") == 2
    first = {target for target, _ in team.told()}
    code, said = team.says("merge", "shards/1", "shards/2")
    assert code == 1
    assert "FAILED night" in said and "4 targets checked: 4 drift" in said
    assert said.count("First to differ from night") == 4
    assert said.count("- reprocheck.log_loss(float(sys.argv[1]) / (step + 1))") == 4
    assert sorted(team.told()) == sorted((name, "drift") for name in ALL - first)
    states = team.states()
    assert set(states) == ALL
    for name, state in states.items():
        assert (state.state, state.suspect.source) == ("drift", "train.py:5")
        report = f"{state.suspect.report}/report.html"
        link = quote(f"../../{report}")
        assert report.startswith(f"nights/{state.night}/") and (Path("nightly") / report).is_file()
        page = re.sub(r"[^\w=.]", "-", name)
        (page_file,) = Path("nightly/site/targets").glob(f"{page}*.html")
        assert f'href="{link}"' in page_file.read_text()

    code, said = team.says("merge", "shards/1", "shards/2")
    assert (code, team.told(), team.states()) == (1, [], states)

    assert team.says("baseline", "accept", "--why", "it is meant")[0] == 0
    assert team.shards() == [0, 0]
    code, said = team.says("merge", "shards/1", "shards/2")
    assert code == 0
    assert "ALL GOOD night" in said and "4 targets checked: 4 unchanged" in said
    assert "FAILED" not in said, "what was told before is not told again"
    assert team.told() == []

    team.trains(3)
    team.shards()
    code, said = team.says("merge", "shards/1", "shards/2")
    assert (code, said.count("First to differ from night")) == (1, 4)
    assert sorted(team.told()) == sorted((name, "drift") for name in ALL)


def test_a_night_without_one_of_its_shards_is_never_good(team: Team) -> None:
    team.says("run", "--quiet", "--shard=1/2", "--folder=shards/1")
    assert team.says("merge", "shards/1")[0] == 3
