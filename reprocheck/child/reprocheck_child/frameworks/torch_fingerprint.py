"""Fingerprints of torch tensors: an exact hash of the bytes, a sketch, the norm. No tensor is changed and no generator read.

On the host the bytes are hashed where they lie. On a device hash, sketch and norm are computed there and copied aside, without waiting.
The work is done below autograd, autocast and every mode of dispatch, so that nothing of it is seen by them.
"""

import ctypes
from typing import Any, Callable, Dict, List, Optional, Set, Tuple

from .. import hashing, leaves, sketch
from .torch_sketch import SUMS, TorchSketch, WordSums

_KEPT = 1024
_SMALL = 16
_READ = 0x100  # PyBUF_READ
_memory = ctypes.PYFUNCTYPE(ctypes.py_object, ctypes.c_void_p, ctypes.c_ssize_t, ctypes.c_int)(
    ("PyMemoryView_FromMemory", ctypes.pythonapi)
)

Fingerprint = Dict[str, Any]
Reading = Callable[[bool], Optional[Fingerprint]]


class Fingerprints:
    """Fingerprints of tensors and of nested values that hold tensors. Nothing here raises; do not change what is returned.

    `unrecorded(where, why)` is told of tensors that cannot be read.
    """

    def __init__(self, torch: Any, recorder: Any, unrecorded: "Optional[Callable[[str, str], None]]" = None) -> None:
        self.torch = torch
        self.recorder = recorder
        self.unrecorded = unrecorded
        self.sketches = TorchSketch(torch)
        self.sums = WordSums(torch)
        self.names: Dict[Any, str] = {}
        self.known: Dict[Any, Fingerprint] = {}  # by hash, dtype and shape: bytes seen again need no second sketch
        self.tensor = torch.Tensor
        self.plain = (torch.Tensor, torch.nn.Parameter)
        self.below, self.functions, self.keys = torch._C._ExcludeDispatchKeyGuard, torch._C.DisableTorchFunction, _hidden(torch)
        self.fakes = ("torch._subclasses", "torch.fx")
        self.unable: Set[Any] = set()  # (device type, dtype) of tensors that are read from a copy
        self.announced = False
        recorder.on_fork.append(self.forked)

    # ------------------------------------------------------------------------------------------------ one tensor

    def of(self, tensor: Any) -> Fingerprint:
        """Fingerprint of a tensor, at once; `h` is "" where it cannot be read."""
        read = self.later(tensor)
        return read if isinstance(read, dict) else read(True) or {"d": "", "s": [], "h": ""}

    def later(self, tensor: Any) -> "Fingerprint | Reading":
        """Fingerprint of a tensor on the host; of one on a device a reading, that says None until it has arrived unless told to wait."""
        try:
            if not self.announced:
                self.announced = True
                self.recorder.emit({"e": "fingerprints", "hash": hashing.NAME, "sketch": sketch.NAME})
            with self.below(self.keys), self.functions():
                return self._tensor(tensor)
        except Exception as error:
            return self._wrapped(tensor) or self._unread(tensor, error)

    def _tensor(self, tensor: Any) -> "Fingerprint | Reading":
        if type(tensor) not in self.plain:
            parts = self._inside(tensor)
            if isinstance(parts, dict):
                return parts
            if isinstance(parts, list):
                return self._combined(tensor, parts)
            tensor = parts
        if tensor.is_cpu:
            if tensor.layout is self.torch.strided and not tensor.is_nested and not tensor.is_quantized:
                return self._host(tensor)
            return self._combined(tensor, self._parts(tensor))
        if tensor.is_meta:
            return {"h": "", "d": self._name(tensor.dtype), "s": list(tensor.shape), "dev": "meta"}
        if tensor.layout is not self.torch.strided or tensor.is_nested or tensor.is_quantized:
            return self._combined(tensor, self._parts(tensor))
        return self._elsewhere(tensor)

    def _host(self, tensor: Any) -> Fingerprint:
        tensor = self._flat(tensor)
        size = tensor.numel()
        width = tensor.element_size()
        shape = list(tensor.shape)
        address = tensor.data_ptr()
        if size and not address:
            if not tensor._is_zerotensor():
                raise RuntimeError("the tensor has no memory")
            tensor = self.torch.zeros_like(tensor)
            address = tensor.data_ptr()
        data = _memory(address, size * width, _READ) if size else b""
        digest = hashing.digest(data)
        dtype = tensor.dtype
        key = (digest, dtype, *shape)
        known = self.known.get(key)
        if known is not None:
            return known
        found: Fingerprint = {"h": digest, "d": self._name(dtype), "s": shape}
        if size:
            self._numbers(tensor, found)
        else:
            found["z"] = 0.0
        while len(self.known) >= _KEPT:
            self.known.pop(next(iter(self.known)), None)
        self.known[key] = found
        return found

    def _numbers(self, tensor: Any, found: Fingerprint) -> None:
        """Sketch, norm and, of a small tensor, the values."""
        flat = self._real(tensor)
        if flat is None:
            return
        if flat.numel() <= _SMALL:
            values = flat.tolist()
            found["v"] = [leaves.number(value) for value in values]
            data, norm = self.sketches.few(values)
        else:
            numbers, norm = self.sketches.host(flat)
            data = ctypes.string_at(numbers.data_ptr(), sketch.SIZE * 4)
        found["k"] = sketch.text(data)
        found["z"] = leaves.number(norm)

    def _flat(self, tensor: Any) -> Any:
        if tensor.is_neg() or tensor.is_conj():
            tensor = tensor.resolve_conj().resolve_neg()
        return tensor if tensor.is_contiguous() else tensor.contiguous()

    def _real(self, tensor: Any) -> Any:
        """The numbers of a contiguous tensor in one dimension, None of a type that has none (packed and bit types)."""
        name = self._name(tensor.dtype)
        if "bits" in name or "x2" in name or name in ("int4", "uint4"):
            return None
        return (self.torch.view_as_real(tensor) if tensor.is_complex() else tensor).view(-1)

    # ------------------------------------------------------------------------------------------------ tensors made of tensors

    def _inside(self, tensor: Any) -> Any:
        """What a tensor subclass holds: a plain tensor, a list of them, or the fingerprint of one without data."""
        if type(tensor).__module__.startswith(self.fakes):
            return {"h": "", "d": self._name(tensor.dtype), "s": [], "dev": "fake"}
        for _ in range(8):
            if hasattr(tensor, "_local_tensor"):  # DTensor: the shard of this rank, no collective
                tensor = tensor._local_tensor
            elif hasattr(tensor, "trigger_wait"):  # the result of a collective that is under way
                tensor = tensor.trigger_wait()
            else:
                break
        flatten = getattr(tensor, "__tensor_flatten__", None)
        if flatten is not None:
            return [getattr(tensor, name) for name in flatten()[0]]
        return tensor

    def _wrapped(self, tensor: Any) -> "Fingerprint | Reading | None":
        """Of a tensor under `vmap` and other transforms of functions, what it wraps; they have the type of plain ones."""
        try:
            functorch = self.torch._C._functorch
            if not functorch.is_functorch_wrapped_tensor(tensor):
                return None
            while functorch.is_functorch_wrapped_tensor(tensor):
                tensor = functorch.get_unwrapped(tensor)
            with self.below(self.keys), self.functions():
                return self._tensor(tensor)
        except Exception:
            return None

    def _parts(self, tensor: Any) -> List[Any]:
        torch = self.torch
        if tensor.is_nested:
            inside = list(tensor.unbind())
            sizes = torch.tensor([list(part.shape) for part in inside], dtype=torch.int64, device="cpu")
            return [torch.cat([part.reshape(-1) for part in inside]), sizes] if inside else []
        if tensor.is_quantized:
            per_tensor = tensor.qscheme() in (torch.per_tensor_affine, torch.per_tensor_symmetric)
            if per_tensor:
                return [tensor.int_repr(), torch.tensor([tensor.q_scale(), float(tensor.q_zero_point())], dtype=torch.float64)]
            return [tensor.int_repr(), tensor.q_per_channel_scales(), tensor.q_per_channel_zero_points()]
        if tensor.layout is torch.sparse_coo:
            return [tensor._values(), tensor._indices()]
        if tensor.layout in (torch.sparse_csr, torch.sparse_bsr):
            return [tensor.values(), tensor.crow_indices(), tensor.col_indices()]
        if tensor.layout in (torch.sparse_csc, torch.sparse_bsc):
            return [tensor.values(), tensor.ccol_indices(), tensor.row_indices()]
        return [tensor.to_dense()]

    def _combined(self, tensor: Any, parts: List[Any]) -> "Fingerprint | Reading":
        """Hash of the hashes of the parts; norm and sketch of the first, the values, marked with the hash of the others, the structure."""
        name = self._name(tensor.dtype)
        shape = [tensor.size(0)] if tensor.is_nested else [int(length) for length in tensor.shape]
        reads = [self._tensor(part) for part in parts]
        if not reads:
            return {"h": hashing.digest(b""), "d": name, "s": shape}

        def join(found: List[Fingerprint]) -> Fingerprint:
            texts = ["%s %s %s %s" % (part.get("a", ""), part["h"], part["d"], part["s"]) for part in found]
            whole = {"h": hashing.digest("|".join(texts).encode()) if all(part["h"] for part in found) else "", "d": name, "s": shape}
            values = found[0]
            if "a" in values:
                whole["a"] = "%s of %s" % (hashing.NAME, values["a"])
            whole.update((key, values[key]) for key in ("k", "z", "dev") if key in values)
            if "k" in values and texts[1:] and isinstance(values["z"], float):
                whole["k"] = sketch.marked(values["k"], values["z"] or 1.0, hashing.digest("|".join(texts[1:]).encode()))
            return whole

        if all(isinstance(part, dict) for part in reads):
            return join(reads)

        def read(wait: bool) -> Optional[Fingerprint]:
            for index, part in enumerate(reads):
                if not isinstance(part, dict):
                    found = part(wait)
                    if found is None:
                        return None
                    reads[index] = found
            return join(reads)

        return read

    # ------------------------------------------------------------------------------------------------ devices

    def _elsewhere(self, tensor: Any) -> "Fingerprint | Reading":
        """Of a tensor on a device: computed there, or, where the device cannot, from a copy on the host that is waited for."""
        _refuse_capture(self.torch, tensor)
        kind = (tensor.device.type, tensor.dtype)
        if kind not in self.unable:
            try:
                return self._device(tensor)
            except Exception:
                self.unable.add(kind)
        return {**self._host(tensor.cpu()), "dev": str(tensor.device)}

    def _device(self, tensor: Any) -> Reading:
        """Hash, sketch, norm and small values on the device, as one vector of 64-bit numbers copied aside."""
        torch = self.torch
        shape, dtype, device = list(tensor.shape), tensor.dtype, str(tensor.device)
        found: Fingerprint = {"h": "", "d": self._name(dtype), "s": shape, "dev": device, "a": SUMS}
        if not tensor.numel():
            found["h"], found["z"] = WordSums.text(0, 0, 0), 0.0
            return lambda wait: found
        tensor = self._flat(tensor)
        packed = [self.sums.of(tensor.view(-1))]
        flat, size = self._real(tensor), tensor.numel() * tensor.element_size()
        if flat is not None:
            packed += [self.sketches.device(flat).view(torch.int64), self._device_norm(flat)]
            if flat.numel() <= _SMALL:
                packed.append(flat.to(torch.float64).view(torch.int64))
        fetch = self._copy_aside(torch.cat(packed))
        small = flat is not None and flat.numel() <= _SMALL
        exact = flat is not None and not (dtype.is_floating_point or dtype.is_complex)

        def read(wait: bool) -> Optional[Fingerprint]:
            numbers = fetch(wait)
            if numbers is not None and not found["h"]:
                found["h"] = WordSums.text(*numbers[:2].tolist(), size)
                if flat_known:
                    end = 2 + sketch.SIZE // 2
                    found["k"] = sketch.text(ctypes.string_at(numbers[2:end].data_ptr(), sketch.SIZE * 4))
                    found["z"] = leaves.number(numbers[end : end + 1].view(torch.float64).item())
                    if small:
                        values = numbers[end + 1 :].view(torch.float64).tolist()
                        found["v"] = [int(value) if exact else leaves.number(value) for value in values]
            return None if numbers is None else found

        flat_known = flat is not None
        del tensor, flat
        return read

    def _device_norm(self, flat: Any) -> Any:
        torch = self.torch
        wide = torch.float64
        try:
            total = torch.zeros(1, dtype=wide, device=flat.device)
            for start in range(0, flat.numel(), 1 << 24):
                total += flat[start : start + (1 << 24)].to(wide).square().sum()
        except Exception:  # no float64 there
            total = flat.to(torch.float32).norm().view(1).to("cpu", wide).square().to(flat.device)
        return total.sqrt().view(torch.int64)

    def _copy_aside(self, packed: Any) -> "Callable[[bool], Any]":
        try:
            module = self.torch.get_device_module(packed.device)
            copy = self.torch.empty(packed.shape, dtype=packed.dtype, pin_memory=True)
            copy.copy_(packed, non_blocking=True)
            event = module.Event()
            event.record()
        except Exception:
            copy, event = packed, None

        def fetch(wait: bool) -> Any:
            if event is None:
                return copy.cpu()
            if not event.query():
                if not wait:
                    return None
                event.synchronize()
            return copy

        return fetch

    # ------------------------------------------------------------------------------------------------ values

    def leaves(self, value: Any) -> "List[List[Any]]":
        """[path, X] of each leaf of a nested value. X is a fingerprint, a plain value, or a reading of a tensor that is on a device."""
        try:
            if type(value) is self.tensor:
                return [["", self.later(value)]]
            return leaves.leaves(value, self._leaf)
        except Exception as error:
            self._report(leaves.type_name(value), repr(error))
            return []

    def _leaf(self, value: Any) -> Any:
        return self.later(value) if isinstance(value, self.tensor) else None

    def samples(self, value: Any) -> Optional[List[str]]:
        """One hash for each sample of a batch on the host, labels included; None where the first dimension is no batch."""
        try:
            with self.below(self.keys), self.functions():
                found: List[Tuple[int, Callable[[int], Any]]] = []
                self._rows(value, found, 0)
                return leaves.samples(found)
        except Exception as error:
            self._report("samples of a batch", repr(error))
            return None

    def _rows(self, value: Any, found: "List[Tuple[int, Callable[[int], Any]]]", depth: int) -> None:
        if isinstance(value, self.tensor):
            if type(value) is self.tensor and value.is_cpu and value.layout is self.torch.strided and value.dim():
                flat = self._flat(value)
                found.append((len(flat), _row_reader(flat)))
            return
        rows = leaves.array_rows(value)
        if rows is not None:
            found.append(rows)
        elif depth < leaves.DEPTH and len(found) < leaves.COUNT:
            if isinstance(value, (list, tuple)) and value and all(isinstance(part, (str, int, float)) for part in value):
                found.append((len(value), lambda index: repr(value[index]).encode("utf-8", "surrogatepass")))
            else:
                for _, part in leaves.parts(value) or ():
                    self._rows(part, found, depth + 1)

    # ------------------------------------------------------------------------------------------------

    def _name(self, dtype: Any) -> str:
        name = self.names.get(dtype)
        if name is None:
            name = self.names[dtype] = str(dtype).replace("torch.", "")
        return name

    def _unread(self, tensor: Any, error: Exception) -> Fingerprint:
        found: Fingerprint = {"h": "", "d": "", "s": []}
        try:
            found["d"] = self._name(tensor.dtype)
            found["s"] = [int(length) for length in tensor.shape]
        except Exception:
            pass
        self._report("tensor of type " + leaves.type_name(tensor), repr(error))
        return found

    def forked(self) -> None:
        """A forked process says again how its fingerprints are made."""
        self.announced = False

    def _report(self, where: str, why: str) -> None:
        try:
            if self.unrecorded is not None:
                self.unrecorded(where, why)
            else:
                self.recorder.problem("fingerprint: " + where, why)
        except Exception:
            pass


def _row_reader(flat: Any) -> Callable[[int], Any]:
    stride = flat[0].numel() * flat.element_size()

    def read(index: int) -> Any:
        return _memory(flat.data_ptr() + index * stride, stride, _READ) if stride else b""

    return read


def _refuse_capture(torch: Any, tensor: Any) -> None:
    """Raise while a graph of device work is being captured: what is done for the record would become part of it."""
    module = getattr(torch, tensor.device.type, None)
    capturing = getattr(module, "is_current_stream_capturing", None)
    if capturing is not None and capturing():
        raise RuntimeError("a device graph is being captured")


def _hidden(torch: Any) -> Any:
    """The dispatch keys to leave out: autograd, autocast, functorch and every mode of dispatch."""
    keys = torch._C.DispatchKey
    hidden = torch._C.DispatchKeySet(keys.Python)
    wanted = ("PythonTLSSnapshot", "PythonDispatcher", "PreDispatch", "ADInplaceOrView", "Functionalize")
    for name in dir(keys):
        if name in wanted or name.startswith(("Autocast", "FuncTorch")) or (name.startswith("Autograd") and "Functionality" not in name):
            hidden = hidden | torch._C.DispatchKeySet(getattr(keys, name))
    return hidden
