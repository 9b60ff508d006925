"""How many numbers were drawn between two states of a generator."""

from __future__ import annotations

import random

import numpy as np
import pytest

from reprocheck.child.reprocheck_child.deep_levels.draw_amounts import amount
from reprocheck.child.reprocheck_child.deep_levels.generator_states import NumpyState, PythonState


@pytest.mark.parametrize("count", [1, 7, 400])
def test_draws_of_each_generator_are_counted(count: int) -> None:
    python = random.Random(0)
    python.getrandbits(32)
    read = PythonState(lambda: python)
    before = read()
    for _ in range(count):
        python.getrandbits(32)
    assert amount("dataset.rng (random.Random)", before, read()) == count
    for generator, name in (
        (np.random.default_rng(0), "dataset.rng (numpy.random.Generator)"),
        (np.random.RandomState(0), "numpy"),
    ):
        state = NumpyState(lambda generator=generator: generator)
        generator.uniform()
        before = state()
        generator.uniform(size=count)
        words = 2 if name == "numpy" else 1  # a double is two numbers of 32 bits, or one of 64
        counted = amount(name, before, state())
        # the words of a Mersenne twister are made anew each 624: then at least so many were drawn
        assert counted == count * words or 622 < count * words >= counted + 624


def test_an_unknown_generator_is_not_counted() -> None:
    assert amount("cuda:0", b"one", b"two") == 0
