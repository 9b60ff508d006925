"""The verdict beside the two checks: unchanged weights, ranks, N runs, bits, divergence,
`--fail-on`.
"""

from __future__ import annotations

import pytest

from reprocheck.model import Tolerance
from reprocheck.model.statements.verdict import (
    LateCheck,
    LoosePass,
    LossesDiffer,
    NotFiniteFrom,
    NothingToCheck,
    NotMade,
    OtherFirstChange,
    RankInOneRunOnly,
    StepSkipped,
    TooFew,
    WeightsNotSeen,
    WideTolerance,
)
from reprocheck.verdict import judge
from tests.verdict.verdict_runs import (
    BACKWARD,
    FAILED,
    FORWARD,
    GOOD,
    INCONCLUSIVE,
    REPRODUCIBLE,
    Losses,
    judged,
    outcome,
    pair,
    run,
    trace,
)

# -------------------------------------------------------------------------------- unchanged weights


def test_the_second_check_moves_to_the_iteration_after_the_first_real_change() -> None:
    first, second = [[1], [1], [0.5]], [[1], [1], [0.7]]
    verdict = judge(pair(first, second, moved_in=2), Tolerance())
    assert outcome(verdict) == BACKWARD and verdict.comparisons[1].iteration == 3
    assert LateCheck(iteration=3, unchanged=1, passes=0) in verdict.cautions
    before = judge(pair(first, [[1], [9], [0.5]], moved_in=2), Tolerance())
    assert (outcome(before), before.diverges_from) == (REPRODUCIBLE, 2)


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
    assert verdict.cautions == (LateCheck(iteration=3, unchanged=0, passes=1),)


def test_weights_that_stay_in_all_iterations_leave_the_backward_pass_open() -> None:
    verdict = judge(
        pair([[1], [1]], [[1], [1]], moved_in=None, unchanged_updates=0, unchanged_passes=1),
        Tolerance(),
    )
    assert verdict.verdict == "inconclusive"
    assert verdict.because == NotMade(
        kind="backward", why=NothingToCheck(lacks="other weights", run=1, recorded=2)
    )


def test_the_iteration_of_run_1_rules() -> None:
    runs = [run(1, trace(GOOD)), run(2, trace([[1.0], [0.9], [0.25]], moved_in=2))]
    verdict = judge(runs, Tolerance())
    assert outcome(verdict) == BACKWARD and verdict.comparisons[1].iteration == 2
    assert OtherFirstChange(run=2, own=2, reference=1) in verdict.cautions
    still = judge([run(1, trace(GOOD)), run(2, trace(GOOD, moved_in=None))], Tolerance())
    assert still.verdict == "reproducible"
    assert OtherFirstChange(run=2, own=None, reference=1) in still.cautions


def test_weights_that_could_not_be_seen_are_a_caveat() -> None:
    verdict = judge(pair(GOOD, GOOD, weights_seen=False, unchanged_updates=0), Tolerance())
    assert verdict.verdict == "reproducible"
    assert verdict.cautions == (WeightsNotSeen(),)


def test_a_skipped_step_before_the_checks_is_a_caveat() -> None:
    verdict = judge([run(1, trace(GOOD, skipped=(1, 3))), run(2, trace(GOOD))], Tolerance())
    assert verdict.cautions == (StepSkipped(run=1, iteration=1),)


# --------------------------------------------------------------------------------- ranks and N runs


def test_every_rank_is_checked() -> None:
    runs = [
        run(1, trace(GOOD), trace(GOOD, rank=1)),
        run(2, trace(GOOD), trace([[1.0], [0.9], [0.25]], rank=1)),
    ]
    verdict = judge(runs, Tolerance())
    assert outcome(verdict) == BACKWARD
    assert verdict.because == LossesDiffer(row=verdict.comparisons[3], ranks=2, forward_agrees=True)
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
    assert verdict.first_divergence is not None
    assert verdict.first_divergence.why == RankInOneRunOnly(rank=1, run=1)
    assert (verdict.bitwise.equal, verdict.bitwise.first_iteration) == (False, 1)


def test_every_run_is_checked_and_the_worst_is_named() -> None:
    runs = [
        run(1, trace(GOOD)),
        run(2, trace([[1.0], [0.6]])),
        run(3, trace([[1.0], [0.8]])),
        run(4, trace([[1.2], [0.5]])),
    ]
    verdict = judge(runs, Tolerance())
    assert outcome(verdict) == FORWARD and len(verdict.comparisons) == 6
    worst = [judge(some, Tolerance()).because for some in (runs, runs[:3])]
    assert [(one.row.run, one.row.value) for one in worst if isinstance(one, LossesDiffer)] == [
        (4, 1.2),
        (3, 0.8),
    ]


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
    assert verdict.cautions[0] == LoosePass(iteration=2, ulp=1, dtype="float32")


def test_a_pass_that_leaves_the_tolerance_later_says_so() -> None:
    verdict = judge(pair([[1.0], [0.5], [0.25]], [[1.0], [0.5], [0.75]]), Tolerance())
    assert verdict.verdict == "reproducible"
    assert verdict.first_divergence is not None
    assert (
        verdict.first_divergence.iteration,
        verdict.first_divergence.reference,
        verdict.first_divergence.value,
    ) == (3, 0.25, 0.75)
    assert verdict.exit_code == 0


def test_a_tolerance_that_is_wide_for_the_losses_says_so() -> None:
    caution = judge(pair([[1e-4], [1e-4]], [[2e-4], [1e-4]]), Tolerance()).cautions[-1]
    assert isinstance(caution, WideTolerance)
    assert (caution.kind, caution.run, caution.reference) == ("forward", 2, 1e-4)
    assert judge(pair([[1e-4], [1e-4]], [[1e-4], [1e-4]]), Tolerance()).cautions == ()


def test_equal_in_every_bit_leaves_no_caveat() -> None:
    verdict = judge(pair(GOOD, GOOD), Tolerance())
    assert verdict.bitwise.equal is True and verdict.first_divergence is None
    assert verdict.cautions == ()


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
        assert (verdict.exit_code, verdict.broken_rule) == (expected, rule if broken else "")
        assert verdict.tone == ("bad" if broken else plain.tone)


def test_losses_that_are_no_numbers_agree_in_nothing() -> None:
    lost = [*GOOD, [float("nan")], [float("nan")]]
    verdict = judge(pair(lost, lost), Tolerance())
    assert verdict.exit_code == 0
    assert verdict.cautions == (NotFiniteFrom(iteration=4),)
    assert judge(pair(GOOD, GOOD), Tolerance()).cautions == ()


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
    too_few = [one.because.why for one in (alone, both) if isinstance(one.because, NotMade)]
    assert [one.ranks for one in too_few if isinstance(one, TooFew)] == [(), (0,)]
    skipped = judge(
        [
            run(number, *(trace(GOOD, rank=rank, skipped=(1,)) for rank in (0, 1)))
            for number in (1, 2)
        ],
        Tolerance(),
    )
    assert skipped.cautions[0] == StepSkipped(run=1, iteration=1, ranks=(0, 1))
