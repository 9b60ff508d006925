"""Variables as values, of a stand-in for a framework: arrays of NumPy are its variables."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np

from reprocheck.child.reprocheck_child.host.state_io import (
    NOT_GIVEN,
    Batches,
    Unsettable,
    Variables,
    renamed,
)
from reprocheck.child.reprocheck_child.resume.restored_values import GENERATORS, WEIGHTS

Arrays = dict[str, Any]


def variables(arrays: Arrays) -> Variables:
    return Variables(WEIGHTS, arrays.items, np.copy, lambda array, value: np.copyto(array, value))


def test_what_was_another_value_in_any_bit_is_assigned_and_named() -> None:
    held = {"a": np.array([0.0]), "b": np.array([1.0]), "c": np.array([1.0]), "d": np.array([7.0])}
    kept = {"a": np.array([-0.0]), "b": np.array([1.0]), "c": np.array([1.0, 2.0])}
    assert variables(held).put(kept) == ["a"]
    assert np.signbit(held["a"][0]) and held["d"][0] == 7.0
    assert variables(held).put(variables(held).take()) == []


def test_a_model_that_was_built_again_is_known_by_its_layers() -> None:
    kept = ["dense.kernel", "dense_1.kernel"]
    again = ["dense_2.kernel", "dense_3.kernel"]
    assert renamed(kept, again) == dict(zip(again, kept, strict=True))
    assert renamed(kept, kept) == dict(zip(kept, kept, strict=True))
    assert renamed(kept, ["other.kernel"]) == {"other.kernel": "other.kernel"}


def test_a_generator_that_cannot_be_set_is_told_of_where_it_stands_elsewhere() -> None:
    said: list[tuple[str, str]] = []
    states = {"global": b"1"}
    deep = SimpleNamespace(states=lambda: states)
    values = SimpleNamespace(
        recorder=SimpleNamespace(deep=deep), unavailable=lambda *told: said.append(told)
    )
    generator = Unsettable("global", "it has no setter", values)
    kept = generator.take()
    assert generator.put(kept) == [] and not said
    states["global"] = b"2"
    assert generator.put(kept) == [] and said == [(GENERATORS, "it has no setter")]


def test_batches_of_another_form_stay_and_the_same_ones_are_not_named() -> None:
    due = [np.zeros((2, 3), "float32")]
    acted: list[list[str]] = []
    values = SimpleNamespace(
        by_step={}, step=lambda *_: due, acted=lambda _, names: acted.append(names)
    )
    batches = Batches(values, np.asarray)
    assert NOT_GIVEN in values.by_step.values()
    assert batches.instead([np.zeros((3, 3), "float32")]) is None
    assert batches.instead([]) is None and not acted
    assert batches.instead([np.zeros((2, 3), "float32")]) == due
    instead = batches.instead([np.ones((2, 3), "float32")])
    assert instead is not None and instead[0] is due[0]
    assert [len(names) for names in acted] == [0, 1]
