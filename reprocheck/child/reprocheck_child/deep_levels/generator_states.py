"""The states of the generators of Python and numpy, as bytes.

They are read for each call of a module, so they must cost next to nothing.
"""

from __future__ import annotations

import sys
from ctypes import c_char, string_at

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Callable

_modules = sys.modules
_MARK = 40
"""Bytes of a state that show whether any of it changed."""


def python() -> Any:
    """Return the generator behind the functions of `random`; None while there is none."""
    return getattr(sys.modules.get("random"), "_inst", None)


def numpy() -> Any:
    """Return the generator behind the functions of `numpy.random`; None while there is none."""
    return getattr(sys.modules.get("numpy.random.mtrand"), "_rand", None)


class PythonState:
    """Read the state of the generator of Python that `find` returns, as bytes.

    `getstate` makes 625 integers (20 µs). The same words lie in the memory of the generator object,
    after its position. They are read from memory if that proves right, and all of them only if the
    first words changed: each draw changes the position, or all words.
    """

    WORDS = 625 * 4

    def __init__(self, find: Callable[[], Any] | None = None) -> None:
        self._find = find
        self._hidden: Any = None
        self._address = 0
        self._look: Any = None
        self._mark = self._words = b""

    def __call__(self) -> bytes:
        find = self._find
        hidden = find() if find else getattr(_modules.get("random"), "_inst", None)
        if hidden is None:
            return b""
        if hidden is not self._hidden:
            self._hidden, self._address, self._mark = hidden, self._place(hidden), b""
            if self._address:
                self._look = (c_char * _MARK).from_address(self._address)
        if not self._address:
            return repr(hidden.getstate()).encode()
        mark = self._look.raw
        if mark != self._mark:
            self._mark, self._words = mark, string_at(self._address, self.WORDS)
        if hidden.gauss_next is None:
            return self._words
        return self._words + repr(hidden.gauss_next).encode()  # the second of a pair of draws

    def _place(self, hidden: Any) -> int:
        """Return the address of the state in the generator object, checked against `getstate`.

        The result is 0 if the state is not found.
        """
        if sys.implementation.name != "cpython":
            return 0
        *words, position = hidden.getstate()[1]
        expected = b"".join(word.to_bytes(4, sys.byteorder) for word in (position, *words))
        base = object.__basicsize__
        size = type(hidden).__mro__[-2].__basicsize__  # _random.Random
        if size < base + self.WORDS:
            return 0
        offset = string_at(id(hidden), size).find(expected)
        if offset < 0:
            return 0
        return id(hidden) + offset


class NumpyState:
    """The state of a generator of numpy.

    It is read in place where the generator is a Mersenne twister, as the one behind the functions
    of `numpy.random` is by default.
    """

    WORDS = 625 * 4

    def __init__(self, find: Callable[[], Any] | None = None) -> None:
        self._find = find
        self._generator: Any = None
        self._address = 0
        self._look: Any = None
        self._mark = self._words = b""

    def __call__(self) -> bytes:
        find = self._find
        hidden = find() if find else getattr(_modules.get("numpy.random.mtrand"), "_rand", None)
        if hidden is None:
            return b""
        generator = hidden._bit_generator
        if generator is not self._generator:
            self._generator, self._address, self._mark = generator, 0, b""
            if type(generator).__name__ == "MT19937":
                self._address = generator.ctypes.state_address
                # the position is the last word
                last = self._address + self.WORDS - _MARK
                self._look = (c_char * _MARK).from_address(last)
        if not self._address:
            return repr(generator.state).encode()
        mark = self._look.raw
        if mark != self._mark:
            self._mark, self._words = mark, string_at(self._address, self.WORDS)
        return self._words
