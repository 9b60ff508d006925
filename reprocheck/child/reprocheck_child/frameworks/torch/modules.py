"""Records calls of modules: inputs, outputs, and generators that moved during the call.

Before the first call it records the weights.

`Module.__call__` is wrapped, not hooked: the wrapper sees keyword arguments, what other hooks made
of inputs and outputs, and errors.
"""

import functools
import sys
from _thread import _local, get_ident
from typing import Any, Callable, Dict, Iterable, Iterator, List, Optional, Tuple

from ...recorder import import_hook
from . import sharded as torch_sharded
from .identity import Made
from .parts import FAKES

_Call = Tuple[Any, str, List[Any], Optional[Dict[str, bytes]]]
"""A module call that has not returned yet: the module, its path, what it was given, and the states
of the generators before it, if it can draw.
"""


class _Thread(_local):
    """The module calls that are open in a thread."""

    def __init__(self) -> None:
        self.stack: List[_Call] = []


class Modules:
    """The recorder of the calls of every module of a process."""

    def __init__(self, torch: Any, deep: Any, names: Any, gradients: Any) -> None:
        self.torch = torch
        self.deep = deep
        self.prints = deep.fingerprints
        self.later = deep.fingerprints.later
        # a subclass of Tensor must not see what the recorder asks of it
        self.aside = torch._C.DisableTorchFunction
        self.names = names
        self.gradients = gradients
        self.paths = names.modules.entries  # looked up by hand with each call of a module
        self.drawless = Made(_is_drawless)
        self.local = _Thread()
        self.tensor = torch.Tensor
        # Asked with each call of a module, so each is the C++ function itself: whether `jit.trace`
        # records (`Module._call_impl` asks the same one), the transform of `torch.func` that runs,
        # None outside of all, and the number of the backward pass, -1 outside. The last two have no
        # public name.
        self.tracing = torch._C._get_tracing_state
        self.transforming = torch._C._functorch.peek_interpreter_stack
        self.task = torch._C._current_graph_task_id
        self.before_root: List[Callable[[], None]] = []
        """Called before each outermost call."""
        self.after_root: List[Callable[[Any], None]] = []
        """Called with the outermost module once it has returned."""
        self.worker = torch.utils.data.get_worker_info
        self.started = False
        self.sampled: Tuple[Any, Any] = (None, None)
        """The fingerprint of the last batch that was a tensor, and the hashes of its samples."""
        # by its code, since the frame of a caller is known by nothing else
        self.sequential = torch.nn.Sequential.forward.__code__
        self.handed: Any = None
        """The call whose module just called another, that one's output by id and version, and its
        fingerprint.
        """
        deep.module_path = self.path
        self.mirrors = deep.mirrors
        if self.mirrors is not None:
            self.after_root.append(self.mirrors.after_root)

    def watch(self) -> None:
        """Wrap `Module.__call__`."""
        base, enter, leave = self.torch.nn.Module, self.enter, self.leave
        deep, hooks = self.deep, self.deep.hooks
        real = base.__call__
        watches = deep.boundary is not None

        # By hand: the most frequent hook of all, and one that sees what the module raises. Python
        # looks a call up in the class: one attribute of `Module` reaches all modules, also those
        # that were made before.
        @functools.wraps(real)
        def __call__(self: Any, *args: Any, **kwargs: Any) -> Any:  # noqa: N807
            # a script may have put a function of its own over this one, that goes on to call it
            is_left_out = hooks.gone or (deep.rests and not watches)
            stack = None if is_left_out else enter(self, args, kwargs)
            if stack is None:
                return real(self, *args, **kwargs)
            output = _MISSING
            try:
                output = real(self, *args, **kwargs)
                return output
            finally:
                leave(stack, output)

        self.deep.hooks.put(base, "__call__", __call__)
        sharded = torch_sharded.Sharded(self.deep, self.names, self.gradients)
        # modules that shard weights: the second is that of older versions, and loads the first in
        # newer ones
        for name in ("torch.distributed.fsdp._fully_shard", "torch.distributed._composable.fsdp"):
            import_hook.when_imported(name, lambda module: self.after_root.append(sharded.watch))

    def path(self) -> str:
        """Return the path of the module whose forward runs in this thread; "" if none does."""
        stack = self.local.stack
        return stack[-1][1] if stack else ""

    def enter(self, module: Any, args: Any, kwargs: Any) -> Optional[List[_Call]]:
        """Note that a module is called; return this thread's open calls, the new one on top.

        None if the call is not recorded.
        """
        deep, stack = self.deep, self.local.stack
        try:
            if self._is_left_out(module, stack):
                return None
            with self.aside():
                if stack:
                    caller = stack[-1]
                    inputs = self._handed_on(caller, args, kwargs) or self._inputs(args, kwargs)
                    known = self.paths.get(id(module))
                    is_known = known is not None and known[0]() is module
                    path = known[1] if is_known else self.names.path(module, caller[:2])
                else:
                    inputs = self._inputs(args, kwargs)
                    self._enter_root(module, args, kwargs, inputs)
                    path = self.names.path(module, None)
                # no generator is read around a layer that cannot draw: no module is called in it,
                # and no hook of the script
                hooked = module._forward_hooks or module._forward_pre_hooks
                can_draw = not self.drawless[type(module)] or module._modules or hooked
                stack.append((module, path, inputs, deep.states() if can_draw else None))
            return stack
        except Exception as error:
            deep.recorder.problem("before a module's forward", error)
            return None

    def _is_left_out(self, module: Any, stack: List[_Call]) -> bool:
        """Return whether the call of a module is not recorded."""
        deep = self.deep
        if stack and deep.rests:
            return True
        # another thread of the script, or `jit.trace`: what the recorder does would be traced
        if deep.thread != get_ident() and deep.elsewhere():
            return True
        if self.tracing() is not None:
            return True
        if self.transforming() is not None:
            what = "module " + type(module).__name__
            deep.unrecorded(what, "called inside a transformation of torch.func")
            return True
        # a transformation in a worker of a loader: its batch is recorded where it is handed out
        return not stack and self.worker() is not None

    def _handed_on(self, caller: _Call, args: Any, kwargs: Any) -> Optional[List[Any]]:
        """Return the inputs of a module, if they are what the one before it has just returned.

        In a `Sequential` no other code runs between two calls, as its frame does nothing between
        them.
        """
        handed, self.handed = self.handed, None
        if handed is None or handed[0] is not caller or len(args) != 1 or kwargs:
            return None
        _, identity, version, fingerprint = handed
        (given,) = args
        if id(given) != identity or sys._getframe(3).f_code is not self.sequential:
            return None
        if given.is_inference() or given._version != version:
            return None
        return [["0", fingerprint]]

    def leave(self, stack: List[_Call], output: Any) -> None:
        """Record the call on top of the stack when it ends; without `output` if it raised."""
        deep, prints = self.deep, self.prints
        try:
            module, path, inputs, states = stack.pop()
            if output is _MISSING or deep.hooks.gone:
                return
            with self.aside():
                keys: Dict[str, Any] = {"k": type(module).__name__, "in": inputs}
                if states is not None:
                    keys.update(deep.moved(states))
                if self.names.uninitialised:
                    self.gradients.record_weights(module)
                if deep.rests:
                    # what it was given tells which batch it was
                    deep.seen("call", path, **keys)
                    return
                if "g" in keys and type(module).__module__ in _DRAWING:
                    keys["x"] = module.extra_repr()
                self.handed = None
                tensors: Iterable[Any]
                if type(output) is self.tensor:
                    fingerprint = prints.again(output)
                    # `_version` counts the writes in place; a tensor of inference mode has none
                    if stack and not output.is_inference():
                        self.handed = (stack[-1], id(output), output._version, fingerprint)
                    keys["out"] = [["", fingerprint]]
                    tensors = (output,)
                else:
                    keys["out"] = prints.leaves(output)
                    tensors = self._tensors(output)
                deep.seen("call", path, **keys)
                if "g" in keys and self.mirrors is not None:
                    self.mirrors.draw(path, module, len(stack), states, inputs)
                for tensor in tensors:
                    if tensor.grad_fn is not None:
                        self.gradients.watch_output(tensor, path)
                if not stack:
                    for callback in self.after_root:
                        callback(module)
        except Exception as error:
            deep.recorder.problem("after a module's forward", error)

    def _inputs(self, args: Any, kwargs: Any) -> List[Any]:
        """Return the fingerprints of what a module is given."""
        prints, sketched = self.prints, not self.deep.rests
        if kwargs or len(args) > len(_INDICES):
            return list(prints.leaves(args) + prints.leaves(kwargs))
        inputs: List[Any] = []
        for index, value in zip(_INDICES, args):
            if type(value) is not self.tensor:
                return list(prints.leaves(args))
            inputs.append([index, prints.again(value, sketched)])
        return inputs

    def _enter_root(self, module: Any, args: Any, kwargs: Any, inputs: Any) -> None:
        names = self.names
        for callback in self.before_root:
            callback()
        if not names.knows(module) or names.changed:
            top = names.top(module)
            names.adopt(top, None if names.knows(top) else self.deep.frame(2))
            self.gradients.record_weights(top)
        self.gradients.watch_thawed()
        # inside a backward pass, a checkpoint calls the module again: no batch, and no update
        if self.task() == -1:
            if not self.deep.rests:
                self.gradients.record_by_hand()
            self._start(module, args, kwargs, inputs)

    def _start(self, module: Any, args: Any, kwargs: Any, inputs: Any) -> None:
        if not self.started:
            self.started = True
            self.names.fills.end()
            self.deep.seen("rng", "first forward", call=False, g=self.deep.rng())
        if self.torch.is_grad_enabled():
            self.deep.goes_on("torch")
        if self.mirrors is not None:
            self.mirrors.before_root(module, inputs)
        if self.deep.loaders or next(module.parameters(), None) is None:
            return
        given = (*args, *kwargs.values())
        for tensor in self._tensors(given):
            if tensor.requires_grad:
                return  # made by another module
        batch = given[0] if len(given) == 1 else given
        fingerprint, samples = self.sampled
        # bytes that were seen before have the same fingerprint: their rows are hashed once
        if len(given) != 1 or inputs[0][1] is not fingerprint or type(batch) is not self.tensor:
            samples = self.prints.samples(batch)
            self.sampled = inputs[0][1] if inputs else None, samples
        keys = {"n": samples} if samples else {}
        place = "inputs of " + type(module).__name__
        self.deep.seen("batch", place, out=inputs, **keys)
        if self.mirrors is not None:
            self.mirrors.batch(place, batch, samples)

    def _tensors(self, value: Any, depth: int = 0) -> Iterator[Any]:
        """Yield the tensors in a module's output through which gradients can flow."""
        if isinstance(value, self.tensor):
            if not type(value).__module__.startswith(FAKES):
                yield value
        elif depth < _DEPTH:
            for element in _elements(value)[:_LONGEST]:
                yield from self._tensors(element, depth + 1)


def _elements(value: Any) -> List[Any]:
    if isinstance(value, (list, tuple)):
        return list(value)
    if isinstance(value, dict):
        return list(value.values())
    # an output of `transformers` is a dict, one of the script's own is often a dataclass
    fields = getattr(value, "__dataclass_fields__", ())
    return [getattr(value, name, None) for name in fields]


def _is_drawless(kind: Any) -> bool:
    """Return whether the modules of a class draw no random number by themselves."""
    package, _, file = kind.__module__.rpartition(".")
    return package == "torch.nn.modules" and file in _DRAWLESS and kind.__name__ not in _DRAWERS


_MISSING = object()
_DRAWING = frozenset("torch.nn.modules.%s" % name for name in ("dropout", "activation", "rnn"))
"""Where the modules of PyTorch's own that draw random numbers are defined: what such a module was
made with stands beside its draw, so that it can be replayed.
"""
_DRAWLESS = frozenset((
    "activation", "batchnorm", "channelshuffle", "conv", "flatten", "fold", "instancenorm",
    "linear", "loss", "normalization", "padding", "pixelshuffle", "pooling", "sparse", "upsampling",
))  # fmt: skip
"""Where those are defined that draw none, but for these: around them no generator is read."""
_DRAWERS = frozenset(("FractionalMaxPool2d", "FractionalMaxPool3d", "MultiheadAttention", "RReLU"))
_DEPTH, _LONGEST = 6, 1000
"""How deep, and how many in each list, tensors are looked for in what a module returned."""
_INDICES = tuple(map(str, range(16)))
