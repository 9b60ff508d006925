"""Records steps without a Model: gradients in PyNative mode, compiled cells and functions.

Whether a compiled cell or function trains is answered by `graph`.
"""

import sys
import weakref
from contextlib import suppress
from functools import partial
from itertools import product
from typing import Any, Callable, Dict, List, Sequence, Tuple

from ...recorder.hooking import around, guarded, replace
from ...shared.iterations import BACKWARD, GRAD
from . import graph
from .record import Before, Recording, overflowed
from .values import listed

HIDDEN = (
    "the compiled %s takes a gradient and returns no loss: its losses are not recorded;"
    " `reprocheck.log_loss` can say them"
)
CAPTURE = "a function is compiled with capture_mode=%r: what it trains inside may not be recorded"


MODULES = ("mindspore.graph.api", "mindspore.common.api")
# private: all ways to take a gradient in PyNative mode call both (MindSpore 2.10)
HALVES = ("_pynative_func_grad_forward", "_pynative_func_grad_backward")
USED_IN = ("mindspore.ops.function.grad.grad_func",)


class Gradients:
    """Hooks `value_and_grad`, `grad`, `GradOperation` and `vjp` in PyNative mode.

    They run a forward half, then a backward half.
    """

    def __init__(self, recording: Recording) -> None:
        self.recording = recording
        self.forward: Tuple[Any, Any] = (None, None)

    def hook(self) -> None:
        """Replace the private functions of the forward and the backward half of a gradient.

        They are replaced in each module that has imported them. Raises AttributeError if this
        version of MindSpore lacks one of the two.
        """
        # private, and all that `value_and_grad`, `grad` and `GradOperation` have in common in
        # PyNative mode: the backward half is not called where the script takes no gradient
        from mindspore.ops.composite import base

        others = [sys.modules[name] for name in USED_IN if name in sys.modules]
        for name, make in zip(HALVES, (self._forward, self._backward)):
            if not replace(base, name, make, also=others):
                raise AttributeError("mindspore has no " + name)

    def _forward(self, real: Any) -> Any:
        inside = self.recording.inside

        def run_forward(function: Any, *args: Any, **named: Any) -> Any:
            deep = self.recording.deep
            forward = real if deep is None else partial(deep.forward, real)
            outermost = not inside.depth
            with inside:
                out = forward(function, *args, **named)
            if outermost:
                self.forward = (function, out)
            return out

        return run_forward

    def _backward(self, real: Any) -> Any:
        inside = self.recording.inside

        def run_backward(
            function: Any, grad: Any, weights: Any, position: Any, has_aux: bool, *args: Any
        ) -> Any:
            if self.recording.deep is not None:
                self.recording.deep.before_backward(function, has_aux)
            if not inside.depth and self.forward[0] is function:
                out, self.forward = self.forward[1], (None, None)
                record_gradient(self.recording, out, weights, has_aux)
            deep = self.recording.deep  # counting a loss may be the end of it
            backward = real if deep is None else partial(deep.backward, real)
            with inside:
                return backward(function, grad, weights, position, has_aux, *args)

        return run_backward


@guarded("a gradient")
def record_gradient(
    recording: Recording, out: Any, weights: Any, has_aux: bool, scalers: Sequence[Any] = ()
) -> None:
    """Record that the gradient of the loss `out` is computed.

    May end the process.

    If the function has auxiliary outputs, the gradient is that of the first item alone.

    `scalers`: loss scalers that a compiled forward function applied; in PyNative mode the loss
    before scaling was remembered.
    """
    if has_aux and isinstance(out, (tuple, list)):
        out = out[0]
    recording.look_by_hand(weights)
    roots = [recording.values.before_scaling(tensor) for tensor in recording.values.tensors(out)]
    scale = 1.0
    if scalers:
        value = scalers[0].scale_value
        scale = float(getattr(value, "asnumpy", lambda: value)())
    recording.lost(roots, GRAD if weights is None else BACKWARD, scale)


class Compiled:
    """The hooks of the outermost executions of compiled cells (graph mode) and `jit` functions."""

    def __init__(self, recording: Recording) -> None:
        from mindspore import amp, nn
        from mindspore.ops.composite import base

        self.recording = recording
        self.one_step = nn.TrainOneStepCell
        # private: the function, compiled by `jit`, with which loss scalers multiply a loss
        self.scale_map = getattr(getattr(amp, "_grad_scale_map", None), "__wrapped__", None)
        self.reader = graph.Reader(
            nn.Cell, recording.optimizers, (base.GradOperation.__mro__[1],), (amp.LossScaler,)
        )
        self.known: weakref.WeakKeyDictionary[Any, Dict[str, graph.Contents]] = (
            weakref.WeakKeyDictionary()
        )

    def hook_cells(self) -> None:
        """Set hooks on cells in graph mode."""
        from mindspore import nn

        # what `Cell.__call__` does in graph mode, after its checks
        replace(nn.Cell, "compile_and_run", self._of_cell)

    def _of_cell(self, real: Any) -> Any:
        def compile_and_run(cell: Any, *args: Any, **named: Any) -> Any:
            if self.recording.inside.depth:
                return real(cell, *args, **named)
            return self.execute(
                lambda: real(cell, *args, **named),
                type(cell).construct,
                cell,
                (*args, *named.values()),
            )

        return compile_and_run

    def hook_functions(self) -> None:
        """Set hooks on functions compiled by `jit`, graph mode's gradient functions included."""
        replace(_executor(), "__call__", self._of_function)

    def _of_function(self, real: Any) -> Any:
        remember = self.recording.values.remember_unscaled

        def __call__(execution: Any, *args: Any, **named: Any) -> Any:  # noqa: N807
            if execution.fn is self.scale_map:
                out = real(execution, *args, **named)
                remember(args[1:], out)
                return out
            if self.recording.inside.depth:
                return real(execution, *args, **named)
            return self.execute(
                lambda: real(execution, *args, **named),
                execution.fn,
                execution.obj,
                (*args, *named.values()),
            )

        return __call__

    def execute(
        self, run: Callable[[], Any], function: Any, owner: Any, given: Tuple[Any, ...]
    ) -> Any:
        """Run a compiled cell or function, and record it if it trains.

        May end the process.
        """
        recording = self.recording
        contents = self.contents(function, owner)
        before = recording.look(contents.optimizers)
        if recording.deep is not None and contents.trains():
            named = function if owner is None else type(owner)
            recording.deep.given.to(getattr(named, "__name__", ""), given)
        with recording.inside:
            out = run()
        if contents.trains():
            with guarded("a compiled step"):
                self.record(out, function, owner, contents, before)
        return out

    def contents(self, function: Any, owner: Any) -> graph.Contents:
        """Return optimizers, gradients, scalers in a compiled function or cell; read once."""
        name = getattr(function, "__qualname__", "")
        try:
            known = self.known.setdefault(function if owner is None else owner, {})
        except TypeError:  # an owner without hash or weak references
            known = {}
        if name not in known:
            known[name] = graph.Contents()
            with guarded("reading a compiled step"):
                known[name] = self.reader.contents(function, owner)
        return known[name]

    def record(
        self, out: Any, function: Any, owner: Any, contents: graph.Contents, before: Before
    ) -> None:
        """Record a compiled step that has run and returned `out`.

        May end the process.
        """
        recorder, values = self.recording.recorder, self.recording.values
        name = getattr(function, "__name__", "")
        # what `value_and_grad` and `grad` return in graph mode, a closure over the `GradOperation`
        inner = graph.closure(function) if name == "after_grad" else {}
        taken: Any = inner.get("grad_")
        if getattr(taken, "get_value", False):
            weights = inner.get("weights")
            record_gradient(self.recording, out[0], weights, taken.has_aux, contents.scalers)
            return
        if taken is not None:
            recorder.caveat("mindspore-hidden-loss", HIDDEN % "gradient function")
            return
        one_step = isinstance(owner, self.one_step)
        losses: List[Any] = values.first(out) if one_step else values.scalar_first(out)
        if losses and (contents.optimizers or losses[0].size == 1):
            self.recording.lost(losses, BACKWARD)
        else:
            recorder.caveat("mindspore-hidden-loss", HIDDEN % ("function " + name))
        scales = one_step and len(listed(out)) == 3  # TrainOneStepWithLossScaleCell
        if scales and overflowed(out):
            recorder.skip()
        elif contents.optimizers:
            self.recording.stepped(contents.optimizers, before)


def say_captures(recorder: Any) -> None:
    """Note in the report if a function is compiled by tracing or from bytecode.

    Raises AttributeError if this version has no such way to compile.
    """
    from mindspore.graph import api

    def saying(mode: str) -> Callable[..., None]:
        return lambda *_, **__: recorder.caveat("mindspore-capture-" + mode, CAPTURE % mode)

    for name, mode in (("_jit_trace", "trace"), ("PIJitCaptureContext", "bytecode")):
        around(api, name, "a capture of mindspore", before=saying(mode))


def _executor() -> Any:
    """Return the class that executes functions compiled by `jit`.

    Raises ImportError if it has no known name in this version.
    """
    from importlib import import_module

    # where versions of MindSpore have the class that executes what `jit` compiles; it is private,
    # and was moved and renamed
    for module, name in product(MODULES, ("_JitExecutor", "_MindsporeFunctionExecutor")):
        with suppress(ImportError, AttributeError):
            return getattr(import_module(module), name)
    raise ImportError("no executor of compiled functions")


class AsItIs:
    """The stand-in for kept arguments: a step gets the arguments that the script gives."""

    def instead(self, args: Tuple[Any, ...]) -> Tuple[Any, ...]:
        """Return the arguments to call the forward half (loss) with."""
        return args

    def same(self, args: Tuple[Any, ...]) -> Tuple[Any, ...]:
        """Return the arguments to call the backward half (gradients) with."""
        return args
