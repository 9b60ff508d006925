"""Optax: the numbers that optimizers are built with, and what they do outside of compiled
programs.
"""

import functools
import inspect
from typing import Any, Dict, List, Tuple

from ...hooking import guarded, like, replace
from .fingerprint import flat

MODULES = ("alias", "transform", "clipping", "combine", "wrappers", "constraining", "schedule")
_STATES = ":"


class Updates:
    """Wraps the functions of `optax` that build optimizers and schedules."""

    def __init__(self, jax: Any, watcher: Any) -> None:
        self.jax = jax
        self.watcher = watcher
        self.counts: Dict[str, int] = {}
        self.depth = 0

    def hook(self, optax: Any) -> None:
        """Wrap what `optax` offers under its own name."""
        try:
            kind = optax.GradientTransformation
            for name, real in list(vars(optax).items()):
                module = str(getattr(real, "__module__", ""))
                if (
                    inspect.isfunction(real)
                    and module.startswith("optax.")
                    and module.split(".")[-1].lstrip("_") in MODULES
                ):
                    replace(optax, name, functools.partial(self._building, name, kind))
        except Exception as error:
            self.watcher.deep.unrecorded("optax", repr(error))

    def _building(self, name: str, kind: Any, real: Any) -> Any:
        def build(*args: Any, **kwargs: Any) -> Any:
            outermost, self.depth = not self.depth, self.depth + 1
            try:
                made = real(*args, **kwargs)
            finally:
                self.depth -= 1
            if outermost:
                self._built(real, name, args, kwargs)
                if isinstance(made, kind):
                    made = made._replace(update=self._updating(made.update, name))
            return made

        return build

    @guarded("an optimizer of optax")
    def _built(self, real: Any, name: str, args: Tuple[Any, ...], kwargs: Dict[str, Any]) -> None:
        given = inspect.signature(real).bind(*args, **kwargs).arguments
        numbers: List[List[Any]] = []
        for argument, value in given.items():
            parts = value.items() if isinstance(value, dict) else [(argument, value)]
            numbers += [
                [str(part), self.watcher.number(one)] for part, one in parts if self._is_number(one)
            ]
        if numbers:
            count = self.counts[name] = self.counts.get(name, -1) + 1
            self.watcher.say(
                "hyper",
                "optax.%s[%d]" % (name, count),
                call=False,
                out=numbers,
                l=self.watcher.deep.source(2),
            )

    def _is_number(self, value: Any) -> bool:
        if self.watcher.tracer(value):
            return False
        return isinstance(value, (int, float)) or (
            self.watcher.prints.is_array(value) and not getattr(value, "ndim", 0)
        )

    def _updating(self, real: Any, name: str) -> Any:
        def update(updates: Any, state: Any, *args: Any, **kwargs: Any) -> Any:
            outermost, self.depth = not self.depth, self.depth + 1
            try:
                if outermost:
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

    @guarded("before an update of optax")
    def _before(self, updates: Any, state: Any, name: str) -> None:
        """The gradients that the optimizer is given, under the names of the weights, and the
        hyper-parameters that it carries.
        """
        leaves, carried = flat(self.jax, updates), flat(self.jax, state)
        if not self._concrete([*leaves, *carried]):
            return
        prints, evaluation = self.watcher.prints, self.watcher.current
        weights = [weight for weight, _ in evaluation.weights] if evaluation is not None else []
        if len(weights) != len(leaves):
            weights = ["gradient" + self.jax.tree_util.keystr(path) for path, _ in leaves]
        hyper = [
            [_last(path), self.watcher.number(leaf)]
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
        if self._concrete(leaves):
            for path, leaf in leaves:
                place = "optax." + name + _STATES + self.jax.tree_util.keystr(path)
                self.watcher.say("update", place, out=[["", self.watcher.prints.of(leaf)]])


def _last(path: Tuple[Any, ...]) -> str:
    return str(getattr(path[-1], "key", getattr(path[-1], "name", path[-1])))
