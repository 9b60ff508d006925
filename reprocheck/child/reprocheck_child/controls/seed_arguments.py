"""Finds how the user could have passed a seed to a library's function that draws."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import FrameType
    from typing import Any, Sequence

NAMES = ("seed", "random_state", "random_seed", "rng")
"""Arguments that take a number as a seed."""
IMPORTED = "import"
"""Said where a library draws as it is imported, which is no call of the user's."""
_IMPORTERS = ("importlib._bootstrap", "_frozen_importlib")
METHOD = "seed"
"""The method of an object that seeds its generator."""
_VARIABLE_KEYWORDS = 0x08
"""The flag of a code object that has `**keywords`."""
_CONSTRUCTORS = ("__init__", "__new__")


def left_out(frames: Sequence[FrameType]) -> str:
    """Return how the user's line could have given a seed to the library; "" where unknown.

    It is `reset(seed)` where the line calls `reset` and leaves out its `seed`; `sample.seed` where
    it calls `sample` of an object that has a method `seed`; `import` where the library is only
    imported.

    `frames` are those of the library, the innermost first. What hands its keywords on (a decorator)
    is looked through.
    """
    if any(frame.f_globals.get("__name__") in _IMPORTERS for frame in frames):
        return IMPORTED
    if not frames:
        return ""
    for frame in reversed(frames):
        arguments = _arguments(frame)
        values = frame.f_locals
        for name in NAMES:
            if name in arguments and values.get(name, frame) is None:
                return "%s(%s)" % (_called(frame), name)
        if not frame.f_code.co_flags & _VARIABLE_KEYWORDS:
            break
    return _by_method(frames[-1])


def _arguments(frame: FrameType) -> tuple[str, ...]:
    code = frame.f_code
    return code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]


def _called(frame: FrameType) -> str:
    """Return the function that is called, or the class where the call makes an object."""
    name = frame.f_code.co_name
    if name not in _CONSTRUCTORS:
        return name
    instance = _first_argument(frame)
    # `__new__` is given the class, `__init__` the object
    kind: type = instance if isinstance(instance, type) else type(instance)
    return kind.__name__


def _by_method(frame: FrameType) -> str:
    name = frame.f_code.co_name
    owner = type(_first_argument(frame))
    if name in _CONSTRUCTORS or not callable(getattr(owner, METHOD, None)):
        return ""
    return "%s.%s" % (name, METHOD)


def _first_argument(frame: FrameType) -> Any:
    """Return the first argument (`self`) of the function in a frame; None if it has none."""
    arguments = _arguments(frame)
    if not arguments:
        return None
    return frame.f_locals.get(arguments[0])
