"""Records the state of a training with Keras where it was stopped or goes on.

That is weights, the variables of each optimizer, loss scales.
"""

import weakref
from typing import Any, Dict, Iterator, List, Tuple

from ...host.state_io import NOT_GIVEN, Unsettable, Variables, renamed, same
from ...host.tensors import array, concrete
from ...host.variables import has_value
from ...recorder.hooking import around, guarded
from ...resume.restored_values import GENERATORS, OPTIMIZER, SCHEDULES, WEIGHTS

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


class Held:
    """The writer of `held` facts, one for each weight, optimizer variable and loss scale."""

    def __init__(self, watcher: Any) -> None:
        self.watcher = watcher
        self.facts = watcher.facts
        self.deep = watcher.deep
        self.values: Any = getattr(self.deep.boundary, "values", None)
        """Keeps what is held as values, or puts that back, where that is asked for."""
        self.optimizer: Any = None
        """That of the trainer whose batch begins; one that scales the loss holds another one."""
        self._unbuilt: weakref.WeakSet[Any] = weakref.WeakSet()
        """Optimizers that get their variables with their first update, and with them what
        `tf.train.Checkpoint` has for them: they are written then.
        """

    def watch(self) -> None:
        """Register to be called at each boundary."""
        # private: what `apply` calls once it has built the optimizer and before it updates anything
        from keras.src.optimizers.base_optimizer import BaseOptimizer

        self.deep.boundary.held.append(self.write)
        about = "the first update of an optimizer of keras"
        around(BaseOptimizer, "_backend_apply_gradients", about, before=self._about_to_update)
        if self.values is not None:
            install(self)

    def callbacks(self) -> List[Any]:
        """Return callbacks that `fit` is to call after the callbacks of the script."""
        if self.values is None:
            return []
        kind = self.watcher.keras.callbacks.LambdaCallback
        return [kind(on_train_batch_begin=lambda *_, **__: rates_before_batch(self))]

    def write(self) -> None:
        """Write weights, optimizer variables and loss scales as `held` facts."""
        for name, weight in self.weights():
            self._write(name, weight, b=not getattr(weight, "trainable", True))
        for index, optimizer in self.optimizers():
            self._write_states(index, optimizer)
        for number, scaler in enumerate(self.scaling()):
            out = [[name, self.facts.prints.of(value)] for name, value in _scale(scaler)]
            place = "%s[%d]" % (type(scaler).__name__, number)
            if out:
                self.deep.seen("held", place, call=False, out=out, k="schedule")
        known = self.watcher.updates.optimizers()
        self._unbuilt = weakref.WeakSet(value for value in known if not value.built)

    def _write_states(self, index: int, optimizer: Any) -> None:
        for name, variable in self.variables(optimizer):
            self._write(name, variable, o=index)

    def _about_to_update(self, optimizer: Any, *_: Any) -> None:
        if optimizer not in self._unbuilt:
            return
        graphs = self.watcher.graphs
        if graphs is None or graphs.tensorflow.executing_eagerly() or graphs.in_xla():
            self._unbuilt.discard(optimizer)
            self._write_states(self.watcher.updates.index_of(optimizer), optimizer)
        else:
            # the variables have no values before the function runs, and one that makes
            # variables is traced once more
            index = self.watcher.updates.index_of(optimizer)
            named = self.variables(optimizer)

            def arrived(*values: Any) -> None:
                if optimizer in self._unbuilt:
                    self._unbuilt.discard(optimizer)
                    for (name, _), value in zip(named, values):
                        self._write(name, value, o=index)

            graphs.stream(
                arrived, [graphs.tensorflow.convert_to_tensor(variable) for _, variable in named]
            )

    def weights(self) -> List[Tuple[str, Any]]:
        """Return the weights that have a value; none on PyTorch, whose own adapter writes them."""
        if self.watcher.backend == "torch":
            return []
        known = [(name, weight) for weight, name in self.facts.names.values()]
        return [pair for pair in known if concrete(pair[1]) and has_value(pair[1])]

    def _write(self, place: str, value: Any, **keys: Any) -> None:
        out = [["", self.facts.prints.of(value)]]
        self.deep.seen("held", place, call=False, out=out, **keys)

    def optimizers(self) -> Iterator[Tuple[int, Any]]:
        """Yield the optimizers that have weights, and the trainer's, which may have none yet."""
        own = getattr(self.optimizer, "inner_optimizer", self.optimizer)
        for index, optimizer in self.known():
            if optimizer.built or optimizer is own:
                yield index, optimizer

    def known(self) -> List[Tuple[int, Any]]:
        """Return all optimizers except those that only scale the loss for another optimizer."""
        known = list(self.watcher.updates.optimizers().items())
        return [
            (index, optimizer)
            for optimizer, index in known
            if not hasattr(optimizer, "inner_optimizer")
        ]

    def scaling(self) -> List[Any]:
        """Return the optimizers that scale the loss for another one."""
        known = list(self.watcher.updates.optimizers())
        return [optimizer for optimizer in known if hasattr(optimizer, "inner_optimizer")]

    def outermost(self, optimizer: Any) -> Any:
        """Return the optimizer that scales the loss for this one; itself if none does."""
        around_it = (scaler for scaler in self.scaling() if scaler.inner_optimizer is optimizer)
        return next(around_it, optimizer)

    def variables(self, optimizer: Any) -> List[Tuple[str, Any]]:
        """Return (name, variable): `dense.kernel:momentum`, or `iteration` (of no weight)."""
        named = self.watcher.updates.states(optimizer) if optimizer.built else []
        states = [(name, state) for name, state in named if ":" in name]
        known = {id(state) for _, state in states}
        others = [
            (str(variable.name), variable)
            for variable in optimizer.variables
            if id(variable) not in known and str(variable.name) != "learning_rate"
        ]
        return states + others

    def scales(self) -> List[Tuple[str, Any]]:
        """Return the variables that decide the next scale of each loss, such as a step count."""
        return [pair for optimizer in self.scaling() for pair in _scale(optimizer)]


def _scale(optimizer: Any) -> List[Tuple[str, Any]]:
    # what decides the next scale of a loss, as `LossScaleOptimizer` names it
    values = [(name, getattr(optimizer, name, None)) for name in ("step_counter", "dynamic_scale")]
    return [pair for pair in values if pair[1] is not None]
