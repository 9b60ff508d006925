"""Look for many words in large texts at once.

Every four bytes are looked up in a table of those that the words have, so that a text is read in a
few passes however many words there are.

Of each word four bytes are looked for, the rarest ones, in small letters and capitals; `#` in a
word is a digit.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import chain, product
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Array = NDArray[np.uint8]
    Places = NDArray[np.intp]

SMALL = 1 << 14
"""Bytes of a text that is looked through as fast without."""
_WIDTH = 4
_OF_TEXT = " etaoinsrhldcumfpgwybvk.,0123456789-_:/=xjqz"
"""Bytes of ordinary text, the most frequent ones first."""
_BITS = 18
_SPREADS = (0x9E3779B1, 0x85EBCA6B, 0xC2B2AE35)
"""Their products spread numbers over the upper bits: Knuth's multiplier, those of MurmurHash. Three
tables let one of a million pass that is none of the words.
"""
_SMALL_LETTER = 0x20
"""The bit that makes a capital a small letter. Other bytes become one another with it (`_` and the
one of `Delete`): a few places more are found.
"""
_ANY = sorted({byte | _SMALL_LETTER for byte in range(256)})
"""What may stand behind a short word."""
_EIGHTS = 4
"""Eights of bytes that a key without a name takes at least, wherever it begins."""


@dataclass(frozen=True, slots=True)
class Found:
    """The result of a search in a text.

    `places`: bytes of the lines that may hold one of the words; `named`: whether the text holds one
    of the names.
    """

    places: Places
    named: bool


class Signs:
    """Searches for words and names, and for the characters of addresses and unnamed keys."""

    def __init__(self, words: Iterable[str], names: Iterable[str]) -> None:
        words = set(words)
        self._pairs = [word.encode() for word in words if len(word) == 2]
        windows = _windows(word for word in words if len(word) > 2)
        of_names = _windows(names)
        self._tables = [_table([*windows, *of_names], by) for by in _SPREADS]
        self._of_names = _table(of_names, _SPREADS[0])

    def find(self, data: bytes) -> Found:
        """Search a text for all words, names and signs."""
        import numpy as np

        array = np.frombuffer(data, np.uint8)
        small = np.append(array | _SMALL_LETTER, np.zeros(2 * _WIDTH, np.uint8))
        places = [_of_keys(array), *_of_addresses(array)]
        places += [_of_pair(small, pair) for pair in self._pairs]
        named, size = False, len(data) // _WIDTH * _WIDTH
        for offset in range(_WIDTH):
            # a copy, since NumPy is much slower with numbers that are not aligned
            four = small[offset : offset + size].copy().view("<u4")
            at = np.flatnonzero(self._tables[0].take(_spread(four, _SPREADS[0])))
            for table, by in zip(self._tables[1:], _SPREADS[1:], strict=True):
                at = at[table.take(_spread(four[at], by))]
            places.append(at * _WIDTH + offset)
            named = named or bool(self._of_names.take(_spread(four[at], _SPREADS[0])).any())
        return Found(np.concatenate(places), named)


def _table(windows: Iterable[int], by: int) -> NDArray[np.bool_]:
    """Return where words are in a table of the products."""
    import numpy as np

    table = np.zeros(1 << _BITS, bool)
    table[_spread(np.array([*windows], np.uint32), by)] = True
    return table


def lines(data: bytes, places: Places) -> tuple[Places, Places]:
    """Return where each line of a text begins, and which lines hold one of these bytes.

    The first value ends with the end of the last line. A line ends with a line feed, a carriage
    return or both.
    """
    import numpy as np

    ends = _ends(np.frombuffer(data, np.uint8))
    starts = np.concatenate(([0], ends + 1, [len(data)]))
    if len(ends) and ends[-1] + 1 == len(data):
        starts = starts[:-1]
    holds = np.zeros(len(starts), bool)
    holds[np.searchsorted(ends, places)] = True
    return starts, np.flatnonzero(holds[:-1])


def _ends(array: Array) -> Places:
    """Return the last byte of each line but the last."""
    import numpy as np

    ends, returns = np.flatnonzero(array == 10), np.flatnonzero(array == 13)
    if not len(returns):
        return ends
    alone = returns[array[np.minimum(returns + 1, len(array) - 1)] != 10]
    return np.sort(np.concatenate((ends, alone)))


def _spread(four: NDArray[np.uint32], by: int) -> NDArray[np.uint32]:
    import numpy as np

    return (four * np.uint32(by)) >> np.uint32(32 - _BITS)


def _windows(words: Iterable[str]) -> list[int]:
    """Return the four bytes of each word that are looked for, as numbers."""
    windows = (_rarest(word.lower()) for word in words if word)
    every = chain.from_iterable(product(*map(_bytes_of, window)) for window in windows)
    return [int.from_bytes(bytes(one), "little") for one in every]


def _bytes_of(letter: str) -> Iterable[int]:
    if letter == "#":
        return b"0123456789"
    if letter == "\0":
        return _ANY
    return [byte | _SMALL_LETTER for byte in letter.encode("latin-1", "replace")]


def _rarest(word: str) -> str:
    """Return the part of a word to search for: its four letters that are rarest in texts.

    A short word matches with any letters after it.
    """
    word = word.ljust(_WIDTH, "\0")
    windows = (word[start : start + _WIDTH] for start in range(len(word) - _WIDTH + 1))
    return min(windows, key=_frequency)


def _frequency(window: str) -> float:
    """Return the logarithm of the approximate frequency of four letters in ordinary text."""
    places = (_OF_TEXT.find(letter) for letter in window)
    return sum(-math.log(2 + (place if place >= 0 else 1000)) for place in places)


def _of_pair(small: Array, pair: bytes) -> Places:
    """Return the positions at which two bytes follow each other."""
    import numpy as np

    first, second = (letter | _SMALL_LETTER for letter in pair)
    return np.flatnonzero((small[:-1] == first) & (small[1:] == second))


def _of_addresses(array: Array) -> Iterator[Places]:
    """Yield where an e-mail or a network address may stand.

    At an at sign; at three points with up to three bytes between them; at colons that lie near each
    other likewise.
    """
    import numpy as np

    yield np.flatnonzero(array == ord("@"))
    points, colons = np.flatnonzero(array == ord(".")), np.flatnonzero(array == ord(":"))
    near = np.diff(points) <= 4
    yield points[:-2][near[:-1] & near[1:]]
    apart = np.diff(colons)
    yield colons[:-1][apart == 1]
    near = apart <= 5
    yield colons[:-3][near[:-2] & near[1:-1] & near[2:]]


def _of_keys(array: Array) -> Places:
    """Return the positions of long sequences of letters, digits, slashes and plus signs."""
    import numpy as np

    in_key = (array | _SMALL_LETTER) - np.uint8(ord("a")) < 26
    in_key |= array - np.uint8(ord("/")) < 11  # the digits follow the slash
    in_key |= array == ord("+")
    eights = in_key[: len(array) & ~7].view(np.uint64) == 0x0101010101010101
    length = max(0, len(eights) - _EIGHTS + 1)
    runs = np.ones(length, bool)
    for place in range(_EIGHTS):
        runs &= eights[place : place + length]
    first = np.flatnonzero(np.diff(runs, prepend=False) & runs)
    return first * 8
