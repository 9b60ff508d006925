"""Putting a function in another's place."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_NAMED = ("__module__", "__name__", "__qualname__", "__doc__")


class Builtin:
    """Stands for a function written in C: held in a class, it is not bound to instances, as a
    function written in Python would be.
    """

    def __repr__(self) -> str:
        return "<built-in function %s>" % self.__name__  # type: ignore[attr-defined]

    def __reduce__(self) -> str:
        """Pickled and copied by name, as functions are."""
        return str(self.__qualname__)  # type: ignore[attr-defined]


def like(wrapper: Any, real: Any) -> Any:
    """`wrapper` with the name and documentation of `real`, and unbound where that is."""
    if isinstance(real, (type(len), Builtin)):
        wrapper = type(
            "builtin_function_or_method", (Builtin,), {"__call__": staticmethod(wrapper)}
        )()
    for name in _NAMED:
        try:
            setattr(wrapper, name, getattr(real, name))
        except (AttributeError, TypeError):
            pass
    wrapper.__wrapped__ = real
    return wrapper


def replace(owner: Any, name: str, make: Any) -> bool:
    """Put `make(real)` in the place of `owner.name`, where there is one."""
    real = getattr(owner, name, None)
    if real is None:
        return False
    setattr(owner, name, like(make(real), real))
    return True
