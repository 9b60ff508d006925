"""Keys of JAX: what was recorded of how they were made and derived, and no more than that."""

from __future__ import annotations

from pathlib import Path

from tests.ladder.ladder_traces import Event, climb, seen, training, words

STREAM = "jax (rng.py:7)"


def with_keys(
    drawn: str, *folded: int, line: str = "rng.py:7", equal_behind: int | None = None
) -> list[Event]:
    """A training whose module `noise` is given a key that was made from seed 7 in both runs."""
    behind = (
        ()
        if equal_behind is None
        else (seen("fold", STREAM, out=[["folded", {"v": equal_behind}]], l="train.py:30"),)
    )
    made = [
        seen("seed", STREAM, out=[["seed", {"v": 7}]], l="rng.py:7", sn=0),
        *(seen("fold", STREAM, out=[["folded", {"v": number}]], l=line) for number in folded),
        *behind,
    ]
    states = {"g": {STREAM: drawn}, "g2": {STREAM: drawn + "'"}}
    events = training(noisy=f"noisy {drawn}")
    moved = [
        {**event, **states} if (event.get("r"), event.get("p")) == ("call", "noise") else event
        for event in events
    ]
    return [*events[:1], *made, *moved[1:]]


def test_another_number_that_is_folded_into_a_key_is_another_seed(tmp_path: Path) -> None:
    ladder = climb(tmp_path, with_keys("a", 11), with_keys("b", 12))
    rung = ladder.rung("RNG state")
    (key,) = rung.generators.drawn
    assert (ladder.first, key.name, key.seeds, key.folded) == ("RNG state", STREAM, (11, 12), True)
    assert rung.source is not None
    assert (rung.source.file, rung.source.line) == ("rng.py", 7)
    assert "folds another number into the key" in words(ladder.sentence)


def test_a_number_folded_in_equally_hides_no_other(tmp_path: Path) -> None:
    one, other = (
        with_keys(drawn, number, equal_behind=1) for drawn, number in (("a", 11), ("b", 12))
    )
    (key,) = climb(tmp_path, one, other).rung("RNG state").generators.drawn
    assert (key.name, key.seeds) == (STREAM, (11, 12))


def test_of_a_key_nobody_says_how_often_it_was_drawn_from(tmp_path: Path) -> None:
    ladder = climb(tmp_path, with_keys("a", 5), with_keys("b", 5))
    rung = ladder.rung("RNG state")
    (key,) = rung.generators.drawn
    assert (key.name, key.seeded, key.key) == (STREAM, "equally", True)
    assert "drew more" not in ladder.sentence
    assert ladder.sentence.count("rng.py") == 1, "the line that makes the key is named once"
    assert "split or folded in another way" in ladder.sentence


def test_a_batch_does_not_draw_from_keys_that_were_made_before_it(tmp_path: Path) -> None:
    def given(content: str, generator: str) -> list[Event]:
        states = {"g": {generator: "a"}, "g2": {generator: "b"}}
        batches = training(x1=content)
        return [{**event, **states} if event.get("r") == "batch" else event for event in batches]

    made = climb(tmp_path / "key", given("x1", "jax"), given("other", "jax"))
    assert made.first == "batch"
    assert "that it draws from agrees" not in made.sentence
    moved = climb(tmp_path / "state", given("x1", "numpy"), given("other", "numpy"))
    assert "although the numpy generator that it draws from agrees" in moved.sentence
