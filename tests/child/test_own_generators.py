"""Generators that a script made for itself are found by the variables that hold them."""

from __future__ import annotations

import functools
import random
import sys
from collections.abc import Callable, Iterator
from types import FrameType

import numpy as np
import pytest

from reprocheck.child.reprocheck_child.resume import restored_values, script_objects


class Script:
    """Knows this file as the script's."""

    def frame(self, skip: int = 0) -> FrameType:
        return sys._getframe(skip + 1)

    def is_own(self, frame: FrameType) -> bool:
        return self.is_of_user(frame.f_code.co_filename)

    def is_of_user(self, file: str) -> bool:
        return file == __file__


class Data:
    def __init__(self) -> None:
        self.rng = np.random.default_rng(1)
        self.steps = [functools.partial(abs, rng=np.random.RandomState(2))]


def flipping() -> Callable[[], float]:
    choice = random.Random(3)

    def flip() -> float:
        return choice.random()

    return flip


def noise() -> Iterator[float]:
    source = np.random.default_rng(4)
    while True:
        yield source.random()


def names(*besides: object) -> set[str]:
    """Those that the frames of this test hold."""
    return set(script_objects.generators(script_objects.reachable(Script()), besides))


def test_they_are_named_by_the_way_to_them() -> None:
    data, flip, drawn = Data(), flipping(), noise()
    assert data and flip and next(drawn)
    assert names() >= {
        "data.rng (numpy.random.Generator)",
        "data.steps[0].rng (numpy.random.RandomState)",
        "flip.choice (random.Random)",
        "drawn.source (numpy.random.Generator)",
    }


def test_the_generators_that_all_code_shares_are_left_out() -> None:
    shared, legacy, known = random._inst, np.random.mtrand._rand, np.random.default_rng(5)  # type: ignore[attr-defined]
    held = names(known)
    assert not {"shared (random.Random)", "legacy (numpy.random.RandomState)"} & held
    assert "known (numpy.random.Generator)" not in held
    assert shared is not None and legacy is not None


def test_a_state_is_read_and_not_moved() -> None:
    rng, twister = np.random.default_rng(6), random.Random(7)
    found = script_objects.generators(script_objects.reachable(Script()), ())
    readers = {name: script_objects.reader(one) for name, one in found.items()}
    for name, draw in (
        ("rng (numpy.random.Generator)", rng.random),
        ("twister (random.Random)", twister.random),
    ):
        before = readers[name]()
        assert readers[name]() == before
        draw()
        assert readers[name]() != before


def test_states_are_taken_and_put_back_in_place() -> None:
    torch = pytest.importorskip("torch")
    twister, bits = random.Random(1), np.random.default_rng(1)
    words, legacy = np.random.Generator(np.random.MT19937(1)), np.random.RandomState(1)
    tensors = torch.Generator().manual_seed(1)
    made = {"a": twister, "b": bits, "c": words, "d": legacy, "e": tensors}
    held = script_objects.generators(made.items(), ())
    assert list(held.values()) == list(made.values())
    values = restored_values.Slots(restored_values.GENERATORS, lambda: script_objects.slots(held))

    def drawn() -> list[float]:
        numbers = [twister.random(), bits.random(), words.random(), legacy.random_sample()]
        return [*numbers, float(torch.rand(1, generator=tensors))]

    kept = values.take()
    due = drawn()
    assert values.put({**kept, "gone": None}) == list(held)
    assert drawn() == due
    values.put(kept)
    assert values.put(kept) == []
