"""A target that the suite has no more is told once, also by two nights at once."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from reprocheck.suite.changes import states_of_night
from reprocheck.suite.history import open_history
from tests.suite.changes.story import Story, check, target


def test_the_night_that_ends_last_does_not_tell_it_again(tmp_path: Path) -> None:
    with open_history(f"sqlite:///{tmp_path}/history.sqlite") as history:
        story = Story(history, [target("a"), target("b")])
        story.night(check("a"), check("b"))
        story.targets = story.targets[:1]
        first = replace(history.nights()[-1], id=story.name(1), targets=("a",), selected=("a",))
        history.begin_night(first)
        story.number = 2
        assert story.night(check("a"))["b"].state == "gone"
        told = {state.target for state in states_of_night(history, first, story.targets)}
        assert told == {"a"}
