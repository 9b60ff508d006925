"""The verdict beside the two checks: unchanged weights, ranks, N runs, bits, divergence,
`--fail-on`.
"""

from __future__ import annotations

import pytest

from reprocheck.model import Tolerance
from reprocheck.verdict import judge
from tests.verdict.verdict_runs import (
    BACKWARD,
    FAILED,
    FORWARD,
    GOOD,
    INCONCLUSIVE,
    Losses,
    diverging,
    judged,
    pair,
    run,
    trace,
)

# -------------------------------------------------------------------------------- unchanged weights


def test_the_second_check_moves_to_the_iteration_after_the_first_real_change() -> None:
    first, second = [[1], [1], [0.5]], [[1], [1], [0.7]]
    verdict = judge(pair(first, second, moved_in=2), Tolerance())
    assert verdict.title == BACKWARD[0] and "iteration 3" in verdict.reason
    assert any(
        "first update did not change the weights" in caveat and "iteration 3" in caveat
        for caveat in verdict.caveats
    )
    assert judged(pair(first, [[1], [9], [0.5]], moved_in=2)) == diverging(
        "iteration 2 (1 against 9)"
    )


def test_losses_of_the_same_weights_are_not_said_to_be_updates_without_effect() -> None:
    verdict = judge(
        pair(
            [[1], [1], [0.5]],
            [[1], [1], [0.5]],
            moved_in=2,
            unchanged_updates=0,
            unchanged_passes=1,
        ),
        Tolerance(),
    )
    assert verdict.caveats == (
        "The first 2 losses come from the same weights, as in gradient accumulation or with a step of size 0, "
        "so the second check is made on iteration 3 instead of iteration 2.",
    )


def test_weights_that_stay_in_all_iterations_leave_the_backward_pass_open() -> None:
    verdict = judge(
        pair([[1], [1]], [[1], [1]], moved_in=None, unchanged_updates=0, unchanged_passes=1),
        Tolerance(),
    )
    assert verdict.verdict == "inconclusive"
    assert "the weights did not change in the 2 recorded iterations of run 1" in verdict.reason


def test_the_iteration_of_run_1_rules() -> None:
    runs = [run(1, trace(GOOD)), run(2, trace([[1.0], [0.9], [0.25]], moved_in=2))]
    verdict = judge(runs, Tolerance())
    assert verdict.title == BACKWARD[0] and verdict.comparisons[1].iteration == 2
    assert any(
        "first change in iteration 1; in run 2 they first change in iteration 2" in caveat
        for caveat in verdict.caveats
    )
    still = judge([run(1, trace(GOOD)), run(2, trace(GOOD, moved_in=None))], Tolerance())
    assert still.verdict == "reproducible" and any(
        "do not change in the recorded iterations" in caveat for caveat in still.caveats
    )


def test_weights_that_could_not_be_seen_are_a_caveat() -> None:
    verdict = judge(pair(GOOD, GOOD, weights_seen=False, unchanged_updates=0), Tolerance())
    assert verdict.verdict == "reproducible"
    assert verdict.caveats == (
        "Whether updates change the weights could not be seen; the first update is taken to be a real one.",
    )


def test_a_skipped_step_before_the_checks_is_a_caveat() -> None:
    verdict = judge([run(1, trace(GOOD, skipped=(1, 3))), run(2, trace(GOOD))], Tolerance())
    assert verdict.caveats == ("A gradient scaler skipped a step in iteration 1 (run 1).",)


# --------------------------------------------------------------------------------- ranks and N runs


def test_every_rank_is_checked() -> None:
    runs = [
        run(1, trace(GOOD), trace(GOOD, rank=1)),
        run(2, trace(GOOD), trace([[1.0], [0.9], [0.25]], rank=1)),
    ]
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
    assert (
        verdict.first_divergence is not None
        and verdict.first_divergence.detail == "rank 1 was recorded in run 1 only"
    )
    assert (verdict.bitwise.equal, verdict.bitwise.first_iteration) == (False, 1)


def test_every_run_is_checked_and_the_worst_is_named() -> None:
    runs = [
        run(1, trace(GOOD)),
        run(2, trace([[1.0], [0.6]])),
        run(3, trace([[1.0], [0.8]])),
        run(4, trace([[1.2], [0.5]])),
    ]
    verdict = judge(runs, Tolerance())
    assert verdict.title == FORWARD[0] and "run 4 has loss 1.2 where run 1 has 1" in verdict.reason
    assert "run 3 has loss 0.8" in judge(runs[:3], Tolerance()).reason
    assert len(verdict.comparisons) == 6


# ------------------------------------------------------------------ bitwise, divergence, strictness


def test_a_pass_that_is_not_bitwise_says_so() -> None:
    verdict = judge(
        pair([[1.0], [0.5], [2.0]], [[1.0], [0.5 + 2**-24], [2.0 + 3 * 2**-22]]), Tolerance()
    )
    assert verdict.verdict == "reproducible"
    assert (verdict.bitwise.equal, verdict.bitwise.first_iteration, verdict.bitwise.ulp) == (
        False,
        2,
        1,
    )
    assert "not equal in every bit" in verdict.reason
    assert verdict.caveats[0] == (
        "The checks pass within the tolerance, but the runs are not equal in every bit: "
        "the first difference is in iteration 2, by up to 1 ULP of float32."
    )


def test_a_pass_that_leaves_the_tolerance_later_says_so() -> None:
    verdict = judge(pair([[1.0], [0.5], [0.25]], [[1.0], [0.5], [0.75]]), Tolerance())
    assert verdict.verdict == "reproducible"
    assert verdict.first_divergence is not None
    assert (
        verdict.first_divergence.iteration,
        verdict.first_divergence.reference,
        verdict.first_divergence.value,
    ) == (3, 0.25, 0.75)
    assert (
        verdict.title == "PASSES THE CHECKS, DIVERGES from iteration 3 (0.25 against 0.75)"
        and verdict.exit_code == 0
    )
    later = "from iteration 3 on the runs diverge: run 2 has loss 0.75 where run 1 has 0.25"
    assert verdict.reason == f"Both checks pass in 2 runs of 3 iterations, and {later}."


def test_a_tolerance_that_is_wide_for_the_losses_says_so() -> None:
    assert any(
        "tolerance is wide" in caveat
        for caveat in judge(pair([[1e-4], [1e-4]], [[2e-4], [1e-4]]), Tolerance()).caveats
    )
    assert judge(pair([[1e-4], [1e-4]], [[1e-4], [1e-4]]), Tolerance()).caveats == ()


def test_equal_in_every_bit_leaves_no_caveat() -> None:
    verdict = judge(pair(GOOD, GOOD), Tolerance())
    assert (
        verdict.bitwise.equal is True and verdict.first_divergence is None and verdict.caveats == ()
    )
    assert (
        verdict.reason
        == "No difference was seen in 2 runs of 3 iterations: all losses are equal in every bit."
    )


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
    for rule, expected in (
        ("checks", checks),
        ("any-iteration", any_iteration),
        ("bitwise", bitwise),
    ):
        verdict = judge(runs, Tolerance(), fail_on=rule)
        broken = expected != plain.exit_code
        headline = f"FAILED BY --fail-on {rule}: {plain.title}" if broken else plain.title
        assert (verdict.exit_code, verdict.title) == (expected, headline)
        assert (f"--fail-on {rule}" in verdict.reason) == broken
        assert verdict.tone == ("bad" if broken else plain.tone)


def test_losses_that_are_no_numbers_agree_in_nothing() -> None:
    lost = [*GOOD, [float("nan")], [float("nan")]]
    verdict = judge(pair(lost, lost), Tolerance())
    assert verdict.exit_code == 0
    assert any("loss of iteration 4 is NaN or infinite" in said for said in verdict.caveats)
    assert judge(pair(GOOD, GOOD), Tolerance()).caveats == ()


def test_only_a_pass_without_a_difference_beside_it_looks_good() -> None:
    later = [*GOOD[:-1], [value + 1 for value in GOOD[-1]]]
    tones = [judge(pair(GOOD, other), Tolerance()).tone for other in (GOOD, later)]
    assert tones == ["good", "unsure"]


def test_an_unknown_rule_is_an_error() -> None:
    with pytest.raises(ValueError, match="any-iteration"):
        judge(pair(GOOD, GOOD), Tolerance(), fail_on="sometimes")


def test_ranks_are_named_only_where_there_are_several() -> None:
    short = [[1.0]]
    alone = judge([run(1, trace(short)), run(2, trace(short, weights_seen=False))], Tolerance())
    both = judge(
        [run(number, trace(short), trace(short, rank=1)) for number in (1, 2)], Tolerance()
    )
    assert "recorded 1 iteration, and" in alone.reason
    assert "recorded 1 iteration (rank 0), and" in both.reason
    skipped = judge(
        [
            run(number, *(trace(GOOD, rank=rank, skipped=(1,)) for rank in (0, 1)))
            for number in (1, 2)
        ],
        Tolerance(),
    )
    assert (
        skipped.caveats[0]
        == "A gradient scaler skipped a step in iteration 1 (run 1, ranks 0 and 1)."
    )
