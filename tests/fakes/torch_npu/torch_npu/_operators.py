"""Operators of the fake device: run the CPU's on the CPU tensors behind, draw from the device's own generator, count what crosses."""

from __future__ import annotations

import os
import weakref
from collections.abc import Callable
from typing import Any

import torch
from torch.utils._pytree import tree_leaves, tree_map

from . import fake, npu
from ._memory import host, is_npu, to_npu

_libraries: list[torch.library.Library] = []  # unregistered when they are collected
_NOISY = ("mm", "addmm", "bmm")
_VIEWS = (
    *(
        "detach",
        "alias",
        "view",
        "view.dtype",
        "t",
        "transpose.int",
        "permute",
        "expand",
        "unsqueeze",
        "squeeze",
        "squeeze.dim",
    ),
    *("squeeze.dims", "select.int", "slice.Tensor", "diagonal", "unfold", "view_as_real"),
)
_LOWER = ("linear", "matmul", "mm", "addmm", "bmm", "conv1d", "conv2d")
_FLOAT32 = ("cross_entropy_loss", "mse_loss", "nll_loss")


def install() -> None:
    """Register the operators; everything that is not named here goes to `_fallback`."""
    fallback = torch.library.Library("_", "IMPL")
    fallback.fallback(_fallback, dispatch_key="PrivateUse1")
    aten = torch.library.Library("aten", "IMPL")
    aten.impl("_copy_from", _copy_from, "PrivateUse1")
    aten.impl("empty.memory_format", _empty, "PrivateUse1")
    aten.impl("empty_strided", _empty_strided, "PrivateUse1")
    for name in _VIEWS:
        packet, _, overload = name.partition(".")
        aten.impl(
            name,
            _view(getattr(getattr(torch.ops.aten, packet), overload or "default")),
            "PrivateUse1",
        )
    aten.impl("as_strided", _as_strided, "PrivateUse1")
    aten.impl("convolution_overrideable", _convolution, "PrivateUse1")
    aten.impl("convolution_backward_overrideable", _convolution_backward, "PrivateUse1")
    fallback.fallback(torch.library.fallthrough_kernel, dispatch_key="AutocastPrivateUse1")
    for names, dtype in ((_LOWER, None), (_FLOAT32, torch.float32)):
        for name in names:
            operator = getattr(torch.ops.aten, name).default
            aten.impl(name, _autocast(operator, dtype), "AutocastPrivateUse1")
    _libraries.extend((fallback, aten))
    for finalizer in list(
        weakref.finalize._registry
    ):  # a device works until the process ends: libraries would go with atexit
        if finalizer.peek() and finalizer.peek()[0] in _libraries:
            finalizer.atexit = False


def _autocast(operator: Any, dtype: torch.dtype | None) -> Callable[..., Any]:
    """The operator with its floating-point arguments in `dtype`, None for that of the autocast region."""
    here = torch._C.DispatchKeySet(torch._C.DispatchKey.AutocastPrivateUse1)

    def run(*args: Any, **kwargs: Any) -> Any:
        wanted = dtype or torch.get_autocast_dtype("npu")

        def cast(value: Any) -> Any:
            return value.to(wanted) if is_npu(value) and value.is_floating_point() else value

        with torch._C._ExcludeDispatchKeyGuard(here):
            return operator(*tree_map(cast, args), **tree_map(cast, kwargs))

    return run


def _fallback(operator: Any, *args: Any, **kwargs: Any) -> Any:
    """Any operator: unwrap, run it on the CPU, wrap what is new."""
    npu._lazy_init()
    fake.counts["operators"] += 1
    fake.tick()
    if operator is torch.ops.aten._local_scalar_dense.default:
        fake.counts["item"] += 1
        fake.finish()
    owners = {id(host(leaf)): leaf for leaf in tree_leaves((args, kwargs)) if is_npu(leaf)}
    host_args, host_kwargs = tree_map(_to_host, args), tree_map(_to_host, kwargs)
    if torch.Tag.nondeterministic_seeded in operator.tags and host_kwargs.get("generator") is None:
        result = _drawn(operator, host_args, host_kwargs)
    else:
        result = operator(*host_args, **host_kwargs)
    noise = float(os.environ.get("FAKE_NPU_NOISE", "0"))
    if (
        noise
        and operator.overloadpacket.__name__ in _NOISY
        and torch._C._current_graph_task_id() != -1
    ):
        result.mul_(
            1 + noise * (int.from_bytes(os.urandom(1), "big") / 255 - 0.5)
        )  # in place: most are `out=`

    def back(value: Any) -> Any:
        if not isinstance(value, torch.Tensor) or value.device.type != "cpu":
            return value
        owner = owners.get(id(value))
        if owner is None:
            return to_npu(value.contiguous())
        if owner.shape != value.shape:  # an `out=` that the operator resized
            owner.data = to_npu(value)
        return owner

    return tree_map(back, result)


def _drawn(operator: Any, args: Any, kwargs: Any) -> Any:
    """A random operator draws from the device's generator: lend the CPU's default generator its state."""
    default, own = torch.random.default_generator, npu.generator()
    saved = default.get_state()
    default.set_state(own.get_state())
    try:
        return operator(*args, **kwargs)
    finally:
        own.set_state(default.get_state())
        default.set_state(saved)


def _to_host(value: Any) -> Any:
    if is_npu(value):
        return host(value)
    return torch.device("cpu") if isinstance(value, torch.device) and value.type == "npu" else value


def _copy_from(
    source: torch.Tensor, target: torch.Tensor, non_blocking: bool = False
) -> torch.Tensor:
    """`copy_`, `.to`, `.cpu`: in all directions."""
    npu._lazy_init()
    fake.tick()
    values = host(source) if is_npu(source) else source
    if is_npu(target):
        if not is_npu(source):
            fake.counts["to_device"] += 1
        host(target).copy_(values)
    elif non_blocking and getattr(target, "fake_pinned", False):
        fake.counts["to_host_later"] += 1
        arriving = values.clone()
        target.fill_(float("nan") if target.is_floating_point() else 0)
        fake.later(lambda: target.data.copy_(arriving))
    else:
        fake.counts["to_host"] += 1
        fake.finish()
        target.copy_(values)
    return target


def _view(operator: Any) -> Callable[..., torch.Tensor]:
    """The same view of the values behind: torch's own kernels would share the storage and so the values, unseen."""

    def run(tensor: torch.Tensor, *args: Any, **kwargs: Any) -> torch.Tensor:
        try:
            return to_npu(operator(host(tensor), *args, **kwargs))
        except (
            RuntimeError
        ):  # `view` of values that are strided, which the device tensor does not show
            return to_npu(operator(host(tensor).contiguous(), *args, **kwargs))

    return run


def _as_strided(
    tensor: torch.Tensor, size: Any, stride: Any, storage_offset: int | None = None
) -> torch.Tensor:
    """All other views. Device tensors look contiguous and start at 0, the values behind them may not."""
    values = host(tensor).contiguous()
    return to_npu(values.as_strided(size, stride, (storage_offset or 0) + values.storage_offset()))


def _convolution(*args: Any) -> torch.Tensor:
    return to_npu(torch.ops.aten.convolution.default(*map(_to_host, args)))


def _convolution_backward(
    gradient: torch.Tensor, values: torch.Tensor, weight: torch.Tensor, *rest: Any
) -> Any:
    transposed, groups = rest[3], rest[5]
    biases = weight.shape[1] * groups if transposed else weight.shape[0]
    gradients = torch.ops.aten.convolution_backward.default(
        host(gradient), host(values), host(weight), [biases], *rest
    )
    return tuple(None if each is None else to_npu(each) for each in gradients)


def _empty(
    size: Any,
    *,
    dtype: Any = None,
    layout: Any = None,
    device: Any = None,
    pin_memory: Any = None,
    memory_format: Any = None,
) -> torch.Tensor:
    npu._lazy_init()
    return to_npu(torch.empty(size, dtype=dtype))


def _empty_strided(
    size: Any,
    stride: Any,
    *,
    dtype: Any = None,
    layout: Any = None,
    device: Any = None,
    pin_memory: Any = None,
) -> torch.Tensor:
    npu._lazy_init()
    return to_npu(torch.empty(size, dtype=dtype))
