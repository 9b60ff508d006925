"""Finds out whether anything was drawn from a generator that the control `seed` has seeded.

If nothing was, the control changed nothing in the run.
"""

from __future__ import annotations

import os

from ..recorder.hooking import guarded, like

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import FrameType
    from typing import Any, Callable, Sequence

    from .active_controls import Active


NAME = "seed"
_MOST_DRAWS = 4096
"""Draws of which the user's line is looked up."""


class Drawn:
    """One default generator, whose state shows whether anything was drawn from it.

    A seed that the script sets itself replaces that of the control.
    """

    def __init__(self, active: Active, generator: str, state: Callable[[], object]) -> None:
        self._active = active
        self._generator = generator
        self._state = state
        self._start: object = None
        self._left, self._lines = _MOST_DRAWS, {""}
        active.recorder.on_end.append(self.look)
        os.register_at_fork(before=self._inherited)

    def seeded(self) -> None:
        """Note that the control has seeded the generator."""
        self._start = self._state()

    def look(self) -> None:
        """Report, once, if the generator has moved since it was seeded."""
        if self._start is not None and self._state() != self._start:
            self._tell("numbers drawn from " + self._generator)

    def drawing(self, real: Any) -> Any:
        """Wrap a function of the generator to report each user's line that draws by it.

        The line counts wherever in a library the draw happens, as long as the control's seed is in
        use.
        """

        def draw(*args: Any, **kwargs: Any) -> Any:
            if self._left and self._start is not None:
                self._left -= 1
                self._quietly(self._at_line)
            return real(*args, **kwargs)

        return draw

    def _at_line(self) -> None:
        line = self._active.line(2)
        if line not in self._lines:
            self._lines.add(line)
            self._active.touched(NAME, "numbers drawn from " + self._generator, draws=True)

    def watch(self, owner: Any, name: str) -> None:
        """Set hooks on `owner.name`, by which the script seeds the generator."""
        real = getattr(owner, name)

        def seed(*args: Any, **kwargs: Any) -> Any:
            self._quietly(self.look)
            self._start = None
            return real(*args, **kwargs)

        seed.__name__ = seed.__qualname__ = name
        seed.__module__, seed.__doc__ = getattr(real, "__module__", None) or "", real.__doc__
        setattr(owner, name, seed)

    def asked(self, owner: Any, name: str) -> None:
        """Set hooks on `owner.name`, by which the script reads the control's seed.

        A number that the script computes from it depends on the control, even if nothing is drawn.
        """
        real = getattr(owner, name)

        def read(*args: Any, **kwargs: Any) -> Any:
            if self._start is not None and self._active.asked_by_user():
                what = "the seed of %s, which the script reads" % self._generator
                self._quietly(lambda: self._active.touched(NAME, what))
            return real(*args, **kwargs)

        setattr(owner, name, like(read, real))

    def _inherited(self) -> None:
        """Compare the state right after a fork, because the process begins with the seeded state.

        The forked process may end without a report of what was drawn.
        """
        if self._start is not None:
            self._quietly(lambda: self._tell("state of %s in a fork" % self._generator))

    def _tell(self, what: str) -> None:
        self._start = None
        self._active.touched(NAME, what)

    @guarded("what was drawn under the control seed")
    def _quietly(self, act: Callable[[], None]) -> None:
        act()


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
