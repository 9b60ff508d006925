"""How many runs must agree under a control: the more speaks for it, the fewer."""

from __future__ import annotations

from dataclasses import replace

import pytest

from reprocheck.model import Cause, Confidence, ControlTrace, SourceLine, Touch
from reprocheck.model.controls import TouchedLine
from reprocheck.model.statements.search import Sample
from reprocheck.model.static import StaticFinding, StaticScan
from reprocheck.search.arm_runs import Judged
from reprocheck.search.chance import wanted
from tests.causes.cause_ladders import check, ladder

LINE = SourceLine(file="train.py", line=3)
TWO = Sample(runs=2, odd=1, unlike=True)
FOUR = Sample(runs=4, odd=3)


@pytest.mark.parametrize(
    ("seen", "code", "confidence", "acted_on", "runs"),
    [
        (TWO, "RC601", "observed", 8, 3),
        (TWO, "RC601", "suspected", 3, 3),
        (TWO, "RC601", "suspected", 8, 4),
        (TWO, "RC505", "observed", 3, 10),
        (FOUR, "RC601", "observed", 8, 3),
        (FOUR, "RC601", "suspected", 3, 4),
        (FOUR, "RC505", "observed", 3, 7),
    ],
)
def test_a_control_that_acted_on_the_line_of_a_cause_needs_as_few_runs_as_a_shown_one(
    seen: Sample, code: str, confidence: Confidence, acted_on: int, runs: int
) -> None:
    cause = Cause(code=code, title="It", confidence=confidence, source=LINE)
    differs = check(ladder("forward"), causes=(cause,))
    acted = TouchedLine(source=replace(LINE, line=acted_on))
    touch = Touch(control="private-rng", what="random.Random", lines=(acted,))
    made = tuple(replace(run, controls=ControlTrace(touches=(touch,))) for run in differs.runs)
    under = Judged(
        names=("private-rng",),
        patched=False,
        why="",
        runs=made,
        verdict=differs.verdict,
        agrees=True,
        arms=(),
        until=2,
    )
    assert wanted(differs, seen, under.names, under, exact=True) == runs
    assert wanted(differs, seen, under.names, under, exact=False) == runs + 2


@pytest.mark.parametrize(("line", "precedes", "runs"), [(3, True, 3), (8, True, 4), (3, False, 4)])
def test_a_line_that_the_scan_is_sure_of_and_that_ran_needs_as_few_runs_as_a_shown_one(
    line: int, precedes: bool, runs: int
) -> None:
    found = StaticFinding(
        code="RC505",
        name="hash-order",
        severity="error",
        message="",
        source=replace(LINE, line=line),
        executed="executed",
        precedes=precedes,
    )
    cause = Cause(code="RC505", title="It", confidence="suspected", source=LINE)
    differs = replace(check(ladder("forward"), causes=(cause,)), scan=StaticScan(findings=(found,)))
    assert wanted(differs, TWO, ("hash-seed",), None, exact=True) == runs
