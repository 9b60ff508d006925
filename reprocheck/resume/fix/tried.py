"""The patch that is tried for what was confirmed, and what the runs with it say."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from reprocheck.resume.fix.patch import Lost, patched
from reprocheck.resume.model import Checkpoint, Confirmation, Outcome, Repair, StateRungName
from reprocheck.resume.verdict import NOTHING_TO_COMPARE
from reprocheck.scan.source import decode

EXACTLY = "With the patch, the training resumes exactly."


def proposed(outcome: Outcome) -> Mapping[Path, str]:
    """The file that saves the checkpoint, as it would be with a patch for what is confirmed, or for
    all that was put back last where that did not suffice; {} where none is known.
    """
    found, checkpoint = outcome.confirmation, outcome.place.checkpoint
    if found is None or checkpoint is None or not found.attempts:
        return {}
    file, line = _saves_at(checkpoint)
    if not file.is_file():
        return {}
    text = patched(decode(file.read_bytes()), line, _lost(outcome, found))
    if not text:
        return {}
    return {file: text}


def _lost(outcome: Outcome, found: Confirmation) -> Lost:
    mechanisms = found.mechanisms or tuple(outcome.explained.mechanisms.values())
    tried = found.attempts[-1]
    return Lost(
        rungs=found.rungs or tried.rungs,
        codes=[one.code for one in mechanisms],
        generators=found.names("RNG state") or tried.names.get("RNG state", ()),
        other_data="batch" in _differing(outcome),
    )


def _saves_at(checkpoint: Checkpoint) -> tuple[Path, int]:
    """The file and the line that save it; no file where they are not known."""
    name, _, line = checkpoint.line.rpartition(":")
    if not line.isdecimal():
        return Path(), 0
    return Path(name), int(line)


def repair_of(before: Outcome, outcome: Outcome, patch: str) -> Repair | None:
    """The patch, where what was confirmed to be lost is lost no more in the runs with it."""
    found = before.confirmation
    if found is None or outcome.verdict in (*NOTHING_TO_COMPARE, "starts_over"):
        return None
    if outcome.verdict == "resumes_exactly":
        return Repair(patch=patch, sentence=EXACTLY)
    left = _differing(outcome)
    repaired = [rung for rung in found.rungs if rung not in left]
    if not repaired:
        return None
    return Repair(patch=patch, sentence=_sentence(repaired, outcome))


def _differing(outcome: Outcome) -> set[StateRungName]:
    return {rung.name for rung in outcome.explained.rungs if rung.status == "differs"}


def _sentence(rungs: Sequence[StateRungName], outcome: Outcome) -> str:
    first = outcome.explained.first
    left = first.name if first is not None else "a loss"
    return f"With the patch, no difference is left of: {', '.join(rungs)}; {left} still differs."
