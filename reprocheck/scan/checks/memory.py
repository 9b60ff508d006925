"""Memory that nobody filled, and checkpoints that fill a part of the weights."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator
from itertools import chain, filterfalse, islice
from operator import attrgetter

from reprocheck.rules.catalogue import Severity
from reprocheck.scan import syntax
from reprocheck.scan.checks import other_programs
from reprocheck.scan.checks.streams import given, seeded_before
from reprocheck.scan.index import within
from reprocheck.scan.memo import kept
from reprocheck.scan.names import last_word
from reprocheck.scan.order import Order
from reprocheck.scan.registry import Hit, check_orders, check_programs, hit
from reprocheck.scan.steps import Call, Step
from reprocheck.scan.values import Either, Instance, Items, Made, Part, Value, literal, reached
from reprocheck.scan.vocabulary import names, words

EMPTY = names("memory", "empty")
_KEEPS = names("memory", "keeps")
_FILLS = re.compile(
    r"^(?!requires_grad_|detach_|share_memory_|to_|t_|squeeze_|unsqueeze_|resize_|transpose_|apply_$"
    r"|(mul|add|sub|div|lerp|addcmul|addcdiv|pow|sqrt|neg|abs|exp|index_add|scatter_add)_$)\w+_$"
)
"""Methods that write whole tensors.

Those that compute with what was there before leave it what it was: nothing.
"""
_FILL_METHODS = words("memory", "fill_methods")
_VIEWS = words("memory", "views")
_SHAPES = ("size", "shape", "input", "prototype")
_KEPT_AS = {True: "buffer", False: "parameter"}
_BUFFERS = frozenset({"register_buffer", "Buffer"})
_WHOLE_LOADS = ("load_state_dict", "load_param_into_net")
_MINDSPORE_LOADS = names("memory", "mindspore_loads")
_ALL_PARAMETERS = frozenset({"parameters", "named_parameters", "parameters_and_names"})
_LOGS = ("info", "warning", "print", "log", "debug", "warn")
_OPTIMIZER = re.compile("optim|schedul")
_MOST = 500
_INITIALISERS = re.compile(r"init|reset|load|weight|materiali[sz]e|from_float|quant|fill")


@check_orders("RC303")
def unfilled(order: Order) -> Iterator[Hit]:
    """Yield a parameter or buffer of empty memory, or an input of a layer."""
    for call in order.calls(*EMPTY):
        if not _is_allocation(call) or given(call, "device=meta", sure=True):
            continue
        kept = _kept(order, call)
        if kept is None:
            yield from _of_input(order, call)
            continue
        if not _is_read(call) or _may_be_filled(order, call, kept):
            continue
        what = _KEPT_AS[kept.method in _BUFFERS]
        message = f"this {what} is `{call.name}`, memory as it was, and nothing fills it"
        yield hit("RC303", call, message)


def _of_input(order: Order, call: Call) -> Iterator[Hit]:
    """Empty memory that a program gives to a layer."""
    layer = next(filter(_is_layer, order.flow(call.result)), None)
    if not order.whole or layer is None or _may_be_filled(order, call, call):
        return
    if any(_is_part(value, {id(call.result)}) for value in layer.inputs):
        message = f"a layer is given `{call.name}`, memory as it was"
        yield hit("RC303", call, message)


def _is_layer(step: Step) -> bool:
    """Return whether a layer of torch, or a function for one, is called."""
    is_object = step.method == "__call__" and step.called.startswith("torch.nn.")
    return is_object or step.named("torch.nn.functional.*")


def _may_be_filled(order: Order, call: Call, kept: Call) -> bool:
    return _is_filled(order, call, kept) or _is_named_in_initialiser(call)


@check_programs("RC305")
def partial(order: Order) -> Iterator[Hit]:
    """Yield a checkpoint that is loaded with `strict=False`, and nobody looks at what was
    missing.
    """
    if other_programs.is_without_training(order):
        return
    for call in order.methods("load_state_dict"):
        if not _is_partial_load(call) or _is_reported(order, call):
            continue
        message = (
            "with `strict=False` weights that the checkpoint lacks stay as they were drawn,"
            " and no code checks which these are"
        )
        yield hit("RC305", call, message, severity=_of_partial_load(order, call))


def _of_partial_load(order: Order, call: Call) -> Severity | None:
    """Return "note" in a folder, and where the weights that stay are the same in each run: most
    checkpoints of public code lack nothing that was drawn.
    """
    is_seeded = seeded_before(order, call, frozenset({"torch"})) is not None
    if is_seeded or not order.root.single:
        return "note"
    return None


@check_programs("RC305")
def partial_in_mindspore(order: Order) -> Iterator[Hit]:
    """Yield the same in MindSpore, which is not strict unless told."""
    for call in order.calls(*_MINDSPORE_LOADS):
        if _is_dropped(call) and not given(call, "strict_load=True", 2, sure=True):
            message = (
                "weights that the checkpoint lacks stay as they were drawn, and no code checks"
                " which these are"
            )
            yield hit("RC305", call, message, severity="note")


def _is_partial_load(call: Call) -> bool:
    """Return whether weights may be missing from what is loaded, and the answer which is thrown
    away.
    """
    if call.own or _OPTIMIZER.search(call.name.lower()):
        return False
    return _is_dropped(call) and given(call, "strict=False", 1, sure=True)


def _is_allocation(call: Call) -> bool:
    """`torch.Tensor(3, 4)` allocates; `torch.Tensor([1.0])` and `torch.empty(0)` hold nothing
    unknown.
    """
    first = call.argument(0, *_SHAPES)
    if first is None or literal(first) in (0, (0,)) or _is_empty_list(first):
        return False
    if call.name.endswith("Tensor"):
        # `torch.Tensor(3, 4)` allocates and `torch.Tensor(rows)` copies: sizes are numbers.
        sizes = map(literal, call.arguments)
        return len(call.arguments) > 1 or all(isinstance(size, int) for size in sizes)
    match first:
        case Items(items=items):
            return 0 not in map(literal, items)
    return True


def _is_empty_list(value: Value) -> bool:
    """`list()`."""
    match value:
        case Made(call=Call(method="list", arguments=())):
            return True
    return False


def _is_read(call: Call) -> bool:
    """Return whether an attribute that it is assigned to is read anywhere in the module; variables
    and names of buffers count as read.
    """
    names = syntax.attributes(syntax.targets(call.statement))
    if not names:
        return True
    read = filter(syntax.is_read, call.module.nodes(ast.Attribute))
    return not names.isdisjoint(syntax.attributes(read))


def _kept(order: Order, call: Call) -> Call | None:
    """Return the call that makes a parameter or buffer of it."""
    for step in islice(order.uses(call.result), 20):
        is_kept = step.named(*_KEEPS) or step.method == "register_buffer"
        if isinstance(step, Call) and is_kept:
            return step
    return None


def _is_filled(order: Order, call: Call, kept: Call) -> bool:
    """Return whether something writes all of it, or of what holds it."""
    values = {id(call.result), id(kept.result)}
    steps = chain(order.flow(call.result), order.flow(kept.result))
    filling = (step for step in steps if step is not kept and _is_filling(order, step))
    filled = chain.from_iterable(map(attrgetter("inputs"), filling))
    targets = (store.target for store in order.stores() if store.name.endswith(".data"))
    written = chain(filled, filter(None, targets))
    return any(_is_part(one, values) for one in written) or _is_whole_object_filled(order)


def _is_filling(order: Order, step: Step) -> bool:
    """Return whether a call may fill what it is given: of one that is followed, its own steps say
    so.
    """
    if not isinstance(step, Call) or (step.own and id(step.node) in _followed(order)):
        return False
    if step.own or step.named("torch.nn.init.*"):
        return _INITIALISERS.search(step.called) is not None
    return _fills(step.method) or "out" in step.keywords


@kept
def _followed(order: Order) -> frozenset[int]:
    """Return the calls of the user's functions that were followed, by the ids of their nodes."""
    places = chain.from_iterable(step.through for step in order.steps)
    return frozenset(id(node) for _, node in places)


def _fills(method: str) -> bool:
    if method in _FILL_METHODS:
        return True
    return _FILLS.match(method) is not None and not method.endswith("__")


def _is_part(value: Value, wanted: set[int]) -> bool:
    """Return whether a value is one of these, a view of it, or a module or list that holds it; not
    what was computed with it.
    """
    return any(id(one) in wanted for one in reached(value, _viewed, _MOST))


def _viewed(value: Value) -> Iterable[Value]:
    """Return what a value shows or holds directly."""
    match value:
        case Part() | Either() | Items() | Instance():
            return value.sources
        case Made(call=Call(method=method)) if method in _VIEWS:
            return value.sources
    return ()


def _is_whole_object_filled(order: Order) -> bool:
    """Return whether a whole checkpoint is loaded into the model.

    Then its parameters hold what that had.
    """
    loads = (call for call in order.methods(*_WHOLE_LOADS) if not call.conditions)
    return any(not given(call, "strict=False", 1) for call in loads)


def _is_named_in_initialiser(call: Call) -> bool:
    """Return whether the module, or one that imports it, has code elsewhere that may fill what has
    this name: an `_init_weights` that mentions it, a loader, a loop.
    """
    own = call.module.function_of(call.node)
    names = _names(call)
    if own is not None and not names.isdisjoint(_filled_names(own)):
        return True
    users = (module for module in call.module.project if call.module in module.imports)
    functions = map(attrgetter("index.functions"), (call.module, *users))
    others = filterfalse(lambda one: one is own, chain.from_iterable(functions))
    return any(_initialises(function, names) for function in others)


def _names(call: Call) -> set[str]:
    """Return the names and texts in the statement around a call, under which its result may be
    known.
    """
    statement = call.statement
    names = set(map(last_word, syntax.targets(statement)))
    match statement:
        case ast.Expr(value=ast.Call(func=ast.Attribute(attr="append", value=grown))):
            names.add(last_word(grown))
    constants = within(statement, ast.Constant)
    names.update(part.value for part in constants if isinstance(part.value, str))
    return names - {""}


def _initialises(function: ast.FunctionDef | ast.AsyncFunctionDef, names: set[str]) -> bool:
    """Return whether a function may fill what has one of these names."""
    is_initialiser = _INITIALISERS.search(function.name) is not None
    if is_initialiser and _loops_over_parameters(function):
        return True
    if names.isdisjoint(_mentioned(function)):
        return False
    return is_initialiser or not names.isdisjoint(_filled_names(function))


@kept
def _mentioned(function: ast.AST) -> frozenset[str]:
    """Return the attributes that a function reads, and the texts that it holds."""
    texts = within(function, ast.Constant)
    held = {text.value for text in texts if isinstance(text.value, str)}
    return frozenset(held.union(node.attr for node in within(function, ast.Attribute)))


@kept
def _filled_names(function: ast.AST) -> frozenset[str]:
    """Return the names of what a function fills: `self.scale.data.fill_(1)`,
    `init.ones_(module.scale)`, `self.scale[0] = 1`, `self.scale.data = ...`.
    """
    filled = chain.from_iterable(map(_filled, ast.walk(function)))
    return frozenset(map(last_word, filled))


def _whole(node: ast.expr) -> ast.expr:
    """`scale` of `scale[0][1]`."""
    while isinstance(node, ast.Subscript):
        node = node.value
    return node


def _filled(node: ast.AST) -> Iterable[ast.AST]:
    """Return the expressions that a call or an assignment may fill."""
    match node:
        case ast.Assign(targets=targets):
            parts = (one for one in targets if isinstance(one, ast.Subscript | ast.Attribute))
            return [_whole(part.value) for part in parts]
        case ast.Call() if _fills(syntax.method(node)):
            return ast.walk(node)
    return ()


@kept
def _loops_over_parameters(function: ast.AST) -> bool:
    return not _ALL_PARAMETERS.isdisjoint(syntax.attributes(ast.walk(function)))


def _is_reported(order: Order, load: Call) -> bool:
    """Return whether the program says how much of the checkpoint it took: `log.info(f"{len(state)}
    of {len(model.state_dict())}")`.
    """
    state = load.argument(0, "state_dict")
    counts = (step for step in order.calls("builtins.len") if step.first is state)
    counted = {id(step.result) for step in counts}
    said = chain.from_iterable(map(attrgetter("inputs"), order.methods(*_LOGS)))
    origins = chain.from_iterable(islice(value.origin(), 30) for value in said)
    return not counted.isdisjoint(map(id, origins))


def _is_dropped(call: Call) -> bool:
    return isinstance(call.parent, ast.Expr)
