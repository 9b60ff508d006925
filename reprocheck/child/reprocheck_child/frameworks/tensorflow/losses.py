"""Records the target of every outermost `GradientTape.gradient` of TensorFlow 2.

It may be eager, under `tf.function`, or in programs compiled by XLA.

Eager values are read as they are. In a traced function a `tf.py_function` hands each execution's
value out, loops inside the function included; XLA admits none, so there the value is put into a
variable that is read when the outermost function returns: of several steps inside one compiled call
only the last loss is seen.
"""

import sys
import threading
from contextlib import nullcontext
from itertools import chain
from typing import Any, Callable, Dict, List, Optional, Sequence, Tuple

from ...recorder.hooking import around, install as install_hooks, replace
from ...recorder.lines import one_or_all, whole_or_float
from ...shared.iterations import BACKWARD, GRAD, LOG

STAYS = "its hooks could not be taken out of the functions and pipelines of TensorFlow again"


def install(tensorflow: Any, recorder: Any) -> Dict[str, str]:
    """Install the hooks in a freshly imported tensorflow."""
    adapter = of(tensorflow, recorder)
    steps = {"tape": adapter.hook_tape, "functions": adapter.hook_functions}
    steps.update(adapter.deep.hooks())
    hooks = install_hooks(tensorflow, steps)
    recorder.readers["tensorflow"] = adapter.log
    return hooks


_adapters: List["Adapter"] = []


def of(tensorflow: Any, recorder: Any) -> "Adapter":
    """Return the adapter of this process."""
    if not _adapters:
        _adapters.append(Adapter(tensorflow, recorder))
    return _adapters[0]


class Shallow:
    """The stand-in for the deeper levels, in a run that records its losses alone."""

    def hooks(self) -> Dict[str, Callable[[], None]]:
        """Return no hooks, because the deeper levels are off."""
        return {}

    def states(self) -> Tuple[List[str], List[Any]]:
        """Return no generators, because the deeper levels are off."""
        return [], []

    def take_draws(self) -> List[Any]:
        """Return no draws, because the deeper levels are off."""
        return []

    def nothing(self, *args: Any) -> None:
        """Do nothing, because this level records no fact."""

    called = returned = before_gradient = after_gradient = nothing
    differentiated = drew = rooted = ended = nothing


class Adapter:
    """The recorder of tape targets.

    `unscaled` maps a scaled loss to the loss, while a loss-scaling optimizer of Keras works.
    """

    def __init__(self, tensorflow: Any, recorder: Any) -> None:
        self.tensorflow = tensorflow
        self.recorder = recorder
        self.calls = _Calls()
        self.weights: List[int] = []
        """Checksums of the weights of the evaluation before; [] where none was looked at."""
        self.unscaled: Dict[int, Tuple[Any, Any]] = {}
        self.lock = threading.RLock()
        self.deep: Any = Shallow()
        """What records the deeper levels, at those levels."""
        if recorder.deeper:
            from .deep import Watcher

            self.deep = Watcher(tensorflow, recorder, self.in_xla)

    def hook_tape(self) -> None:
        """Wrap `GradientTape.gradient`."""
        # private: whether another tape records this one, as `backprop` itself asks it. The class is
        # the public `tf.GradientTape`; Keras imports it from where it is made
        from tensorflow.python import pywrap_tfe
        from tensorflow.python.eager import backprop

        def before(tape: Any, target: Any, sources: Any, *_: Any, **__: Any) -> Any:
            nested = not tape._recording and not pywrap_tfe.TFE_Py_TapeSetIsEmpty()
            kind = GRAD if nested else BACKWARD
            # what is computed here is no part of what the script differentiates
            with tape.stop_recording() if tape._recording else nullcontext():
                self.seen(target, sources, kind)
            if not self.recorder.deeper:
                return None
            return lambda gradients: self._differentiated(sources, gradients, not nested)

        what = "reading the target of a gradient tape"
        around(backprop.GradientTape, "gradient", what, before=before)

    def _differentiated(self, sources: Any, gradients: Any, outermost: bool) -> None:
        flatten = self.tensorflow.nest.flatten
        self.deep.after_gradient(flatten(sources), flatten(gradients), outermost)

    def hook_functions(self) -> None:
        """Wrap the call of `tf.function` objects.

        The wrapper knows which of them XLA compiles, and when the outermost one has returned.
        """
        # private: the class of what `tf.function` returns
        from tensorflow.python.eager.polymorphic_function import polymorphic_function

        replace(polymorphic_function.Function, "__call__", self._outermost)

    def _outermost(self, real: Any) -> Any:
        calls = self.calls

        def __call__(function: Any, *args: Any, **kwargs: Any) -> Any:  # noqa: N807
            if not calls.compiled:
                self.deep.called(function, args, kwargs)
            calls.compiled.append(bool(getattr(function, "_jit_compile", False)))
            try:
                value = real(function, *args, **kwargs)
            finally:
                calls.compiled.pop()
            if not calls.compiled:
                if calls.sinks:
                    self.returned()
                self.deep.returned()
            return value

        return __call__

    def seen(self, target: Any, sources: Any, kind: str) -> None:
        """Record a `target` whose gradient is about to be computed or traced."""
        tf = self.tensorflow
        losses = list(map(self.scalar, tf.nest.flatten(target)))
        weights = tf.nest.flatten(sources)
        self.deep.before_gradient(weights, kind == BACKWARD)
        checksums = []
        if kind == BACKWARD and self.recorder.watching():
            checksums = self.checksums(weights)
        if tf.executing_eagerly():
            self.record(kind, _read(losses), list(map(int, checksums)))
        elif self.in_xla():
            sink = _Sink(tf, kind, losses, checksums)
            sink.draws = self.deep.take_draws()
            self.calls.sinks.append(sink)
        else:
            self.stream(kind, losses, checksums)

    def stream(self, kind: str, losses: List[Any], checksums: List[Any]) -> None:
        """Make each execution of the traced function report its losses and checksums."""
        count, end = len(losses), len(losses) + len(checksums)
        (names, states), draws = self.deep.states(), self.deep.take_draws()

        def arrived(*values: Any) -> None:
            self.deep.drew(draws, names, _read(values[end:]))
            self.record(kind, _read(values[:count]), list(map(int, values[count:end])))
            self.deep.rooted()

        self.tensorflow.py_function(arrived, [*losses, *checksums, *states], [])

    def returned(self) -> None:
        """Read what the outermost function left in variables when it returned."""
        for sink in self.calls.sinks:
            values = sink.read()
            if values is not None:
                sink.passed_on(self, *values)

    def record(self, kind: str, losses: List[Any], checksums: List[int]) -> None:
        """Record the losses of one evaluation. May end the process."""
        self.recorder.stay_shallow(STAYS)
        with self.lock:
            self.deep.differentiated(losses)
            if checksums and self.recorder.watching():
                before, self.weights = self.weights, checksums
                if len(before) == len(checksums):
                    self.recorder.looked(before != checksums)
            names = [str(getattr(loss, "dtype", "float64")) for loss in losses]
            self.recorder.loss(list(map(whole_or_float, losses)), one_or_all(names), kind, 1, "")

    def applied(self, index: int, iterations: Any) -> None:
        """Record an update by an optimizer of Keras.

        May end the process.

        If the update is being traced, each execution of the function is recorded.

        `iterations` is the optimizer's counter, which the update has increased: reading it makes
        the record run after the update.
        """
        tf = self.tensorflow
        if tf.executing_eagerly():
            self.recorder.update(index, None)
            return
        if self.in_xla():
            self.calls.sinks.append(_Update(tf, index))
        else:
            tf.py_function(lambda _: self.updated(index), [tf.convert_to_tensor(iterations)], [])

    def updated(self, index: int) -> None:
        """Record that an optimizer has been applied inside a compiled function."""
        self.deep.ended()
        self.recorder.update(index, None)

    def in_xla(self) -> bool:
        """Return whether XLA compiles the traced function, or a function around it."""
        if any(self.calls.compiled):
            return True
        # private; what `tf.function(jit_compile=True)` itself asks while it traces
        util = sys.modules.get("tensorflow.python.ops.control_flow_util")
        graph = self.tensorflow.compat.v1.get_default_graph()
        return util is not None and bool(util.GraphOrParentsInXlaContext(graph))

    def scalar(self, target: Any) -> Any:
        """Return the loss of a tape's target.

        It is the loss before scaling; several elements are summed, as the tape does.
        """
        tf = self.tensorflow
        scaled, unscaled = self.unscaled.pop(id(target), (_nothing, None))
        if scaled() is target:
            target = unscaled
        loss = tf.convert_to_tensor(target)
        if loss.shape.rank == 0:
            return loss
        return tf.reduce_sum(loss)

    def checksums(self, weights: List[Any]) -> List[Any]:
        """Return one checksum for each weight, a tensor of shape () and dtype int64."""
        return list(chain.from_iterable(map(self.checksum, weights)))

    def checksum(self, weight: Any) -> List[Any]:
        """Return a position-weighted sum of the bits of a weight, modulo 2**64.

        A weight without bits to look at counts as nothing.
        """
        tf = self.tensorflow
        try:
            value = tf.reshape(tf.convert_to_tensor(weight), [-1])
            bits = {2: tf.int16, 4: tf.int32, 8: tf.int64}[value.dtype.size]
            flat = tf.cast(tf.bitcast(value, bits), tf.int64)
            odd = tf.range(tf.size(flat, out_type=tf.int64), dtype=tf.int64) * 2 + 1
            return [tf.reduce_sum(flat * odd)]
        except Exception:
            return []

    def log(self, value: Any) -> bool:
        """Log a tensor or variable as `log_loss` does, also in a function that is being traced."""
        tf = self.tensorflow
        if not isinstance(value, (tf.Tensor, tf.Variable)):
            return False
        loss = self.scalar(value)
        if tf.executing_eagerly():
            self.record(LOG, [loss.numpy()], [])
        else:
            self.stream(LOG, [loss], [])
        return True


def _read(values: Sequence[Any]) -> List[Any]:
    return [value.numpy() for value in values]


def _nothing() -> None:
    """Return None, as a reference to a scaled loss that was never remembered."""


class _Calls(threading.local):
    """The `tf.function` objects that this thread is in, and the sinks of its compiled programs."""

    def __init__(self) -> None:
        self.compiled: List[bool] = []
        self.sinks: List[_Sink] = []


class _Sink:
    """Variables that a compiled program fills with its losses.

    They are losses, then checksums; `filled` counts the executions.
    """

    def __init__(self, tensorflow: Any, kind: str, losses: List[Any], checksums: List[Any]) -> None:
        self.kind = kind
        self.count = len(losses)
        self.draws: List[Any] = []  # what was found to draw while it was traced
        values = [*losses, *checksums]
        # the public class is refused while tracing
        from tensorflow.python.ops import resource_variable_ops

        with tensorflow.init_scope():
            self.variables = [
                resource_variable_ops.ResourceVariable(
                    tensorflow.zeros((), value.dtype), trainable=False
                )
                for value in values
            ]
            self.filled = resource_variable_ops.ResourceVariable(
                tensorflow.zeros((), tensorflow.int64), trainable=False
            )
        for variable, value in zip(self.variables, values):
            variable.assign(value)
        self.filled.assign_add(1)
        self.read_until = 0

    def read(self) -> Optional[Tuple[List[Any], List[int]]]:
        """Return the values of the last execution; None if it has not run since the last look."""
        filled = int(self.filled.numpy())
        if filled == self.read_until:
            return None
        self.read_until = filled
        values = _read(self.variables)
        return values[: self.count], list(map(int, values[self.count :]))

    def passed_on(self, adapter: Adapter, losses: List[Any], checksums: List[int]) -> None:
        """Record the losses and checksums that were read."""
        adapter.deep.drew(self.draws, [], [])
        adapter.record(self.kind, losses, checksums)


class _Update(_Sink):
    """The count of the updates of a compiled program."""

    def __init__(self, tensorflow: Any, index: int) -> None:
        super().__init__(tensorflow, "", [], [])
        self.index = index

    def passed_on(self, adapter: Adapter, losses: List[Any], checksums: List[int]) -> None:
        """Record an update of the compiled program."""
        adapter.recorder.update(self.index, None)
