"""How far apart two states of a generator are: how many draws lead from one to the other.

The default generators of Python, of NumPy and of PyTorch on the host are Mersenne twisters
(MT19937, Matsumoto and Nishimura 1998): 624 words of 32 bits, of which a position says how many
have been drawn. Whoever knows the state can make the next ones, so the distance is counted by
stepping a copy. PyTorch's generators of CUDA are counters (Philox): their distance is a difference.
"""

from __future__ import annotations

from array import array
from base64 import b64decode
from binascii import Error
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from random import Random

WORDS = 624
MOST = 100_000
"""Draws of 32 bits up to which two states are looked for in one another's future."""
_SEED_FACTOR = 1812433253
_MASK = 0xFFFFFFFF
_TORCH_HEAD = 24
"""Bytes of a state of PyTorch before its words: the seed (8), how many are left (4), whether it was
seeded (4), the next (8).
"""
_PHILOX = 16
"""Bytes of a state of PyTorch's on CUDA: its seed (8), and its offset (8)."""


@dataclass(frozen=True, slots=True)
class Twister:
    """The state of a Mersenne Twister: its block of words, and how many words of it were drawn."""

    words: tuple[int, ...]
    drawn: int

    def after(self) -> Twister:
        """Return the state with the next block of words, none of it drawn."""
        copy = Random()
        copy.setstate((3, (*self.words, WORDS), None))
        copy.getrandbits(32)
        return Twister(tuple(copy.getstate()[1][:WORDS]), 0)


@dataclass(frozen=True, slots=True)
class Counter:
    """A generator that is a seed and a counter."""

    seed: int
    offset: int


State = Twister | Counter


def class_of(generator: str) -> str:
    """Return the class of a generator of the script's own; "" of one that all code shares.

    It stands behind the variable that holds the generator.

    >>> class_of("data.rng (random.Random)")
    'random.Random'
    """
    if not generator.endswith(")"):
        return ""
    return generator.rpartition(" (")[2][:-1]


def form_of(generator: str) -> str:
    """Return the format of a generator's state; of the script's own generator, its class."""
    return _OF_CLASS.get(class_of(generator), generator)


def state_of(generator: str, raw: str) -> State | None:
    """Return a recorded state (base64) of a generator; None if its format is unknown."""
    read = _READ.get(form_of(generator))
    if read is None and ":" in generator:
        read = _counter
    try:
        data = b64decode(raw, validate=True)
    except (Error, ValueError):
        return None
    if read is None:
        return None
    return read(data)


def ahead(state: State | None, other: State | None) -> int | None:
    """Return by how many draws of 32 bits `other` is ahead of `state`; negative if behind.

    None where neither is found within `MOST` draws of the other, or one is not known.

    >>> seed = seeded("torch", 1)
    >>> ahead(seed, Twister(seed.after().words, 2))
    2
    """
    if isinstance(state, Counter) and isinstance(other, Counter):
        if state.seed != other.seed:
            return None
        return other.offset - state.offset
    if not isinstance(state, Twister) or not isinstance(other, Twister):
        return None
    forward = _forward(state, other)
    if forward is not None:
        return forward
    back = _forward(other, state)
    if back is None:
        return None
    return -back


def _forward(state: Twister, other: Twister) -> int | None:
    """Return the number of draws from one state to another in the same block or a later one."""
    block = state
    for blocks in range(MOST // WORDS + 1):
        if block.words == other.words:
            return blocks * WORDS + other.drawn - state.drawn
        block = block.after()
    return None


def seeded(generator: str, seed: int) -> Twister:
    """Return the state that a seed gives to a generator.

    The seed is given by `random.seed`, `numpy.random.seed` or `torch.manual_seed`.
    """
    if generator == "python":
        return Twister(tuple(Random(seed).getstate()[1][:WORDS]), WORDS)
    words = [seed & _MASK]
    for number in range(1, WORDS):
        last = words[-1]
        words.append((_SEED_FACTOR * (last ^ (last >> 30)) + number) & _MASK)
    return Twister(tuple(words), WORDS)


def _of_python(data: bytes) -> Twister | None:
    """Parse a state of Python's `random`: the position, the words, a pending normal draw."""
    if len(data) < 4 * (WORDS + 1):
        return None
    position, *words = array("I", data[: 4 * (WORDS + 1)])
    return Twister(tuple(words), position)


def _of_numpy(data: bytes) -> Twister | None:
    """Return the words, then the position."""
    if len(data) != 4 * (WORDS + 1):
        return None
    *words, position = array("I", data)
    return Twister(tuple(words), position)


def _of_torch(data: bytes) -> Twister | None:
    """Return each word in 8 bytes, behind a head that says how many are left.

    One is left before a new block.
    """
    end = _TORCH_HEAD + 8 * WORDS
    if len(data) < end:
        return None
    left = int.from_bytes(data[8:12], "little", signed=True)
    words = array("Q", data[_TORCH_HEAD:end])
    return Twister(tuple(words), WORDS + 1 - left)


def _counter(data: bytes) -> Counter | None:
    if len(data) != _PHILOX:
        return None
    return Counter(int.from_bytes(data[:8], "little"), int.from_bytes(data[8:], "little"))


_OF_CLASS: Mapping[str, str] = {
    "random.Random": "python",
    "numpy.random.RandomState": "numpy",
    "torch.Generator": "torch",
}
_READ: Mapping[str, Callable[[bytes], State | None]] = {
    "python": _of_python,
    "numpy": _of_numpy,
    "torch": _of_torch,
}
