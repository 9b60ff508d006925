"""The patch that is tried for what was lost, and what the runs with it say."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path

from reprocheck.resume.confirm.search import LOOKED_INTO
from reprocheck.resume.fix.patch import Lost, patched
from reprocheck.resume.model import Outcome, Repair, StateRungName
from reprocheck.resume.verdict import NOTHING_TO_COMPARE
from reprocheck.scan.source import decode

FAILED = "A patch was tried, and the training with it fails or does not go on."
EXACTLY = "With the patch, the training resumes exactly."


def proposed(outcome: Outcome) -> Mapping[Path, str]:
    """Return the files of the script with a patch for the lost state; {} if no patch is known."""
    if outcome.verdict not in LOOKED_INTO:
        return {}
    archive = outcome.explained.archive
    files = {name: Path(name).expanduser() for name in archive.files if name}
    texts = {name: decode(file.read_bytes()) for name, file in files.items() if file.is_file()}
    changed = patched(texts, archive, lost_of(outcome))
    return {files[name]: text for name, text in changed.items()}


def lost_of(outcome: Outcome) -> Lost:
    """Return the state that a patch is for: all lost parts, and mostly the generators.

    Without them if a run confirmed that the resume goes on exactly so.
    """
    found, explained = outcome.confirmation, outcome.explained
    confirmed = found.rungs if found is not None else ()
    mechanisms = (found and found.mechanisms) or tuple(explained.mechanisms.values())
    parts = [one for one in explained.lost if one.kind == "part"]
    drawn = [one for one in explained.lost if one.kind == "generator"]
    if confirmed and not {"RNG state", "batch"}.intersection(confirmed):
        drawn = []
    return Lost(
        parts={one.part: one.key for one in parts},
        codes=[one.code for one in mechanisms],
        generators=[one.part for one in drawn],
        loaded=[one.part for one in parts if one.loaded],
        other_data="batch" in _differing(outcome),
    )


def repair_of(before: Outcome, outcome: Outcome, patch: str) -> Repair:
    """Return the patch if the runs with it repair the loss; else what the runs showed."""
    if outcome.verdict in (*NOTHING_TO_COMPARE, "starts_over"):
        return Repair(patch="", sentence=FAILED)
    if outcome.verdict == "resumes_exactly":
        return Repair(patch=patch, sentence=EXACTLY)
    found = before.confirmation
    rungs: Iterable[StateRungName] = found.rungs if found is not None else ()
    left = _differing(outcome)
    repaired = [rung for rung in rungs if rung not in left]
    if not repaired:
        useless = "A patch was tried, and the resumed run differs with it all the same."
        return Repair(patch="", sentence=useless)
    first = outcome.explained.first.name if outcome.explained.first is not None else "a loss"
    gone = f"With the patch, no difference is left of: {', '.join(repaired)}"
    return Repair(patch=patch, sentence=f"{gone}; {first} still differs.")


def _differing(outcome: Outcome) -> set[StateRungName]:
    return {rung.name for rung in outcome.explained.rungs if rung.status == "differs"}
