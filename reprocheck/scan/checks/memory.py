"""Memory that nobody filled, and checkpoints that fill a part of the weights."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from itertools import islice

from reprocheck.scan.checks.streams import every, given, seeded_before
from reprocheck.scan.names import last_word
from reprocheck.scan.order import Order
from reprocheck.scan.project import Module, Project
from reprocheck.scan.registry import Hit, check, hit
from reprocheck.scan.steps import Call
from reprocheck.scan.values import Constant, Either, Instance, Items, Made, Part, Value

_EMPTY = (
    "torch.empty",
    "torch.empty_like",
    "torch.empty_strided",
    "torch.Tensor",
    "torch.FloatTensor",
    "torch.DoubleTensor",
    "torch.cuda.FloatTensor",
    "torch.HalfTensor",
    "numpy.empty",
    "numpy.empty_like",
    "mindspore.mint.empty",
    "mindspore.mint.empty_like",
    "mindspore.ops.empty",
)
_KEEPS = (
    "torch.nn.Parameter",
    "mindspore.Parameter",
    "torch.nn.Buffer",
    "torch.nn.parameter.Buffer",
)
_FILLS = re.compile(
    r"^(?!requires_grad_|detach_|share_memory_|to_|t_|squeeze_|unsqueeze_|resize_|transpose_|apply_$"
    r"|(mul|add|sub|div|lerp|addcmul|addcdiv|pow|sqrt|neg|abs|exp|index_add|scatter_add)_$)\w+_$"
)
"""Methods that write whole tensors.

Those that compute with what was there before leave it what it was: nothing.
"""
_FILL_METHODS = frozenset(
    {
        "fill",
        "copyto",
        "set_data",
        "load_state_dict",
        "apply",
        "broadcast",
        "recv",
        "irecv",
        "all_gather",
        "all_gather_into_tensor",
        "scatter",
        "all_reduce",
        "reset_parameters",
        "init_weights",
        "post_init",
        "_init_weights",
        "initialize_weights",
        "set_value",
        "readinto",
        "from_pretrained",
        "weight_norm",
        "init_parameters",
        "_reset_parameters",
        "copy_to",
        "initialize",
        "swap_tensors",
        "register_parametrization",
    }
)
_VIEWS = frozenset(
    {
        "view",
        "view_as",
        "reshape",
        "flatten",
        "squeeze",
        "unsqueeze",
        "t",
        "transpose",
        "permute",
        "detach",
        "chunk",
        "split",
        "unbind",
        "narrow",
        "select",
        "parameters",
        "named_parameters",
        "buffers",
        "named_buffers",
        "modules",
        "named_modules",
        "children",
        "state_dict",
        "values",
        "items",
        "Parameter",
        "Buffer",
        "Sequential",
        "ModuleList",
        "ModuleDict",
        "ParameterList",
        "ParameterDict",
        "get_parameters",
        "trainable_params",
        "parameters_and_names",
        "list",
        "to",
    }
)
_MOST = 500
_INITIALISERS = re.compile(r"init|reset|load|weight|materiali[sz]e|from_float|quant|fill")


@check("RC303")
def unfilled(module: Module, project: Project) -> Iterator[Hit]:
    """A parameter or buffer of empty memory."""
    for order in module.orders:
        for call in every(order):
            if (
                call.name not in _EMPTY
                or not _is_allocation(call)
                or given(call, "device=meta", sure=True)
            ):
                continue
            kept = _kept(order, call)
            if (
                kept is not None
                and _is_read(call)
                and not _is_filled(order, call, kept)
                and not _is_named_in_initialiser(call, whole=order.whole)
            ):
                what = "buffer" if kept.method in ("register_buffer", "Buffer") else "parameter"
                yield hit(
                    "RC303",
                    call,
                    f"this {what} is `{call.name}`, memory as it was, and nothing fills it",
                )


@check("RC305")
def partial(module: Module, project: Project) -> Iterator[Hit]:
    """A checkpoint that is loaded with `strict=False`, and nobody looks at what was missing."""
    for order in module.orders:
        for call in order.methods("load_state_dict"):
            if (
                call.own
                or not (given(call, "strict=False", 1, sure=True))
                or not _is_dropped(call)
                or _is_optimizer(call)
            ):
                continue
            if _is_reported(order, call):
                continue
            if order.whole:
                message = (
                    "with `strict=False` weights that the checkpoint lacks stay as they were drawn,"
                    " and nobody looks at which these are"
                )
                seeded = seeded_before(order, call, frozenset({"torch"})) is not None
                yield hit("RC305", call, message, severity="note" if seeded else None)
        for call in order.calls(
            "mindspore.load_param_into_net", "mindspore.train.serialization.load_param_into_net"
        ):
            if (
                order.whole
                and _is_dropped(call)
                and not given(call, "strict_load=True", 2, sure=True)
            ):
                yield hit(
                    "RC305",
                    call,
                    "weights that the checkpoint lacks stay as they were drawn, and nobody looks at"
                    " which these are",
                    severity="note",
                )


def _is_allocation(call: Call) -> bool:
    """`torch.Tensor(3, 4)` allocates; `torch.Tensor([1.0])` and `torch.empty(0)` hold nothing
    unknown.
    """
    first = call.argument(0, "size", "shape", "input", "prototype")
    if first is None or (isinstance(first, Constant) and first.value in (0, (0,))):
        return False
    if isinstance(first, Made) and not first.call.arguments and first.call.method == "list":
        return False
    if call.name.endswith("Tensor"):
        return (
            all(
                isinstance(argument, Constant) and isinstance(argument.value, int)
                for argument in call.arguments
            )
            or len(call.arguments) > 1
        )
    parts = getattr(first, "items", None)
    return not (
        isinstance(parts, list)
        and any(isinstance(part, Constant) and part.value == 0 for part in parts)
    )


def _is_read(call: Call) -> bool:
    """Whether an attribute that it is assigned to is read anywhere in the module; variables and
    names of buffers count as read.
    """
    statement = call.module.statement_of(call.node)
    names = (
        {target.attr for target in statement.targets if isinstance(target, ast.Attribute)}
        if isinstance(statement, ast.Assign)
        else set()
    )
    return not names or any(
        node.attr in names and isinstance(node.ctx, ast.Load)
        for node in call.module.nodes(ast.Attribute)
    )


def _kept(order: Order, call: Call) -> Call | None:
    """The call that makes a parameter or buffer of it."""
    for step in islice(order.uses(call.result), 20):
        if isinstance(step, Call) and (step.named(*_KEEPS) or step.method == "register_buffer"):
            return step
    return None


def _is_filled(order: Order, call: Call, kept: Call) -> bool:
    values = {id(call.result), id(kept.result)}
    for value in (call.result, kept.result):
        for step in order.flow(value):
            filling = (
                isinstance(step, Call)
                and step is not kept
                and (_fills(step.method) or "out" in step.keywords)
            )
            if filling and any(_is_part(one, values) for one in step.inputs):
                return True
    if any(
        store.name.endswith(".data") and store.target is not None and _is_part(store.target, values)
        for store in order.stores()
    ):
        return True
    return _is_whole_object_filled(order, kept)


def _fills(method: str) -> bool:
    return method in _FILL_METHODS or (
        _FILLS.match(method) is not None and not method.endswith("__")
    )


def _is_part(value: Value, wanted: set[int]) -> bool:
    """Whether a value is one of these, a view of it, or a module or list that holds it; not what
    was computed with it.
    """
    seen: set[int] = set()
    waiting = [value]
    while waiting and len(seen) < _MOST:
        one = waiting.pop()
        if id(one) in wanted:
            return True
        if id(one) not in seen:
            seen.add(id(one))
            if isinstance(one, Part | Either | Items | Instance) or (
                isinstance(one, Made) and one.call.method in _VIEWS
            ):
                waiting.extend(one.sources)
    return False


def _is_whole_object_filled(order: Order, kept: Call) -> bool:
    """A checkpoint is loaded into the model, whole: then its parameters hold what that had."""
    return any(
        not given(call, "strict=False", 1) and not call.conditions
        for call in order.methods("load_state_dict", "load_param_into_net")
    )


def _is_named_in_initialiser(call: Call, *, whole: bool) -> bool:
    """Whether the module has code elsewhere that may fill what has this name: an `_init_weights`
    that mentions it, a loader, a loop.
    """
    statement = call.module.statement_of(call.node)
    names = {
        last_word(target)
        for target in (statement.targets if isinstance(statement, ast.Assign) else [])
    }
    names |= (
        {
            part.value
            for part in ast.walk(statement)
            if isinstance(part, ast.Constant) and isinstance(part.value, str)
        }
        if statement
        else set()
    )
    names.discard("")
    own = call.module.function_of(call.node)
    for function in call.module.index.functions:
        if function is own:
            continue
        if _mentions(function, names) and (
            _INITIALISERS.search(function.name) or _fills_name(function, names)
        ):
            return True
        if not whole and _INITIALISERS.search(function.name) and _loops_over_parameters(function):
            return True
    return own is not None and _fills_name(own, names)


def _mentions(function: ast.AST, names: set[str]) -> bool:
    """Whether a function reads an attribute of such a name, or holds it as text."""
    return any(
        (isinstance(part, ast.Attribute) and part.attr in names)
        or (isinstance(part, ast.Constant) and part.value in names)
        for part in ast.walk(function)
    )


def _fills_name(function: ast.AST, names: set[str]) -> bool:
    """`self.scale.data.fill_(1)`, `init.ones_(module.scale)`, `self.scale[0] = 1`, `self.scale.data
    = ...`.
    """
    for part in ast.walk(function):
        if isinstance(part, ast.Call):
            method = part.func.attr if isinstance(part.func, ast.Attribute) else ""
            if _fills(method) and any(last_word(one) in names for one in ast.walk(part)):
                return True
        elif isinstance(part, ast.Assign):
            held = [
                target.value
                for target in part.targets
                if isinstance(target, ast.Subscript | ast.Attribute)
            ]
            if any(last_word(inner) in names for inner in held):
                return True
    return False


def _loops_over_parameters(function: ast.AST) -> bool:
    return any(
        isinstance(part, ast.Attribute)
        and part.attr in ("parameters", "named_parameters", "parameters_and_names")
        for part in ast.walk(function)
    )


def _is_reported(order: Order, load: Call) -> bool:
    """Whether the program says how much of the checkpoint it took: `log.info(f"{len(state)} of
    {len(model.state_dict())}")`.
    """
    state = load.argument(0, "state_dict")
    if state is None:
        return False
    counted = {id(step.result) for step in order.calls("builtins.len") if step.argument(0) is state}
    said = (
        step
        for step in order.methods("info", "warning", "print", "log", "debug", "warn")
        if counted
    )
    return any(
        id(one) in counted
        for step in said
        for value in step.inputs
        for one in islice(value.origin(), 30)
    )


def _is_dropped(call: Call) -> bool:
    return isinstance(call.module.parent(call.node), ast.Expr)


def _is_optimizer(call: Call) -> bool:
    return "optim" in call.name.lower() or "schedul" in call.name.lower()
