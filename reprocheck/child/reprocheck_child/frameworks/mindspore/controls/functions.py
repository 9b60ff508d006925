"""Functions that stand in for operators of MindSpore.

The graph compiler parses them, so each is plain, in this file, without closure.
"""

from mindspore import ops
from mindspore.ops import functional_overload

# private: the operators behind `empty`, taken before the control rebinds its names
_empty_instance = functional_overload._empty_instance
_empty_like_instance = functional_overload._empty_like_instance


def dropout(input, p=0.5, training=True, inplace=False, seed=None):  # type: ignore[no-untyped-def]
    """Return the input, in place of every dropout function."""
    return input


def empty(*args, **kwargs):  # type: ignore[no-untyped-def]
    """Return a filled tensor in place of `empty`."""
    return ops.full_like(_empty_instance(*args, **kwargs), 0.5)


def empty_like(*args, **kwargs):  # type: ignore[no-untyped-def]
    """Return a filled tensor in place of `empty_like`."""
    return ops.full_like(_empty_like_instance(*args, **kwargs), 0.5)
