"""What a start gives a training anew each time: whether that is what differs, and the line that
makes it.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from reprocheck.ladder.external_inputs import given_at_start
from reprocheck.ladder.shell import Made, made
from reprocheck.model import Check
from reprocheck.model.evidence import GivenOtherwise
from reprocheck.model.statements.given import Given


def made_at_start(check: Check, read: Callable[[str], str | None]) -> Made | None:
    """Return where a shell script or a Makefile makes the argument or the variable that differs.

    `read` gives the text of a file, None where there is none.
    """
    given = _first(check)
    if given is None or not isinstance(given.first, str):
        return None
    command = check.record.entry_point.command
    return made(command, read, given.name, given.first, variable=given.kind == "variable")


def is_what_differs(check: Check, folder: Path) -> bool:
    """Return whether what differs first in the training is as far apart as what the start gave.

    These are seeds, or a hyper-parameter. The ladder is that of the runs that were recorded again,
    which were given numbers of their own.
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
    """Return what the starts of the runs behind the ladder did not give alike."""
    from reprocheck.trace import read_run

    by_module = (pair.runs for pair in check.record.deeper if pair.level == "module")
    runs = next(by_module, ())
    if len(runs) < 2:
        # recording them again was broken off
        return ()
    return given_at_start(*(read_run(folder, run) for run in runs[:2]))


def _first(check: Check) -> Given | None:
    """Return the argument or variable that the ladder names first; None for two recordings."""
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
    """Return how far two numbers are apart; None for what is no number, or equal.

    What is added to both, such as a rank, does not matter.
    """
    try:
        return float(str(second)) - float(str(first)) or None
    except ValueError:
        return None
