"""Record the input values of the operation that differs first, in one more run, if asked for."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from reprocheck.errors import message
from reprocheck.model.statement import Statement
from reprocheck.model.statements.check import NoValues, Unfinished, ValuesMissing
from reprocheck.wording import progress
from reprocheck.workflow.escalation import keep_caveat

if TYPE_CHECKING:
    from reprocheck.launch.teller import Teller
    from reprocheck.model import Check, EntryPoint
    from reprocheck.model.replay import Replay
    from reprocheck.settings import Settings


def with_operands(
    check: Check, entry: EntryPoint, held: Settings, folder: Path, teller: Teller
) -> Check:
    """Return the check with the input values of the operation that differs first, in a file beside
    `replay.py`.

    If there are no values, a caveat says why. Never raises, except for an interrupt.
    """
    from reprocheck.workflow import replay

    culprit = None
    if check.ladder is not None:
        culprit = check.ladder.replay
    if culprit is None and not check.verdict.exit_code:
        return check
    caution: Statement | None = NoValues(why="no operator")
    if culprit is not None:
        caution = _recorded(culprit, check, entry, held, folder, teller)
    if caution is not None:
        keep_caveat(folder, caution)
    return replay.explained(check, folder)


def _recorded(
    culprit: Replay,
    check: Check,
    entry: EntryPoint,
    held: Settings,
    folder: Path,
    teller: Teller,
) -> Statement | None:
    """Record the input values; return a caveat if some are missing."""
    from reprocheck import launch
    from reprocheck.replay import values

    pair = next((one for one in check.record.deeper if one.level == "op"), None)
    if culprit.of != "operator" or pair is None:
        return NoValues(why="no operator")
    inputs = values.wanted(culprit)
    if not inputs:
        return NoValues(why="no input", operator=culprit.name)
    wanted = {"operator": culprit.name, "inputs": inputs, "most": values.MOST_BYTES}
    teller.status(progress.recording(culprit.name))
    try:
        found = launch.record_operands(
            entry,
            held,
            folder,
            teller,
            folder / values.NAME,
            like=pair,
            wanted=wanted,
            output=teller.output,
        )
    except Exception as error:
        return Unfinished(what="values", message=message(error))
    finally:
        teller.clear()
    if not found:
        return NoValues(why="not again", operator=culprit.name)
    kept = values.with_values(culprit, folder).values
    missing = tuple(path for path in inputs if path not in kept)
    if not missing:
        return None
    most = values.MOST_BYTES // 1_000_000
    return ValuesMissing(operator=culprit.name, most=most, paths=missing)
