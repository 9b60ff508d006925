"""Refine the first difference by the operators, if they were recorded."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from reprocheck.ladder import operators
from reprocheck.ladder.finding import Finding
from reprocheck.ladder.pair import Pair
from reprocheck.ladder.rank import read_pairs
from reprocheck.model import Check
from reprocheck.model.evidence import CallDiffers, StateDiffers
from reprocheck.model.statements.training import Refined

_BACKWARD = {"RNG state": False, "forward": False, "loss": False, "gradient": True, "update": None}
"""Rungs that operators refine -> whether by those of the backward pass; None: by any."""


def refined(check: Check, folder: Path, first: Finding, pair: Pair) -> Finding:
    """Return the first difference with the first operator that differs.

    `pair` holds the traces of the rank of the first difference.
    """
    if first.rung not in _BACKWARD:
        return first
    deeper = next((one for one in check.record.deeper if one.level == "op"), None)
    if deeper is None:
        return first
    recorded = pair
    if not pair.operators:
        pairs = read_pairs(folder, deeper)
        if pair.rank not in pairs.ranks:
            return first
        recorded = pairs.read(pair.rank)
    if not recorded.operators:
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
    evidence, drawn = first.evidence, operator.generators
    if drawn.drawn and isinstance(evidence, StateDiffers):
        # the seeds stay those of the runs that named the module: arguments are compared with them
        evidence = replace(evidence, generators=evidence.generators.of(drawn.names))
    elif drawn.drawn and isinstance(evidence, CallDiffers):
        evidence = replace(evidence, generators=drawn)
    operations = first.operations
    if statement.node and first.rung == "loss":
        # it stands for the one that the loss is taken by
        operations = (statement.node,)
    elif statement.node:
        operations = (statement.node, *operations)
    return replace(
        first,
        statement=Refined(
            difference=first.statement,
            operator=statement,
            elsewhere=None if in_same else statement.fact.iteration,
        ),
        source=operator.source or first.source,
        evidence=evidence,
        operator=statement.evidence,
        operation=operator.itself,
        operations=operations,
    )
