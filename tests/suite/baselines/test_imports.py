"""Baselines from files, for the key of the last check."""

from __future__ import annotations

import numpy as np
import pytest

from reprocheck.suite.baselines import BaselineError, accept, document, imports
from reprocheck.suite.baselines.foreign.points import Points, fit
from reprocheck.suite.curves import pack, unpack
from tests.suite.baselines.curves import curve
from tests.suite.baselines.histories import KEY, Memory, check_of

SINGLE = [float(np.float32(1 / step)) for step in range(1, 6)]
GOLDEN = (
    '{"lm loss": {"start_step": 1, "end_step": 9, "step_interval": 1, "values":'
    ' {"1": 1.0, "3": 0.33333, "9": 0.1}}, "zeros": {"values": {"1": 2.0}}}'
)


def _points(steps, values, name="loss", precision="single", **more) -> Points:
    return Points(name=name, steps=tuple(steps), values=tuple(values), precision=precision, **more)


def test_a_file_with_all_steps_in_full_counts_bit_for_bit() -> None:
    own = curve(SINGLE)
    (found,) = fit([_points(range(1, 6), SINGLE)], [own]).series
    assert pack([found]) == pack([own])


def test_steps_counted_from_zero_are_those_of_the_iterations() -> None:
    (found,) = fit([_points(range(5), SINGLE)], [curve(SINGLE)]).series
    assert (found.rounded, list(found.series.iterations)) == (False, [1, 2, 3, 4, 5])
    logged = curve(SINGLE, "acc", "keras", steps=[0, 1, 2, 3, 4])
    (found,) = fit([_points(range(5), SINGLE, "acc")], [logged]).series
    assert list(found.series.steps) == [0, 1, 2, 3, 4]


@pytest.mark.parametrize(
    ("steps", "values", "precision"),
    [
        ((1, 3), (1.0, SINGLE[2]), "single"),
        (range(1, 6), SINGLE, "rounded"),
        ((1, 2, 3, 5, 4), SINGLE, "single"),
    ],
)
def test_fewer_steps_or_digits_are_held_by_the_tolerance(steps, values, precision) -> None:
    (found,) = fit([_points(steps, values, precision=precision)], [curve(SINGLE)]).series
    assert found.rounded
    assert list(found.series.iterations) == sorted(steps)


def test_steps_behind_the_end_of_the_check_are_left_out() -> None:
    own = curve(SINGLE)
    (found,) = fit([_points(range(1, 8), [*SINGLE, 0.5, 0.25])], [own]).series
    assert pack([found]) == pack([own])


def test_single_precision_of_a_double_is_rounded() -> None:
    own = curve([0.1, 0.2], dtype="float64")
    single = [float(np.float32(value)) for value in (0.1, 0.2)]
    (found,) = fit([_points((1, 2), single)], [own]).series
    assert found.rounded
    (found,) = fit([_points((1, 2), (0.1, 0.2), precision="double")], [own]).series
    assert not found.rounded


def test_a_series_is_found_by_name_tracker_rank_and_what_others_call_the_loss() -> None:
    curves = [
        curve(SINGLE),
        curve(SINGLE, "acc", "keras"),
        curve(SINGLE, "acc", "wandb"),
        curve(SINGLE, rank=1),
    ]
    names = {"accuracy": "wandb:acc"}
    given = [
        _points([1], [1.0], "lm loss"),
        _points([1], [1.0], "accuracy"),
        _points([1], [1.0], rank=1, by=""),
        _points([1], [1.0], "iteration-time"),
        _points([1], [1.0], "unknown"),
        _points([99], [1.0], "acc"),
    ]
    found = fit(given, curves, names)
    assert [(one.rank, one.series.name, one.series.by) for one in found.series] == [
        (0, "loss", ""),
        (0, "acc", "wandb"),
        (1, "loss", ""),
    ]
    assert set(found.left_out) == {"iteration-time", "unknown", "acc"}


def test_golden_values_become_a_baseline_of_the_last_checks_key(tmp_path) -> None:
    file = tmp_path / "golden.json"
    file.write_text(GOLDEN)
    history = Memory(rows=[check_of(curve(SINGLE))])
    taken = imports.foreign(history, file, ["small"], why="what we had", who="Ada")
    (baseline,) = history.accepted
    assert taken.baselines == (baseline,)
    assert (baseline.key, baseline.night, baseline.bitwise) == (KEY, "", False)
    (series,) = unpack(baseline.curves)
    assert list(series.series.numbers.values) == [1.0, 0.33333]
    assert taken.left_out == {"zeros": "the last check has no series of this name"}


def test_a_foreign_file_needs_one_target_a_reason_and_a_series_of_it(tmp_path) -> None:
    file = tmp_path / "golden.json"
    file.write_text(GOLDEN)
    history = Memory(rows=[check_of(curve(SINGLE, "acc", "keras"))])
    with pytest.raises(BaselineError, match="does not say of which target"):
        imports.foreign(history, file, [], why="why", who="Ada")
    with pytest.raises(BaselineError, match="needs a reason"):
        imports.foreign(history, file, ["small"], why="", who="Ada")
    with pytest.raises(BaselineError, match="holds no series of small: lm loss: the last check"):
        imports.foreign(history, file, ["small"], why="why", who="Ada")
    with pytest.raises(BaselineError, match="--format toml is none of"):
        imports.foreign(history, file, ["small"], why="why", who="Ada", format="toml")
    assert history.accepted == []


def test_series_are_given_other_names() -> None:
    assert imports.renamed(["lm loss=loss", "a=b=c"]) == {"lm loss": "loss", "a=b": "c"}
    with pytest.raises(BaselineError, match="--series loss does not name two"):
        imports.renamed(["loss"])


def test_an_exported_file_brings_its_baselines_back_once(tmp_path) -> None:
    history = Memory()
    accept(history, [check_of(curve(SINGLE)), check_of(curve(SINGLE), target="gone")], "why", "Ada")
    file = tmp_path / "b.json"
    document.write(document.export(history.accepted), file)
    assert imports.is_ours(file)
    empty = Memory()
    taken = imports.ours(empty, file, ["small"])
    assert [(one.target, one.why, one.night) for one in empty.accepted] == [("small", "why", "n1")]
    assert set(taken.left_out) == {"gone"}
    again = imports.ours(empty, file, ["small"])
    assert (again.baselines, [one.target for one in again.there]) == ((), ["small"])
    assert len(empty.accepted) == 1
