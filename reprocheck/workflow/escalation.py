"""After a check: two more runs at deeper levels where they can say why the runs differ.

The verdict never depends on them.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace
from itertools import chain
from operator import attrgetter
from pathlib import Path
from typing import TYPE_CHECKING

from reprocheck.errors import ReprocheckError, message
from reprocheck.workflow import advice

if TYPE_CHECKING:
    from reprocheck.launch.deeper import Level
    from reprocheck.model import Check, EntryPoint, Rung
    from reprocheck.settings import Settings
    from reprocheck.workflow.teller import Teller

LEAST, MOST = 2, 1000
"""Iterations that are recorded at a deeper level."""
MOST_FOR_STATE = 100
"""Iterations that are recorded so that run 1 leaves again what it left."""
ENDED_EARLY = ("script_failed", "timed_out")
"""Verdicts on runs of which deeper ones would say no more."""
OF_OPERATORS = ("forward", "loss", "gradient")
"""Rungs on which the operators inside a module can say more than the module."""


def escalate(
    check: Check, entry: EntryPoint, held: Settings, folder: Path, teller: Teller
) -> Check:
    """The check with what deeper runs say of it, made where they are wanted.

    Never raises but for an interrupt.
    """
    advice.note(check, folder)
    if not wanted(check, held):
        return _explained(check, folder)
    by_module = _recorded(check, entry, held, folder, teller, level="module")
    rung, inside, say_more = by_module.first_rung, "", False
    if rung is not None:
        inside, say_more = rung.inside, operators_say_more(rung)
    worth_it = held.explain and say_more
    if held.level != "op" and not worth_it:
        return by_module
    return _recorded(check, entry, held, folder, teller, level="op", inside=inside)


def wanted(check: Check, held: Settings) -> bool:
    """Whether two runs at level `module` are to follow: the level was asked for, or the check
    failed and is to be explained.
    """
    if check.verdict.verdict in ENDED_EARLY:
        return False
    if not any(map(attrgetter("traces"), check.runs)):
        return False
    if held.level != "loss":
        return True
    differs = (
        check.verdict.exit_code == 1,
        diverges_later(check),
        differs_beside_not_finite(check),
    )
    return held.explain and any(differs)


def diverges_later(check: Check) -> bool:
    """Whether both checks pass and a loss of a later iteration is outside the tolerance."""
    divergence = check.verdict.first_divergence
    if check.verdict.verdict != "reproducible" or divergence is None:
        return False
    return divergence.value is not None


def differs_beside_not_finite(check: Check) -> bool:
    """Whether the check is inconclusive because of a loss that is not finite while losses differ:
    so does memory that nobody filled.
    """
    if check.verdict.verdict != "inconclusive" or not check.not_finite:
        return False
    first = check.verdict.bitwise.first_iteration
    return first is not None and first <= last_checked(check)


def last_checked(check: Check) -> int:
    """The last iteration that one of the two checks took."""
    parts = chain.from_iterable((trace.forward, trace.backward) for trace in check.traces)
    return max((part.iteration for part in filter(None, parts)), default=0)


def iterations(check: Check, held: Settings) -> int:
    """How many iterations are worth recording: up to the one that decided, within what the user
    lets run.
    """
    verdict = check.verdict
    needed: list[int | None] = []
    if verdict.verdict == "reproducible" and verdict.exit_code == 1:
        needed.append(verdict.bitwise.first_iteration)
    if held.fail_on != "bitwise" and diverges_later(check):
        needed.append(verdict.diverges_from)
    # Run 1 wrote it somewhere on its way: a shorter run might never come there.
    if check.state_left:
        needed.append(min(recorded(check), MOST_FOR_STATE))
    return up_to_checks(check, held, max(filter(None, needed), default=0))


def recorded(check: Check) -> int:
    """The iterations that run 1 recorded, of the rank that has most."""
    traces = chain.from_iterable(map(attrgetter("traces"), check.runs[:1]))
    return max((len(trace.losses) for trace in traces), default=0)


def up_to_checks(check: Check, held: Settings, needed: int = 0) -> int:
    """The iterations that the two checks take, more where they are `needed`, within what the user
    lets run.
    """
    return min(max(LEAST, last_checked(check), needed), MOST, held.steps or MOST)


def operators_say_more(rung: Rung) -> bool:
    """Whether an operation made the difference and it is not known which: neither a draw nor
    another control flow explains it.
    """
    return rung.rung in OF_OPERATORS and not rung.generators.drawn and not rung.another_path


def _recorded(
    check: Check,
    entry: EntryPoint,
    held: Settings,
    folder: Path,
    teller: Teller,
    *,
    level: Level,
    inside: str = "",
) -> Check:
    """The check with one more pair.

    What goes wrong becomes a line of its coverage, here and in the record.
    """
    from reprocheck import launch

    teller.deeper(check.verdict.title, level, inside)
    try:
        count = iterations(check, held)
        launch.record_deeper(
            entry,
            held,
            folder,
            teller,
            level=level,
            inside=inside,
            iterations=count,
            output=teller.output,
        )
    except Exception as error:
        keep_caveat(folder, f"The runs at level {level} could not be recorded: {message(error)}")
    finally:
        teller.clear()
    teller.status("looking for the first difference")
    try:
        return _explained(check, folder)
    finally:
        teller.clear()


def _explained(check: Check, folder: Path) -> Check:
    """The check with what its record says by now: as every later drawing of the folder has it."""
    from reprocheck.workflow import replay

    try:
        return replay.explained(check, folder)
    except ReprocheckError:
        return check


def keep_caveat(folder: Path, caveat: str) -> None:
    """Adds a caveat to the record."""
    from reprocheck.recording import record

    with suppress(ReprocheckError):
        held = record.read(folder)
        record.write(folder, replace(held, caveats=(*held.caveats, caveat)))
