"""Hold the catalogue of causes and the lists of noisy operators, as data with their sources.

May import model and errors only. What takes the model is imported on first use: one entry is
printed without it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from reprocheck.rules.catalogue import (
    Entry as Entry,
    catalogue as catalogue,
    entry as entry,
    find as find,
    nearest as nearest,
)

if TYPE_CHECKING:
    from reprocheck.rules.drift import (
        DriftClass as DriftClass,
        drift_class as drift_class,
        drift_classes as drift_classes,
    )
    from reprocheck.rules.operators import (
        Operator as Operator,
        OperatorList as OperatorList,
        known as known,
        operator_lists as operator_lists,
        raised as raised,
    )

_HOMES = {
    "reprocheck.rules.drift": ("DriftClass", "drift_class", "drift_classes"),
    "reprocheck.rules.operators": (
        "Operator", "OperatorList", "known", "operator_lists", "raised",
    ),
}  # fmt: skip


def __getattr__(name: str) -> Any:
    from importlib import import_module

    for home, names in _HOMES.items():
        if name in names:
            return getattr(import_module(home), name)
    raise AttributeError(f"module 'reprocheck.rules' has no attribute {name!r}")
