"""Find operators whose kernels add in a different order in each run.

On the devices of the program, without deterministic mode.
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
from reprocheck.scan.checks import devices, other_programs, streams, training
from reprocheck.scan.checks.streams import every, given, short
from reprocheck.scan.index import of_kind, within
from reprocheck.scan.names import last_part
from reprocheck.scan.order import Order
from reprocheck.scan.registry import Hit, check_orders, check_programs, hit, sets
from reprocheck.scan.steps import Call
from reprocheck.scan.values import Items, Value, literal
from reprocheck.scan.vocabulary import names, pattern, words

_UPSAMPLES = names("kernels", "upsamples")
_MODE_AT = {f"torch.nn.functional.{name}": 3 for name in ("interpolate", "upsample", "grid_sample")}
"""Where the mode stands by position; else it is the third argument."""
_ALWAYS_SMOOTH = ("grid_sample", "UpsamplingBilinear2d")
_IN_FORWARD = pattern("kernels", "in_forward")
_SMOOTH = words("kernels", "smooth")
_FLASH = names("kernels", "flash")
_EFFICIENT = names("kernels", "efficient")
_MAMBA = names("kernels", "mamba")
_RARE = names("kernels", "rare")
_METHODS = words("kernels", "methods")
_WITHOUT_TORCH = names("kernels", "without_torch")
_LEFT_OUT = pattern("kernels", "left_out")
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
_ASCEND = names("kernels", "ascend")
_TENSORS = names("kernels", "tensors")
_MOST_NAMED = 3


@dataclass(frozen=True, slots=True)
class _Noise:
    """A call of an operator whose kernel adds numbers in no fixed order."""

    call: Call
    operator: Operator

    @property
    def code(self) -> str:
        """Return the code of the rule for this operator, by the pass in which it is noisy."""
        return _NOISY.get(self.operator.phase, "RC602")


@check_programs(
    "RC602", "RC701", unless=(devices.is_deterministic, other_programs.is_without_training)
)
def noisy(order: Order) -> Iterator[Hit]:
    """Find operators that PyTorch lists as nondeterministic.

    On the CPU, and on CUDA if the program names CUDA.
    """
    on_cuda = "cuda" in devices.accelerators(order)
    used = _USED[on_cuda]
    by_code: dict[str, list[_Noise]] = {}
    for call in every(order):
        listed = (one for one in _operators(call) if not used.isdisjoint(one.devices))
        operator = next((one for one in listed if _is_triggered(call, one)), None)
        if operator is not None and _has_gradient(order, call, operator):
            noise = _Noise(call, operator)
            by_code.setdefault(noise.code, []).append(noise)
    for code, noises in by_code.items():
        if code == "RC701" and not streams.trains(order):
            continue
        first = noises[0]
        others = [one.call for one in noises if one.call.method != first.call.method]
        beside = list(dict.fromkeys(map(_shown, others)))[:_MOST_NAMED]
        message = (
            f"{_shown(first.call)} adds {_WHERE[on_cuda]} in the order in which threads arrive"
        )
        if code == "RC701":
            message = f"the gradient of {message}"
        if beside:
            message = f"{message}; so do {', '.join(beside)}"
        yield hit(code, first.call, message, operator=first.operator.name)


def _has_gradient(order: Order, call: Call, operator: Operator) -> bool:
    """Return whether the result of a call may go into the gradient of a weight.

    It does not if the call runs without gradients in a program that trains nothing, or if the
    operator is noisy only in its backward pass and its function has the decorator
    `@torch.no_grad()`.
    """
    without_gradients = any(context.made_by(*_WITHOUT_GRADIENTS) for context in call.contexts)
    if without_gradients and not streams.trains(order):
        return False
    if operator.phase != "backward":
        return True
    decorators = chain.from_iterable(one.decorator_list for one in training.functions_around(call))
    return {"no_grad", "inference_mode"}.isdisjoint(map(syntax.decorator, decorators))


@check_programs("RC701", unless=(devices.is_deterministic, other_programs.is_without_training))
def indexed_parameter(order: Order) -> Iterator[Hit]:
    """Find indexing of a trained tensor with a tensor: threads add up its gradient.

    Such as `table[index]`.
    """
    if not any(order.methods("backward")):
        return
    module = order.root
    for node in module.nodes(ast.Subscript):
        is_spelled_out = isinstance(node.slice, ast.Constant | ast.Slice | ast.Tuple)
        if is_spelled_out or not syntax.is_read(node):
            continue
        table = order.value_of(node.value)
        made = table.made_by(*_TENSORS)
        is_parameter = table.made_by("torch.nn.Parameter") is not None
        is_trained = is_parameter or (
            made is not None and given(made, "requires_grad=True", sure=True)
        )
        if is_trained and _is_index(order.value_of(node.slice)):
            message = (
                "the gradient of indexing with a tensor is added up by threads in the order in"
                " which they arrive"
            )
            yield Hit(code="RC701", module=module, node=node, message=message)
            return


@check_orders("RC703", unless=(sets("FLASH_ATTENTION_DETERMINISTIC"),))
def flash_attention(order: Order) -> Iterator[Hit]:
    """Find flash attention without `deterministic=`: its default gradient kernel is noisy."""
    for call in every(order):
        is_asked_for = given(call, "attn_implementation=flash_attention_2", sure=True)
        is_flash = call.named(*_FLASH) and "()" not in call.name
        if not is_asked_for and not is_flash:
            continue
        # A branch that looks up what it kept before generates text, which has no gradient.
        branches = of_kind(call.module.around(call.node), ast.If)
        calls = chain.from_iterable(within(branch, ast.Call) for branch in branches)
        is_generation = _OF_GENERATION in map(syntax.word, calls)
        if call.argument(None, "deterministic") is None and not is_generation:
            message = (
                "the backward pass of flash attention adds to the gradient of the queries with"
                " atomics"
            )
            yield hit("RC703", call, message)
            return


_OF_GENERATION = "flash_attn_with_kvcache"


@check_orders("RC703", unless=(devices.is_deterministic,))
def efficient_attention(order: Order) -> Iterator[Hit]:
    """Find attention of xformers, which follows torch's deterministic mode."""
    for call in order.calls(*_EFFICIENT):
        message = (
            "the backward pass of memory-efficient attention adds to the gradient of the queries"
            " with atomics"
        )
        by_hand = tr("Call `torch.use_deterministic_algorithms(True)`, which its kernels follow.")
        yield hit("RC703", call, message, patchable=False, by_hand=by_hand)
        return


@check_programs("RC704", unless=(sets("MAMBA_DETERMINISTIC"),))
def extensions(order: Order) -> Iterator[Hit]:
    """Find extensions (Mamba) whose gradients have no deterministic kernel.

    Their first use, else their import.
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


def is_lenient(order: Order) -> bool:
    """Return whether deterministic mode is off, or raises no errors."""
    return not any(
        given(call, "mode=True", 0, sure=True) and not given(call, "warn_only")
        for call in order.calls("torch.use_deterministic_algorithms")
    )


@check_programs("RC008", unless=(is_lenient,))
def refused(order: Order) -> Iterator[Hit]:
    """Find an operator without a deterministic kernel in deterministic mode."""
    for call in every(order):
        refusing = (one for one in _operators(call) if one.deterministic_mode == "raises")
        operator = next(refusing, None)
        if operator is None:
            continue
        is_on_cuda = "cuda" in operator.devices and bool(devices.first_use(order, "cuda"))
        is_in_use = is_on_cuda or "cpu" in operator.devices
        if is_in_use and _is_triggered(call, operator):
            message = (
                f"`{operator.name}` has no deterministic kernel, and deterministic mode raises"
                " an error for it"
            )
            yield hit("RC008", call, message)
            return


@check_programs("RC603", unless=(devices.is_deterministic,))
def ascend(order: Order) -> Iterator[Hit]:
    """Find operators that the list of the Ascend backend names."""
    calls = list(filter(_ascend_name, every(order)))
    if calls and "npu" in devices.named(order.root):
        names = [f"`{name}`" for name in dict.fromkeys(map(_ascend_name, calls))]
        shown = ", ".join(names[:_MOST_NAMED])
        if len(names) > _MOST_NAMED:
            shown = f"{shown} and {len(names) - _MOST_NAMED} more"
        verb = "is" if len(names) == 1 else "are"
        message = f"{shown} {verb} slightly noisy on Ascend, and deterministic mode is off"
        yield hit("RC603", calls[0], message)


def _ascend_name(call: Call) -> str:
    """Return the name under which Ascend's list has an operator; "" if it has none."""
    if not call.name.startswith(_ASCEND):
        return ""
    return _ascend_names().get(call.method.lower(), "")


@check_programs("RC405")
def device_draws(order: Order) -> Iterator[Hit]:
    """Find numbers that are drawn on an accelerator."""
    for drawing in streams.drawings(order):
        call = drawing.call
        if drawing.draws.kind not in ("number", "order") or given(call, "generator"):
            continue
        for kind, name in _DEVICES.items():
            is_told = devices.on(call.keywords.get("device"), kind)
            # a tensor that is filled may have been put there on its way
            if is_told or (call.method.endswith("_") and _is_moved(call.receiver, kind)):
                message = (
                    f"this is drawn on {name}: another kind of device draws other numbers from the"
                    " same seed"
                )
                yield hit("RC405", call, message)
                return


@check_programs("RC005", unless=(devices.lacks_cuda, sets("XLA_FLAGS")))
def xla(order: Order) -> Iterator[Hit]:
    """Find scatter additions of JAX on a GPU, as `x.at[i].add(...)`."""
    if not order.root.uses_package("jax"):
        return
    for call in every(order):
        is_scatter = call.name in _SCATTERS
        match syntax.owner(call.node):
            case ast.Subscript(value=ast.Attribute(attr="at")) if call.method == "add":
                is_scatter = True  # `x.at[i].add(...)`
        if is_scatter:
            message = "XLA's scatter on a GPU adds in the order in which threads arrive"
            yield hit("RC005", call, message)
            return


def fixes_order_of_sums(order: Order) -> bool:
    """Return whether HCCL adds in a fixed order.

    `HCCL_DETERMINISTIC` is `true` or `strict`, in any case of letters.
    """
    values = (literal(store.value) for store in order.environment("HCCL_DETERMINISTIC"))
    return any(str(value).lower() != "false" for value in values)


@check_programs("RC801", unless=(fixes_order_of_sums, devices.is_deterministic))
def collectives(order: Order) -> Iterator[Hit]:
    """Find collectives of Ascend without their deterministic mode."""
    for call in order.calls(*_JOINS_RANKS):
        backend = call.argument(0, "backend", "backend_name")
        if literal(backend) == "hccl":
            message = (
                "HCCL adds the ranks' gradients in any order unless HCCL_DETERMINISTIC is set"
                " before the start"
            )
            yield hit("RC801", call, message)
            return


def _shown(call: Call) -> str:
    """Return the name of a call for a message: only the method if its object is not known."""
    if "()" in call.name or call.name.startswith("?"):
        return f"`{call.method}`"
    return f"`{short(call.name)}`"


@check_programs("RC702", unless=(devices.is_on_cpu_alone,))
def upsampling(order: Order) -> Iterator[Hit]:
    """Find upsampling, whose gradient has no deterministic kernel on an accelerator."""
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
    """Return the listed operators by spelling: `torch.cumsum`, `?.cumsum`."""
    table: dict[str, tuple[Operator, ...]] = {}
    of_torch = (ops for source, ops in operator_lists() if source.frameworks == ("torch",))
    torch_operators = (
        one for one in chain.from_iterable(of_torch) if not _LEFT_OUT.search(one.name)
    )
    for operator in torch_operators:
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


def _operators(call: Call) -> tuple[Operator, ...]:
    """Return the listed operators of PyTorch that a call may stand for."""
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
    """Return whether a call meets the conditions under which its operator is listed as noisy.

    An example is `accumulate=True`.
    """
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
    """Return whether the output size of adaptive pooling is 1: a mean, thus deterministic."""
    if isinstance(value, Items):
        return all(map(_is_one, value.items))
    return literal(value) in (1, (1, 1), (1, 1, 1))


def _is_index(value: Value) -> bool:
    """Return whether a value is a tensor that torch made."""
    if any(_TORCH_MADE.search(option.name or "") for option in value.options()):
        return True
    return any(value.calls("torch.randint", "torch.randperm", "torch.tensor"))


def _is_moved(value: Value | None, kind: str) -> bool:
    """Return whether a tensor was put on an accelerator by one of the calls that made it."""
    for call in value.calls() if value is not None else ():
        if call.method == kind or devices.on(call.keywords.get("device"), kind):
            return True
    return False


@cache
def _ascend_names() -> Mapping[str, str]:
    """Return the names of the operators that are listed for Ascend, by the name in lower case.

    Collectives are left out because they have a rule of their own, and backward operators because a
    call does not show the backward pass.
    """
    listed = (ops for source, ops in operator_lists() if "Ascend" in source.name)
    names: dict[str, str] = {}
    for operator in chain.from_iterable(listed):
        aliases = (*operator.aliases, *operator.name.split(", "))
        for name in map(last_part, aliases):
            # A listed name may stand in a program: some rows describe an operator in words
            if not (name.isidentifier() and not _NOT_CALLED.search(name)):
                continue
            names.setdefault(name.lower(), name)
    return names
