"""Write `replay.py`, a script that runs the operation which makes the first difference.

It runs it again and again, and shows how often and by how much its results differ. Imports `model`
and `files` alone.

    NAME            the file in a report folder
    script(check)   its text, None where no operation makes the difference or too little is known
    values          the file with what the operation was given, value by value
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from reprocheck.model import Check
from reprocheck.model.replay import Replay
from reprocheck.replay import mindspore, torch

NAME = "replay.py"
SCRIPTS: Mapping[str, Callable[[Replay], str]] = {
    "torch": torch.script,
    "mindspore": mindspore.script,
}
"""By framework."""


def script(check: Check) -> str | None:
    """Return a script that runs the operation which makes the first difference of a check.

    It needs the framework alone. None where no operation does, or it cannot be made from what was
    recorded: then the coverage of the check says why.

    The text is a function of the check alone, and holds no value of a tensor, no path and no name
    of a machine or a user.
    """
    ladder = check.ladder
    if ladder is None or ladder.replay is None:
        return None
    return SCRIPTS[ladder.replay.framework](ladder.replay)
