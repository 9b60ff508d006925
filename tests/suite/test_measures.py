"""What a check took, as one number each."""

from __future__ import annotations

from array import array
from collections.abc import Callable
from pathlib import Path

import pytest

from reprocheck.model import LossSeries, Sample, Series
from reprocheck.suite.execution import read
from reprocheck.suite.measures import DEVICE_MEMORY, GROWTH, MEMORY, SECONDS, measures
from reprocheck.suite.model import Recorded
from tests.suite.nights import made

MB = 1 << 20
LEAK = """
import reprocheck
held = []
for step in range(60):
    held.append(bytearray(b"1" * (1 << 20)))
    reprocheck.log(tokens_per_second=1000.0 + step)
    reprocheck.log_loss(1 / (step + 1))
"""


def samples(memory: Callable[[int], int], *, last: int = 40) -> list[Sample]:
    found = [
        Sample(iteration=step, clock=1.0 + 0.5 * step, memory=memory(step), peak=memory(step) + MB)
        for step in range(1, last + 1)
    ]
    return [*found, Sample(iteration=last, memory=1, peak=memory(last) + 9 * MB, device=7 * MB)]


def took(*ranks: list[Sample], deep: int = 0) -> dict[str, float]:
    return measures(Recorded(series=[], samples=ranks, deep=deep))


def test_time_and_memory_of_a_real_training_are_measured(tmp_path: Path) -> None:
    row = read(made(tmp_path, "leak", "# steps\n" + LEAK.replace("range(60)", "range(10)")))
    assert 0 < row.measures[SECONDS] < 60
    assert row.measures[MEMORY] > 10 * MB
    assert GROWTH not in row.measures, "ten iterations say nothing of growth"
    assert row.measures["tokens_per_second"] == pytest.approx(1004.5)


def test_the_slow_iterations_that_are_recorded_deeply_do_not_count() -> None:
    found = samples(lambda _: 100 * MB)
    slow = [Sample(iteration=0, clock=-100.0), *found]
    assert took(slow, deep=1)[SECONDS] == pytest.approx(0.5)


def test_memory_is_that_of_the_largest_rank_and_the_most_at_the_end_counts() -> None:
    found = took(samples(lambda _: 100 * MB), samples(lambda _: 300 * MB))
    assert found[MEMORY] == 309 * MB
    assert found[DEVICE_MEMORY] == 7 * MB
    assert GROWTH not in found


@pytest.mark.parametrize(
    ("memory", "growth"),
    [
        (lambda step: (100 + step) * MB, MB),
        (lambda step: 100 * MB + min(step, 9) * 20 * MB, 0),
        (lambda step: (100 + 30 * (step % 2)) * MB, 0),
        (lambda step: 100 * MB + step * 4096, 0),
        (lambda step: (100 + step // 2 * 2) * MB, MB),
    ],
    ids=["a leak", "it starts", "it comes and goes", "a trifle", "a leak by pages"],
)
def test_only_memory_that_rises_all_the_time_is_a_leak(
    memory: Callable[[int], int], growth: int
) -> None:
    assert took(samples(memory)).get(GROWTH, 0) == pytest.approx(growth, rel=0.1)
    assert GROWTH not in took(samples(memory, last=9))


def test_a_series_of_a_clock_is_its_median_and_others_are_none() -> None:
    def series(name: str) -> Series:
        numbers = LossSeries(
            values=array("d", [1.0, float("nan"), 9.0, 2.0]),
            dtype_of=array("B", bytes(4)),
            dtypes=("float64",),
            ends=array("q", range(1, 5)),
        )
        steps = array("d", [float("nan")] * 4)
        return Series(name=name, numbers=numbers, iterations=array("q", range(1, 5)), steps=steps)

    found = measures(Recorded(series=[(0, [series("loss"), series("tokens/s")])]))
    assert found == {"tokens/s": 2.0}
