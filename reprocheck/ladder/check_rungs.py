"""The rungs that the check itself shows, without deeper runs: its environment, and losses after the
last deeply recorded iteration.
"""

from __future__ import annotations

from itertools import chain
from operator import attrgetter

from reprocheck.ladder.agreeing import BY_RECORD
from reprocheck.ladder.drift import classes, of_libraries
from reprocheck.ladder.external_inputs import rank_by_rank
from reprocheck.model import Check, DeeperPair, Rung
from reprocheck.model.statements.inputs import OtherEnvironment
from reprocheck.model.statements.ladder import LaterLosses


def environment(check: Check) -> Rung:
    """Return the rung of the environment: what differs in run 2, else in a later run."""
    differences = of_libraries(check.environment_differences)
    different = [one for one in differences if one.run == 2] or differences
    if check.record.compared:
        # source has a rung of its own
        others = [group for group in classes(different) if group.name != "source"]
        acting = (group.differences for group in others if group.expects != "nothing")
        different = list(chain.from_iterable(acting))
    if not different:
        known = any(map(attrgetter("environment"), check.runs))
        return Rung(rung="environment", status=BY_RECORD[known])
    return Rung(
        rung="environment",
        status="differs",
        place=different[0].key,
        statement=OtherEnvironment(differences=tuple(different)),
    )


def later(check: Check, deeper: DeeperPair, *, only_here: bool) -> Rung:
    """Return the rung of losses after the last deeply recorded iteration, by the first two runs.

    `only_here` says that nothing differs up to that iteration.
    """
    recorded, unequal = False, None
    pairs = rank_by_rank(*check.runs[:2]) if len(check.runs) > 1 else ()
    for one, other in pairs:
        losses, others = one.losses, other.losses
        for iteration in range(deeper.iterations + 1, min(len(losses), len(others)) + 1):
            recorded = True
            if losses.losses(iteration).tobytes() != others.losses(iteration).tobytes():
                unequal = iteration if unequal is None else min(unequal, iteration)
                break
    if unequal is None:
        return Rung(rung="later", status=BY_RECORD[recorded])
    return Rung(
        rung="later",
        status="differs",
        iteration=unequal,
        place="loss",
        statement=LaterLosses(iteration=unequal, agreeing=deeper.iterations if only_here else None),
    )
