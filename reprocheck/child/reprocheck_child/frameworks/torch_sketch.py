"""The sketch of torch tensors, on the host and on a device, and the exact hash that a device can compute: sums of weighted words."""

import math
from array import array
from typing import Any, Dict, Tuple

from .. import sketch

SUMS = "sums-1"
"""The hash of a device: two sums modulo 2^64 of the words of a tensor, each word times weights of its position.

The bytes are read as words of the element's size, 4 bytes at most, signed but for single bytes. Word i has in each sum the weight
A[i % 65536] * B[i // 65536 % 4096] * C^(i // 2^28), odd numbers of 64 bits (A and B out of SplitMix64), and C times the number of bytes is
added. Integer sums do not depend on the order of their terms, so the hash is the same in every run. Tensors that differ in one word never
agree; tensors that differ in more agree with a probability of about 2^-62 over the choice of the weights. It is no cryptographic hash.
"""
_ODD = 0x9E3779B97F4A7C15
_WORDS = 65536
_TURNS = 4096
_TURN = 32
"""Rows of words worked on at once; it divides the number of turns."""
_DEVICE_BLOCKS = 8
"""Blocks worked on at once: a multiple of the blocks of a cycle."""
_KEPT_CYCLES = 8


class TorchSketch:
    """Sketches of flat tensors; its tables lie on each device that was asked of."""

    def __init__(self, torch: Any) -> None:
        self.torch = torch
        self.tables: Dict[Any, Tuple[Any, Any, Any]] = {}
        self.cuts: Dict[Any, Any] = {}  # beginnings of the tables on the host, by length: a slice costs more than a lookup
        self.few = sketch.Few().of
        self.buckets = torch.eye(sketch.BUCKETS).repeat(sketch.COLUMNS // sketch.BUCKETS, 1)
        self.full_precision = getattr(torch._C, "_get_float32_matmul_precision", lambda: "highest")

    def host(self, flat: Any) -> Tuple[Any, float]:
        """(64 float32 numbers, L2 norm) of a contiguous flat tensor on the CPU."""
        total, square = self._pass(flat, False, True)
        if 1e-20 < square < 1e36:  # neither overflowed nor vanished in float32
            return total, math.sqrt(square)
        norm = self._norm(flat)
        return self._pass(flat, not norm < sketch.HUGE, False)[0], norm

    def _pass(self, flat: Any, clean: bool, norm: bool) -> Tuple[Any, float]:
        """The sketch and, if asked for, the sum of squares; block by block, so that each is read from memory once."""
        dot = self.torch.dot
        size = flat.numel()
        total, sums, square = None, None, 0.0
        for number, start in enumerate(range(0, size, sketch.BLOCK)):
            part = self._part(flat, start, min(sketch.BLOCK, size - start), clean)
            if norm:
                square += dot(part, part).item()
            length = part.numel()
            full = length // sketch.ROW
            if full:
                product = self._product(number % sketch.BLOCKS, full, part)
                sums = product if sums is None else sums.add_(product)
            if sums is not None and (number % sketch.BLOCKS == sketch.BLOCKS - 1 or start + sketch.BLOCK >= size):
                folded = self._fold(sums, number // sketch.BLOCKS)
                total, sums = folded if total is None else total.add_(folded), None
            if length > full * sketch.ROW:
                rest = self._rest(part if not full else part[full * sketch.ROW :])
                total = rest if total is None else total.add_(rest)
        return total, square

    def _product(self, block: int, full: int, part: Any) -> Any:
        """(GROUPS, VECTORS, COLUMNS): the whole rows of a part times the signs of rows."""
        signs = self.cuts.get((block, full))
        if signs is None:
            signs = self.cuts[block, full] = self._tables("cpu")[0][block, :, :, :full].contiguous()
        matrix = part.as_strided((sketch.GROUPS, full, sketch.COLUMNS), (sketch.COLUMNS, sketch.ROW, 1))
        if self.full_precision() == "highest":
            return self.torch.bmm(signs, matrix)
        return self.torch.stack([(signs[:, vector].unsqueeze(2) * matrix).sum(1) for vector in range(sketch.VECTORS)], 1)

    def _fold(self, sums: Any, cycle: int) -> Any:
        """The sketch out of the sums of a cycle."""
        if self.full_precision() != "highest":
            return _folded(sums, self._tables("cpu")[1], cycle)
        matrix = self.cuts.get(("columns", cycle))
        if matrix is None:
            matrix = _cycle(self._tables("cpu")[1], cycle).view(sketch.GROUPS, sketch.COLUMNS, 1) * self.buckets
            if cycle < _KEPT_CYCLES:
                self.cuts["columns", cycle] = matrix
        return self.torch.bmm(sums, matrix).sum(0).view(sketch.SIZE)

    def _rest(self, tail: Any) -> Any:
        size = tail.numel()
        matrix = self.cuts.get(-size)
        if matrix is None:
            matrix = self.cuts[-size] = self._tables("cpu")[2][:size]
        if self.full_precision() != "highest":
            return (tail.unsqueeze(1) * matrix).sum(0)
        return self.torch.mm(tail.view(1, size), matrix).view(sketch.SIZE)

    def _norm(self, flat: Any) -> float:
        total = 0.0
        for start in range(0, flat.numel(), sketch.BLOCK):
            part = flat[start : start + sketch.BLOCK].to(self.torch.float64)
            total += self.torch.dot(part, part).item()
        return math.sqrt(total)

    def device(self, flat: Any) -> Any:
        """The same of a tensor on a device: products by element, which no setting for matrix products rounds; all values cleaned."""
        torch = self.torch
        rows, columns, rest = self._tables(flat.device)
        size = flat.numel()
        total = torch.zeros(sketch.SIZE, dtype=torch.float32, device=flat.device)
        whole = size // sketch.BLOCK
        for first in range(0, whole, _DEVICE_BLOCKS):
            count = min(_DEVICE_BLOCKS, whole - first)
            values = self._part(flat, first * sketch.BLOCK, count * sketch.BLOCK, True)
            values = values.view(count, sketch.ROWS, sketch.GROUPS, sketch.COLUMNS)
            for cycle in range(first // sketch.BLOCKS, -(-(first + count) // sketch.BLOCKS)):
                start = cycle * sketch.BLOCKS - first
                part = values[start : start + sketch.BLOCKS]
                total = total + _folded(self._signed_sums(rows[: part.shape[0]], part), columns, cycle)
        left = size - whole * sketch.BLOCK
        full = left // sketch.ROW
        if full:
            part = self._part(flat, whole * sketch.BLOCK, full * sketch.ROW, True).view(1, full, sketch.GROUPS, sketch.COLUMNS)
            block = whole % sketch.BLOCKS
            sums = self._signed_sums(rows[block : block + 1, :, :, :full], part)
            total = total + _folded(sums, columns, whole // sketch.BLOCKS)
        if left > full * sketch.ROW:
            tail = self._part(flat, whole * sketch.BLOCK + full * sketch.ROW, left - full * sketch.ROW, True)
            total = total + (tail.unsqueeze(1) * rest[: tail.numel()]).sum(0)
        return total

    def _signed_sums(self, rows: Any, values: Any) -> Any:
        """(GROUPS, VECTORS, COLUMNS): values of the shape (blocks, ROWS, GROUPS, COLUMNS) times the signs of their rows."""
        sums = []
        for vector in range(sketch.VECTORS):
            signs = rows[:, :, vector].transpose(1, 2).unsqueeze(3)
            sums.append((values * signs).sum((0, 1)))
        return self.torch.stack(sums, 1)

    def _part(self, flat: Any, start: int, length: int, clean: bool) -> Any:
        part = flat if length == flat.numel() else flat.narrow(0, start, length)
        if part.dtype is not self.torch.float32:
            part = part.to(self.torch.float32)
        return part.masked_fill((part.abs() < sketch.HUGE).logical_not(), 0.0) if clean else part

    def _tables(self, device: Any) -> Tuple[Any, Any, Any]:
        tables = self.tables.get(device)
        if tables is None:
            shape = (sketch.BLOCKS, sketch.GROUPS, sketch.VECTORS, sketch.ROWS)
            made = [_tensor(self.torch, table) for table in (sketch.row_signs(), sketch.column_signs(), sketch.rest_signs())]
            made = [table.to(device) for table in made]
            tables = self.tables[device] = (made[0].view(shape), made[1], made[2].view(sketch.ROW, sketch.SIZE))
        return tables


def _folded(sums: Any, columns: Any, cycle: int) -> Any:
    """The sum of each bucket of each vector."""
    signed = sums * _cycle(columns, cycle)
    return signed.view(sketch.GROUPS, sketch.VECTORS, sketch.COLUMNS // sketch.BUCKETS, sketch.BUCKETS).sum((0, 2)).view(sketch.SIZE)


def _cycle(columns: Any, cycle: int) -> Any:
    """The signs of the columns in a cycle."""
    start = sketch.column_offset(cycle)
    return columns[start : start + sketch.ROW].view(sketch.GROUPS, 1, sketch.COLUMNS)


class WordSums:
    """The hash `sums-1`."""

    def __init__(self, torch: Any) -> None:
        self.torch = torch
        self.tables: Dict[Any, Tuple[Any, Any]] = {}
        self.words = {1: torch.uint8, 2: torch.int16, 4: torch.int32, 8: torch.int32, 16: torch.int32}

    def of(self, flat: Any) -> Any:
        """Two int64 numbers on the device of a contiguous flat tensor of one dimension."""
        torch = self.torch
        inner, outer = self._tables(flat.device)
        words = flat.view(self.words[flat.element_size()])
        size = words.numel()
        total = torch.zeros(2, dtype=torch.int64, device=flat.device)
        step = _WORDS * _TURN
        for start in range(0, size, step):
            part = words[start : start + step].to(torch.int64)
            length = part.numel()
            whole = length // _WORDS
            turns, turn = divmod(start // _WORDS, _TURNS)
            factor = _signed(pow(_ODD, turns, 1 << 64))
            for index in (0, 1):
                if whole:
                    rows = (part[: whole * _WORDS].view(whole, _WORDS) * inner[index]).sum(1)
                    total[index] += (rows * outer[index, turn : turn + whole]).sum() * factor
                if length > whole * _WORDS:
                    rest = part[whole * _WORDS :]
                    total[index] += (rest * inner[index, : rest.numel()]).sum() * outer[index, turn + whole] * factor
        return total

    @staticmethod
    def text(first: int, second: int, size: int) -> str:
        """The hash as it stands in the trace, of the two sums and the number of bytes."""
        return "%016x%016x" % ((first + size * _ODD) % (1 << 64), (second + size * _ODD) % (1 << 64))

    def _tables(self, device: Any) -> Tuple[Any, Any]:
        tables = self.tables.get(device)
        if tables is None:
            inner, outer = (_weights(self.torch, stream, count) for stream, count in ((4, _WORDS), (5, _TURNS)))
            tables = self.tables[device] = (inner.to(device), outer.to(device))
        return tables


def _weights(torch: Any, stream: int, count: int) -> Any:
    """Two rows of odd numbers of 64 bits, by SplitMix64 in torch's own integers."""

    def right(value: Any, bits: int) -> Any:
        return (value >> bits) & ((1 << (64 - bits)) - 1)

    word = torch.arange(1, 2 * count + 1, dtype=torch.int64) + (stream << 32)
    word = word * _signed(_ODD)
    word = (word ^ right(word, 30)) * _signed(0xBF58476D1CE4E5B9)
    word = (word ^ right(word, 27)) * _signed(0x94D049BB133111EB)
    return ((word ^ right(word, 31)) | 1).view(2, count)


def _signed(value: int) -> int:
    """An integer modulo 2^64, as int64 has it."""
    value &= (1 << 64) - 1
    return value - (1 << 64) if value >> 63 else value


def _tensor(torch: Any, numbers: "array[float]") -> Any:
    return torch.frombuffer(numbers, dtype=torch.float32)
