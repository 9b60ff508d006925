"""What the scan knows and the runs do not contradict gives a cause its line and its fix."""

from __future__ import annotations

from dataclasses import replace

import pytest

from reprocheck.causes.scan_findings import located, suspected
from reprocheck.model import Cause, SourceLine
from reprocheck.model.statements.causes import FoundByScan, MakesSeed
from reprocheck.model.statements.fixes import AtLines
from reprocheck.model.static import Executed, StaticFinding, StaticScan
from reprocheck.rules import entry
from tests.causes.cause_ladders import GROSS, check, ladder

BATCH = ladder("batch", place="DataLoader[0]", samples="other content", **GROSS)
GENERAL = Cause(
    code="RC504",
    title="Samples are made with a private generator",
    confidence="suspected",
    remedy="a general fix",
)


def finding(
    line: int = 9,
    executed: Executed = "not_seen",
    precedes: bool | None = None,
    code: str = "RC504",
) -> StaticFinding:
    """The pipeline of the user's that takes a seed and is given none."""
    return StaticFinding(
        code=code,
        name=entry(code).name,
        severity="error",
        message="Compose draws from a generator of its own",
        source=SourceLine(file="data.py", line=line),
        fix="Compose(transforms, seed=0)",
        executed=executed,
        precedes=precedes,
    )


def scan(*found: StaticFinding) -> StaticScan:
    return StaticScan(findings=found, files=2)


@pytest.mark.parametrize("executed", ["not_seen", "entered"])
def test_a_cause_without_a_line_gets_that_of_the_scan_though_nobody_saw_it_run(
    executed: Executed,
) -> None:
    (cause, *_) = suspected(check(BATCH, causes=(GENERAL,), scan=scan(finding(executed=executed))))
    assert (cause.source, cause.remedy) == (
        SourceLine(file="data.py", line=9),
        "Compose(transforms, seed=0)",
    )
    unseen = FoundByScan(message="Compose draws from a generator of its own", precedes=False)
    assert cause.statements == (unseen,)
    assert cause.confidence == "suspected"


def test_a_line_that_ran_only_after_the_first_difference_is_contradicted() -> None:
    (cause, *_) = suspected(
        check(BATCH, causes=(GENERAL,), scan=scan(finding(executed="executed", precedes=False)))
    )
    assert cause == GENERAL


def test_of_two_lines_the_one_that_ran_in_time_is_meant_and_of_two_alike_none() -> None:
    in_time = finding(line=4, executed="executed", precedes=True)
    (cause, *_) = suspected(check(BATCH, causes=(GENERAL,), scan=scan(in_time, finding())))
    assert cause.source is not None and cause.source.line == 4
    assert cause.statements[-1] == FoundByScan(message=in_time.message, precedes=True)
    (cause, *_) = suspected(check(BATCH, causes=(GENERAL,), scan=scan(finding(), finding(line=12))))
    assert cause.source is None


@pytest.mark.parametrize(("code", "line"), [("RC504", 9), ("RC407", 9)])
def test_a_confirmed_cause_gets_the_line_of_what_its_control_removes(code: str, line: int) -> None:
    confirmed = Cause(code="RC504", title="", confidence="confirmed", remedy="a general fix")
    found = located(
        check(BATCH, scan=scan(finding(line=line, code=code))),
        [confirmed, GENERAL],
        ["private-rng"],
    )
    assert [(cause.source and cause.source.line, cause.remedy) for cause in found] == [
        (9, "Compose(transforms, seed=0)"),
        (None, "a general fix"),
    ]


def test_what_the_scan_says_of_the_line_stands_in_for_the_general_fix_though_no_patch_is_made_there() -> (
    None
):
    at = SourceLine(file="data.py", line=9)
    hashed = Cause(
        code="RC505", title="", confidence="suspected", source=at, remedy=entry("RC505").fix
    )
    by_hand = replace(
        finding(executed="executed", precedes=True, code="RC505"),
        fix="Take `zlib.crc32` of its bytes.",
    )
    (cause, *_) = suspected(check(BATCH, causes=(hashed,), scan=scan(by_hand)))
    assert cause.remedy == "Take `zlib.crc32` of its bytes."
    own = replace(hashed, remedy="of this very line", fix_from="place")
    (cause, *_) = suspected(check(BATCH, causes=(own,), scan=scan(by_hand)))
    assert cause.remedy == "of this very line"


def test_a_confirmed_cause_keeps_the_line_on_which_its_control_acted() -> None:
    at = SourceLine(file="train.py", line=3)
    confirmed = Cause(code="RC504", title="", confidence="confirmed", source=at, remedy="its own")
    assert located(check(BATCH, scan=scan(finding())), [confirmed], ["private-rng"]) == (confirmed,)


def test_a_seed_that_is_set_in_one_line_and_made_in_another_is_blamed_where_it_is_made() -> None:
    use, origin = SourceLine(file="train.py", line=12), SourceLine(file="config.py", line=5)
    seeded = Cause(
        code="RC402", title="", confidence="observed", source=use, remedy="torch.manual_seed(0)"
    )
    made = StaticFinding(
        code="RC404",
        name="seed-per-process",
        severity="warning",
        message="",
        source=origin,
        fix="Write `seed = 0`.",
        patchable=True,
        executed="executed",
        precedes=True,
        origin=origin,
        used=(use,),
    )
    drawn = ladder("initial weights", place="0.weight", source=use, **GROSS)
    (cause, *_) = suspected(check(drawn, causes=(seeded,), scan=scan(made)))
    assert (cause.code, cause.confidence, cause.source, cause.remedy) == (
        "RC402",
        "observed",
        origin,
        "Write `seed = 0`.",
    )
    assert cause.statements == (MakesSeed(source="train.py:12"),)
    other = StaticFinding(
        code="RC404",
        name="x",
        severity="warning",
        message="",
        source=origin,
        origin=origin,
        precedes=True,
    )
    (cause, *_) = suspected(check(drawn, causes=(seeded,), scan=scan(other)))
    assert cause.source == use, "a number that is set elsewhere says nothing of this line"


def test_the_line_that_is_to_be_changed_leads_over_one_that_only_fits() -> None:
    """A generator without a seed is made in one line and drawn from in another."""
    drawn = Cause(
        code="RC601",
        title="",
        confidence="suspected",
        statements=("train.py:23 fits.",),
        source=SourceLine(file="train.py", line=23),
        remedy=entry("RC601").fix,
    )
    made = replace(
        finding(code="RC601", executed="executed", precedes=True),
        source=SourceLine(file="train.py", line=16),
        fix="Write `rng = np.random.default_rng(0)`.",
        patchable=True,
    )
    forward = ladder("forward", **GROSS)
    (cause,) = suspected(check(forward, causes=(drawn,), scan=scan(made)))
    assert (cause.source, cause.remedy) == (made.source, made.fix)
    assert cause.statements[0] == "train.py:23 fits."
    recorded = replace(drawn, confidence="observed")
    (cause,) = suspected(check(forward, causes=(recorded,), scan=scan(made)))
    assert (cause.source, cause.remedy) == (
        drawn.source,
        AtLines(fixes=(("train.py:16", made.fix),)),
    )


HINT = Cause(
    code="RC509",
    title="",
    confidence="suspected",
    source=SourceLine(file="data.py", line=3),
    remedy="of the hint",
)
"""A line that maps in parallel: nothing says that what it maps draws."""


def test_a_line_that_the_scan_found_and_the_runs_passed_leads_over_a_mere_hint() -> None:
    hashes = Cause(
        code="RC505", title="", confidence="suspected", source=SourceLine(file="vocab.py", line=9)
    )
    passed = replace(
        finding(code="RC505", executed="executed", precedes=True),
        severity="warning",
        source=hashes.source,
    )
    causes = (HINT, hashes, GENERAL)
    assert [one.code for one in suspected(check(BATCH, causes=causes, scan=scan(passed)))] == [
        "RC505",
        "RC509",
        "RC504",
    ]
    unseen = replace(passed, executed="not_seen", precedes=None)
    assert suspected(check(BATCH, causes=causes, scan=scan(unseen)))[0].code == "RC509", (
        "nobody saw the line run"
    )
    drawing = replace(finding(code="RC509", executed="executed", precedes=True), source=HINT.source)
    both = suspected(check(BATCH, causes=causes, scan=scan(passed, drawing)))
    assert both[0].code == "RC509", "the scan finds the draw in the map"


def test_an_executed_error_of_the_scan_leads_over_a_mere_hint() -> None:
    passed = replace(
        finding(code="RC505", executed="executed", precedes=True),
        source=SourceLine(file="vocab.py", line=9),
    )
    found = suspected(check(BATCH, causes=(HINT, GENERAL), scan=scan(passed)))
    assert [one.code for one in found] == ["RC505", "RC509", "RC504"]
    warned = suspected(
        check(BATCH, causes=(HINT, GENERAL), scan=scan(replace(passed, severity="warning")))
    )
    assert [one.code for one in warned] == ["RC509", "RC504"]
    nearer = replace(
        finding(code="RC509", executed="executed", precedes=True),
        source=SourceLine(file="data.py", line=1),
    )
    assert (
        suspected(check(BATCH, causes=(HINT, GENERAL), scan=scan(passed, nearer)))[0].source
        == HINT.source
    ), "the scan finds its like"
    at_its_line = replace(passed, source=HINT.source)
    kept = suspected(check(BATCH, causes=(HINT, GENERAL), scan=scan(at_its_line)))
    assert kept[0].code == HINT.code, "one line, for which a run has the nearer name"
    observed = replace(HINT, confidence="observed")
    assert suspected(check(BATCH, causes=(observed, GENERAL), scan=scan(passed)))[0] == observed
