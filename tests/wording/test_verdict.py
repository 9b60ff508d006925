"""The sentences of the verdict: headline, reason, sample, caveats."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pytest

from reprocheck.language import english, spoken
from reprocheck.model import (
    Bitwise,
    Comparison,
    OneIsLonger,
    OutcomeGroup,
    Outcomes,
    Run,
    SeriesPlace,
    Tolerance,
    Verdict,
)
from reprocheck.model.statement import Statement
from reprocheck.model.statements.verdict import (
    BeyondDoubles,
    BreaksOff,
    ComparedAsSet,
    EndedOtherwise,
    LateCheck,
    LoosePass,
    LossesDiffer,
    NeitherFinite,
    NeverTogether,
    NotCompared,
    NotFiniteFrom,
    NothingToCheck,
    NotMade,
    OtherDtype,
    OtherFirstChange,
    OtherLength,
    OtherNumber,
    RankInOneRunOnly,
    RankOfOneRun,
    RanksBehind,
    RanksOfRun,
    RunEnding,
    RunsFailed,
    SilentRanks,
    StepSkipped,
    TooFew,
    UnevenRanks,
    WeightsNotSeen,
    WideTolerance,
    WithoutPartner,
)
from reprocheck.verdict import judge
from reprocheck.wording import say
from reprocheck.wording.verdict import worded
from reprocheck.wording.verdict.headline import statement
from reprocheck.wording.verdict.numbers import sizes, where
from tests.verdict.test_reported_series import LOSSES, TOLERANCE, reported
from tests.verdict.verdict_runs import GOOD, INF, NAN, Losses, pair, run, trace


def of(runs: Sequence[Run], tolerance: Tolerance | None = None, fail_on: str = "checks") -> Verdict:
    return worded(judge(runs, tolerance or Tolerance(), fail_on))


# ------------------------------------------------------------------------------------ the headline


@pytest.mark.parametrize(
    ("second", "title"),
    [
        (GOOD, "REPRODUCIBLE"),
        ([[1.1], [0.5], [0.25]], "NOT REPRODUCIBLE (forward)"),
        ([[1.0], [0.6], [0.25]], "NOT REPRODUCIBLE (backward)"),
        ([[1.0]], "INCONCLUSIVE"),
        ([[1.0], [0.5], [9.0]], "PASSES THE CHECKS, DIVERGES from iteration 3 (0.25 against 9)"),
        (
            [[1.0], [0.5], [0.25, 0.1]],
            "PASSES THE CHECKS, DIVERGES from iteration 3"
            " (iteration 3 holds 2 losses in run 2 and 1 in run 1)",
        ),
        (
            [[1.0], [0.5]],
            "PASSES THE CHECKS, DIVERGES from iteration 3"
            " (one run is longer: 3 against 2 iterations)",
        ),
    ],
)
def test_the_headline(second: Losses, title: str) -> None:
    assert of(pair(GOOD, second)).title == title


@pytest.mark.parametrize(
    ("ended", "title"), [("failed", "SCRIPT FAILED"), ("timed_out", "TIMED OUT")]
)
def test_the_headline_of_a_failure(ended: str, title: str) -> None:
    failed = run(2, trace([[1.0]]), ended=ended, status=1)  # type: ignore[arg-type]
    assert of([run(1, trace(GOOD)), failed]).title == title


@pytest.mark.parametrize("rule", ["any-iteration", "bitwise"])
def test_a_broken_rule_is_in_the_headline_and_the_reason(rule: str) -> None:
    runs = pair(GOOD, [[1.0], [0.5], [9.0]])
    verdict, plain = of(runs, fail_on=rule), of(runs)
    assert verdict.title == f"FAILED BY --fail-on {rule}: {plain.title}"
    broken = f"exit code 1 by --fail-on {rule}: the runs differ in iteration 3"
    assert verdict.reason == f"{plain.reason[:-1]}; {broken}."


# ------------------------------------------------------------------------------------- the reason


@pytest.mark.parametrize(
    ("first", "second", "reason"),
    [
        (
            GOOD,
            GOOD,
            "No difference was seen in 2 runs of 3 iterations: all losses are equal in every bit.",
        ),
        (
            GOOD,
            [[1.0], [0.5], [0.75]],
            "Both checks pass in 2 runs of 3 iterations, and from iteration 3 on the runs diverge:"
            " run 2 has loss 0.75 where run 1 has 0.25.",
        ),
        (
            [[1.0]] * 468,
            [[1.0]] * 572,
            "Both checks pass in 2 runs of 468 iterations, and then the runs diverge: one run is"
            " longer: 468 against 572 iterations.",
        ),
        (
            GOOD,
            [[1.001], [0.5], [0.25]],
            "The losses of iterations 1 and 2 agree within the tolerance in 2 runs of 3"
            " iterations; the largest difference is 0.001 in iteration 1 where 0.002 is allowed,"
            " and from iteration 1 on the losses are not equal in every bit.",
        ),
        (
            GOOD,
            [[1.0], [0.6], [0.25]],
            "The forward check agrees and after an update of the weights the losses differ: in"
            " iteration 2, run 2 has loss 0.6 where run 1 has 0.5, a difference of 0.1 where"
            " 0.0015 is allowed.",
        ),
        (
            GOOD,
            [[NAN], [0.5], [0.25]],
            "Before the first update of the weights the losses differ: in iteration 1, run 2 has"
            " loss nan where run 1 has 1: finite in one run only.",
        ),
        (
            [[-1.7e308], [1.0]],
            [[1.7e308], [1.0]],
            "Before the first update of the weights the losses differ: in iteration 1, run 2 has"
            " loss 1.7e+308 where run 1 has -1.7e+308: too far apart for a number.",
        ),
    ],
)
def test_the_reason(first: Losses, second: Losses, reason: str) -> None:
    assert of(pair(first, second)).reason == reason


def test_a_tolerance_that_no_double_holds_allows_any_difference() -> None:
    verdict = of(pair([[10.0], [10.0]], [[20.0], [10.0]]), Tolerance(rtol=1e308))
    assert "any difference is allowed" in verdict.reason


def test_a_difference_names_the_loss_and_the_rank_where_there_are_several() -> None:
    row = Comparison(
        iteration=1,
        kind="backward",
        run=2,
        rank=1,
        loss_index=2,
        passed=False,
        max_difference=0.5,
        allowed=0.004,
        ulp=None,
        reference=3.0,
        value=3.5,
    )
    differ = say(LossesDiffer(row=row, ranks=2))
    assert "in iteration 1, loss 3, rank 1, run 2" in differ
    assert differ.endswith("a difference of 0.5 where 0.004 is allowed")
    exact = replace(row, value=3.0, why=BeyondDoubles(run=2, shown="3.01", other="3"))
    assert "run 2 has loss 3.01 where run 1 has 3, a" in say(LossesDiffer(row=exact, ranks=1))


@pytest.mark.parametrize(
    ("because", "sentence"),
    [
        (
            NotCompared(why="interrupted", run=2),
            "run 2 was interrupted before both checks could be made",
        ),
        (
            NotCompared(why="broken", run=2, says="no space"),
            "the recording of run 2 breaks off before both checks could be made: no space",
        ),
        (NotCompared(why="no process", run=1), "no process of run 1 reported, so"),
        (
            NotCompared(why="no number", run=1, says="a list"),
            "run 1 called reprocheck.log_loss with what is no number (a list); give",
        ),
        (
            NotCompared(why="no framework", run=1),
            "in run 1, which imported no supported framework; call reprocheck.log_loss(loss) in",
        ),
        (
            NotCompared(why="no loss", run=1, frameworks=("jax", "torch")),
            "in run 1, which imported jax and torch; train the model, or call reprocheck.log_loss",
        ),
        (NotCompared(why="one run"), "only one run was recorded, and a check needs two"),
        (
            NotMade(kind="forward", why=RankOfOneRun(rank=1, recorded=1, lacking=2)),
            "the forward check could not be made: rank 1 was recorded in run 1 and not in run 2",
        ),
        (RankOfOneRun(rank=1, recorded=3, lacking=1), "rank 1 was recorded in run 3 and not in"),
        (RankInOneRunOnly(rank=1, run=2), "rank 1 was recorded in run 2 only"),
        (
            SilentRanks(run=1, world=3, ranks=(1,)),
            "rank 1 of 3 reported no loss and no update in run 1, so nothing is known of what it"
            " does",
        ),
        (
            NeverTogether(run=2, late=1, stopped=0),
            "in run 2 rank 1 had been started and had not begun to train when reprocheck ended"
            " rank 0 at its stop",
        ),
        (
            TooFew(run=1, recorded=1, iteration=2, stopped=False),
            "run 1 recorded 1 iteration, and the check needs iteration 2; train for more"
            " iterations",
        ),
        (
            TooFew(run=1, recorded=1, iteration=2, stopped=True, ranks=(0,)),
            "run 1 recorded 1 iteration (rank 0), and the check needs iteration 2; record more"
            " with --steps 2 or higher",
        ),
        (
            NothingToCheck(lacks="any", run=1, recorded=3),
            "run 1 made 3 updates and no loss was seen; call reprocheck.log_loss(loss) in every",
        ),
        (
            NothingToCheck(lacks="before update", run=1, recorded=2),
            "no loss was seen before the first update in run 1; call",
        ),
        (
            NothingToCheck(lacks="change", run=1, recorded=3, unchanged=3),
            "none of the 3 recorded updates of run 1 changed the weights, so nothing is known of"
            " the backward pass; look at the learning rate and at what is frozen, or train for",
        ),
        (
            NothingToCheck(lacks="change", run=1, recorded=3, unchanged=3, stopped=True),
            "or record more than 3 iterations with --steps",
        ),
        (
            NothingToCheck(lacks="other weights", run=1, recorded=2),
            "the weights did not change in the 2 recorded iterations of run 1, so the backward",
        ),
        (
            NothingToCheck(lacks="behind a change", run=1, recorded=3, unchanged=1),
            "no loss was seen after an update that changed the weights in the 3 recorded",
        ),
        (
            NothingToCheck(lacks="behind first change", run=1, recorded=3),
            "the first update that changed the weights in run 1; call reprocheck.log_loss(loss)",
        ),
        (
            OtherNumber(iteration=1, run=2, number=2, reference=1, before_update=True),
            "iteration 1 holds 1 loss before the first update in run 1 and 2 in run 2, so they",
        ),
        (
            OtherNumber(iteration=2, run=2, number=2, reference=1, ranks=(1,)),
            "iteration 2 holds 1 loss in run 1 and 2 in run 2 (rank 1), so they",
        ),
        (
            NeitherFinite(iteration=1, run=2, value=INF, reference=NAN),
            "the loss of iteration 1 is NaN in run 1 and infinite in run 2, and losses that",
        ),
        (
            NeitherFinite(iteration=1, run=2, value=NAN, reference=NAN),
            "the loss of iteration 1 is NaN in both runs, and losses that",
        ),
        (OtherDtype(run=2, dtype="a", reference_dtype="b"), "a in run 2, b in run 1"),
        (
            WithoutPartner(of="iterations", iteration=3, run=3, own=2, reference=3),
            "one run is longer: 3 against 2 iterations of run 3",
        ),
    ],
)
def test_why_a_check_was_not_made(because: Statement, sentence: str) -> None:
    assert sentence in say(because)


# ------------------------------------------------------------------------------------- failed runs

BY_ERROR = RunEnding(how="error", says="ValueError: x", iteration=2)


def failed(*endings: RunEnding, of_runs: int = 2, checks_made: bool = True) -> RunsFailed:
    return RunsFailed(
        runs=tuple(range(1, len(endings) + 1)),
        endings=endings,
        of=of_runs,
        lost=None,
        checks_made=checks_made,
        equal=True,
        leaves_in=None,
    )


@pytest.mark.parametrize(
    ("because", "sentence"),
    [
        (
            failed(BY_ERROR, checks_made=False),
            "run 1 ended after iteration 2 with ValueError: x, before both checks could be made",
        ),
        (
            failed(BY_ERROR, BY_ERROR, checks_made=False),
            "both runs ended after iteration 2 with ValueError: x, before both checks could be"
            " made",
        ),
        (
            failed(BY_ERROR, BY_ERROR, BY_ERROR, of_runs=3),
            "all 3 runs ended after iteration 2 with ValueError: x; until then both checks pass,"
            " bit for bit",
        ),
        (
            failed(BY_ERROR, RunEnding(how="interrupted")),
            "run 1 ended after iteration 2 with ValueError: x, run 2 was interrupted; until then"
            " both checks pass, bit for bit",
        ),
        (
            failed(*[RunEnding(how="timed out", seconds=15.0, iteration=3)] * 2),
            "both runs were stopped after iteration 3 by --timeout after 15 s; until then both"
            " checks pass, bit for bit",
        ),
        (
            replace(failed(BY_ERROR), equal=False, leaves_in=3),
            "run 1 ended after iteration 2 with ValueError: x; until then both checks pass and"
            " the losses leave the tolerance in iteration 3",
        ),
        (
            replace(
                failed(BY_ERROR),
                equal=False,
                lost=RanksBehind(ranks=(1,), world=2, last=0, furthest=2),
            ),
            "run 1 ended after iteration 2 with ValueError: x; until then both checks pass within"
            " the tolerance; rank 1 is behind: it recorded no loss, the other came to iteration 2",
        ),
    ],
)
def test_the_reason_of_a_failure(because: RunsFailed, sentence: str) -> None:
    assert say(because) == sentence


@pytest.mark.parametrize(
    ("ending", "sentence"),
    [
        (RunEnding(how="signal", status=9, iteration=1), "was ended after iteration 1 by SIGKILL"),
        (RunEnding(how="signal", status=99), "was ended by signal 99"),
        (
            RunEnding(how="timed out", seconds=15.0, iteration=1, unfinished=True),
            "was stopped in iteration 1 by --timeout after 15 s",
        ),
        (RunEnding(how="interrupted", iteration=2), "was interrupted after iteration 2"),
        (RunEnding(how="unknown"), "ended in an unknown way"),
        (
            RunEnding(how="status", status=2, says="a.py: error: --lr is required"),
            "ended with exit status 2 (a.py: error: --lr is required)",
        ),
        (RunEnding(how="status", status=3), "ended with exit status 3"),
    ],
)
def test_how_a_run_ended(ending: RunEnding, sentence: str) -> None:
    assert say(ending) == sentence


# ---------------------------------------------------------------------------------------- series


def test_equal_series_are_said_beside_the_losses() -> None:
    alike = (reported("val_loss", [0.5, NAN]), reported("lr", [0.1], by="torch"))
    runs = [run(number, trace(LOSSES, series=alike)) for number in (1, 2)]
    assert of(runs, TOLERANCE).reason == (
        "No difference was seen in 2 runs of 3 iterations: all losses are equal in every bit;"
        " 2 series beside them agree in every bit, too."
    )


def beside(first: float, second: float, **keys: object) -> Verdict:
    """A check whose runs report `val_loss` in step 100 alike, and these numbers in step 200."""
    runs = [
        run(
            number,
            trace(LOSSES, series=(reported("val_loss", [0.5, value], steps=[100, 200]),)),
        )
        for number, value in ((1, first), (2, second))
    ]
    return of(runs, TOLERANCE, **keys)  # type: ignore[arg-type]


def test_a_series_that_differs_stands_in_the_headline() -> None:
    verdict = beside(0.25, 0.26)
    assert verdict.title == "PASSES THE CHECKS, val_loss DIFFERS from step 200 (0.25 against 0.26)"
    assert verdict.reason == (
        "All losses are equal in every bit in 2 runs of 3 iterations; 1 of 1 series beside them"
        " differs: val_loss beyond the tolerance from step 200 on (0.25 against 0.26)."
    )


def test_a_difference_within_the_tolerance_stands_in_the_reason() -> None:
    verdict = beside(0.5, 0.5 + 2.0**-24)
    assert verdict.title == "REPRODUCIBLE"
    assert "val_loss within the tolerance from step 200 on" in verdict.reason
    assert not verdict.reason.startswith("No difference")


def test_a_series_that_breaks_a_rule_is_named() -> None:
    broken = beside(0.25, 0.26, fail_on="series:val_loss").reason
    assert broken.endswith(
        "exit code 1 by --fail-on series:val_loss: val_loss differs from step 200 (0.25 against"
        " 0.26)."
    )
    unknown = beside(0.25, 0.25, fail_on="series:acc").reason
    assert "--fail-on series:acc: no run reported acc (reported: val_loss)." in unknown


def test_the_place_of_a_value() -> None:
    place = SeriesPlace(
        number=1, iteration=7, step=None, run=2, rank=0, reference=1.3601, value=1.3609
    )
    assert (where(place), sizes(place)) == ("iteration 7", "1.36 against 1.361")
    assert where(replace(place, step=1e6)) == "step 1000000"
    assert sizes(replace(place, value=None)) == "not reported in run 2"
    assert sizes(replace(place, reference=None)) == "not reported in run 1"


# ---------------------------------------------------------------------------------------- outcomes


def sample(*groups: int, bound: float | None = None, longer: OneIsLonger | None = None) -> str:
    """What is said of groups of so many runs each."""
    made = tuple(OutcomeGroup(runs=tuple(range(size))) for size in groups)
    return statement(Outcomes(groups=made, bound=bound, longer=longer))


def test_what_a_sample_says() -> None:
    assert sample() == "No run recorded a loss, so there are no outcomes to count."
    assert sample(1) == "One run cannot show a difference."
    same, other = sample(2, bound=0.95), sample(1, 1, bound=1.0)
    assert "Two runs exclude almost nothing: up to 95% of further runs" in same
    assert other.startswith("The two runs gave different losses. Two runs exclude almost nothing")
    assert sample(2, 2, 1, bound=0.987).startswith(
        "3 of the 4 other runs differ from run 1; 3 different outcomes were seen. With 95 %"
        " confidence at most 98.7%"
    )
    assert sample(1, 2, bound=1.0).endswith("This excludes no share of differing runs.")
    many = sample(59, bound=0.05)
    assert many.startswith("All 59 runs gave the same losses") and "at most 5.0% of runs" in many


def test_of_two_runs_one_is_longer() -> None:
    equal = "As far as both runs go, their losses are equal in every bit"
    longer = OneIsLonger(first=468, second=572)
    assert sample(1, 1, bound=1.0, longer=longer) == (
        f"{equal}. One run is longer: 468 against 572 iterations."
    )
    assert sample(1, 1, bound=1.0, longer=OneIsLonger(first=3, second=2, ended=2)) == (
        f"{equal}; run 2 was ended in between (3 against 2 iterations)."
    )


# ----------------------------------------------------------------------------------------- caveats


@pytest.mark.parametrize(
    ("caution", "sentence"),
    [
        (
            LoosePass(iteration=2, ulp=1, dtype="float32"),
            "The checks pass within the tolerance, but the runs are not equal in every bit: the"
            " first difference is in iteration 2, by up to 1 ULP of float32.",
        ),
        (
            WideTolerance(kind="forward", run=2, reference=1e-4, allowed=1e-3),
            "The tolerance is wide for a loss of 0.0001: 0.001 is allowed (forward check, run 2);"
            " a smaller --atol finds smaller differences.",
        ),
        (
            NotFiniteFrom(iteration=4),
            "The loss of iteration 4 is NaN or infinite: what agrees from there on says nothing"
            " of the training.",
        ),
        (
            EndedOtherwise(run=2, ending=BY_ERROR, recorded=1, lost=None),
            "Run 2 ended after iteration 2 with ValueError: x, after 1 recorded iteration.",
        ),
        (
            RanksOfRun(run=1, ranks=UnevenRanks(lengths=((10, (0, 2)), (8, (1,))))),
            "Run 1: the ranks are not of the same length: ranks 0 and 2 recorded 10 iterations,"
            " rank 1 recorded 8 iterations.",
        ),
        (
            BreaksOff(run=1, closed=3, why="no space", ranks=(0, 1)),
            "The recording of run 1 breaks off after iteration 3, ranks 0 and 1 (no space): later"
            " ones are not compared.",
        ),
        (
            WeightsNotSeen(),
            "Whether updates change the weights could not be seen; the first update is taken to"
            " be a real one.",
        ),
        (
            StepSkipped(run=1, iteration=1),
            "A gradient scaler skipped a step in iteration 1 (run 1).",
        ),
        (
            StepSkipped(run=1, iteration=1, ranks=(0, 1)),
            "A gradient scaler skipped a step in iteration 1 (run 1, ranks 0 and 1).",
        ),
        (
            OtherFirstChange(run=2, own=2, reference=1),
            "In run 1 the weights first change in iteration 1; in run 2 they first change in"
            " iteration 2. The iteration of run 1 was checked.",
        ),
        (
            OtherFirstChange(run=2, own=None, reference=1, ranks=(3,)),
            "In run 1 the weights first change in iteration 1; in run 2, rank 3 they do not change"
            " in the recorded iterations. The iteration of run 1 was checked.",
        ),
        (
            LateCheck(iteration=3, unchanged=1, passes=0),
            "The first update did not change the weights, so the second check is made on"
            " iteration 3 instead of iteration 2.",
        ),
        (
            LateCheck(iteration=3, unchanged=0, passes=1),
            "The first 2 losses come from the same weights, as in gradient accumulation or with a"
            " step of size 0, so the second check is made on iteration 3 instead of iteration 2.",
        ),
        (
            LateCheck(iteration=3, unchanged=0, passes=0, ranks=(0,)),
            "No earlier change was seen (rank 0), so the second check is made on iteration 3"
            " instead of iteration 2.",
        ),
        (
            OtherLength(run=2, own=8, reference=10),
            "Run 2 recorded 8 iterations, run 1 recorded 10.",
        ),
        (
            ComparedAsSet(ranks=(0, 1)),
            "Which training of one run is which of another is not known of ranks 0 and 1: their"
            " losses were compared as a set, each training with one of run 1 that has the same"
            " losses, as far as there was one.",
        ),
    ],
)
def test_a_caveat(caution: Statement, sentence: str) -> None:
    assert say(caution) == sentence
    with spoken("zh"):
        assert english(say(caution)) == sentence


def test_a_verdict_has_its_caveats_and_details() -> None:
    verdict = of(pair([[1.0], [0.5], [2.0]], [[1.0], [0.5 + 2**-24], [2.0]]))
    assert verdict.bitwise == Bitwise(equal=False, first_iteration=2, ulp=1)
    assert len(verdict.caveats) == len(verdict.cautions) == 1
    both = run(1, trace(GOOD), trace(GOOD, rank=1))
    lacking = of([both, run(2, trace(GOOD))])
    assert lacking.comparisons[2].detail == "rank 1 was recorded in run 1 and not in run 2"
    assert lacking.first_divergence is not None
    assert lacking.first_divergence.detail == "rank 1 was recorded in run 1 only"
