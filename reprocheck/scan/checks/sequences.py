"""Find uses of something without an order by which this accidental order affects a result."""

from __future__ import annotations

import ast
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from itertools import chain, filterfalse
from operator import attrgetter
from typing import cast

from reprocheck.scan import syntax
from reprocheck.scan.checks import order_use, tables
from reprocheck.scan.index import of_kind, within
from reprocheck.scan.names import last_part
from reprocheck.scan.order import Order
from reprocheck.scan.project import Module
from reprocheck.scan.steps import Call, Loop, Step
from reprocheck.scan.values import Function, Items, Value
from reprocheck.scan.vocabulary import names, pattern, words

_BLIND = words("orders", "blind")
"""What gives the same whatever the order of what it is given."""
_SEQUENCES = words("orders", "sequences")
_NUMBERED = words("orders", "numbered")
_SORTS = words("orders", "sorts")
_GROWS = words("orders", "grows")
_ASKS = words("orders", "asks")
_GENERATORS = names("orders", "generators")
_BECOMES_SEQUENCE = "it becomes a sequence"
_NUMBERED_IN_ORDER = "its elements are numbered in that order"
_LOGS = words("orders", "logs")
_SAYS = _LOGS - {"write"}
"""What is written to a file may be read again."""
_HARMLESS_CALLS = _BLIND | _SEQUENCES
_HARMLESS_METHODS = _ASKS | _LOGS
_IGNORING_METHODS = _ASKS | _SORTS
_FILLS = pattern("orders", "fills")
_DEEPEST = 4
_MOST_FUNCTIONS = 20
"""Functions that are looked into from the body of one loop."""


HANDED_ON = "its elements are handed on in that order"
_TRAINS = words("orders", "trains")


@dataclass(frozen=True, slots=True)
class Use:
    """A use by which an order affects a result.

    step    the step that uses the order
    strong  whether the result depends on positions; else the order may matter later
    how     what the use does with the order, as the end of a sentence
    """

    step: Step
    strong: bool
    how: str


def decided(order: Order, value: Value, depth: int = 0) -> Use | None:
    """Return the first use of an unordered value that keeps its accidental order.

    A strong use first; None if the order affects no use.

    `depth` is how many sequences the recursion has gone through.
    """
    uses = (_of_step(order, step, depth) for step in order.uses(value))
    # The first one that is strong, else the first: `max` gives the first of those that are equal.
    return max(filter(None, uses), key=attrgetter("strong"), default=None)


def is_sorted_later(order: Order, value: Value) -> bool:
    """Return whether a sequence is sorted, or only asked what no order changes, as its sum."""
    uses = [step for step in order.uses(value) if step.method not in _GROWS]
    methods = set(map(attrgetter("method"), uses))
    called = set(map(attrgetter("called"), uses))
    is_only_asked = set() < called <= _BLIND
    return is_only_asked or not methods.isdisjoint(_SORTS)


def _of_step(order: Order, step: Step, depth: int) -> Use | None:
    if depth > _DEEPEST:
        return None
    if isinstance(step, Loop):
        return _of_loop(order, step, depth)
    if not isinstance(step, Call) or _ignores_order(step.name, step.method):
        return None
    if step.name in _SEQUENCES:
        if is_blindly_used(step.node, step):
            return None
        is_harmless = order_use.is_paired_with_constants(step) or order_use.is_only_counted(step)
        strong = step.name in _NUMBERED and not is_harmless
        return _of_sequence(order, step, step.result, depth, strong=strong)
    # The draws of NumPy's and Python's generator objects are in no table: all their methods draw.
    if step.name in tables.draws() or step.name.startswith(_GENERATORS):
        return Use(step, True, f"{step.method} picks from it by position")
    return None


def _ignores_order(name: str, method: str) -> bool:
    """Return whether a call returns the same for any order of its arguments, or sorts them."""
    return name in _BLIND or method in _IGNORING_METHODS


def _of_sequence(order: Order, step: Step, made: Value, depth: int, *, strong: bool) -> Use | None:
    """Return the use of a sequence that a step makes.

    None if the sequence is sorted later or all its uses ignore the order.
    """
    if is_sorted_later(order, made) or order_use.is_unread(step):
        return None
    # `paths += [...]`, and the function sorts `paths`
    parent = step.parent
    if isinstance(parent, ast.AugAssign) and _is_sorted_in_text(step, step.node, parent.target):
        return None
    if strong:
        return Use(step, True, "it is numbered in that order")
    uses = [one for one in order.uses(made) if one is not step]
    if not uses:
        return Use(step, False, _BECOMES_SEQUENCE)
    inner = decided(order, made, depth + 1)
    if inner is not None:
        return Use(step, inner.strong, inner.how)
    # Each does the same with a sequence in any order, or only makes another one.
    are_blind = all(
        use.called in _HARMLESS_CALLS
        or use.method in _HARMLESS_METHODS
        or isinstance(use, Loop)
        or order_use.is_each_by_itself(use)
        for use in uses
    )
    if are_blind:
        return None
    return Use(step, False, _BECOMES_SEQUENCE)


_TESTS = (ast.Compare, ast.FormattedValue, ast.Raise)
"""Where an expression is looked at, or told, and no more."""


def is_blindly_used(node: ast.AST, step: Step) -> bool:
    """Return whether an expression stands in a test, or in a call that ignores the order.

    `sorted(x for x in names)`, `len(list(names))`
    """
    parent = step.module.parent(node)
    if isinstance(parent, ast.Starred | ast.keyword):
        parent = step.module.parent(parent)
    match parent:
        case ast.Call(func=function) if function is not node:
            name = step.module.name_of(parent.func)
            method = syntax.method(parent) or last_part(name)
            if method == "join":
                # text may be joined to be read
                module = step.module
                around = (parent, *module.expressions_around(parent), module.statement_of(parent))
                is_told = any(
                    isinstance(at, _MESSAGES) or syntax.word(at) in _LOGS for at in around
                )
                if is_told:
                    return True
            return _ignores_order(name, method) or method in _LOGS
        case ast.For(body=body):
            # `print(...)` or `log.debug(...)`
            return all(
                isinstance(statement, ast.Expr) and syntax.word(statement.value) in _SAYS
                for statement in body
            )
    return isinstance(parent, _TESTS) or order_use.is_asked(step.module, node)


_MESSAGES = (ast.FormattedValue, ast.JoinedStr, ast.Raise, ast.Assert)


def _of_loop(order: Order, loop: Loop, depth: int) -> Use | None:
    find = _OF_LOOPS.get(type(loop.node))
    # A comprehension of a set has no order that the loop could decide.
    return find and find(order, loop, depth)


def use_of_comprehension(order: Order, loop: Loop, depth: int) -> Use | None:
    """Return the use of the sequence that a comprehension makes."""
    if is_blindly_used(loop.node, loop):
        return None
    made = order.value_of(loop.node)
    if isinstance(made, Items):
        return _of_sequence(order, loop, made, depth, strong=False)
    return Use(loop, False, _BECOMES_SEQUENCE)


def use_in_dict(order: Order, loop: Loop, depth: int) -> Use | None:
    """Return the use of a dict comprehension that numbers names.

    `{name: next(counter) for name in names}`
    """
    value = getattr(loop.node, "value", None)
    if "builtins.next" in syntax.called(loop.module, value):
        return Use(loop, True, _NUMBERED_IN_ORDER)
    return None


def consumer(order: Order, step: Step) -> Step | None:
    """Return the step that loops over the results of the generator function around a step.

    The call of the function, or the loop.
    """
    match step.through:
        case (*_, (module, (ast.Call() | ast.For()) as node)):
            for outer in order.at(module, node):
                match outer:
                    case Loop() | Call(own=True, by=None, result=Items(kind="generator")):
                        return outer
    return None


@dataclass(frozen=True, slots=True)
class _Body:
    """The body of a loop over something without an order.

    depth   how many loops the search has gone through
    parts   all nodes in the body
    calls   those nodes that are calls
    """

    order: Order
    loop: Loop
    node: ast.For | ast.AsyncFor
    depth: int
    parts: tuple[ast.AST, ...]
    calls: tuple[ast.Call, ...]


def use_of_body(order: Order, loop: Loop, depth: int) -> Use | None:
    """Return how the body of a loop uses the order of the elements."""
    node = cast("ast.For | ast.AsyncFor", loop.node)
    parts = tuple(within(node.body, ast.AST))
    calls = tuple(within(node.body, ast.Call))
    if any(map(_sorts, calls)):
        return None
    body = _Body(order, loop, node, depth, parts, calls)
    uses = (finds(body) for finds in _IN_BODY)
    return next(filter(None, uses), None)


_OF_LOOPS: dict[type[ast.AST], Callable[[Order, Loop, int], Use | None]] = {
    ast.DictComp: use_in_dict,
    **dict.fromkeys((ast.For, ast.AsyncFor), use_of_body),
    **dict.fromkeys((ast.ListComp, ast.GeneratorExp), use_of_comprehension),
}
"""What a loop does with an order, by its node."""


def _sorts(call: ast.Call) -> bool:
    return syntax.word(call) in _SORTS


def is_numbered(body: _Body) -> Use | None:
    if _numbers(body.parts):
        return Use(body.loop, True, _NUMBERED_IN_ORDER)
    return None


def is_drawn(body: _Body) -> Use | None:
    """Return the use if each iteration draws a number from a generator that the program shares.

    A layer that is made in the loop does not count, because each layer has weights of its own.
    """
    for call in body.calls:
        name = body.loop.module.name_of(call.func)
        draws = tables.draws().get(name)
        if draws is None or draws.when != "call" or draws.stream not in _SHARED:
            continue
        if draws.kind != "weights" or name.startswith("torch.nn.init."):
            drawn = ast.unparse(call.func)
            return Use(body.loop, True, f"each turn draws a random number ({drawn})")
    return None


_SHARED = words("orders", "shared")


def is_trained(body: _Body) -> Use | None:
    if _TRAINS.isdisjoint(map(syntax.word, body.calls)):
        return None
    return Use(body.loop, True, "each turn trains on one")


def is_kept(body: _Body) -> Use | None:
    """Return the use if elements are yielded, put into a queue, or collected in a list."""
    for part in body.parts:
        match part:
            case ast.Yield() | ast.YieldFrom():
                return _yielded(body)
            case ast.Call(func=ast.Attribute(attr="put"), args=[_, _, *_]):
                continue  # of a database: under a key
            case ast.Call(func=ast.Attribute(attr=method)) if _FILLS.match(method):
                return Use(body.loop, False, "its elements are put somewhere in that order")
            case ast.Call(func=ast.Attribute(attr=method, value=grown)) if method in _GROWS:
                pass
            case ast.AugAssign(target=grown, op=ast.Add(), value=ast.List() | ast.ListComp()):
                pass
            case _:
                continue
        if _is_collected(body.order, body.loop, body.node, grown):
            return Use(body.loop, False, "its elements are collected in that order")
    return None


def _yielded(body: _Body) -> Use | None:
    """Return the use of what a generator function gives.

    It is used where the program goes over it; a library that does so keeps the order.
    """
    place = consumer(body.order, body.loop)
    if body.depth > _DEEPEST or place is None:
        return Use(body.loop, False, HANDED_ON)
    if isinstance(place, Loop):
        return _of_loop(body.order, place, body.depth + 1)
    return decided(body.order, cast(Call, place).result, body.depth + 1)


def _is_collected(order: Order, loop: Loop, node: ast.For | ast.AsyncFor, grown: ast.expr) -> bool:
    """Return whether a list that a loop appends to keeps the order of the loop."""
    if is_sorted_later(order, order.value_of(grown)) or _is_sorted_in_text(loop, node, grown):
        return False
    if not isinstance(grown, ast.Name):
        # `groups[key].append(...)`
        return not isinstance(grown, ast.Subscript)
    # lists that begin anew in each turn, and the folders that `os.walk` will go into
    assignments = within(node.body, ast.Assign)
    assigned = chain.from_iterable(assignment.targets for assignment in assignments)
    return grown.id not in syntax.variables([*within(node.target, ast.Name), *assigned])


def is_used_in_own_functions(body: _Body) -> Use | None:
    """Return the use if an own function numbers an element, or keeps it in an object.

    The body calls the function, which is one of the user's.
    """
    for function in filterfalse(Own.sorts, _called(body)):
        name = function.node.name
        if _numbers(tuple(within(function.node.body, ast.AST))):
            return Use(body.loop, True, f"`{name}` numbers its elements in that order")
        if any(_keeps_in_object(body.order, function, call) for call in function.calls):
            return Use(body.loop, False, f"`{name}` collects its elements in that order")
    return None


_IN_BODY = (is_numbered, is_drawn, is_trained, is_used_in_own_functions, is_kept)
"""What a loop may do with the order of its elements, the surest first."""


@dataclass(frozen=True, slots=True)
class Own:
    """A function of the user's, and its module."""

    node: ast.FunctionDef | ast.AsyncFunctionDef
    module: Module

    @property
    def calls(self) -> list[ast.Call]:
        """Return the calls in the body of the function."""
        return list(within(self.node.body, ast.Call))

    def sorts(self) -> bool:
        """Return whether a call in the body sorts."""
        return any(map(_sorts, self.calls))


def _called(body: _Body) -> list[Own]:
    """Return the user's functions that a body calls, and the functions that these call in turn."""
    functions: dict[int, Own] = {}
    waiting = deque(body.calls)
    while waiting and len(functions) < _MOST_FUNCTIONS:
        callee = body.order.value_of(waiting.popleft().func)
        for function in of_kind(callee.options(), Function):
            node = function.node
            if not isinstance(node, ast.Lambda) and id(node) not in functions:
                functions[id(node)] = own = Own(node, function.module)
                waiting.extend(own.calls)
    return list(functions.values())


def _keeps_in_object(order: Order, function: Own, call: ast.Call) -> bool:
    """Return whether a call fills an attribute that nothing sorts: `self.words.append(word)`."""
    match call.func:
        case ast.Attribute(attr=method, value=ast.Attribute() as target) if method in _GROWS:
            if is_sorted_later(order, order.value_of(target)):
                return False
            return not _is_sorted_around(function.module.tree, target)
    return False


def _is_sorted_in_text(loop: Step, node: ast.AST, target: ast.AST) -> bool:
    """Return whether the function (for attributes the module) sorts the target."""
    around: ast.AST = loop.module.tree
    if not isinstance(target, ast.Attribute):
        around = loop.module.function_of(node) or around
    return _is_sorted_around(around, target)


def _is_sorted_around(around: ast.AST, target: ast.AST) -> bool:
    """Return whether the code in `around` has a `sorted(target)` or `target.sort()`."""
    wanted = ast.unparse(target)
    for call in filter(_sorts, within(around, ast.Call)):
        match call:
            case ast.Call(args=[first, *_]) if wanted in ast.unparse(first):
                return True
            case ast.Call(func=ast.Attribute(attr="sort", value=whole)):
                if ast.unparse(whole) == wanted:
                    return True
    return False


def _numbers(parts: tuple[ast.AST, ...]) -> bool:
    """Return whether nodes number elements.

    `index[name] = len(index)`, or `index[name] = count` with `count += 1`.
    """
    counters: set[str] = set()
    for part in parts:
        match part:
            case ast.AugAssign(target=ast.Name(id=name), value=ast.Constant()):
                counters.add(name)
    for part in parts:
        match part:
            case ast.Assign(value=ast.Name(id=name)) if name in counters and _filled(part):
                return True
            case ast.Assign(value=ast.Call(args=[counted, *_]) as call):
                if syntax.word(call) == "len" and ast.unparse(counted) in _filled(part):
                    return True
            case ast.Call(args=[*_, ast.Call() as default]):
                if syntax.word(part) == "setdefault" and syntax.word(default) == "len":
                    return True
    return False


def _filled(assignment: ast.Assign) -> list[str]:
    """Return the containers in which an assignment sets an item: `index` of `index[name] = 1`."""
    items = of_kind(assignment.targets, ast.Subscript)
    return [ast.unparse(one.value) for one in items]


def is_sorting(module: Module, node: ast.AST) -> bool:
    """Return whether a node is a call that sorts, or whose result depends on no order."""
    match node:
        case ast.Call() as call:
            return _sorts(call) or module.name_of(call.func) in _BLIND
    return False
