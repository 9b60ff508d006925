"""What a report says of the scan, and the causes that follow from it alone."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace
from typing import Any

from reprocheck.explain import suspected
from reprocheck.model import Cause, Ladder, Rung, SourceLine
from reprocheck.model.static import Executed, StaticFinding, StaticScan
from reprocheck.report import static


def finding(
    executed: Executed, *, precedes: bool | None = None, code: str = "RC104", name: str = "directory-order", **more: Any
) -> StaticFinding:
    fields: dict[str, Any] = {"severity": "warning", "message": "names in no order", "fix": "sorted(names)", **more}
    return StaticFinding(code=code, name=name, source=SourceLine(file="a.py", line=3), executed=executed, precedes=precedes, **fields)


def check(
    scan: StaticScan | None, *causes: Cause, first: str = "batch", at: SourceLine | None = None, compared: tuple[str, ...] = ()
) -> Any:
    ladder = Ladder(rungs=(Rung(rung=first, status="differs", source=at),), first=first)  # type: ignore[arg-type]
    return SimpleNamespace(scan=scan, ladder=ladder, causes=causes, record=SimpleNamespace(compared=compared))


def test_one_sentence_says_how_much_of_it_ran() -> None:
    ran, before = finding("executed", precedes=False), finding("executed", precedes=True)
    entered, unseen = finding("entered"), finding("not_seen")
    said = {
        (): "The scan finds nothing in 2 files.",
        (unseen,): "The scan finds 1 place in 2 files: none was executed.",
        (ran, unseen): "The scan finds 2 places in 2 files: 1 was executed, none of them before the first difference.",
        (before, ran, entered): "The scan finds 3 places in 2 files: 2 were executed, 1 of them before the first difference; "
        "the function of 1 other ran.",
    }
    assert {found: static.sentence(StaticScan(findings=found, files=2)) for found in said} == said
    assert [row[3] for row in static.rows(StaticScan(findings=(before, ran, entered, unseen)))] == [
        "executed before the first difference",
        "executed",
        "its function ran",
        "not seen",
    ]


def test_a_finding_alone_is_suspected_and_only_where_it_fits_and_ran_before() -> None:
    before = finding("executed", precedes=True)
    (cause,) = suspected(check(StaticScan(findings=(before, before))))
    assert (cause.code, cause.confidence, cause.source, cause.fix) == ("RC104", "suspected", before.source, "sorted(names)")
    assert suspected(check(StaticScan(findings=(before,)), cause)) == (cause,), "the runs show one with its line"
    assert suspected(check(StaticScan(findings=(before,)), first="update")) == ()
    assert suspected(check(StaticScan(findings=(finding("executed", precedes=False), finding("not_seen"))))) == ()
    assert suspected(check(StaticScan(findings=(finding("executed", precedes=True, severity="note"),)))) == ()
    assert suspected(check(None)) == ()


def test_an_error_on_the_way_comes_before_causes_that_name_no_line() -> None:
    drawn = replace(finding("executed", precedes=True, severity="error"), code="RC402", name="clock-seed")
    vague = Cause(code="RC504", title="a private generator", confidence="suspected", evidence=(), source=None, fix="")
    assert [cause.code for cause in suspected(check(StaticScan(findings=(drawn,)), vague))] == ["RC402", "RC504"]
    assert suspected(check(StaticScan(findings=(drawn,)), replace(vague, confidence="observed")))[0].code == "RC504"
    assert [cause.code for cause in suspected(check(StaticScan(findings=(drawn,)), vague, first="initial weights"))] == ["RC504"]
    unseen = replace(drawn, executed="not_seen", precedes=None)
    assert [cause.code for cause in suspected(check(StaticScan(findings=(unseen,)), vague))] == ["RC504"]
    assert suspected(check(StaticScan(findings=(drawn,)), vague, compared=("a", "b"))) == (vague,), "each side may agree with itself"


def test_a_line_of_the_scan_for_a_cause_without_one() -> None:
    split = replace(finding("executed", precedes=True, severity="error"), code="RC512", name="unseeded-split")
    observed = Cause(code="RC512", title="a split", confidence="observed", evidence=("the subset takes others",), source=None, fix="")
    assert suspected(check(StaticScan(findings=(split,)), observed)) == (replace(observed, source=split.source),)
    second = replace(split, source=SourceLine(file="a.py", line=9))
    assert suspected(check(StaticScan(findings=(split, second)), observed)) == (observed,), "which of them it was is not known"
    assert suspected(check(StaticScan(findings=(replace(split, precedes=False),)), observed)) == (observed,)


def test_a_finding_at_the_line_of_the_first_difference_says_why() -> None:
    clock = replace(finding("executed", precedes=True, severity="error"), code="RC201", name="drifting-hyper-parameter")
    here = SourceLine(file="a.py", line=3)
    vague = Cause(code="RC604", title="something else", confidence="observed", evidence=(), source=here, fix="")
    assert [cause.code for cause in suspected(check(StaticScan(findings=(clock,)), vague, first="loss", at=here))] == ["RC201", "RC604"]
    elsewhere = replace(clock, source=SourceLine(file="a.py", line=4))
    assert suspected(check(StaticScan(findings=(elsewhere,)), vague, first="loss", at=here)) == (vague,)
