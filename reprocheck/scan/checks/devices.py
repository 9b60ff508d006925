"""Which accelerators a program uses, and whether it asks for deterministic kernels."""

from __future__ import annotations

import re
from functools import lru_cache

from reprocheck.scan.checks.streams import every, given
from reprocheck.scan.order import Order
from reprocheck.scan.project import Module
from reprocheck.scan.steps import Call, Step
from reprocheck.scan.values import Constant, Value

KINDS = ("cuda", "npu")
_SWITCHES = (
    "torch.use_deterministic_algorithms",
    "torch.set_deterministic",
    "torch.set_deterministic_debug_mode",
)
_OPTIONS = ("deterministic=True", "full_determinism=True", "deterministic=ON")
"""Arguments of trainers and contexts that ask for deterministic kernels."""
_ASKING = frozenset({"torch.device", "torch.cuda.is_available"})
"""Calls that name a device and put nothing there."""

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
    in_text = named(order.root)
    others = [kind for kind in KINDS if kind not in in_text]
    return in_text.union(kind for kind in others if first_use(order, kind) is not None)


@lru_cache(maxsize=16)
def is_deterministic(order: Order) -> bool:
    """Whether deterministic kernels are asked for, by any of the ways there are."""
    for call in order.calls(*_SWITCHES):
        if not given(call, "mode=False", 0, sure=True):
            return True
    if any(True for _ in order.calls(*_FULL)):
        return True
    if any(True for _ in order.environment("TF_DETERMINISTIC_OPS")):
        return True
    return any(_asks_for_determinism(call) for call in every(order))


def _asks_for_determinism(call: Call) -> bool:
    if any(given(call, option, sure=True) for option in _OPTIONS):
        return True
    return call.method == "seed_all" and given(call, "mode=True", 1, sure=True)


def first_use(order: Order, kind: str, *, sure: bool = False) -> Step | None:
    """The first step that puts something on an accelerator; with `sure`, on no other device
    instead.
    """
    return next((call for call in every(order) if _moves(call, kind, sure=sure)), None)


def _moves(call: Call, kind: str, *, sure: bool) -> bool:
    if call.own or call.name in _ASKING:
        return False
    if call.method == kind and not call.arguments:
        return True
    device = call.keywords.get("device")
    if call.method == "to":
        device = call.argument(0, "device")
    if device is None or not on(device, kind):
        return False
    return not sure or not _is_open(device)


def _is_open(device: Value) -> bool:
    """Whether a device may be another one."""
    if len(device.options()) > 1:
        return True
    named_as = _name_of(device)
    return named_as is not None and _is_open(named_as)


def on(device: Value, kind: str) -> bool:
    """Whether a device is, or may be, of a kind."""
    for option in device.options():
        if isinstance(option, Constant) and str(option.value).startswith(kind):
            return True
        named_as = _name_of(option)
        if named_as is not None and on(named_as, kind):
            return True
    return False


def _name_of(device: Value) -> Value | None:
    """The argument of `torch.device(...)`."""
    made = device.made_by("torch.device")
    return made.arguments[0] if made is not None and made.arguments else None


@lru_cache(maxsize=512)
def named(module: Module) -> frozenset[str]:
    """The accelerators that the text of a module names."""
    words: set[str] = set()
    for groups in _TEXT.findall(module.source.text):
        words.update(word.lower() for word in groups)
    kinds = set()
    if words & {"cuda", "gpu"}:
        kinds.add("cuda")
    ascend = module.uses_package("mindspore") and "ascend" in words
    if ascend or module.uses_package("torch_npu"):
        kinds.add("npu")
    return frozenset(kinds)
