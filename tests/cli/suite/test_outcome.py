"""What a night prints at its end."""

from __future__ import annotations

import io
from dataclasses import replace
from pathlib import Path

from reprocheck.cli.suite.outcome import print_outcome
from reprocheck.cli.suite.words import cause_of
from reprocheck.cli.terminal import Stream
from reprocheck.suite.model import Night, Target, TargetCheck, TargetState
from reprocheck.suite.night import Outcome
from reprocheck.suite.targets import Suite

OPERATION = "First to differ from night n1: the forward of `1` (Scaled)."


def test_a_drift_has_its_operation_and_the_command_that_accepts_it(tmp_path: Path) -> None:
    state = TargetState(
        night="n2",
        target="small",
        state="drift",
        failed=True,
        sentence="loss differs",
        operation=OPERATION,
    )
    outcome = Outcome(
        night=Night(id="n2", started=0.0, targets=("small",), selected=("small",)),
        checks=(TargetCheck(night="n2", target="small", verdict="reproducible", good=True),),
        states=(state,),
    )
    target = Target(name="small", words=("train.py",), workdir=tmp_path)
    suite = Suite(targets=(target,), folder=tmp_path, history="", file=tmp_path / "reprocheck.toml")
    text = io.StringIO()
    print_outcome(outcome, suite, tmp_path / "site" / "index.html", Stream(text))
    rows = text.getvalue().splitlines()
    assert rows[0] == "FAILED night n2: 1 target checked: 1 drift"
    assert rows[1:3] == ["  small drift. loss differs", f"    {OPERATION}"]
    assert rows[-2:] == [
        "  accept new curves that are meant:",
        '    reprocheck suite baseline accept small --why "REASON"',
    ]


def test_a_failure_has_its_cause_with_the_line() -> None:
    check = TargetCheck(night="n2", target="a", causes=("RC302", "RC101"), source="train.py:12")
    assert cause_of(check) == "RC302 The seed is set after the weights were drawn: train.py:12"
    assert cause_of(replace(check, causes=("RC999",), source="")) == "RC999"
