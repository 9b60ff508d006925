"""To which frameworks a difference belongs: fixes and titles are chosen for the first of them that
has one.

A library may import another framework (tensorboard imports JAX), so those that the user's own code
uses come first, the most used one foremost. A program whose losses are said by itself, and that
uses none of them, belongs to no framework: `python`.
"""

from __future__ import annotations

from reprocheck.causes.usercode import UserCode
from reprocheck.model import Check

PYTHON = "python"
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
    """The frameworks of a check, the one to which its fixes should belong first."""
    uses: dict[str, int] = {}
    for package, count in code.uses.items():
        framework = _BELONGS_TO.get(package, package)
        uses[framework] = uses.get(framework, 0) + count
    beside = tuple(name for name in _WITHOUT_ADAPTER if uses.get(name))
    recorded = _recorded(check)
    used = [name for name in recorded if uses.get(name)]
    if not used and (not recorded or uses.get("reprocheck")):
        return (*beside, PYTHON)
    return (*sorted(recorded, key=lambda name: -uses.get(name, 0)), *beside)


def _recorded(check: Check) -> tuple[str, ...]:
    """Those of run 1: first of the processes that train, then of all."""
    names = [name for run in check.runs[:1] for trace in run.traces for name in trace.frameworks]
    names += [name for run in check.runs[:1] for name in run.frameworks]
    return tuple(dict.fromkeys(names))
