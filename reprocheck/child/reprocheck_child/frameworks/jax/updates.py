"""Records the arguments that optax's optimizers are built with, and updates outside of `jit`."""

import functools
import inspect
from typing import Any, Dict, List, Tuple

from ...recorder.hooking import guarded, like, replace
from .fingerprint import flat

MODULES = ("alias", "transform", "clipping", "combine", "wrappers", "constraining", "schedule")


class Updates:
    """The wrappers of the functions of `optax` that build optimizers and schedules."""

    def __init__(self, jax: Any, watcher: Any) -> None:
        self.jax = jax
        self.watcher = watcher
        self.counts: Dict[str, int] = {}
        self.depth = 0

    def hook(self, optax: Any) -> None:
        """Wrap the functions of `optax` that build optimizers and schedules."""
        try:
            kind = optax.GradientTransformation
            # optax has no list of its optimizers: a function that builds one is known by where it
            # is made, `optax._src.alias` and the like
            functions = [pair for pair in vars(optax).items() if inspect.isfunction(pair[1])]
            for name, real in functions:
                package, _, module = str(real.__module__).rpartition(".")
                own = package.startswith("optax")
                if own and module.lstrip("_") in MODULES:
                    replace(optax, name, functools.partial(self._building, name, kind))
        except Exception as error:
            self.watcher.deep.unrecorded("optax", repr(error))

    def _building(self, name: str, kind: Any, real: Any) -> Any:
        def build(*args: Any, **kwargs: Any) -> Any:
            outermost, self.depth = not self.depth, self.depth + 1
            try:
                optimizer = real(*args, **kwargs)
            finally:
                self.depth -= 1
            if outermost:
                self._built(real, name, args, kwargs)
                if isinstance(optimizer, kind):
                    optimizer = optimizer._replace(update=self._updating(optimizer.update, name))
            return optimizer

        return build

    @guarded("an optimizer of optax")
    def _built(self, real: Any, name: str, args: Tuple[Any, ...], kwargs: Dict[str, Any]) -> None:
        given = dict(inspect.signature(real).bind(*args, **kwargs).arguments)
        for argument, value in list(given.items()):
            if isinstance(value, dict):  # `**kwargs`, as of `inject_hyperparams`
                del given[argument]
                given.update(value)
        numbers = [
            [str(part), self.watcher.number(one)]
            for part, one in given.items()
            if self._is_number(one)
        ]
        if numbers:
            count = self.counts[name] = self.counts.get(name, -1) + 1
            place, line = "optax.%s[%d]" % (name, count), self.watcher.deep.source(2)
            self.watcher.say("hyper", place, call=False, out=numbers, l=line)

    def _is_number(self, value: Any) -> bool:
        if isinstance(value, (int, float)):
            return True
        if self.watcher.tracer(value) or not self.watcher.prints.is_array(value):
            return False
        return not getattr(value, "ndim", 0)

    def _updating(self, real: Any, name: str) -> Any:
        def update(updates: Any, state: Any, *args: Any, **kwargs: Any) -> Any:
            outermost, self.depth = not self.depth, self.depth + 1
            try:
                if outermost:
                    state = self._held(state, name)
                    self._before(updates, state, name)
                returned = real(updates, state, *args, **kwargs)
            finally:
                self.depth -= 1
            if outermost:
                self._after(returned[1], name)
            return returned

        return like(update, real)

    def _concrete(self, leaves: List[Tuple[Any, Any]]) -> bool:
        return bool(leaves) and not any(self.watcher.tracer(leaf) for _, leaf in leaves)

    def _held(self, state: Any, name: str) -> Any:
        """Return the state to pass to the optimizer `name`.

        The first state after a stop and resume is recorded.
        """
        if not self.watcher.owes_state:
            return state
        with guarded("the state of an optimizer"):
            leaves = flat(self.jax, state)
            if self._concrete(leaves):
                named = [(self._place(name, path), leaf) for path, leaf in leaves]
                return self.watcher.hold_state(state, named, [True] * len(named))
        return state

    @guarded("before an update of optax")
    def _before(self, updates: Any, state: Any, name: str) -> None:
        """Record the gradients that the optimizer is given, and its hyper-parameters.

        Gradients have the names of their weights.
        """
        leaves, carried = flat(self.jax, updates), flat(self.jax, state)
        if not self._concrete([*leaves, *carried]):
            return
        prints, evaluation = self.watcher.prints, self.watcher.current
        known = [] if evaluation is None else evaluation.weights
        weights = [weight for weight, _ in known]
        if len(weights) != len(leaves):
            # updates of other weights than those that were differentiated
            weights = ["gradient" + self.jax.tree_util.keystr(path) for path, _ in leaves]
        hyper = [
            [
                str(getattr(path[-1], "key", getattr(path[-1], "name", path[-1]))),
                self.watcher.number(leaf),
            ]
            for path, leaf in carried
            if "hyperparams" in self.jax.tree_util.keystr(path)
        ]
        if hyper:
            self.watcher.say("hyper", "optax." + name, out=hyper)
        for weight, (_, leaf) in reversed(list(zip(weights, leaves))):
            self.watcher.say("reduced", weight, out=[["", prints.of(leaf)]])

    @guarded("after an update of optax")
    def _after(self, state: Any, name: str) -> None:
        leaves = flat(self.jax, state)
        if not self._concrete(leaves):  # inside a program that is being traced
            return
        for path, leaf in leaves:
            place = self._place(name, path)
            self.watcher.say("update", place, out=[["", self.watcher.prints.of(leaf)]])

    def _place(self, name: str, path: Tuple[Any, ...]) -> str:
        """Return the name of a leaf of the state of an optimizer."""
        return "optax." + name + ":" + str(self.jax.tree_util.keystr(path))
