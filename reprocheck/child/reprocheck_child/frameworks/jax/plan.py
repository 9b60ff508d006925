"""Which leaves of the arguments of a compiled function are weights, states, keys and batch, and
where they stand in its results.
"""

from typing import Any, Dict, List, Optional, Sequence, Tuple

from .evaluation import Evaluation, Fingerprint, Rows

Leaf = Tuple[str, Any]
_HYPER = "hyperparams["
"""How `optax.inject_hyperparams` calls what it carries in the state of an optimizer."""


class Plan:
    """What the tracing of a function for arguments of one form has shown.

    Places are those of leaves of arguments and results.
    """

    def __init__(self) -> None:
        self.weights: Dict[int, str] = {}
        self.gradients: Dict[int, str] = {}
        self.losses: List[int] = []
        self.carried: Dict[int, int] = {}
        """Place in the arguments -> place in the results that comes there at the next call."""
        self.likely: Dict[int, int] = {}
        """The same by form alone, for a function that is called once."""
        self.sure = False
        """Whether a second call has shown what is carried."""

    def kept(self) -> Dict[int, int]:
        """What is carried, as far as it is known."""
        return self.carried if self.sure and self.carried else self.likely


class Argument:
    """A leaf of the arguments of a call: `kind` is `key`, `array`, `number` or "" for what is none
    of them.
    """

    def __init__(
        self, name: str, kind: str, found: Fingerprint, rows: Optional[Rows] = None
    ) -> None:
        self.name, self.kind, self.found, self.rows = name, kind, found, rows
        self.line = ""


def arranged(evaluation: Evaluation, arguments: Sequence[Argument], plan: Plan) -> None:
    """Put the arguments of a call where they belong."""
    kept = plan.kept()
    for place, one in enumerate(arguments):
        if place in plan.weights:
            evaluation.weights.append((plan.weights[place], one.found))
            evaluation.lines[plan.weights[place]] = one.line
        elif one.kind == "key" or not one.kind:
            continue
        elif place in kept:
            if _HYPER in one.name and one.kind == "number":
                evaluation.hyper.append([one.name.rpartition(_HYPER)[2].strip("']"), one.found])
            else:
                evaluation.states.append((one.name, one.found))
                evaluation.lines[one.name] = one.line
        elif one.kind == "number":
            evaluation.hyper.append([one.name, one.found])
        else:
            evaluation.batch.append([one.name, one.found])
            evaluation.rows += [one.rows] if one.rows is not None else []


def found_in(
    plan: Plan,
    inputs: List[Leaf],
    results: List[Any],
    held: List[Tuple[List[Leaf], List[Any], Any]],
) -> None:
    """Places of weights, gradients and values of the differentiations that were traced.

    A weight is the very argument; where the differentiation stands inside another program (`scan`,
    `shard_map`), arguments of its form.
    """
    places = {id(leaf): place for place, (_, leaf) in reversed(list(enumerate(inputs)))}
    out = {id(leaf): place for place, leaf in reversed(list(enumerate(results)))}
    for weights, gradients, value in held:
        found = [places.get(id(leaf)) for _, leaf in weights]
        if None in found:
            start = _run([leaf for _, leaf in inputs], [leaf for _, leaf in weights])
            found = [] if start is None else list(range(start, start + len(weights)))
        plan.weights.update(
            (place, name) for place, (name, _) in zip(found, weights) if place is not None
        )
        if len(weights) == len(gradients):
            plan.gradients.update(
                (out[id(leaf)], name)
                for (name, _), leaf in zip(weights, gradients)
                if id(leaf) in out
            )
        plan.losses += [out[id(value)]] if id(value) in out else []


def likely(inputs: List[Leaf], results: List[Any], plan: Plan) -> Dict[int, int]:
    """Places in the arguments and in the results that have the same form, argument by argument;
    scalars alone prove nothing.
    """
    taken = {*plan.gradients, *plan.losses}
    free = [None if place in taken else leaf for place, leaf in enumerate(results)]
    groups: Dict[str, List[int]] = {}
    for place, (name, _) in enumerate(inputs):
        groups.setdefault(name.partition("[")[0].partition(".")[0], []).append(place)
    found: Dict[int, int] = {}
    for places in groups.values():
        wanted = [inputs[place][1] for place in places]
        start = _run(free, wanted) if any(getattr(leaf, "ndim", 0) for leaf in wanted) else None
        if start is not None:
            for offset, place in enumerate(places):
                found[place] = start + offset
                free[start + offset] = None
    return found


def _run(leaves: Sequence[Any], wanted: Sequence[Any]) -> Optional[int]:
    """Where leaves of the forms of `wanted` first follow each other."""
    forms, those = [_form(leaf) for leaf in leaves], [_form(leaf) for leaf in wanted]
    return next(
        (
            start
            for start in range(len(forms) - len(those) + 1)
            if forms[start : start + len(those)] == those
        ),
        None,
    )


def _form(leaf: Any) -> Any:
    return (
        None
        if leaf is None
        else (getattr(leaf, "shape", ()), str(getattr(leaf, "dtype", type(leaf).__name__)))
    )
