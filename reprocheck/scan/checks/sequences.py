"""Where something without an order becomes a sequence, and whether that order can decide a
result.
"""

from __future__ import annotations

import ast
import re
from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import chain, filterfalse
from operator import attrgetter
from typing import cast

from reprocheck.language import tr
from reprocheck.scan import syntax
from reprocheck.scan.checks import order_use, tables
from reprocheck.scan.index import of_kind, within
from reprocheck.scan.names import last_part
from reprocheck.scan.order import Order
from reprocheck.scan.project import Module
from reprocheck.scan.steps import Call, Loop, Step
from reprocheck.scan.values import Function, Items, Value
from reprocheck.scan.vocabulary import words

_BLIND = words("orders", "blind")
"""What gives the same whatever the order of what it is given."""
_SEQUENCES = words("orders", "sequences")
_NUMBERED = words("orders", "numbered")
_SORTS = frozenset({"sort", "sorted", "natsorted", "os_sorted", "sort_values"})
_GROWS = frozenset({"append", "extend", "insert", "appendleft"})
_ASKS = words("orders", "asks")
_GENERATORS = ("random.Random()", "numpy.random.default_rng()", "numpy.random.RandomState()")
_BECOMES_SEQUENCE = "it becomes a sequence"
_NUMBERED_IN_ORDER = "its elements are numbered in that order"
_LOGS = words("orders", "logs")
_SAYS = _LOGS - {"write"}
"""What is written to a file may be read again."""
_HARMLESS_CALLS = _BLIND | _SEQUENCES
_HARMLESS_METHODS = _ASKS | _LOGS
_IGNORING_METHODS = _ASKS | _SORTS
_FILLS = re.compile(
    r"^(put|put_nowait|push|enqueue"
    r"|add_(token|word|symbol|module|node|class|label|special_token)s?)$"
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
    """Return the first use of an unordered value that keeps the order that it happens to have, a
    strong one before others; None where all uses are blind to it.
    """
    uses = (_of_step(order, step, depth) for step in order.uses(value))
    # The first one that is strong, else the first: `max` gives the first of those that are equal.
    return max(filter(None, uses), key=attrgetter("strong"), default=None)


def is_sorted_later(order: Order, value: Value) -> bool:
    """Return whether a sequence is sorted, or only asked for what has no order, as its largest
    element.
    """
    uses = [step for step in order.uses(value) if step.method not in _GROWS]
    methods = set(map(attrgetter("method"), uses))
    called = set(map(attrgetter("called"), uses))
    is_only_asked = set() < called <= _BLIND
    return is_only_asked or not methods.isdisjoint(_SORTS)


def _of_step(order: Order, step: Step, depth: int) -> Use | None:
    if depth > _DEEPEST:
        return None
    match step:
        case Loop():
            return _of_loop(order, step, depth)
        case Call() if not _ignores_order(step.name, step.method):
            return _of_call(order, step, depth)
    return None


def _of_call(order: Order, call: Call, depth: int) -> Use | None:
    """Return what a call does with the order of what it is given."""
    if call.name in _SEQUENCES:
        return _of_conversion(order, call, depth)
    # The draws of NumPy's and Python's generator objects are in no table: all their methods draw.
    if call.name in tables.draws() or call.name.startswith(_GENERATORS):
        return Use(call, True, f"{call.method} picks from it by position")
    return None


def _ignores_order(name: str, method: str) -> bool:
    """Return whether a call sorts, asks, or gives the same in any order."""
    return name in _BLIND or method in _IGNORING_METHODS


def _of_conversion(order: Order, call: Call, depth: int) -> Use | None:
    """Return a call made a sequence."""
    if is_blindly_used(call.node, call):
        return None
    ways = (order_use.is_paired_with_constants, order_use.is_only_counted)
    is_numbered = call.name in _NUMBERED and not any(holds(call) for holds in ways)
    return _of_sequence(order, call, call.result, depth, strong=is_numbered)


def _of_sequence(order: Order, step: Step, made: Value, depth: int, *, strong: bool) -> Use | None:
    """Return the use of a sequence that was made; None where its order does not matter.

    It counts unless it is sorted later, or all that is done with it is blind to order.
    """
    if is_sorted_later(order, made) or _is_added_and_sorted(step) or order_use.is_unread(step):
        return None
    if strong:
        return Use(step, True, "it is numbered in that order")
    uses = [one for one in order.uses(made) if one is not step]
    if not uses:
        return Use(step, False, _BECOMES_SEQUENCE)
    inner = decided(order, made, depth + 1)
    if inner is not None:
        return Use(step, inner.strong, inner.how)
    if all(map(_is_blind, uses)):
        return None
    return Use(step, False, _BECOMES_SEQUENCE)


def _is_added_and_sorted(step: Step) -> bool:
    """Return `paths += [...]`, and the function sorts `paths`."""
    match step.parent:
        case ast.AugAssign(target=target):
            return _is_sorted_in_text(step, step.node, target)
    return False


def _is_blind(step: Step) -> bool:
    """Return whether a step does the same with a sequence in any order, or only makes another
    one.
    """
    is_harmless = step.called in _HARMLESS_CALLS or step.method in _HARMLESS_METHODS
    goes_over = isinstance(step, Loop)
    return is_harmless or goes_over or order_use.is_each_by_itself(step)


_TESTS = (ast.Compare, ast.FormattedValue, ast.Raise)
"""Where an expression is looked at, or told, and no more."""


def is_blindly_used(node: ast.AST, step: Step) -> bool:
    """Return whether an expression stands in a call that is blind to order: `sorted(x for x in
    names)`, `len(list(names))`; or in a test.
    """
    parent = step.module.parent(node)
    if isinstance(parent, ast.Starred | ast.keyword):
        parent = step.module.parent(parent)
    match parent:
        case ast.Call(func=function) if function is not node:
            return _takes_blindly(parent, step)
        case ast.For(body=body):
            return all(map(_is_said, body))
    return isinstance(parent, _TESTS) or order_use.is_asked(step.module, node)


def _takes_blindly(call: ast.Call, step: Step) -> bool:
    """Return whether a call does the same with its arguments in any order, or shows them."""
    name = step.module.name_of(call.func)
    method = syntax.method(call) or last_part(name)
    if _ignores_order(name, method) or method in _LOGS:
        return True
    return method == "join" and _is_message(step.module, call)


def _is_said(statement: ast.stmt) -> bool:
    """Return whether a statement is `print(...)` or `log.debug(...)`; what is written to a file may
    be read again.
    """
    return isinstance(statement, ast.Expr) and syntax.word(statement.value) in _SAYS


_MESSAGES = (ast.FormattedValue, ast.JoinedStr, ast.Raise, ast.Assert)


def _is_message(module: Module, call: ast.Call) -> bool:
    """Return whether text is joined to be read."""
    around = (call, *module.expressions_around(call), module.statement_of(call))
    return any(isinstance(at, _MESSAGES) or syntax.word(at) in _LOGS for at in around)


def _of_loop(order: Order, loop: Loop, depth: int) -> Use | None:
    find = _OF_LOOPS.get(type(loop.node))
    # A comprehension of a set has no order that the loop could decide.
    return find and find(order, loop, depth)


def _of_comprehension(order: Order, loop: Loop, depth: int) -> Use | None:
    """Return what becomes of the sequence that a comprehension makes."""
    if is_blindly_used(loop.node, loop):
        return None
    made = order.value_of(loop.node)
    if isinstance(made, Items):
        return _of_sequence(order, loop, made, depth, strong=False)
    return Use(loop, False, _BECOMES_SEQUENCE)


def _in_dict(order: Order, loop: Loop, depth: int) -> Use | None:
    """`{name: next(counter) for name in names}`."""
    value = getattr(loop.node, "value", None)
    if "builtins.next" in syntax.called(loop.module, value):
        return Use(loop, True, _NUMBERED_IN_ORDER)
    return None


def consumer(order: Order, step: Step) -> Step | None:
    """Return where the program goes over what the generator function around a step hands on: the
    call of the function, or the loop.
    """
    match step.through:
        case (*_, (module, (ast.Call() | ast.For()) as node)):
            return next(filter(_consumes, order.at(module, node)), None)
    return None


def _consumes(step: Step) -> bool:
    """Return whether a step is a loop, or the user's own call of a generator function."""
    match step:
        case Loop() | Call(own=True, by=None, result=Items(kind="generator")):
            return True
    return False


def _handed_on(order: Order, loop: Loop, depth: int) -> Use | None:
    """Return what a generator function gives is used where the program goes over it; a library that
    does so keeps the order.
    """
    if depth > _DEEPEST:
        return Use(loop, False, tr(HANDED_ON))
    match consumer(order, loop):
        case Loop() as place:
            return _of_loop(order, place, depth + 1)
        case Call(result=result):
            return decided(order, result, depth + 1)
    return Use(loop, False, tr(HANDED_ON))


@dataclass(frozen=True, slots=True)
class _Body:
    """The body of a loop that goes over something without an order.

    parts   all nodes in it
    calls   those that are calls
    """

    order: Order
    loop: Loop
    node: ast.For | ast.AsyncFor
    depth: int
    parts: tuple[ast.AST, ...]
    calls: tuple[ast.Call, ...]


def _of_body(order: Order, loop: Loop, depth: int) -> Use | None:
    """Return what a loop does with one element after the other."""
    node = cast("ast.For | ast.AsyncFor", loop.node)
    parts = tuple(within(node.body, ast.AST))
    calls = tuple(within(node.body, ast.Call))
    if any(map(_sorts, calls)):
        return None
    body = _Body(order, loop, node, depth, parts, calls)
    uses = (finds(body) for finds in _IN_BODY)
    return next(filter(None, uses), None)


_OF_LOOPS: dict[type[ast.AST], Callable[[Order, Loop, int], Use | None]] = {
    ast.DictComp: _in_dict,
    **dict.fromkeys((ast.For, ast.AsyncFor), _of_body),
    **dict.fromkeys((ast.ListComp, ast.GeneratorExp), _of_comprehension),
}
"""What a loop does with an order, by its node."""


def _sorts(call: ast.Call) -> bool:
    return syntax.word(call) in _SORTS


def _numbered(body: _Body) -> Use | None:
    if _numbers(body.parts):
        return Use(body.loop, True, _NUMBERED_IN_ORDER)
    return None


def _drawn(body: _Body) -> Use | None:
    draw = next((call for call in body.calls if _is_draw(body.loop, call)), None)
    if draw is None:
        return None
    drawn = ast.unparse(draw.func)
    return Use(body.loop, True, f"each turn draws a random number ({drawn})")


def _trained(body: _Body) -> Use | None:
    if _TRAINS.isdisjoint(map(syntax.word, body.calls)):
        return None
    return Use(body.loop, True, "each turn trains on one")


def _kept(body: _Body) -> Use | None:
    """Elements that are handed on, put somewhere, or collected in a list."""
    for part in body.parts:
        match part:
            case ast.Yield() | ast.YieldFrom():
                return _handed_on(body.order, body.loop, body.depth)
            case ast.Call(func=ast.Attribute(attr="put"), args=[_, _, *_]):
                continue  # of a database: under a key
            case ast.Call(func=ast.Attribute(attr=method)) if _FILLS.match(method):
                return Use(body.loop, False, "its elements are put somewhere in that order")
            case ast.Call(func=ast.Attribute(attr=method, value=grown)) if method in _GROWS:
                if _is_collected(body.order, body.loop, body.node, grown):
                    return Use(body.loop, False, "its elements are collected in that order")
            case ast.AugAssign(target=grown, op=ast.Add(), value=ast.List() | ast.ListComp()):
                if _is_collected(body.order, body.loop, body.node, grown):
                    return Use(body.loop, False, "its elements are collected in that order")
    return None


def _is_collected(order: Order, loop: Loop, node: ast.For | ast.AsyncFor, grown: ast.expr) -> bool:
    """Return whether a list that a loop appends to keeps the order of the loop."""
    if is_sorted_later(order, order.value_of(grown)) or _is_sorted_in_text(loop, node, grown):
        return False
    return not _is_kept_by_key(grown, node)


def _in_own_functions(body: _Body) -> Use | None:
    """Return what the user's own functions do that the body of a loop calls: number an element,
    draw for it, or keep it in an object.
    """
    for function in filterfalse(Own.sorts, _called(body)):
        name = function.node.name
        if _numbers(tuple(within(function.node.body, ast.AST))):
            return Use(body.loop, True, f"`{name}` numbers its elements in that order")
        if any(_keeps_in_object(body.order, function, call) for call in function.calls):
            return Use(body.loop, False, f"`{name}` collects its elements in that order")
    return None


_IN_BODY = (_numbered, _drawn, _trained, _in_own_functions, _kept)
"""What a loop may do with the order of its elements, the surest first."""


@dataclass(frozen=True, slots=True)
class Own:
    """A function of the user's, and its module."""

    node: ast.FunctionDef | ast.AsyncFunctionDef
    module: Module

    @property
    def calls(self) -> list[ast.Call]:
        """The calls in its body."""
        return list(within(self.node.body, ast.Call))

    def sorts(self) -> bool:
        """Return whether one of them sorts."""
        return any(map(_sorts, self.calls))


def _called(body: _Body) -> list[Own]:
    """Return the user's functions that are called in a body, and those that they call."""
    found: dict[int, Own] = {}
    waiting = deque(body.calls)
    while waiting and len(found) < _MOST_FUNCTIONS:
        call = waiting.popleft()
        for own in _own_functions(body.order.value_of(call.func)):
            if id(own.node) not in found:
                found[id(own.node)] = own
                waiting.extend(own.calls)
    return list(found.values())


def _own_functions(value: Value) -> Iterator[Own]:
    """Yield the functions, and no lambdas, that a value may be."""
    for option in value.options():
        match option:
            case Function(node=ast.FunctionDef() | ast.AsyncFunctionDef() as node, module=module):
                yield Own(node, module)


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
    assignments = within(node.body, ast.Assign)
    assigned = chain.from_iterable(assignment.targets for assignment in assignments)
    return target.id in syntax.variables([*within(node.target, ast.Name), *assigned])


def _is_sorted_in_text(loop: Step, node: ast.AST, target: ast.AST) -> bool:
    """Return whether the same function, or module for attributes, sorts what has this name."""
    around: ast.AST = loop.module.tree
    if not isinstance(target, ast.Attribute):
        around = loop.module.function_of(node) or around
    return _is_sorted_around(around, target)


def _is_sorted_around(around: ast.AST, target: ast.AST) -> bool:
    wanted = ast.unparse(target)
    sorting = filter(_sorts, within(around, ast.Call))
    return any(_sorts_this(call, wanted) for call in sorting)


def _sorts_this(call: ast.Call, wanted: str) -> bool:
    """`sorted(wanted)`, `wanted.sort()`."""
    match call:
        case ast.Call(args=[first, *_]) if wanted in ast.unparse(first):
            return True
        case ast.Call(func=ast.Attribute(attr="sort", value=whole)):
            return ast.unparse(whole) == wanted
    return False


def _numbers(parts: tuple[ast.AST, ...]) -> bool:
    """`index[name] = len(index)`, `index[name] = count` with `count += 1`."""
    counters: set[str] = set()
    for part in parts:
        match part:
            case ast.AugAssign(target=ast.Name(id=name), value=ast.Constant()):
                counters.add(name)
    return any(_is_numbering(part, counters) for part in parts)


def _is_numbering(part: ast.AST, counters: set[str]) -> bool:
    match part:
        case ast.Assign(value=ast.Name(id=name)):
            return name in counters and bool(_filled(part))
        case ast.Assign(value=ast.Call(args=[counted, *_]) as call):
            return syntax.word(call) == "len" and ast.unparse(counted) in _filled(part)
        case ast.Call(args=[*_, ast.Call() as default]):
            return (syntax.word(part), syntax.word(default)) == ("setdefault", "len")
    return False


def _filled(assignment: ast.Assign) -> list[str]:
    """Return the containers to one of whose items an assignment assigns."""
    items = of_kind(assignment.targets, ast.Subscript)
    return [ast.unparse(one.value) for one in items]


def _is_draw(loop: Loop, node: ast.Call) -> bool:
    """Return whether a call draws a number in each turn of a loop, from a generator that the
    program shares: layers draw when they are made, and of those each has weights of its own.
    """
    name = loop.module.name_of(node.func)
    match tables.draws().get(name):
        case tables.Draws(when="call", stream="python" | "numpy" | "torch", kind=kind):
            return kind != "weights" or name.startswith("torch.nn.init.")
    return False


def is_sorting(module: Module, node: ast.AST) -> bool:
    """Return whether a node is a call that sorts, or is blind to order otherwise."""
    match node:
        case ast.Call() as call:
            return _sorts(call) or module.name_of(call.func) in _BLIND
    return False
