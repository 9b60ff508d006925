"""What a report says of the scan, and the causes that follow from it alone."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace
from typing import Any

from reprocheck.causes.scan_findings import suspected
from reprocheck.model import Cause, Ladder, Rung, SourceLine
from reprocheck.model.static import Executed, StaticFinding, StaticScan
from reprocheck.report import scan_findings
from reprocheck.rules import entry
from reprocheck.wording import say


def finding(
    executed: Executed,
    *,
    precedes: bool | None = None,
    code: str = "RC104",
    name: str = "directory-order",
    **more: Any,
) -> StaticFinding:
    fields: dict[str, Any] = {
        "severity": "warning",
        "message": "names in no order",
        "fix": "sorted(names)",
        **more,
    }
    return StaticFinding(
        code=code,
        name=name,
        source=SourceLine(file="a.py", line=3),
        executed=executed,
        precedes=precedes,
        **fields,
    )


def check(
    scan: StaticScan | None,
    *causes: Cause,
    first: str = "batch",
    at: SourceLine | None = None,
    size: str | None = None,
    compared: tuple[str, ...] = (),
    controls: tuple[str, ...] = (),
) -> Any:
    ladder = Ladder(rungs=(Rung(rung=first, status="differs", source=at, size=size),), first=first)  # type: ignore[arg-type]
    return SimpleNamespace(
        scan=scan,
        ladder=ladder,
        first_rung=ladder.first_rung,
        causes=causes,
        runs=(),
        record=SimpleNamespace(compared=compared, controls=controls),
    )


def test_one_sentence_says_how_much_of_it_ran() -> None:
    ran, before = finding("executed", precedes=False), finding("executed", precedes=True)
    entered, left_out, unseen = finding("entered"), finding("not_executed"), finding("not_seen")
    said = {
        (): "The scan finds nothing in 2 files.",
        (unseen,): "The scan finds 1 place in 2 files: none was seen to run.",
        (
            left_out,
            unseen,
        ): "The scan finds 2 places in 2 files: none was seen to run; 1 was not executed.",
        (
            ran,
            unseen,
        ): "The scan finds 2 places in 2 files: 1 was executed, none of them before the first difference.",
        (
            before,
            ran,
            entered,
        ): "The scan finds 3 places in 2 files: 2 were executed, 1 of them before the first difference; "
        "the function of 1 other ran.",
    }
    assert {
        found: scan_findings.sentence(StaticScan(findings=found, files=2)) for found in said
    } == said
    assert [
        row[3] for row in scan_findings.rows(StaticScan(findings=(before, ran, entered, unseen)))
    ] == [
        "executed before the first difference",
        "executed",
        "its function ran",
        "not seen to run",
    ]


def test_a_finding_alone_is_suspected_and_only_where_it_fits_and_may_have_run_before() -> None:
    before = finding("executed", precedes=True)
    (cause,) = suspected(check(StaticScan(findings=(before, before))))
    assert (cause.code, cause.confidence, cause.source, cause.remedy) == (
        "RC104",
        "suspected",
        before.source,
        "sorted(names)",
    )
    assert suspected(check(StaticScan(findings=(before,)), cause)) == (cause,), (
        "the runs show one with its line"
    )
    assert suspected(check(StaticScan(findings=(before,)), first="update")) == ()
    assert (
        suspected(
            check(
                StaticScan(findings=(finding("executed", precedes=False), finding("not_executed")))
            )
        )
        == ()
    )
    (possible,) = suspected(check(StaticScan(findings=(finding("not_seen"),))))
    assert list(map(say, possible.statements)) == [
        "The scan: names in no order. Whether the line ran was not seen."
    ]
    assert (
        suspected(
            check(StaticScan(findings=(finding("executed", precedes=True, severity="note"),)))
        )
        == ()
    )
    assert suspected(check(None)) == ()


def test_an_error_on_the_way_comes_before_causes_that_name_no_line() -> None:
    drawn = replace(
        finding("executed", precedes=True, severity="error"), code="RC402", name="clock-seed"
    )
    vague = Cause(
        code="RC504",
        title="a private generator",
        confidence="suspected",
        source=None,
        fix="",
    )
    assert [cause.code for cause in suspected(check(StaticScan(findings=(drawn,)), vague))] == [
        "RC402",
        "RC504",
    ]
    assert (
        suspected(check(StaticScan(findings=(drawn,)), replace(vague, confidence="observed")))[
            0
        ].code
        == "RC504"
    )
    assert [
        cause.code
        for cause in suspected(check(StaticScan(findings=(drawn,)), vague, first="initial weights"))
    ] == ["RC504"]
    unseen = replace(drawn, executed="not_seen", precedes=None)
    assert [cause.code for cause in suspected(check(StaticScan(findings=(unseen,)), vague))] == [
        "RC402",
        "RC504",
    ], "the runs do not contradict it"
    assert suspected(check(StaticScan(findings=(drawn,)), vague, compared=("a", "b"))) == (
        vague,
    ), "each side may agree with itself"


def test_a_line_of_the_scan_for_a_cause_without_one() -> None:
    split = replace(
        finding("executed", precedes=True, severity="error"), code="RC512", name="unseeded-split"
    )
    observed = Cause(
        code="RC512",
        title="a split",
        confidence="observed",
        statements=("the subset takes others",),
        source=None,
        fix="",
    )
    (cause,) = suspected(check(StaticScan(findings=(split,)), observed))
    assert (cause.code, cause.confidence, cause.source, cause.remedy) == (
        "RC512",
        "observed",
        split.source,
        split.fix,
    )
    second = replace(split, source=SourceLine(file="a.py", line=9))
    assert suspected(check(StaticScan(findings=(split, second)), observed)) == (observed,), (
        "which of them it was is not known"
    )
    assert suspected(check(StaticScan(findings=(replace(split, precedes=False),)), observed)) == (
        observed,
    )


def test_a_finding_at_the_line_of_the_first_difference_says_why() -> None:
    clock = replace(
        finding("executed", precedes=True, severity="error"),
        code="RC201",
        name="drifting-hyper-parameter",
    )
    here = SourceLine(file="a.py", line=3)
    vague = Cause(
        code="RC604",
        title="something else",
        confidence="observed",
        source=here,
        fix="",
    )
    assert [
        cause.code
        for cause in suspected(check(StaticScan(findings=(clock,)), vague, first="loss", at=here))
    ] == ["RC201", "RC604"]


def test_a_source_of_randomness_on_the_way_leads_where_nothing_else_says_why() -> None:
    """Whichever line the runs show, and whether the scan calls it an error or a warning."""
    here = SourceLine(file="b.py", line=26)
    vague = Cause(
        code="RC604",
        title="something else",
        confidence="observed",
        source=here,
        remedy="print it",
    )
    drawn = replace(
        finding("executed", precedes=True),
        code="RC406",
        name="unseeded-draw",
        fix="seed it earlier",
    )
    first, second = suspected(check(StaticScan(findings=(drawn,)), vague, first="forward", at=here))
    assert (first.code, first.confidence, first.source, first.remedy) == (
        "RC406",
        "suspected",
        drawn.source,
        "seed it earlier",
    )
    assert second == vague
    path = replace(vague, code="RC605")
    assert [
        cause.code
        for cause in suspected(check(StaticScan(findings=(drawn,)), path, first="forward"))
    ] == ["RC406", "RC605"]
    late = replace(
        finding("executed", precedes=True, severity="error"), code="RC301", name="unseeded-weights"
    )
    without = replace(vague, source=None)
    assert [
        cause.code
        for cause in suspected(check(StaticScan(findings=(late,)), without, first="loss"))
    ] == ["RC301", "RC604"], "weights that are built late are in no record of the start"


def test_a_draw_that_ran_in_time_leads_over_hints_in_lines_at_which_the_scan_finds_nothing() -> (
    None
):
    """Whichever kind of number it is made into: the hints name the line that makes the weights, and
    not the one that draws.
    """
    drawn = replace(
        finding("executed", precedes=True),
        code="RC406",
        name="unseeded-draw",
        fix="seed it earlier",
    )
    made = SourceLine(file="a.py", line=14)
    hints = [
        Cause(code=code, title="", confidence="suspected", source=made, fix="")
        for code in ("RC303", "RC304")
    ]
    assert entry("RC303").scan, "the scan has a rule for it"
    found = suspected(check(StaticScan(findings=(drawn,)), *hints, first="initial weights"))
    assert [cause.code for cause in found] == ["RC406", "RC303", "RC304"]
    unseen = replace(drawn, executed="not_seen", precedes=None)
    assert suspected(
        check(StaticScan(findings=(unseen,)), *hints, first="initial weights")
    ) == tuple(hints)


def test_where_no_record_tells_which_lines_ran_a_finding_that_stands_alone_leads() -> None:
    """A training without a framework: scikit-learn's, for one."""
    vague = Cause(
        code="RC604",
        title="something else",
        confidence="observed",
        source=None,
        remedy="print it",
    )
    drawn = replace(
        finding("not_seen", precedes=None), code="RC406", name="unseeded-draw", fix="random_state=0"
    )
    (first, second) = suspected(check(StaticScan(findings=(drawn,)), vague, first="loss"))
    assert (first.code, first.confidence, first.source, first.remedy) == (
        "RC406",
        "suspected",
        drawn.source,
        "random_state=0",
    )
    assert second == vague
    other = replace(drawn, source=SourceLine(file="a.py", line=9))
    assert suspected(check(StaticScan(findings=(drawn, other)), vague, first="loss")) == (vague,), (
        "which of them it was is not known"
    )


def test_what_leads_must_be_random_and_have_run_in_time() -> None:
    vague = Cause(
        code="RC604",
        title="something else",
        confidence="observed",
        source=None,
        remedy="print it",
    )
    drawn = replace(finding("executed", precedes=True), code="RC406", name="unseeded-draw")
    kernel = replace(drawn, code="RC010", name=entry("RC010").name)
    below = replace(drawn, code="RC705", name=entry("RC705").name)
    for other in (
        replace(drawn, precedes=False),
        replace(drawn, precedes=None, executed="not_seen"),
        kernel,
        below,
    ):
        assert suspected(check(StaticScan(findings=(other,)), vague, first="forward")) == (
            vague,
        ), other
    assert suspected(
        check(StaticScan(findings=(replace(drawn, severity="note"),)), vague, first="forward")
    ) == (vague,)
    assert suspected(
        check(StaticScan(findings=(drawn,)), vague, first="forward", size="rounding")
    ) == (vague,)
    assert suspected(check(StaticScan(findings=(drawn,)), first="forward")) == ()
    assert suspected(
        check(StaticScan(findings=(drawn,)), vague, first="forward", controls=("seed",))
    ) == (vague,), "it was seeded"


def test_a_cause_on_a_line_that_the_scan_found_comes_before_a_suspected_one_without_a_line() -> (
    None
):
    made = replace(finding("not_seen", severity="error"), code="RC504", name="private-augmentation")
    bare = Cause(code="RC503", title="a worker", confidence="suspected", source=None, fix="")
    own = replace(bare, code="RC504", title="a private generator")
    assert [cause.code for cause in suspected(check(StaticScan(findings=(made,)), bare, own))] == [
        "RC504",
        "RC503",
    ]
    shown = replace(bare, confidence="observed")
    assert [cause.code for cause in suspected(check(StaticScan(findings=(made,)), shown, own))] == [
        "RC503",
        "RC504",
    ]
