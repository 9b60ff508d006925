"""Series beside the losses: compared as losses are."""

from __future__ import annotations

from array import array
from collections.abc import Sequence

import pytest

from reprocheck.model import Ended, Series, SeriesComparison, Tolerance, Verdict
from reprocheck.model.statements.verdict import Agreement
from reprocheck.verdict import judge

from .verdict_runs import NAN, run, series, trace

LOSSES = [[1.0], [0.5], [0.25]]
TOLERANCE = Tolerance(rtol=1e-3, atol=1e-3)


def reported(
    name: str,
    values: Sequence[float],
    by: str = "wandb",
    steps: Sequence[float] = (),
    dtype: str = "float32",
) -> Series:
    return Series(
        name=name,
        by=by,
        numbers=series([[value] for value in values], dtype),
        iterations=array("q", range(1, len(values) + 1)),
        steps=array("d", steps or [NAN] * len(values)),
    )


def judged(
    first: Sequence[Series],
    second: Sequence[Series],
    *,
    fail_on: str = "checks",
    losses: Sequence[Sequence[float]] = LOSSES,
    ended: Ended = "completed",
) -> Verdict:
    runs = [
        run(1, trace(LOSSES, series=tuple(first))),
        run(2, trace(losses, series=tuple(second)), ended=ended),
    ]
    return judge(runs, TOLERANCE, fail_on)


def only(verdict: Verdict) -> SeriesComparison:
    [row] = verdict.series
    return row


def test_equal_series_beside_the_losses_pass() -> None:
    alike = [reported("val_loss", [0.5, NAN]), reported("lr", [0.1], by="torch")]
    verdict = judged(alike, alike)
    assert [row.state for row in verdict.series] == ["equal", "equal"]
    assert verdict.verdict == "reproducible" and verdict.plainly_passes


def test_a_series_that_differs_is_no_part_of_the_verdict() -> None:
    verdict = judged(
        [reported("val_loss", [0.5, 0.25], steps=[100, 200])],
        [reported("val_loss", [0.5, 0.26], steps=[100, 200])],
    )
    row = only(verdict)
    assert (row.state, row.values) == ("differs", 2)
    assert row.first_outside is not None
    assert (row.first_outside.step, row.first_outside.iteration, row.first_outside.rank) == (
        200,
        2,
        0,
    )
    assert row.max_difference == pytest.approx(0.01) and row.allowed == pytest.approx(0.00125)
    assert (verdict.verdict, verdict.exit_code) == ("reproducible", 0)
    assert isinstance(verdict.because, Agreement) and verdict.because.series == (row,)
    assert not verdict.plainly_passes and verdict.next_rule == "series:val_loss"


def test_a_difference_within_the_tolerance_is_found() -> None:
    one_ulp = 0.5 + 2.0**-24
    verdict = judged([reported("acc", [0.5])], [reported("acc", [one_ulp])])
    row = only(verdict)
    assert row.state == "within tolerance" and row.first_outside is None
    assert row.first_unequal is not None and row.first_unequal.value == one_ulp
    assert verdict.verdict == "reproducible" and verdict.plainly_passes


def test_other_bits_of_the_same_value_are_a_difference() -> None:
    row = only(judged([reported("acc", [0.0])], [reported("acc", [-0.0])]))
    assert row.state == "within tolerance"
    other = only(
        judged([reported("acc", [0.5])], [reported("acc", [0.5], dtype="float64")]),
    )
    assert other.state == "within tolerance"


@pytest.mark.parametrize(
    ("name", "state"),
    [
        ("train_runtime", "clock"),
        ("samplesPerSecond", "clock"),
        ("perf/tokens/s", "clock"),
        ("memory/max_active", "clock"),
        ("val_loss", "differs"),
        ("temperature", "differs"),
        ("estimated", "differs"),
    ],
)
def test_a_time_is_not_compared_where_every_loss_agrees(name: str, state: str) -> None:
    one, other = [reported(name, [1.0])], [reported(name, [2.0])]
    assert only(judged(one, other)).state == state
    moved = [[1.0], [0.5], [0.25001]]
    assert only(judged(one, other, losses=moved)).state == "differs", "nothing shows that it is one"


def test_a_time_differs_where_it_is_asked_for_by_name() -> None:
    one, other = [reported("step_time", [1.0])], [reported("step_time", [2.0])]
    assert judged(one, other).exit_code == 0
    assert judged(one, other, fail_on="series:step_time").exit_code == 1


def test_one_name_of_two_trackers_is_two_series_and_that_of_the_loss_is_another() -> None:
    alike = [
        reported("acc", [1.0]),
        reported("acc", [1.0], by="tensorboard"),
        reported("loss", [1.0], by=""),
    ]
    verdict = judged(alike, alike)
    assert [row.name for row in verdict.series] == ["wandb:acc", "tensorboard:acc", "script:loss"]


def test_what_only_one_run_reports_is_a_difference_unless_a_run_was_ended() -> None:
    longer, shorter = [reported("acc", [1.0, 2.0])], [reported("acc", [1.0])]
    row = only(judged(longer, shorter))
    assert row.state == "differs" and row.first_outside is not None
    assert (row.first_outside.reference, row.first_outside.value) == (2.0, None)
    assert only(judged(longer, shorter, ended="interrupted")).state == "equal"
    [row] = judged([], longer).series
    assert row.first_outside is not None
    assert (row.first_outside.reference, row.first_outside.value) == (None, 1.0)


def test_the_earliest_difference_of_all_ranks_and_runs_is_named() -> None:
    def of(number: int, *values: Sequence[float]) -> object:
        traces = [
            trace(LOSSES, rank=rank, series=(reported("acc", given),))
            for rank, given in enumerate(values)
        ]
        return run(number, *traces)

    runs = [of(1, [1, 1], [1, 1]), of(2, [1, 2], [1, 1]), of(3, [1, 1], [3, 1])]
    [row] = judge(runs, TOLERANCE).series  # type: ignore[arg-type]
    assert row.first_outside is not None
    assert (row.first_outside.run, row.first_outside.rank, row.first_outside.number) == (3, 1, 1)


@pytest.mark.parametrize(
    ("fail_on", "broken"),
    [
        ("series:val_loss", "series:val_loss"),
        ("any-iteration,series:val_loss", "series:val_loss"),
        ("series:acc", ""),
        ("series:accuracy", "series:accuracy"),
    ],
)
def test_a_rule_makes_a_series_count(fail_on: str, broken: str) -> None:
    same = reported("acc", [1.0])
    verdict = judged(
        [reported("val_loss", [0.5]), same], [reported("val_loss", [0.6]), same], fail_on=fail_on
    )
    assert (verdict.verdict, verdict.exit_code) == ("reproducible", int(bool(broken)))
    assert verdict.broken_rule == broken and not verdict.fails_by_losses


@pytest.mark.parametrize("fail_on", ["series:", "series", "all", "bitwise,nothing"])
def test_what_is_no_rule_is_refused(fail_on: str) -> None:
    with pytest.raises(
        ValueError, match="none of checks, any-iteration, bitwise, mirrors, series:NAME"
    ):
        judged([], [], fail_on=fail_on)


def test_losses_that_differ_make_the_verdict() -> None:
    verdict = judged(
        [reported("acc", [1.0])], [reported("acc", [2.0])], losses=[[1.0], [0.9], [0.25]]
    )
    assert (verdict.verdict, verdict.failed_check) == ("not_reproducible", "backward")
    assert only(verdict).state == "differs"


def test_without_a_second_run_there_is_nothing_to_compare() -> None:
    alone = run(1, trace(LOSSES, series=(reported("acc", [1.0]),)))
    assert judge([alone], TOLERANCE).series == ()
