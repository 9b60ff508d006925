"""`reprocheck.log_loss` and `reprocheck.log`, by which a script names its losses and numbers.

It does so where no hook can see them (numpy, C++ trainers, `jit` regions).
"""

from __future__ import annotations

import sys
from typing import Any

_EVENTS = "reprocheck_child.recorder.events"
_found = sys.modules.get(_EVENTS)
"""The recorder as it was when this module was imported: the script may empty `sys.modules`
afterwards.
"""


def log_loss(value: Any) -> None:
    """Record `value` as a loss of the iteration under way; without a recorder this does nothing.

    Where an optimizer is seen, the loss belongs to the next update, so call it before the update;
    where none is, each call is one iteration. Once a script calls it, only these losses count.

    Args:
        value: A Python number, a numpy scalar or a tensor of one element; its dtype and every bit
            are kept. What is no number is reported in the check's coverage.

    Returns:
        Nothing, and nothing is raised: the training goes on as without it.

    Examples:
        >>> reprocheck.log_loss(0.693)
    """
    recorder = sys.modules.get(_EVENTS, _found)
    if recorder is not None:
        recorder.log_loss(value)


def log(**values: Any) -> None:
    """Record one value of each named series, beside the loss; without a recorder this does nothing.

    A series is compared between the runs as losses are, and has no part in the verdict unless
    `--fail-on series:NAME` asks for it.

    Args:
        values: By name of the series: Python numbers, numpy scalars or tensors of one element;
            their dtypes and every bit are kept. What is no number is left out.

    Returns:
        Nothing, and nothing is raised: the training goes on as without it.

    Examples:
        >>> reprocheck.log(grad_norm=1.5, accuracy=0.9)
    """
    recorder = sys.modules.get(_EVENTS, _found)
    if recorder is not None:
        recorder.log(values)
