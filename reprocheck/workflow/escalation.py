"""After a check: two more runs at deeper levels where they can say why the runs differ.

The verdict never depends on them.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace
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
    rung = by_module.ladder.first_rung if by_module.ladder else None
    if held.level == "op" or (held.explain and rung is not None and operators_say_more(rung)):
        return _recorded(
            check, entry, held, folder, teller, level="op", inside=module_of(rung) if rung else ""
        )
    return by_module


def wanted(check: Check, held: Settings) -> bool:
    """Whether two runs at level `module` are to follow: the level was asked for, or the check
    failed and is to be explained.
    """
    if check.verdict.verdict in ("script_failed", "timed_out") or not any(
        run.traces for run in check.runs
    ):
        return False
    if held.level != "loss":
        return True
    differs = (
        check.verdict.exit_code == 1 or diverges_later(check) or differs_beside_not_finite(check)
    )
    return held.explain and differs


def diverges_later(check: Check) -> bool:
    """Whether both checks pass and a loss of a later iteration is outside the tolerance."""
    divergence = check.verdict.first_divergence
    return (
        check.verdict.verdict == "reproducible"
        and divergence is not None
        and divergence.value is not None
    )


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
    parts = (
        part
        for run in check.runs
        for trace in run.traces
        for part in (trace.forward, trace.backward)
        if part
    )
    return max((part.iteration for part in parts), default=0)


def iterations(check: Check, held: Settings) -> int:
    """How many iterations are worth recording: up to the one that decided, within what the user
    lets run.
    """
    verdict, needed = check.verdict, 0
    if verdict.verdict == "reproducible" and verdict.exit_code == 1:
        needed = verdict.bitwise.first_iteration or 0
    if held.fail_on != "bitwise" and diverges_later(check) and verdict.first_divergence is not None:
        needed = max(needed, verdict.first_divergence.iteration)
    # run 1 wrote it somewhere on its way: a shorter run might never come there
    if check.state_left:
        needed = max(needed, min(recorded(check), MOST_FOR_STATE))
    return up_to_checks(check, held, needed)


def recorded(check: Check) -> int:
    """The iterations that run 1 recorded, of the rank that has most."""
    return max((len(trace.losses) for run in check.runs[:1] for trace in run.traces), default=0)


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


def module_of(rung: Rung) -> str:
    """The module to look into; empty for everything, where no module made the difference."""
    return rung.inside


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
