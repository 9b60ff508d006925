"""Records calls of functions that `jax.jit` and `jax.pmap` compile.

It records which arguments are weights, states and batch, and what the function returns.

The script's function is wrapped, so that its tracing shows which arguments are differentiated and
which results are gradients. What one call returns and the next call is given (weights, states) is
"carried". The other arguments are the batch.
"""

import functools
import sys
import threading
import types
import weakref
from itertools import chain, compress, repeat
from typing import Any, Dict, List, Optional, Tuple

from ...recorder.hooking import guarded, replace
from .evaluation import OF_OPTIMIZER, Evaluation
from .fingerprint import flat, named, of_keras, of_optimizers, parameters, title
from .plan import Plan, arranged, found_in, likely

GRADIENTS = "the gradients inside this compiled function are not seen: it does not return them"
_MOST = 512
_READ = frozenset("hv")
"""Keys of a fingerprint that holds a value, or the hash of one."""

Leaf = Tuple[str, Any]
Form = Tuple[Any, ...]


class Traced:
    """A compiled function of the script, the same one for all `jit` calls that it is given to."""

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
        """Return the plan (which arguments are weights, batch …) for leaves of these shapes."""
        return self.plans.get(_form(leaves), self.latest)


class _Tracing:
    """A call during which JAX may be tracing the function."""

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
    """The stand-in for what `jax.jit` returns, with the same attributes."""

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
    """The wrappers of `jax.jit` and `jax.pmap`, which record the calls that differentiate."""

    def __init__(self, jax: Any, watcher: Any) -> None:
        self.jax = jax
        self.watcher = watcher
        self.prints = watcher.prints
        self.local = threading.local()
        self.functions: Dict[Any, Tuple[Any, Traced]] = {}

    def hook(self) -> None:
        """Replace `jax.jit` and `jax.pmap`."""
        for name in ("jit", "pmap"):
            replace(self.jax, name, self._compiling)

    def _compiling(self, real: Any) -> Any:
        def compiling(*args: Any, **kwargs: Any) -> Any:
            if kwargs and not args and "fun" not in kwargs:
                real(**kwargs)  # raises what it has to say of the options
                return functools.partial(compiling, **kwargs)
            function, *others = args or (kwargs.pop("fun", None),)
            if not callable(function):
                return real(*args, **kwargs)
            wrapped, traced = self._wrapped(function)
            return Compiled(self, real(wrapped, *others, **kwargs), traced)

        return compiling

    def _wrapped(self, function: Any) -> Tuple[Any, Traced]:
        """Return the wrapper of a function, always the same wrapper for the same function.

        JAX caches compiled programs by the identity of the wrapper.
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
            tracing: Optional[_Tracing] = getattr(local, "tracing", None)
            if tracing is None or tracing.plan is not None or tracing.traced is not traced:
                return function(*args, **kwargs)
            self._enter(tracing, args, kwargs)
            result = function(*args, **kwargs)
            self._leave(tracing, result)
            return result

        # a function of the user's: the names and the signature by which JAX knows its arguments
        return functools.wraps(function)(wrapper), traced

    @guarded("tracing a function")
    def _enter(self, tracing: _Tracing, args: Any, kwargs: Any) -> None:
        tracing.plan = tracing.traced.latest = Plan()
        tracing.inputs = self._leaves(tracing.traced, args, kwargs)
        tracing.traced.plans[_form(tracing.inputs)] = tracing.plan

    def differentiates(
        self, function: Any, chosen: List[Tuple[int, Any]], gradients: Any, value: Any
    ) -> None:
        """Note that a differentiation is traced.

        `chosen` are the indices of its differentiated arguments, and the arguments themselves.
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
        """Note that a function was traced; if it differentiates, its call begins here.

        May end the process.
        """
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

    def run(self, real: Any, traced: Traced, args: Any, kwargs: Any) -> Any:
        """Call a compiled function, and record the call if the function differentiates."""
        if self.watcher.owes_state and not traced.trains:
            args, kwargs = self._hold_state(traced, (args, kwargs))
        leaves = self._given(traced, args, kwargs)
        if leaves is None:
            return self._called(real, traced, None, args, kwargs)
        args, kwargs = self.watcher.arguments.instead(traced.name, (args, kwargs), leaves)
        leaves = self._leaves(traced, args, kwargs)
        evaluation = self._before(traced, leaves, (args, kwargs))
        if evaluation is None:
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

    def _hold_state(self, traced: Traced, given: Any) -> Any:
        """Record the optimizer state that a compiled function is given; return what to pass to it.

        The function runs after the differentiation, and may be an update alone.
        """
        # private: nothing public tells whether a program is being traced (JAX 0.10)
        if not self.jax._src.core.trace_state_clean():
            return given
        with guarded("the state of an optimizer"):
            leaves = self._leaves(traced, *given)
            return self.watcher.hold_state(given, leaves, self._of_optimizers(leaves, given))
        return given

    def _of_optimizers(self, leaves: List[Leaf], given: Any) -> List[bool]:
        """Return for each leaf of the arguments whether an optimizer's state holds it."""
        inside = of_optimizers(self.jax, given)
        # how flax calls the state of optax, whose classes `nnx` replaces by its own
        return [is_state or "opt_state" in name for is_state, (name, _) in zip(inside, leaves)]

    def _called(
        self, real: Any, traced: Traced, evaluation: Optional[Evaluation], args: Any, kwargs: Any
    ) -> Any:
        """Call a compiled function and watch its tracing if JAX traces it in this call.

        Nothing is watched within another tracing.
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
        """Return the leaves of the arguments by name; None if the call is not recorded."""
        if traced.trains is False or self.jax.config.jax_disable_jit:
            return None
        # JAX offers no public way to ask whether a function is being traced
        if not self.jax._src.core.trace_state_clean():
            return None
        if of_keras(sys._getframe(3)):
            self.watcher.library = True
            return None
        with guarded("the arguments of a compiled function"):
            leaves = self._leaves(traced, args, kwargs)
            if not any(map(self.watcher.tracer, _values(leaves))):
                return leaves
        return None

    def _leaves(self, traced: Traced, args: Any, kwargs: Any) -> List[Leaf]:
        return [
            (named(self.jax, path, traced.parameters), leaf)
            for path, leaf in flat(self.jax, (args, kwargs))
        ]

    @guarded("before a call of a compiled function")
    def _before(self, traced: Traced, leaves: List[Leaf], given: Any) -> Optional[Evaluation]:
        """Read the arguments before the call, which may destroy them.

        `given`: (args, kwargs) of the call.
        """
        args: Tuple[Any, ...] = given[0]
        evaluation = Evaluation(traced.name, traced)
        evaluation.given = self.watcher.arguments.read(leaves)
        self._look_back(traced, leaves)
        arguments = [self.watcher.argument(name, leaf) for name, leaf in leaves]
        counts = [len(self.jax.tree_util.tree_leaves(argument)) for argument in args]
        # the line of an argument is that of each leaf in it
        lines = map(repeat, self.watcher.lines(args), counts)
        for argument, line in zip(arguments, chain.from_iterable(lines)):
            argument.line = line
        for argument in compress(arguments, self._of_optimizers(leaves, given)):
            argument.state = OF_OPTIMIZER
        kinds = [argument.kind == "key" for argument in arguments]
        keys = list(compress(_values(leaves), kinds))
        evaluation.keys = self.watcher.keys.drawn(keys)
        evaluation.copies = self.watcher.keys.copies(keys)
        numbers, arrays = self.watcher.outside(traced.function, _values(leaves))

        def decide() -> None:
            arranged(evaluation, arguments, traced.plan(leaves) or Plan())
            evaluation.from_outside(numbers, arrays)

        evaluation.decide = decide
        return evaluation

    def _look_back(self, traced: Traced, leaves: List[Leaf]) -> None:
        """Mark arguments that the last call has returned (weights, states) as carried."""
        plan = traced.last
        if plan is None:
            return
        # an id of an array that is gone may be that of another now: the dead give none
        known = {id(reference()): place for place, reference in traced.returned}
        known.pop(id(None), None)
        given = enumerate(map(id, _values(leaves)))
        plan.carried.update((place, known[leaf]) for place, leaf in given if leaf in known)
        plan.sure = True

    def _after(
        self, traced: Traced, evaluation: Evaluation, leaves: List[Leaf], result: Any
    ) -> None:
        """Read the results of a call. May end the process."""
        with guarded("after a call of a compiled function"):
            plan = traced.plan(leaves) or Plan()
            results = [leaf for _, leaf in flat(self.jax, result)]
            fingerprints = [self.prints.of(leaf) for leaf in results]
            carried = plan.kept()
            evaluation.gradients = [
                (name, fingerprints[place]) for place, name in sorted(plan.gradients.items())
            ]
            known = {*plan.gradients, *carried.values()}
            evaluation.results = [
                ["result %d" % place, fingerprints[place]]
                for place, leaf in enumerate(results)
                if place not in known and getattr(leaf, "ndim", False)
            ]
            for place, after in carried.items():
                name, given = leaves[place]
                self.watcher.keys.follows(given, results[after])
                if not _READ.isdisjoint(fingerprints[after]):
                    evaluation.after.append((plan.weights.get(place, name), fingerprints[after]))
            evaluation.known = plan.sure and plan.weights.keys() <= plan.carried.keys()
            if not plan.gradients:
                self.watcher.deep.unrecorded(traced.name, GRADIENTS)
            traced.returned = [
                (place, weakref.ref(leaf))
                for place, leaf in enumerate(results)
                if isinstance(leaf, self.jax.Array)
            ]
            traced.last = plan
        self.watcher.end(evaluation)


def _values(leaves: List[Leaf]) -> List[Any]:
    return [leaf for _, leaf in leaves]


def _form(leaves: List[Leaf]) -> Form:
    return tuple(getattr(leaf, "shape", ()) for _, leaf in leaves)
