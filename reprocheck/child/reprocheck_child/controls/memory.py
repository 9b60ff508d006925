"""The control `fill-memory` for NumPy: uninitialized arrays hold a fixed pattern.

It acts on arrays that the user's own modules make, which would hold what the memory held before.
"""

from __future__ import annotations

from ..recorder import import_hook
from ..recorder.hooking import guarded, replace

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Callable

    from .active_controls import Active

NAME = "fill-memory"
PATTERN = 0.5
"""Finite in every type; whole numbers get 1, and so do truth values."""


def install(active: Active) -> None:
    """Replace `numpy.empty` and related functions when NumPy is imported."""

    def numpy(module: Any) -> None:
        with guarded("filling memory"):
            for name in ("empty", "empty_like"):
                replace(
                    module, name, lambda real, name=name: _filling(active, real, "numpy." + name)
                )

    import_hook.when_imported("numpy", numpy)


def _filling(active: Active, real: Callable[..., Any], what: str) -> Callable[..., Any]:
    pattern = PATTERN / 4**active.fill

    def empty(*args: Any, **kwargs: Any) -> Any:
        array = real(*args, **kwargs)
        if active.users_module() and array.dtype.kind in "fciub":
            array.fill(pattern if array.dtype.kind in "fc" else 1)
            active.touched(NAME, what)
        return array

    return empty
