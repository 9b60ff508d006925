"""List the frameworks of a check in the order in which titles and fixes are chosen.

The first framework that has a title or a fix counts.

A library may import another framework (tensorboard imports JAX), so the frameworks that the user's
own code uses come first, the most used one foremost. A program that reports its losses itself and
uses no framework belongs to `python`.
"""

from __future__ import annotations

from collections import Counter
from itertools import chain

from reprocheck.causes.usercode import UserCode
from reprocheck.fixes.advice import PYTHON
from reprocheck.model import Check

_WITHOUT_ADAPTER = ("sklearn", "numpy")
"""Packages that draw and train, and that nothing is recorded of.

What is built on them comes first.
"""
_BELONGS_TO = {
    "lightning": "torch",
    "pytorch_lightning": "torch",
    "transformers": "torch",
    "accelerate": "torch",
    "torchvision": "torch",
    "flax": "jax",
    "optax": "jax",
}
"""Packages whose use is the use of a framework."""


def of_place(check: Check, code: UserCode) -> tuple[str, ...]:
    """Return the frameworks of a check; the first one decides which fixes are shown."""
    uses: Counter[str] = Counter()
    for package, count in code.uses.items():
        uses[_BELONGS_TO.get(package, package)] += count
    beside = filter(uses.__getitem__, _WITHOUT_ADAPTER)
    recorded = _recorded(check)
    is_used = any(map(uses.__getitem__, recorded))
    says_losses = not recorded or uses["reprocheck"]
    if says_losses and not is_used:
        return (*beside, PYTHON)
    return (*sorted(recorded, key=uses.__getitem__, reverse=True), *beside)


def _recorded(check: Check) -> tuple[str, ...]:
    """Return the frameworks of run 1: first of the training processes, then of all processes."""
    first = next(iter(check.runs), None)
    if first is None:
        return ()
    of_training = chain.from_iterable(trace.frameworks for trace in first.traces)
    return tuple(dict.fromkeys((*of_training, *first.frameworks)))
