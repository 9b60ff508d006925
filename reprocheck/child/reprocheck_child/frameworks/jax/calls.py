"""Calls of functions that `jax.jit` and `jax.pmap` compile: which of their arguments are weights, states and batch, and what they return.

The function that is compiled is wrapped, so that one look at its tracing says which arguments are differentiated and which results are
gradients. What a call returns and the next one is given again is carried: weights and states. The rest is the batch.
"""

import functools
import os
import sys
import threading
import types
import weakref
from typing import Any, Callable, Dict, List, Optional, Tuple

from .evaluation import Evaluation
from .fingerprint import flat, named, parameters, title

_MOST = 512
_LIBRARY = "/keras/src/"
"""Calls that come from there are recorded by the adapter of that library."""

Leaf = Tuple[str, Any]
Form = Tuple[Any, ...]


class Plan:
    """What the tracing of a function for arguments of one form has shown. Places are those of leaves of arguments and results."""

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


class Traced:
    """A function of the script that is compiled, whichever calls of `jit` it is given to."""

    def __init__(self, function: Any) -> None:
        self.function = function
        self.name = title(function)
        self.parameters = parameters(function)
        self.trains: Optional[bool] = None
        """Whether it differentiates; None before it was traced."""
        self.plans: Dict[Form, Plan] = {}
        self.returned: List[Tuple[int, Any]] = []
        """Place in the results and weak reference of each array that the last call returned."""
        self.last: Optional[Plan] = None


class _Tracing:
    """A call that may be tracing its function now."""

    def __init__(self, traced: Traced) -> None:
        self.traced = traced
        self.plan: Optional[Plan] = None
        self.inputs: List[Leaf] = []
        self.held: List[Tuple[str, List[Leaf], List[Any], Any]] = []  # weights, gradients and value of each differentiation


class Compiled:
    """Stands in the place of what `jax.jit` returns, and behaves as it does."""

    def __init__(self, calls: "Calls", real: Any, traced: Traced) -> None:
        functools.update_wrapper(self, traced.function)
        self._calls, self._real, self._traced = calls, real, traced

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self._calls.run(self._real, self._traced, args, kwargs)

    def __get__(self, instance: Any, owner: Any = None) -> Any:
        return self if instance is None else types.MethodType(self, instance)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._real, name)

    def __repr__(self) -> str:
        return repr(self._real)


class Calls:
    """Wraps `jax.jit` and `jax.pmap`, and records the calls that differentiate."""

    def __init__(self, jax: Any, watcher: Any) -> None:
        self.jax = jax
        self.watcher = watcher
        self.prints = watcher.prints
        self.local = threading.local()
        self.functions: Dict[Any, Tuple[Any, Traced]] = {}

    def hook(self) -> None:
        """Replace the functions that compile."""
        for name in ("jit", "pmap"):
            setattr(self.jax, name, self._compiling(getattr(self.jax, name)))

    def _compiling(self, real: Any) -> Any:
        @functools.wraps(real)
        def compiling(*args: Any, **kwargs: Any) -> Any:
            if not args:
                made = real(**kwargs) if "fun" not in kwargs else None
                if made is not None:
                    return lambda function: compiling(function, **kwargs)
                args = (kwargs.pop("fun"),)
            if not callable(args[0]):
                return real(*args, **kwargs)
            wrapped, traced = self._traced(args[0])
            return Compiled(self, real(wrapped, *args[1:], **kwargs), traced)

        return compiling

    def _traced(self, function: Any) -> Tuple[Any, Traced]:
        """The wrapper of a function, the same for the same function: compiled programs are kept by it."""
        try:
            known = self.functions.get(function)
        except TypeError:
            return self._wrapper(function)
        if known is None:
            known = self._wrapper(function)
            if len(self.functions) < _MOST:
                self.functions[function] = known
        return known

    def _wrapper(self, function: Any) -> Tuple[Any, Traced]:
        traced, local = Traced(function), self.local

        @functools.wraps(function)
        def wrapper(*args: Any, **kwargs: Any) -> Any:
            tracing = getattr(local, "tracing", None)
            if tracing is None or tracing.traced is not traced or tracing.plan is not None:
                return function(*args, **kwargs)
            self._enter(tracing, args, kwargs)
            result = function(*args, **kwargs)
            self._leave(tracing, result)
            return result

        return wrapper, traced

    # ------------------------------------------------------------------------------------------------ tracing

    def _enter(self, tracing: _Tracing, args: Any, kwargs: Any) -> None:
        try:
            tracing.plan = Plan()
            tracing.inputs = [(named(self.jax, path, tracing.traced.parameters), leaf) for path, leaf in flat(self.jax, (args, kwargs))]
            tracing.traced.plans[self._form(leaf for _, leaf in tracing.inputs)] = tracing.plan
        except Exception as error:
            self.watcher.recorder.problem("tracing a function", error)

    def differentiates(self, function: Any, chosen: List[Tuple[int, Any]], gradients: Any, value: Any) -> None:
        """A differentiation is traced: `chosen` are its differentiated arguments and their numbers."""
        tracing = getattr(self.local, "tracing", None)
        if tracing is None:
            return
        tracing.traced.trains = True
        names = parameters(function)
        weights = [
            (named(self.jax, (path[0], self.jax.tree_util.SequenceKey(number), *path[1:]), names), leaf)
            for number, argument in chosen
            for path, leaf in [((self.jax.tree_util.SequenceKey(0), *path), leaf) for path, leaf in flat(self.jax, argument)]
        ]
        tracing.held.append((title(function), weights, [leaf for _, leaf in flat(self.jax, gradients)], value))

    def _leave(self, tracing: _Tracing, result: Any) -> None:
        try:
            plan, results = tracing.plan, [leaf for _, leaf in flat(self.jax, result)]
            if plan is None or not tracing.held:
                tracing.traced.trains = bool(tracing.traced.trains)
                return
            places = {id(leaf): place for place, (_, leaf) in reversed(list(enumerate(tracing.inputs)))}
            out = {id(leaf): place for place, leaf in reversed(list(enumerate(results)))}
            for _, weights, gradients, value in tracing.held:
                found = [places.get(id(leaf)) for _, leaf in weights]
                if None in found:
                    found = list(_alike(tracing.inputs, [leaf for _, leaf in weights]) or [])
                plan.weights.update((place, name) for place, (name, _) in zip(found, weights) if place is not None)
                pairs = zip(weights, gradients) if len(weights) == len(gradients) else ()
                plan.gradients.update((out[id(leaf)], name) for (name, _), leaf in pairs if id(leaf) in out)
                plan.losses += [out[id(value)]] if id(value) in out else []
            taken = {*plan.gradients, *plan.losses}
            plan.likely = _likely(tracing.inputs, results, taken)
        except Exception as error:
            self.watcher.recorder.problem("tracing a function", error)
        finally:
            tracing.inputs, tracing.held = [], []

    def _form(self, given: Any) -> Form:
        return tuple((getattr(leaf, "shape", None), str(getattr(leaf, "dtype", ""))) for leaf in given)

    # ------------------------------------------------------------------------------------------------ calls

    def run(self, real: Any, traced: Traced, args: Any, kwargs: Any) -> Any:
        """Call a compiled function, and record the call where it differentiates."""
        leaves = self._given(traced, args, kwargs)
        if leaves is None:
            return real(*args, **kwargs)
        evaluation = self._before(traced, leaves)
        before, self.local.tracing = getattr(self.local, "tracing", None), _Tracing(traced)
        result, returned = None, False
        try:
            result = real(*args, **kwargs)
            returned = True
        finally:
            self.local.tracing = before
            if not returned and evaluation is not None:
                self.watcher.end(evaluation, raised=True)
        if evaluation is not None:
            self._after(traced, evaluation, leaves, result)
        return result

    def _given(self, traced: Traced, args: Any, kwargs: Any) -> Optional[List[Leaf]]:
        """The leaves of the arguments by name; None where the call is not to be recorded."""
        if traced.trains is False or not self.jax._src.core.trace_state_clean() or self.jax.config.jax_disable_jit:
            return None
        if _LIBRARY in sys._getframe(3).f_code.co_filename.replace(os.sep, "/"):
            return None
        try:
            leaves = [(named(self.jax, path, traced.parameters), leaf) for path, leaf in flat(self.jax, (args, kwargs))]
        except Exception as error:
            self.watcher.recorder.problem("the arguments of a compiled function", error)
            return None
        return None if any(self.watcher.tracer(leaf) for _, leaf in leaves) else leaves

    def _before(self, traced: Traced, leaves: List[Leaf]) -> Optional[Evaluation]:
        """Fingerprint the arguments, which the call may destroy. May end the process."""
        try:
            evaluation = Evaluation(traced.name, traced)
            evaluation.prepared = [self.prints.of(leaf) for _, leaf in leaves]
            known = {id(array): place for place, reference in traced.returned for array in [reference()] if array is not None}
            carried = {place: known[id(leaf)] for place, (_, leaf) in enumerate(leaves) if id(leaf) in known and self.prints.is_array(leaf)}
            if traced.last is not None:
                traced.last.carried.update(carried)
                traced.last.sure = True
            keys = [place for place, (name, leaf) in enumerate(leaves) if self.prints.is_array(leaf) and self.watcher.keys.is_key(leaf, name)]
            evaluation.keys = self.watcher.keys.drawn([leaves[place][1] for place in keys]) if keys else {}
            evaluation.places = {place: self._plain(leaf) for place, (_, leaf) in enumerate(leaves) if place not in keys}
            if traced.trains:
                self._tell(traced, evaluation, leaves)
                self.watcher.begin(evaluation)
            else:
                self.watcher.try_begin(evaluation)
            return evaluation
        except Exception as error:
            self.watcher.recorder.problem("before a call of a compiled function", error)
            return None
