"""Every rule of the verdict, on runs written as lists of losses."""

from __future__ import annotations

from dataclasses import replace

import pytest

from reprocheck.model import Run, Tolerance
from reprocheck.verdict import judge
from tests.verdict.verdict_runs import (
    BACKWARD,
    FAILED,
    FORWARD,
    GOOD,
    INCONCLUSIVE,
    INF,
    NAN,
    PROCESS,
    REPRODUCIBLE,
    TIMED_OUT,
    Losses,
    diverging,
    judged,
    pair,
    run,
    trace,
)


@pytest.mark.parametrize(
    ("second", "expected"),
    [
        pytest.param(GOOD, REPRODUCIBLE, id="equal"),
        pytest.param([[1.001], [0.5], [0.25]], REPRODUCIBLE, id="within the tolerance"),
        pytest.param([[1.1], [0.5], [0.25]], FORWARD, id="forward differs"),
        pytest.param([[1.0], [0.6], [0.25]], BACKWARD, id="backward differs"),
        pytest.param([[1.1], [0.6], [0.25]], FORWARD, id="both differ"),
        pytest.param(
            [[1.0], [0.5], [9.0]],
            diverging("iteration 3 (0.25 against 9)"),
            id="later than the checks",
        ),
        pytest.param([[NAN], [0.5], [0.25]], FORWARD, id="NaN in one run only"),
        pytest.param([[1.0], [INF], [0.25]], BACKWARD, id="infinite in one run only"),
        pytest.param(
            [[1.0, 1.0], [0.5], [0.25]], INCONCLUSIVE, id="another number of losses in iteration 1"
        ),
        pytest.param(
            [[1.0], [0.5, 0.5], [0.25]], INCONCLUSIVE, id="another number of losses in iteration 2"
        ),
        pytest.param(
            [[1.0], [0.5], [0.25, 0.1]],
            diverging("iteration 3 (iteration 3 holds 2 losses in run 2 and 1 in run 1)"),
            id="another number of losses later",
        ),
        pytest.param([[1.0]], INCONCLUSIVE, id="one iteration"),
        pytest.param(
            [[1.0], [0.5]],
            diverging("iteration 3 (one run is longer: 3 against 2 iterations)"),
            id="shorter, with both checks",
        ),
        pytest.param(
            [[1.1], [0.5, 0.5]], FORWARD, id="a forward difference stands before inconclusive"
        ),
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
        pytest.param(
            [[INF], [1.0]], [[-INF], [1.0]], INCONCLUSIVE, id="infinite in both, of other sign"
        ),
        pytest.param([[1.0], [NAN]], [[1.0], [NAN]], INCONCLUSIVE, id="NaN in both in iteration 2"),
        pytest.param(
            [[NAN], [1.0]],
            [[NAN], [2.0]],
            BACKWARD,
            id="a difference that was seen stands beside a check that could not be made",
        ),
        pytest.param(
            [[1.0, NAN], [1.0]], [[2.0, NAN], [1.0]], FORWARD, id="a difference beside NaN"
        ),
        pytest.param(
            [[1.0], [1.0], [NAN]], [[1.0], [1.0], [NAN]], REPRODUCIBLE, id="NaN after the checks"
        ),
        pytest.param(
            [[0.0005], [0.0001]], [[0.0], [0.0]], REPRODUCIBLE, id="losses below atol always pass"
        ),
        pytest.param(
            [[], [1.0], [1.0]],
            [[], [1.0], [1.0]],
            INCONCLUSIVE,
            id="no loss before the first update",
        ),
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
        pytest.param(
            [[1, 2, 3, 3], [4, 5, 6]], INCONCLUSIVE, id="another number in the rest of iteration 1"
        ),
        pytest.param(
            [[1, 9, 3, 3], [4, 5, 6]],
            FORWARD,
            id="a forward difference, another number in the rest",
        ),
    ],
)
def test_several_updates_an_iteration(second: Losses, expected: tuple[str, int]) -> None:
    assert judged(pair([[1, 2, 3], [4, 5, 6]], second, first=2)) == expected


def test_the_row_of_a_check_shows_the_worst_loss_and_where_it_lies() -> None:
    verdict = judge(pair([[1, 2, 3], [4, 5, 6]], [[1, 2, 3.5], [4, 5, 6.1]], first=2), Tolerance())
    forward, backward = verdict.comparisons
    assert (
        forward.iteration,
        forward.kind,
        forward.loss_index,
        forward.passed,
        forward.max_difference,
    ) == (1, "forward", 0, True, 0.0)
    assert (backward.iteration, backward.loss_index, backward.run, backward.rank) == (1, 2, 2, 0)
    assert (backward.passed, backward.max_difference, backward.reference, backward.value) == (
        False,
        0.5,
        3,
        3.5,
    )
    assert backward.allowed == pytest.approx(0.004)
    assert (
        "iteration 1, loss 3" in verdict.reason
        and "a difference of 0.5 where 0.004 is allowed" in verdict.reason
    )


def test_equal_losses_are_shown_in_the_checked_iteration() -> None:
    rows = judge(
        pair([[1, 2, 3], [4, 5, 6]], [[1, 2, 3], [4, 5, 6]], first=2), Tolerance()
    ).comparisons
    assert [(row.kind, row.iteration, row.loss_index) for row in rows] == [
        ("forward", 1, 0),
        ("backward", 2, 0),
    ]


def test_a_checked_iteration_without_a_loss_after_a_rest_with_one() -> None:
    rows = judge(pair([[1, 2], []], [[1, 2], []], first=1), Tolerance()).comparisons
    assert [(row.kind, row.iteration, row.loss_index, row.passed) for row in rows] == [
        ("forward", 1, 0, True),
        ("backward", 1, 1, True),
    ]


def test_a_loss_that_is_finite_in_one_run_only_comes_first() -> None:
    verdict = judge(pair([[1.0, 1.0], [1.0]], [[5.0, NAN], [1.0]]), Tolerance())
    row = verdict.comparisons[0]
    assert (row.passed, row.loss_index, row.max_difference, row.ulp) == (False, 1, None, None)
    assert "finite in one run only" in verdict.reason


def test_losses_too_far_apart_for_a_double() -> None:
    verdict = judge(pair([[-1.7e308], [1.0]], [[1.7e308], [1.0]]), Tolerance())
    assert (
        verdict.title == FORWARD[0]
        and verdict.comparisons[0].max_difference is None
        and "too far apart" in verdict.reason
    )


def test_the_tolerance_is_the_users() -> None:
    runs = pair([[1.0], [0.5]], [[1.0 + 1e-6], [0.5]])
    assert judge(runs, Tolerance(rtol=0, atol=1e-7)).title == FORWARD[0]
    assert judge(runs, Tolerance(rtol=1e-5, atol=0)).title == "REPRODUCIBLE"
    assert judge(pair([[1.0], [0.5]], [[9.0], [0.5]]), Tolerance(rtol=10)).title == "REPRODUCIBLE"


def test_a_tolerance_that_no_double_holds_allows_any_difference() -> None:
    widest = Tolerance(rtol=1e308)
    verdict = judge(pair([[10.0], [10.0]], [[20.0], [10.0]]), widest)
    assert verdict.title == "REPRODUCIBLE"
    assert "any difference is allowed" in verdict.reason


def test_run_1_is_the_reference_of_the_relative_tolerance() -> None:
    tolerance = Tolerance(rtol=0.1, atol=0)
    assert judge(pair([[1.0], [1.0]], [[1.105], [1.0]]), tolerance).title == FORWARD[0]
    assert judge(pair([[1.105], [1.0]], [[1.0], [1.0]]), tolerance).title == "REPRODUCIBLE"


# ---------------------------------------------------------------------------------- ended otherwise


@pytest.mark.parametrize(
    ("first", "second", "expected"),
    [
        pytest.param(
            run(1, trace([[1.0]]), ended="failed", status=1),
            run(2, trace([[1.0]]), ended="failed", status=1),
            FAILED,
            id="both in iteration 2",
        ),
        pytest.param(
            run(1, trace(GOOD)),
            run(2, trace([[1.0]]), ended="failed", status=1),
            FAILED,
            id="run 2 in iteration 2",
        ),
        pytest.param(
            run(1, trace([[1.0]]), ended="failed", status=1),
            run(2, trace(GOOD)),
            FAILED,
            id="run 1 in iteration 2",
        ),
        pytest.param(
            run(1, trace(GOOD)),
            run(2, ended="failed", status=1),
            FAILED,
            id="run 2 before any loss",
        ),
        pytest.param(
            run(1), run(2, ended="failed", status=1), FAILED, id="run 2 failed, run 1 saw no loss"
        ),
        pytest.param(
            run(1, trace(GOOD)),
            run(2, trace([[1.0]]), ended="timed_out", status=-15),
            TIMED_OUT,
            id="timed out",
        ),
        pytest.param(
            run(1, trace([[1.0]]), ended="timed_out"),
            run(2, trace([[1.0]]), ended="failed"),
            TIMED_OUT,
            id="the first run that ended early counts",
        ),
        pytest.param(
            run(1, trace(GOOD)),
            run(2, trace([[1.1]]), ended="failed", status=1),
            FORWARD,
            id="a forward difference stands",
        ),
        pytest.param(
            run(1, trace(GOOD)),
            run(2, trace([[1.1]], unfinished=True), ended="timed_out"),
            FORWARD,
            id="a forward difference of an open iteration stands",
        ),
        pytest.param(
            run(1, trace(GOOD)),
            run(2, trace([[1.0], [0.9]], unfinished=True), ended="failed"),
            BACKWARD,
            id="with a difference before",
        ),
        pytest.param(
            run(1, trace(GOOD)),
            run(2, trace([[1.0], [0.5], [0.2]], unfinished=True), ended="failed"),
            FAILED,
            id="after the checks",
        ),
        pytest.param(
            run(1, trace(GOOD)),
            run(2, trace([[1.0], [0.9]]), ended="failed"),
            BACKWARD,
            id="after the checks, which differ",
        ),
        pytest.param(
            run(1, trace(GOOD)),
            run(2, trace([[1.0, 1.0], [0.5]]), ended="failed"),
            FAILED,
            id="after the checks, which do not fit",
        ),
        pytest.param(
            run(1, trace([[1, 1], [2]])),
            run(2, trace([[1]], unfinished=True), ended="failed"),
            FAILED,
            id="between two losses of iteration 1",
        ),
        pytest.param(
            run(1, trace(GOOD), ended="stopped"),
            run(2, trace(GOOD), ended="stopped"),
            REPRODUCIBLE,
            id="stopped early is no failure",
        ),
        pytest.param(
            run(1, trace(GOOD)),
            run(2, trace([[1.0], [0.5]], unfinished=True)),
            diverging("iteration 3 (one run is longer: 3 against 2 iterations)"),
            id="an open iteration of a run that completed",
        ),
        pytest.param(
            run(1, trace(GOOD)),
            run(2, trace([[1.0]]), ended="interrupted"),
            INCONCLUSIVE,
            id="interrupted",
        ),
        pytest.param(
            run(1, trace(GOOD)),
            run(2, trace([[NAN], [1.0]]), ended="failed"),
            FORWARD,
            id="NaN in the run that failed",
        ),
        pytest.param(
            run(1, trace([[NAN]])),
            run(2, trace([[NAN]]), ended="failed"),
            FAILED,
            id="failure before inconclusive",
        ),
    ],
)
def test_runs_that_ended_otherwise(first: Run, second: Run, expected: tuple[str, int]) -> None:
    assert judged([first, second]) == expected


def test_the_reason_of_a_failure_names_run_place_and_error() -> None:
    stderr = "Traceback (most recent call last):\n  File\nRuntimeError: out of patience\n\n====\n"
    runs = [
        run(1, trace([[1.0]]), ended="failed", status=1, stderr=stderr),
        run(2, trace([[1.0]]), ended="failed", status=1, stderr=stderr),
    ]
    ending = "ended after iteration 1 with RuntimeError: out of patience, before both checks could be made."
    assert judge(runs, Tolerance()).reason == f"Both runs {ending}"
    assert judge([runs[0], run(2, trace(GOOD))], Tolerance()).reason == f"Run 1 {ending}"
    killed = [run(1, trace([[1.0]]), ended="failed", status=-9), run(2)]
    assert (
        "Run 1 was ended after iteration 1 by SIGKILL, before" in judge(killed, Tolerance()).reason
    )
    late = [run(1, trace([[1.0]], unfinished=True), ended="timed_out", status=-15), run(2)]
    assert (
        "Run 1 was stopped in iteration 1 by --timeout after 15 s, before"
        in judge(late, Tolerance()).reason
    )


def test_several_runs_that_took_too_long() -> None:
    late = [run(number, trace(GOOD), ended="timed_out", status=-15) for number in (1, 2)]
    reason = "Both runs were stopped after iteration 3 by --timeout after 15 s; until then both checks pass, bit for bit."
    assert judge(late, Tolerance()).reason == reason


def test_an_error_that_the_script_caught_did_not_end_it() -> None:
    ended = replace(PROCESS, ended=True)
    exits = run(
        2,
        trace([[1.0], [0.5]]),
        ended="failed",
        status=3,
        stderr="ValueError: caught\n",
        processes=(ended,),
    )
    reason = judge([run(1, trace(GOOD)), exits], Tolerance()).reason
    assert (
        reason
        == "Run 2 ended after iteration 2 with exit status 3; until then both checks pass, bit for bit."
    )
    raises = replace(exits, processes=(ended, replace(ended, error="KeyError: 'x'")))
    assert (
        "ended after iteration 2 with KeyError: 'x'; until then"
        in judge([run(1, trace(GOOD)), raises], Tolerance()).reason
    )


@pytest.mark.parametrize("fail_on", ["checks", "any-iteration", "bitwise"])
def test_a_failure_after_the_checks_is_no_pass_and_no_difference(fail_on: str) -> None:
    failed = run(2, trace([[1.0], [0.5]]), ended="failed", status=3, stderr="ValueError: x\n")
    verdict = judge([run(1, trace(GOOD)), failed], Tolerance(), fail_on)
    assert (verdict.title, verdict.exit_code) == FAILED
    assert (
        verdict.reason
        == "Run 2 ended after iteration 2 with ValueError: x; until then both checks pass, bit for bit."
    )
    assert verdict.first_divergence is None and verdict.bitwise.equal is True
    equal = "As far as both runs go, their losses are equal in every bit"
    assert (
        verdict.outcomes.statement
        == f"{equal}; run 2 was ended in between (3 against 2 iterations)."
    )


def test_what_differed_before_a_failure_is_said() -> None:
    failed = run(2, trace([[1.0], [0.5], [9.0]]), ended="timed_out", status=-15)
    verdict = judge([run(1, trace([*GOOD, [0.1]])), failed], Tolerance())
    assert (verdict.title, verdict.exit_code) == TIMED_OUT
    assert verdict.reason.endswith(
        "; until then both checks pass and the losses leave the tolerance in iteration 3."
    )
    close = run(2, trace([[1.0], [0.5], [0.2500001]]), ended="failed", status=1)
    assert judge([run(1, trace([*GOOD, [0.1]])), close], Tolerance()).reason.endswith(
        "both checks pass within the tolerance."
    )


@pytest.mark.parametrize(
    ("stderr", "said"),
    [
        (
            "usage: a.py\na.py: error: --lr is required\n",
            "2 (a.py: error: --lr is required), before",
        ),
        ("no config\n", "exit status 2, before"),
    ],
)
def test_what_a_parser_says_of_a_command_line_is_in_the_reason(stderr: str, said: str) -> None:
    assert said in judge([run(1, ended="failed", status=2, stderr=stderr)], Tolerance()).reason


def test_equal_losses_of_two_lengths_are_told_as_one_run_that_is_longer() -> None:
    verdict = judge(pair([[1.0]] * 468, [[1.0]] * 572), Tolerance())
    longer = "one run is longer: 468 against 572 iterations"
    assert verdict.title == f"PASSES THE CHECKS, DIVERGES from iteration 469 ({longer})"
    assert (
        verdict.reason
        == f"Both checks pass in 2 runs of 468 iterations, and then the runs diverge: {longer}."
    )
    assert verdict.bitwise.one_is_longer and verdict.bitwise.first_iteration == 469
    equal = "As far as both runs go, their losses are equal in every bit"
    assert verdict.outcomes.statement == f"{equal}. One run is longer: 468 against 572 iterations."
    assert not any("not equal in every bit" in caveat for caveat in verdict.caveats)


def test_a_rank_that_never_reports_is_no_pass() -> None:
    runs = [
        run(number, trace(GOOD), trace(GOOD, rank=2), world=3, absent=(1,)) for number in (1, 2)
    ]
    verdict = judge(runs, Tolerance())
    assert (verdict.title, verdict.exit_code) == INCONCLUSIVE
    assert (
        verdict.reason
        == "Rank 1 of 3 reported no loss and no update in run 1, so nothing is known of what it does."
    )
    differs = replace(runs[1], traces=(trace([[9.0], [0.5]]), trace(GOOD, rank=2)))
    assert judge([runs[0], differs], Tolerance()).title == FORWARD[0], (
        "a difference that was seen stands"
    )


def test_trainings_that_were_never_seen_side_by_side_are_no_pass() -> None:
    def both(number: int, *, began: float) -> Run:
        stopped = replace(PROCESS, rank=0, origin=("a",), started=1.0, began=2.0, left=5.0)
        late = replace(PROCESS, rank=1, origin=("b",), started=1.0, began=began, left=9.0)
        return run(
            number,
            replace(trace(GOOD), process=stopped),
            replace(trace(GOOD, rank=1), process=late),
        )

    verdict = judge([both(1, began=4.0), both(2, began=6.0)], Tolerance())
    assert (verdict.title, verdict.exit_code) == INCONCLUSIVE
    assert (
        "in run 2 rank 1 had been started and had not begun to train when reprocheck ended rank 0"
        in verdict.reason.lower()
    )
    assert judged([both(1, began=4.0), both(2, began=4.5)]) == REPRODUCIBLE


# ---------------------------------------------------------------------------- checks that cannot be


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
        (
            [run(1, trace(GOOD, moved_in=None)), run(2, trace(GOOD))],
            "none of the 3 recorded updates of run 1 changed the weights",
        ),
        (
            [run(1, trace(GOOD, moved_in=None, stopped_at=3)), run(2, trace(GOOD))],
            "or record more than 3 iterations with --steps",
        ),
        (
            [run(1, trace(GOOD, moved_in=None, unchanged_updates=0)), run(2, trace(GOOD))],
            "call reprocheck.log_loss(loss) in every iteration",
        ),
        (
            [run(1, trace([[], [1.0]])), run(2, trace([[], [1.0]]))],
            "before the first update in run 1",
        ),
        (
            [run(1, trace(GOOD)), run(2, trace([[1, 1], [0.5]]))],
            "iteration 1 holds 1 loss before the first update in run 1 and 2 in run 2",
        ),
        (
            [run(1, trace(GOOD)), run(2, trace([[1], [0.5, 0.5]]))],
            "iteration 2 holds 1 loss in run 1 and 2 in run 2",
        ),
        (
            [run(1, trace([[NAN], [1]])), run(2, trace([[INF], [1]]))],
            "is NaN in run 1 and infinite in run 2",
        ),
        ([run(1, trace(GOOD))], "only one run was recorded"),
        (
            [run(1, trace(GOOD), trace(GOOD, rank=1)), run(2, trace(GOOD))],
            "rank 1 was recorded in run 1 and not in run 2",
        ),
    ],
)
def test_inconclusive_says_what_to_do(runs: list[Run], says: str) -> None:
    verdict = judge(runs, Tolerance())
    assert (verdict.title, verdict.exit_code) == INCONCLUSIVE
    assert says.lower() in verdict.reason.lower()


def test_no_runs_at_all() -> None:
    assert judge([], Tolerance()).verdict == "inconclusive"
