"""`reprocheck.log_loss`: a script names its loss itself, where no hook can see it (numpy, C++
trainers, `jit` regions).
"""

from __future__ import annotations

import sys
from typing import Any

_EVENTS = "reprocheck_child.events"
_found = sys.modules.get(_EVENTS)
"""The recorder as it was when this module was imported: the script may empty `sys.modules`
afterwards.
"""


def log_loss(value: Any) -> None:
    """Record `value` as a loss of the iteration under way; without a recorder this does nothing.

    value: a Python number, a numpy scalar or a tensor of one element; its dtype and every bit are
    kept. Where an optimizer is seen, the loss belongs to the next update, so call it before the
    update; where none is, each call is one iteration. Once a script calls it, only these losses
    count. Never raises: a value that is no number is reported in the check's coverage.
    """
    recorder = sys.modules.get(_EVENTS, _found)
    if recorder is not None:
        recorder.log_loss(value)
