"""Stand-ins for operators and for objects of MindSpore that are made with other arguments."""

import inspect
from typing import Any, Callable, Dict

from mindspore import ops
from mindspore.ops import functional_overload

from ....recorder.hooking import guarded, replace

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


def with_other_arguments(kind: Any, what: str, change: Callable[[Dict[str, Any]], None]) -> None:
    """Let `change` alter the constructor arguments of each object of the class `kind`.

    `change` gets the arguments by name, defaults included.
    """
    real = kind.__init__
    # the initialiser of a primitive stands behind a decorator that takes whatever it is given
    signature = inspect.signature(getattr(real, "decorated_func", real))

    def making(real: Any) -> Any:
        def __init__(instance: Any, *args: Any, **named: Any) -> None:  # noqa: N807
            try:
                bound = signature.bind(instance, *args, **named)
            except TypeError:
                return real(instance, *args, **named)  # MindSpore says what is wrong with them
            with guarded(what):
                bound.apply_defaults()
                change(bound.arguments)
                args, named = bound.args[1:], bound.kwargs
            return real(instance, *args, **named)

        return __init__

    replace(kind, "__init__", making)
