"""Which accelerators a program uses, and whether it asks for deterministic kernels."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from itertools import chain

from reprocheck.scan.checks.streams import every, given
from reprocheck.scan.memo import kept
from reprocheck.scan.order import Order
from reprocheck.scan.project import Module
from reprocheck.scan.steps import Call, Step
from reprocheck.scan.values import Made, Value, literal, reached
from reprocheck.scan.vocabulary import names

KINDS = ("cuda", "npu")
_MOST = 60
"""Values that are looked at for the name of one device."""
_DEVICE_AT = {"to": 0}
"""Where the device stands by position; else it is a keyword alone."""
_SWITCHES = names("switches", "switches")
_OPTIONS = ("deterministic=True", "full_determinism=True", "deterministic=ON")
"""Arguments of trainers and contexts that ask for deterministic kernels."""
_ASKING = frozenset({"torch.device", "torch.cuda.is_available"})
"""Calls that name a device and put nothing there."""

_TEXT = re.compile(r"""["'](cuda|gpu|ascend)(?::[^"']*)?["']|\.(cuda)\b""", re.IGNORECASE)
_KIND_OF_WORD = {"cuda": "cuda", "gpu": "cuda"}
_FULL = names("switches", "full")


@kept
def accelerators(order: Order) -> frozenset[str]:
    """Return the accelerators of a program, `cuda` and `npu`: those named in the entry module, and
    those on which any module of the program puts something.
    """
    in_text = named(order.root)
    others = set(KINDS) - in_text
    return in_text.union(kind for kind in others if first_use(order, kind) is not None)


def is_on_cpu_alone(order: Order) -> bool:
    """Return whether no accelerator is named or used."""
    return not accelerators(order)


def lacks_cuda(order: Order) -> bool:
    """Return whether no GPU of NVIDIA is named or used."""
    return "cuda" not in accelerators(order)


@kept
def is_deterministic(order: Order) -> bool:
    """Return whether the program asks for deterministic kernels, in any of the known ways: a switch
    of the framework, `TF_DETERMINISTIC_OPS`, or an argument of a trainer.
    """
    switches = order.calls(*_SWITCHES)
    if any(not given(call, "mode=False", 0, sure=True) for call in switches):
        return True
    # The variable was TensorFlow's switch before `enable_op_determinism`.
    if any(order.calls(*_FULL)) or any(order.environment("TF_DETERMINISTIC_OPS")):
        return True
    return any(
        any(given(call, option, sure=True) for option in _OPTIONS)
        or (call.method == "seed_all" and given(call, "mode=True", 1, sure=True))
        for call in every(order)
    )


def first_use(order: Order, kind: str, *, sure: bool = False) -> Step | None:
    """Return the first call that puts something on an accelerator, as `model.cuda()`.

    With `sure`, leave out calls whose device may also be another one, as `to("cuda" if gpu else
    "cpu")`.
    """
    return next((call for call in every(order) if _moves(call, kind, sure=sure)), None)


def _moves(call: Call, kind: str, *, sure: bool) -> bool:
    if call.own or call.name in _ASKING:
        return False
    if call.method == kind and not call.arguments:
        return True
    device = call.argument(_DEVICE_AT.get(call.method), "device")
    is_one_of_several = sure and any(len(one.options()) > 1 for one in _spellings(device))
    return on(device, kind) and not is_one_of_several


def on(device: Value | None, kind: str) -> bool:
    """Return whether a device may be of a kind (`cuda`, `npu`); False if `device` is None."""
    return any(str(literal(one)).startswith(kind) for one in _spellings(device))


def _spellings(device: Value | None) -> Iterable[Value]:
    """Return the values that may hold the name of a device: the value itself, its options (the
    values of its branches), and the argument of `torch.device`.
    """
    if device is None:
        return ()
    return reached(device, _named_by, _MOST)


def _named_by(device: Value) -> Iterator[Value]:
    """Yield the options of a device, and the arguments of `torch.device(...)`."""
    for option in device.options():
        yield option
        match option:
            case Made(call=Call(name="torch.device", arguments=(named, *_))):
                yield named


@kept
def named(module: Module) -> frozenset[str]:
    """Return the accelerators that the text of a module names."""
    found = chain.from_iterable(_TEXT.findall(module.source.text))
    words = set(map(str.lower, found))
    kinds = {_KIND_OF_WORD[word] for word in words & _KIND_OF_WORD.keys()}
    if "ascend" in words and module.uses_package("mindspore"):
        kinds.add("npu")
    if module.uses_package("torch_npu"):
        kinds.add("npu")
    return frozenset(kinds)
