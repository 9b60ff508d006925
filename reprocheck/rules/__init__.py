"""The catalogue of causes and what is known of operators: data with their sources. May import model and errors only."""

from __future__ import annotations

from reprocheck.rules.catalogue import Entry, catalogue, entry, find, nearest
from reprocheck.rules.operators import Operator, OperatorList, known, operator_lists, raised

__all__ = ["Entry", "Operator", "OperatorList", "catalogue", "entry", "find", "known", "nearest", "operator_lists", "raised"]
