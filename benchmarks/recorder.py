"""What recording at level `loss` costs the user's process: CPU time of a step, CPU time of a start,
memory.
"""

from __future__ import annotations

import json
from pathlib import Path

from benchmarks.processes import SCRIPTS, hooked, python
from benchmarks.table import Row, median

STEPS = 2000
BATCHES = 1000
STARTS = 25
ITERATIONS = 1_000_000


def step(folder: Path) -> list[Row]:
    """Recorded and plain steps of one training, taking turns in one process."""
    said = json.loads(
        python(str(SCRIPTS / "steps.py"), str(STEPS), environment=hooked(folder / "trace")).stdout
    )
    plain, more = said["plain"], said["more"]
    how = f"CPU time of the process, {STEPS} pairs of steps taking turns, median of the differences"
    return [
        Row(
            what="a recorded step",
            value=more * 1e6,
            allowed=50,
            unit="µs",
            plain=f"{plain * 1e3:.2f} ms",
            how=how,
        ),
        Row(
            what="the same, as a share of a plain step",
            value=100 * more / plain,
            allowed=1,
            unit="%",
        ),
    ]


def keras_batches(folder: Path) -> list[Row]:
    """Batches of Keras with and without what it reports of each, taking turns in one process."""
    script = str(SCRIPTS / "keras_batches.py")
    said = json.loads(python(script, str(BATCHES), environment=hooked(folder / "trace")).stdout)
    plain, more = said["plain"], said["more"]
    how = (
        f"loss and accuracy; CPU time of the process, {said['pairs']} pairs of batches taking"
        " turns, median of the differences"
    )
    return [
        Row(
            what="what Keras reports of a batch (`batch_end/KEY`)",
            value=more * 1e6,
            allowed=50,
            unit="µs",
            plain=f"{plain * 1e3:.2f} ms",
            how=how,
        ),
        Row(
            what="the same, as a share of a batch",
            value=100 * more / plain,
            allowed=1,
            unit="%",
        ),
    ]


def injection(folder: Path) -> list[Row]:
    """`python -c 0`, bare and with the recorder, taking turns.

    A word such as `pass` may be the name of a secret, and what masks secrets would be loaded.
    """
    environment = hooked(folder / "trace")
    python("-c", "0", environment=environment)  # writes the byte code, as an installation does
    pairs = [
        (python("-c", "0").cpu, python("-c", "0", environment=environment).cpu)
        for _ in range(STARTS)
    ]
    bare = median([first for first, _ in pairs])
    return [
        Row(
            what="the recorder in a process that trains nothing",
            value=median([second for _, second in pairs]) / bare,
            allowed=1.5,
            unit="×",
            plain=f"{1e3 * bare:.1f} ms",
            how=f"CPU time of `python -c 0`, {STARTS} pairs taking turns",
        )
    ]


def memory(folder: Path) -> list[Row]:
    """Memory of a process that records a million iterations, against what it had after ten."""
    said = json.loads(
        python(
            str(SCRIPTS / "many.py"), str(ITERATIONS), environment=hooked(folder / "trace")
        ).stdout
    )
    return [
        Row(
            what="memory of the recorder, from 10 iterations to a million",
            value=said["million"] - said["ten"],
            allowed=100,
            unit="MB",
            plain=f"{said['ten']:.0f} MB after 10",
            how="resident memory; one loss and one update each",
        ),
        Row(
            what="one loss and one update, without a framework",
            value=1e6 * said["cpu"] / ITERATIONS,
            allowed=None,
            unit="µs",
            how="CPU time",
        ),
    ]
