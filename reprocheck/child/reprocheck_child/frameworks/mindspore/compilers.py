"""Stops the deeper recording of level `auto` when cells or functions are about to be compiled.

What runs inside a graph is not seen, and a hook on a tensor would be compiled with it.
"""

import sys
from typing import Any, Callable

from .pynative import hook_compilers

GRAPH_MODE = "graph mode compiles the training"
COMPILED = "a cell was compiled"


def watch(hooks: Any, first: Any) -> None:
    """Call `first`, which leaves the deeper level, before a cell or function is compiled.

    Each step asks whether graph mode is on.
    """

    def given(_: Any, compiled: Callable[[], Any]) -> Any:
        first.leave("mindspore.jit was called")
        return compiled()

    hook_compilers(given, put=hooks.put)
    # private: what `Cell.compile` and `mindspore.export` call, also in PyNative mode
    executor = type(sys.modules["mindspore.nn.cell"]._cell_graph_executor)

    def compiling(*_: Any, **__: Any) -> None:
        first.leave(COMPILED)

    hooks.around(executor, "compile", "before a cell is compiled", before=compiling)
