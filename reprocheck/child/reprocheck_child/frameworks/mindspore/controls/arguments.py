"""Makes objects of MindSpore with other arguments than the script gives."""

import inspect
from typing import Any, Callable, Dict

from ....recorder.hooking import guarded, replace


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
