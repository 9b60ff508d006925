"""Reads the values of a training with Keras, and restores them by `assign` of its variables.

The continued run reads the values, the resumed run restores them.

Learning rates are restored before each batch of `fit`, after the script's callbacks, because a
callback that counts by itself sets the rate again.
"""

from typing import Any, Dict, Iterator, List, Tuple

from ...host.state_io import NOT_GIVEN, Unsettable, Variables, renamed, same
from ...host.tensors import array
from ...recorder.hooking import guarded
from ...resume.state_holders import GENERATORS, OPTIMIZER, SCHEDULES, WEIGHTS

NO_STATE = (
    "TensorFlow's global generator has no state that can be set: operators that were built keep"
    " their own"
)

NO_VARIABLES = "a compiled function builds the optimizer: it has no variables before its first step"


def install(held: Any) -> None:
    """Read and restore what `held` knows of."""
    values, generators = held.values, held.watcher.private
    values.by_step[SCHEDULES] = NOT_GIVEN
    values.holders += [
        Variables(WEIGHTS, held.weights, array, _assign),
        _States(held),
        Variables(SCHEDULES, lambda: [*_rates(held), *held.scales()], array, _assign),
        Variables(GENERATORS, lambda: _seeds(generators), array, _assign),
        _Global("tensorflow", NO_STATE, values),
    ]


def _assign(variable: Any, value: Any) -> None:
    variable.assign(value)


def _rates(held: Any) -> Iterator[Tuple[str, Any]]:
    """Yield (name, variable) of the learning rate of each optimizer that keeps it in a variable."""
    for number, (_, optimizer) in enumerate(held.optimizers()):
        # private: the public `learning_rate` of a schedule is its present value
        rate = getattr(optimizer, "_learning_rate", None)
        if hasattr(rate, "assign"):
            yield "learning_rate of %s[%d]" % (type(optimizer).__name__, number), rate


def _seeds(private: Dict[str, Any]) -> Iterator[Tuple[str, Any]]:
    """Yield the states of the seed generators of layers."""
    for name, known in list(private.items()):
        generator = known.reference()
        if generator is not None:
            yield name, generator.state


@guarded("the rates of a batch")
def rates_before_batch(held: Any) -> None:
    """Restore learning rates before a batch of `fit`, after all callbacks were called."""
    variables = Variables(SCHEDULES, lambda: _rates(held), array, _assign)
    rates = held.values.step(SCHEDULES, (SCHEDULES,), variables.take)
    if rates is not None:
        held.values.acted(SCHEDULES, variables.put(rates))


class _Global(Unsettable):
    """TensorFlow's global generator; its state does not matter if nothing drew from it."""

    def put(self, values: Dict[str, Any]) -> List[str]:
        states = [*values.values(), *self.take().values()]
        drawn = [state for state in states if state and not state.endswith(b" 0")]
        return super().put(values) if drawn else []


class _States:
    """The variables of optimizers, except their learning rates.

    An optimizer without variables is built first, as its first update would build it.
    """

    rung = OPTIMIZER

    def __init__(self, held: Any) -> None:
        self.held = held

    def take(self) -> List[Any]:
        """Return, for each built optimizer, the names of its weights and its variables' values.

        The names are in the optimizer's order.
        """
        states = []
        for _, optimizer in self.held.optimizers():
            if optimizer.built:
                names = [self.held.facts.name(weight) for weight in optimizer._trainable_variables]
                values = [array(variable) for _, variable in self.held.variables(optimizer)]
                states.append((names, values))
        return states

    def put(self, states: List[Any]) -> List[str]:
        """Assign the kept values; a newly built optimizer had no values before."""
        changed: List[str] = []
        for (_, optimizer), (weights, values) in zip(self.held.known(), states):
            new = not optimizer.built and self._built(optimizer, weights)
            if not optimizer.built:
                self.held.values.unavailable(OPTIMIZER, NO_VARIABLES)
                continue
            variables = self.held.variables(optimizer)
            for (name, variable), value in zip(variables, values):
                if new or not same(array(variable), value):
                    variable.assign(value)
                    changed.append(name)
        return changed

    def _built(self, optimizer: Any, names: List[str]) -> bool:
        """Build an optimizer for the weights of these names; return whether all names are known."""
        known = {name: weight for weight, name in self.held.facts.names.values()}
        others = {kept_name: name for name, kept_name in renamed(names, list(known)).items()}
        places = [others.get(name, name) for name in names]
        if not places or not known.keys() >= {*places}:
            return False
        self.held.outermost(optimizer).build([known[place] for place in places])
        return bool(optimizer.built)
