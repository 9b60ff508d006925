"""Calls of functions that `jax.jit` and `jax.pmap` compile: which of their arguments are weights,
states and batch, and what they return.

The function that is compiled is wrapped, so that one look at its tracing says which arguments are
differentiated and which results are gradients. What a call returns and the next one is given again
is carried: weights and states. The rest is the batch.
"""

import functools
import os
import sys
import threading
import types
import weakref
from typing import Any, Dict, List, Optional, Tuple

from ...hooking import guarded, replace
from .evaluation import Evaluation
from .fingerprint import flat, named, parameters, title
from .plan import Argument, Plan, arranged, found_in, likely

GRADIENTS = "the gradients inside this compiled function are not seen: it does not return them"
_MOST = 512
_LIBRARY = "/keras/src/"
"""Calls that come from there are recorded by the adapter of that library."""

Leaf = Tuple[str, Any]
Form = Tuple[Any, ...]


class Traced:
    """A function of the script that is compiled, whichever calls of `jit` it is given to."""

    def __init__(self, function: Any) -> None:
        self.function = function
        self.name = title(function)
        self.parameters = parameters(function)
        self.trains: Optional[bool] = None
        """Whether it differentiates; None before it was traced."""
        self.plans: Dict[Form, Plan] = {}
        self.latest: Optional[Plan] = None
        """The plan of the last tracing."""
        self.last: Optional[Plan] = None
        """The plan of the last call."""
        self.returned: List[Tuple[int, Any]] = []
        """Place in the results and weak reference of each array that the last call returned."""

    def plan(self, leaves: List[Leaf]) -> Optional[Plan]:
        """The plan for arguments of this form."""
        return self.plans.get(_form(leaves), self.latest)


class _Tracing:
    """A call that may be tracing its function now."""

    def __init__(self, traced: Traced, evaluation: Optional[Evaluation]) -> None:
        self.traced = traced
        self.evaluation = evaluation
        """The evaluation that begins if the function turns out to differentiate; None where it has
        begun.
        """
        self.plan: Optional[Plan] = None
        self.inputs: List[Leaf] = []
        # weights, gradients and value of each differentiation
        self.held: List[Tuple[List[Leaf], List[Any], Any]] = []


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
        if name in ("_calls", "_real", "_traced"):
            raise AttributeError(name)
        return getattr(self._real, name)

    def __copy__(self) -> "Compiled":
        return self

    def __deepcopy__(self, memory: Any) -> "Compiled":
        return self

    def __reduce__(self) -> Any:
        return self._real.__reduce__()

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
            replace(self.jax, name, self._compiling)

    def _compiling(self, real: Any) -> Any:
        def compiling(*args: Any, **kwargs: Any) -> Any:
            if not args and "fun" not in kwargs and kwargs:
                real(**kwargs)  # raises what it has to say of the options
                return functools.partial(compiling, **kwargs)
            given = args or (kwargs.pop("fun", None),)
            if not callable(given[0]):
                return real(*args, **kwargs)
            wrapped, traced = self._wrapped(given[0])
            return Compiled(self, real(wrapped, *given[1:], **kwargs), traced)

        return compiling

    def _wrapped(self, function: Any) -> Tuple[Any, Traced]:
        """The wrapper of a function, the same for the same function: compiled programs are kept by
        it.
        """
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

        def wrapper(*args: Any, **kwargs: Any) -> Any:
            tracing = getattr(local, "tracing", None)
            if tracing is None or tracing.traced is not traced or tracing.plan is not None:
                return function(*args, **kwargs)
            self._enter(tracing, args, kwargs)
            result = function(*args, **kwargs)
            self._leave(tracing, result)
            return result

        # a function of the user's: the names and the signature by which JAX knows its arguments
        return functools.wraps(function)(wrapper), traced

    # -------------------------------------------------------------------------------------- tracing

    @guarded("tracing a function")
    def _enter(self, tracing: _Tracing, args: Any, kwargs: Any) -> None:
        tracing.plan = tracing.traced.latest = Plan()
        tracing.inputs = self._leaves(tracing.traced, args, kwargs)
        tracing.traced.plans[_form(tracing.inputs)] = tracing.plan

    def differentiates(
        self, function: Any, chosen: List[Tuple[int, Any]], gradients: Any, value: Any
    ) -> None:
        """A differentiation is traced: `chosen` are the numbers of its differentiated arguments,
        and they.
        """
        tracing = getattr(self.local, "tracing", None)
        if tracing is None:
            return
        names, key = parameters(function), self.jax.tree_util.SequenceKey
        weights = [
            (named(self.jax, (key(0), key(number), *path), names), leaf)
            for number, argument in chosen
            for path, leaf in flat(self.jax, argument)
        ]
        tracing.held.append((weights, [leaf for _, leaf in flat(self.jax, gradients)], value))

    def _leave(self, tracing: _Tracing, result: Any) -> None:
        """A function was traced. Its call has begun if it differentiates. May end the process."""
        traced, plan = tracing.traced, tracing.plan
        if plan is None or not tracing.held:
            traced.trains = bool(traced.trains)
            return
        with guarded("tracing a function"):
            traced.trains = True
            results = [leaf for _, leaf in flat(self.jax, result)]
            found_in(plan, tracing.inputs, results, tracing.held)
            plan.likely = likely(tracing.inputs, results, plan)
        tracing.inputs, tracing.held = [], []
        if tracing.evaluation is not None:
            evaluation, tracing.evaluation = tracing.evaluation, None
            self.watcher.begin(evaluation)

    # ---------------------------------------------------------------------------------------- calls

    def run(self, real: Any, traced: Traced, args: Any, kwargs: Any) -> Any:
        """Call a compiled function, and record the call where it differentiates."""
        leaves = self._given(traced, args, kwargs)
        evaluation = self._before(traced, leaves, args) if leaves is not None else None
        if leaves is None or evaluation is None:
            return self._called(real, traced, None, args, kwargs)
        if traced.trains:
            self.watcher.begin(evaluation)
        returned = False
        try:
            result = self._called(real, traced, None if traced.trains else evaluation, args, kwargs)
            returned = True
        finally:
            if not returned:
                self.watcher.end(evaluation, raised=True)
        if traced.trains:
            self._after(traced, evaluation, leaves, result)
        return result

    def _called(
        self, real: Any, traced: Traced, evaluation: Optional[Evaluation], args: Any, kwargs: Any
    ) -> Any:
        """Call a compiled function while its tracing, if it comes to that, is watched; within
        another tracing nothing is.
        """
        before = getattr(self.local, "tracing", None)
        if before is not None and before.plan is not None:
            return real(*args, **kwargs)
        self.local.tracing = _Tracing(traced, evaluation)
        try:
            return real(*args, **kwargs)
        finally:
            self.local.tracing = before

    def _given(self, traced: Traced, args: Any, kwargs: Any) -> Optional[List[Leaf]]:
        """The leaves of the arguments by name; None where the call is not to be recorded."""
        if (
            traced.trains is False
            or not self.jax._src.core.trace_state_clean()
            or self.jax.config.jax_disable_jit
        ):
            return None
        if _LIBRARY in sys._getframe(3).f_code.co_filename.replace(os.sep, "/"):
            self.watcher.library = True
            return None
        with guarded("the arguments of a compiled function"):
            leaves = self._leaves(traced, args, kwargs)
            return None if any(self.watcher.tracer(leaf) for _, leaf in leaves) else leaves
        return None

    def _leaves(self, traced: Traced, args: Any, kwargs: Any) -> List[Leaf]:
        return [
            (named(self.jax, path, traced.parameters), leaf)
            for path, leaf in flat(self.jax, (args, kwargs))
        ]

    @guarded("before a call of a compiled function")
    def _before(
        self, traced: Traced, leaves: List[Leaf], args: Tuple[Any, ...]
    ) -> Optional[Evaluation]:
        """Read the arguments, which the call may destroy."""
        evaluation = Evaluation(traced.name, traced)
        self._look_back(traced, leaves)
        arguments = [self._argument(name, leaf) for name, leaf in leaves]
        counts = [len(self.jax.tree_util.tree_leaves(one)) for one in args]
        lines = [
            line for line, count in zip(self.watcher.lines(args), counts) for _ in range(count)
        ]
        for one, line in zip(arguments, lines):
            one.line = line
        evaluation.keys = self.watcher.keys.drawn(
            [leaf for (_, leaf), one in zip(leaves, arguments) if one.kind == "key"]
        )
        numbers, arrays = self.watcher.outside(traced.function, {id(leaf) for _, leaf in leaves})

        def decide() -> None:
            arranged(evaluation, arguments, traced.plan(leaves) or Plan())
            evaluation.hyper += numbers
            evaluation.batch += [[name, found] for name, found, _ in arrays]
            evaluation.rows += [
                rows for _, _, rows in arrays if rows is not None and not evaluation.rows
            ]

        evaluation.decide = decide
        return evaluation

    def _argument(self, name: str, leaf: Any) -> Argument:
        is_array = self.prints.is_array(leaf)
        if is_array and self.watcher.keys.is_key(leaf, name):
            return Argument(name, "key", self.prints.of(leaf))
        if is_array and getattr(leaf, "ndim", 0):
            return Argument(name, "array", self.prints.of(leaf), self.prints.rows(leaf))
        if is_array or isinstance(leaf, (bool, int, float, complex)):
            return Argument(name, "number", self.watcher.number(leaf))
        return Argument(name, "", {})

    def _look_back(self, traced: Traced, leaves: List[Leaf]) -> None:
        """What the last call returned and this one is given is carried."""
        plan = traced.last
        if plan is None:
            return
        known = {
            id(array): place
            for place, reference in traced.returned
            for array in [reference()]
            if array is not None
        }
        plan.carried.update(
            (place, known[id(leaf)]) for place, (_, leaf) in enumerate(leaves) if id(leaf) in known
        )
        plan.sure = True

    def _after(
        self, traced: Traced, evaluation: Evaluation, leaves: List[Leaf], result: Any
    ) -> None:
        """Read the results. May end the process."""
        with guarded("after a call of a compiled function"):
            plan = traced.plan(leaves) or Plan()
            results = [leaf for _, leaf in flat(self.jax, result)]
            found = [self.prints.of(leaf) for leaf in results]
            kept = plan.kept()
            evaluation.gradients = [
                (name, found[place]) for place, name in sorted(plan.gradients.items())
            ]
            evaluation.results = [
                ["result %d" % place, found[place]]
                for place, leaf in enumerate(results)
                if getattr(leaf, "ndim", 0)
                and place not in plan.gradients
                and place not in kept.values()
            ]
            named_now = [
                (plan.weights.get(place, leaves[place][0]), place, after)
                for place, after in kept.items()
            ]
            evaluation.after = [
                (name, found[after])
                for name, place, after in named_now
                if "h" in found[after] or "v" in found[after]
            ]
            evaluation.known = plan.sure and all(place in plan.carried for place in plan.weights)
            if not plan.gradients:
                self.watcher.deep.unrecorded(traced.name, GRADIENTS)
            for _, place, after in named_now:
                self.watcher.keys.follows(leaves[place][1], results[after])
            traced.returned = [
                (place, weakref.ref(leaf))
                for place, leaf in enumerate(results)
                if isinstance(leaf, self.jax.Array)
            ]
            traced.last = plan
        self.watcher.end(evaluation)


def _form(leaves: List[Leaf]) -> Form:
    return tuple(getattr(leaf, "shape", ()) for _, leaf in leaves)
