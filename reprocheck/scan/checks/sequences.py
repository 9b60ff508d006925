"""Where something without an order becomes a sequence, and whether that order can decide a
result.
"""

from __future__ import annotations

import ast
import re
from dataclasses import dataclass

from reprocheck.scan.checks import tables, unread
from reprocheck.scan.index import within
from reprocheck.scan.names import last_word
from reprocheck.scan.order import Order
from reprocheck.scan.project import Module
from reprocheck.scan.steps import Call, Loop, Step
from reprocheck.scan.values import Function, Items, Value

_BLIND = tables.texts("orders", "blind")
"""What gives the same whatever the order of what it is given."""
_SEQUENCES = tables.texts("orders", "sequences")
_NUMBERED = tables.texts("orders", "numbered")
_SORTS = frozenset({"sort", "sorted", "natsorted", "os_sorted", "sort_values"})
_GROWS = frozenset({"append", "extend", "insert", "appendleft"})
_ASKS = tables.texts("orders", "asks")
_GENERATORS = ("random.Random()", "numpy.random.default_rng()", "numpy.random.RandomState()")
_NUMBERED_IN_ORDER = "its elements are numbered in that order"
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
    weak: Use | None = None
    for step in order.uses(value):
        use = _of_step(order, step, value, depth)
        if use is not None and use.strong:
            return use
        weak = weak or use
    return weak


def is_sorted_later(order: Order, value: Value) -> bool:
    """Whether a sequence is sorted, or only asked for what has no order, as its largest element."""
    blind = True
    uses = 0
    for step in order.uses(value):
        method = step.method if isinstance(step, Call) else ""
        if method in _SORTS:
            return True
        if method in _GROWS:
            continue
        uses += 1
        blind = blind and isinstance(step, Call) and step.name in _BLIND
    return uses > 0 and blind


def _of_step(order: Order, step: Step, value: Value, depth: int) -> Use | None:
    if depth > _DEEPEST:
        return None
    if isinstance(step, Loop):
        return _of_loop(order, step, depth)
    if not isinstance(step, Call) or _ignores_order(step.name, step.method):
        return None
    if step.name in _SEQUENCES:
        if is_blindly_used(step.node, step):
            return None
        return _of_sequence(order, step, step.result, depth, step.name in _NUMBERED)
    if tables.draws().get(step.name) is not None or step.name.startswith(_GENERATORS):
        return Use(step, True, f"{step.method} picks from it by position")
    return None


def _ignores_order(name: str, method: str) -> bool:
    """Whether a call sorts, asks, or gives the same in any order."""
    return name in _BLIND or method in _ASKS or method in _SORTS


def _of_sequence(order: Order, step: Step, made: Value, depth: int, strong: bool) -> Use | None:
    """A sequence was made: it counts unless it is sorted later, or all that is done with it is
    blind to order.
    """
    if is_sorted_later(order, made) or _is_added_and_sorted(step):
        return None
    if unread.is_only_asked(step) or unread.is_of_one(step):
        return None
    if unread.is_thrown_away(step.module, step.node):
        return None
    if strong and not (isinstance(step, Call) and unread.is_paired_with_constants(step)):
        return Use(step, True, "it is numbered in that order")
    uses = [one for one in order.uses(made) if one is not step]
    inner = decided(order, made, depth + 1) if uses else None
    if inner is not None:
        return Use(step, inner.strong, inner.how)
    if uses and all(_is_blind(one) or _makes_sequence(one) for one in uses):
        return None
    return Use(step, False, "it becomes a sequence")


def _makes_sequence(step: Step) -> bool:
    return isinstance(step, Call) and step.name in _SEQUENCES


def _is_added_and_sorted(step: Step) -> bool:
    """`paths += [...]`, and the function sorts `paths`."""
    statement = step.module.parent(step.node)
    return isinstance(statement, ast.AugAssign) and _is_sorted_in_text(
        step, step.node, statement.target
    )


def _is_blind(step: Step) -> bool:
    if not isinstance(step, Call):
        return isinstance(step, Loop)
    if step.name in _BLIND or step.method in _ASKS or _LOGS.match(step.method):
        return True
    return unread.is_each_by_itself(step)


_TESTS = (ast.Compare, ast.FormattedValue, ast.Assert, ast.If, ast.While, ast.Raise)
"""Where an expression is looked at, or told, and no more."""


def is_blindly_used(node: ast.AST, step: Step) -> bool:
    """Whether an expression stands in a call that is blind to order: `sorted(x for x in names)`,
    `len(list(names))`; or in a test.
    """
    parent = step.module.parent(node)
    if isinstance(parent, ast.Starred | ast.keyword):
        parent = step.module.parent(parent)
    if isinstance(parent, ast.Call) and parent.func is not node:
        return _takes_blindly(parent, step)
    if isinstance(parent, ast.For):
        return all(_is_said(statement) for statement in parent.body)
    return isinstance(parent, _TESTS)


def _takes_blindly(call: ast.Call, step: Step) -> bool:
    """Whether a call does the same with its arguments in any order, or shows them."""
    name = step.module.names.of(call.func) or ""
    method = name.rpartition(".")[2]
    if isinstance(call.func, ast.Attribute):
        method = call.func.attr
    if _ignores_order(name, method) or _LOGS.match(method):
        return True
    return method == "join" and _is_message(step, call)


def _is_said(statement: ast.stmt) -> bool:
    """Whether a statement is `print(...)` or `log.debug(...)`; what is written to a file may be
    read again.
    """
    match statement:
        case ast.Expr(value=ast.Call() as call):
            return _name(call) != "write" and bool(_LOGS.match(_name(call)))
    return False


def _is_message(step: Step, node: ast.AST) -> bool:
    """Whether text is joined to be read."""
    for at in (node, *step.module.around(node)):
        if isinstance(at, ast.FormattedValue | ast.JoinedStr | ast.Raise | ast.Assert):
            return True
        if isinstance(at, ast.stmt):
            return False
        if isinstance(at, ast.Call) and _LOGS.match(_name(at)):
            return True
    return False


def _of_loop(order: Order, loop: Loop, depth: int) -> Use | None:
    node = loop.node
    match node:
        case ast.DictComp():
            return _in_dict(loop, node)
        case ast.For() | ast.AsyncFor():
            return _of_body(order, loop, node, depth)
        case ast.ListComp() | ast.GeneratorExp():
            if is_blindly_used(node, loop):
                return None
            made = order.value_of(node)
            if isinstance(made, Items):
                return _of_sequence(order, loop, made, depth, strong=False)
            return Use(loop, False, "it becomes a sequence")
    return None


def _in_dict(loop: Loop, node: ast.DictComp) -> Use | None:
    """`{name: next(counter) for name in names}`."""
    for call in within(node.value, ast.Call):
        if call.args and loop.module.names.of(call.func) == "builtins.next":
            return Use(loop, True, _NUMBERED_IN_ORDER)
    return None


def consumer(order: Order, step: Step) -> Step | None:
    """Where the program goes over what the generator function around a step hands on: the call of
    the function, or the loop.
    """
    if not step.through:
        return None
    module, node = step.through[-1]
    if not isinstance(node, ast.Call | ast.For):
        return None
    for one in order.at(module, node):
        match one:
            case Loop() | Call(own=True, by=None, result=Items(kind="generator")):
                return one
    return None


def _handed_on(order: Order, loop: Loop, depth: int) -> Use | None:
    """What a generator function gives is used where the program goes over it; a library that does
    so keeps the order.
    """
    place = consumer(order, loop) if depth <= _DEEPEST else None
    if isinstance(place, Loop):
        return _of_loop(order, place, depth + 1)
    if isinstance(place, Call):
        return decided(order, place.result, depth + 1)
    return Use(loop, False, HANDED_ON)


def _of_body(order: Order, loop: Loop, node: ast.For | ast.AsyncFor, depth: int) -> Use | None:
    """What a loop does with one element after the other."""
    parts = [part for statement in node.body for part in ast.walk(statement)]
    calls = [part for part in parts if isinstance(part, ast.Call)]
    called = {_name(call) for call in calls}
    if called & _SORTS:
        return None
    if _numbers(parts):
        return Use(loop, True, _NUMBERED_IN_ORDER)
    for call in calls:
        if _is_draw(loop, call):
            drawn = ast.unparse(call.func)
            return Use(loop, True, f"each turn draws a random number ({drawn})")
    if called & _TRAINS:
        return Use(loop, True, "each turn trains on one")
    own = _in_own_functions(order, loop, parts)
    if own is not None:
        return own
    for part in parts:
        match part:
            case ast.Yield() | ast.YieldFrom():
                return _handed_on(order, loop, depth)
            case ast.Call(func=ast.Attribute(attr=method)) if _FILLS.match(method):
                return Use(loop, False, "its elements are put somewhere in that order")
            case ast.Call(func=ast.Attribute(attr=method, value=grown)) if method in _GROWS:
                if _is_collected(order, loop, node, grown):
                    return Use(loop, False, "its elements are collected in that order")
    return None


def _is_collected(order: Order, loop: Loop, node: ast.For | ast.AsyncFor, grown: ast.expr) -> bool:
    """Whether a list that a loop appends to keeps the order of the loop."""
    if is_sorted_later(order, order.value_of(grown)) or _is_sorted_in_text(loop, node, grown):
        return False
    return not _is_kept_by_key(grown, node)


def _in_own_functions(order: Order, loop: Loop, parts: list[ast.AST]) -> Use | None:
    """What the user's own functions do that the body of a loop calls: number an element, draw for
    it, or keep it in an object.
    """
    for function in _called(order, parts):
        inner = [part for statement in function.node.body for part in ast.walk(statement)]
        calls = [part for part in inner if isinstance(part, ast.Call)]
        if any(_name(call) in _SORTS for call in calls):
            continue
        name = function.node.name
        if _numbers(inner):
            return Use(loop, True, f"`{name}` numbers its elements in that order")
        if any(_keeps_in_object(order, function, call) for call in calls):
            return Use(loop, False, f"`{name}` collects its elements in that order")
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
            match option:
                case Function(node=ast.FunctionDef() | ast.AsyncFunctionDef() as node):
                    if id(node) not in found:
                        found[id(node)] = Own(node, option.module)
                        waiting += within(node.body, ast.Call)
    return list(found.values())


def _keeps_in_object(order: Order, function: Own, call: ast.Call) -> bool:
    """`self.words.append(word)`, where nothing sorts the words."""
    match call.func:
        case ast.Attribute(attr=method, value=ast.Attribute() as target) if method in _GROWS:
            if is_sorted_later(order, order.value_of(target)):
                return False
            return not _is_sorted_around(function.module.tree, target)
    return False


def _is_kept_by_key(target: ast.AST, node: ast.For | ast.AsyncFor) -> bool:
    """`groups[key].append(...)`, lists that begin anew in each turn, and the folders that `os.walk`
    will go into.
    """
    if not isinstance(target, ast.Name):
        return isinstance(target, ast.Subscript)
    given = list(within(node.target, ast.Name))
    for assignment in within(node.body, ast.Assign):
        given += [one for one in assignment.targets if isinstance(one, ast.Name)]
    return any(name.id == target.id for name in given)


def _is_sorted_in_text(loop: Step, node: ast.AST, target: ast.AST) -> bool:
    """Whether the same function, or module for attributes, sorts what has this name."""
    around: ast.AST = loop.module.tree
    if not isinstance(target, ast.Attribute):
        around = loop.module.function_of(node) or around
    return _is_sorted_around(around, target)


def _is_sorted_around(around: ast.AST, target: ast.AST) -> bool:
    wanted = ast.unparse(target)
    for call in within(around, ast.Call):
        if _name(call) not in _SORTS:
            continue
        if call.args and wanted in ast.unparse(call.args[0]):
            return True
        match call.func:
            case ast.Attribute(attr="sort", value=whole) if ast.unparse(whole) == wanted:
                return True
    return False


def _numbers(parts: list[ast.AST]) -> bool:
    """`index[name] = len(index)`, `index[name] = count` with `count += 1`."""
    counters: set[str] = set()
    for part in parts:
        match part:
            case ast.AugAssign(target=ast.Name(id=name), value=ast.Constant()):
                counters.add(name)
    return any(_is_numbering(part, counters) for part in parts)


def _is_numbering(part: ast.AST, counters: set[str]) -> bool:
    match part:
        case ast.Assign(targets=targets, value=ast.Name(id=name)):
            return name in counters and any(isinstance(one, ast.Subscript) for one in targets)
        case ast.Assign(targets=targets, value=ast.Call(args=[counted, *_]) as call):
            if _name(call) != "len":
                return False
            filled = [one.value for one in targets if isinstance(one, ast.Subscript)]
            return ast.unparse(counted) in [ast.unparse(one) for one in filled]
        case ast.Call(args=[*_, ast.Call() as default]):
            return _name(part) == "setdefault" and _name(default) == "len"
    return False


def _is_draw(loop: Loop, node: ast.Call) -> bool:
    name = loop.module.names.of(node.func) or ""
    known = tables.draws().get(name)
    if known is None or known.when != "call" or known.stream not in _STREAMS:
        return False
    return known.kind != "weights" or name.startswith("torch.nn.init.")


_STREAMS = ("python", "numpy", "torch")


def _name(node: ast.Call) -> str:
    return last_word(node.func)


def is_sorting(module: Module, node: ast.Call) -> bool:
    """Whether a call sorts, or is blind to order otherwise."""
    return _name(node) in _SORTS or (module.names.of(node.func) or "") in _BLIND
