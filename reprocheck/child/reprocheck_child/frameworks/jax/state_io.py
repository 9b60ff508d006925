"""Keeps the arguments of JAX's training steps, and gives them to the steps of a resumed run.

A JAX array cannot be written to, so the arguments of the step are replaced instead. That is enough,
because a step returns new weights and a new optimizer state, and an update of optax a new optimizer
state.
"""

from typing import Any, Dict, Sequence, Tuple

from ...host.state_io import NOT_GIVEN
from ...recorder.hooking import guarded
from ...resume.restored_values import BATCH, GENERATORS, OPTIMIZER, SCHEDULES, WEIGHTS
from .evaluation import OF_OPTIMIZER, Argument, Evaluation, Leaf, Unkept, Values
from .plan import HYPER

REASONS = {
    **dict.fromkeys((OPTIMIZER, SCHEDULES, GENERATORS, BATCH), NOT_GIVEN),
    WEIGHTS: "the script updates weights outside of a compiled step: it holds them itself, and"
    " nothing can give them other values",
}
"""Rungs, and what is said where no step was given anything of them."""
_KINDS = {bool: "b", int: "i", float: "f"}
"""Of Python's numbers: what numpy calls the kind of a type."""
_ARGUMENTS, _STATE = "arguments", "state of optax"


class Arguments(Unkept):
    """The kept arguments of steps, and optimizer states of updates outside of the steps."""

    def __init__(self, jax: Any, watcher: Any, values: Any) -> None:
        super().__init__(jax)
        self.numpy = jax.numpy
        self.watcher = watcher
        self.values = values
        self.steps = 0  # of the resumed run, so far
        self._due: Any = None
        """What the next step is to be given: the name of its function, the forms of its arguments,
        and values by rung and name.
        """
        values.by_step.update(REASONS)

    def read(self, leaves: Sequence[Leaf]) -> Values:
        """Return copies of the argument leaves by name, before a call that may destroy them."""
        return {name: self._host(leaf) for name, leaf in leaves}

    @guarded("keeping the arguments of a step")
    def keep(self, evaluation: Evaluation) -> None:
        """Keep the arguments of a step once it is known which are weights, states and batch."""
        if self.values.puts:
            return
        given = evaluation.given
        by_rung: Dict[str, Values] = {}
        for argument in evaluation.arguments:
            if evaluation.marked or not argument.carried:
                by_rung.setdefault(_rung(argument), {})[argument.name] = given[argument.name]
        step = evaluation.name, _forms(given), by_rung
        self.values.step(_ARGUMENTS, REASONS, lambda: step)

    def instead(self, title: str, given: Any, leaves: Sequence[Leaf]) -> Any:
        """Return (args, kwargs) to pass to a function; replaced if the call is a step."""
        with guarded("the arguments of a step"):
            if self.values.puts:
                return self.replaced(given, leaves, self._of_step(title, dict(leaves)))
        return given

    def _of_step(self, title: str, given: Values) -> Values:
        """Return values that replace leaves by name; {} if the call is not the step that is due."""
        self._due = self._due or self.values.step(_ARGUMENTS, REASONS, dict)
        if self._due is None or self._due[:2] != (title, _forms(self.read([*given.items()]))):
            return {}
        (_, _, by_rung), self._due = self._due, None
        self.steps += 1
        replacements: Values = {}
        for rung in by_rung.keys() & self.values.rungs:
            replacements.update(self._made(rung, by_rung[rung], given))
        return replacements

    @guarded("the state of an optimizer", otherwise={})
    def state(self, leaves: Sequence[Leaf]) -> Values:
        """Return what replaces the leaves of an optimizer's state in an update outside of the step.

        Only the first such state after a stop and resume is replaced.
        """
        given = dict(leaves)
        values = self.values.step(_STATE, (OPTIMIZER,), lambda: self.read(leaves)) or {}
        if _forms(values) != _forms(self.read(leaves)):
            return {}
        return self._made(OPTIMIZER, values, given)

    def _made(self, rung: str, values: Values, given: Values) -> Values:
        """Return the kept values that differ, each in the form of the leaf that it replaces."""
        changed = [name for name in values if _bits(values[name]) != _bits(self._host(given[name]))]
        names = {BATCH: ["batch %d" % self.steps] * bool(changed)}
        self.values.acted(rung, names.get(rung, changed))
        return {name: self._like(values[name], given[name]) for name in changed}

    def _host(self, leaf: Any) -> Any:
        """Return a leaf as a numpy array; a number as it is."""
        prints = self.watcher.prints
        return prints.array(leaf).copy() if prints.is_array(leaf) else leaf

    def _like(self, value: Any, leaf: Any) -> Any:
        if type(leaf) in _KINDS:
            return type(leaf)(value)
        if not isinstance(leaf, self.jax.Array):
            return value
        if self.watcher.prints.is_key(leaf):
            random = self.jax.random
            return random.wrap_key_data(self.numpy.asarray(value), impl=random.key_impl(leaf))
        if getattr(leaf, "committed", True):
            return self.jax.device_put(value, leaf.sharding)
        return self.numpy.asarray(value)


def _rung(argument: Argument) -> str:
    """Return the kind (rung) of an argument, such as batch; "" if it cannot be replaced."""
    if argument.weight:
        return WEIGHTS * argument.carried
    if not argument.carried or argument.kind == "key" or HYPER in argument.name:
        return {"key": GENERATORS, "number": SCHEDULES, "array": BATCH}.get(argument.kind, "")
    return OPTIMIZER if argument.state is OF_OPTIMIZER else WEIGHTS


def _forms(values: Values) -> Dict[str, Tuple[str, Any]]:
    """Return shape and dtype of each value by name."""
    return {name: _form(value) for name, value in values.items()}


def _form(value: Any) -> Tuple[str, Any]:
    """Return shape and dtype of a leaf; a number has the same form as an array of one number.

    A step may count in an array what was first a Python number, or was restored as one.
    """
    if getattr(value, "shape", ()):
        return str(value.dtype), value.shape
    kind = _KINDS.get(type(value), type(value).__name__)
    return getattr(getattr(value, "dtype", None), "kind", kind), ()


def _bits(value: Any) -> Any:
    if getattr(value, "shape", ()):
        return value.tobytes()
    return repr(getattr(value, "item", lambda: value)())
