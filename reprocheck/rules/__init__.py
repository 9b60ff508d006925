"""The catalogue of causes and what is known of operators: data with their sources.

May import model and errors only.
"""

from __future__ import annotations

from reprocheck.rules.catalogue import Entry, catalogue, entry, find, nearest
from reprocheck.rules.drift import DriftClass, drift_class, drift_classes
from reprocheck.rules.operators import Operator, OperatorList, known, operator_lists, raised

__all__ = [
    "DriftClass",
    "Entry",
    "Operator",
    "OperatorList",
    "catalogue",
    "drift_class",
    "drift_classes",
    "entry",
    "find",
    "known",
    "nearest",
    "operator_lists",
    "raised",
]
