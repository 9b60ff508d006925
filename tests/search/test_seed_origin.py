"""Where the seed of a training comes from, and which calls belong to the first one that seeds."""

from __future__ import annotations

import pytest

from reprocheck.model import EntryPoint, SourceLine
from reprocheck.model.seeds import SeedingCall, SeedOrigin
from reprocheck.search.seed_origin import origin_of


def call(number: int, line: int, value: str, *generators: str, setting: str = "") -> SeedingCall:
    source = SourceLine(file="train.py", line=line)
    return SeedingCall(
        number=number,
        what="seed",
        value=value,
        source=source,
        inner=source,
        generators=generators,
        setting=setting,
    )


def origin(text: str, *calls: SeedingCall) -> SeedOrigin:
    entry = EntryPoint(command=("python", "train.py"), kind="script", name="train")
    found = origin_of(entry, calls, lambda _: text)
    assert found is not None
    return found[0]


@pytest.mark.parametrize(
    ("words", "changed"),
    [
        (["--seed", "42"], ["--seed", "43"]),
        (["--seed=42"], ["--seed=43"]),
        (["data.seed=3", "seed=4"], ["data.seed=3", "seed=5"]),
        (["trainer.seed=1"], ["trainer.seed=2"]),
        (["--random-seed", "0"], ["--random-seed", "1"]),
        (["--data-seed", "7", "{seed}"], ["--data-seed", "7", "2"]),
    ],
)
def test_the_seed_of_the_command_is_changed(words: list[str], changed: list[str]) -> None:
    entry = EntryPoint(command=("python", "train.py", *words), kind="script", name="train")
    found = origin_of(entry, (), lambda _: None)
    assert found is not None
    assert found[1].command[2:] == tuple(changed)


def test_other_arguments_are_no_seed() -> None:
    words = ("--data-seed", "7", "--seed", "none", "--seeds=3", "seed")
    entry = EntryPoint(command=("python", "train.py", *words), kind="script", name="train")
    assert origin_of(entry, (), lambda _: None) is None


def test_one_seed_for_several_generators_is_one_origin() -> None:
    text = "random.seed(1)\nnp.random.seed(1)\nnp.random.seed(1)\ntorch.manual_seed(2)\n"
    calls = [call(1, 1, "1", "python"), call(2, 2, "1", "numpy"), call(3, 3, "1", "numpy")]
    assert origin(text, *calls, call(4, 4, "2", "torch")).calls == (1, 2)


def test_calls_that_are_given_one_variable_are_one_origin() -> None:
    text = "set_seed(SEED)\nseed_everything(SEED + rank)\nTrainer(Arguments(seed=SEED))\nseed(0)\n"
    calls = [
        call(1, 1, "5", "torch"),
        call(2, 2, "6", "torch"),
        call(3, 3, "5", "torch", setting="args.seed"),
        call(4, 4, "0", "torch"),
    ]
    found = origin(text, *calls)
    assert found.calls == (1, 2, 3)
    assert (found.value, found.other) == ("5", "6")


def test_what_a_parser_read_comes_before_the_first_call() -> None:
    parsed = SeedingCall(number=0, what="seed", value="42")
    assert origin("", call(1, 1, "5", "torch"), parsed).kind == "parsed"
