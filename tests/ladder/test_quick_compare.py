"""Two traces read side by side say where they first differ on each rung, as the whole ones do."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from reprocheck.ladder import quick_compare
from reprocheck.ladder.rank import Pairs, Rank, rank_of, read_pairs
from tests.ladder.ladder_traces import Event, changes, pair_of, tensor, text, training, without


def said(rank: Rank) -> object:
    """What of a rank decides which ranks are read whole, and what the ladder says of the others."""
    found = {name: (one.iteration, one.size) for name, one in rank.findings.items()}
    first = rank.first
    return found, first and first.when, rank.independent, rank.kept


CHANGED = pytest.mark.parametrize(
    "changed",
    [
        {},
        {"weights": "other", "born": "elsewhere"},
        {"x1": "other"},
        {"noisy": "other", "new weights": "changed"},
        {"torch": "other", "noisy": "other", "drop": "other"},
        {"dw body": "other", "reduced": "other", "new": "other"},
        {"new": "other", "new weights": "changed"},
        {"0.5": "0.25"},
    ],
)


@CHANGED
def test_what_is_passed_over_changes_nothing(changed: dict[str, str], tmp_path: Path) -> None:
    first = training(drop="") if "drop" in changed else training()
    pairs = of_two_ranks(tmp_path, first, training(**changed))
    whole, skimmed = pairs.read(0), pairs.skim(0)
    assert said(rank_of(skimmed)) == said(rank_of(whole))
    assert len(skimmed.steps) < len(whole.steps)


@CHANGED
def test_lines_are_passed_over_as_if_each_were_looked_at(
    changed: dict[str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = many(training(drop="") if "drop" in changed else training())
    pairs = of_two_ranks(tmp_path, first, many(training(**changed)))
    paths = pairs.first.path(0), pairs.second.path(0)
    with monkeypatch.context() as patched:
        patched.setattr(quick_compare._Skim, "passed_over", lambda _, pairs: next(pairs, None))
        one_by_one = quick_compare.skimmed(*paths)
    assert one_by_one is not None and taken(quick_compare.skimmed(*paths)) == taken(one_by_one)


def taken(skimmed: quick_compare.Skimmed | None) -> object:
    """What was taken from both files, with the offsets of the lines."""
    assert skimmed is not None
    sides = (skimmed.first, skimmed.second)
    return skimmed.known, [(one.seen, one.opened, one.gradients, one.garbage) for one in sides]


def many(events: Sequence[Event]) -> list[Event]:
    """The same with more of each fact that there are many of; every third is the same in all
    trainings.
    """
    found: list[Event] = []
    for event in events:
        found.append(event)
        if event.get("r") in {"weights", "call", "outgrad", "gradient", "reduced", "update"}:
            for number in range(6):
                place = f"{event['p']}.{number}" if number != 4 else f'{event["p"]}."quoted"'
                same = {"out": [["", tensor("same")]]} if number % 3 == 0 else {}
                moved = {"g": {"torch": "a"}, "g2": {"torch": "b"}} if number == 5 else {}
                found.append({**event, **same, **moved, "p": place})
    return found


def test_gradients_that_stand_again_at_the_update(tmp_path: Path) -> None:
    def again(events: Sequence[Event]) -> list[Event]:
        places: Event = {
            "e": "again",
            "r": "reduced",
            "i": 1,
            "o": 0,
            "p": ["head.weight", "body.weight"],
        }
        others = [one for one in events if one.get("r") != "reduced"]
        at = next(n for n, one in enumerate(others) if one.get("r") == "update")
        return [*others[:at], places, *others[at:]]

    pairs = of_two_ranks(tmp_path, again(training()), again(training(**{"dw body": "other"})))
    whole, skimmed = rank_of(pairs.read(0)), rank_of(pairs.skim(0))
    assert said(skimmed) == said(whole)
    assert skimmed.findings["reduced gradient"].place == "body.weight"


def test_a_sketch_alone_is_no_difference(tmp_path: Path) -> None:
    value = {**tensor("hidden"), "z": 7.0}
    other = changes(training(), "call", "body", out=[["", value]])
    pairs = of_two_ranks(tmp_path, training(), other)
    assert not rank_of(pairs.skim(0)).findings


def test_runs_that_part_are_read_whole(tmp_path: Path) -> None:
    pairs = of_two_ranks(tmp_path, training(), without(training(), "noise"))
    assert len(pairs.skim(0).steps) == len(pairs.read(0).steps)


def test_a_place_whose_name_goes_on_is_another_place(tmp_path: Path) -> None:
    def longer(events: Sequence[Event]) -> list[Event]:
        return [{**one, "p": "bodywork"} if one.get("p") == "body" else one for one in events]

    pairs = of_two_ranks(tmp_path, training(x1="other"), longer(training()))
    assert said(rank_of(pairs.skim(0))) == said(rank_of(pairs.read(0)))


@pytest.mark.parametrize("end", ["", "\0" * 50])
@pytest.mark.parametrize("cut", [(1, 0), (0, 1), (1, 1)])
def test_a_last_line_without_its_end_is_no_fact(
    cut: tuple[int, int], end: str, tmp_path: Path
) -> None:
    """As where a process was killed while it wrote the line."""
    pairs = of_two_ranks(tmp_path, many(training()), many(training(new="other")))
    for side, is_cut in zip((pairs.first, pairs.second), cut, strict=True):
        if is_cut:
            lines = side.path(0).read_text()
            side.path(0).write_text(lines[: lines.rindex('"r":"update"') + 60] + end)
    assert said(rank_of(pairs.skim(0))) == said(rank_of(pairs.read(0)))


def of_two_ranks(folder: Path, first: Sequence[Event], second: Sequence[Event]) -> Pairs:
    """Both ranks of each run record the same."""
    sides = [
        [text([{"e": "rank", "rank": rank, "world": 2}, *events]) for rank in (0, 1)]
        for events in (first, second)
    ]
    return read_pairs(folder, pair_of(folder, *sides))
