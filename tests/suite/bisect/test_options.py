"""Searches where the target was run with other options in the two nights."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from reprocheck.errors import UsageError
from reprocheck.suite.bisect.result import Bisected
from reprocheck.suite.bisect.words import words
from reprocheck.suite.history import open_history
from reprocheck.suite.model import Key, Night
from reprocheck.suite.targets import load
from tests.suite.bisect.places import ONE_MORE_BIT, commit, night, repository, searched, suite_of

FEWER = "SIZE=2 --steps 3 train.py"


class Nights:
    """A good night that was run, and later ones as a history has them, all with `FEWER`: one of the
    same code, one of a commit that changes nothing, one of a commit that moves the loss.
    """

    same, notes, scale = "n2", "n3", "n4"

    def __init__(self, project: Path) -> None:
        self.project = repository(project)
        suite_of(project, "model")
        (project / ".gitignore").write_text("nightly/\n__pycache__/\n")
        commit(project, "Start", model="SCALE = 1.0\n")
        self.good = night(project)
        with (project / "reprocheck.toml").open("a") as settings:
            settings.write("# steps = 3\n")
        same = commit(project, "Options")
        notes = commit(project, "Notes", notes="")
        scale = commit(project, "Scale", model=f"SCALE = {ONE_MORE_BIT}\n")
        suite = load(project)
        with open_history(suite.history) as history:
            (check,) = history.checks(night=self.good, curves=True)
            key = Key(facts={**check.key.facts, "options": FEWER})
            for name, at in ((self.same, same), (self.notes, notes), (self.scale, scale)):
                history.begin_night(Night(id=name, started=0.0))
                history.add(replace(check, night=name, commit=at, key=key, curves=b""))

    def searched(self, bad: str, **options: object) -> Bisected:
        return searched(self.project, self.good, bad, **options)  # type: ignore[arg-type]


@pytest.fixture(scope="module")
def nights(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Nights]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("tempfile.tempdir", str(tmp_path_factory.mktemp("tmp")))
        yield Nights(tmp_path_factory.mktemp("options"))


OPTIONS = {"variable.SIZE": ("", "2"), "steps": ("10", "3")}


def test_where_only_options_changed_they_are_the_change_and_nothing_is_checked(
    nights: Nights,
) -> None:
    found = nights.searched(nights.same)
    assert (found.outcome, found.made, found.checked) == ("options", 0, ())
    assert found.options == OPTIONS
    said = words(found)
    assert said.head == "FOUND"
    assert "no code and no package differs" in said.lines[0]
    assert said.lines[1:] == ("option   steps 10 -> 3", "option   variable.SIZE not there -> 2")


def test_where_commits_changed_too_the_options_of_one_night_are_asked_for(nights: Nights) -> None:
    with pytest.raises(UsageError, match="other options in the two nights") as told:
        nights.searched(nights.scale)
    assert f"`train.py` was run in the night {nights.good}, and `{FEWER}`" in told.value.message
    assert "--options bad" in told.value.fix


def test_with_the_options_of_the_bad_night_the_commit_is_found(nights: Nights) -> None:
    found = nights.searched(nights.scale, as_in="bad")
    assert found.outcome == "found"
    assert found.guilty[0].commit is not None
    assert found.guilty[0].commit.subject == "Scale"
    assert found.made == len(found.checked) <= found.most
    assert (found.options, found.options_of) == (OPTIONS, nights.scale)
    assert found.elsewhere == {}
    assert any("They differ, too: " in line for line in words(found).lines)
    assert nights.searched(nights.scale, as_in="bad").made == 0


def test_where_both_ends_agree_with_the_same_options_the_options_are_the_change(
    nights: Nights,
) -> None:
    found = nights.searched(nights.notes, as_in="bad")
    assert found.outcome == "bad end is good"
    assert "but the options" in words(found).lines[0]


def test_with_the_options_of_the_good_night_its_own_curves_are_what_counts(nights: Nights) -> None:
    found = nights.searched(nights.scale, as_in="good")
    assert found.outcome == "found"
    assert found.guilty[0].commit is not None
    assert found.guilty[0].commit.subject == "Scale"
