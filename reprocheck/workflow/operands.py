"""What the operation that differs was given, value by value: one more run, where that is wanted."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from reprocheck.errors import message
from reprocheck.language import mark, tr
from reprocheck.workflow.escalation import keep_caveat

if TYPE_CHECKING:
    from reprocheck.launch.teller import Teller
    from reprocheck.model import Check, EntryPoint
    from reprocheck.model.replay import Replay
    from reprocheck.settings import Settings

NO_OPERATOR = mark(
    "No values of tensors were recorded: no operator is known to make the difference."
)


def with_operands(
    check: Check, entry: EntryPoint, held: Settings, folder: Path, teller: Teller
) -> Check:
    """Return the check with the values that its culprit was given, in a file beside `replay.py`.

    Where there are none, a caveat says why. Never raises but for an interrupt.
    """
    from reprocheck.workflow import replay

    culprit = None
    if check.ladder is not None:
        culprit = check.ladder.replay
    if culprit is None and not check.verdict.exit_code:
        return check
    caveat = tr(NO_OPERATOR)
    if culprit is not None:
        caveat = _recorded(culprit, check, entry, held, folder, teller)
    if caveat:
        keep_caveat(folder, caveat)
    return replay.explained(check, folder)


def _recorded(
    culprit: Replay,
    check: Check,
    entry: EntryPoint,
    held: Settings,
    folder: Path,
    teller: Teller,
) -> str:
    """Record the values; return what is to be said where not all of them are there."""
    from reprocheck import launch
    from reprocheck.replay import values

    pair = next((one for one in check.record.deeper if one.level == "op"), None)
    if culprit.of != "operator" or pair is None:
        return tr(NO_OPERATOR)
    name = f"`{culprit.name}`"
    inputs = values.wanted(culprit)
    if not inputs:
        return tr(
            "No values of tensors were recorded: {name} is given none, or none of a known type.",
            name=name,
        )
    wanted = {"operator": culprit.name, "inputs": inputs, "most": values.MOST_BYTES}
    teller.status(tr("recording what {name} is given", name=culprit.name))
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
        return tr("No values of tensors were recorded: {message}", message=message(error))
    finally:
        teller.clear()
    if not found:
        return tr(
            "No values of tensors were recorded: in a further run {name} was not given the same"
            " again.",
            name=name,
        )
    kept = values.with_values(culprit, folder).values
    missing = ", ".join(f"`{path}`" for path in inputs if path not in kept)
    if missing:
        return tr(
            "Of the tensors that {name} is given, values of at most {most} MB are recorded, the"
            " smallest tensors first: not those of {missing}.",
            name=name,
            most=values.MOST_BYTES // 1_000_000,
            missing=missing,
        )
    return ""
