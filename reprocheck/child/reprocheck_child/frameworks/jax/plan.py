"""Finds which leaves of a compiled function's arguments are weights, states, keys and batch.

It also finds where they stand in its results.
"""

from typing import Any, Dict, List, Sequence, Tuple

from .evaluation import Argument, Evaluation

Leaf = Tuple[str, Any]
HYPER = "hyperparams["
"""How `optax.inject_hyperparams` calls what it carries in the state of an optimizer."""


class Plan:
    """The result of tracing a function for arguments of given shapes and dtypes.

    A place is the index of a leaf among the arguments or results.
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
        """Return places of carried arguments (weights, states) and of the results they come from.

        They are those observed in a call, else the likely ones.
        """
        return self.carried if self.sure and self.carried else self.likely


def arranged(evaluation: Evaluation, arguments: Sequence[Argument], plan: Plan) -> None:
    """Sort the arguments of a call into weights, states, batch and hyper-parameters."""
    carried = plan.kept()
    evaluation.arguments = arguments
    for place, argument in enumerate(arguments):
        name = plan.weights.get(place)
        argument.weight, argument.carried = name is not None, place in carried
        if name is not None:
            evaluation.weights.append((name, argument.found))
            evaluation.lines[name] = argument.line
        elif argument.kind in _TAKES:
            take = _as_carried if place in carried else _TAKES[argument.kind]
            take(evaluation, argument)


def _as_carried(evaluation: Evaluation, argument: Argument) -> None:
    if argument.kind == "number" and HYPER in argument.name:
        evaluation.hyper.append([argument.name.rpartition(HYPER)[2].strip("']"), argument.found])
        return
    evaluation.states.append((argument.name, argument.found))
    evaluation.lines[argument.name] = argument.line
    evaluation.kinds[argument.name] = argument.state


def _as_number(evaluation: Evaluation, argument: Argument) -> None:
    evaluation.hyper.append([argument.name, argument.found])


def _as_batch(evaluation: Evaluation, argument: Argument) -> None:
    evaluation.batch.append([argument.name, argument.found])
    evaluation.rows += argument.rows


_TAKES = {"number": _as_number, "array": _as_batch}
"""Where an argument belongs by its kind. Keys are told of on their own."""


def found_in(
    plan: Plan,
    inputs: List[Leaf],
    results: List[Any],
    held: List[Tuple[List[Leaf], List[Any], Any]],
) -> None:
    """Add the places of weights, gradients and values of traced differentiations to a plan.

    held  of each differentiation: its weights with their names, its gradients and its value

    A weight is the differentiated argument itself; if the differentiation stands inside another
    program (`scan`, `shard_map`), it is an argument of the same shape and dtype.
    """
    places = {id(leaf): place for place, (_, leaf) in reversed(list(enumerate(inputs)))}
    out = {id(leaf): place for place, leaf in reversed(list(enumerate(results)))}
    for weights, gradients, value in held:
        positions = [places.get(id(leaf)) for _, leaf in weights]
        # inside `scan` and `shard_map` the weights are other tracers than the arguments
        if None in positions:
            positions = list(_run(_leaves(inputs), _leaves(weights)))
        names = [name for name, _ in weights]
        plan.weights.update(
            (place, name) for place, name in zip(positions, names) if place is not None
        )
        if len(weights) == len(gradients):
            pairs = zip(map(id, gradients), names)
            plan.gradients.update((out[leaf], name) for leaf, name in pairs if leaf in out)
        if id(value) in out:
            plan.losses.append(out[id(value)])


def likely(inputs: List[Leaf], results: List[Any], plan: Plan) -> Dict[int, int]:
    """Return places in arguments and results with the same shapes, argument by argument.

    An argument of scalars alone is left out, because it fits nearly any result.
    """
    free = list(results)
    for place in (*plan.gradients, *plan.losses):
        free[place] = None
    groups: Dict[str, List[int]] = {}
    for place, (name, _) in enumerate(inputs):
        argument = name.partition("[")[0].partition(".")[0]
        groups.setdefault(argument, []).append(place)
    pairs: Dict[int, int] = {}
    for places in groups.values():
        wanted = [inputs[place][1] for place in places]
        # scalars alone fit nearly anywhere
        if any(getattr(leaf, "ndim", 0) for leaf in wanted):
            for place, result in zip(places, _run(free, wanted)):
                pairs[place] = result
                free[result] = None
    return pairs


def _leaves(named: Sequence[Leaf]) -> List[Any]:
    return [leaf for _, leaf in named]


def _run(leaves: Sequence[Any], wanted: Sequence[Any]) -> range:
    """Return the first range of `leaves` with shapes and dtypes of `wanted`; empty if none."""
    forms, those = list(map(_form, leaves)), list(map(_form, wanted))
    for start in range(len(forms) - len(those) + 1):
        run = range(start, start + len(those))
        if forms[run.start : run.stop] == those:
            return run
    return range(0)


def _form(leaf: Any) -> Any:
    if leaf is None:
        return None
    return getattr(leaf, "shape", ()), str(getattr(leaf, "dtype", type(leaf).__name__))
