"""Why an operation that makes a difference cannot be replayed, in words."""

from __future__ import annotations

from collections.abc import Mapping

from reprocheck.ladder import words
from reprocheck.language import mark, tr

WHY: Mapping[str, str] = {
    "of the script": mark(
        "it is code of the script, and no operator in it makes the difference itself"
    ),
    "of a library": mark("it is an operator of another library than the framework"),
    "from outside": mark("what differs comes into it from something that was not recorded"),
    "no operators": mark("of this framework no operators are recorded"),
    "not recorded": mark(
        "its operators were not recorded; `reprocheck run --level op` records them"
    ),
    "not recordable": mark("its operators could not be recorded"),
    "inputs": mark("not all that it was given is known"),
    "size": mark("its tensors are too large"),
}
"""By `reprocheck.ladder.replays.Missing`."""


def not_made(of: str, missing: str) -> str:
    """Return an operation without a replay, as a line of the coverage."""
    return tr("No `replay.py` was made of {of}: {why}.", of=words.code(of), why=tr(WHY[missing]))
