"""To which frameworks a difference belongs: fixes and titles are chosen for the first of them that
has one.

A library may import another framework (tensorboard imports JAX), so those that the user's own code
uses come first, the most used one foremost. A program whose losses are said by itself, and that
uses none of them, belongs to no framework: `python`.
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
    """Return the frameworks of a check, the one to which its fixes should belong first."""
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
    """Return those of run 1: first of the processes that train, then of all."""
    first = next(iter(check.runs), None)
    if first is None:
        return ()
    of_training = chain.from_iterable(trace.frameworks for trace in first.traces)
    return tuple(dict.fromkeys((*of_training, *first.frameworks)))
