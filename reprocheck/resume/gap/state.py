"""Weights and schedules where the training goes on, against those after update k."""

from __future__ import annotations

from reprocheck.resume.gap.evidence import AverageGap, ScheduleGap, WeightsGap
from reprocheck.resume.gap.sides import Side
from reprocheck.resume.gap.training_state import Facts, Held, agrees, compared, unequal_leaves
from reprocheck.trace.deep import Leaf, Seen


def weights(was: Held, now: Held, continued: Side, resumed: Side) -> WeightsGap | None:
    """Return the weights and buffers that are not those after update k; None where all agree."""
    found = compared(was.weights, now.weights)
    if not found.unequal:
        return None
    initial = continued.initial
    known = [name for name in found.unequal if name in initial]
    loads = list(resumed.before("load"))
    return WeightsGap(
        names=found.unequal,
        initial=tuple(name for name in known if agrees(initial[name], now.weights[name])),
        equal=sum(not now.weights[name].buffer for name in found.equal),
        loaded=tuple(dict.fromkeys(load.place for load in loads)),
        missing=tuple(filter(None, map(_missing, loads))),
    )


def schedule(was: Held, now: Held) -> ScheduleGap | AverageGap | None:
    """Return the first value of a scheduler, a scaler or an optimizer's groups that differs, or the
    averages of weights that do; None where all agree.
    """
    first = _first(was.schedules, now.schedules) or _first(was.rates, now.rates)
    averages = compared(was.averages, now.averages).unequal
    return first or (AverageGap(names=averages) if averages else None)


def _first(was: Facts, now: Facts) -> ScheduleGap | None:
    unequal = compared(was, now).unequal
    for place in unequal:
        path, leaf, other = unequal_leaves(was[place], now[place])[0]
        return ScheduleGap(
            place=place,
            name=path,
            values=_values(leaf, other),
            optimizer=was[place].optimizer,
            others=unequal[1:],
        )
    return None


def _values(leaf: Leaf, other: Leaf) -> tuple[object, object] | None:
    values = leaf.value, other.value
    if all(isinstance(value, (bool, int, float, str)) for value in values):
        return values
    return None


def _missing(load: Seen) -> str:
    """Return the keys that a module did not find in what it was given."""
    text = dict(load.inputs).get("missing")
    if text is None or not isinstance(text.value, str):
        return ""
    return text.value
