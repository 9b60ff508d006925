"""The exact hash that a device can compute: sums of weighted words."""

from typing import Any, Tuple

from .identity import Made

SUMS = "sums-1"
"""The hash of a device: two sums modulo 2^64 of the words of a tensor, each word times weights of
its position.

The bytes are read as words of the element's size, 4 bytes at most, signed but for single bytes.
Word i has in each sum the weight A[i % 65536] * B[i // 65536 % 4096] * C^(i // 2^28), odd numbers
of 64 bits (A and B out of SplitMix64), and C times the number of bytes is added. Integer sums do
not depend on the order of their terms, so the hash is the same in every run. Tensors that differ in
one word never agree; tensors that differ in more agree with a probability of about 2^-62 over the
choice of the weights. It is no cryptographic hash.
"""
_ODD = 0x9E3779B97F4A7C15
_WORDS = 65536
_TURNS = 4096
_TURN = 32
"""Rows of words worked on at once; it divides the number of turns."""


class WordSums:
    """The hash `sums-1`."""

    def __init__(self, torch: Any) -> None:
        self.torch = torch
        self.tables = Made(self._tables)  # of each device
        self.words = {
            1: torch.uint8,
            2: torch.int16,
            4: torch.int32,
            8: torch.int32,
            16: torch.int32,
        }

    def of(self, flat: Any) -> Any:
        """Return the two int64 sums of a contiguous one-dimensional tensor, on its device."""
        words = flat.view(self.words[flat.element_size()])
        step = _WORDS * _TURN
        if words.numel() <= step:
            return self._part(words, 0)
        parts = [
            self._part(words[start : start + step], start) for start in range(0, len(words), step)
        ]
        return self.torch.stack(parts).sum(0)

    def _part(self, words: Any, start: int) -> Any:
        """Return the two weighted sums of `words`, the first of which has the index `start`.

        Few operators are used, because launching one takes longer than summing a short tensor.
        """
        torch = self.torch
        inner, outer = self.tables[words.device]
        part = words.to(torch.int64)
        full_rows, length = divmod(part.numel(), _WORDS)
        turns, turn = divmod(start // _WORDS, _TURNS)
        row_sums = []
        if full_rows:
            rows = part[: full_rows * _WORDS].view(full_rows, _WORDS)
            sums = [(rows * inner[index]).sum(1) for index in (0, 1)]
            row_sums.append((torch.stack(sums) * outer[:, turn : turn + full_rows]).sum(1))
        if length or not full_rows:
            rest = part[full_rows * _WORDS :]
            row_sums.append((rest * inner[:, :length]).sum(1) * outer[:, turn + full_rows])
        total = row_sums[0] if len(row_sums) == 1 else row_sums[0] + row_sums[1]
        return total * _signed(pow(_ODD, turns, 1 << 64)) if turns else total

    @staticmethod
    def text(first: int, second: int, size: int) -> str:
        """Return the hash as text for the trace, made of the two sums and the size in bytes."""
        return "%016x%016x" % (
            (first + size * _ODD) % (1 << 64),
            (second + size * _ODD) % (1 << 64),
        )

    def _tables(self, device: Any) -> Tuple[Any, Any]:
        inner, outer = _weights(self.torch, 4, _WORDS), _weights(self.torch, 5, _TURNS)
        return inner.to(device), outer.to(device)


def _weights(torch: Any, stream: int, count: int) -> Any:
    """Return two rows of odd numbers of 64 bits, by SplitMix64 in torch's own integers."""

    def right(value: Any, bits: int) -> Any:
        return (value >> bits) & ((1 << (64 - bits)) - 1)

    word = torch.arange(1, 2 * count + 1, dtype=torch.int64) + (stream << 32)
    word = word * _signed(_ODD)
    word = (word ^ right(word, 30)) * _signed(0xBF58476D1CE4E5B9)
    word = (word ^ right(word, 27)) * _signed(0x94D049BB133111EB)
    return ((word ^ right(word, 31)) | 1).view(2, count)


def _signed(value: int) -> int:
    """Return an integer modulo 2^64 as a signed int64 value."""
    value &= (1 << 64) - 1
    return value - (1 << 64) if value >> 63 else value
