"""Where the time of a step at level `module` goes: parts of the recorder are left out one after the
other, and what a step takes less is what they cost.

Each way runs in a process of its own; the processes take turns, one step each.
"""

from __future__ import annotations

from contextlib import ExitStack
from itertools import pairwise
from pathlib import Path

from benchmarks.levels import MODELS, WARM, Stepper, low
from benchmarks.table import Row

PARTS = {
    "sketches": "sketches and norms",
    "text": "facts written as text",
    "hashes": "hashes",
    "reading": "the way from a hook to the bytes of a tensor",
}
"""What is left out, in this order; what remains in the end are the hooks."""


def parts(folder: Path) -> list[Row]:
    """Of each model: a step at level `module`, and what its parts cost."""
    return [row for model in MODELS for row in _model(model, folder / model)]


def _model(model: str, folder: Path) -> list[Row]:
    name, rounds, allowed = MODELS[model]
    leave_out = [tuple(PARTS)[:count] for count in range(len(PARTS) + 1)]
    with ExitStack() as stack:
        plain = stack.enter_context(Stepper(model, "plain", folder / "plain"))
        recorded = [
            stack.enter_context(Stepper(model, "module", folder / f"without-{len(out)}", out))
            for out in leave_out
        ]
        steppers = (plain, *recorded)
        for stepper in steppers:
            for _ in range(WARM):
                stepper.step()
        rows = [[stepper.step() for stepper in steppers] for _ in range(2 * rounds)]
    base, *taken = (low(list(times)) for times in zip(*rows, strict=True))
    ratios = [seconds / base for seconds in taken]
    how = f"CPU time, one thread, 20 % quantile of {2 * rounds} steps"
    whole = Row(
        what=f"{name}: level `module`",
        value=ratios[0],
        allowed=allowed,
        unit="×",
        plain=f"{1e3 * base:.1f} ms",
        how=how,
    )
    costs = [before - after for before, after in pairwise(ratios)]
    named = zip((*PARTS.values(), "the hooks"), (*costs, ratios[-1] - 1), strict=True)
    return [
        whole,
        *(
            Row(what=f"{name}: of it {part}", value=cost, allowed=None, unit="of a plain step")
            for part, cost in named
        ),
    ]
