"""What a night prints at its end."""

from __future__ import annotations

import io
from dataclasses import replace
from pathlib import Path

from reprocheck.cli.suite.outcome import cause_of, print_outcome
from reprocheck.cli.terminal import Stream
from reprocheck.suite.model import (
    Difference,
    Night,
    NightReport,
    Suspect,
    TargetCheck,
    TargetReport,
    TargetState,
)
from reprocheck.suite.night import Outcome
from reprocheck.suite.target import Target
from reprocheck.suite.targets import Suite

OPERATION = "First to differ from night n1: the forward of `1` (Scaled)."


def printed(
    folder: Path,
    outcome: Outcome,
    elsewhere: Path | None = None,
    report: NightReport | None = None,
) -> list[str]:
    target = Target(name="small", words=("train.py",), workdir=folder)
    suite = Suite(targets=(target,), folder=folder, history="", file=folder / "reprocheck.toml")
    text = io.StringIO()
    index = folder / "site" / "index.html"
    shown = tuple(
        TargetReport(name=one.target, state=one, attempts=outcome.checks, accepted=True)
        for one in outcome.states
    )
    report = report or NightReport(night=outcome.night, targets=shown)
    print_outcome(outcome, report, suite, index, Stream(text), elsewhere=elsewhere)
    return text.getvalue().splitlines()


def drift(shard: str = "") -> Outcome:
    state = TargetState(
        night="n2",
        target="small",
        state="drift",
        failed=True,
        sentence="loss differs",
        drift=(Difference(series="loss", first_bit=1),),
        operation=OPERATION,
    )
    night = Night(id="n2", started=0.0, targets=("small",), selected=("small",), shard=shard)
    return Outcome(
        night=night,
        checks=(TargetCheck(night="n2", target="small", verdict="reproducible", good=True),),
        states=(state,),
    )


def test_a_drift_has_its_operation_and_the_command_that_accepts_it(tmp_path: Path) -> None:
    rows = printed(tmp_path, drift())
    assert rows[0] == "FAILED night n2: 1 target checked: 1 drift"
    assert rows[1:3] == ["  small drift. loss differs", f"    {OPERATION}"]
    assert rows[-2:] == [
        "  accept new curves that are meant:",
        '    reprocheck suite baseline accept small --night n2 --why "REASON"',
    ]


def test_what_is_not_good_is_not_to_be_accepted(tmp_path: Path) -> None:
    outcome = drift()
    checks = tuple(replace(check, good=False) for check in outcome.checks)
    assert "accept" not in "".join(printed(tmp_path, replace(outcome, checks=checks)))


def test_a_pass_on_retry_names_the_attempt_that_failed(tmp_path: Path) -> None:
    failed = TargetCheck(night="n2", target="small", causes=("RC302",), folder="nights/n2/1")
    passed = replace(failed, attempt=2, good=True, causes=(), folder="nights/n2/2")
    state = TargetState(night="n2", target="small", state="intermittent", failed=True, sentence="x")
    rows = printed(tmp_path, replace(drift(), checks=(failed, passed), states=(state,)))
    assert rows[2] == "    RC302 The seed is set after the weights were drawn"
    assert rows[3].endswith("nights/n2/1")


def test_what_was_not_selected_and_what_has_no_baseline_stand_below(tmp_path: Path) -> None:
    outcome = drift()
    failed = replace(outcome.states[0], night="n1", target="large")
    shown = (
        TargetReport(name="small", state=outcome.states[0], accepted=True),
        TargetReport(name="large", state=failed, last_checked="n1"),
    )
    rows = printed(tmp_path, outcome, report=NightReport(night=outcome.night, targets=shown))
    assert rows[0] == "FAILED night n2: 1 target checked: 1 drift"
    assert rows[3:5] == [
        "  not selected, and failed when last checked: large",
        "  1 of 2 targets has no baseline",
    ]


def test_a_changed_line_stands_below_its_operation(tmp_path: Path) -> None:
    outcome = drift()
    suspect = Suspect(
        report="nights/n2/small/train-compared-1",
        source="train.py:4",
        diff=" def f(x):\n-    return x\n+    return 2 * x",
        commits=("4cc649203e93 Doubled",),
    )
    states = tuple(replace(state, suspect=suspect) for state in outcome.states)
    rows = printed(tmp_path, replace(outcome, states=states))
    assert rows[3:7] == [
        "    train.py:4",
        "      -    return x",
        "      +    return 2 * x",
        "      4cc649203e93 Doubled",
    ]
    assert rows[7].endswith("/nights/n2/small/train-compared-1")


def test_a_share_of_a_night_and_one_kept_elsewhere_are_brought_together_first(
    tmp_path: Path,
) -> None:
    assert printed(tmp_path, drift("1/2"))[-2:] == [
        "  join the shares of the night once all have ended:",
        "    reprocheck suite merge",
    ]
    assert printed(tmp_path, drift("1/2"), Path("a b/1"))[-2:] == [
        "  take it into the suite's own history:",
        "    reprocheck suite merge 'a b/1'",
    ]


def test_a_failure_has_its_cause_with_the_line() -> None:
    check = TargetCheck(night="n2", target="a", causes=("RC302", "RC101"), source="train.py:12")
    assert cause_of(check) == "RC302 The seed is set after the weights were drawn: train.py:12"
    assert cause_of(replace(check, causes=("RC999",), source="")) == "RC999"
