"""Why an operation that makes a difference cannot be replayed, in words."""

from __future__ import annotations

from collections.abc import Mapping

from reprocheck.ladder import words

WHY: Mapping[str, str] = {
    "of the script": "it is code of the script, and no operator in it makes the difference itself",
    "of a library": "it is an operator of another library than the framework",
    "from outside": "what differs comes into it from something that was not recorded",
    "no operators": "of this framework no operators are recorded",
    "not recorded": "its operators were not recorded; `reprocheck run --level op` records them",
    "not recordable": "its operators could not be recorded",
    "inputs": "not all that it was given is known",
    "size": "its tensors are too large",
}
"""By `reprocheck.ladder.replays.Missing`."""


def not_made(of: str, missing: str) -> str:
    """An operation without a replay, as a line of the coverage."""
    return f"No `replay.py` was made of {words.code(of)}: {WHY[missing]}."
