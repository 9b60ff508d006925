"""Find values that are new at each start of a training, such as `--seed $RANDOM`.

The module says whether they explain the difference, and which line makes them.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from reprocheck.ladder.external_inputs import given_at_start
from reprocheck.ladder.shell import Made, made
from reprocheck.model import Check
from reprocheck.model.evidence import GivenOtherwise
from reprocheck.model.statements.inputs import Given


def made_at_start(check: Check, read: Callable[[str], str | None]) -> Made | None:
    """Return where a shell script or a Makefile makes the differing argument or variable.

    `read` returns the text of a file; None if there is no such file.
    """
    given = _first(check)
    if given is None or not isinstance(given.first, str):
        return None
    command = check.record.entry_point.command
    return made(command, read, given.name, given.first, variable=given.kind == "variable")


def is_what_differs(check: Check, folder: Path) -> bool:
    """Return whether the training differs as much as the values given at the start.

    Compared with the first difference of the training.

    The compared numbers are seeds or a hyper-parameter. The ladder shows deeper runs, which were
    given numbers of their own.
    """
    given = _first(check)
    if given is None:
        return False
    rung = check.training_rung
    if rung is None:
        return False
    same = (
        one
        for one in _given_again(check, folder)
        if (one.kind, one.name) == (given.kind, given.name)
    )
    apart = {_apart(one.first, one.second) for one in same} - {None}
    numbers: list[tuple[object, object]] = [
        one.seeds for one in rung.generators.drawn if one.seeds is not None
    ]
    if rung.measured.values is not None:
        numbers.append(rung.measured.values)
    return not apart.isdisjoint(_apart(*pair) for pair in numbers)


def _given_again(check: Check, folder: Path) -> tuple[Given, ...]:
    """Return the arguments and variables that differ between the deeper runs of the ladder."""
    from reprocheck.trace import read_run

    by_module = (pair.runs for pair in check.record.deeper if pair.level == "module")
    runs = next(by_module, ())
    if len(runs) < 2:
        # recording them again was broken off
        return ()
    return given_at_start(*(read_run(folder, run) for run in runs[:2]))


def _first(check: Check) -> Given | None:
    """Return the differing argument or variable on the first rung.

    None for two separate recordings.
    """
    rung = check.first_rung
    if rung is None or check.record.compared:
        return None
    evidence = rung.evidence
    if not isinstance(evidence, GivenOtherwise) or not evidence.at_start:
        return None
    # such evidence comes from two runs at least
    first, second, *_ = check.runs
    return next((one for one in given_at_start(first, second) if one.name == rung.place), None)


def _apart(first: object, second: object) -> float | None:
    """Return the difference of two numbers; None if they are equal or no numbers.

    A constant that is added to both, such as a rank, does not matter.
    """
    try:
        return float(str(second)) - float(str(first)) or None
    except ValueError:
        return None
