"""Computes the sketch of torch tensors, on the host and on a device.

On the host, the rows of a tensor are added up at once, because that step reads its bytes. The rest
is done later for many tensors together: in a training step the caches are cold, and a call of an
operator costs as much as the sketch of a small tensor.
"""

import math
import sys
from _thread import RLock
from binascii import b2a_base64
from ctypes import addressof, c_char, memmove, memset, string_at
from typing import Any, Dict, List, NamedTuple, Optional, Tuple

from ...deep_levels import sketch
from .identity import Made

Fingerprint = Dict[str, Any]
_SLOTS = 32
"""Tensors whose sketches are finished together."""
_DEVICE_BLOCK = 2048
"""Rows worked on at once on a device: whole cycles."""
_COPIED = 64
"""Rows that are copied at once, where a tensor cannot be read in its place."""
_KEPT = 256
_STRIDES = (sketch.COLUMNS, sketch.ROW, 1)
_ROW_BYTES = sketch.ROW * 4
_FOLDED = sketch.SIZE * 4 + 8
"""Bytes of a sketch, and of the zeros behind it: a multiple of three."""
_LARGE = 1
_SIZES = bytes(_LARGE if byte & 0x7F >= 0x5E else 0 for byte in range(256))
"""Of the highest byte of a float32 number, sign and seven bits of the exponent, whether the number
is 2e18 or more.
"""
_HIGHEST = 3 if sys.byteorder == "little" else 0
_LETTERS = (sketch.SIZE * 4 * 4 + 2) // 3
"""Letters of a sketch in base64, without the two signs `=` at its end."""


class Tables:
    """The random signs (+1, -1) of the sketch, kept on each device that has needed them."""

    def __init__(self, torch: Any) -> None:
        self.torch = torch
        # of each device: ROWS of the shape (GROUPS, ROWS), COLUMNS of the shape (VECTORS, columns
        # of a bucket, BUCKETS)
        self.on = Made(self._on)
        # (first row, count, scale) -> the signs of the rows times the scale, on the host: of the
        # shape (GROUPS, 1, count), within one cycle
        self.rows = Made(self._rows)
        self.flips = Made(self._flips)  # of each device

    def _on(self, device: Any) -> Tuple[Any, Any]:
        rows = _tensor(self.torch, sketch.row_signs()).view(sketch.GROUPS, sketch.ROWS)
        columns = _tensor(self.torch, sketch.column_signs())
        columns = columns.view(sketch.VECTORS, -1, sketch.BUCKETS)
        return rows.to(device), columns.to(device)

    def _rows(self, rows: Tuple[int, int, float]) -> Any:
        start, count, scale = rows
        cycle, first = divmod(start, sketch.ROWS)
        signs = self.on["cpu"][0][:, first : first + count].unsqueeze(1) * scale
        if not cycle:
            return signs
        return signs * self.flipped("cpu", cycle).view(sketch.GROUPS, 1, 1)

    def flipped(self, device: Any, cycle: int) -> Any:
        """Return the signs of the groups in a cycle, on `device`."""
        return self.flips[device][:, cycle % sketch.FLIPS]

    def _flips(self, device: Any) -> Any:
        # once a device: each copy to it would wait for all that it has to do
        flips = _tensor(self.torch, sketch.cycle_signs()).view(sketch.GROUPS, sketch.FLIPS)
        return flips.to(device)


class _Slot(NamedTuple):
    """Memory for the sums of one unfinished sketch."""

    result: Any
    address: int
    highest: slice
    """Where the highest bytes of the sums lie in the memory of all slots."""


_Piece = Tuple[Any, Tuple[int, int, int], int]
"""The signs of some rows, the shape of the matrix that they are, and its first element."""


class _Plan(NamedTuple):
    """How the rows of float32 tensors of one length are added up, in pieces of a cycle at most."""

    share: int
    """The sketch is that of one of so many parts; 0 where all are read."""
    copied: Any
    """The matrix of a tensor that is read from a copy; None where its own memory is multiplied."""
    pieces: List[_Piece]
    strides: Tuple[int, int, int]


class HostSketches:
    """A queue of sketches of contiguous tensors of real numbers on the CPU.

    `add` each tensor, then `finish` all of them. To be called below autograd and all modes.
    """

    def __init__(self, torch: Any, tables: Tables) -> None:
        self.torch = torch
        self.tables = tables
        # `torch.get_float32_matmul_precision` without its wrapper. Products of matrices are rounded
        # to TF32 or bfloat16 on hosts that can, where it is not "highest".
        self.full_precision = getattr(torch._C, "_get_float32_matmul_precision", lambda: "highest")
        self.lock = RLock()
        self.waiting: List[Fingerprint] = []
        # where the sums do not say the norm: place in the queue -> the norm
        self.norms: Dict[int, float] = {}
        self.slots: List[_Slot] = []
        self.room = bytearray()  # the memory of all slots
        self.free: List[_Slot] = []  # the last one is taken first
        self.plans = Made(self._plan)  # of each number of elements
        self.copy: Any = None  # what was made float32, or taken of a long tensor
        self.sums: Any = None
        self.signed: Any = None  # the sums with the signs of each vector
        self.folded: Any = None

    def forked(self) -> None:
        """Drop unfinished sketches in a forked process: they belong to the parent process."""
        self.lock, self.waiting, self.norms = RLock(), [], {}
        self.free = self.slots[::-1]

    def add_single(self, fingerprint: Fingerprint, tensor: Any, address: int, size: int) -> None:
        """Queue a float32 tensor of `size` elements at the address `address`."""
        with self.lock:
            if not self.free:
                self.make_room()
            slot = self.free[-1]
            if size <= sketch.ROW:
                # all signs of the first row are +1
                memmove(slot.address, address, size * 4)
                memset(slot.address + size * 4, 0, _ROW_BYTES - size * 4)
                self.free.pop()
                self.waiting.append(fingerprint)
                return
            if self.full_precision() != "highest":
                self.add(fingerprint, tensor)
                return
            share, copied, pieces, strides = self.plans[size]
            signs, shape, _ = pieces[0]
            if copied is None:
                self.torch.bmm(signs, tensor.as_strided(shape, strides), out=slot.result)
            else:
                memmove(self.copy.data_ptr(), address, size * 4)
                memset(self.copy.data_ptr() + size * 4, 0, copied.numel() * 4 - size * 4)
                self.torch.bmm(signs, copied, out=slot.result)
            for signs, shape, first in pieces[1:]:
                begin = tensor.storage_offset() + first
                slot.result.baddbmm_(signs, tensor.as_strided(shape, strides, begin))
            if share:
                fingerprint["q"] = share
            if self._is_ordinary(slot):
                self.free.pop()
                self.waiting.append(fingerprint)
            else:
                self.add(fingerprint, tensor, self._norm(tensor))

    def add(self, fingerprint: Fingerprint, tensor: Any, norm: Optional[float] = None) -> None:
        """Queue a tensor of any type, whose sketch `k` and norm `z` `finish` adds to `fingerprint`.

        norm  the norm where the sums do not say it; not below HUGE: elements that are huge or not
              finite are left out
        """
        size = tensor.numel()
        if tensor.dtype is self.torch.float64 and norm is None:
            norm = self._norm(tensor)
        clean = norm is not None and not norm < sketch.HUGE
        rows, strides, scale = -(-size // sketch.ROW), _STRIDES, 1.0
        if size > sketch.WHOLE and tensor.dtype is not self.torch.float64:
            rows, share, scale = sketch.sample(size)
            fingerprint["q"] = share
            strides = (sketch.COLUMNS * share, sketch.ROW * share, 1)
        with self.lock:
            if not self.free:
                self.make_room()
            slot = self.free[-1]
            slot.result.zero_()
            for start in range(0, rows, _COPIED):
                count = min(_COPIED, rows - start)
                matrix = self._copied(tensor, strides, start, count, clean)
                signs = self.tables.rows[start, matrix.size(1), scale]
                if self.full_precision() == "highest":
                    slot.result.baddbmm_(signs, matrix)
                else:
                    slot.result.add_((signs.transpose(1, 2) * matrix).sum(1, keepdim=True))
            # Of a single row `finish` sees the elements in the sums.
            if norm is None and size > sketch.ROW and not self._is_ordinary(slot):
                self.add(fingerprint, tensor, self._norm(tensor))
                return
            if norm is not None:
                self.norms[len(self.waiting)] = norm
            self.free.pop()
            self.waiting.append(fingerprint)

    def _plan(self, size: int) -> _Plan:
        if len(self.plans) > _KEPT:
            self.plans.clear()
        rows, share, scale, strides = -(-size // sketch.ROW), 0, 1.0, _STRIDES
        if size > sketch.WHOLE:
            rows, share, scale = sketch.sample(size)
            strides = (sketch.COLUMNS * share, sketch.ROW * share, 1)
        copied = None
        if not share and (size % sketch.ROW or rows < sketch.FEWEST):
            rows = max(rows, sketch.FEWEST)
            copied = self.copy.as_strided((sketch.GROUPS, rows, sketch.COLUMNS), _STRIDES, 0)
        pieces: List[_Piece] = []
        for start in range(0, rows, sketch.ROWS):
            count = min(sketch.ROWS, rows - start)
            shape = (sketch.GROUPS, count, sketch.COLUMNS)
            pieces.append((self.tables.rows[start, count, scale], shape, start * strides[1]))
        return _Plan(share, copied, pieces, strides)

    def make_room(self) -> None:
        """Finish the queued sketches; allocate the memory for sums at the first call."""
        with self.lock:
            self.finish()
            if not self.slots:
                # memory of our own: none of the allocator of the training
                columns = sketch.ROW // sketch.BUCKETS
                self.sums, self.room, offset = self._own(_SLOTS, sketch.ROW)
                self.signed, *_ = self._own(_SLOTS, sketch.VECTORS, columns, sketch.BUCKETS)
                self.folded, *_ = self._own(_SLOTS, _FOLDED // 4)
                self.copy, *_ = self._own(sketch.WHOLE)
                shape = (sketch.GROUPS, 1, sketch.COLUMNS)
                for index, row in enumerate(self.sums):
                    start = offset + index * _ROW_BYTES
                    highest = slice(start + _HIGHEST, start + _ROW_BYTES, 4)
                    self.slots.append(_Slot(row.view(shape), row.data_ptr(), highest))
                self.free = self.slots[::-1]

    def finish(self) -> None:
        """Compute sketch and norm of all queued tensors."""
        with self.lock:
            count = len(self.waiting)
            if not count:
                return
            waiting, self.waiting, self.free = self.waiting, [], self.slots[::-1]
            known, self.norms = self.norms, {}
            sums = self.sums[:count]
            norms = self.torch.linalg.vector_norm(sums, dim=1, dtype=self.torch.float64).tolist()
            # each by itself only where one is that large, or no number
            if not sum(norms) < sketch.HUGE:
                for index, norm in enumerate(norms):
                    if not norm < sketch.HUGE:
                        row = sums[index]
                        row.masked_fill_((row.abs() < sketch.HUGE).logical_not_(), 0.0)
                    if norm - norm:
                        norms[index] = repr(norm)  # as JSON can hold it
            for index, norm in known.items():
                norms[index] = norm if norm - norm == 0 else repr(norm)
            if len(self.tables.rows) > _KEPT:
                self.tables.rows.clear()
            # by products of elements: no setting for products of matrices rounds them
            signed, folded = self.signed[:count], self.folded[:count, : sketch.SIZE]
            shape = (-1, 1, sketch.ROW // sketch.BUCKETS, sketch.BUCKETS)
            self.torch.mul(sums.view(shape), self.tables.on["cpu"][1], out=signed)
            self.torch.sum(signed, 2, out=folded.view(-1, sketch.VECTORS, sketch.BUCKETS))
            data = string_at(self.folded.data_ptr(), count * _FOLDED)
        # All as one text: three bytes are four letters of it, and those behind a sketch are zeros.
        text = b2a_base64(data, newline=False).decode("ascii")
        starts = range(0, len(text), _FOLDED // 3 * 4)
        for fingerprint, start, norm in zip(waiting, starts, norms):
            fingerprint["k"] = text[start : start + _LETTERS] + "=="
            fingerprint["z"] = norm

    def _own(self, *shape: int) -> Tuple[Any, bytearray, int]:
        """Return a tensor of float32 numbers, its memory, and where it begins in that."""
        count = math.prod(shape)
        room = bytearray(count * 4 + 64)
        offset = -addressof((c_char * 1).from_buffer(room)) % 64
        flat = self.torch.frombuffer(room, dtype=self.torch.float32, offset=offset, count=count)
        return flat.view(shape), room, offset

    def _is_ordinary(self, slot: _Slot) -> bool:
        """Return whether the sums in a slot are numbers of a usual size, and not all zero.

        Others may hide elements that a sketch leaves out, or that lie outside of a sample.
        """
        # Asked of each long tensor: a call of torch takes several times as long.
        highest = self.room[slot.highest]
        return any(highest) and _LARGE not in highest.translate(_SIZES)

    def _copied(
        self, tensor: Any, strides: Tuple[int, int, int], start: int, count: int, clean: bool
    ) -> Any:
        """Return `count` rows of a tensor from `start` on as float32, in memory of our own.

        They are followed by zeros, up to the end of the last row and up to FEWEST rows.
        """
        begin = tensor.storage_offset() + start * strides[1]
        shape, steps = (count, sketch.GROUPS, sketch.COLUMNS), (strides[1], strides[0], 1)
        if strides is _STRIDES:
            length = min(count * sketch.ROW, tensor.numel() - start * sketch.ROW)
            shape, steps = (1, 1, length), (1, 1, 1)
        block = self.copy[: math.prod(shape)].view(shape)
        block.copy_(tensor.as_strided(shape, steps, begin))
        if clean:
            block.masked_fill_((block.abs() < sketch.HUGE).logical_not_(), 0.0)
        end = math.prod(shape) * 4
        rows = max(count, sketch.FEWEST)
        memset(self.copy.data_ptr() + end, 0, rows * _ROW_BYTES - end)
        return self.copy.as_strided((sketch.GROUPS, rows, sketch.COLUMNS), _STRIDES, 0)

    def _norm(self, tensor: Any) -> float:
        flat, total = tensor.view(-1), 0.0
        for start in range(0, flat.numel(), 1 << 18):
            part = flat[start : start + (1 << 18)].to(self.torch.float64)
            total += self.torch.dot(part, part).item()
        return math.sqrt(total)


def on_device(torch: Any, tables: Tables, flat: Any) -> Any:
    """Return the 64 numbers of the sketch of a flat tensor on a device; non-finite values left out.

    They are products by element, because settings such as TF32 could round matrix products.
    """
    rows, columns = tables.on[flat.device]
    scale = 0.0
    if flat.numel() > sketch.WHOLE and flat.dtype is not torch.float64:
        count, share, scale = sketch.sample(flat.numel())
        shape = (count * sketch.GROUPS, sketch.COLUMNS)
        flat = flat.as_strided(shape, (share * sketch.COLUMNS, 1), flat.storage_offset())
        flat = flat.reshape(-1)
    full_rows, rest = divmod(flat.numel(), sketch.ROW)
    sums = []
    for start in range(0, full_rows, _DEVICE_BLOCK):
        count = min(_DEVICE_BLOCK, full_rows - start)
        values = _part(torch, flat, start * sketch.ROW, count * sketch.ROW).view(
            count, sketch.GROUPS, sketch.COLUMNS
        )
        sums.append((values * _signs(tables, rows, start, count).t().unsqueeze(2)).sum(0))
    if rest:
        tail = _part(torch, flat, full_rows * sketch.ROW, rest)
        last = torch.nn.functional.pad(tail, (0, sketch.ROW - rest))
        last = last.view(sketch.GROUPS, sketch.COLUMNS)
        if full_rows:  # all signs of the first row are +1
            last = last * _signs(tables, rows, full_rows, 1)
        sums.append(last)
    total = sums[0]
    for more in sums[1:]:
        total = total + more
    if scale:
        total = total * scale
    return (total.view(-1, sketch.BUCKETS) * columns).sum(1).view(sketch.SIZE)


def _signs(tables: Tables, rows: Any, start: int, count: int) -> Any:
    """Return the signs of rows on a device, of the shape (GROUPS, count).

    The rows are whole cycles from the first one on, or one piece of a cycle.
    """
    pieces = []
    while count:
        cycle, first = divmod(start, sketch.ROWS)
        taken = min(count, sketch.ROWS - first)
        signs = rows[:, first : first + taken]
        if cycle:
            signs = signs * tables.flipped(rows.device, cycle).unsqueeze(1)
        pieces.append(signs)
        start, count = start + taken, count - taken
    return pieces[0] if len(pieces) == 1 else tables.torch.cat(pieces, 1)


def _part(torch: Any, flat: Any, start: int, length: int) -> Any:
    """Return a part of a tensor as float32; values that the sketch leaves out become 0."""
    values = flat.narrow(0, start, length).to(torch.float32)
    return torch.where(values.abs() < sketch.HUGE, values, 0.0)


def _tensor(torch: Any, numbers: Any) -> Any:
    return torch.frombuffer(numbers, dtype=torch.float32)
