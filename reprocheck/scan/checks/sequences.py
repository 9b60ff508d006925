"""Where something without an order becomes a sequence, and whether that order can decide a
result.
"""

from __future__ import annotations

import ast
import re
from dataclasses import dataclass

from reprocheck.scan.checks import tables, unread
from reprocheck.scan.names import last_word
from reprocheck.scan.order import Order
from reprocheck.scan.project import Module
from reprocheck.scan.steps import Call, Loop, Step, Store
from reprocheck.scan.values import Function, Items, Value

_BLIND = frozenset(
    {
        "builtins.next",
        "builtins.sorted",
        "builtins.len",
        "builtins.set",
        "builtins.frozenset",
        "builtins.sum",
        "builtins.any",
        "builtins.all",
        "builtins.max",
    }
    | {
        "builtins.min",
        "builtins.isinstance",
        "builtins.bool",
        "builtins.print",
        "builtins.repr",
        "builtins.str",
        "builtins.type",
        "builtins.id",
    }
    | {
        "natsort.natsorted",
        "natsort.os_sorted",
        "collections.Counter",
        "numpy.unique",
        "numpy.sort",
        "shutil.rmtree",
        "os.remove",
        "json.dumps",
    }
    | {
        "builtins.dict.fromkeys",
        "heapq.nsmallest",
        "heapq.nlargest",
        "math.fsum",
        "statistics.mean",
        "logging.info",
        "builtins.format",
    }
    | {"natsort.realsorted", "natsort.humansorted"}
)
"""What gives the same whatever the order of what it is given."""
_SEQUENCES = frozenset(
    {
        "builtins.list",
        "builtins.tuple",
        "builtins.enumerate",
        "builtins.zip",
        "builtins.iter",
        "builtins.reversed",
        "builtins.map",
        "builtins.filter",
    }
    | {
        "itertools.chain",
        "itertools.islice",
        "itertools.cycle",
        "itertools.product",
        "tqdm.tqdm",
        "tqdm.auto.tqdm",
        "tqdm.trange",
        "rich.progress.track",
    }
    | {
        "numpy.array",
        "numpy.asarray",
        "torch.tensor",
        "collections.deque",
        "builtins.next",
        "itertools.chain.from_iterable",
        "collections.OrderedDict",
    }
)
_NUMBERED = frozenset(
    {
        "builtins.enumerate",
        "builtins.zip",
        "torch.tensor",
        "numpy.array",
        "itertools.cycle",
        "torch.utils.data.Subset",
    }
)
_SORTS = frozenset({"sort", "sorted", "natsorted", "os_sorted", "sort_values"})
_GROWS = frozenset({"append", "extend", "insert", "appendleft"})
_ASKS = frozenset(
    {
        "count",
        "remove",
        "discard",
        "add",
        "update",
        "issubset",
        "issuperset",
        "isdisjoint",
        "difference_update",
        "intersection",
        "union",
        "clear",
    }
)
_LOGS = re.compile(r"^(print|debug|info|warn|warning|error|log|write|exception)$")
_FILLS = re.compile(
    r"^(put|put_nowait|push|enqueue|add_(token|word|symbol|module|node|class|label|special_token)s?)$"
)
"""Methods by which something is put into an object that keeps it in the order in which it came."""
_DEEPEST = 4
_MOST_FUNCTIONS = 20
"""Functions that are looked into from the body of one loop."""


HANDED_ON = "its elements are handed on in that order"
_TRAINS = frozenset({"backward", "train_on_batch", "apply_gradients", "partial_fit"})


@dataclass(frozen=True, slots=True)
class Use:
    """A use by which an order decides something.

    Strong: what comes out depends on positions; else an order that may matter later.
    """

    step: Step
    strong: bool
    how: str


def decided(order: Order, value: Value, depth: int = 0) -> Use | None:
    """The first use of an unordered value that keeps the order that it happens to have; None where
    all uses are blind to it.
    """
    found = [
        use
        for step in order.uses(value)
        if (use := _of_step(order, step, value, depth)) is not None
    ]
    return next((use for use in found if use.strong), found[0] if found else None)


def is_sorted_later(order: Order, value: Value) -> bool:
    """Whether a sequence is sorted, or only asked for what has no order, as its largest element."""
    uses = [
        step for step in order.uses(value) if not (isinstance(step, Call) and step.method in _GROWS)
    ]
    if any(isinstance(step, Call) and step.method in _SORTS for step in uses):
        return True
    return bool(uses) and all(isinstance(step, Call) and step.name in _BLIND for step in uses)


def _of_step(order: Order, step: Step, value: Value, depth: int) -> Use | None:
    if isinstance(step, Store) or depth > _DEEPEST:
        return None
    if isinstance(step, Loop):
        return _of_loop(order, step, depth)
    if (
        not isinstance(step, Call)
        or step.name in _BLIND
        or step.method in _ASKS
        or step.method in _SORTS
    ):
        return None
    if step.name in _SEQUENCES:
        strong = step.name in _NUMBERED
        return (
            None
            if is_blindly_used(step.node, step)
            else _of_sequence(order, step, step.result, depth, strong)
        )
    if tables.draws().get(step.name) is not None or step.name.startswith(
        ("random.Random()", "numpy.random.default_rng()", "numpy.random.RandomState()")
    ):
        return Use(step, True, f"{step.method} picks from it by position")
    return None


def _of_sequence(order: Order, step: Step, made: Value, depth: int, strong: bool) -> Use | None:
    """A sequence was made: it counts unless it is sorted later, or all that is done with it is
    blind to order.
    """
    if (
        is_sorted_later(order, made)
        or unread.is_only_asked(step)
        or unread.is_of_one(step)
        or _is_added_and_sorted(step)
    ):
        return None
    if unread.is_thrown_away(step.module, step.node):
        return None
    uses = [one for one in order.uses(made) if one is not step]
    inner = decided(order, made, depth + 1) if uses else None
    if strong and not (isinstance(step, Call) and unread.is_paired_with_constants(step)):
        return Use(step, True, "it is numbered in that order")
    if inner is not None:
        return Use(step, inner.strong, inner.how)
    blind = uses and all(
        _is_blind(one) or (isinstance(one, Call) and one.name in _SEQUENCES) for one in uses
    )
    return None if blind else Use(step, False, "it becomes a sequence")


def _is_added_and_sorted(step: Step) -> bool:
    """`paths += [...]`, and the function sorts `paths`."""
    statement = step.module.parent(step.node)
    return isinstance(statement, ast.AugAssign) and _is_sorted_in_text(
        step, step.node, statement.target
    )


def _is_blind(step: Step) -> bool:
    if not isinstance(step, Call):
        return isinstance(step, Loop)
    return (
        step.name in _BLIND
        or step.method in _ASKS
        or bool(_LOGS.match(step.method))
        or unread.is_each_by_itself(step)
    )


def is_blindly_used(node: ast.AST, step: Step) -> bool:
    """Whether an expression stands in a call that is blind to order: `sorted(x for x in names)`,
    `len(list(names))`; or in a test.
    """
    parent = step.module.parent(node)
    if isinstance(parent, ast.Starred | ast.keyword):
        parent = step.module.parent(parent)
    if isinstance(parent, ast.Call) and parent.func is not node:
        name = step.module.names.of(parent.func) or ""
        method = (
            parent.func.attr if isinstance(parent.func, ast.Attribute) else name.rpartition(".")[2]
        )
        return (
            name in _BLIND
            or method in _ASKS
            or method in _SORTS
            or bool(_LOGS.match(method))
            or (method == "join" and _is_message(step, parent))
        )
    if isinstance(parent, ast.For | ast.comprehension):
        return isinstance(parent, ast.For) and all(_is_said(statement) for statement in parent.body)
    return isinstance(
        parent, ast.Compare | ast.FormattedValue | ast.Assert | ast.If | ast.While | ast.Raise
    )


def _is_said(statement: ast.stmt) -> bool:
    """Whether a statement is `print(...)` or `log.debug(...)`; what is written to a file may be
    read again.
    """
    call = statement.value if isinstance(statement, ast.Expr) else None
    return isinstance(call, ast.Call) and _name(call) != "write" and bool(_LOGS.match(_name(call)))


def _is_message(step: Step, node: ast.AST) -> bool:
    """Whether text is joined to be read."""
    at: ast.AST | None = node
    while at is not None and not isinstance(at, ast.stmt):
        at = step.module.parent(at)
        if isinstance(at, ast.FormattedValue | ast.JoinedStr | ast.Raise):
            return True
        if isinstance(at, ast.Call) and _LOGS.match(
            at.func.attr if isinstance(at.func, ast.Attribute) else getattr(at.func, "id", "")
        ):
            return True
    return isinstance(at, ast.Raise | ast.Assert)


def _of_loop(order: Order, loop: Loop, depth: int) -> Use | None:
    node = loop.node
    if isinstance(node, ast.SetComp | ast.DictComp):
        return _in_dict(loop, node) if isinstance(node, ast.DictComp) else None
    if isinstance(node, ast.ListComp | ast.GeneratorExp):
        if is_blindly_used(node, loop):
            return None
        made = order.value_of(node)
        return (
            _of_sequence(order, loop, made, depth, strong=False)
            if isinstance(made, Items)
            else Use(loop, False, "it becomes a sequence")
        )
    if isinstance(node, ast.For | ast.AsyncFor):
        return _of_body(order, loop, node, depth)
    return None


def _in_dict(loop: Loop, node: ast.DictComp) -> Use | None:
    """`{name: next(counter) for name in names}`."""
    for part in ast.walk(node.value):
        if (
            isinstance(part, ast.Call)
            and part.args
            and loop.module.names.of(part.func) == "builtins.next"
        ):
            return Use(loop, True, "its elements are numbered in that order")
    return None


def consumer(order: Order, step: Step) -> Step | None:
    """Where the program goes over what the generator function around a step hands on: the call of
    the function, or the loop.
    """
    module, node = step.through[-1] if step.through else (step.module, step.module.tree)
    for one in order.at(module, node) if isinstance(node, ast.Call | ast.For) else ():
        if isinstance(one, Loop):
            return one
        if (
            isinstance(one, Call)
            and one.own
            and one.by is None
            and isinstance(one.result, Items)
            and one.result.kind == "generator"
        ):
            return one
    return None


def _handed_on(order: Order, loop: Loop, depth: int) -> Use | None:
    """What a generator function gives is used where the program goes over it; a library that does
    so keeps the order.
    """
    place = consumer(order, loop) if depth <= _DEEPEST else None
    if isinstance(place, Loop):
        return _of_loop(order, place, depth + 1)
    return (
        decided(order, place.result, depth + 1)
        if isinstance(place, Call)
        else Use(loop, False, HANDED_ON)
    )


def _of_body(order: Order, loop: Loop, node: ast.For | ast.AsyncFor, depth: int) -> Use | None:
    """What a loop does with one element after the other."""
    parts = [part for statement in node.body for part in ast.walk(statement)]
    if any(isinstance(part, ast.Call) and _name(part) in _SORTS for part in parts):
        return None
    if _numbers(parts):
        return Use(loop, True, "its elements are numbered in that order")
    if draw := next(
        (part for part in parts if isinstance(part, ast.Call) and _is_draw(loop, part)), None
    ):
        return Use(loop, True, f"each turn draws a random number ({ast.unparse(draw.func)})")
    if any(isinstance(part, ast.Call) and _name(part) in _TRAINS for part in parts):
        return Use(loop, True, "each turn trains on one")
    if (own := _in_own_functions(order, loop, parts)) is not None:
        return own
    for part in parts:
        if isinstance(part, ast.Yield | ast.YieldFrom):
            return _handed_on(order, loop, depth)
        if (
            isinstance(part, ast.Call)
            and isinstance(part.func, ast.Attribute)
            and _FILLS.match(part.func.attr)
        ):
            return Use(loop, False, "its elements are put somewhere in that order")
        if (
            isinstance(part, ast.Call)
            and _name(part) in _GROWS
            and isinstance(part.func, ast.Attribute)
        ):
            grown = order.value_of(part.func.value)
            if (
                not is_sorted_later(order, grown)
                and not _is_sorted_in_text(loop, node, part.func.value)
                and not _is_kept_by_key(part.func.value, node)
            ):
                return Use(loop, False, "its elements are collected in that order")
    return None


def _in_own_functions(order: Order, loop: Loop, parts: list[ast.AST]) -> Use | None:
    """What the user's own functions do that the body of a loop calls: number an element, draw for
    it, or keep it in an object.
    """
    for function in _called(order, parts):
        inner = [part for statement in function.node.body for part in ast.walk(statement)]
        if any(isinstance(part, ast.Call) and _name(part) in _SORTS for part in inner):
            continue
        if _numbers(inner):
            return Use(loop, True, f"`{function.node.name}` numbers its elements in that order")
        for part in inner:
            if isinstance(part, ast.Call) and _keeps_in_object(order, function, part):
                return Use(
                    loop, False, f"`{function.node.name}` collects its elements in that order"
                )
    return None


@dataclass(frozen=True, slots=True)
class Own:
    """A function of the user's, and its module."""

    node: ast.FunctionDef | ast.AsyncFunctionDef
    module: Module


def _called(order: Order, parts: list[ast.AST]) -> list[Own]:
    """The user's functions that are called in a body, and those that they call."""
    found: dict[int, Own] = {}
    waiting = list(parts)
    while waiting and len(found) < _MOST_FUNCTIONS:
        part = waiting.pop(0)
        if not isinstance(part, ast.Call):
            continue
        for option in order.value_of(part.func).options():
            if (
                not isinstance(option, Function)
                or isinstance(option.node, ast.Lambda)
                or id(option.node) in found
            ):
                continue
            found[id(option.node)] = Own(option.node, option.module)
            waiting += [inner for statement in option.node.body for inner in ast.walk(statement)]
    return list(found.values())


def _keeps_in_object(order: Order, function: Own, call: ast.Call) -> bool:
    """`self.words.append(word)`, where nothing sorts the words."""
    target = (
        call.func.value if isinstance(call.func, ast.Attribute) and _name(call) in _GROWS else None
    )
    if not isinstance(target, ast.Attribute):
        return False
    return not is_sorted_later(order, order.value_of(target)) and not _is_sorted_around(
        function.module.tree, target
    )


def _is_kept_by_key(target: ast.AST, node: ast.For | ast.AsyncFor) -> bool:
    """`groups[key].append(...)`, lists that begin anew in each turn, and the folders that `os.walk`
    will go into.
    """
    if isinstance(target, ast.Subscript):
        return True
    if isinstance(target, ast.Name) and any(
        isinstance(part, ast.Name) and part.id == target.id for part in ast.walk(node.target)
    ):
        return True
    return isinstance(target, ast.Name) and any(
        isinstance(part, ast.Assign)
        and any(isinstance(one, ast.Name) and one.id == target.id for one in part.targets)
        for statement in node.body
        for part in ast.walk(statement)
    )


def _is_sorted_in_text(loop: Step, node: ast.AST, target: ast.AST) -> bool:
    """Whether the same function, or module for attributes, sorts what has this name."""
    around: ast.AST = loop.module.function_of(node) or loop.module.tree
    return _is_sorted_around(
        loop.module.tree if isinstance(target, ast.Attribute) else around, target
    )


def _is_sorted_around(around: ast.AST, target: ast.AST) -> bool:
    wanted = ast.unparse(target)
    for part in ast.walk(around):
        if isinstance(part, ast.Call):
            if (
                isinstance(part.func, ast.Attribute)
                and part.func.attr == "sort"
                and ast.unparse(part.func.value) == wanted
            ):
                return True
            if _name(part) in _SORTS and part.args and wanted in ast.unparse(part.args[0]):
                return True
    return False


def _numbers(parts: list[ast.AST]) -> bool:
    """`index[name] = len(index)`, `index[name] = count` with `count += 1`."""
    counters = {
        part.target.id
        for part in parts
        if isinstance(part, ast.AugAssign)
        and isinstance(part.target, ast.Name)
        and isinstance(part.value, ast.Constant)
    }
    for part in parts:
        if isinstance(part, ast.Assign) and any(
            isinstance(target, ast.Subscript) for target in part.targets
        ):
            if isinstance(part.value, ast.Name) and part.value.id in counters:
                return True
            if isinstance(part.value, ast.Call) and _name(part.value) == "len" and part.value.args:
                wanted = ast.unparse(part.value.args[0])
                if any(
                    isinstance(target, ast.Subscript) and ast.unparse(target.value) == wanted
                    for target in part.targets
                ):
                    return True
        if (
            isinstance(part, ast.Call)
            and _name(part) == "setdefault"
            and isinstance(part.args[-1], ast.Call)
            and _name(part.args[-1]) == "len"
        ):
            return True
    return False


def _is_draw(loop: Loop, node: ast.Call) -> bool:
    name = loop.module.names.of(node.func)
    known = tables.draws().get(name) if name else None
    if known is None or known.when != "call" or known.stream not in ("python", "numpy", "torch"):
        return False
    return known.kind != "weights" or (name or "").startswith("torch.nn.init.")


def _name(node: ast.Call) -> str:
    return last_word(node.func)


def is_sorting(module: Module, node: ast.Call) -> bool:
    """Whether a call sorts, or is blind to order otherwise."""
    return _name(node) in _SORTS or (module.names.of(node.func) or "") in _BLIND
