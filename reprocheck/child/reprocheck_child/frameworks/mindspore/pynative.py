"""Runs operator by operator (PyNative mode) at the deeper levels, as a graph hides its inside.

Done where it is asked for, before anything is compiled: graph mode is never entered, and a function
that the script gives to `jit` comes back as it is. Functions that the library compiles for itself
stay compiled. A training that is split over devices by the graph compiler (semi-automatic and
automatic parallel mode) has no other way to run: it stays a graph, and what it hides is said.
"""

import sys
from typing import Any, Callable

from ...recorder.hooking import around, like, replace

OPENED = (
    "Graph mode and functions compiled by `jit` run operator by operator (PyNative mode) at this"
    " level, so that cells and gradients can be seen; compiled, the same operators may be fused or"
    " ordered otherwise and round otherwise."
)
KEPT = "parallel mode %r needs the graph compiler: cells and gradients inside the graph are hidden"


class Opening:
    """The avoidance of graph mode, until the script asks for a parallel mode that needs a graph."""

    def __init__(self, mindspore: Any, recorder: Any, deep: Any) -> None:
        self.mindspore = mindspore
        self.recorder = recorder
        self.deep = deep
        self.kept = False
        self._asked = False

    def hook(self) -> None:
        """Set hooks on the choice of graph mode, on `jit`, and on the choice of a parallel mode."""
        from mindspore import context

        self.context = context
        # private: the object behind `set_context`, where every choice of the mode ends
        self._hook_mode(type(context._context()))
        self._hook_parallel()
        if context._get_mode() == context.GRAPH_MODE:  # the default of older versions
            context._context().set_mode(context.GRAPH_MODE)
        hook_compilers(self._opened)

    def _hook_mode(self, kind: Any) -> None:
        graph, eager = self.context.GRAPH_MODE, self.context.PYNATIVE_MODE
        before = kind.set_mode

        def opening(real: Any) -> Any:
            def set_mode(holder: Any, mode: Any) -> Any:
                self._asked = bool(mode == graph)
                if self._asked and not self.kept:
                    self._say()
                    mode = eager
                return real(holder, mode)

            return set_mode

        replace(kind, "set_mode", opening)
        setters = getattr(kind, "setters", {})
        if setters.get("mode") is before:  # what `set_context` calls
            setters["mode"] = kind.set_mode

    def _opened(self, function: Any, compiled: Callable[[], Any]) -> Any:
        if self.kept:
            return compiled()
        self._say()
        return function

    def _hook_parallel(self) -> None:
        real = self.context.set_auto_parallel_context

        def set_auto_parallel_context(*args: Any, **named: Any) -> Any:
            if named.get("parallel_mode") in ("semi_auto_parallel", "auto_parallel"):
                self._keep(str(named["parallel_mode"]))
            return real(*args, **named)

        everywhere(real, like(set_auto_parallel_context, real))
        parallel = sys.modules.get("mindspore.parallel.auto_parallel")
        kind = getattr(parallel, "AutoParallel", None)
        if kind is not None:
            what = "a training that needs its graph"
            around(kind, "__init__", what, before=lambda *_, **__: self._keep("AutoParallel"))

    def _say(self) -> None:
        self.recorder.note("graph-opened", OPENED)

    def _keep(self, mode: str) -> None:
        """Go back to graph mode, as the training needs its graph."""
        self.kept = True
        self.deep.unrecorded("graph", KEPT % mode)
        if self._asked:
            self.context._context().set_mode(self.context.GRAPH_MODE)


def is_graph_mode() -> bool:
    """Return whether cells are compiled when they are called."""
    from mindspore import context

    return bool(context._get_mode() == context.GRAPH_MODE)


def hook_compilers(
    given: Callable[[Any, Callable[[], Any]], Any], put: Callable[..., None] = setattr
) -> None:
    """Call `given(function, compiled)` for each function the script gives to `jit`.

    Its result takes the place of the function; `compiled()` compiles the function as `jit` would.

    Functions that the library compiles for itself stay compiled.
    """
    # private: what `jit` calls for each of its ways to capture a function
    from mindspore.graph import api

    def asking(real: Any) -> Callable[..., Any]:
        def compiler(*args: Any, **named: Any) -> Callable[[Any], Any]:
            def wrap(function: Any) -> Any:
                def compiled() -> Any:
                    return real(*args, **named)(function)

                module = getattr(function, "__module__", None) or type(function).__module__
                of_the_library = str(module).split(".", 1)[0] == "mindspore"
                return compiled() if of_the_library else given(function, compiled)

            return wrap

        return compiler

    for name in ("_jit_ast", "_jit_trace", "PIJitCaptureContext"):
        replace(api, name, asking, put=put)


def everywhere(real: Any, new: Any, put: Callable[..., None] = setattr) -> None:
    """Replace the function `real` by `new` in every module of MindSpore that has imported it.

    `put` sets the attribute, such as `setattr`.
    """
    for name, module in list(sys.modules.items()):
        if name.split(".", 1)[0] == "mindspore":
            for attribute in [
                key for key, value in list(getattr(module, "__dict__", {}).items()) if value is real
            ]:
                put(module, attribute, new)
