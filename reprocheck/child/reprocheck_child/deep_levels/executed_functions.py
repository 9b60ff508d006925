"""Finds which of the user's functions have run, and how far those that are running have come.

What is running lies on the stack when a fact is recorded. What came and went between two facts is
known where the interpreter counts: up to 3.11, CPython counts the first executions of each code
object, to know what is worth making faster. Where such a counter proves to be there it is read from
memory: no trace function is set, nothing is replaced, and the program cannot tell.
"""

from __future__ import annotations

import os
import sys
from ctypes import c_int16, c_int32, sizeof, string_at
from itertools import chain

from .scope import codes

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import CodeType
    from typing import Any, Callable, Iterator

    Counter = tuple[Any, int, int]
    # how wide it is, where it lies in a code object, and what it holds in one that was never
    # executed

_HEADER, _LOOKED_AT = object.__basicsize__, 176
"""Of a code object the bytes that are looked at, from the end of its header on. In 3.9 and 3.10
that is all of it and the counter lies at the end; in 3.11 the bytecode follows, which changes too.
"""
_CALLS = 3
"""Calls that must show in a counter, one by one."""
_DEPTH = 4
"""How far decorators and partial functions are looked through."""
_MOST_CODES = 20_000
_MOST_AT_EACH_FACT = 60
"""Functions not entered yet above which they are looked at with each batch, loss and update only,
not with each fact.
"""
_SELDOM = ("batch", "root", "hyper", "weights", "end")
_SERIES = {
    "outgrad": "backward",
    "gradient": "backward",
    **{kind: kind for kind in ("reduced", "update", "between", "weights")},
}
"""Facts that come in series, and the series. The stack does not move inside one."""
_WRAPPED = ("__func__", "__wrapped__", "fget", "func", "python_function")
"""Where methods, wrappers, properties, partials and functions of `tf.function` hold what they
stand for.
"""
_TRANSPARENT = ("builtins", "functools", "jaxlib", "jax", "tensorflow", "torch")
"""Packages whose decorators are looked through."""


class Reached:
    """Report which of the user's code has run, piece by piece.

    name_of  returns the name of a user's file, "" for any other file
    names    the names that `name_of` has returned, as a cache, because a step asks hundreds of
             times
    """

    def __init__(self, name_of: Callable[[str], str], names: dict[str, str] | None = None) -> None:
        self.counts = counter()
        self._name_of = name_of
        self._names: dict[str, str] = {} if names is None else names
        self._fresh = 0  # what a counter holds before the first call
        self._waiting: list[tuple[Any, CodeType]] = []  # a counter, and the code that it counts
        self._known: set[int] = set()
        self._modules = 0
        self._looked_at: set[str] = set()  # names of modules
        self._files: set[str] = set()
        # the user's code on the stack when it was last looked at, each with its line
        self._stood: list[Any] = []
        self._series: str | None = None  # that of the last fact
        # id of code that was seen on the stack -> the furthest line
        self._furthest: dict[int, int] = {}
        self._running: dict[int, CodeType] = {}
        self._done: dict[int, CodeType] = {}  # held, so that no other code gets the same id

    def news(self, kind: str, frame: Any) -> dict[str, Any] | None:
        """Return which of the user's code has run since the last call; None if nothing has.

        f  files that were imported
        l  lines (`file:line`) of running functions
        d  functions, by their first lines, that were entered and have been left
        """
        news_by_kind: dict[str, list[str]] = {}
        if len(sys.modules) != self._modules:
            news_by_kind["f"] = self._look_around()
        left: dict[int, CodeType] = {}
        before, self._series = self._series, _SERIES.get(kind)
        if self._series is None or self._series != before:
            stands = self._stack(frame)
            if stands != self._stood:
                self._stood = stands
                was_running = self._running
                self._running, news_by_kind["l"] = self._progress(stands)
                left = was_running
        seldom = len(self._waiting) > _MOST_AT_EACH_FACT
        if self._waiting and (kind in _SELDOM or not seldom):
            fresh = self._fresh
            entered: dict[int, CodeType] = {}
            for cell, code in self._waiting:
                if cell.value != fresh:
                    entered[id(code)] = code
            if entered:
                self._waiting = [
                    (cell, code) for cell, code in self._waiting if id(code) not in entered
                ]
            left = {**left, **entered}
        if left:
            news = left.keys() - self._running.keys() - self._done.keys()
            ended = [code for key, code in left.items() if key in news]
            self._done.update((id(code), code) for code in ended)
            news_by_kind["d"] = [self._place(code, code.co_firstlineno) for code in ended]
        return {name: value for name, value in news_by_kind.items() if value} or None

    def _stack(self, frame: Any) -> list[Any]:
        """Return the user's code on the stack, each followed by the line that it is at.

        `id` is not called: it raises an audit event.
        """
        stands: list[Any] = []
        names = self._names
        while frame is not None:
            code = frame.f_code
            name = names.get(code.co_filename)
            if name is None:
                name = names[code.co_filename] = self._name_of(code.co_filename)
            if name:
                stands += (code, frame.f_lineno or 0)
            frame = frame.f_back
        return stands

    def _progress(self, stands: list[Any]) -> tuple[dict[int, CodeType], list[str]]:
        """Return what is running by its id, and the lines that are further than any before."""
        running: dict[int, CodeType] = {}
        lines: list[str] = []
        for code, line in zip(stands[::2], stands[1::2]):
            running[id(code)] = code
            if line > self._furthest.get(id(code), 0):
                self._furthest[id(code)] = line
                lines.append(self._place(code, line))
        return running, lines

    def _place(self, code: CodeType, line: int) -> str:
        return "%s:%d" % (self._name_of(code.co_filename), line)

    def _look_around(self) -> list[str]:
        """Return user's files imported since the last call, and wait for their functions."""
        modules = list(sys.modules.items())
        self._modules = len(modules)
        fresh: list[str] = []
        for name, module in modules:
            if name in self._looked_at:
                continue
            namespace = _held(module)
            file = _file(name, namespace)
            shown = file and self._name_of(file)
            # set by `importlib` while a module is executed
            if shown and getattr(namespace.get("__spec__"), "_initializing", False):
                self._modules = -1  # it is under way: look again
                continue
            if file:
                self._looked_at.add(name)
            if not shown or shown in self._files:
                continue
            self._files.add(shown)
            self._add(module, os.path.abspath(file))
            if name != "__main__":
                fresh.append(shown)
        return fresh

    def _add(self, module: Any, file: str) -> None:
        if self.counts is None:
            return
        width, offset, self._fresh = self.counts
        for code in _codes(module, file):
            if id(code) not in self._known and len(self._known) < _MOST_CODES:
                self._known.add(id(code))
                self._waiting.append((width.from_address(id(code) + offset), code))


def counter() -> Counter | None:
    """Return a reader of this interpreter's execution counts; None where there are none."""
    if sys.implementation.name != "cpython":
        return None
    # `co_opcache_flag` of 3.9 and 3.10, `co_warmup` of 3.11: neither can be read from Python, so it
    # is found by what calls do to it
    names: dict[str, Any] = {}
    exec(compile("def probe():\n    pass\n", "<probe>", "exec"), names)
    probe = names["probe"]
    code = probe.__code__
    size = min(_LOOKED_AT, code.__sizeof__())
    looks = [string_at(id(code), size)]
    for _ in range(_CALLS):
        probe()
        looks.append(string_at(id(code), size))
    for width in (c_int16, c_int32):
        counters = list(_rising(looks, width))
        if len(counters) == 1:  # of several, none is known to be the counter
            return width, *counters[0]
    return None


def _rising(looks: list[bytes], width: Any) -> Iterator[tuple[int, int]]:
    """Yield (offset, value before the first call) of numbers that rise by one with each call."""
    size = sizeof(width)
    for offset in range(_HEADER, len(looks[0]) - size + 1, size):
        values = [
            int.from_bytes(look[offset : offset + size], sys.byteorder, signed=True)
            for look in looks
        ]
        if values == list(range(values[0], values[0] + len(values))):
            yield offset, values[0]


def _held(module: Any) -> dict[str, Any]:
    """Return the namespace of a module, without asking for attributes.

    A lazy attribute would load what it stands for.
    """
    try:
        namespace: dict[str, Any] = object.__getattribute__(module, "__dict__")
    except Exception:
        return {}
    return namespace


def _file(name: str, namespace: dict[str, Any]) -> str:
    """Return the source file of a module, "" where it has none."""
    file = namespace.get("__file__")
    if not isinstance(file, str) or not file.endswith(".py"):
        return ""
    # only the file of a program is given as it was typed
    return file if name == "__main__" or os.path.isabs(file) else ""


def _codes(module: Any, file: str) -> Iterator[CodeType]:
    """Yield the code of the functions and methods that a module defines, nested ones included."""
    namespace = _held(module)
    for value in list(namespace.values()):
        members = [value]
        is_class = issubclass(type(value), type)
        if is_class and value.__dict__.get("__module__") == namespace.get("__name__"):
            members = list(vars(value).values())
        for code in chain.from_iterable(map(_unwrapped, members)):
            if os.path.abspath(code.co_filename) == file:
                yield from codes(code)


def _unwrapped(value: Any, depth: int = _DEPTH) -> Iterator[CodeType]:
    """Yield the code behind a function, a method, a property, a partial or a decorated one."""
    code = _attribute(value, "__code__")
    if hasattr(code, "co_firstlineno"):
        yield code
    if not depth:
        return
    inside = [_attribute(value, name) for name in _WRAPPED]
    for inner in filter(callable, inside):
        yield from _unwrapped(inner, depth - 1)
    for cell in _attribute(value, "__closure__") or ():
        inner = _attribute(cell, "cell_contents")
        if hasattr(type(inner), "__code__"):
            yield from _unwrapped(inner, depth - 1)


def _attribute(value: Any, name: str) -> Any:
    """Return an attribute that an object or its class stores, without running the user's code."""
    if type(value).__module__.partition(".")[0] not in _TRANSPARENT:
        return None
    try:
        return object.__getattribute__(value, name)
    except Exception:
        return None
