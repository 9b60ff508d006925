"""Records the value of every outermost `value_and_grad` of JAX, wherever it is evaluated.

`grad` is built on it.

JAX has no loop of its own and no optimizer: one evaluation is one backward pass, and so one
iteration, unless a loop of the program evaluates the same weights several times (`loops`): their
values are those of one iteration. Under `jit`, `scan`, `pmap` and `shard_map` the value exists only
inside the compiled program, so a callback of JAX's own (`jax.debug.callback`) hands it out; with it
goes an integer checksum of the arguments that are differentiated, which says whether the weights
have changed since the evaluation before. The callback adds outputs to the program and changes none
of its arithmetic.
"""

import math
import sys
import threading
from itertools import chain
from typing import Any, Callable, Dict, List, Optional, Tuple

from ...recorder.hooking import attempt, guarded, install as install_hooks, like, replace
from ...recorder.lines import whole_or_float
from ...shared.iterations import BACKWARD, LOG
from .evaluation import positions
from .loops import Loops

STAYS = "its hooks could not be taken off the functions that JAX compiles again"


def install(jax: Any, recorder: Any) -> Dict[str, str]:
    """Install the hooks in a freshly imported jax."""
    adapter = _Adapter(jax, recorder)
    hooks = install_hooks(jax, {"value_and_grad": adapter.hook, "loops": adapter.loops.hook})
    recorder.readers["jax"] = recorder.readers["jaxlib"] = adapter.log
    recorder.find_rank.append(adapter.find_rank)
    if recorder.deeper:
        hooks.update(adapter.deepen())
    _barrier_at_exit(jax)
    return hooks


class _Adapter:
    def __init__(self, jax: Any, recorder: Any) -> None:
        self.jax = jax
        self.recorder = recorder
        self.inside = threading.local()
        self.weights: Tuple[int, ...] = ()
        """Checksums of the weights of the evaluation before; () where none was looked at."""
        self.lock = threading.RLock()
        self.loops = Loops(jax)
        self.watcher: Any = None
        """What records the deeper levels, at those levels."""

    def deepen(self) -> Dict[str, str]:
        """Record the deeper levels too; return the outcome of each hook."""
        hooks: Dict[str, str] = {}

        def watch() -> None:
            from .deep import Watcher

            watcher = Watcher(self.jax, self.recorder)
            hooks.update(watcher.hook())
            self.watcher = watcher

        result = attempt(self.jax, watch)
        if result != "ok":
            return {"deeper levels": result}
        return hooks

    def hook(self) -> None:
        """Replace `value_and_grad` under the names that JAX itself looks up."""

        def outermost(real: Any) -> Any:
            def value_and_grad(
                fun: Callable[..., Any],
                argnums: Any = 0,
                has_aux: bool = False,
                *args: Any,
                **kwargs: Any,
            ) -> Any:
                function = real(fun, argnums, has_aux, *args, **kwargs)
                return self.wrap(function, fun, argnums, has_aux)

            return value_and_grad

        # `jax.grad` looks the function up in JAX's own module, scripts in the public one
        replace(sys.modules["jax._src.api"], "value_and_grad", outermost, also=[self.jax])

    def wrap(
        self, function: Callable[..., Any], differentiated: Any, argnums: Any, has_aux: bool
    ) -> Callable[..., Any]:
        """Wrap `function` to report its value, if no other differentiation is around it."""
        inside, hand_out = self.inside, self.hand_out

        def outermost(*args: Any, **kwargs: Any) -> Any:
            depth = getattr(inside, "depth", 0)
            evaluation = None
            if self.watcher and not depth:
                args, kwargs = self.watcher.due(differentiated, args, kwargs)
                evaluation = self.watcher.eager(differentiated, args, kwargs, argnums)
            inside.depth = depth + 1
            try:
                returned = function(*args, **kwargs)
            except BaseException:
                if evaluation is not None:
                    self.watcher.end(evaluation, raised=True)
                raise
            finally:
                inside.depth = depth
            if not depth:
                value, gradients = returned
                results: Any = ()
                if has_aux:
                    value, results = value
                hand_out(value, [args[number] for number in positions(argnums, len(args))])
                if evaluation is not None:
                    self.watcher.returned(evaluation, gradients, results)
                elif self.watcher:
                    self.watcher.traced(differentiated, args, argnums, gradients, value)
            return returned

        return like(outermost, function)

    @guarded("handing out a loss of jax")
    def hand_out(self, value: Any, weights: Any) -> None:
        """Record a value now, or, while a program is traced, at each of its executions."""
        rounds = self.loops.rounds(self.jax.tree_util.tree_leaves(weights))
        arrived = _Arrivals(_copies(self.jax, value) * rounds, self.record)
        self.jax.debug.callback(arrived, value, *self.checksums(weights))

    def checksums(self, weights: Any) -> List[Any]:
        """Return one checksum for each weight, an array of shape () and dtype uint32."""
        if not self.recorder.watching():
            return []
        leaves = self.jax.tree_util.tree_leaves(weights)
        sums = [_checksum(self.jax, leaf) for leaf in leaves if getattr(leaf, "size", 0)]
        return list(chain.from_iterable(sums))

    def record(self, values: List[float], dtype: str, weights: Tuple[int, ...]) -> None:
        """Record the value of an evaluation. May end the process."""
        self.recorder.stay_shallow(STAYS)
        with self.lock:
            changed = None
            if weights and self.recorder.watching():
                before, self.weights = self.weights, weights
                if len(before) == len(weights):
                    changed = before != weights
            if self.watcher:
                self.watcher.lost((values, dtype, changed))
                return
            if changed is not None:
                self.recorder.looked(changed)
            self.recorder.loss(values, dtype, BACKWARD, 1, "")

    def log(self, value: Any) -> bool:
        """Log a JAX array as `log_loss` does, also one inside a program that is being traced."""
        jax = self.jax
        if not isinstance(value, jax.Array):
            return False
        record = self.recorder.loss
        jax.debug.callback(
            _Arrivals(
                _copies(jax, value), lambda values, dtype, _: record(values, dtype, LOG, 1, "")
            ),
            value,
        )
        if not isinstance(value, jax.core.Tracer):
            jax.effects_barrier()
        return True

    def find_rank(self) -> Optional[Tuple[int, int]]:
        """Return (index of this process, number of processes) of `jax.distributed`.

        None before it is initialised.
        """
        # private: `jax.process_index` would start the devices, before the script has chosen them
        distributed = sys.modules.get("jax._src.distributed")
        state = getattr(distributed, "global_state", None)
        if state is None or state.client is None:
            return None
        return int(state.process_id), int(state.num_processes)


class _Arrivals:
    """The values of one evaluation, collected from the devices and passed on together.

    They may arrive in any order.
    """

    def __init__(
        self, copies: int, record: Callable[[List[float], str, Tuple[int, ...]], None]
    ) -> None:
        self.copies = copies
        self.record = record
        self.values: List[float] = []
        self.weights: List[Tuple[int, ...]] = []
        self.lock = threading.Lock()

    def __call__(self, value: Any, *weights: Any) -> None:
        with self.lock:
            number = value if getattr(value, "size", 1) == 1 else value.sum()
            self.values.append(whole_or_float(number))
            self.weights.append(tuple(int(each) for each in weights))
            if len(self.values) < self.copies:
                return
            values, self.values = sorted(self.values), []
            checksums, self.weights = sorted(self.weights), []
        self.record(values, str(value.dtype), tuple(chain.from_iterable(checksums)))


def _copies(jax: Any, value: Any) -> int:
    """Return how often the program reports this value in one evaluation.

    Once for each device of the mapped axes, and once for each element of a `vmap`.
    """
    # private: JAX tells nobody which `pmap`, `shard_map` and `vmap` stand around what is traced
    count = math.prod(map(int, dict(jax._src.core.get_axis_env().axis_sizes).values()))
    tracer = jax._src.interpreters.batching.BatchTracer
    unnamed = (None, jax._src.core.no_axis_name)
    while isinstance(value, tracer):
        axis = getattr(getattr(value, "_trace", None), "axis_data", None)
        # an axis with a name is among the sizes above
        if type(value.batch_dim) is int and getattr(axis, "name", None) in unnamed:
            count *= int(value.val.shape[value.batch_dim])
        value = value.val
    return count


def _checksum(jax: Any, leaf: Any) -> List[Any]:
    """Return a position-weighted sum of the bits of an array, modulo 2**32.

    A leaf without bits to look at counts as nothing.
    """
    lax, numpy = jax.lax, jax.numpy
    try:
        leaf = numpy.asarray(leaf)
        if numpy.issubdtype(leaf.dtype, numpy.complexfloating):
            leaf = numpy.stack([leaf.real, leaf.imag])
        size = leaf.dtype.itemsize
        bits = lax.bitcast_convert_type(
            leaf, {1: "uint8", 2: "uint16", 4: "uint32", 8: "uint32"}[size]
        )
    except Exception:
        return []
    flat = bits.reshape(-1).astype("uint32")
    odd = lax.iota("uint32", flat.size) * numpy.uint32(2) + numpy.uint32(1)
    return [(flat * odd).sum(dtype="uint32")]


def _barrier_at_exit(jax: Any) -> None:
    """Wait for running callbacks before the interpreter ends, while the recorder writes."""
    import atexit

    def wait() -> None:
        try:
            jax.effects_barrier()
        except Exception:
            pass

    atexit.register(wait)
