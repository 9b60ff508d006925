"""Reads the states of torch's default generators, as bytes.

The states are read at each call of a module, so reading must cost next to nothing.
"""

from array import array
from ctypes import c_char, string_at
from typing import Any, Callable

_WORDS = 624
_BEFORE, _INSIDE, _BEHIND = 24, 40, 24
"""Bytes before the words of the Mersenne twister (position), at their beginning, and behind them (a
normal number kept for the next call): each draw changes some of these.
"""
_LOOKED = 1024
"""The generator is longer than that: it holds 2496 bytes of words."""


def host_state(torch: Any) -> Callable[[], bytes]:
    """Return a function that reads the state of the CPU's generator.

    It reads all 5 KB only if the few bytes that change with every draw have changed.
    """
    generator = torch.default_generator

    def whole() -> bytes:
        state = generator.get_state()
        return string_at(state.data_ptr(), state.numel())

    try:
        offset = _offset(torch, generator)
    except Exception:
        offset = 0
    if not offset:
        return whole
    # `_cdata` is the address of the object of C++, which torch documents
    # nowhere. `get_state` copies all of the state into a new tensor, too much for each call of a
    # module. That the bytes behind the address are the state is proved first, see `_offset`.
    begin = generator._cdata + offset - _BEFORE
    head, tail = (
        (c_char * (_BEFORE + _INSIDE)).from_address(begin),
        (c_char * _BEHIND).from_address(begin + _BEFORE + 4 * _WORDS),
    )
    kept = [b"", b"", b""]

    def read() -> bytes:
        if head.raw != kept[0] or tail.raw != kept[1]:
            kept[:] = head.raw, tail.raw, whole()
        return kept[2]

    return read


def _offset(torch: Any, generator: Any) -> int:
    """Return the offset of the state words in a generator object in bytes; 0 if not verified.

    It is verified on a generator of our own.
    """
    own = torch.Generator()
    own.manual_seed(20_000_003)
    offset = string_at(own._cdata, _LOOKED).find(_words(own)[:64])
    if offset < _BEFORE:
        return 0
    marks, states = set(), set()
    for draw in (None, torch.rand, torch.rand, torch.randn, torch.randn, torch.randn, torch.rand):
        if draw is not None:
            draw(1, generator=own)
        begin = own._cdata + offset
        marks.add(
            string_at(begin - _BEFORE, _BEFORE + _INSIDE) + string_at(begin + 4 * _WORDS, _BEHIND)
        )
        states.add(bytes(own.get_state().tolist()))
    same = all(
        string_at(candidate._cdata + offset, 4 * _WORDS) == _words(candidate)
        for candidate in (own, generator)
    )
    if not same or not len(marks) == len(states) == 7:
        return 0
    return offset


def _words(generator: Any) -> bytes:
    """Return the words of a generator's state as they lie in memory.

    The state stores each word in 8 bytes, after a header of 24 bytes.
    """
    state = generator.get_state()
    wide = array("Q", string_at(state.data_ptr() + 24, 8 * _WORDS))
    return array("I", wide).tobytes()


def device_state(module: Any, index: int) -> Callable[[], bytes]:
    """Return a function that reads a device generator's state; b"" while a graph is captured."""

    def read() -> bytes:
        capturing = getattr(module, "is_current_stream_capturing", bool)
        if capturing():
            return b""
        state = module.get_rng_state(index)
        return string_at(state.data_ptr(), state.numel())

    return read
