"""Counts the numbers that were drawn from a generator between two of its states.

A count tells a decision that all may share, such as whether a layer is left out, from noise.
"""

from __future__ import annotations

import re
import sys

_WORDS = 624
"""Words of a Mersenne twister: they are made anew once all were drawn."""
_MOST = 4096
"""Steps of a counting generator that are tried."""
_PCG = 0x2360ED051FC65DA44385DF649FCCF645
"""By what PCG64 multiplies its state with each draw."""
_NUMBERS = re.compile(rb"'(?:state|inc)': (\d+)")
_TORCH = (slice(16, 24), slice(24, 24 + 8 * _WORDS))
"""Where the position and the words stand in a state of torch's CPU generator."""
_PYTHON = (slice(0, 4), slice(4, 4 + 4 * _WORDS))
_NUMPY = (slice(4 * _WORDS, 4 * _WORDS + 4), slice(0, 4 * _WORDS))


def amount(name: str, before: bytes, after: bytes) -> int:
    """Return how many numbers were drawn, or fewer; 0 where that is not known.

    name  of the generator, as the trace has it: `torch`, `numpy`, `dataset.rng (random.Random)`
    """
    if b"'PCG64'" in before[:40]:
        return _steps(before, after)
    if name == "torch" or "torch.Generator" in name:
        return _positions(_TORCH, before, after)
    if name == "python" or "random.Random)" in name:
        return _positions(_PYTHON, before, after)
    if name == "numpy" or "RandomState" in name:
        return _positions(_NUMPY, before, after)
    return 0


def _positions(where: tuple[slice, slice], before: bytes, after: bytes) -> int:
    position, words = where
    if len(before) < words.stop:
        return 0
    old, new = (int.from_bytes(state[position], sys.byteorder) for state in (before, after))
    return new - old if before[words] == after[words] else _WORDS - old + new


def _steps(before: bytes, after: bytes) -> int:
    old, new = (list(map(int, _NUMBERS.findall(state))) for state in (before, after))
    if len(old) != 2 or len(new) != 2:
        return 0
    state, increment = old
    for count in range(_MOST):
        if state == new[0]:
            return count
        state = (state * _PCG + increment) % (1 << 128)
    return _MOST
