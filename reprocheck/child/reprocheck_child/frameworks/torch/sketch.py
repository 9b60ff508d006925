"""Computes the sketch of torch tensors, on the host and on a device.

On the host, the rows of a tensor are added up at once, because that step reads its bytes. The rest
is done later for many tensors together: in a training step the caches are cold, and a call of an
operator costs as much as the sketch of a small tensor.
"""

import math
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


class Tables:
    """The random signs (+1, -1) of the sketch, kept on each device that has needed them."""

    def __init__(self, torch: Any) -> None:
        self.torch = torch
        # of each device: ROWS of the shape (GROUPS, ROWS), COLUMNS of the shape (VECTORS, columns
        # of a bucket, BUCKETS)
        self.on = Made(self._on)
        # (first row, count) -> the signs of the rows, on the host: of the shape (GROUPS, 1, count),
        # within one cycle
        self.rows = Made(self._rows)
        self.flips = Made(self._flips)  # of each device

    def _on(self, device: Any) -> Tuple[Any, Any]:
        rows = _tensor(self.torch, sketch.row_signs()).view(sketch.GROUPS, sketch.ROWS)
        columns = _tensor(self.torch, sketch.column_signs())
        columns = columns.view(sketch.VECTORS, -1, sketch.BUCKETS)
        return rows.to(device), columns.to(device)

    def _rows(self, rows: Tuple[int, int]) -> Any:
        (cycle, first), count = divmod(rows[0], sketch.ROWS), rows[1]
        signs = self.on["cpu"][0][:, first : first + count].contiguous().unsqueeze(1)
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
    """Memory for the sums of one unfinished sketch, as a vector and as the result of a product."""

    vector: Any
    result: Any
    address: int


class HostSketches:
    """A queue of sketches of contiguous tensors of real numbers on the CPU.

    `add` each tensor, then `finish` all of them. To be called below autograd and all modes;
    `add_short` anywhere.
    """

    def __init__(self, torch: Any, tables: Tables) -> None:
        self.torch = torch
        self.tables = tables
        # `torch.get_float32_matmul_precision` without its wrapper: asked for each tensor. Products
        # of matrices are rounded to TF32 or bfloat16 on hosts that can, where it is not "highest".
        self.full_precision = getattr(torch._C, "_get_float32_matmul_precision", lambda: "highest")
        self.lock = RLock()
        # a fingerprint, and its norm where the sums do not say it
        self.waiting: List[Tuple[Fingerprint, Optional[float]]] = []
        self.slots: List[_Slot] = []
        self.copy: Any = None  # what was made float32, or taken of a long tensor
        self.sums: Any = None
        self.signed: Any = None  # the sums with the signs of each vector
        self.folded: Any = None

    def forked(self) -> None:
        """Drop unfinished sketches in a forked process: they belong to the parent process."""
        self.lock, self.waiting, self.slots = RLock(), [], []

    def add_short(self, fingerprint: Fingerprint, address: int, size: int) -> None:
        """Queue `size` float32 numbers at the address `address`, one row at most, as `add` does."""
        with self.lock:
            if len(self.waiting) >= len(self.slots):
                self.make_room()
            slot = self.slots[len(self.waiting)]
            # all signs of the first row are +1
            memmove(slot.address, address, size * 4)
            memset(slot.address + size * 4, 0, _ROW_BYTES - size * 4)
            self.waiting.append((fingerprint, None))

    def add(self, fingerprint: Fingerprint, tensor: Any, norm: Optional[float] = None) -> None:
        """Queue a tensor, whose sketch `k` and norm `z` `finish` adds to `fingerprint`.

        norm  the norm where the sums do not say it; not below HUGE: elements that are huge or not
              finite are left out
        """
        torch, begin, size, dtype = (
            self.torch,
            tensor.storage_offset(),
            tensor.numel(),
            tensor.dtype,
        )
        if dtype is torch.float64 and norm is None:
            norm = self._norm(tensor)
        clean = norm is not None and not norm < sketch.HUGE
        rows, strides, scale = -(-size // sketch.ROW), _STRIDES, 0.0
        if size > sketch.WHOLE and dtype is not torch.float64:
            rows, share, scale = sketch.sample(size)
            fingerprint["q"] = share
            strides = (sketch.COLUMNS * share, sketch.ROW * share, 1)
        # the memory of the tensor itself is multiplied where it can be
        is_plain = dtype is torch.float32 and not clean and rows >= sketch.FEWEST
        is_plain = is_plain and (scale > 0.0 or not size % sketch.ROW)
        most = sketch.ROWS if is_plain else _COPIED
        exact = self.full_precision() == "highest"
        with self.lock:
            if len(self.waiting) >= len(self.slots):
                self.make_room()
            slot = self.slots[len(self.waiting)]
            for start in range(0, rows, most):
                count = min(most, rows - start)
                if is_plain:
                    shape = (sketch.GROUPS, count, sketch.COLUMNS)
                    matrix = tensor.as_strided(shape, strides, begin + start * strides[1])
                else:
                    count = max(count, sketch.FEWEST)
                    matrix = self._copied(tensor, strides, start, count, clean)
                signs = self.tables.rows[start, count]
                if not exact:
                    sums = (signs.transpose(1, 2) * matrix).sum(1, keepdim=True)
                    slot.result.copy_(sums + slot.result if start else sums)
                elif start:
                    slot.result.baddbmm_(signs, matrix)
                else:
                    torch.bmm(signs, matrix, out=slot.result)
            if scale:
                slot.vector.mul_(scale)
            if norm is None and size > sketch.ROW:
                # Of a single row `finish` sees the elements in the sums.
                square = torch.dot(slot.vector, slot.vector).item()
                if not 1e-20 < square < 1e36:
                    self.add(fingerprint, tensor, self._norm(tensor))
                    return
            self.waiting.append((fingerprint, norm))

    def make_room(self) -> None:
        """Finish the queued sketches; allocate the memory for sums at the first call."""
        with self.lock:
            self.finish()
            if not self.slots:
                # memory of our own: none of the allocator of the training
                columns = sketch.ROW // sketch.BUCKETS
                self.sums = self._own(_SLOTS, sketch.ROW)
                self.signed = self._own(_SLOTS, sketch.VECTORS, columns, sketch.BUCKETS)
                self.folded = self._own(_SLOTS, sketch.VECTORS, sketch.BUCKETS)
                self.copy = self._own(sketch.WHOLE)
                shape = (sketch.GROUPS, 1, sketch.COLUMNS)
                self.slots = [_Slot(row, row.view(shape), row.data_ptr()) for row in self.sums]

    def finish(self) -> None:
        """Compute sketch and norm of all queued tensors."""
        with self.lock:
            waiting, self.waiting = self.waiting, []
            if not waiting:
                return
            sums = self.sums[: len(waiting)]
            norms = self.torch.linalg.vector_norm(sums, dim=1, dtype=self.torch.float64).tolist()
            for index, norm in enumerate(norms):
                if not norm < sketch.HUGE:
                    sums[index].masked_fill_((sums[index].abs() < sketch.HUGE).logical_not_(), 0.0)
            if len(self.tables.rows) > _KEPT:
                self.tables.rows.clear()
            # by products of elements: no setting for products of matrices rounds them
            count = len(sums)
            signed, folded = self.signed[:count], self.folded[:count]
            shape = (-1, 1, sketch.ROW // sketch.BUCKETS, sketch.BUCKETS)
            self.torch.mul(sums.view(shape), self.tables.on["cpu"][1], out=signed)
            self.torch.sum(signed, 2, out=folded)
            data = string_at(folded.data_ptr(), count * sketch.SIZE * 4)
        width = sketch.SIZE * 4
        for index, (fingerprint, known) in enumerate(waiting):
            text = b2a_base64(data[index * width : (index + 1) * width], newline=False)
            norm = norms[index] if known is None else known
            fingerprint["k"] = text.decode("ascii")
            # as JSON can hold it
            fingerprint["z"] = norm if norm - norm == 0 else repr(norm)

    def _own(self, *shape: int) -> Any:
        count = math.prod(shape)
        room = bytearray(count * 4 + 64)
        offset = -addressof((c_char * 1).from_buffer(room)) % 64
        flat = self.torch.frombuffer(room, dtype=self.torch.float32, offset=offset, count=count)
        return flat.view(shape)

    def _copied(
        self, tensor: Any, strides: Tuple[int, int, int], start: int, count: int, clean: bool
    ) -> Any:
        """Return `count` rows of a tensor from `start` on as float32, in memory of our own.

        Rows behind the end of the tensor are zeros.
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
        memset(self.copy.data_ptr() + end, 0, count * _ROW_BYTES - end)
        return self.copy.as_strided((sketch.GROUPS, count, sketch.COLUMNS), _STRIDES, 0)

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
