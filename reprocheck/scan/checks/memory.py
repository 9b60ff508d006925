"""Find what weights hold that changes from run to run.

Uninitialized memory, checkpoints that fill only a part of them, and what replaces drawn weights
later.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator
from dataclasses import replace
from functools import partial
from itertools import chain, islice
from operator import attrgetter

from reprocheck.scan import syntax
from reprocheck.scan.checks import other_programs, streams
from reprocheck.scan.checks.streams import given, seeded_before
from reprocheck.scan.index import within
from reprocheck.scan.memo import kept
from reprocheck.scan.names import last_word
from reprocheck.scan.order import Order
from reprocheck.scan.registry import Hit, check_orders, check_programs, hit
from reprocheck.scan.steps import Call, Condition, Step, Store
from reprocheck.scan.values import Either, Instance, Items, Made, Part, Value, literal, reached
from reprocheck.scan.vocabulary import names, pattern, words

EMPTY = names("memory", "empty")
_KEEPS = names("memory", "keeps")
_FILLS = pattern("memory", "fills")
_FILL_METHODS = words("memory", "fill_methods")
_VIEWS = words("memory", "views")
_SHAPES = names("memory", "shapes")
_KEPT_AS = {True: "buffer", False: "parameter"}
_BUFFERS = frozenset({"register_buffer", "Buffer"})
_WHOLE_LOADS = ("load_state_dict", "load_param_into_net")
_MINDSPORE_LOADS = names("memory", "mindspore_loads")
_ALL_PARAMETERS = words("memory", "all_parameters")
_LOGS = names("memory", "logs")
_OPTIMIZER = re.compile("optim|schedul")
_MOST = 500
_INITIALISERS = re.compile(r"init|reset|load|weight|materiali[sz]e|from_float|quant|fill")


@check_orders("RC303")
def unfilled(order: Order) -> Iterator[Hit]:
    """Find uninitialized memory in a parameter, a buffer, or an input of a layer."""
    for call in order.calls(*EMPTY):
        if not _is_allocation(call) or given(call, "device=meta", sure=True):
            continue
        keeper = _keeper(order, call)
        if keeper is not None:
            if _is_read(call) and not _may_be_filled(order, call, keeper):
                what = _KEPT_AS[keeper.method in _BUFFERS]
                message = f"this {what} is `{call.name}`, memory as it was, and nothing fills it"
                yield hit("RC303", call, message)
        elif order.whole:
            layer = _layer_given(order, call)
            if layer is None or _may_be_filled(order, call, call):
                continue
            if any(_is_part(value, {id(call.result)}) for value in layer.inputs):
                yield hit("RC303", call, f"a layer is given `{call.name}`, memory as it was")


def _layer_given(order: Order, call: Call) -> Step | None:
    """Return the first layer of torch that gets the result of a call.

    A function such as `functional.relu` counts, too.
    """
    for step in order.flow(call.result):
        is_layer = step.method == "__call__" and step.called.startswith("torch.nn.")
        if is_layer or step.named("torch.nn.functional.*"):
            return step
    return None


def _may_be_filled(order: Order, call: Call, kept: Call) -> bool:
    values = {id(call.result), id(kept.result)}
    steps = chain(order.flow(call.result), order.flow(kept.result))
    filling = (step for step in steps if step is not kept and _is_filling(order, step))
    filled = chain.from_iterable(map(attrgetter("inputs"), filling))
    targets = (store.target for store in order.stores() if store.name.endswith(".data"))
    written = chain(filled, filter(None, targets))
    if any(_is_part(one, values) for one in written):
        return True
    # A checkpoint is loaded into the model, whole: then its parameters hold what that had.
    loads = (load for load in order.methods(*_WHOLE_LOADS) if not load.conditions)
    if any(not given(load, "strict=False", 1) for load in loads):
        return True
    return _is_named_in_initialiser(call)


@check_programs("RC305")
def partial_load(order: Order) -> Iterator[Hit]:
    """Find a `strict=False` load of a checkpoint if no code looks at the missing keys."""
    if other_programs.is_without_training(order):
        return
    for call in order.methods("load_state_dict"):
        is_partial_load = (
            not call.own
            and not _OPTIMIZER.search(call.name.lower())
            and _is_dropped(call)
            and given(call, "strict=False", 1, sure=True)
        )
        if not is_partial_load or _is_reported(order, call):
            continue
        message = (
            "with `strict=False` weights that the checkpoint lacks stay as they were drawn,"
            " and no code checks which these are"
        )
        # Most checkpoints of public code lack nothing that was drawn.
        is_seeded = seeded_before(order, call, frozenset({"torch"})) is not None
        is_minor = is_seeded or not order.root.single
        yield hit("RC305", call, message, severity="note" if is_minor else None)


@check_programs("RC305")
def partial_in_mindspore(order: Order) -> Iterator[Hit]:
    """Find a checkpoint of MindSpore that is loaded without `strict_load=True`.

    No code looks at the missing weights.
    """
    for call in order.calls(*_MINDSPORE_LOADS):
        if _is_dropped(call) and not given(call, "strict_load=True", 2, sure=True):
            message = (
                "weights that the checkpoint lacks stay as they were drawn, and no code checks"
                " which these are"
            )
            yield hit("RC305", call, message, severity="note")


def _is_allocation(call: Call) -> bool:
    """Return whether a call makes uninitialized memory.

    `torch.Tensor(3, 4)` does, `torch.Tensor([1.0])` and `torch.empty(0)` do not.
    """
    first = call.argument(0, *_SHAPES)
    if first is None or literal(first) in (0, (0,)):
        return False
    match first:
        case Made(call=Call(method="list", arguments=())):
            return False
    if call.name.endswith("Tensor"):
        # `torch.Tensor(3, 4)` allocates and `torch.Tensor(rows)` copies: sizes are numbers.
        sizes = map(literal, call.arguments)
        return len(call.arguments) > 1 or all(isinstance(size, int) for size in sizes)
    match first:
        case Items(items=items):
            return 0 not in map(literal, items)
    return True


def _is_read(call: Call) -> bool:
    """Return whether the module reads the attribute that the call's result is assigned to.

    Return True if the result is assigned to no attribute, but to a variable or buffer name.
    """
    names = syntax.attributes(syntax.targets(call.statement))
    if not names:
        return True
    read = filter(syntax.is_read, call.module.nodes(ast.Attribute))
    return not names.isdisjoint(syntax.attributes(read))


def _keeper(order: Order, call: Call) -> Call | None:
    """Return the call that makes a call's result a parameter or buffer; None without one."""
    for step in islice(order.uses(call.result), 20):
        is_kept = step.named(*_KEEPS) or step.method == "register_buffer"
        if isinstance(step, Call) and is_kept:
            return step
    return None


def _is_filling(order: Order, step: Step) -> bool:
    """Return whether a step may fill a tensor that it gets.

    False if the steps of the called function are recorded, because these are asked instead.
    """
    if not isinstance(step, Call) or (step.own and id(step.node) in _followed(order)):
        return False
    if step.own or step.named("torch.nn.init.*"):
        return _INITIALISERS.search(step.called) is not None
    return _fills(step.method) or "out" in step.keywords


@kept
def _followed(order: Order) -> frozenset[int]:
    """Return the ids of the nodes of those calls of user functions whose body was executed."""
    places = chain.from_iterable(step.through for step in order.steps)
    return frozenset(id(node) for _, node in places)


def _fills(method: str) -> bool:
    if method in _FILL_METHODS:
        return True
    return _FILLS.match(method) is not None and not method.endswith("__")


def _is_part(value: Value, wanted: set[int]) -> bool:
    """Return whether a value is one of the wanted values, a view of one, or holds one.

    A module or list holds one; a result that was computed from a wanted value is not one.
    """
    return any(id(one) in wanted for one in reached(value, _viewed, _MOST))


def _viewed(value: Value) -> Iterable[Value]:
    """Return the values that a value directly contains or is a view of."""
    match value:
        case Part() | Either() | Items() | Instance():
            return value.sources
        case Made(call=Call(method=method)) if method in _VIEWS:
            return value.sources
    return ()


def _is_named_in_initialiser(call: Call) -> bool:
    """Return whether other code may fill the attribute or buffer by its name.

    An `_init_weights` that mentions the name, a loader, or a loop, in the module or in one that
    imports it.
    """
    # the names and texts in the statement around the call, under which its result may be known
    statement = call.statement
    names = set(map(last_word, syntax.targets(statement)))
    match statement:
        case ast.Expr(value=ast.Call(func=ast.Attribute(attr="append", value=grown))):
            names.add(last_word(grown))
    constants = within(statement, ast.Constant)
    names.update(part.value for part in constants if isinstance(part.value, str))
    names.discard("")
    own = call.module.function_of(call.node)
    if own is not None and not names.isdisjoint(_filled_names(own)):
        return True
    users = (module for module in call.module.project if call.module in module.imports)
    functions = map(attrgetter("index.functions"), (call.module, *users))
    for function in chain.from_iterable(functions):
        if function is own:
            continue
        is_initialiser = _INITIALISERS.search(function.name) is not None
        if is_initialiser and _loops_over_parameters(function):
            return True
        if names.isdisjoint(_mentioned(function)):
            continue
        if is_initialiser or not names.isdisjoint(_filled_names(function)):
            return True
    return False


@kept
def _mentioned(function: ast.AST) -> frozenset[str]:
    """Return the names of all attributes and all constant texts in a function."""
    texts = within(function, ast.Constant)
    held = {text.value for text in texts if isinstance(text.value, str)}
    return frozenset(held.union(node.attr for node in within(function, ast.Attribute)))


@kept
def _filled_names(function: ast.AST) -> frozenset[str]:
    """Return the names of what a function fills.

    `self.scale.data.fill_(1)`, `init.ones_(module.scale)`, `self.scale[0] = 1`, `self.scale.data =
    ...`.
    """
    filled: list[ast.AST] = []
    for node in ast.walk(function):
        if isinstance(node, ast.Assign):
            for target in node.targets:
                if not isinstance(target, ast.Subscript | ast.Attribute):
                    continue
                part = target.value
                while isinstance(part, ast.Subscript):  # `scale` of `scale[0][1]`
                    part = part.value
                filled.append(part)
        elif isinstance(node, ast.Call) and _fills(syntax.method(node)):
            filled += ast.walk(node)
    return frozenset(map(last_word, filled))


@kept
def _loops_over_parameters(function: ast.AST) -> bool:
    return not _ALL_PARAMETERS.isdisjoint(syntax.attributes(ast.walk(function)))


def _is_reported(order: Order, load: Call) -> bool:
    """Return whether the program logs how many weights a checkpoint had.

    `log.info(f"{len(state)} of {len(model.state_dict())}")`
    """
    state = load.argument(0, "state_dict")
    counts = (step for step in order.calls("builtins.len") if step.first is state)
    counted = {id(step.result) for step in counts}
    said = chain.from_iterable(map(attrgetter("inputs"), order.methods(*_LOGS)))
    origins = chain.from_iterable(islice(value.origin(), 30) for value in said)
    return not counted.isdisjoint(map(id, origins))


def _is_dropped(call: Call) -> bool:
    return isinstance(call.parent, ast.Expr)


_OVERRIDDEN = words("memory", "overridden")
_LOADS = names("weights", "loads")
_FILLERS = words("weights", "fills")
_TORCH_INIT = "torch.nn.init."
DRAWS = frozenset({"normal_", "uniform_"})


def are_replaced(order: Order, layer: Call) -> bool:
    """Return whether all weights that a layer draws are replaced later on."""
    own = set(layer.conditions)
    # `if args.resume:`, the branch that goes on from a checkpoint
    asked = {last_word(condition.test) for condition in own if condition.taken}
    if not asked.isdisjoint({"resume", "resume_training"}):
        return True
    comes_later = partial(order.is_before, layer)
    if _are_loaded(own, filter(comes_later, order.methods(*_LOADS))):
        return True
    if any(_stores_weight(store, layer) and comes_later(store) for store in order.stores()):
        return True
    later = list(filter(comes_later, order.flow(layer.result)))
    for step in later:
        if step.method in _FILLERS and own.issuperset(step.conditions):
            tensor = _filled(step)
            if tensor is not None and _OVERRIDDEN.isdisjoint(keys(tensor.origin())):
                return True
    return _are_drawn_again(order, layer, later)


def _are_loaded(own: set[Condition], loads: Iterable[Step]) -> bool:
    """Return whether a checkpoint is loaded wherever the weights are drawn.

    Under no other conditions, or in the two branches of one question.
    """
    others = [set(load.conditions) - own for load in loads]
    branches: set[Condition] = set().union(*(one for one in others if len(one) == 1))
    opposites = (replace(branch, taken=not branch.taken) for branch in branches)
    return set() in others or not branches.isdisjoint(opposites)


def _stores_weight(store: Store, layer: Call) -> bool:
    """Return whether an assignment gives a layer another weight.

    As `layer.weight = nn.Parameter(...)`: where that is drawn, it is a draw of its own.
    """
    target = store.target
    if isinstance(target, Part) and store.name.endswith(".weight.data"):
        target = target.whole
    return store.name.endswith((".weight", ".weight.data")) and target is layer.result


def keys(values: Iterable[Value]) -> set[str | None]:
    """Return the names of those values that are attributes, as `fc` for `self.fc`."""
    return {value.key for value in values if isinstance(value, Part)}


def _filled(step: Step) -> Value | None:
    """Return the tensor that an initializer or a method that draws in place fills."""
    if isinstance(step, Call) and step.name.startswith(_TORCH_INIT):
        return step.argument(0)
    return getattr(step, "receiver", None)


_PLAIN = pattern("memory", "plain")


def _are_drawn_again(order: Order, layer: Call, later: list[Step]) -> bool:
    """Return whether all weights of a layer are drawn or filled again.

    By `reset_parameters`, in a loop over layers of its kind, or in a function given to `apply`.
    """
    own = set(layer.conditions)
    resets = (step for step in later if getattr(step, "name", "") == f"{layer.name}{streams.RESET}")
    if any(own.issuperset(one.conditions) for one in resets):
        return True
    if not _PLAIN.search(layer.name):
        return False
    applied = [step for step in later if step.method == "apply"]
    inside = (step for step in order.steps if step.by is not None and step.by in applied)
    kind = layer.name.rpartition(".")[2]
    filled: set[str | None] = set()
    for step in chain(later, inside):
        is_initialiser = getattr(step, "name", "").startswith(_TORCH_INIT)
        tensor = _filled(step)
        if tensor is None or not (is_initialiser or step.method in _FILLERS | DRAWS):
            continue
        if all(_is_of_kind(kind, one) for one in step.conditions if one not in own):
            filled |= keys(tensor.origin())
    bias = layer.keywords.get("bias")
    drawn = {"weight", "bias"}
    if layer.name.endswith(".Embedding") or (bias is not None and literal(bias) is False):
        drawn = {"weight"}
    return filled.issuperset(drawn)


def _is_of_kind(kind: str, condition: Condition) -> bool:
    """Return whether a condition holds for a layer of this kind.

    `isinstance(m, nn.Conv2d)`, `name.find("Conv") != -1`, or a test for a bias.
    """
    kinds: list[str] = []
    for part in within(condition.test, ast.Constant, ast.Attribute, ast.Name):
        word = str(part.value) if isinstance(part, ast.Constant) else last_word(part)
        kinds += filter(_KIND.search, (word, *map(str.capitalize, word.split("_"))))
    if not kinds:
        return condition.taken and _ASKS_FOR_ONE.search(ast.unparse(condition.test)) is not None
    return any(one in kind for one in kinds) is condition.taken


_ASKS_FOR_ONE = re.compile(r"is not None|hasattr")


_KIND = re.compile(r"^(Linear|Conv|Embedding|Batch|Instance|Group|Layer|LSTM|GRU|RNN)")
