"""The control `fill-memory` for MindSpore: unfilled tensors hold a fixed pattern.

They are those of `empty`, `empty_like` and `Tensor.new_empty`.
"""

from typing import Any

from ....recorder.hooking import replace
from ..pynative import everywhere

NAME = "fill-memory"
PATTERN = 0.5


def fill_memory(mindspore: Any, active: Any) -> None:
    """Fill the memory that `empty` and `empty_like` return, wherever they are imported.

    The method is filled in PyNative mode alone.
    """
    from mindspore.ops import functional_overload

    from . import replacements

    for name in ("empty", "empty_like"):
        everywhere(getattr(functional_overload, name), getattr(replacements, name))
        active.touched(NAME, "mindspore.mint." + name, PATTERN)
    _fill_method(mindspore, active)


def _fill_method(mindspore: Any, active: Any) -> None:
    from mindspore import ops

    def filling(real: Any) -> Any:
        def new_empty(*args: Any, **named: Any) -> Any:
            tensor = real(*args, **named)
            active.touched(NAME, "Tensor.new_empty", PATTERN)
            return ops.full_like(tensor, PATTERN)

        return new_empty

    if not replace(mindspore.Tensor, "new_empty", filling):
        raise AttributeError("Tensor.new_empty")
