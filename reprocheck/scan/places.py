"""Places of a program that are not the same in each run: what it reads, draws, orders or leaves
unfilled there.

A check reports such a place only where it can change a training. Here all of them are named: where
runs are known to differ, the reason is looked for among them.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import chain, filterfalse
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
_BLOCKS = ("body", "orelse", "finalbody", "handlers", "cases", "decorator_list")
"""Where a statement holds others: of these, what it is fed by is asked of each by itself."""
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
    """An expression or a statement of the user's.

    kind  clock, monotonic (a clock that counts from the start of the machine), elapsed and
          monotonic elapsed (a time that was measured with them and is used), clock path and system
          path (a branch that they decide),
          generator (made without a seed), system (the entropy of the system), private (a draw from
          such a generator), draw (from a generator of the process), split, memory, hash, address,
          set order, listing, temporary, arrival, parallel map, compile, threads, hook, custom
          backward, benchmark, late hash seed
    name  of what is called, as it is documented; of a method as it is written
    of    the expression to write otherwise: the set without an order, the call of `hash`
    one   whether a draw takes one of several things, and puts none into an order
    """

    kind: str
    name: str
    module: Module
    node: ast.AST
    of: ast.AST | None = None
    one: bool = False

    @property
    def line(self) -> int:
        """Its line in the text of its module."""
        return getattr(self.node, "lineno", 1)

    @property
    def written(self) -> str:
        """The expression to write otherwise, as it stands in the text; "" where none is known."""
        if self.of is None:
            return ""
        return ast.get_source_segment(self.module.source.text, self.of) or ""


def places(orders: Sequence[Order], modules: Sequence[Module]) -> tuple[Place, ...]:
    """Return all places of a program, module by module and line by line, each once."""
    found: dict[tuple[str, int], Place] = {}
    in_orders = (finder(order) for order in orders for finder in _FINDERS)
    everywhere = chain(*in_orders, *map(_classes, modules))
    for place in filterfalse(_is_for_waiting, everywhere):
        found.setdefault((place.kind, id(place.node)), place)
    rank = {id(module): number for number, module in enumerate(modules)}
    return tuple(
        sorted(found.values(), key=lambda place: (rank.get(id(place.module), -1), place.line))
    )


def feeding(orders: Sequence[Order], module: Module, line: int) -> Iterator[int]:
    """Yield what a line is fed by, the nearest first: the ids of the nodes that made the values in
    it.
    """
    expressions = list(_expressions_on(module, line))
    for order in orders:
        seen: set[int] = set()
        newest = list(map(order.value_of, expressions))
        for _ in range(_DEEPEST):
            yield from (id(value.call.node) for value in newest if isinstance(value, Made))
            seen.update(map(id, newest))
            sources = chain.from_iterable(map(partial(_fed_by, order), newest))
            unseen = [source for source in sources if id(source) not in seen]
            newest = unseen[:_MOST]


def _fed_by(order: Order, value: Value) -> Iterator[Value]:
    """Yield what a value was made of, and what changed it since: `generator.manual_seed(seed)`."""
    if isinstance(value, Instance):
        return
    yield from value.sources
    for call in order.on(value):
        if isinstance(call.module.parent(call.node), ast.Expr):
            yield from (*call.arguments, *call.keywords.values())


def _expressions_on(module: Module, line: int) -> Iterator[ast.expr]:
    """Yield the expressions of the statement on a line; of one that holds others, those of its
    head.
    """
    around = sorted(module.index.statements_on(line), key=attrgetter("lineno"))
    for innermost in around[-1:]:
        blocks = (getattr(innermost, name, []) for name in _BLOCKS)
        inner = set(map(id, chain.from_iterable(blocks)))
        head = [node for node in ast.iter_child_nodes(innermost) if id(node) not in inner]
        yield from within(head, ast.expr)


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


def _named(order: Order) -> Iterator[Place]:
    for name, kind in _BY_NAME.items():
        yield from (_place(kind, call) for call in order.calls(name))
    for method, kind in _BY_METHOD.items():
        yield from (_place(kind, call) for call in order.methods(method) if not call.own)


def _hashes(order: Order) -> Iterator[Place]:
    for call in order.calls("builtins.hash"):
        yield replace(_place("hash", call), of=call.node)


def _listings(order: Order) -> Iterator[Place]:
    listings = filter(files.lists, every(order))
    yield from (_place("listing", call) for call in listings if not files.is_sorted_around(call))


def _keywords(order: Order) -> Iterator[Place]:
    """Sorting by `id`, and loaders that hand out what is ready first."""
    for call in every(order):
        if hash_order.is_address(call.keywords.get("key", UNKNOWN)):
            yield _place("address", call, f"{_shown(call)}(key=id)")
        if literal(call.keywords.get("in_order")) is False:
            yield _place("arrival", call, "in_order=False")


def _parallel_maps(order: Order) -> Iterator[Place]:
    """Yield a `map` that calls a function for several samples at a time, unless that calls nothing:
    then it can draw nothing.
    """
    for call in every(order):
        workers = call.keywords.get("num_parallel_calls")
        if is_none(workers) or literal(workers) == 1:
            continue
        if not _is_plain(call.argument(0, "map_func")):
            yield _place("parallel map", call)


def _is_plain(function: Value | None) -> bool:
    return isinstance(function, Function) and not holds(function.node, ast.Call)


def _draws(order: Order) -> Iterator[Place]:
    """Yield draws from the generators of the process, and splits that are made with one."""
    for drawing in drawings(order):
        if drawing.draws.kind == "split":
            yield _place("split", drawing.call)
        elif drawing.draws.when == "call" and f"{drawing.call.name}()".startswith(_DRAWN):
            yield replace(_place("draw", drawing.call), one=_takes_one(drawing.call))


def _takes_one(call: Call) -> bool:
    """`random.choice(actions)`, `numpy.random.choice(n, p=p)`: not told how many to take."""
    return call.method == "choice" and is_none(call.argument(1, "size"))


_DRAWN = ("random.", "numpy.random.", "torch.rand()")
"""How the names begin of what draws a number or an order; tensors are drawn in every program."""


def _generators(order: Order) -> Iterator[Place]:
    """Yield generators that start from the operating system, and what draws from them."""
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


def _system(order: Order) -> Iterator[Place]:
    for call in filter(_is_of_system, every(order)):
        # of `SystemRandom().random` the generator is the place
        if "()" not in call.name:
            yield _place("system", call)


def _clocks(order: Order) -> Iterator[Place]:
    """Clocks, but for those that only measure how long something takes or say how long to wait."""
    for call in filter(_is_clock, every(order)):
        if _is_less(call.parent, call.node):
            if not _is_told(call):
                yield _place(_of_start("elapsed", call), call)
        elif not isinstance(call.parent, ast.Assign):
            yield _place(_of_start("clock", call), call)


def _ages(order: Order) -> Iterator[Place]:
    """Clocks in `now - number`, where the number is no time that was taken."""
    for _, node in _nodes(order, ast.BinOp):
        match node:
            case ast.BinOp(op=ast.Sub(), right=ast.Attribute() | ast.Subscript()):
                # what an object or a table keeps may be a time that was taken
                continue
            case ast.BinOp(op=ast.Sub(), left=ast.Name() as left, right=right):
                read = _clock_read(order.value_of(left))
                if read is not None and not _is_time(order.value_of(right)):
                    yield _place(_of_start("clock", read), read)


def _clock_read(value: Value) -> Call | None:
    """Return the call of a clock that a value is, and nothing is made of; None for any other."""
    match value:
        case Made(call=call) if _is_clock(call):
            return call
    return None


def _is_clock(call: Call) -> bool:
    return entropy.kind(call.name) == "clock"


def _is_of_system(call: Call) -> bool:
    return entropy.kind(call.name) in ("system", "process")


def _is_of_run(call: Call) -> bool:
    """Return whether it reads a clock, or asks the system."""
    return _is_clock(call) or _is_of_system(call)


def _nodes(order: Order, *kinds: type[ast.AST]) -> Iterator[tuple[Module, Any]]:
    """Yield the nodes of some kinds in the modules in which its steps stand, each with its
    module.
    """
    modules = {id(step.module): step.module for step in order.steps}
    for module in modules.values():
        yield from ((module, node) for node in module.nodes(*kinds))


def _of_start(kind: str, call: Call) -> str:
    """Return the kind of a clock, or of a time by it, where it may be one that counts from a
    start.
    """
    if call.name not in tables.calls("entropy", "monotonic"):
        return kind
    return {"clock": "monotonic", "elapsed": "monotonic elapsed"}[kind]


def _is_time(value: Value) -> bool:
    return any(map(_is_clock, entropy.mixed(value)))


def _is_less(parent: ast.AST | None, node: ast.AST) -> bool:
    """Return whether something is subtracted from it: `clock() - start`."""
    match parent:
        case ast.BinOp(op=ast.Sub(), left=left):
            return left is node
    return False


def _is_for_waiting(place: Place) -> bool:
    """Return whether it only says how long to wait."""
    return "sleep" in map(word, place.module.around(place.node))


def _is_told(call: Call) -> bool:
    """Return whether it is a part of what is printed, logged or put into a text."""
    around = list(call.module.around(call.node))
    in_text = ast.JoinedStr in map(type, around)
    return in_text or not _TELLING.isdisjoint(map(word, around))


def _decided(order: Order) -> Iterator[Place]:
    """Branches and loops that the clock or the system decides, unless they only tell something."""
    for module, node in _nodes(order, ast.If, ast.While, ast.IfExp):
        read = next(filter(_is_of_run, entropy.mixed(order.value_of(node.test))), None)
        if read is not None and not _is_for_show(order, node):
            yield Place(_PATHS[_is_clock(read)], _shown(read), module, node)


def _is_for_show(order: Order, node: ast.If | ast.While | ast.IfExp) -> bool:
    """Return whether a branch only tells something, or keeps a time for the next one."""
    if not isinstance(node, ast.If):
        return False
    return all(_tells(order, statement) for statement in (*node.body, *node.orelse))


def _tells(order: Order, statement: ast.stmt) -> bool:
    if holds(statement, *_DECIDING):
        return False
    match statement:
        case ast.Assign(value=value):
            return _is_time(order.value_of(value))
        case ast.Expr(value=ast.Call() as call):
            return word(call) in _TELLING
    return isinstance(statement, ast.Pass)


def _loops(order: Order) -> Iterator[Place]:
    """Yield where a loop goes over a set."""
    for loop in order.loops():
        if hash_order.is_set(loop.value):
            of_objects = _holds_objects(loop.value) or _asks_for_own_attributes(loop.node)
            over = hash_order.node_of(loop)
            yield replace(_of_set(loop, of_objects, "a loop over"), node=over, of=over)


def _sequences(order: Order) -> Iterator[Place]:
    """Yield where something is made of a set in its order."""
    for call in order.calls(*_KEEP_ORDER):
        value = next(filter(hash_order.is_set, call.arguments), None)
        if value is not None and not files.is_sorted_around(call):
            place = _of_set(call, _holds_objects(value), f"{_shown(call)} of")
            yield replace(place, of=_written(call, value))


def _written(call: Call, value: Value) -> ast.expr | None:
    """Return the argument of a call that a value is; None where no single argument stands for
    it.
    """
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


def _asks_for_own_attributes(node: ast.AST) -> bool:
    """Return whether the body of a loop asks what it goes over for an attribute that no text and no
    number has: these are objects.
    """
    match node:
        case ast.For(target=ast.Name(id=name), body=body):
            asked = within(body, ast.Attribute)
            of_it = [one.attr for one in asked if getattr(one.value, "id", "") == name]
            return not _PLAIN.issuperset(of_it)
    return False


def _stores(order: Order) -> Iterator[Place]:
    for store in order.stores("torch.backends.cudnn.benchmark"):
        if literal(store.value) is True:
            yield Place("benchmark", store.name, store.module, store.node)
    for store in order.environment("PYTHONHASHSEED"):
        yield Place("late hash seed", 'os.environ["PYTHONHASHSEED"]', store.module, store.node)


def _classes(module: Module) -> Iterator[Place]:
    """Classes with a backward pass of their own."""
    for node in module.index.classes:
        bases = map(module.name_of, node.bases)
        if any(name.endswith(".Function") for name in bases):
            yield Place("custom backward", f"class {node.name}", module, node)


def _place(kind: str, step: Call, name: str = "") -> Place:
    return Place(kind, name or _shown(step), step.module, step.node)


def _shown(call: Call) -> str:
    """Return what is called, as it is documented; a method as it is written."""
    of_object = "()" in call.name or "?" in call.name
    if of_object and isinstance(call.node, ast.Call):
        return ast.unparse(call.node.func)[:_LONGEST]
    return call.name.removeprefix("builtins.")


_FINDERS: tuple[Callable[[Order], Iterator[Place]], ...] = (
    _named,
    _hashes,
    _listings,
    _keywords,
    _parallel_maps,
    _draws,
    _generators,
    _system,
    _clocks,
    _ages,
    _decided,
    _loops,
    _sequences,
    _stores,
)
