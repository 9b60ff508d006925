"""Counts how often a differentiation in a loop is evaluated for the same weights.

`lax.scan` over microbatches with the weights taken from around it accumulates gradients for one
update. Its length is known when it is traced, and so is whether the weights come from around it or
are carried from round to round. `fori_loop` with fixed bounds and `lax.map` are made of it.
"""

import functools
import sys
import threading
from typing import Any, Callable, List, Optional, Tuple

from ...recorder.hooking import replace

MODULES = ("jax._src.lax.control_flow.loops", "jax._src.lax.control_flow.conditionals", "jax.lax")
"""Where JAX itself and scripts look the functions up."""


class _Loop:
    """A loop that is being traced: its length and the traces around it.

    The length is None where it is not known.
    """

    def __init__(self, length: Optional[int], around: Tuple[Any, ...]) -> None:
        self.length = length
        self.around = around


class _Stack(threading.local):
    """The loops that are being traced in a thread, from outside inwards."""

    def __init__(self) -> None:
        self.loops: List[_Loop] = []


class Loops:
    """The loops that are being traced in each thread."""

    def __init__(self, jax: Any) -> None:
        self.jax = jax
        self.local = _Stack()

    def hook(self) -> None:
        """Wrap the functions that make loops and branches."""
        uncounted = ("while_loop", "cond", "switch")
        lengths = {"scan": self._length_of_scan, **dict.fromkeys(uncounted, lambda *_, **__: None)}
        also = list(filter(None, map(sys.modules.get, MODULES)))
        for name, length_of in lengths.items():
            make = functools.partial(self._following, length_of)
            if not replace(self.jax.lax, name, make, also):
                raise AttributeError("jax.lax has no " + name)

    def rounds(self, weights: List[Any]) -> int:
        """Return how often the current differentiation is evaluated for the same weights.

        It counts for each execution of the program; 1 if the number is not known.
        """
        if not weights or self.jax.config.jax_disable_jit:
            return 1
        count = 1
        for loop in reversed(self.local.loops):
            if loop.length is None or not all(self._from_around(leaf, loop) for leaf in weights):
                break
            count *= loop.length
        return count

    def _from_around(self, leaf: Any, loop: _Loop) -> bool:
        if not isinstance(leaf, self.jax.core.Tracer):
            return True
        # private: the trace that made a value tells whether it comes from around the loop
        return any(leaf._trace is trace for trace in loop.around)

    def _following(self, length_of: Callable[..., Optional[int]], real: Any) -> Any:
        def follow(*args: Any, **kwargs: Any) -> Any:
            stack = self.local.loops
            # JAX before 0.4.36 keeps the traces elsewhere: there nothing counts as taken from
            # around
            # private: the trace that makes what operators return now
            current = getattr(getattr(self.jax._src.core, "trace_ctx", None), "trace", None)
            outer: Tuple[Any, ...] = ()
            if stack:
                outer = stack[-1].around
            stack.append(
                _Loop(length_of(*args, **kwargs), (outer if current is None else (*outer, current)))
            )
            try:
                return real(*args, **kwargs)
            finally:
                stack.pop()

        return follow

    def _length_of_scan(
        self,
        f: Any = None,
        init: Any = None,
        xs: Any = None,
        length: Any = None,
        *args: Any,
        **kwargs: Any,
    ) -> Optional[int]:
        try:
            leaves = self.jax.tree_util.tree_leaves(xs)
            return int(leaves[0].shape[0] if leaves else length)
        except Exception:
            return None
