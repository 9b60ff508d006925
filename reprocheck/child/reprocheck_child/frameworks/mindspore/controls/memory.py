"""`fill-memory` for MindSpore: what `empty`, `empty_like` and `Tensor.new_empty` make holds a fixed
pattern.
"""

import functools
from typing import Any

from ..open import replace

NAME = "fill-memory"
PATTERN = 0.5


def fill_memory(mindspore: Any, active: Any) -> None:
    """Rebind the functions wherever MindSpore has imported them; the method is filled in PyNative
    mode alone.
    """
    from mindspore.ops import functional_overload

    from . import functions

    for name in ("empty", "empty_like"):
        replace(getattr(functional_overload, name), getattr(functions, name))
        active.touched(NAME, "mindspore.mint." + name, PATTERN)
    _fill_method(mindspore, active)


def _fill_method(mindspore: Any, active: Any) -> None:
    from mindspore import ops

    real = mindspore.Tensor.new_empty

    @functools.wraps(real)
    def new_empty(*args: Any, **named: Any) -> Any:
        made = real(*args, **named)
        active.touched(NAME, "Tensor.new_empty", PATTERN)
        return ops.full_like(made, PATTERN)

    mindspore.Tensor.new_empty = new_empty
