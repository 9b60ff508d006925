"""The levels `module` and `op` for PyTorch.

They record weights, batches, calls of modules, gradients and updates of the first iterations.
"""

import functools
import os
import sys
from typing import Any, Callable, Dict, List

from ...deep_levels import facts as deeper
from ...recorder import import_hook
from ...recorder.hooking import guarded, install as install_hooks
from . import compilers
from .fingerprint import Fingerprints
from .gradients import Gradients
from .modules import Modules
from .names import Names
from .states import device_state, host_state

EAGER = (
    "Compiled code was run as it is written (torch.compile): its values differ from those compiled."
)


def install(torch: Any, recorder: Any, adapter: Any) -> Dict[str, str]:
    """Install the hooks of the deeper levels in a freshly imported torch.

    Return what became of each hook.
    """
    deep = deeper.of(recorder)
    deep.foreign.append(os.path.join(os.path.dirname(os.path.abspath(torch.__file__)), ""))
    deep.generators["torch"] = host_state(torch)
    prints: Any = Fingerprints(torch, recorder, deep.unrecorded)
    deep.fingerprints = prints
    first = recorder.first
    if first is not None:
        prints.no_memory = first.leave
        prints.read, prints.finish = first.timed(prints.read), first.timed(prints.finish)
    deep.finish = prints.finish
    if deep.boundary is None:
        deep.mirrors = _part("mirrors").Mirrors(torch, deep)
    adapter.deep = _Deep(torch, deep, adapter)
    steps: Dict[str, Callable[[], Any]] = {
        "modules": adapter.deep.watch,
        "compilers": adapter.deep.watch_compilers,
        "data": lambda: _part("data").install(torch, deep),
        "seeds": lambda: _part("seeds").install(torch, deep),
    }
    if deep.boundary is not None:
        steps["boundary"] = lambda: _part("boundary").Held(torch, deep, adapter).watch()
        deep.boundary.may_rest()
        # made now, and not in the middle of a step
        prints.tables.on["cpu"]
        prints.sketches.make_room()
        deep.boundary.on_rest.append(adapter.deep.gradients.rest)
    if deep.mirrors is not None:
        steps["mirrors"] = deep.mirrors.watch
    if recorder.level == "op":
        steps["operators"] = lambda: _part("ops").install(torch, deep, adapter)
    return install_hooks(torch, steps)


def _part(name: str) -> Any:
    from importlib import import_module

    return import_module("." + name, __package__)


class _Deep:
    """The deeper levels' side of the adapter.

    Nothing here raises.
    """

    def __init__(self, torch: Any, deep: Any, adapter: Any) -> None:
        self.torch = torch
        self.deep = deep
        self.adapter = adapter
        self.names = Names(torch, deep)
        self.gradients = Gradients(torch, deep, self.names, adapter)
        self.modules = Modules(torch, deep, self.names, self.gradients)
        self.modules.before_root.append(self.find_devices)
        self.backends: Dict[str, Any] = {}  # name -> module
        # the backend that plugged in under a name of its own: only private functions say it
        for name in ("cuda", "xpu", torch._C._get_privateuse1_backend_name()):
            self.backend(name)
        import_hook.when_imported("torch_npu", lambda module: self.backend("npu"))
        self.said = False  # that a training is recorded deeply
        if deep.recorder.first is not None:
            deep.recorder.first.on_leave.append(self.leave)

    def leave(self) -> None:
        """Remove all hooks from torch when level `auto` stops recording deeper facts."""
        self.adapter.deep = None
        self.deep.leave()
        self.names.fills.end()
        self.gradients.unwatch_all()
        self.deep.fingerprints.recent.clear()
        self.deep.fingerprints.known.clear()

    def watch(self) -> None:
        """Set hooks on calls of modules, the making of weights, and steps about to begin."""
        from torch.optim.optimizer import register_optimizer_step_pre_hook

        self.names.watch()
        self.modules.watch()
        self.deep.hooks.hold(register_optimizer_step_pre_hook(self.before_step))

    @guarded("naming the tensors of an optimizer")
    def optimizer_built(self, optimizer: Any) -> None:
        """Record an optimizer that was built by the script."""
        self.gradients.optimizer_built(optimizer)

    @guarded("looking at a loss")
    def before_backward(self, roots: List[Any], kind: str) -> None:
        """Record a backward pass that is about to start, not inside another."""
        if self.deep.rests and self.deep.boundary is None:
            self.names.fills.end()
            return
        self.find_devices()
        if not self.said:
            self.said = True
            self.deep.recorder.emit({"e": "deep", "level": "module"})
        self.gradients.before_backward(roots, kind)

    @guarded("looking at gradients")
    def after_backward(self, args: Any, kwargs: Any, returned: Any) -> None:
        """Record the gradients that `autograd.grad` has returned."""
        if self.deep.rests:
            return
        inputs = args[3] if len(args) > 3 else kwargs.get("inputs")
        self.gradients.returned(inputs, returned)

    def before_step(self, optimizer: Any, args: Any, kwargs: Any) -> None:
        """Record an update before it is made, as global pre-hook of `Optimizer.step`."""
        with guarded("before an update"):
            if not self.deep.rests and not self.adapter.inside_step(sys._getframe(1)):
                self.gradients.before_step(
                    optimizer, self.adapter.index_of(optimizer), _closure(args, kwargs)
                )

    @guarded("looking at an update")
    def after_step(self, optimizer: Any, index: int, args: Any, kwargs: Any) -> None:
        """Record an optimizer that has stepped, not inside another step."""
        if self.deep.rests:
            return
        self.gradients.after_step(optimizer, index, _closure(args, kwargs))

    def find_devices(self) -> None:
        """Add the generator of the device in use to the watched generators.

        A backend that is not initialised is left alone.
        """
        for backend, module in self.backends.items():
            if module.is_initialized():
                index = module.current_device()
                name = "%s:%d" % (backend, index)
                if name not in self.deep.generators:
                    self.deep.generators[name] = device_state(module, index)

    def backend(self, name: str) -> None:
        """Watch the generators of the backend `name` if torch has loaded the backend."""
        module = getattr(self.torch, name, None)
        if hasattr(module, "is_initialized"):
            self.backends.setdefault(name, module)

    def watch_compilers(self) -> None:
        """Let functions given to a compiler run uncompiled, because modules inside are not seen.

        At level `auto` the code stays compiled, and recording of the deeper level stops.
        """
        if self.deep.recorder.first is not None:
            compilers.watch(self.torch, self.deep.hooks, self.deep.recorder.first)
        else:
            self._open_compilers()

    def _open_compilers(self) -> None:
        """Set hooks on the compilers, which are imported when they are first used."""
        torch, recorder, real = self.torch, self.deep.recorder, self.torch.compile
        done: List[bool] = []

        @functools.wraps(real)
        def compile(*args: Any, **kwargs: Any) -> Any:
            if not done:
                done.append(True)
                try:
                    # there since 2.6; it also holds for what was compiled before
                    torch.compiler.set_stance("force_eager")
                    recorder.note("eager", EAGER)
                except Exception as error:
                    self.deep.unrecorded(
                        "torch.compile", "compiled code could not be opened: " + repr(error)
                    )
            return real(*args, **kwargs)

        torch.compile = compile


def _closure(args: Any, kwargs: Any) -> bool:
    """Return whether `step` was called with a closure, which computes the gradients inside."""
    return any(map(callable, (*args[1:], *kwargs.values())))
