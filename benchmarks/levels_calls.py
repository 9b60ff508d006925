"""Python functions of the recorder that run for each fact of a step at level `module`.

A count, and so the same on every machine, however busy it is. Functions of PyTorch and built-in
ones are not counted.
"""

from __future__ import annotations

import re
from pathlib import Path

from benchmarks.levels import MODELS, WARM, Stepper
from benchmarks.table import Row

MOST = 10.0
"""Functions for each fact that are allowed."""
STEPS = 5
"""Steps that are counted."""
_FACT = re.compile(rb'^\{"e":"(?:seen|again)","r":"[^"]*","i":(\d+),', re.MULTILINE)


def calls(folder: Path) -> list[Row]:
    """Of each model: functions a fact, and how many facts a step has."""
    return [_row(model, folder / model) for model in MODELS]


def _row(model: str, folder: Path) -> Row:
    with Stepper(model, "module", folder) as stepper:
        for _ in range(WARM):
            stepper.step()
        functions = sum(int(stepper.asked("calls")) for _ in range(STEPS))
        stepper.step()  # writes the last facts of the step before
    (trace,) = folder.glob("*.jsonl")
    iterations = map(int, _FACT.findall(trace.read_bytes()))
    facts = sum(WARM < iteration <= WARM + STEPS for iteration in iterations)
    return Row(
        what=f"{MODELS[model][0]}: functions of the recorder a fact",
        value=functions / facts,
        allowed=MOST,
        unit="",
        how=f"{functions} in {STEPS} steps of {facts / STEPS:g} facts",
    )
