"""Operators whose kernels add in another order each time, on the device that the program uses,
without deterministic mode.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache, lru_cache
from itertools import chain

from reprocheck.language import tr
from reprocheck.rules.operators import Operator, operator_lists
from reprocheck.scan import syntax
from reprocheck.scan.checks import devices, other_programs, reach, streams
from reprocheck.scan.checks.streams import every, given, short
from reprocheck.scan.index import of_kind, within
from reprocheck.scan.names import last_part
from reprocheck.scan.order import Order
from reprocheck.scan.registry import Hit, check_orders, check_programs, hit, sets
from reprocheck.scan.steps import Call
from reprocheck.scan.values import Items, Value, literal
from reprocheck.scan.vocabulary import names, words

_UPSAMPLES = names("kernels", "upsamples")
_MODE_AT = {f"torch.nn.functional.{name}": 3 for name in ("interpolate", "upsample", "grid_sample")}
"""Where the mode stands by position; else it is the third argument."""
_ALWAYS_SMOOTH = ("grid_sample", "UpsamplingBilinear2d")
_IN_FORWARD = re.compile(r"forward|^__init__|^__call__|^$")
"""Functions in which an operator may be differentiated, and the top level."""
_SMOOTH = frozenset({"linear", "bilinear", "bicubic", "trilinear"})
_FLASH = names("kernels", "flash")
_EFFICIENT = names("kernels", "efficient")
_MAMBA = names("kernels", "mamba")
_RARE = names("kernels", "rare")
_METHODS = words("kernels", "methods")
_WITHOUT_TORCH = ("numpy.", "mindspore.", "tensorflow.", "jax.")
"""Where such a method is one of another library all the same."""
_LEFT_OUT = re.compile(r"Conv|RNN|LSTM|GRU|cumsum$|interpolate|grid_sample|__getitem__|resize_")
"""Operators with a rule of their own, or for uses that no call shows: layers with a state are noisy
with some versions of CUDA alone.
"""
_ADDING = re.compile(r"accumulate=True|accumulate=`True`|accumulating")
# `median` with `dim` gives indices too, and `bincount` counts whole numbers unless it has weights.
_ONLY_WITH = {"median": ("dim", 1), "bincount": ("weights", 1), "EmbeddingBag": ("mode=max", 5)}
"""The argument, by keyword and position, without which the operator is deterministic."""
_NOT_CALLED = re.compile(r"all_?reduce|backward", re.IGNORECASE)
_TORCH_MADE = re.compile(r"^torch\..*\)$", re.DOTALL)
_NOISY = {"backward": "RC701"}
# `index_put_` and `put_` that accumulate add in parallel on the CPU as well.
_USED = {True: frozenset({"cpu", "cuda"}), False: frozenset({"cpu"})}
"""The devices on which an operator counts, by whether the program uses CUDA."""
_WHERE = {True: "on CUDA", False: "by several threads"}
_DEVICES = {"cuda": "a GPU", "npu": "an NPU"}
_WITHOUT_GRADIENTS = ("torch.no_grad", "torch.inference_mode")
_SCATTERS = frozenset({"jax.ops.segment_sum", "jax.lax.scatter_add"})
_JOINS_RANKS = names("kernels", "joins_ranks")
_ASCEND = ("mindspore.ops.", "mindspore.nn.", "mindspore.mint.", "torch.nn.", "torch.")
_TENSORS = names("kernels", "tensors")
_MOST_NAMED = 3


@dataclass(frozen=True, slots=True)
class _Noise:
    """A call of an operator whose kernel adds in any order."""

    call: Call
    operator: Operator

    @property
    def code(self) -> str:
        """The rule that is about it, by the pass in which it is noisy."""
        return _NOISY.get(self.operator.phase, "RC602")


@check_programs(
    "RC602", "RC701", unless=(devices.is_deterministic, other_programs.is_without_training)
)
def noisy(order: Order) -> Iterator[Hit]:
    """Find listed operators of PyTorch: by atomics on the CPU, and on CUDA where it is named."""
    on_cuda = "cuda" in devices.accelerators(order)
    used = _USED[on_cuda]
    noisy_calls = (_noise(order, call, used) for call in every(order))
    found: dict[str, list[_Noise]] = {}
    for noise in filter(None, noisy_calls):
        found.setdefault(noise.code, []).append(noise)
    for code, noises in found.items():
        if code == "RC602" or streams.trains(order):
            yield _noisy(code, noises, on_cuda)


def _noise(order: Order, call: Call, used: frozenset[str]) -> _Noise | None:
    """Return the first operator of a call that is noisy on a device that the program uses."""
    listed = (one for one in _operators(call) if not used.isdisjoint(one.devices))
    operator = next((one for one in listed if _is_triggered(call, one)), None)
    if operator is None or _is_evaluation(order, call):
        return None
    if operator.phase == "backward" and _is_in_function_without_gradients(call):
        return None
    return _Noise(call, operator)


def _is_evaluation(order: Order, call: Call) -> bool:
    """Return whether it runs without gradients in a program that trains nothing: what it gives goes
    into no weight.
    """
    without_gradients = any(context.made_by(*_WITHOUT_GRADIENTS) for context in call.contexts)
    return without_gradients and not streams.trains(order)


def _is_in_function_without_gradients(call: Call) -> bool:
    """Return whether a function around it is decorated so: `@torch.no_grad()`."""
    decorators = chain.from_iterable(one.decorator_list for one in reach.functions(call))
    return not {"no_grad", "inference_mode"}.isdisjoint(map(syntax.decorator, decorators))


@check_programs("RC701", unless=(devices.is_deterministic, other_programs.is_without_training))
def indexed_parameter(order: Order) -> Iterator[Hit]:
    """`table[index]`, whose gradient is added up by threads."""
    if not any(order.methods("backward")):
        return
    module = order.root
    for node in filter(_is_lookup, module.nodes(ast.Subscript)):
        if _is_trained(order.value_of(node.value)) and _is_index(order.value_of(node.slice)):
            message = (
                "the gradient of indexing with a tensor is added up by threads in the order in"
                " which they arrive"
            )
            yield Hit(code="RC701", module=module, node=node, message=message)
            return


@check_orders("RC703", unless=(sets("FLASH_ATTENTION_DETERMINISTIC"),))
def flash_attention(order: Order) -> Iterator[Hit]:
    """Fused attention, whose gradient has a deterministic kernel that must be asked for."""
    for call in filter(_is_flash, every(order)):
        if call.argument(None, "deterministic") is None and not _is_generation(call):
            message = (
                "the backward pass of flash attention adds to the gradient of the queries with"
                " atomics"
            )
            yield hit("RC703", call, message)
            return


@check_orders("RC703", unless=(devices.is_deterministic,))
def efficient_attention(order: Order) -> Iterator[Hit]:
    """Attention of xformers, whose kernels follow the switch of torch."""
    for call in order.calls(*_EFFICIENT):
        message = (
            "the backward pass of memory-efficient attention adds to the gradient of the queries"
            " with atomics"
        )
        by_hand = tr("Call `torch.use_deterministic_algorithms(True)`, which its kernels follow.")
        yield hit("RC703", call, message, patchable=False, by_hand=by_hand)
        return


def _is_flash(call: Call) -> bool:
    """Return a call of flash attention, or of a model that is asked to use it."""
    if given(call, "attn_implementation=flash_attention_2", sure=True):
        return True
    return call.named(*_FLASH) and "()" not in call.name


def _is_generation(call: Call) -> bool:
    """Return whether a branch generates text, which has no gradient: it looks up what it kept
    before.
    """
    branches = of_kind(call.module.around(call.node), ast.If)
    words = map(syntax.word, chain.from_iterable(within(one, ast.Call) for one in branches))
    return _OF_GENERATION in words


_OF_GENERATION = "flash_attn_with_kvcache"


@check_programs("RC704", unless=(sets("MAMBA_DETERMINISTIC"),))
def extensions(order: Order) -> Iterator[Hit]:
    """Extensions, whose gradients have no deterministic kernel: where one is used first, else where
    it is imported.
    """
    imported = next(order.imports(*_MAMBA), None)
    if imported is None or other_programs.is_without_training(order):
        return
    used = next(order.calls(*(f"{name}.*" for name in _MAMBA)), None)
    if used is None and imported.module is not order.root:
        return
    message = (
        f"the backward pass of `{imported.name}` adds with atomics, and deterministic mode does"
        " not know it"
    )
    yield hit("RC704", used or imported, message)


def _is_lenient(order: Order) -> bool:
    """Return whether deterministic mode is off, or raises no errors."""
    return not any(
        given(call, "mode=True", 0, sure=True) and not given(call, "warn_only")
        for call in order.calls("torch.use_deterministic_algorithms")
    )


@check_programs("RC008", unless=(_is_lenient,))
def refused(order: Order) -> Iterator[Hit]:
    """Yield an operator without a deterministic kernel in deterministic mode."""
    for call in every(order):
        operator = _refused(call)
        if operator is None or not _is_there(order, operator):
            continue
        if _is_triggered(call, operator):
            message = (
                f"`{operator.name}` has no deterministic kernel, and deterministic mode raises"
                " an error for it"
            )
            yield hit("RC008", call, message)
            return


def _refused(call: Call) -> Operator | None:
    """Return the operator of a call for which deterministic mode raises an error."""
    refusing = (one for one in _operators(call) if one.deterministic_mode == "raises")
    return next(refusing, None)


@check_programs("RC603", unless=(devices.is_deterministic,))
def ascend(order: Order) -> Iterator[Hit]:
    """Find listed operators of the Ascend backend."""
    calls = list(filter(_ascend_name, every(order)))
    if calls and "npu" in devices.named(order.root):
        names = list(dict.fromkeys(map(_ascend_name, calls)))
        message = f"{_of_ascend(names)} on Ascend, and deterministic mode is off"
        yield hit("RC603", calls[0], message)


def _ascend_name(call: Call) -> str:
    """Return the name under which an operator is listed for Ascend; "" of another call."""
    if not call.name.startswith(_ASCEND):
        return ""
    return _ascend_names().get(call.method.lower(), "")


def _of_ascend(names: list[str]) -> str:
    """Return the operators, and that they are noisy, in words."""
    if len(names) == 1:
        return f"`{names[0]}` is slightly noisy"
    shown = ", ".join(f"`{name}`" for name in names[:_MOST_NAMED])
    if len(names) > _MOST_NAMED:
        shown = f"{shown} and {len(names) - _MOST_NAMED} more"
    return f"{shown} are slightly noisy"


@check_programs("RC405")
def device_draws(order: Order) -> Iterator[Hit]:
    """Numbers drawn on an accelerator."""
    for drawing in streams.drawings(order):
        call = drawing.call
        kind = _device_of(call)
        if kind is None or drawing.draws.kind not in ("number", "order"):
            continue
        if not given(call, "generator"):
            message = (
                f"this is drawn on {_DEVICES[kind]}: another kind of device draws other numbers"
                " from the same seed"
            )
            yield hit("RC405", call, message)
            return


def _device_of(call: Call) -> str | None:
    """Return the accelerator on which a call draws: that which it is told, or that of the tensor
    that it fills.
    """
    told = next((kind for kind in _DEVICES if devices.on(call.keywords.get("device"), kind)), None)
    filled = call.receiver
    if told is not None or filled is None or not call.method.endswith("_"):
        return told
    return next((kind for kind in _DEVICES if _is_moved(filled, kind)), None)


@check_programs("RC005", unless=(devices.lacks_cuda, sets("XLA_FLAGS")))
def xla(order: Order) -> Iterator[Hit]:
    """Scatter in JAX on a GPU."""
    scatter = next(filter(_is_scatter, every(order)), None)
    if scatter is not None and order.root.uses_package("jax"):
        message = tr("XLA's scatter on a GPU adds in the order in which threads arrive")
        yield hit("RC005", scatter, message)


def _fixes_order_of_sums(order: Order) -> bool:
    """Return whether HCCL is told to add in a fixed order: `true` or `strict`, in any case."""
    values = (literal(store.value) for store in order.environment("HCCL_DETERMINISTIC"))
    return any(str(value).lower() != "false" for value in values)


@check_programs("RC801", unless=(_fixes_order_of_sums, devices.is_deterministic))
def collectives(order: Order) -> Iterator[Hit]:
    """Find collectives of Ascend without their deterministic mode."""
    for call in order.calls(*_JOINS_RANKS):
        backend = call.argument(0, "backend", "backend_name")
        if literal(backend) == "hccl":
            message = tr(
                "HCCL adds the ranks' gradients in any order unless HCCL_DETERMINISTIC is set"
                " before the start"
            )
            yield hit("RC801", call, message)
            return


def _is_scatter(call: Call) -> bool:
    """`segment_sum(...)`, `x.at[i].add(...)`."""
    if call.name in _SCATTERS:
        return True
    match syntax.owner(call.node):
        case ast.Subscript(value=ast.Attribute(attr="at")):
            return call.method == "add"
    return False


def _noisy(code: str, noises: list[_Noise], cuda: bool) -> Hit:
    first = noises[0]
    others = [one.call for one in noises if one.call.method != first.call.method]
    shown = list(dict.fromkeys(map(_shown, others)))
    message = f"{_shown(first.call)} adds {_WHERE[cuda]} in the order in which threads arrive"
    if code == "RC701":
        message = f"the gradient of {message}"
    if shown:
        message = f"{message}; so do {', '.join(shown[:_MOST_NAMED])}"
    return hit(code, first.call, message, operator=first.operator.name)


def _shown(call: Call) -> str:
    """Return the call as a message names it: by its method alone where the object is not known."""
    if "()" in call.name or call.name.startswith("?"):
        return f"`{call.method}`"
    return f"`{short(call.name)}`"


@check_programs("RC702", unless=(devices.is_on_cpu_alone,))
def upsampling(order: Order) -> Iterator[Hit]:
    """Upsampling, whose gradient has no deterministic kernel on an accelerator."""
    for call in order.calls(*_UPSAMPLES):
        mode = literal(call.argument(_MODE_AT.get(call.name, 2), "mode"))
        is_smooth = call.name.endswith(_ALWAYS_SMOOTH) or mode in _SMOOTH
        if is_smooth and _IN_FORWARD.search(call.function_name) is not None:
            shown = f"`{call.method}`"
            if mode is not None and "grid" not in call.name:
                shown += f" with mode={mode!r}"
            message = (
                f"the backward pass of {shown} adds with atomics on an accelerator, and has no"
                " deterministic kernel"
            )
            yield hit("RC702", call, message)
            return


@lru_cache(maxsize=4096)
def _by_name() -> Mapping[str, tuple[Operator, ...]]:
    """Return the operators of PyTorch under the ways in which a program may spell them."""
    table: dict[str, tuple[Operator, ...]] = {}
    for operator in _torch_operators():
        name = operator.name
        spellings = {
            name,
            name.replace("torch.Tensor.", "torch."),
            name.replace("torch.Tensor.", "?."),
            name.replace("torch.", "?.", 1),
        }
        for spelt in spellings:
            table[spelt] = (*table.get(spelt, ()), operator)
    return table


def _torch_operators() -> Iterator[Operator]:
    """Return the operators of PyTorch that a call shows to be noisy."""
    of_torch = (ops for source, ops in operator_lists() if source.frameworks == ("torch",))
    return (one for one in chain.from_iterable(of_torch) if not _LEFT_OUT.search(one.name))


def _operators(call: Call) -> tuple[Operator, ...]:
    """Return the listed operators that a call may stand for."""
    if call.own:
        return ()
    if call.name.startswith("torch.") and "()" not in call.name:
        return _by_name().get(call.name, ())
    if call.method not in _METHODS or call.name.startswith(_WITHOUT_TORCH):
        return ()
    # The lists spell some methods in place and others not, and both have one kernel.
    out_of_place = _by_name().get(f"?.{call.method.rstrip('_')}", ())
    return _by_name().get(f"?.{call.method}", ()) or out_of_place


def _is_triggered(call: Call, operator: Operator) -> bool:
    """Return the conditions that the lists give in words, as far as a call shows them."""
    adds = given(call, "accumulate=True", 2, sure=True)
    if _ADDING.search(operator.when):
        return adds
    if "accumulate=False" in operator.when:
        return not adds
    name = operator.name.rpartition(".")[2]
    if name in _ONLY_WITH:
        return given(call, *_ONLY_WITH[name])
    if "AdaptiveAvgPool" in name and _is_one(call.first):
        return False
    return not operator.name.endswith(_RARE)


def _is_one(value: Value) -> bool:
    """Return whether an output has size 1: it is a mean, and deterministic."""
    if isinstance(value, Items):
        return all(map(_is_one, value.items))
    return literal(value) in (1, (1, 1), (1, 1, 1))


def _is_there(order: Order, operator: Operator) -> bool:
    """Return whether the program uses a device for which the operator is listed."""
    if "cpu" in operator.devices:
        return True
    return "cuda" in operator.devices and devices.first_use(order, "cuda") is not None


def _is_lookup(node: ast.Subscript) -> bool:
    """Return whether items are read under an index that the text does not spell out."""
    return syntax.is_read(node) and not isinstance(node.slice, ast.Constant | ast.Slice | ast.Tuple)


def _is_trained(value: Value) -> bool:
    """Return whether a value is a parameter, or a tensor that asks for its gradient."""
    if value.made_by("torch.nn.Parameter") is not None:
        return True
    made = value.made_by(*_TENSORS)
    return made is not None and given(made, "requires_grad=True", sure=True)


def _is_index(value: Value) -> bool:
    """Return whether a value is a tensor that torch made."""
    if any(_TORCH_MADE.search(option.name or "") for option in value.options()):
        return True
    return any(value.calls("torch.randint", "torch.randperm", "torch.tensor"))


def _is_moved(value: Value, kind: str) -> bool:
    """Return whether a tensor was put on an accelerator on its way."""
    calls = value.calls()
    return any(one.method == kind or devices.on(one.keywords.get("device"), kind) for one in calls)


@cache
def _ascend_names() -> Mapping[str, str]:
    """Return the operators that are listed for Ascend, by their names in small letters.

    Collectives have a rule of their own, and a call does not show a backward pass.
    """
    listed = (ops for source, ops in operator_lists() if "Ascend" in source.name)
    names: dict[str, str] = {}
    for operator in chain.from_iterable(listed):
        aliases = (*operator.aliases, *operator.name.split(", "))
        for name in filter(_can_be_called, map(last_part, aliases)):
            names.setdefault(name.lower(), name)
    return names


def _can_be_called(name: str) -> bool:
    """Return whether a listed name may stand in a program: some rows describe an operator in
    words.
    """
    return name.isidentifier() and not _NOT_CALLED.search(name)
