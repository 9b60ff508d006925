"""The control `fill-memory` for PyTorch: fresh tensors hold a fixed finite pattern.

They are those of `torch.empty` and its kin, which would hold what the memory held.

The kernels that allocate are replaced, so `new_empty`, `torch.Tensor(n)`, `to_empty`,
UninitializedParameter and callers in C++ are reached; meta and fake tensors have other kernels and
are left alone. On the CPU the bytes are written behind autograd's back.
"""

import ctypes
import sys
from typing import Any, Callable, Dict, Optional

from ....recorder import import_hook
from .dispatch import Kernels, accelerators

PATTERN = 0x3F
"""Every byte of a floating-point or complex tensor: 0.747 in float32, 1.81 in float16, 0.746 in
bfloat16, 4.8e-4 in float64.
"""
FRESH = 1 << 30
"""Allocations of so many bytes come from the system, which hands out zeros: they are left as they
are, or all would be made resident.
"""
_DEVICE_VALUE = 0.7470588088035583
_WHAT = "aten::"
_ASK = frozenset((
    "empty", "empty_like", "empty_permuted", "empty_quantized", "empty_strided", "new", "new_empty",
    "new_empty_strided", "resize_", "resize_as_", "to_empty", "skip_init", "Tensor",
    "UninitializedBuffer", "UninitializedParameter", "BoolTensor", "ByteTensor", "CharTensor",
    "DoubleTensor", "FloatTensor", "HalfTensor", "BFloat16Tensor", "IntTensor", "LongTensor",
    "ShortTensor",
))  # fmt: skip
"""Names by which code asks for memory that is not filled.

Operators that fill what they allocate ask for it too, by other names.
"""
_asking: Dict[Any, bool] = {}


def fill_memory(torch: Any, active: Any) -> None:
    """Replace the kernels that allocate, for the CPU and each accelerator."""
    kernels = Kernels(torch)
    host = _Host(torch, active)
    for operator in ("empty.memory_format", "empty_strided", "resize_"):
        original = kernels.original(operator, "CPU") or _fallback(torch, operator)
        if original is None:
            active.unavailable("fill-memory", "%s of torch %s" % (operator, torch.__version__))
        else:
            kernels.replace(operator, "CPU", host.wrap(operator, _quick(torch, operator, original)))
    # the kernels of torch_npu are there once it is imported
    for key in sorted({*accelerators(torch)} - {"PrivateUse1"}):
        _accelerator(kernels, active, key)
    import_hook.when_imported("torch_npu", lambda _: _accelerator(kernels, active, "PrivateUse1"))


def _asked_for(frame: Any) -> bool:
    """Return whether the calling user code names a function that leaves memory uninitialized.

    Calls from PyTorch's own code are looked through, because PyTorch fills what it allocates
    itself.
    """
    # packages that allocate for whoever calls them
    while frame is not None and _package(frame) in ("torch", "torch_npu", "reprocheck_child"):
        frame = frame.f_back
    if frame is None:
        return False
    code = frame.f_code
    asks = _asking.get(code)
    if asks is None:
        asks = _asking[code] = not _ASK.isdisjoint(code.co_names)
    return asks


def _package(frame: Any) -> str:
    return str(frame.f_globals.get("__name__")).partition(".")[0]


def _fallback(torch: Any, operator: str) -> Optional[Callable[..., Any]]:
    """Return a version of `empty` made of `empty_strided`, if torch does not expose the kernel."""
    if operator != "empty.memory_format":
        return None
    strided, last, last3d = (
        torch.ops.aten.empty_strided.default,
        torch.channels_last,
        torch.channels_last_3d,
    )

    def empty(size: Any, *, memory_format: Any = None, **options: Any) -> Any:
        order = [*range(len(size))]
        if memory_format in (last, last3d):
            order = [0, *range(2, len(size)), 1]
        strides, step = [1] * len(size), 1
        for dimension in reversed(order):
            strides[dimension] = step
            step *= max(int(size[dimension]), 1)
        return strided(size, strides, **options)

    return empty


def _quick(torch: Any, operator: str, original: Callable[..., Any]) -> Callable[..., Any]:
    """Return a faster allocator for plain CPU tensors, else `original`.

    It bypasses the dispatcher, which takes ten times as long. It is used only if torch has the
    function and the call asks for nothing special, such as pinned memory.
    """
    # what code that inductor compiled allocates with; it takes sizes, strides and a dtype alone
    guards = getattr(getattr(torch._C, "_dynamo", None), "guards", None)
    allocate = getattr(guards, "_empty_strided_cpu", None)
    if allocate is None or operator == "resize_":
        return original
    strided, contiguous, default = torch.strided, torch.contiguous_format, torch.get_default_dtype

    def empty(
        size: Any,
        *,
        dtype: Any = None,
        layout: Any = None,
        device: Any = None,
        pin_memory: Any = None,
        memory_format: Any = None,
    ) -> Any:
        if pin_memory or memory_format not in (None, contiguous) or layout not in (None, strided):
            return original(
                size,
                dtype=dtype,
                layout=layout,
                device=device,
                pin_memory=pin_memory,
                memory_format=memory_format,
            )
        if dtype is None:
            dtype = default()
        strides, step = [], 1
        for length in reversed(size):
            strides.append(step)
            step *= length or 1
        return allocate(tuple(size), tuple(reversed(strides)), dtype)

    def empty_strided(
        size: Any,
        stride: Any,
        *,
        dtype: Any = None,
        layout: Any = None,
        device: Any = None,
        pin_memory: Any = None,
    ) -> Any:
        if pin_memory or layout not in (None, strided):
            return original(
                size, stride, dtype=dtype, layout=layout, device=device, pin_memory=pin_memory
            )
        if dtype is None:
            dtype = default()
        return allocate(tuple(size), tuple(stride), dtype)

    if operator == "empty_strided":
        return empty_strided
    return empty


class _Host:
    """The kernels for tensors on the CPU, pinned or not."""

    def __init__(self, torch: Any, active: Any) -> None:
        self.active = active
        self.tensor = torch.Tensor

    def wrap(self, operator: str, original: Callable[..., Any]) -> Callable[..., Any]:
        """Return an allocating kernel that writes the pattern into new memory."""
        what = _WHAT + operator.partition(".")[0]
        if operator == "resize_":
            return self._resize(what, original)
        fill = self.fill

        def allocate(*args: Any, **kwargs: Any) -> Any:
            tensor = original(*args, **kwargs)
            fill(what, tensor, 0)
            return tensor

        return allocate

    def _resize(self, what: str, original: Callable[..., Any]) -> Callable[..., Any]:
        fill = self.fill

        def resize_(tensor: Any, *args: Any, **kwargs: Any) -> Any:
            before = tensor.untyped_storage().nbytes()
            original(tensor, *args, **kwargs)
            fill(what, tensor, before)
            return tensor

        return resize_

    def fill(self, what: str, tensor: Any, start: int) -> None:
        """Write the pattern into the storage of a fresh tensor from byte `start` on."""
        try:
            storage = tensor.untyped_storage()
            size = storage.nbytes() - start
            if 0 < size < FRESH:
                kind = tensor.dtype
                value = PATTERN - self.active.fill
                pattern = value if kind.is_floating_point or kind.is_complex else 0
                ctypes.memset(storage.data_ptr() + start, pattern, size)
                if _asked_for(sys._getframe(1)):
                    self.active.touched("fill-memory", what)
        except Exception as error:
            self.active.recorder.problem("controls: fill-memory", error)


def _accelerator(kernels: Kernels, active: Any, key: str) -> None:
    """Fill what an accelerator allocates with the pattern, by one operator run below autograd."""
    torch = kernels.torch
    # The guard that kernels of C++ take before they call other operators: what fills the memory is
    # no part of a graph, and counts no version. It has no public name.
    below = torch._C._AutoDispatchBelowADInplaceOrView
    fill = torch.ops.aten.fill_.Scalar
    for operator in ("empty.memory_format", "empty_strided"):
        original = kernels.original(operator, key)
        if original is None:
            active.unavailable(
                "fill-memory", "%s on %s, torch %s" % (operator, key, torch.__version__)
            )
            continue
        what = _WHAT + operator.partition(".")[0] + " on " + key
        kernels.replace(operator, key, _device_kernel(active, what, original, fill, below))


def _device_kernel(
    active: Any, what: str, original: Callable[..., Any], fill: Any, below: Any
) -> Callable[..., Any]:
    def allocate(*args: Any, **kwargs: Any) -> Any:
        tensor = original(*args, **kwargs)
        try:
            if tensor.numel():
                kind = tensor.dtype
                with below():
                    fill(tensor, _DEVICE_VALUE if kind.is_floating_point or kind.is_complex else 0)
                if _asked_for(sys._getframe(1)):
                    active.touched("fill-memory", what)
        except Exception as error:  # a type without a kernel for it
            active.unavailable("fill-memory", "%s of %s: %r" % (what, tensor.dtype, error))
        return tensor

    return allocate
