"""Which accelerators a program uses, and whether it asks for deterministic kernels."""

from __future__ import annotations

import re
from functools import lru_cache

from reprocheck.scan.checks.streams import every, given
from reprocheck.scan.order import Order
from reprocheck.scan.project import Module
from reprocheck.scan.steps import Call, Step
from reprocheck.scan.values import Constant, Value

_TEXT = re.compile(r"""["'](cuda|gpu|ascend)(?::[^"']*)?["']|\.(cuda)\b""", re.IGNORECASE)
_FULL = (
    "transformers.enable_full_determinism",
    "monai.utils.set_determinism",
    "tensorflow.config.experimental.enable_op_determinism",
    "mindspore.set_deterministic",
    "fastai.torch_core.set_seed",
)


@lru_cache(maxsize=16)
def accelerators(order: Order) -> frozenset[str]:
    """`cuda` and `npu`: what the entry module names, and what any part of the program puts
    something on.
    """
    return named(order.root) | {
        kind
        for kind in ("cuda", "npu")
        if kind not in named(order.root) and first_use(order, kind) is not None
    }


@lru_cache(maxsize=16)
def is_deterministic(order: Order) -> bool:
    """Whether deterministic kernels are asked for, by any of the ways there are."""
    for call in order.calls(
        "torch.use_deterministic_algorithms",
        "torch.set_deterministic",
        "torch.set_deterministic_debug_mode",
    ):
        if not given(call, "mode=False", 0, sure=True):
            return True
    if (
        next(order.calls(*_FULL), None) is not None
        or next(order.environment("TF_DETERMINISTIC_OPS"), None) is not None
    ):
        return True
    for call in every(order):
        if any(
            given(call, f"{word}=True", sure=True) for word in ("deterministic", "full_determinism")
        ) or given(call, "deterministic=ON", sure=True):
            return True
        if call.method == "seed_all" and given(call, "mode=True", 1, sure=True):
            return True
    return False


def first_use(order: Order, kind: str, *, sure: bool = False) -> Step | None:
    """The first step that puts something on an accelerator; with `sure`, on no other device
    instead.
    """
    return next((call for call in every(order) if _moves(call, kind, sure=sure)), None)


def _moves(call: Call, kind: str, *, sure: bool) -> bool:
    if call.own or call.name in ("torch.device", "torch.cuda.is_available"):
        return False
    if call.method == kind and not call.arguments:
        return True
    device = call.argument(0, "device") if call.method == "to" else call.keywords.get("device")
    return device is not None and on(device, kind) and not (sure and _is_open(device))


def _is_open(device: Value) -> bool:
    """Whether a device may be another one."""
    made = device.made_by("torch.device")
    return len(device.options()) > 1 or (
        made is not None and bool(made.arguments) and _is_open(made.arguments[0])
    )


def on(device: Value, kind: str) -> bool:
    """Whether a device is, or may be, of a kind."""
    for option in device.options():
        if isinstance(option, Constant) and str(option.value).startswith(kind):
            return True
        made = option.made_by("torch.device")
        if made is not None and made.arguments and on(made.arguments[0], kind):
            return True
    return False


@lru_cache(maxsize=512)
def named(module: Module) -> frozenset[str]:
    """The accelerators that the text of a module names."""
    words = {
        word.lower() for groups in _TEXT.findall(module.source.text) for word in groups if word
    }
    npu = module.uses_package("torch_npu") or (
        module.uses_package("mindspore") and "ascend" in words
    )
    return frozenset({*({"npu"} if npu else ()), *({"cuda"} if words & {"cuda", "gpu"} else ())})
