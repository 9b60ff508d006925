"""The measurement of an accelerator, on the CPU."""

from __future__ import annotations

from pathlib import Path

import pytest

pytest.importorskip("torch")

from benchmarks import accelerator
from benchmarks.accelerator import Measured, Size, Stepper

pytestmark = pytest.mark.torch

TINY = Size(device="cpu", width=8, layers=1, vocabulary=16, batch=1, steps=1)


def test_a_recorded_training_answers(tmp_path: Path) -> None:
    with Stepper(TINY, "module", tmp_path / "module") as stepper:
        assert stepper.parameters > 0
        step = stepper.ask("step")
        assert step["wall"] > 0
        assert stepper.ask("memory")["bytes"] > 1 << 20
        counted = stepper.ask("count")
        assert counted["copies"] == 0
        assert counted["waits"] >= 0
    (trace,) = (tmp_path / "module").glob("*.jsonl")
    assert '"r":"call"' in trace.read_text(encoding="utf-8", errors="replace")


def test_what_is_allowed_is_said_of_accelerators_alone() -> None:
    plain = Measured(parameters=10**9, wall=1.0, cpu=1.0, memory=100, copies=1, waits=1)
    found = dict.fromkeys(accelerator.WAYS, plain)
    found["module"] = Measured(parameters=10**9, wall=1.2, cpu=1.0, memory=101, copies=2, waits=3)
    rows = accelerator._rows(accelerator.LARGE, found)
    assert [row.met for row in rows] == ["**no**", "yes", "yes", "yes", "**no**", "yes"]
    assert {row.met for row in accelerator._rows(TINY, found)} == {""}
