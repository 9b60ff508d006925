"""Every rule of the verdict, on runs written as lists of losses."""

from __future__ import annotations

from dataclasses import replace

import pytest

from reprocheck.model import CheckKind, OneIsLonger, Run, Tolerance
from reprocheck.model.statement import Statement
from reprocheck.model.statements.verdict import (
    Agreement,
    LoosePass,
    LossesDiffer,
    NeitherFinite,
    NeverTogether,
    NotCompared,
    NothingToCheck,
    NotMade,
    OtherNumber,
    RankOfOneRun,
    RunEnding,
    RunsFailed,
    SilentRanks,
    TooFew,
    WithoutPartner,
)
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
    Outcome,
    judged,
    outcome,
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
        pytest.param([[1.0], [0.5], [9.0]], REPRODUCIBLE, id="later than the checks"),
        pytest.param([[NAN], [0.5], [0.25]], FORWARD, id="NaN in one run only"),
        pytest.param([[1.0], [INF], [0.25]], BACKWARD, id="infinite in one run only"),
        pytest.param(
            [[1.0, 1.0], [0.5], [0.25]], INCONCLUSIVE, id="another number of losses in iteration 1"
        ),
        pytest.param(
            [[1.0], [0.5, 0.5], [0.25]], INCONCLUSIVE, id="another number of losses in iteration 2"
        ),
        pytest.param(
            [[1.0], [0.5], [0.25, 0.1]], REPRODUCIBLE, id="another number of losses later"
        ),
        pytest.param([[1.0]], INCONCLUSIVE, id="one iteration"),
        pytest.param([[1.0], [0.5]], REPRODUCIBLE, id="shorter, with both checks"),
        pytest.param(
            [[1.1], [0.5, 0.5]], FORWARD, id="a forward difference stands before inconclusive"
        ),
        pytest.param([[1.1]], FORWARD, id="a forward difference stands in one iteration"),
    ],
)
def test_two_runs(second: Losses, expected: Outcome) -> None:
    assert judged(pair(GOOD, second)) == expected


@pytest.mark.parametrize(
    ("second", "why"),
    [
        pytest.param([[1.0], [0.5], [9.0]], None, id="another loss"),
        pytest.param(
            [[1.0], [0.5], [0.25, 0.1]],
            WithoutPartner(of="losses", iteration=3, run=2, own=2, reference=1),
            id="another number of losses",
        ),
        pytest.param(
            [[1.0], [0.5]],
            WithoutPartner(of="iterations", iteration=3, run=2, own=2, reference=3),
            id="shorter",
        ),
    ],
)
def test_a_divergence_behind_the_checks(second: Losses, why: Statement | None) -> None:
    divergence = judge(pair(GOOD, second), Tolerance()).first_divergence
    assert divergence is not None and (divergence.iteration, divergence.why) == (3, why)


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
def test_two_runs_of_any_losses(first: Losses, second: Losses, expected: Outcome) -> None:
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
def test_several_updates_an_iteration(second: Losses, expected: Outcome) -> None:
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
    assert verdict.because == LossesDiffer(row=backward, ranks=1, forward_agrees=True)


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
    assert verdict.because == LossesDiffer(row=row, ranks=1)


def test_losses_too_far_apart_for_a_double() -> None:
    verdict = judge(pair([[-1.7e308], [1.0]], [[1.7e308], [1.0]]), Tolerance())
    assert outcome(verdict) == FORWARD and verdict.comparisons[0].max_difference is None


def test_the_tolerance_is_the_users() -> None:
    runs = pair([[1.0], [0.5]], [[1.0 + 1e-6], [0.5]])
    assert outcome(judge(runs, Tolerance(rtol=0, atol=1e-7))) == FORWARD
    assert outcome(judge(runs, Tolerance(rtol=1e-5, atol=0))) == REPRODUCIBLE
    far = pair([[1.0], [0.5]], [[9.0], [0.5]])
    assert outcome(judge(far, Tolerance(rtol=10))) == REPRODUCIBLE


def test_a_tolerance_that_no_double_holds_allows_any_difference() -> None:
    widest = Tolerance(rtol=1e308)
    verdict = judge(pair([[10.0], [10.0]], [[20.0], [10.0]]), widest)
    assert outcome(verdict) == REPRODUCIBLE
    assert isinstance(verdict.because, Agreement) and verdict.because.largest.limit == INF


def test_run_1_is_the_reference_of_the_relative_tolerance() -> None:
    tolerance = Tolerance(rtol=0.1, atol=0)
    assert outcome(judge(pair([[1.0], [1.0]], [[1.105], [1.0]]), tolerance)) == FORWARD
    assert outcome(judge(pair([[1.105], [1.0]], [[1.0], [1.0]]), tolerance)) == REPRODUCIBLE


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
            REPRODUCIBLE,
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
def test_runs_that_ended_otherwise(first: Run, second: Run, expected: Outcome) -> None:
    assert judged([first, second]) == expected


def because(*runs: Run) -> RunsFailed:
    failed = judge(runs, Tolerance()).because
    assert isinstance(failed, RunsFailed)
    return failed


def test_a_failure_has_runs_places_and_errors() -> None:
    stderr = "Traceback (most recent call last):\n  File\nRuntimeError: out of patience\n\n====\n"
    runs = [
        run(number, trace([[1.0]]), ended="failed", status=1, stderr=stderr) for number in (1, 2)
    ]
    ending = RunEnding(how="error", says="RuntimeError: out of patience", iteration=1)
    both = because(*runs)
    assert (both.runs, both.of, both.endings) == ((1, 2), 2, (ending, ending))
    assert not both.checks_made
    alone = because(runs[0], run(2, trace(GOOD)))
    assert (alone.runs, alone.of, alone.endings) == ((1,), 2, (ending,))


@pytest.mark.parametrize(
    ("failing", "ending"),
    [
        (
            run(1, trace([[1.0]]), ended="failed", status=-9),
            RunEnding(how="signal", status=9, iteration=1),
        ),
        (
            run(1, trace([[1.0]], unfinished=True), ended="timed_out", status=-15),
            RunEnding(how="timed out", seconds=15, iteration=1, unfinished=True),
        ),
        (
            run(1, ended="failed", status=2, stderr="a.py: error: --lr is required\n"),
            RunEnding(how="status", status=2, says="a.py: error: --lr is required"),
        ),
        (
            run(1, ended="failed", status=2, stderr="no config\n"),
            RunEnding(how="status", status=2),
        ),
        (run(1, ended="failed", status=None), RunEnding(how="unknown")),
    ],
)
def test_how_a_run_ended(failing: Run, ending: RunEnding) -> None:
    assert because(failing, run(2)).endings == (ending,)


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
    good = run(1, trace(GOOD))
    assert because(good, exits).endings == (RunEnding(how="status", status=3, iteration=2),)
    raises = replace(exits, processes=(ended, replace(ended, error="KeyError: 'x'")))
    error = RunEnding(how="error", says="KeyError: 'x'", iteration=2)
    assert because(good, raises).endings == (error,)


@pytest.mark.parametrize("fail_on", ["checks", "any-iteration", "bitwise"])
def test_a_failure_after_the_checks_is_no_pass_and_no_difference(fail_on: str) -> None:
    failed = run(2, trace([[1.0], [0.5]]), ended="failed", status=3, stderr="ValueError: x\n")
    verdict = judge([run(1, trace(GOOD)), failed], Tolerance(), fail_on)
    assert outcome(verdict) == FAILED and verdict.broken_rule == ""
    assert isinstance(verdict.because, RunsFailed)
    assert verdict.because.checks_made and verdict.because.equal
    assert verdict.first_divergence is None and verdict.bitwise.equal is True
    assert verdict.outcomes.longer == OneIsLonger(first=3, second=2, ended=2)


def test_what_differed_before_a_failure_is_known() -> None:
    good = run(1, trace([*GOOD, [0.1]]))
    failed = run(2, trace([[1.0], [0.5], [9.0]]), ended="timed_out", status=-15)
    assert judged([good, failed]) == TIMED_OUT
    apart = because(good, failed)
    assert (apart.checks_made, apart.equal, apart.leaves_in) == (True, False, 3)
    close = because(good, run(2, trace([[1.0], [0.5], [0.2500001]]), ended="failed", status=1))
    assert (close.checks_made, close.equal, close.leaves_in) == (True, False, None)


def test_equal_losses_of_two_lengths_are_one_run_that_is_longer() -> None:
    verdict = judge(pair([[1.0]] * 468, [[1.0]] * 572), Tolerance())
    assert outcome(verdict) == REPRODUCIBLE and verdict.diverges_from == 469
    assert isinstance(verdict.because, Agreement) and verdict.because.iterations == 468
    assert verdict.bitwise.one_is_longer and verdict.bitwise.first_iteration == 469
    assert verdict.outcomes.longer == OneIsLonger(first=468, second=572)
    assert not any(isinstance(one, LoosePass) for one in verdict.cautions)


def test_a_rank_that_never_reports_is_no_pass() -> None:
    runs = [
        run(number, trace(GOOD), trace(GOOD, rank=2), world=3, absent=(1,)) for number in (1, 2)
    ]
    verdict = judge(runs, Tolerance())
    assert outcome(verdict) == INCONCLUSIVE
    assert verdict.because == SilentRanks(run=1, world=3, ranks=(1,))
    differs = replace(runs[1], traces=(trace([[9.0], [0.5]]), trace(GOOD, rank=2)))
    assert judged([runs[0], differs]) == FORWARD, "a difference that was seen stands"


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
    assert outcome(verdict) == INCONCLUSIVE
    assert verdict.because == NeverTogether(run=2, late=1, stopped=0)
    assert judged([both(1, began=4.0), both(2, began=4.5)]) == REPRODUCIBLE


# ---------------------------------------------------------------------------- checks that cannot be


def nothing(lacks: str, recorded: int, **keys: object) -> NotMade:
    """The second check, or the first, finds no loss in run 1."""
    kind: CheckKind = "forward" if lacks == "before update" else "backward"
    why = NothingToCheck(lacks=lacks, run=1, recorded=recorded, **keys)  # type: ignore[arg-type]
    return NotMade(kind=kind, why=why)


@pytest.mark.parametrize(
    ("runs", "because"),
    [
        ([run(1, processes=()), run(2, processes=())], NotCompared(why="no process", run=1)),
        (
            [run(1, refused_loss="a list"), run(2)],
            NotCompared(why="no number", run=1, says="a list"),
        ),
        ([run(1, frameworks={}), run(2)], NotCompared(why="no framework", run=1)),
        ([run(1), run(2)], NotCompared(why="no loss", run=1, frameworks=("torch",))),
        (
            [run(1, trace([[], []])), run(2, trace([[], []]))],
            NotCompared(why="no loss", run=1, frameworks=("torch",)),
        ),
        (
            [run(1, trace(GOOD)), run(2)],
            NotCompared(why="no loss", run=2, frameworks=("torch",)),
        ),
        ([run(1, trace(GOOD))], NotCompared(why="one run")),
        (
            [run(1, trace(GOOD)), run(2, trace([[1.0]]), ended="interrupted")],
            NotCompared(why="interrupted", run=2),
        ),
        (
            [run(1, trace(GOOD)), run(2, trace([[1.0]]), broken="no space")],
            NotCompared(why="broken", run=2, says="no space"),
        ),
        (
            [run(1, trace([[1.0]])), run(2, trace([[1.0]]))],
            NotMade(kind="backward", why=TooFew(run=1, recorded=1, iteration=2, stopped=False)),
        ),
        (
            [run(1, trace([[1.0]], stopped_at=1)), run(2, trace([[1.0]]))],
            NotMade(kind="backward", why=TooFew(run=1, recorded=1, iteration=2, stopped=True)),
        ),
        (
            [run(1, trace(GOOD, moved_in=None)), run(2, trace(GOOD))],
            nothing("change", 3, unchanged=3),
        ),
        (
            [run(1, trace(GOOD, moved_in=None, stopped_at=3)), run(2, trace(GOOD))],
            nothing("change", 3, unchanged=3, stopped=True),
        ),
        (
            [run(1, trace(GOOD, moved_in=None, unchanged_updates=2)), run(2, trace(GOOD))],
            nothing("behind a change", 3, unchanged=2),
        ),
        (
            [run(1, trace(GOOD, moved_in=None, unchanged_updates=0)), run(2, trace(GOOD))],
            nothing("behind first change", 3),
        ),
        (
            [run(1, trace([[], [1.0]])), run(2, trace([[], [1.0]]))],
            nothing("before update", 2),
        ),
        (
            [run(1, trace(GOOD)), run(2, trace([[1, 1], [0.5]]))],
            NotMade(
                kind="forward",
                why=OtherNumber(iteration=1, run=2, number=2, reference=1, before_update=True),
            ),
        ),
        (
            [run(1, trace(GOOD)), run(2, trace([[1], [0.5, 0.5]]))],
            NotMade(kind="backward", why=OtherNumber(iteration=2, run=2, number=2, reference=1)),
        ),
        (
            [run(1, trace([[NAN], [1]])), run(2, trace([[INF], [1]]))],
            NotMade(
                kind="forward", why=NeitherFinite(iteration=1, run=2, value=INF, reference=NAN)
            ),
        ),
        (
            [run(1, trace(GOOD), trace(GOOD, rank=1)), run(2, trace(GOOD))],
            NotMade(kind="forward", why=RankOfOneRun(rank=1, recorded=1, lacking=2)),
        ),
    ],
)
def test_why_nothing_is_known(runs: list[Run], because: Statement) -> None:
    verdict = judge(runs, Tolerance())
    assert outcome(verdict) == INCONCLUSIVE
    # NaN is not equal to itself
    assert repr(verdict.because) == repr(because)


def test_no_runs_at_all() -> None:
    assert judge([], Tolerance()).verdict == "inconclusive"
