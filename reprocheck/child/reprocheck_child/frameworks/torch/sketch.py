"""Computes the sketch of torch tensors, on the host and on a device.

On the host, the rows of a tensor are added up at once, because that step reads its bytes. The rest
is done later for many tensors together: in a training step the caches are cold, and a call of an
operator costs as much as the sketch of a small tensor.
"""

import math
from _thread import RLock
from ctypes import addressof, c_char, memmove, memset, string_at
from typing import Any, Callable, Dict, List, NamedTuple, Optional, Tuple

from ...deep_levels import hashing, leaves, sketch
from .identity import Made
from .memory import memory

Fingerprint = Dict[str, Any]
_SLOTS = 32
"""Tensors whose sketches are finished together."""
_BLOCK = 128
"""Rows worked on at once: they stay in the cache between the hash and the sketch.

It divides the rows of a cycle.
"""
_DEVICE_BLOCK = 2048
"""The same on a device: whole cycles."""
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
        self.cuts: Dict[Tuple[int, int], Any] = {}
        self.expanded: Dict[int, Any] = {}
        self.flips = Made(self._flips)  # of each device

    def _on(self, device: Any) -> Tuple[Any, Any]:
        rows = _tensor(self.torch, sketch.row_signs()).view(sketch.GROUPS, sketch.ROWS)
        columns = _tensor(self.torch, sketch.column_signs())
        columns = columns.view(sketch.VECTORS, -1, sketch.BUCKETS)
        return rows.to(device), columns.to(device)

    def rows(self, start: int, count: int) -> Any:
        """Return the signs of `count` rows from the row `start` on, on the host.

        They lie within one cycle, and have the shape (GROUPS, 1, count).
        """
        cycle, first = divmod(start, sketch.ROWS)
        signs = self.cuts.get((first, count))
        if signs is None:
            signs = self.on["cpu"][0][:, first : first + count].contiguous().unsqueeze(1)
            if len(self.cuts) < _KEPT:
                self.cuts[first, count] = signs
        if not cycle:
            return signs
        return signs * self.flipped("cpu", cycle).view(sketch.GROUPS, 1, 1)

    def row(self, index: int) -> Any:
        """Return the signs of the elements of one row, on the host."""
        signs = self.expanded.get(index)
        if signs is None:
            signs = self.rows(index, 1).expand(sketch.GROUPS, 1, sketch.COLUMNS).reshape(sketch.ROW)
            if len(self.expanded) < _KEPT:
                self.expanded[index] = signs
        return signs

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

    `add` each tensor, then `finish` all of them.

    To be called below autograd and all modes; `add_short` anywhere, if there is room.
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
        self.last: Any = None  # a row, for the last one of a tensor where that is shorter
        self.sums: Any = None
        self.signed: Any = None  # the sums with the signs of each vector
        self.folded: Any = None

    def forked(self) -> None:
        """Drop unfinished sketches in a forked process: they belong to the parent process."""
        self.lock, self.waiting, self.slots = RLock(), [], []

    def add(self, fingerprint: Fingerprint, tensor: Any) -> None:
        """Queue a tensor, whose sketch `k` and norm `z` `finish` adds to `fingerprint`."""
        with self.lock:
            slot = self._next()
            if tensor.dtype is self.torch.float64:
                norm = self._norm(tensor)
                self._sum(tensor, slot, not norm < sketch.HUGE)
                self.waiting.append((fingerprint, norm))
                return
            self._sum(tensor, slot, False)
            self.waiting.append((fingerprint, self._checked(tensor, slot)))

    def add_short(self, fingerprint: Fingerprint, address: int, size: int) -> None:
        """Queue `size` float32 numbers at the address `address`, one row at most, as `add` does."""
        with self.lock:
            slot = self._next()
            # all signs of the first row are +1
            memmove(slot.address, address, size * 4)
            memset(slot.address + size * 4, 0, (sketch.ROW - size) * 4)
            self.waiting.append((fingerprint, None))

    def add_hashed(self, fingerprint: Fingerprint, tensor: Any, address: int) -> None:
        """Queue a float32 tensor as `add` does, and add its hash `h` to `fingerprint`.

        The bytes are read from memory once for both.
        """
        with self.lock:
            slot = self._next()
            stream = hashing.stream()
            data = memory(address, tensor.numel() * 4)
            self._sum(tensor, slot, False, lambda begin, end: stream.update(data[begin:end]))
            fingerprint["h"] = stream.hexdigest()
            self.waiting.append((fingerprint, self._checked(tensor, slot)))

    def room(self) -> bool:
        """Return whether a sketch can be queued without finishing others first."""
        return len(self.waiting) < len(self.slots)

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
                shape = (sketch.GROUPS, 1, sketch.COLUMNS)
                self.slots = [_Slot(row, row.view(shape), row.data_ptr()) for row in self.sums]
                last = self._own(sketch.ROW)
                self.last = _Slot(last, last.view(shape), last.data_ptr())

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
            # by products of elements: no setting for products of matrices rounds them
            count = len(sums)
            signed, folded = self.signed[:count], self.folded[:count]
            shape = (-1, 1, sketch.ROW // sketch.BUCKETS, sketch.BUCKETS)
            self.torch.mul(sums.view(shape), self.tables.on["cpu"][1], out=signed)
            self.torch.sum(signed, 2, out=folded)
            data = string_at(folded.data_ptr(), count * sketch.SIZE * 4)
        width = sketch.SIZE * 4
        for index, (fingerprint, known) in enumerate(waiting):
            fingerprint["k"] = sketch.text(data[index * width : (index + 1) * width])
            fingerprint["z"] = leaves.number(norms[index] if known is None else known)

    def _next(self) -> _Slot:
        if not self.room():
            self.make_room()
        return self.slots[len(self.waiting)]

    def _own(self, *shape: int) -> Any:
        count = math.prod(shape)
        room = bytearray(count * 4 + 64)
        offset = -addressof((c_char * 1).from_buffer(room)) % 64
        flat = self.torch.frombuffer(room, dtype=self.torch.float32, offset=offset, count=count)
        return flat.view(shape)

    def _sum(
        self,
        tensor: Any,
        slot: _Slot,
        clean: bool,
        before: "Optional[Callable[[int, int], None]]" = None,
    ) -> None:
        """Return the signed sum of a tensor's rows.

        `before(begin, end)` is called with each block of bytes before it is read.
        """
        rows, rest = divmod(tensor.numel(), sketch.ROW)
        offset = tensor.storage_offset()
        plain = tensor.dtype is self.torch.float32 and not clean
        fast = plain and self.full_precision() == "highest"
        if not fast or not rows:
            slot.vector.zero_()
        for start in range(0, rows, _BLOCK):
            count = min(_BLOCK, rows - start)
            if before is not None:
                before(start * _ROW_BYTES, (start + count) * _ROW_BYTES)
            signs = self.tables.rows(start, count)
            matrix = tensor.as_strided(
                (sketch.GROUPS, count, sketch.COLUMNS), _STRIDES, offset + start * sketch.ROW
            )
            if not plain:
                matrix = _plain(self.torch, matrix, clean)
            if not fast:
                if self.full_precision() == "highest":
                    slot.result.baddbmm_(signs, matrix)
                else:
                    slot.result.add_((signs.transpose(1, 2) * matrix).sum(1, keepdim=True))
            elif start:
                slot.result.baddbmm_(signs, matrix)
            else:
                self.torch.bmm(signs, matrix, out=slot.result)
        if rest:
            if before is not None:
                before(rows * _ROW_BYTES, rows * _ROW_BYTES + rest * 4)
            last = self.last.vector
            if plain:
                # copied: of the operators that cut a row shorter each costs more than that
                memmove(self.last.address, tensor.data_ptr() + rows * _ROW_BYTES, rest * 4)
            else:
                cut = tensor.as_strided((rest,), (1,), offset + rows * sketch.ROW)
                last[:rest] = _plain(self.torch, cut, clean)
            memset(self.last.address + rest * 4, 0, _ROW_BYTES - rest * 4)
            slot.vector.addcmul_(last, self.tables.row(rows))

    def _checked(self, tensor: Any, slot: _Slot) -> Optional[float]:
        """Return the norm if it cannot be computed from the sums, else None.

        That is the case for huge, vanishing or non-finite elements, which are left out. For a
        single row None is returned, because `finish` sees its elements in the sums.
        """
        if tensor.numel() <= sketch.ROW:
            return None
        square = self.torch.dot(slot.vector, slot.vector).item()
        if 1e-20 < square < 1e36:
            return None
        norm = self._norm(tensor)
        if not norm < sketch.HUGE:
            self._sum(tensor, slot, True)
        return norm

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
    return _plain(torch, flat.narrow(0, start, length), True)


def _plain(torch: Any, values: Any, clean: bool) -> Any:
    """Return values as float32; with `clean`, values that the sketch leaves out become 0."""
    if values.dtype is not torch.float32:
        values = values.to(torch.float32)
    if not clean:
        return values
    return torch.where(values.abs() < sketch.HUGE, values, 0.0)


def _tensor(torch: Any, numbers: Any) -> Any:
    return torch.frombuffer(numbers, dtype=torch.float32)
