"""Fingerprints of torch tensors: an exact hash of the bytes, a sketch, the norm.

No tensor is changed and no generator read.

On the host the bytes are hashed where they lie; sketches are finished many at a time: `finish`. On
a device hash, sketch and norm are computed there and copied aside, many at a time and without
waiting. The work is done below autograd, autocast and every mode of dispatch, so that nothing of it
is seen by them.
"""

import ctypes
import weakref
from contextlib import suppress
from typing import Any, Callable, Dict, List, NamedTuple, Optional, Set, Tuple

from ...deep_levels import hashing, leaves, sketch
from . import parts as torch_parts, rows
from .combined_parts import Combined, Fingerprint, Reading, arrived
from .device_hash import SUMS, WordSums
from .identity import Made
from .memory import LONG, READ, samples, view
from .pending_values import Parcels, is_capturing
from .sketch import HostSketches, Tables, on_device

_KEPT = 1024
"""Fingerprints above which those of bytes and of tensors seen before are forgotten."""

_SMALL = 16
_NORM_BLOCK = 1 << 24
"""Elements of a tensor on a device that are made wider at once, for the norm."""
_LEFT_OUT = (
    "ADInplaceOrView",
    "Autocast",
    "Autograd",
    "FuncTorch",
    "Functionalize",
    "PreDispatch",
    "PythonDispatcher",
    "PythonTLSSnapshot",
)
"""How the names of the dispatch keys begin below which the work is done, beside `Python`."""

NO_MEMORY = "%s has no memory for fingerprints"


class _Kind(NamedTuple):
    """The properties of a dtype that fingerprints need."""

    name: str
    quantized: bool
    complex: bool
    single: bool
    numbers: bool
    fractions: bool


class Fingerprints:
    """The fingerprints of tensors and of nested values that hold tensors.

    Nothing here raises; do not change what is returned.

    A fingerprint of a tensor on the host may lack its sketch and norm (`k`, `z`) until `finish` is
    called. `unrecorded(where, why)` is told of tensors that cannot be read.
    """

    def __init__(
        self, torch: Any, recorder: Any, unrecorded: "Optional[Callable[[str, str], None]]" = None
    ) -> None:
        self.torch = torch
        self.recorder = recorder
        self.unrecorded = unrecorded
        self.tables = Tables(torch)
        self.sketches = HostSketches(torch, self.tables)
        self.sums = WordSums(torch)
        self.parcels = Parcels(torch)
        self.kinds = Made(self._kind)  # of each dtype
        # by hash, dtype and shape: bytes seen again need no second sketch
        self.known: Dict[Any, Fingerprint] = {}
        self.recent: Dict[int, Tuple[Any, Any, Any]] = {}
        """Id of a long tensor -> a weak reference to it, its look, and its fingerprint.

        Loaders and modules hand the same ones on and on.
        """
        self.tensor = torch.Tensor
        self.plain = (torch.Tensor, torch.nn.Parameter)
        self.strided = torch.strided
        # `_ExcludeDispatchKeyGuard` leaves dispatch keys out for a while (`_hidden` says why), and
        # `DisableTorchFunction` keeps subclasses of Tensor from seeing what is called. Neither is
        # documented.
        self.below = torch._C._ExcludeDispatchKeyGuard
        self.functions = torch._C.DisableTorchFunction
        self.keys = _hidden(torch)
        self.unable: Set[Any] = set()  # (device type, dtype) of tensors that are read from a copy
        self.no_memory: Callable[[str], object] = _nothing
        """Told once a device has no memory for fingerprints."""
        recorder.on_fork.append(self.forked)

    def of(self, tensor: Any) -> Fingerprint:
        """Return the fingerprint of a tensor, at once; `h` is "" where it cannot be read."""
        read = self.later(tensor)
        self.finish()
        return arrived(read, True) or _unknown()

    def later(self, tensor: Any, sketched: bool = True) -> "Fingerprint | Reading":
        """Return the fingerprint of a tensor on the host, or a reading of a tensor on a device.

        A reading is a function that returns None until the fingerprint has arrived on the host;
        called with `wait` it waits.

        If `sketched` is False, a long tensor may have no sketch and no norm.
        """
        with self.functions():
            return self.read(tensor, sketched)[0]

    def again(self, tensor: Any, sketched: bool = True) -> Any:
        """Return the same as `later` for a tensor that one module passes on to the next.

        The cached fingerprint is used if the tensor was not written to since. To be called, as
        `read`, where no subclass of Tensor sees it.
        """
        known = self.recent.get(id(tensor))
        if known is not None and known[0]() is tensor and self.unchanged(tensor, known[1]):
            return known[2]
        fingerprint, look = self.read(tensor, sketched, True)
        if look is not None and type(tensor) is self.tensor:
            self.recent[id(tensor)] = weakref.ref(tensor), look, fingerprint
        return fingerprint

    def read(
        self, tensor: Any, sketched: bool = True, glance: bool = False
    ) -> "Tuple[Fingerprint | Reading, Any]":
        """Return the same as `later`, and with `glance` the look of a long tensor on the host.

        To be called within `functions`.
        """
        # One function for nearly all tensors: a step reads hundreds, and a call of another, or to
        # leave out the dispatch keys, costs as much as the hash of a short one.
        try:
            dtype = tensor.dtype
            kind = self.kinds[dtype]
            is_plain = type(tensor) in self.plain and tensor.layout is self.strided
            if not is_plain or kind.quantized or not tensor.is_cpu or tensor.is_nested:
                with self.below(self.keys):
                    return self._tensor(tensor), None
            # raises for what only looks like a tensor, before any work on it
            address, count, shape = tensor.data_ptr(), tensor.numel(), tensor.shape
            # negated and conjugated tensors are views with a bit set: their bytes are those of
            # another; a tensor of zeros that autograd made up has no memory at all
            is_lazy = tensor.is_neg() or (kind.complex and tensor.is_conj())
            if is_lazy or not tensor.is_contiguous() or (count and not address):
                with self.below(self.keys):
                    tensor = self._flat(tensor)
                address, glance = tensor.data_ptr(), False
            size, look = count * tensor.element_size(), None
            data: Any = view(address, size, READ) if size else b""
            digest = hashing.digest(data)
            if glance and size >= LONG and not tensor.is_inference():
                # behind the hash, by which the memory has come into the caches; see `samples`
                elements = data[: size & -8].cast("Q")[:: size >> 8].tobytes()
                look = tensor._version, address, size, elements
            # bytes that were seen before need no second sketch
            key = (digest, dtype, shape)
            fingerprint = self.known.get(key)
            if fingerprint is not None:
                return fingerprint, look
            fingerprint = {"h": digest, "d": kind.name, "s": list(shape)}
            if count > sketch.ROW and not sketched:
                return fingerprint, look
            with self.below(self.keys):
                if kind.single and count > _SMALL:
                    self.sketches.add_single(fingerprint, tensor, address, count)
                else:
                    self._sketch(fingerprint, tensor, kind)
            self.known[key] = fingerprint
            return fingerprint, look
        except Exception as error:
            return self._wrapped(tensor) or self._unread(tensor, error), None

    def _sketch(self, fingerprint: Fingerprint, tensor: Any, kind: _Kind) -> None:
        """Queue the sketch of a tensor, if it holds numbers; add the elements of a small one."""
        if not tensor.numel():
            fingerprint["z"] = 0.0
            return
        if not kind.numbers:
            return
        real = self.torch.view_as_real(tensor) if kind.complex else tensor
        if real.numel() <= _SMALL:
            values = real.view(-1).tolist()
            fingerprint["v"] = [v if v - v == 0 else repr(v) for v in values]
        if kind.single:
            self.sketches.add_single(fingerprint, real, real.data_ptr(), real.numel())
        else:
            self.sketches.add(fingerprint, real)

    def unchanged(self, tensor: Any, look: Any) -> bool:
        """Return whether a long tensor is as it was at a look; False if there was none.

        A look is version, address, size, and some elements: writing through `.data` does not change
        the version, but nearly always one of these.
        """
        if look is None or type(tensor) is not self.tensor or tensor.layout is not self.strided:
            return False
        # `_version` is the counter by which autograd finds out that a saved tensor was modified in
        # place. Nothing public says it.
        version, address, size, elements = look
        if tensor._version != version or tensor.data_ptr() != address:
            return False
        same_size = tensor.numel() * tensor.element_size() == size and tensor.is_contiguous()
        return same_size and samples(address, size) == elements

    def mark(self, weight: Any) -> Any:
        """Return a mark that changes with a write to a weight; None if its writes cannot be seen.

        It is the version with some elements, of a short weight the hash, on a device the version.

        The address in memory is left out, because it may differ between runs.
        """
        if type(weight) not in self.plain or weight.layout is not self.strided or weight.is_nested:
            return None
        # no values, or no version: asking a tensor of inference mode for one raises
        if weight.is_meta or weight.is_inference():
            return None
        if not weight.is_cpu or not weight.is_contiguous():
            return weight._version
        address, size = weight.data_ptr(), weight.numel() * weight.element_size()
        # of a short one all bytes: that also shows what wrote through `.data`
        if size < LONG:
            return hashing.digest(view(address, size, READ) if size else b"")
        return weight._version, samples(address, size)

    def finish(self) -> None:
        """Complete the fingerprints that wait for their sketch and norm."""
        for kept in (self.known, self.recent):
            if len(kept) > _KEPT:
                kept.clear()
        if self.sketches.waiting:
            try:
                with self.functions(), self.below(self.keys):
                    self.sketches.finish()
            except Exception as error:
                self._report("sketches", repr(error))

    def _tensor(self, tensor: Any) -> "Fingerprint | Reading":
        if type(tensor) not in self.plain:
            if type(tensor).__module__.startswith(torch_parts.FAKES):
                return {"h": "", "d": self._name(tensor.dtype), "s": [], "dev": "fake"}
            inside = torch_parts.inside(tensor)
            if isinstance(inside, list):
                return self._combined(tensor, inside)
            tensor = inside
        if tensor.is_meta:
            return {"h": "", "d": self._name(tensor.dtype), "s": list(tensor.shape), "dev": "meta"}
        dense = tensor.layout is self.strided
        if not dense or tensor.is_nested or tensor.is_quantized:
            return self._combined(tensor, torch_parts.parts(self.torch, tensor))
        if not tensor.is_cpu:
            return self._elsewhere(tensor)
        return self.later(tensor)

    def _flat(self, tensor: Any) -> Any:
        """Return a tensor flattened and contiguous, with its bits unchanged."""
        if tensor.is_neg() or tensor.is_conj():
            tensor = tensor.resolve_conj().resolve_neg()
        tensor = tensor.contiguous()  # itself where it is that
        if tensor.is_cpu and tensor.numel() and not tensor.data_ptr():
            # forward-mode differentiation hands around zeros that are none: nothing public says so
            if not tensor._is_zerotensor():
                raise RuntimeError("the tensor has no memory")
            tensor = self.torch.zeros_like(tensor)
        return tensor

    def _wrapped(self, tensor: Any) -> "Fingerprint | Reading | None":
        """Return the fingerprint of the tensor inside the wrappers of transforms such as `vmap`.

        The fingerprint has the type of a plain tensor.
        """
        try:
            inner = torch_parts.unwrapped(self.torch, tensor)
            if inner is None:
                return None
            with self.below(self.keys), self.functions():
                return self._tensor(inner)
        except Exception:
            return None

    def _combined(self, tensor: Any, parts: List[Any]) -> "Fingerprint | Reading":
        """Return one fingerprint of a tensor stored as several `parts`, such as a sparse one."""
        # the shape of a nested tensor is that of its parts; only their number can be asked for
        shape = [tensor.size(0)] if tensor.is_nested else [int(length) for length in tensor.shape]
        whole = {"h": hashing.digest(b""), "d": self._name(tensor.dtype), "s": shape}
        if not parts:
            return whole
        combined = Combined(whole, list(map(self._tensor, parts)), self.finish)
        if any(map(callable, combined.parts)):
            return combined  # to ask now would send what the device has gathered
        return combined(False) or combined

    def _elsewhere(self, tensor: Any) -> "Fingerprint | Reading":
        """Return the fingerprint of a tensor on a device.

        It is computed on the device, or, if the device cannot, from a copy on the host that is
        waited for.
        """
        if is_capturing(self.torch, tensor.device):
            raise RuntimeError("a device graph is being captured")
        # What a device lacks (64-bit integers, a kernel) shows as an error of the first tensor; it
        # is not tried again.
        kind = (tensor.device.type, tensor.dtype)
        if kind not in self.unable:
            try:
                return self._device(tensor)
            except Exception as error:
                # `torch.OutOfMemoryError` since 2.5, the same class of `torch.cuda` before
                if type(error).__name__ == "OutOfMemoryError":
                    self.no_memory(NO_MEMORY % tensor.device)
                self.unable.add(kind)
        fingerprint = self.of(tensor.cpu())
        return {**fingerprint, "dev": str(tensor.device)}

    def _device(self, tensor: Any) -> Reading:
        """Compute hash, sketch, norm and small values of a tensor on its device.

        The results are one vector of 64-bit numbers, copied to the host later with those of other
        tensors.
        """
        torch = self.torch
        shape, dtype, device = list(tensor.shape), tensor.dtype, str(tensor.device)
        fingerprint: Fingerprint = {
            "h": "",
            "d": self._name(dtype),
            "s": shape,
            "dev": device,
            "a": SUMS,
        }
        if not tensor.numel():
            fingerprint["h"], fingerprint["z"] = WordSums.text(0, 0, 0), 0.0
            return lambda wait: fingerprint
        tensor = self._flat(tensor)
        packed = [self.sums.of(tensor.view(-1))]
        kind, size = self.kinds[dtype], tensor.numel() * tensor.element_size()
        if kind.numbers:
            flat = tensor.view(-1)
            if kind.complex:
                flat = torch.view_as_real(flat).view(-1)
            if sketch.is_cut(flat.numel(), self._name(flat.dtype)):
                fingerprint["q"] = sketch.sample(flat.numel())[1]
            packed.append(on_device(torch, self.tables, flat).view(torch.int64))
            packed.append(self._device_norm(flat))
            if flat.numel() <= _SMALL:
                packed.append(flat.to(torch.float64).view(torch.int64))
        # what is read later holds this vector alone, and no memory of the training
        fetch = self.parcels.add(torch.cat(packed))

        def read(wait: bool) -> Optional[Fingerprint]:
            # what is done here may come in the middle of anything of the script's
            with self.functions(), self.below(self.keys):
                numbers = fetch(wait)
                if numbers is None:
                    return None
                if not fingerprint["h"]:
                    first, second = numbers[:2].tolist()
                    fingerprint["h"] = WordSums.text(first, second, size)
                    if kind.numbers:
                        self._unpack(fingerprint, numbers[2:], kind)
                return fingerprint

        return read

    def _unpack(self, fingerprint: Fingerprint, numbers: Any, kind: _Kind) -> None:
        """Return sketch, norm and values (of a small tensor) from a device's `numbers`."""
        float64, width = self.torch.float64, sketch.SIZE // 2
        fingerprint["k"] = sketch.text(ctypes.string_at(numbers.data_ptr(), sketch.SIZE * 4))
        norm, *values = numbers[width:].view(float64).tolist()
        fingerprint["z"] = leaves.number(norm)
        if values:
            as_said = leaves.number if kind.fractions else int
            fingerprint["v"] = list(map(as_said, values))

    def _device_norm(self, flat: Any) -> Any:
        torch = self.torch
        wide = torch.float64
        try:
            norms = [
                torch.linalg.vector_norm(flat[start : start + _NORM_BLOCK].to(wide), keepdim=True)
                for start in range(0, flat.numel(), _NORM_BLOCK)
            ]
            norm = norms[0] if len(norms) == 1 else torch.linalg.vector_norm(torch.cat(norms))
        except Exception:  # no float64 there
            norm = flat.to(torch.float32).norm().to("cpu", wide).to(flat.device)
        return norm.view(1).view(torch.int64)

    def leaves(self, value: Any, sketched: bool = True) -> "List[List[Any]]":
        """Return [path, X] of each leaf of a nested value.

        X is a fingerprint, a plain value, or a reading (see `later`) of a tensor on a device.
        `sketched` is passed to `later` if the value itself is a tensor.
        """
        try:
            if type(value) is self.tensor:
                return [["", self.later(value, sketched)]]
            return leaves.leaves(value, self._leaf)
        except Exception as error:
            self._report(leaves.type_name(value), repr(error))
            return []

    def hashes(self, value: Any) -> "List[List[Any]]":
        """Return the same as `leaves` for values that are compared by their hash alone."""
        try:
            with self.functions():
                return leaves.leaves(value, self._hashed)
        except Exception as error:
            self._report(leaves.type_name(value), repr(error))
            return []

    def _hashed(self, value: Any) -> Any:
        if isinstance(value, self.tensor):
            return self.again(value, False)
        return None

    def _leaf(self, value: Any) -> Any:
        if isinstance(value, self.tensor):
            return self.later(value)
        return None

    def samples(self, value: Any) -> Optional[List[str]]:
        """Return one hash for each sample (row) of a batch on the host, labels included.

        None if the first dimension is not the batch dimension.
        """
        try:
            with self.below(self.keys), self.functions():
                return rows.samples(self.tensor, value, self._flat)
        except Exception as error:
            self._report("samples of a batch", repr(error))
            return None

    def _name(self, dtype: Any) -> str:
        return str(self.kinds[dtype].name)

    def _kind(self, dtype: Any) -> _Kind:
        if not self.kinds:  # asked for before anything of a tensor is written
            names = {"hash": hashing.NAME, "sketch": sketch.NAME}
            self.recorder.emit({"e": "fingerprints", **names})
        name = str(dtype).replace("torch.", "")
        # several numbers packed into one element: float4_e2m1fn_x2, bits4x2, int4
        packed = name in ("int4", "uint4") or "bits" in name or "x2" in name
        return _Kind(
            name,
            quantized=name.startswith(("qint", "quint")),
            complex=dtype.is_complex,
            single=dtype is self.torch.float32,
            numbers=not packed,
            fractions=dtype.is_floating_point or dtype.is_complex,
        )

    def _unread(self, tensor: Any, error: Exception) -> Fingerprint:
        fingerprint = _unknown()
        with suppress(Exception):
            fingerprint["d"] = self._name(tensor.dtype)
            fingerprint["s"] = [int(length) for length in tensor.shape]
        self._report("tensor of type " + leaves.type_name(tensor), repr(error))
        return fingerprint

    def forked(self) -> None:
        """Write the names of the algorithms again in the trace of a forked process.

        Fingerprints that wait for their sketch are left to the parent process.
        """
        self.kinds.clear()
        self.known.clear()
        self.recent.clear()
        self.sketches.forked()

    def _report(self, where: str, why: str) -> None:
        with suppress(Exception):
            if self.unrecorded is not None:
                self.unrecorded(where, why)
            else:
                self.recorder.problem("fingerprint: " + where, why)


def _unknown() -> Fingerprint:
    """Return the fingerprint of a tensor that cannot be read."""
    return {"h": "", "d": "", "s": []}


def _hidden(torch: Any) -> Any:
    """Return the dispatch keys of autograd, autocast, functorch and every mode, to exclude them."""
    # `no_grad` and `_disable_current_modes` would each switch off one of them, and an operator of
    # the recorder would still be seen by `vmap`, by functionalization and by a compiler that
    # traces. The sets of keys are private; which of them a version has differs, so all are asked.
    keys = torch._C.DispatchKey
    hidden = torch._C.DispatchKeySet(keys.Python)
    for name in dir(keys):
        # `AutogradFunctionality` is no key that kernels are registered for
        if name.startswith(_LEFT_OUT) and "Functionality" not in name:
            hidden = hidden | torch._C.DispatchKeySet(getattr(keys, name))
    return hidden


def _nothing(why: str) -> None:
    """Ignore `why`, because nobody is to be told of tensors that cannot be read."""
