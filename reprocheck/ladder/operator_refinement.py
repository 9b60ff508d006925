"""What the operators say of the first difference, where they were recorded."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from reprocheck.ladder import operators
from reprocheck.ladder.finding import Finding
from reprocheck.ladder.pair import Pair
from reprocheck.ladder.rank import read_pairs
from reprocheck.model import Check, DeeperPair
from reprocheck.model.evidence import CallDiffers, Evidence, Generators, StateDiffers
from reprocheck.model.statements.operators import Refined

_BACKWARD = {"RNG state": False, "forward": False, "loss": False, "gradient": True, "update": None}
"""Rungs that operators refine -> whether by those of the backward pass; None: by any."""


def refined(check: Check, folder: Path, first: Finding, pair: Pair) -> Finding:
    """Return the first difference, with the first operator that differs; `pair` is that of its
    rank.
    """
    if first.rung not in _BACKWARD:
        return first
    deeper = next((one for one in check.record.deeper if one.level == "op"), None)
    if deeper is None:
        return first
    recorded = _with_operators(deeper, folder, pair)
    if recorded is None:
        return first
    # what made the weights differ that these runs began with came before
    differ_before = any(one.rung == "initial weights" for one in recorded.differences)
    if deeper.begin > 1 and differ_before:
        refined = Refined(difference=first.statement, operator="differ before")
        return replace(first, statement=refined)
    operator = operators.first_operator(recorded, backward=_BACKWARD[first.rung])
    if operator is None:
        refined = Refined(difference=first.statement, operator="none differs")
        return replace(first, statement=refined)
    statement = operator.statement
    in_same = statement.fact.iteration == first.iteration
    return replace(
        first,
        statement=Refined(
            difference=first.statement,
            operator=statement,
            elsewhere=None if in_same else statement.fact.iteration,
        ),
        source=operator.source or first.source,
        evidence=_with_draws(first.evidence, operator.generators),
        operator=statement.evidence,
        operation=operator.itself,
        operations=_with_node(first, statement.node),
    )


def _with_operators(deeper: DeeperPair, folder: Path, pair: Pair) -> Pair | None:
    """Return the traces of a rank that hold operators; None where none do."""
    if pair.operators:
        return pair
    pairs = read_pairs(folder, deeper)
    if pair.rank not in pairs.ranks:
        return None
    with_operators = pairs.read(pair.rank)
    if not with_operators.operators:
        return None
    return with_operators


def _with_draws(evidence: Evidence, drawn: Generators) -> Evidence:
    """Return the evidence of a module, with the generators that the operator inside it draws from.

    The seeds stay those of the runs that named the module: arguments are compared with them.
    """
    if not drawn.drawn:
        return evidence
    if isinstance(evidence, StateDiffers):
        return replace(evidence, generators=evidence.generators.of(drawn.names))
    if isinstance(evidence, CallDiffers):
        return replace(evidence, generators=drawn)
    return evidence


def _with_node(first: Finding, node: str) -> tuple[str, ...]:
    """Return the operations that can have made the difference: the node of the operator before
    those of the modules, and in place of the one that the loss is taken by.
    """
    if not node:
        return first.operations
    if first.rung == "loss":
        return (node,)
    return (node, *first.operations)
