"""The difference sketch `signs-1`: 64 numbers that are a linear map of a tensor, from which two runs' difference is estimated.

Every element is given a sign by each of 4 sign vectors and added into one of 16 buckets. As the map is linear and its signs are fixed,
the sketch of a difference is the difference of the sketches, and its length over 2 estimates the length of the difference.

The format (elements e in row-major order, counted from 0; a complex element counts as two):

- whole rows of 1024 elements: element e lies in row e // 1024, at index c = e % 1024 of it, which is group g = c // 128, column c % 128;
- 256 rows are a block, 2 blocks are a cycle. With r the row in its block, b the block in its cycle and k the number of the cycle, its sign
  in vector v is ROWS[b, g, v, r] * COLUMNS[k * 997 % 4096 + c], its bucket is c % 16;
- the rest, fewer than 1024 elements: sign REST[v, c], bucket c % 16.

The signs are bits of SplitMix64 of a counter: no generator is read, and they are the same in every process.
"""

from __future__ import annotations

import binascii
from array import array

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

NAME = "signs-1"
VECTORS, BUCKETS = 4, 16
SIZE = VECTORS * BUCKETS
GROUPS, COLUMNS = 8, 128
ROW = GROUPS * COLUMNS
ROWS = 256
BLOCKS = 2
BLOCK = ROWS * ROW
"""Elements in a block of rows."""
HUGE = 1e30
"""Elements that are not finite, or of this size and more, are left out of a sketch: one of them would drown all others."""

_WORD = (1 << 64) - 1


def signs(stream: int, count: int) -> array[float]:
    """`count` fixed signs, as float32 numbers +1 and -1; a multiple of 64 of them. Streams are independent of each other."""
    bits = []
    for counter in range(count // 64):
        word = ((stream << 32) + counter + 1) * 0x9E3779B97F4A7C15 & _WORD
        word = (word ^ (word >> 30)) * 0xBF58476D1CE4E5B9 & _WORD
        word = (word ^ (word >> 27)) * 0x94D049BB133111EB & _WORD
        bits.append(bin((word ^ (word >> 31)) | (1 << 64))[3:])
    return array("f", ["01".index(bit) * 2.0 - 1.0 for bit in "".join(bits)])


def row_signs() -> array[float]:
    """ROWS, of the shape (BLOCKS, GROUPS, VECTORS, ROWS)."""
    return signs(1, BLOCKS * GROUPS * VECTORS * ROWS)


def column_signs() -> array[float]:
    """COLUMNS: 5120 signs, of which each cycle uses 1024 from `column_offset` on, of the shape (GROUPS, COLUMNS)."""
    return signs(2, 4096 + ROW)


def column_offset(cycle: int) -> int:
    """Where the column signs of a cycle begin."""
    return cycle * 997 % 4096


def rest_signs() -> array[float]:
    """REST as a matrix of the shape (ROW, SIZE): element by row, a sign in the four buckets that it is added to and 0 elsewhere."""
    given = signs(3, VECTORS * ROW)
    matrix = array("f", bytes(4 * ROW * SIZE))
    for vector in range(VECTORS):
        for index in range(ROW):
            matrix[index * SIZE + vector * BUCKETS + index % BUCKETS] = given[vector * ROW + index]
    return matrix


def text(data: bytes) -> str:
    """A sketch as it stands in the trace, from its 64 little-endian float32 numbers."""
    return binascii.b2a_base64(data, newline=False).decode("ascii")


class Few:
    """Sketches of at most 16 numbers, without the help of a library."""

    def __init__(self) -> None:
        given = signs(3, VECTORS * ROW)
        self.signs = [list(given[vector * ROW : vector * ROW + BUCKETS]) for vector in range(VECTORS)]

    def of(self, values: list[float]) -> tuple[bytes, float]:
        """(the numbers of the sketch, L2 norm)."""
        square = sum([value * value for value in values])
        if not square < HUGE:
            values = [value if -HUGE < value < HUGE else 0.0 for value in values]
        numbers: list[float] = []
        for given in self.signs:
            numbers += [sign * value for sign, value in zip(given, values)]
            numbers += [0.0] * (BUCKETS - len(values))
        return array("f", numbers).tobytes(), float(square) ** 0.5


def marked(sketch: str, norm: float, digest: str) -> str:
    """A sketch to which a vector out of a hash is added, as long as the tensor: tensors whose hashes differ are then far apart."""
    numbers = array("f", binascii.a2b_base64(sketch))
    bits = int(digest[:16], 16)
    for index in range(SIZE):
        numbers[index] += norm / 4 if bits >> index & 1 else -norm / 4
    return text(numbers.tobytes())


class ArraySketch:
    """Sketches of numpy arrays."""

    def __init__(self, numpy: Any) -> None:
        self.numpy = numpy
        self.rows = numpy.frombuffer(row_signs(), "float32").reshape(BLOCKS, GROUPS, VECTORS, ROWS)
        self.columns = numpy.frombuffer(column_signs(), "float32")
        self.rest = numpy.frombuffer(rest_signs(), "float32").reshape(ROW, SIZE)

    def of(self, values: Any) -> tuple[str, float]:
        """(sketch, L2 norm) of an array of any numeric type; the norm is NaN or infinite where an element is."""
        numpy = self.numpy
        flat = numpy.ascontiguousarray(values).reshape(-1)
        if flat.dtype.kind == "c":
            flat = flat.view(flat.real.dtype)
        with numpy.errstate(all="ignore"):
            norm = float(numpy.sqrt(sum(float(numpy.dot(part, part)) for part in self._parts(flat, "float64"))))
            numbers = self._sketch(flat, not norm < HUGE)
        return text(numbers.astype("<f4").tobytes()), norm

    def _sketch(self, flat: Any, clean: bool) -> Any:
        total = self.numpy.zeros(SIZE, "float32")
        cycle_sum: Any = None
        for number, part in enumerate(self._parts(flat, "float32")):
            if clean:
                part = self.numpy.where(abs(part) < HUGE, part, self.numpy.float32(0))
            rows, rest = divmod(part.size, ROW)
            if rows:
                matrix = part[: rows * ROW].reshape(rows, GROUPS, COLUMNS).transpose(1, 0, 2)
                product = self.rows[number % BLOCKS, :, :, :rows] @ matrix
                cycle_sum = product if cycle_sum is None else cycle_sum + product
            if cycle_sum is not None and (number % BLOCKS == BLOCKS - 1 or part.size < BLOCK):
                total += self._fold(cycle_sum, number // BLOCKS)
                cycle_sum = None
            if rest:
                total += part[rows * ROW :] @ self.rest[:rest]
        return total if cycle_sum is None else total + self._fold(cycle_sum, number // BLOCKS)

    def _fold(self, product: Any, cycle: int) -> Any:
        start = column_offset(cycle)
        signed = product * self.columns[start : start + ROW].reshape(GROUPS, 1, COLUMNS)
        return signed.reshape(GROUPS, VECTORS, COLUMNS // BUCKETS, BUCKETS).sum((0, 2)).reshape(SIZE)

    @staticmethod
    def _parts(flat: Any, dtype: str) -> Any:
        for start in range(0, flat.size, BLOCK):
            yield flat[start : start + BLOCK].astype(dtype, copy=False)
