"""Every rule of the verdict, on runs written as lists of losses."""

from __future__ import annotations

import math
from array import array
from collections.abc import Sequence
from itertools import accumulate

import pytest

from reprocheck.model import Checked, Ended, LossSeries, Process, Run, RunRecord, Tolerance, Trace
from reprocheck.verdict import judge

NAN, INF = math.nan, math.inf
PROCESS = Process(pid=1, ppid=0, argv=("train.py",), python="3.11", name="MainProcess")
Losses = Sequence[Sequence[float]]


def series(iterations: Losses, dtype: str = "float32") -> LossSeries:
    values = array("d", (value for losses in iterations for value in losses))
    ends = array("q", accumulate(len(losses) for losses in iterations))
    return LossSeries(values=values, dtype_of=array("B", bytes(len(values))), dtypes=(dtype,), ends=ends)


def trace(
    iterations: Losses,
    *,
    rank: int = 0,
    first: int | None = None,
    moved_in: int | None = 1,
    moved_at: int | None = None,
    dtype: str = "float32",
    **keys: object,
) -> Trace:
    """`first` losses lie before the first update; the weights really changed in iteration `moved_in`, after `moved_at` losses."""
    losses = series(iterations, dtype)
    ends = losses.ends
    forward = Checked(kind="forward", iteration=1, start=0, end=first if first is not None else ends[0]) if len(ends) and ends[0] else None
    backward = None
    if moved_in is not None and moved_in < len(ends):
        start = moved_at if moved_at is not None else (first if first is not None and moved_in == 1 else ends[moved_in - 1])
        backward = Checked(kind="backward", iteration=moved_in + 1, start=start, end=ends[moved_in])
    given: dict[str, object] = {"unchanged_updates": (moved_in or len(ends) + 1) - 1, **keys}
    return Trace(rank=rank, process=PROCESS, losses=losses, forward=forward, backward=backward, **given)  # type: ignore[arg-type]


def run(number: int, *traces: Trace, ended: Ended = "completed", status: int | None = 0, stderr: str = "", **keys: object) -> Run:
    record = RunRecord(number=number, ended=ended, exit_status=status, started="", seconds=15.0, trace="", stdout="", stderr="")
    given: dict[str, object] = {"frameworks": {"torch": "2"}, "processes": (PROCESS,), **keys}
    return Run(record=record, traces=traces, stderr_tail=stderr, **given)  # type: ignore[arg-type]


def pair(reference: Losses, losses: Losses, **keys: object) -> tuple[Run, Run]:
    return run(1, trace(reference, **keys)), run(2, trace(losses, **keys))  # type: ignore[arg-type]


def judged(runs: Sequence[Run], **keys: object) -> tuple[str, int]:
    verdict = judge(runs, Tolerance(), **keys)  # type: ignore[arg-type]
    assert verdict.reason.endswith(".") and verdict.reason[0].isupper()
    return verdict.title, verdict.exit_code


FORWARD, BACKWARD = ("NOT REPRODUCIBLE (forward)", 1), ("NOT REPRODUCIBLE (backward)", 1)
REPRODUCIBLE, INCONCLUSIVE, FAILED, TIMED_OUT = ("REPRODUCIBLE", 0), ("INCONCLUSIVE", 3), ("SCRIPT FAILED", 4), ("TIMED OUT", 5)
GOOD: Losses = [[1.0], [0.5], [0.25]]


@pytest.mark.parametrize(
    ("second", "expected"),
    [
        pytest.param(GOOD, REPRODUCIBLE, id="equal"),
        pytest.param([[1.001], [0.5], [0.25]], REPRODUCIBLE, id="within the tolerance"),
        pytest.param([[1.1], [0.5], [0.25]], FORWARD, id="forward differs"),
        pytest.param([[1.0], [0.6], [0.25]], BACKWARD, id="backward differs"),
        pytest.param([[1.1], [0.6], [0.25]], FORWARD, id="both differ"),
        pytest.param([[1.0], [0.5], [9.0]], REPRODUCIBLE, id="later than the checks"),
        pytest.param([[NAN], [0.5], [0.25]], FORWARD, id="NaN in one run only"),
        pytest.param([[1.0], [INF], [0.25]], BACKWARD, id="infinite in one run only"),
        pytest.param([[1.0, 1.0], [0.5], [0.25]], INCONCLUSIVE, id="another number of losses in iteration 1"),
        pytest.param([[1.0], [0.5, 0.5], [0.25]], INCONCLUSIVE, id="another number of losses in iteration 2"),
        pytest.param([[1.0], [0.5], [0.25, 0.1]], REPRODUCIBLE, id="another number of losses later"),
        pytest.param([[1.0]], INCONCLUSIVE, id="one iteration"),
        pytest.param([[1.0], [0.5]], REPRODUCIBLE, id="shorter, with both checks"),
        pytest.param([[1.1], [0.5, 0.5]], FORWARD, id="a forward difference stands before inconclusive"),
        pytest.param([[1.1]], FORWARD, id="a forward difference stands in one iteration"),
    ],
)
def test_two_runs(second: Losses, expected: tuple[str, int]) -> None:
    assert judged(pair(GOOD, second)) == expected


@pytest.mark.parametrize(
    ("first", "second", "expected"),
    [
        pytest.param([[NAN], [1.0]], [[NAN], [1.0]], INCONCLUSIVE, id="NaN in both"),
        pytest.param([[INF], [1.0]], [[INF], [1.0]], INCONCLUSIVE, id="infinite in both"),
        pytest.param([[INF], [1.0]], [[-INF], [1.0]], INCONCLUSIVE, id="infinite in both, of other sign"),
        pytest.param([[1.0], [NAN]], [[1.0], [NAN]], INCONCLUSIVE, id="NaN in both in iteration 2"),
        pytest.param([[NAN], [1.0]], [[NAN], [2.0]], INCONCLUSIVE, id="inconclusive before backward"),
        pytest.param([[1.0, NAN], [1.0]], [[2.0, NAN], [1.0]], FORWARD, id="a difference beside NaN"),
        pytest.param([[1.0], [1.0], [NAN]], [[1.0], [1.0], [NAN]], REPRODUCIBLE, id="NaN after the checks"),
        pytest.param([[0.0005], [0.0001]], [[0.0], [0.0]], REPRODUCIBLE, id="losses below atol always pass"),
        pytest.param([[], [1.0], [1.0]], [[], [1.0], [1.0]], INCONCLUSIVE, id="no loss before the first update"),
    ],
)
def test_two_runs_of_any_losses(first: Losses, second: Losses, expected: tuple[str, int]) -> None:
    assert judged(pair(first, second)) == expected


@pytest.mark.parametrize(
    ("second", "expected"),
    [
        pytest.param([[1, 2, 3], [4, 5, 6]], REPRODUCIBLE, id="equal"),
        pytest.param([[1, 9, 3], [4, 5, 6]], FORWARD, id="before the first update"),
        pytest.param([[1, 2, 9], [4, 5, 6]], BACKWARD, id="rest of iteration 1"),
        pytest.param([[1, 2, 3], [4, 5, 9]], BACKWARD, id="iteration 2"),
        pytest.param([[1, 2, 3, 3], [4, 5, 6]], INCONCLUSIVE, id="another number in the rest of iteration 1"),
        pytest.param([[1, 9, 3, 3], [4, 5, 6]], FORWARD, id="a forward difference, another number in the rest"),
    ],
)
def test_several_updates_an_iteration(second: Losses, expected: tuple[str, int]) -> None:
    assert judged(pair([[1, 2, 3], [4, 5, 6]], second, first=2)) == expected


def test_the_row_of_a_check_shows_the_worst_loss_and_where_it_lies() -> None:
    verdict = judge(pair([[1, 2, 3], [4, 5, 6]], [[1, 2, 3.5], [4, 5, 6.1]], first=2), Tolerance())
    forward, backward = verdict.comparisons
    assert (forward.iteration, forward.kind, forward.loss_index, forward.passed, forward.max_difference) == (1, "forward", 0, True, 0.0)
    assert (backward.iteration, backward.loss_index, backward.run, backward.rank) == (1, 2, 2, 0)
    assert (backward.passed, backward.max_difference, backward.reference, backward.value) == (False, 0.5, 3, 3.5)
    assert backward.allowed == pytest.approx(0.004)
    assert "iteration 1, loss 3" in verdict.reason and "a difference of 0.5 where 0.004 is allowed" in verdict.reason


def test_equal_losses_are_shown_in_the_checked_iteration() -> None:
    rows = judge(pair([[1, 2, 3], [4, 5, 6]], [[1, 2, 3], [4, 5, 6]], first=2), Tolerance()).comparisons
    assert [(row.kind, row.iteration, row.loss_index) for row in rows] == [("forward", 1, 0), ("backward", 2, 0)]


def test_a_checked_iteration_without_a_loss_after_a_rest_with_one() -> None:
    rows = judge(pair([[1, 2], []], [[1, 2], []], first=1), Tolerance()).comparisons
    assert [(row.kind, row.iteration, row.loss_index, row.passed) for row in rows] == [("forward", 1, 0, True), ("backward", 1, 1, True)]


def test_a_loss_that_is_finite_in_one_run_only_comes_first() -> None:
    verdict = judge(pair([[1.0, 1.0], [1.0]], [[5.0, NAN], [1.0]]), Tolerance())
    row = verdict.comparisons[0]
    assert (row.passed, row.loss_index, row.max_difference, row.ulp) == (False, 1, None, None)
    assert "finite in one run only" in verdict.reason


def test_losses_too_far_apart_for_a_double() -> None:
    verdict = judge(pair([[-1.7e308], [1.0]], [[1.7e308], [1.0]]), Tolerance())
    assert verdict.title == FORWARD[0] and verdict.comparisons[0].max_difference is None and "too far apart" in verdict.reason


def test_the_tolerance_is_the_users() -> None:
    runs = pair([[1.0], [0.5]], [[1.0 + 1e-6], [0.5]])
    assert judge(runs, Tolerance(rtol=0, atol=1e-7)).title == FORWARD[0]
    assert judge(runs, Tolerance(rtol=1e-5, atol=0)).title == "REPRODUCIBLE"
    assert judge(pair([[1.0], [0.5]], [[9.0], [0.5]]), Tolerance(rtol=10)).title == "REPRODUCIBLE"


def test_run_1_is_the_reference_of_the_relative_tolerance() -> None:
    tolerance = Tolerance(rtol=0.1, atol=0)
    assert judge(pair([[1.0], [1.0]], [[1.105], [1.0]]), tolerance).title == FORWARD[0]
    assert judge(pair([[1.105], [1.0]], [[1.0], [1.0]]), tolerance).title == "REPRODUCIBLE"


# ------------------------------------------------------------------------------------------------------- ended otherwise


@pytest.mark.parametrize(
    ("first", "second", "expected"),
    [
        pytest.param(
            run(1, trace([[1.0]]), ended="failed", status=1),
            run(2, trace([[1.0]]), ended="failed", status=1),
            FAILED,
            id="both in iteration 2",
        ),
        pytest.param(run(1, trace(GOOD)), run(2, trace([[1.0]]), ended="failed", status=1), FAILED, id="run 2 in iteration 2"),
        pytest.param(run(1, trace([[1.0]]), ended="failed", status=1), run(2, trace(GOOD)), FAILED, id="run 1 in iteration 2"),
        pytest.param(run(1, trace(GOOD)), run(2, ended="failed", status=1), FAILED, id="run 2 before any loss"),
        pytest.param(run(1), run(2, ended="failed", status=1), FAILED, id="run 2 failed, run 1 saw no loss"),
        pytest.param(run(1, trace(GOOD)), run(2, trace([[1.0]]), ended="timed_out", status=-15), TIMED_OUT, id="timed out"),
        pytest.param(
            run(1, trace([[1.0]]), ended="timed_out"),
            run(2, trace([[1.0]]), ended="failed"),
            TIMED_OUT,
            id="the first run that ended early counts",
        ),
        pytest.param(run(1, trace(GOOD)), run(2, trace([[1.1]]), ended="failed", status=1), FORWARD, id="a forward difference stands"),
        pytest.param(
            run(1, trace(GOOD)),
            run(2, trace([[1.1]], unfinished=True), ended="timed_out"),
            FORWARD,
            id="a forward difference of an open iteration stands",
        ),
        pytest.param(
            run(1, trace(GOOD)), run(2, trace([[1.0], [0.9]], unfinished=True), ended="failed"), FAILED, id="in the checked iteration"
        ),
        pytest.param(
            run(1, trace(GOOD)), run(2, trace([[1.0], [0.5], [0.2]], unfinished=True), ended="failed"), REPRODUCIBLE, id="after the checks"
        ),
        pytest.param(run(1, trace(GOOD)), run(2, trace([[1.0], [0.9]]), ended="failed"), BACKWARD, id="after the checks, which differ"),
        pytest.param(
            run(1, trace(GOOD)), run(2, trace([[1.0, 1.0], [0.5]]), ended="failed"), INCONCLUSIVE, id="after the checks, which do not fit"
        ),
        pytest.param(
            run(1, trace([[1, 1], [2]])),
            run(2, trace([[1]], unfinished=True), ended="failed"),
            FAILED,
            id="between two losses of iteration 1",
        ),
        pytest.param(
            run(1, trace(GOOD), ended="stopped"), run(2, trace(GOOD), ended="stopped"), REPRODUCIBLE, id="stopped early is no failure"
        ),
        pytest.param(
            run(1, trace(GOOD)),
            run(2, trace([[1.0], [0.5]], unfinished=True)),
            REPRODUCIBLE,
            id="an open iteration of a run that completed",
        ),
        pytest.param(run(1, trace(GOOD)), run(2, trace([[1.0]]), ended="interrupted"), INCONCLUSIVE, id="interrupted"),
        pytest.param(run(1, trace(GOOD)), run(2, trace([[NAN], [1.0]]), ended="failed"), FORWARD, id="NaN in the run that failed"),
        pytest.param(run(1, trace([[NAN]])), run(2, trace([[NAN]]), ended="failed"), FAILED, id="failure before inconclusive"),
    ],
)
def test_runs_that_ended_otherwise(first: Run, second: Run, expected: tuple[str, int]) -> None:
    assert judged([first, second]) == expected


def test_the_reason_of_a_failure_names_run_status_and_error() -> None:
    stderr = "Traceback (most recent call last):\n  File\nRuntimeError: out of patience\n\n====\n"
    runs = [run(1, trace([[1.0]]), ended="failed", status=1, stderr=stderr), run(2, trace([[1.0]]), ended="failed", status=1)]
    assert (
        judge(runs, Tolerance()).reason
        == "Run 1 ended with exit status 1 (RuntimeError: out of patience) before both checks could be made."
    )
    killed = [run(1, trace([[1.0]]), ended="failed", status=-9), run(2)]
    assert "Run 1 was ended by SIGKILL before" in judge(killed, Tolerance()).reason
    late = [run(1, trace([[1.0]]), ended="timed_out", status=-15), run(2)]
    assert "stopped by --timeout after 15 s" in judge(late, Tolerance()).reason


def test_a_failure_after_the_checks_is_a_caveat() -> None:
    verdict = judge([run(1, trace(GOOD)), run(2, trace([[1.0], [0.5]]), ended="failed", status=3, stderr="ValueError: x\n")], Tolerance())
    assert verdict.caveats[1:] == (
        "Run 2 ended with exit status 3 (ValueError: x), after 2 recorded iteration(s).",
        "Run 2 recorded 2 iteration(s) of rank 0, run 1 recorded 3.",
    )
    assert verdict.first_divergence is not None and verdict.first_divergence.iteration == 3
    assert verdict.first_divergence.detail == "run 2 recorded 2 iteration(s), run 1 recorded 3"
    assert verdict.bitwise.equal is False and verdict.bitwise.first_iteration == 3 and verdict.bitwise.ulp is None


# -------------------------------------------------------------------------------------------------- checks that cannot be


@pytest.mark.parametrize(
    ("runs", "says"),
    [
        ([run(1, processes=()), run(2, processes=())], "no process of run 1 reported"),
        ([run(1, frameworks={}), run(2)], "imported no supported framework"),
        ([run(1), run(2)], "which imported torch; train the model"),
        ([run(1, trace([[], []])), run(2, trace([[], []]))], "no loss was seen in run 1"),
        ([run(1, trace(GOOD)), run(2)], "no loss was seen in run 2"),
        ([run(1, trace([[1.0]])), run(2, trace([[1.0]]))], "train for more iterations"),
        ([run(1, trace([[1.0]], stopped_at=1)), run(2, trace([[1.0]]))], "--steps 2 or higher"),
        ([run(1, trace(GOOD, moved_in=None)), run(2, trace(GOOD))], "nothing is known of the backward pass"),
        ([run(1, trace(GOOD, moved_in=None, stopped_at=3)), run(2, trace(GOOD))], "record more than 3 iterations with --steps"),
        (
            [run(1, trace(GOOD, moved_in=None, unchanged_updates=0)), run(2, trace(GOOD))],
            "call reprocheck.log_loss(loss) in every iteration",
        ),
        ([run(1, trace([[], [1.0]])), run(2, trace([[], [1.0]]))], "before the first update in run 1"),
        (
            [run(1, trace(GOOD)), run(2, trace([[1, 1], [0.5]]))],
            "iteration 1 holds 1 loss(es) before the first update in run 1 and 2 in run 2",
        ),
        ([run(1, trace(GOOD)), run(2, trace([[1], [0.5, 0.5]]))], "iteration 2 holds 1 loss(es) in run 1 and 2 in run 2"),
        ([run(1, trace([[NAN], [1]])), run(2, trace([[INF], [1]]))], "is NaN in run 1 and infinite in run 2"),
        ([run(1, trace(GOOD))], "only one run was recorded"),
        ([run(1, trace(GOOD), trace(GOOD, rank=1)), run(2, trace(GOOD))], "rank 1 was recorded in run 1 and not in run 2"),
    ],
)
def test_inconclusive_says_what_to_do(runs: list[Run], says: str) -> None:
    verdict = judge(runs, Tolerance())
    assert (verdict.title, verdict.exit_code) == INCONCLUSIVE
    assert says.lower() in verdict.reason.lower()


def test_no_runs_at_all() -> None:
    assert judge([], Tolerance()).verdict == "inconclusive"


# ----------------------------------------------------------------------------------------------------- unchanged weights


def test_the_second_check_moves_to_the_iteration_after_the_first_real_change() -> None:
    first, second = [[1], [1], [0.5]], [[1], [1], [0.7]]
    verdict = judge(pair(first, second, moved_in=2), Tolerance())
    assert verdict.title == BACKWARD[0] and "iteration 3" in verdict.reason
    assert any("first 1 update(s) did not change the weights" in caveat and "iteration 3" in caveat for caveat in verdict.caveats)
    assert judged(pair(first, [[1], [9], [0.5]], moved_in=2)) == REPRODUCIBLE  # a later iteration, not a check


def test_the_iteration_of_run_1_rules() -> None:
    runs = [run(1, trace(GOOD)), run(2, trace([[1.0], [0.9], [0.25]], moved_in=2))]
    verdict = judge(runs, Tolerance())
    assert verdict.title == BACKWARD[0] and verdict.comparisons[1].iteration == 2
    assert any("first change in iteration 1; in run 2, rank 0 they first change in iteration 2" in caveat for caveat in verdict.caveats)
    still = judge([run(1, trace(GOOD)), run(2, trace(GOOD, moved_in=None))], Tolerance())
    assert still.verdict == "reproducible" and any("do not change in the recorded iterations" in caveat for caveat in still.caveats)


def test_weights_that_could_not_be_seen_are_a_caveat() -> None:
    verdict = judge(pair(GOOD, GOOD, weights_seen=False, unchanged_updates=0), Tolerance())
    assert verdict.verdict == "reproducible"
    assert verdict.caveats == (
        "Whether updates change the weights could not be seen (rank 0); the first update is taken to be a real one.",
    )


def test_a_skipped_step_before_the_checks_is_a_caveat() -> None:
    verdict = judge([run(1, trace(GOOD, skipped=(1, 3))), run(2, trace(GOOD))], Tolerance())
    assert verdict.caveats == ("A gradient scaler skipped a step in iteration 1 (run 1, rank 0).",)


# ------------------------------------------------------------------------------------------------------ ranks and N runs


def test_every_rank_is_checked() -> None:
    runs = [run(1, trace(GOOD), trace(GOOD, rank=1)), run(2, trace(GOOD), trace([[1.0], [0.9], [0.25]], rank=1))]
    verdict = judge(runs, Tolerance())
    assert verdict.title == BACKWARD[0] and "iteration 2, rank 1" in verdict.reason
    assert [(row.run, row.rank, row.kind, row.passed) for row in verdict.comparisons] == [
        (2, 0, "forward", True),
        (2, 0, "backward", True),
        (2, 1, "forward", True),
        (2, 1, "backward", False),
    ]


def test_a_missing_rank() -> None:
    both = run(1, trace(GOOD), trace(GOOD, rank=1))
    assert judged([both, run(2, trace(GOOD))]) == INCONCLUSIVE
    assert judged([both, run(2, trace([[1.1], [0.5]]))]) == FORWARD
    assert judged([both, run(2, trace(GOOD), ended="failed", status=1)]) == FAILED
    verdict = judge([both, run(2, trace(GOOD))], Tolerance())
    assert verdict.first_divergence is not None and verdict.first_divergence.detail == "rank 1 was recorded in run 1 only"
    assert (verdict.bitwise.equal, verdict.bitwise.first_iteration) == (False, 1)


def test_every_run_is_checked_and_the_worst_is_named() -> None:
    runs = [run(1, trace(GOOD)), run(2, trace([[1.0], [0.6]])), run(3, trace([[1.0], [0.8]])), run(4, trace([[1.2], [0.5]]))]
    verdict = judge(runs, Tolerance())
    assert verdict.title == FORWARD[0] and "run 4 has loss 1.2 where run 1 has 1" in verdict.reason
    assert "run 3 has loss 0.8" in judge(runs[:3], Tolerance()).reason
    assert len(verdict.comparisons) == 6


# ------------------------------------------------------------------------------------- bitwise, divergence, strictness


def test_a_pass_that_is_not_bitwise_says_so() -> None:
    verdict = judge(pair([[1.0], [0.5], [2.0]], [[1.0], [0.5 + 2**-24], [2.0 + 3 * 2**-22]]), Tolerance())
    assert verdict.verdict == "reproducible"
    assert (verdict.bitwise.equal, verdict.bitwise.first_iteration, verdict.bitwise.ulp) == (False, 2, 1)
    assert "not equal in every bit" in verdict.reason
    assert verdict.caveats[0] == (
        "The checks pass within the tolerance, but the runs are not equal in every bit: "
        "the first difference is in iteration 2, by up to 1 ULP of float32."
    )


def test_a_pass_that_leaves_the_tolerance_later_says_so() -> None:
    verdict = judge(pair([[1.0], [0.5], [0.25]], [[1.0], [0.5], [0.75]]), Tolerance())
    assert verdict.verdict == "reproducible"
    assert verdict.first_divergence is not None
    assert (verdict.first_divergence.iteration, verdict.first_divergence.reference, verdict.first_divergence.value) == (3, 0.25, 0.75)
    assert "After the checks the losses leave the tolerance: in iteration 3 run 2 has 0.75 where run 1 has 0.25." in verdict.caveats


def test_a_tolerance_that_is_wide_for_the_losses_says_so() -> None:
    assert any("tolerance is wide" in caveat for caveat in judge(pair([[1e-4], [1e-4]], [[2e-4], [1e-4]]), Tolerance()).caveats)
    assert judge(pair([[1e-4], [1e-4]], [[1e-4], [1e-4]]), Tolerance()).caveats == ()


def test_equal_in_every_bit_leaves_no_caveat() -> None:
    verdict = judge(pair(GOOD, GOOD), Tolerance())
    assert verdict.bitwise.equal is True and verdict.first_divergence is None and verdict.caveats == ()
    assert verdict.reason == "No difference was seen in 2 runs of 3 iterations: all losses are equal in every bit."


@pytest.mark.parametrize(
    ("second", "checks", "any_iteration", "bitwise"),
    [
        (GOOD, 0, 0, 0),
        ([[1.0], [0.5], [0.25 + 2**-24]], 0, 0, 1),
        ([[1.0], [0.5], [9.0]], 0, 1, 1),
        ([[1.0], [0.5]], 0, 1, 1),
        ([[1.0], [9.0]], 1, 1, 1),
        ([[1.0]], 3, 3, 3),
    ],
)
def test_fail_on(second: Losses, checks: int, any_iteration: int, bitwise: int) -> None:
    runs = pair(GOOD, second)
    plain = judge(runs, Tolerance())
    for rule, expected in (("checks", checks), ("any-iteration", any_iteration), ("bitwise", bitwise)):
        verdict = judge(runs, Tolerance(), fail_on=rule)
        assert (verdict.exit_code, verdict.title) == (expected, plain.title)
        assert (f"--fail-on {rule}" in verdict.reason) == (expected != plain.exit_code)


def test_an_unknown_rule_is_an_error() -> None:
    with pytest.raises(ValueError, match="any-iteration"):
        judge(pair(GOOD, GOOD), Tolerance(), fail_on="sometimes")
