"""Find all places of a program that may differ in each run: what it reads, draws, or orders there.

A check reports such a place only if it can change a training. Here all are listed, because the
cause of runs that are known to differ is among these places.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from operator import attrgetter
from typing import Any

from reprocheck.scan.checks import (
    arrival,
    entropy,
    files,
    hash_order,
    memory,
    private_generators,
    tables,
)
from reprocheck.scan.checks.streams import drawings, every
from reprocheck.scan.index import holds, of_kind, within
from reprocheck.scan.order import Order
from reprocheck.scan.project import Module
from reprocheck.scan.steps import Call, Step
from reprocheck.scan.syntax import word
from reprocheck.scan.values import UNKNOWN, Function, Instance, Made, Value, is_none, literal
from reprocheck.scan.vocabulary import by_name, names, words

OF_OBJECTS = "a set of objects"
"""What a set is called whose elements lie in it by their addresses."""
_DEEPEST = 8
"""How many values one behind the other are followed from a line to what feeds it."""
_MOST = 400
_BLOCKS = names("places", "blocks")
_LONGEST = 80
_KEEP_ORDER = names("places", "keep_order")
_TELLING = words("places", "telling")
_PATHS = {True: "clock path", False: "system path"}
"""The kind of a branch, by whether a clock decides it."""
_DECIDING = (ast.Continue, ast.Break, ast.Return, ast.Raise)
_PLAIN = frozenset(
    name for kind in (str, bytes, int, float, complex, tuple, frozenset) for name in dir(kind)
)
"""The attributes of what hashes by its value."""


@dataclass(frozen=True, slots=True)
class Place:
    """An expression or a statement of the user's that may differ in each run.

    kind    clock, monotonic (a clock that counts from the start of the machine), elapsed and
            monotonic elapsed (a time that was measured with such a clock and is used), clock path
            and system path (a branch that the clock or OS entropy decides), generator (made without
            a seed), system (OS entropy), private (a draw from an unseeded generator), draw (from a
            global generator), split, memory, hash, address, set order, listing, temporary, arrival,
            parallel map, compile, threads, hook, custom backward, benchmark, late hash seed
    name    the documented name of what is called; a method as it is written
    module  the user's module that contains `node`
    node    the syntax node of the place
    of      the expression to change: the set without an order, the call of `hash`
    one     whether a draw picks one of several items, and orders none
    """

    kind: str
    name: str
    module: Module
    node: ast.AST
    of: ast.AST | None = None
    one: bool = False

    @property
    def line(self) -> int:
        """Return the line of the place in the text of its module."""
        return getattr(self.node, "lineno", 1)

    @property
    def written(self) -> str:
        """Return the text of the expression to change; "" if none is known."""
        if self.of is None:
            return ""
        return ast.get_source_segment(self.module.source.text, self.of) or ""


def places(orders: Sequence[Order], modules: Sequence[Module]) -> tuple[Place, ...]:
    """Return all places of a program, by module and line, each once."""
    found: dict[tuple[str, int], Place] = {}
    in_orders = (finder(order) for order in orders for finder in _FINDERS)
    for place in chain(*in_orders, *map(_custom_backwards, modules)):
        only_waits = "sleep" in map(word, place.module.around(place.node))
        if not only_waits:
            found.setdefault((place.kind, id(place.node)), place)
    rank = {id(module): number for number, module in enumerate(modules)}
    return tuple(
        sorted(found.values(), key=lambda place: (rank.get(id(place.module), -1), place.line))
    )


def feeding(orders: Sequence[Order], module: Module, line: int) -> Iterator[int]:
    """Yield the ids of the nodes that made the values on a line, the nearest first."""
    around = sorted(module.index.statements_on(line), key=attrgetter("lineno"))
    if not around:
        return
    # the expressions of the statement; of one that holds others, those of its head
    innermost = around[-1]
    blocks = (getattr(innermost, name, []) for name in _BLOCKS)
    inner = set(map(id, chain.from_iterable(blocks)))
    head = [node for node in ast.iter_child_nodes(innermost) if id(node) not in inner]
    expressions = list(within(head, ast.expr))
    for order in orders:
        seen: set[int] = set()
        newest = list(map(order.value_of, expressions))
        for _ in range(_DEEPEST):
            yield from (id(value.call.node) for value in newest if isinstance(value, Made))
            seen.update(map(id, newest))
            sources = chain.from_iterable(_fed_by(order, value) for value in newest)
            unseen = [source for source in sources if id(source) not in seen]
            newest = unseen[:_MOST]


def _fed_by(order: Order, value: Value) -> Iterator[Value]:
    """Yield the values of which a value is made, or which changed it later.

    An example is `generator.manual_seed(seed)`.
    """
    if isinstance(value, Instance):
        return
    yield from value.sources
    for call in order.on(value):
        if isinstance(call.module.parent(call.node), ast.Expr):
            yield from (*call.arguments, *call.keywords.values())


_BY_NAME = {
    **dict.fromkeys(files.TEMPORARY, "temporary"),
    **dict.fromkeys(arrival.ARRIVES, "arrival"),
    **dict.fromkeys(memory.EMPTY, "memory"),
    **by_name("places", "calls"),
}
"""What a call is for by its name."""
_BY_METHOD = {
    **dict.fromkeys(private_generators.HOOKS, "hook"),
    **dict.fromkeys(arrival.ARRIVES_BY_METHOD, "arrival"),
    **by_name("places", "methods"),
}
"""What a call is for by the last part of its name, whatever it is called on."""


def named_calls(order: Order) -> Iterator[Place]:
    for name, kind in _BY_NAME.items():
        yield from (_place(kind, call) for call in order.calls(name))
    for method, kind in _BY_METHOD.items():
        yield from (_place(kind, call) for call in order.methods(method) if not call.own)


def hashes(order: Order) -> Iterator[Place]:
    for call in order.calls("builtins.hash"):
        yield replace(_place("hash", call), of=call.node)


def file_listings(order: Order) -> Iterator[Place]:
    listings = filter(files.lists, every(order))
    yield from (_place("listing", call) for call in listings if not files.is_sorted_around(call))


def keywords(order: Order) -> Iterator[Place]:
    """Yield calls that sort by `id`, and loaders with `in_order=False`."""
    for call in every(order):
        if hash_order.is_address(call.keywords.get("key", UNKNOWN)):
            yield _place("address", call, f"{_shown(call)}(key=id)")
        if literal(call.keywords.get("in_order")) is False:
            yield _place("arrival", call, "in_order=False")


def parallel_maps(order: Order) -> Iterator[Place]:
    """Yield each parallel `map` of tf.data whose function calls something, so may draw."""
    for call in every(order):
        workers = call.keywords.get("num_parallel_calls")
        if is_none(workers) or literal(workers) == 1:
            continue
        function = call.argument(0, "map_func")
        is_plain = isinstance(function, Function) and not holds(function.node, ast.Call)
        if not is_plain:
            yield _place("parallel map", call)


def draws(order: Order) -> Iterator[Place]:
    """Yield draws from the global generators, and splits of data that draw from them."""
    for drawing in drawings(order):
        if drawing.draws.kind == "split":
            yield _place("split", drawing.call)
        elif drawing.draws.when == "call" and f"{drawing.call.name}()".startswith(_DRAWN):
            # `random.choice(actions)`, `numpy.random.choice(n, p=p)`: not told how many to take
            takes_one = drawing.call.method == "choice" and is_none(
                drawing.call.argument(1, "size")
            )
            yield replace(_place("draw", drawing.call), one=takes_one)


_DRAWN = names("places", "drawn")


def generators(order: Order) -> Iterator[Place]:
    """Yield generators that OS entropy seeds, and draws from these generators."""
    for call, value in private_generators.unseeded(order):
        yield _place("generator", call)
        drawing = of_kind(order.uses(value), Call)
        yield from (_place("private", step) for step in drawing if step.node is not call.node)
    for call in every(order):
        known = tables.seeds().get(call.name) or _NO_SEED
        if known.without == "system" and is_none(call.argument(0, known.keyword)):
            yield _place("generator", call)


_NO_SEED = tables.Seeds(streams=(), keyword="", without="required")
"""Stands for a call that seeds nothing."""


def entropy_of_system(order: Order) -> Iterator[Place]:
    for call in filter(_is_of_system, every(order)):
        # of `SystemRandom().random` the generator is the place
        if "()" not in call.name:
            yield _place("system", call)


def clocks(order: Order) -> Iterator[Place]:
    """Yield calls of clocks, without those that only measure a duration or set a pause."""
    for call in filter(_is_clock, every(order)):
        match call.parent:
            case ast.BinOp(op=ast.Sub(), left=left) if left is call.node:  # `clock() - start`
                around = list(call.module.around(call.node))
                in_text = ast.JoinedStr in map(type, around)
                is_told = in_text or not _TELLING.isdisjoint(map(word, around))
                if not is_told:
                    yield _place(_of_start("elapsed", call), call)
            case parent if not isinstance(parent, ast.Assign):
                yield _place(_of_start("clock", call), call)


def ages(order: Order) -> Iterator[Place]:
    """Yield clocks in differences as `now - number`, if `number` is no time of a clock."""
    for _, node in _nodes(order, ast.BinOp):
        match node:
            case ast.BinOp(op=ast.Sub(), right=ast.Attribute() | ast.Subscript()):
                # what an object or a table keeps may be a time that was taken
                continue
            case ast.BinOp(op=ast.Sub(), left=ast.Name() as left, right=right):
                now = order.value_of(left)
                is_read = isinstance(now, Made) and _is_clock(now.call)
                if isinstance(now, Made) and is_read and not _is_time(order.value_of(right)):
                    yield _place(_of_start("clock", now.call), now.call)


def _is_clock(call: Call) -> bool:
    return entropy.kind(call.name) == "clock"


def _is_of_system(call: Call) -> bool:
    return entropy.kind(call.name) in ("system", "process")


def _nodes(order: Order, *kinds: type[ast.AST]) -> Iterator[tuple[Module, Any]]:
    """Yield the nodes of some types in all modules of the order's steps, each with its module."""
    modules = {id(step.module): step.module for step in order.steps}
    for module in modules.values():
        yield from ((module, node) for node in module.nodes(*kinds))


def _of_start(kind: str, call: Call) -> str:
    """Return the kind of a clock; a monotonic one if the clock may count from a start."""
    if call.name not in tables.calls("entropy", "monotonic"):
        return kind
    return {"clock": "monotonic", "elapsed": "monotonic elapsed"}[kind]


def _is_time(value: Value) -> bool:
    return any(map(_is_clock, entropy.mixed(value)))


def decided_branches(order: Order) -> Iterator[Place]:
    """Yield branches and loops that the clock or system decides, unless they only print."""
    for module, node in _nodes(order, ast.If, ast.While, ast.IfExp):
        sources = entropy.mixed(order.value_of(node.test))
        reads = (call for call in sources if _is_clock(call) or _is_of_system(call))
        read = next(reads, None)
        if read is None:
            continue
        if isinstance(node, ast.If):
            # It may only tell something, or keep a time for the next one.
            statements = (*node.body, *node.orelse)
            if all(_tells(order, statement) for statement in statements):
                continue
        yield Place(_PATHS[_is_clock(read)], _shown(read), module, node)


def _tells(order: Order, statement: ast.stmt) -> bool:
    if holds(statement, *_DECIDING):
        return False
    match statement:
        case ast.Assign(value=value):
            return _is_time(order.value_of(value))
        case ast.Expr(value=ast.Call() as call):
            return word(call) in _TELLING
    return isinstance(statement, ast.Pass)


def loops_over_sets(order: Order) -> Iterator[Place]:
    """Yield each loop over a set."""
    for loop in order.loops():
        if hash_order.is_set(loop.value):
            of_objects = _holds_objects(loop.value)
            match loop.node:
                case ast.For(target=ast.Name(id=name), body=body):
                    # What is asked for an attribute that no text and no number has is an object.
                    asked = within(body, ast.Attribute)
                    of_it = [one.attr for one in asked if getattr(one.value, "id", "") == name]
                    of_objects = of_objects or not _PLAIN.issuperset(of_it)
            over = hash_order.node_of(loop)
            yield replace(_of_set(loop, of_objects, "a loop over"), node=over, of=over)


def sequences_of_sets(order: Order) -> Iterator[Place]:
    """Yield calls that turn a set into a sequence in the set's order, as `list(names)`."""
    for call in order.calls(*_KEEP_ORDER):
        value = next(filter(hash_order.is_set, call.arguments), None)
        if value is not None and not files.is_sorted_around(call):
            place = _of_set(call, _holds_objects(value), f"{_shown(call)} of")
            yield replace(place, of=_written(call, value))


def _written(call: Call, value: Value) -> ast.expr | None:
    """Return the expression of the argument with this value; None without a single one."""
    match call.node:
        case ast.Call(args=given) if len(given) == len(call.arguments):
            pairs = zip(given, call.arguments, strict=True)
            return next((written for written, argument in pairs if argument is value), None)
    return None


def _holds_objects(value: Value) -> bool:
    return hash_order.content(value) == "object"


def _of_set(step: Step, of_objects: bool, what: str) -> Place:
    if of_objects:
        return Place("address", f"{what} {OF_OBJECTS}", step.module, step.node)
    return Place("set order", f"{what} a set", step.module, step.node)


def switches(order: Order) -> Iterator[Place]:
    for store in order.stores("torch.backends.cudnn.benchmark"):
        if literal(store.value) is True:
            yield Place("benchmark", store.name, store.module, store.node)
    for store in order.environment("PYTHONHASHSEED"):
        yield Place("late hash seed", 'os.environ["PYTHONHASHSEED"]', store.module, store.node)


def _custom_backwards(module: Module) -> Iterator[Place]:
    """Yield classes with a custom backward pass: subclasses of `autograd.Function`."""
    for node in module.index.classes:
        bases = map(module.name_of, node.bases)
        if any(name.endswith(".Function") for name in bases):
            yield Place("custom backward", f"class {node.name}", module, node)


def _place(kind: str, step: Call, name: str = "") -> Place:
    return Place(kind, name or _shown(step), step.module, step.node)


def _shown(call: Call) -> str:
    """Return the documented name of a called function, or a method call as it is written."""
    of_object = "()" in call.name or "?" in call.name
    if of_object and isinstance(call.node, ast.Call):
        return ast.unparse(call.node.func)[:_LONGEST]
    return call.name.removeprefix("builtins.")


_FINDERS: tuple[Callable[[Order], Iterator[Place]], ...] = (
    named_calls,
    hashes,
    file_listings,
    keywords,
    parallel_maps,
    draws,
    generators,
    entropy_of_system,
    clocks,
    ages,
    decided_branches,
    loops_over_sets,
    sequences_of_sets,
    switches,
)
