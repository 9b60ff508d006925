"""The difference sketch `signs-2`: 64 numbers from which two runs' difference is estimated.

They are a linear map of a tensor.

The tensor is read as rows of 1024 elements. Rows are given signs and added up, which leaves 1024
numbers; each of these is given a sign by 4 sign vectors and added into one of 16 buckets. As the
map is linear and its signs are fixed, the sketch of a difference is the difference of the sketches,
and its length over 2 estimates the length of the difference.

The format (elements e in row-major order, counted from 0; a complex element counts as two):

- element e lies in row r = e // 1024, at index c = e % 1024 of it, which is group g = c // 64; the
  last row may be shorter;
- it is added to sum c with the sign ROWS[g, r % 1024] * FLIPS[g, r // 1024 % 512];
- sum c is added to bucket c % 16 of vector v with the sign COLUMNS[v, c].

Of a tensor of more than 65,536 elements only a sample is taken, as if it were the tensor: see
`sample`. Of float64 all elements are.

The signs are bits of SplitMix64 of a counter: no generator is read, and they are the same in every
process. ROWS and FLIPS are balanced (see `_balanced`), so that a tensor all of whose elements are
alike keeps its length too.
"""

from __future__ import annotations

import binascii
import math
from array import array
from functools import lru_cache

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

NAME = "signs-2"
VECTORS, BUCKETS = 4, 16
SIZE = VECTORS * BUCKETS
GROUPS, COLUMNS = 16, 64
ROW = GROUPS * COLUMNS
ROWS = 1024
"""Rows in a cycle."""
CYCLE = ROWS * ROW
"""Elements in a cycle."""
FLIPS = 512
HUGE = 1e30
"""Elements that are not finite, or of this size and more, are left out of a sketch: one of them
would drown all others.
"""

WHOLE = 1 << 16
"""Elements of the longest tensor that is read whole for its sketch."""
SHARE = 17
"""Of a much longer one, one of so many parts of COLUMNS elements is read."""
FEWEST = 7
"""Rows that are read at least: PyTorch multiplies smaller matrices four times more slowly."""

_WORD = (1 << 64) - 1


def is_cut(size: int, dtype: str) -> bool:
    """Return whether a tensor of so many real numbers is not read whole for its sketch.

    Of 64 bits it is: changes that float32 does not show are told from those in parts not read.
    """
    return size > WHOLE and dtype not in ("float64", "complex128")


@lru_cache(maxsize=4096)
def sample(size: int) -> tuple[int, int, float]:
    """Return how a tensor of so many elements, more than WHOLE, is read for its sketch.

    Of its parts of COLUMNS elements the first of each `share` is read, until `rows` rows are full.
    As `share` is odd, that are parts of all columns where a row of the tensor has 2^n elements.
    The sums are multiplied by `scale`, so that they are as long as those of the whole.

    Returns rows, share, scale.
    """
    rows = max(FEWEST, size // (SHARE * ROW))
    share = (size // COLUMNS - 1) // (GROUPS * rows - 1)
    share -= 1 - share % 2
    return rows, share, math.sqrt(size / (rows * ROW))


def signs(stream: int, count: int) -> array[float]:
    """Return fixed signs as float32 numbers +1 and -1.

    count   number of signs, a multiple of 64
    stream  number of the sequence of signs; the sequences are independent of each other
    """
    bits = []
    for counter in range(count // 64):
        word = ((stream << 32) + counter + 1) * 0x9E3779B97F4A7C15 & _WORD
        word = (word ^ (word >> 30)) * 0xBF58476D1CE4E5B9 & _WORD
        word = (word ^ (word >> 27)) * 0x94D049BB133111EB & _WORD
        bits.append(bin((word ^ (word >> 31)) | (1 << 64))[3:])
    return array("f", ["01".index(bit) * 2.0 - 1.0 for bit in "".join(bits)])


def row_signs() -> array[float]:
    """Return ROWS, of the shape (GROUPS, ROWS)."""
    return _balanced(signs(1, GROUPS * ROWS), ROWS, [1.0] * GROUPS)


def cycle_signs() -> array[float]:
    """Return FLIPS, of the shape (GROUPS, FLIPS)."""
    rows = row_signs()
    return _balanced(
        signs(2, GROUPS * FLIPS),
        FLIPS,
        [sum(rows[group * ROWS : (group + 1) * ROWS]) for group in range(GROUPS)],
    )


def _balanced(given: array[float], count: int, weights: list[float]) -> array[float]:
    """Return (GROUPS, count) balanced signs, made from count times GROUPS given ones.

    The first are all +1. Each later 16 are taken with their signs or all negated, whichever brings
    the squares of the groups' weighted sums, added up, nearer to what they are for independent
    signs.
    """
    table = array("f", bytes(4 * GROUPS * count))
    sums = [0.0] * GROUPS
    excess = 0.0  # of the squares of the sums over those of independent signs
    for index in range(count):
        taken = [1.0] * GROUPS if not index else list(given[index * GROUPS : (index + 1) * GROUPS])
        change = 2 * sum(
            [total * sign * weight for total, sign, weight in zip(sums, taken, weights)]
        )
        if abs(excess - change) < abs(excess + change):
            taken, change = [-sign for sign in taken], -change
        excess += change
        for group in range(GROUPS):
            sums[group] += taken[group] * weights[group]
            table[group * count + index] = taken[group]
    return table


def column_signs() -> array[float]:
    """Return COLUMNS, of the shape (VECTORS, ROW)."""
    return signs(3, VECTORS * ROW)


def text(data: Any) -> str:
    """Return a sketch as it stands in the trace, from its 64 little-endian float32 numbers."""
    return binascii.b2a_base64(data, newline=False).decode("ascii")


def marked(sketch: str, norm: float, digest: str) -> str:
    """Return a sketch plus a vector that is derived from a hash and as long as the tensor.

    Tensors whose hashes differ are then far apart.
    """
    numbers = array("f", binascii.a2b_base64(sketch))
    bits = int(digest[:16], 16)
    for index in range(SIZE):
        numbers[index] += norm / 4 if bits >> index & 1 else -norm / 4
    return text(numbers.tobytes())


class ArraySketch:
    """The sketch of numpy arrays."""

    BLOCK = 128 * ROW

    def __init__(self, numpy: Any) -> None:
        self.numpy = numpy
        self.rows = numpy.frombuffer(row_signs(), "float32").reshape(GROUPS, ROWS)
        self.columns = numpy.frombuffer(column_signs(), "float32").reshape(
            VECTORS, ROW // BUCKETS, BUCKETS
        )
        self.flips: Any = None

    def of(self, values: Any) -> tuple[str, float]:
        """Return (sketch, L2 norm) of an array of any numeric type.

        The norm is NaN or infinite where an element is.
        """
        numpy = self.numpy
        flat = numpy.ascontiguousarray(values).reshape(-1)
        if flat.dtype.kind == "c":
            flat = flat.view(flat.real.dtype)
        with numpy.errstate(all="ignore"):
            norm = float(
                numpy.sqrt(
                    sum(float(numpy.dot(part, part)) for part in self._parts(flat, "float64"))
                )
            )
            scale = 1.0
            if is_cut(flat.size, str(flat.dtype)):
                rows, share, scale = sample(flat.size)
                step = flat.itemsize * COLUMNS * share
                strided = numpy.lib.stride_tricks.as_strided
                flat = strided(flat, (rows * GROUPS, COLUMNS), (step, flat.itemsize)).reshape(-1)
            sums = self._sums(flat, not norm < HUGE).reshape(-1, BUCKETS)
            numbers = (sums * self.columns).sum(1).reshape(SIZE) * numpy.float32(scale)
        return text(numbers.astype("<f4").tobytes()), norm

    def _sums(self, flat: Any, clean: bool) -> Any:
        total = self.numpy.zeros(ROW, "float32")
        for number, part in enumerate(self._parts(flat, "float32")):
            if clean:
                part = self.numpy.where(abs(part) < HUGE, part, self.numpy.float32(0))
            cycle, start = divmod(number * (self.BLOCK // ROW), ROWS)
            rows, rest = divmod(part.size, ROW)
            taken = self.rows[:, start : start + rows + (rest > 0)]
            if cycle:
                if self.flips is None:
                    self.flips = self.numpy.frombuffer(cycle_signs(), "float32").reshape(
                        GROUPS, FLIPS
                    )
                taken = taken * self.flips[:, cycle % FLIPS, None]
            if rows:
                matrix = part[: rows * ROW].reshape(rows, GROUPS, COLUMNS).transpose(1, 0, 2)
                total += self.numpy.matmul(taken[:, None, :rows], matrix).reshape(ROW)
            if rest:
                total[:rest] += (
                    part[rows * ROW :] * self.numpy.repeat(taken[:, rows], COLUMNS)[:rest]
                )
        return total

    def _parts(self, flat: Any, dtype: str) -> Any:
        for start in range(0, flat.size, self.BLOCK):
            yield flat[start : start + self.BLOCK].astype(dtype, copy=False)
