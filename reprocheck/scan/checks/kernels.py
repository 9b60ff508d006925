"""Operators whose kernels add in another order each time, on the device that the program uses,
without deterministic mode.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from functools import cache, lru_cache

from reprocheck.rules.operators import Operator, operator_lists
from reprocheck.scan.checks import devices, streams
from reprocheck.scan.checks.streams import every, given, short
from reprocheck.scan.order import Order
from reprocheck.scan.project import Module, Project
from reprocheck.scan.registry import Hit, check, hit
from reprocheck.scan.steps import Call
from reprocheck.scan.values import Constant, Items, Value

_UPSAMPLES = (
    "torch.nn.functional.interpolate",
    "torch.nn.functional.upsample",
    "torch.nn.Upsample",
    "torch.nn.functional.grid_sample",
)
_SMOOTH = frozenset({"linear", "bilinear", "bicubic", "trilinear"})
_FLASH = (
    "flash_attn.flash_attn_func",
    "flash_attn.flash_attn_varlen_func",
    "flash_attn.flash_attn_qkvpacked_func",
    "flash_attn.flash_attn_interface.*",
)
_MAMBA = (
    "mamba_ssm",
    "causal_conv1d",
    "selective_scan_cuda",
    "selective_scan_cuda_core",
    "selective_scan",
)
_RARE = (
    "Tensor.scatter",
    "index_copy",
    "bmm",
    "NLLLoss",
    "gather",
    "index_select",
    "repeat_interleave",
)
"""Listed for uses that a call does not show: sparse tensors, tensors with repeated indices."""
_METHODS = frozenset(
    {
        "index_put_",
        "index_put",
        "put_",
        "scatter_add_",
        "scatter_add",
        "scatter_reduce",
        "scatter_reduce_",
        "index_add",
        "index_add_",
        "bincount",
        "histc",
    }
)
"""Methods of tensors that no other library has."""
_CONVOLUTIONS = "Conv"
_ASCEND = ("mindspore.ops.", "mindspore.nn.", "mindspore.mint.", "torch.nn.", "torch.")
_TENSORS = (
    "torch.zeros",
    "torch.ones",
    "torch.randn",
    "torch.rand",
    "torch.empty",
    "torch.full",
    "torch.tensor",
)
_MOST_NAMED = 3


@check("RC602", "RC701")
def noisy(module: Module, project: Project) -> Iterator[Hit]:
    """Listed operators of PyTorch: by atomics on the CPU, and on CUDA where the program names
    it.
    """
    for order in module.orders:
        if not order.whole or devices.is_deterministic(order):
            continue
        found: dict[str, list[tuple[Call, Operator]]] = {}
        for call in every(order):
            for operator in () if _is_evaluation(order, call) else _operators(call):
                device = (
                    "cuda"
                    if "cuda" in operator.devices and "cuda" in devices.accelerators(order)
                    else "cpu"
                )
                if device in operator.devices and _is_triggered(call, operator):
                    found.setdefault(
                        "RC701" if operator.phase == "backward" else "RC602", []
                    ).append((call, operator))
                    break
        for code, calls in found.items():
            if code == "RC602" or streams.trains(order):
                yield _noisy(code, calls, "cuda" in devices.accelerators(order))


def _is_evaluation(order: Order, call: Call) -> bool:
    """Whether it runs without gradients in a program that trains nothing: what it gives goes into
    no weight.
    """
    if not any(
        context.made_by("torch.no_grad", "torch.inference_mode") is not None
        for context in call.contexts
    ):
        return False
    return not streams.trains(order)


@check("RC701")
def indexed_parameter(module: Module, project: Project) -> Iterator[Hit]:
    """`table[index]`, whose gradient is added up by threads."""
    for order in module.orders:
        if (
            not order.whole
            or devices.is_deterministic(order)
            or next(order.methods("backward"), None) is None
        ):
            continue
        for node in _subscripts(module):
            if _is_trained(order.value_of(node.value)) and _is_index(order.value_of(node.slice)):
                message = (
                    "the gradient of indexing with a tensor is added up by threads in the order in"
                    " which they arrive"
                )
                yield Hit(code="RC701", module=module, node=node, message=message)
                break


@check("RC702", "RC703", "RC704")
def backward_kernels(module: Module, project: Project) -> Iterator[Hit]:
    """Upsampling, fused attention and extensions, whose gradients have no deterministic kernel."""
    for order in module.orders:
        for call in order.calls(*_FLASH):
            if (
                call.argument(None, "deterministic") is None
                and not call.open
                and not list(order.environment("FLASH_ATTENTION_DETERMINISTIC"))
            ):
                yield hit(
                    "RC703",
                    call,
                    "the backward pass of flash attention adds to the gradient of the queries with"
                    " atomics",
                )
                break
        if not order.whole:
            continue
        yield from _upsamples(order)
        if not list(order.environment("MAMBA_DETERMINISTIC")):
            for step in order.imports(*_MAMBA):
                yield hit(
                    "RC704",
                    step,
                    f"the backward pass of `{step.name}` adds with atomics, and deterministic mode"
                    " does not know it",
                )
                break


@check("RC008")
def refused(module: Module, project: Project) -> Iterator[Hit]:
    """An operator without a deterministic kernel in deterministic mode."""
    for order in module.orders:
        if not order.whole or not _is_strict(order):
            continue
        for call in every(order):
            operator = next(
                (one for one in _operators(call) if one.deterministic_mode == "raises"), None
            )
            if (
                operator is not None
                and _is_there(order, operator)
                and _is_triggered(call, operator)
            ):
                yield hit(
                    "RC008",
                    call,
                    f"`{operator.name}` has no deterministic kernel, and deterministic mode raises"
                    " an error for it",
                )
                break


@check("RC603")
def ascend(module: Module, project: Project) -> Iterator[Hit]:
    """Listed operators of the Ascend backend."""
    for order in module.orders:
        if (
            not order.whole
            or "npu" not in devices.named(order.root)
            or devices.is_deterministic(order)
        ):
            continue
        calls = [
            (call, name)
            for call in every(order)
            if call.name.startswith(_ASCEND) and (name := _ascend_names().get(call.method.lower()))
        ]
        if calls:
            names = list(dict.fromkeys(name for _, name in calls))
            more = f" and {len(names) - _MOST_NAMED} more" if len(names) > _MOST_NAMED else ""
            shown = ", ".join(f"`{name}`" for name in names[:_MOST_NAMED])
            noise = (
                "carries a little noise of its own"
                if len(names) == 1
                else "carry a little noise of their own"
            )
            message = f"{shown}{more} {noise} on Ascend, and deterministic mode is off"
            yield hit("RC603", calls[0][0], message)


@check("RC405")
def device_draws(module: Module, project: Project) -> Iterator[Hit]:
    """Numbers drawn on an accelerator."""
    for order in module.orders:
        if not order.whole:
            continue
        for drawing in streams.drawings(order):
            call = drawing.call
            told = call.keywords.get("device")
            kind = next(
                (kind for kind in ("cuda", "npu") if told is not None and devices.on(told, kind)),
                None,
            )
            if kind is None and call.receiver is not None and call.method.endswith("_"):
                kind = next((one for one in ("cuda", "npu") if _is_moved(call.receiver, one)), None)
            if (
                kind is not None
                and drawing.draws.kind in ("number", "order")
                and not given(call, "generator")
            ):
                device = "a GPU" if kind == "cuda" else "an NPU"
                yield hit(
                    "RC405",
                    call,
                    f"this is drawn on {device}: another kind of device draws other numbers from"
                    " the same seed",
                )
                break


@check("RC005")
def xla(module: Module, project: Project) -> Iterator[Hit]:
    """Scatter in JAX on a GPU."""
    for order in module.orders:
        if (
            not order.whole
            or "cuda" not in devices.accelerators(order)
            or not module.uses_package("jax")
            or list(order.environment("XLA_FLAGS"))
        ):
            continue
        for call in every(order):
            if call.name in ("jax.ops.segment_sum", "jax.lax.scatter_add") or (
                call.method == "add" and _is_at(call.node)
            ):
                yield hit(
                    "RC005",
                    call,
                    "XLA's scatter on a GPU adds in the order in which threads arrive",
                )
                break


@check("RC801")
def collectives(module: Module, project: Project) -> Iterator[Hit]:
    """Collectives of Ascend without their deterministic mode."""
    for order in module.orders:
        if not order.whole or any(
            store.name.startswith("os.environ[HCCL_DETERMINISTIC") for store in order.stores()
        ):
            continue
        for call in order.calls(
            "torch.distributed.init_process_group",
            "mindspore.communication.init",
            "mindspore.communication.management.init",
        ):
            backend = call.argument(0, "backend", "backend_name")
            if (
                isinstance(backend, Constant)
                and backend.value == "hccl"
                and not devices.is_deterministic(order)
            ):
                yield hit(
                    "RC801",
                    call,
                    "HCCL adds the ranks' gradients in any order unless HCCL_DETERMINISTIC is set"
                    " before the start",
                )
                break


def _is_at(node: ast.AST) -> bool:
    """`x.at[i].add(...)`."""
    inner = (
        node.func.value
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute)
        else None
    )
    return (
        isinstance(inner, ast.Subscript)
        and isinstance(inner.value, ast.Attribute)
        and inner.value.attr == "at"
    )


def _noisy(code: str, calls: list[tuple[Call, Operator]], cuda: bool) -> Hit:
    call, operator = calls[0]
    others = list(dict.fromkeys(_shown(other) for other, _ in calls if other.method != call.method))
    more = f"; so do {', '.join(others[:_MOST_NAMED])}" if others else ""
    where = "on CUDA" if cuda else "by several threads"
    what = "the gradient of " if code == "RC701" else ""
    return hit(
        code,
        call,
        f"{what}{_shown(call)} adds {where} in the order in which threads arrive{more}",
        operator=operator.name,
    )


def _shown(call: Call) -> str:
    name = call.method if "()" in call.name or call.name.startswith("?") else short(call.name)
    return f"`{name}`"


def _upsamples(order: Order) -> Iterator[Hit]:
    if "cuda" not in devices.accelerators(order) and "npu" not in devices.accelerators(order):
        return
    for call in order.calls(*_UPSAMPLES, "torch.nn.UpsamplingBilinear2d"):
        mode = call.argument(3 if "functional" in call.name else 2, "mode")
        smooth = call.name.endswith(("grid_sample", "UpsamplingBilinear2d")) or (
            isinstance(mode, Constant) and mode.value in _SMOOTH
        )
        if smooth and _is_in_forward(call):
            shown = f"`{call.method}`"
            if isinstance(mode, Constant) and "grid" not in call.name:
                shown += f" with mode={mode.value!r}"
            yield hit(
                "RC702",
                call,
                f"the backward pass of {shown} adds with atomics on an accelerator, and has no"
                " deterministic kernel",
            )
            return


def _is_in_forward(call: Call) -> bool:
    """Whether it may be differentiated: in the forward pass of a module, or at the top level; not
    in what prepares images.
    """
    function = call.module.function_of(call.node)
    return (
        function is None
        or function.name.startswith(("forward", "__init__", "__call__"))
        or "forward" in function.name
    )


@lru_cache(maxsize=4096)
def _by_name() -> Mapping[str, tuple[Operator, ...]]:
    table: dict[str, tuple[Operator, ...]] = {}
    for source, operators in operator_lists():
        if source.frameworks == ("torch",) and "recurrent" not in source.name:
            for operator in operators:
                name = operator.name
                if (
                    _CONVOLUTIONS in name
                    or name.endswith("cumsum")
                    or "interpolate" in name
                    or "grid_sample" in name
                    or "__getitem__" in name
                    or "resize_" in name
                ):
                    continue
                for spelt in {
                    name,
                    name.replace("torch.Tensor.", "torch."),
                    name.replace("torch.Tensor.", "?."),
                    name.replace("torch.", "?.", 1),
                }:
                    table[spelt] = (*table.get(spelt, ()), operator)
    return table


def _operators(call: Call) -> tuple[Operator, ...]:
    if call.own:
        return ()
    if call.name.startswith("torch.") and "()" not in call.name:
        return _by_name().get(call.name, ())
    if call.method in _METHODS and not call.name.startswith(
        ("numpy.", "mindspore.", "tensorflow.", "jax.")
    ):
        return _by_name().get(f"?.{call.method}", ()) or _by_name().get(
            f"?.{call.method.rstrip('_')}", ()
        )
    return ()


def _is_triggered(call: Call, operator: Operator) -> bool:
    """The conditions that the lists give in words, as far as a call shows them."""
    adds = given(call, "accumulate=True", 2, sure=True)
    when = operator.when
    if "accumulate=True" in when or "accumulate=`True`" in when or "accumulating" in when:
        return adds
    if "accumulate=False" in when:
        return not adds
    if (
        operator.name.endswith(("put_", "index_put"))
        and operator.phase == "forward"
        and "raises" not in operator.deterministic_mode
    ):
        return adds
    if operator.name.endswith("median"):
        return given(call, "dim", 1)
    if operator.name.endswith("bincount"):
        return given(call, "weights", 1)
    if "AdaptiveAvgPool" in operator.name and call.arguments and _is_one(call.arguments[0]):
        return False
    return not operator.name.endswith(_RARE)


def _is_one(value: Value) -> bool:
    """An output of size 1 is a mean, and deterministic."""
    if isinstance(value, Items):
        return all(_is_one(item) for item in value.items)
    return isinstance(value, Constant) and value.value in (1, (1, 1), (1, 1, 1))


def _is_there(order: Order, operator: Operator) -> bool:
    return "cpu" in operator.devices or (
        "cuda" in operator.devices and devices.first_use(order, "cuda") is not None
    )


def _is_strict(order: Order) -> bool:
    for call in order.calls("torch.use_deterministic_algorithms"):
        if given(call, "mode=True", 0, sure=True) and not given(call, "warn_only"):
            return True
    return False


def _subscripts(module: Module) -> Iterator[ast.Subscript]:
    for node in module.nodes(ast.Subscript):
        if isinstance(node.ctx, ast.Load) and not isinstance(
            node.slice, ast.Constant | ast.Slice | ast.Tuple
        ):
            yield node


def _is_trained(value: Value) -> bool:
    if value.made_by("torch.nn.Parameter") is not None:
        return True
    made = value.made_by(*_TENSORS)
    return made is not None and given(made, "requires_grad=True", sure=True)


def _is_index(value: Value) -> bool:
    return any(
        (option.name or "").startswith("torch.") and (option.name or "").endswith(")")
        for option in value.options()
    ) or any(True for _ in value.calls("torch.randint", "torch.randperm", "torch.tensor"))


def _is_moved(value: Value, kind: str) -> bool:
    return any(
        call.method == kind
        or (call.keywords.get("device") is not None and devices.on(call.keywords["device"], kind))
        for call in value.calls()
    )


@cache
def _ascend_names() -> Mapping[str, str]:
    names: dict[str, str] = {}
    for source, operators in operator_lists():
        if "Ascend" in source.name:
            for operator in operators:
                if "Allreduce" in operator.name:
                    continue
                for alias in (*operator.aliases, *operator.name.split(", ")):
                    key = alias.rpartition(".")[2].lower()
                    if "backward" not in key and key.isidentifier():
                        names.setdefault(key, alias.rpartition(".")[2])
    return names
