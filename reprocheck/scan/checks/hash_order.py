"""Find orders and numbers that hashes and memory addresses decide: sets, `hash()`, `id()`."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from itertools import chain
from operator import attrgetter

from reprocheck.language import tr
from reprocheck.rules.catalogue import Severity
from reprocheck.scan import syntax
from reprocheck.scan.checks import entropy, seed_values, sequences
from reprocheck.scan.index import of_kind
from reprocheck.scan.order import Order
from reprocheck.scan.registry import Hit, check_orders, hit
from reprocheck.scan.steps import Call, Loop, Step
from reprocheck.scan.values import UNKNOWN, Constant, Derived, Instance, Items, Made, Part, Value
from reprocheck.scan.vocabulary import by_name, names, pattern, words

_TEXT_METHODS = words("orders", "text_methods")
_TEXT_CALLS = frozenset({"os.listdir", "glob.glob"})
_CONVERTED = by_name("orders", "converted")
_TELLING = ("text", "object", "unknown", "number")
"""The kinds of elements: the first that one of them is decides what is said of a set.

A number hashes to itself, so that sets of numbers are in the same order in each process.
"""
_KNOWN = ("text", "object", "number", "unknown")
"""The same for several sets that are joined: what is known of one of them decides."""

_SET = frozenset({"builtins.set", "builtins.frozenset"})
_SET_METHODS = words("orders", "set_methods")
_HANDS_ON = _SET_METHODS | {"keys"}
"""Methods that give the elements of what they are called on and of what they are given."""
_SET_OPERATORS = words("orders", "set_operators")
_KEEPS = names("orders", "keeps")
_NUMBERS = names("orders", "numbers")
UNSURE = {
    "unsure": (
        "the text does not show what the set holds, and `sorted` takes only what can be compared"
    )
}
"""Evidence of a finding whose patch must be tried before it is offered."""
_LAYER = pattern("orders", "layer")
_DEEPEST = 6
"""How far containers in containers are followed: one may hold itself."""
_MODULES = words("orders", "modules")
_HELD_BY_NAME = {**dict.fromkeys(_NUMBERS, "number"), **dict.fromkeys(_TEXT_CALLS, "text")}
_HELD_BY_METHOD = {**dict.fromkeys(_TEXT_METHODS, "text"), **dict.fromkeys(_MODULES, "object")}
"""What a call gives that gives several, by its name or the last part of that."""
_KIND_OF_RESULT = {**dict.fromkeys(_NUMBERS, "number"), "builtins.object": "object"}
"""What a call gives that gives one."""


@check_orders("RC505", "RC507")
def set_order(order: Order) -> Iterator[Hit]:
    """Find a set whose order is used: its elements are numbered, drawn from, or made a sequence."""
    steps = of_kind(order.steps, Call, Loop)
    inputs = chain.from_iterable(map(attrgetter("inputs"), steps))
    values = {id(value): value for value in inputs}
    for value in filter(is_set, values.values()):
        kind = content(value)
        use = sequences.decided(order, value) if kind != "number" else None
        if use is None or (kind, use.strong, order.whole) not in _SEVERITIES:
            continue
        if kind == "object":
            message = f"a set of objects goes by memory address here, and {use.how}"
            yield hit("RC507", use.step, message)
            continue
        elements = _ELEMENTS[kind]
        yield hit(
            "RC505",
            use.step,
            f"the order of a set of {elements} differs in each process, and {use.how}",
            node=node_of(use.step),
            severity=_SEVERITIES[kind, use.strong, order.whole],
            patchable=kind == "text",
            more=_EVIDENCE[kind],
        )


@check_orders("RC505")
def hash_numbers(order: Order) -> Iterator[Hit]:
    """Find numbers that are made of the hash of a string: `hash(name) % n`."""
    for call in order.calls("builtins.hash"):
        decides = entropy.is_text(call.first) and _is_reckoned_with(call)
        if decides and not seed_values.feeds_seed(order, call):
            message = "`hash()` of a string differs in each process"
            yield hit(
                "RC505",
                call,
                message,
                by_hand=tr("Take `zlib.crc32` of its bytes, or a digest of `hashlib`."),
            )


@check_orders("RC507")
def address_order(order: Order) -> Iterator[Hit]:
    """Find sorting, or a minimum or maximum, with `id` as the key."""
    for call in order.methods(*_COMPARING):
        if is_address(call.keywords.get("key", UNKNOWN)):
            message = (
                f"`{call.method}` by `id` orders by memory address, which differs in each process"
            )
            yield hit("RC507", call, message)


_COMPARING = words("orders", "comparing")


def is_set(value: Value, depth: int = 0) -> bool:
    """Return whether a value is a set, as far as the source shows.

    `depth` is how many containers the recursion has gone through; `_DEEPEST` ends it.
    """
    if depth > _DEEPEST:
        return False
    for option in value.options():
        joined: tuple[Value, ...] = ()
        match option:
            case Items(kind="set") | Made(call=Call(name="builtins.set" | "builtins.frozenset")):
                return True
            case Part(key=None, whole=whole) if _holds_sets(whole, depth):
                return True
            case Made(call=Call(receiver=Value() as receiver, method=method)):
                if method in _SET_METHODS:
                    joined = (receiver,)
            case Derived(kind=kind, parts=parts) if kind in _SET_OPERATORS:
                joined = parts
        # `names = names | more` in a loop: what a value is made of may be the value itself.
        if any(is_set(part, depth + 1) for part in joined if part is not value):
            return True
    return False


def content(value: Value, depth: int = 0) -> str:
    """Return the kind of the elements of a set: `text`, `number`, `object`, or `unknown`.

    `depth` is how many containers the recursion has gone through; `_DEEPEST` ends it.
    """
    if depth > _DEEPEST:
        return "unknown"
    return _most_telling({_content(option, depth) for option in value.options()})


def _content(value: Value, depth: int) -> str:
    match value:
        case Constant(value=str()):
            return "text"
        case Items():
            if not value.elements:
                return _of_several(value.over, depth)
            kinds: set[str] = set()
            for element in value.elements:
                if entropy.is_text(element):
                    kinds.add("text")
                else:
                    kinds.add(_most_telling(set(map(_kind, element.options()))))
            return _most_telling(kinds)
        case Derived(kind=kind, parts=parts) if kind in _SET_OPERATORS:
            return _of_several(parts, depth)
        case Made():
            call = value.call
            known = _HELD_BY_NAME.get(call.name) or _HELD_BY_METHOD.get(call.method)
            if known is not None:
                return known
            match call:
                case Call(name="builtins.map", arguments=(function, *_)):
                    return _CONVERTED.get(function.name or "", "unknown")
                case Call(name=name, arguments=(first, *_)) if name in _KEEPS:
                    if entropy.is_text(first):
                        return "text"
                    return content(first, depth + 1)
                case Call(receiver=Value() as receiver, method=method) if method in _HANDS_ON:
                    return _of_several((receiver, *call.arguments), depth)
            return "unknown"
        case Part(key=None, whole=Items(items=items)):
            return _of_several(items, depth)
    return "unknown"


def _most_telling(kinds: set[str]) -> str:
    """Return the kind of a set with elements of several kinds: text, object, unknown, number."""
    return min(kinds, key=_TELLING.index, default="unknown")


def _kind(option: Value) -> str:
    """Return the kind of a set's element that is no text: `number`, `object`, or `unknown`."""
    match option:
        case Constant(value=int() | float()) | Derived(kind="Mod" | "FloorDiv" | "Sub" | "Pow"):
            return "number"
        case Instance(of=own):
            # Neither its class nor a base, which may be a library's, may say how to hash it.
            hashes_itself = own.find("__hash__") or own.find("__eq__") or own.external_bases()
            return "unknown" if hashes_itself else "object"
        case Made(call=Call(name=name)) if _LAYER.match(name):
            return "object"
        case Part(key=None, whole=Made(call=Call(method=method))) if method in _MODULES:
            return "object"
        case Made(call=Call(name=name)) | Part(key=None, whole=Made(call=Call(name=name))):
            return _KIND_OF_RESULT.get(name, "unknown")
    return "unknown"


def _of_several(values: Iterable[Value], depth: int) -> str:
    """Return the kind of the elements of several joined sets: a known kind of one set decides."""
    kinds = {content(value, depth + 1) for value in values}
    return min(kinds, key=_KNOWN.index, default="unknown")


def _holds_sets(value: Value, depth: int) -> bool:
    """Return whether the items of a container are sets.

    `defaultdict(set)`, or a dict of sets that the source spells out.
    """
    for option in value.options():
        match option:
            case Made(call=Call(name="collections.defaultdict", arguments=(factory, *_))):
                return factory.name in _SET
            case Items(kind="dict", items=[_, *_] as items):
                return all(is_set(item, depth + 1) for item in items)
    return False


_ELEMENTS = {"text": "strings", "unknown": "what may be strings"}
_EVIDENCE = {"text": {}, "unknown": UNSURE}


_SEVERITIES: dict[tuple[str, bool, bool], Severity | None] = {
    ("text", True, True): None,
    ("text", True, False): None,
    ("text", False, True): "warning",
    ("text", False, False): "note",
    ("unknown", True, True): "warning",
    ("unknown", True, False): "note",
    ("object", True, True): None,
    ("object", True, False): None,
    ("object", False, True): None,
}
"""By what a set holds, whether its use is strong, and whether this is a whole program: less than
the severity of the rule where strings are not seen, or nothing is drawn or numbered.

What is not here is not sure enough to be reported.
"""


def node_of(step: Step) -> ast.AST:
    """Return the expression to underline for a step: of a loop only the iterable."""
    match step.node:
        case ast.For(iter=gone_over) | ast.AsyncFor(iter=gone_over):
            return gone_over
        case ast.ListComp() | ast.SetComp() | ast.GeneratorExp() | ast.DictComp() as comprehension:
            return comprehension.generators[0].iter
    return step.node


def _is_reckoned_with(call: Call) -> bool:
    """Return whether a hash decides something, as a bucket (`hash(name) % n`) or a seed.

    A slot of a hash table decides nothing if the code then compares the key that lies there.
    """
    module = call.module
    parent = module.parent(call.node)
    if isinstance(parent, ast.Call) and module.names.of(parent.func) in _WHOLE_NUMBERS:
        parent = module.parent(parent)
    if not isinstance(parent, ast.BinOp) or not isinstance(parent.op, ast.Mod | ast.BitAnd):
        return False
    hashed = {ast.unparse(argument) for argument in syntax.given(call.node)[:1]}
    for comparison in syntax.comparisons(call):
        match comparison:
            case ast.Compare(left=ast.Constant()) | ast.Compare(comparators=[ast.Constant()]):
                continue
            case ast.Compare(left=left, ops=[ast.Eq()], comparators=[right]):
                if not hashed.isdisjoint({ast.unparse(left), ast.unparse(right)}):
                    return False
    return True


_WHOLE_NUMBERS = ("builtins.abs", "builtins.int")


def is_address(key: Value) -> bool:
    """Return whether a sorting key is the memory address: `id`, or `lambda x: id(x)`."""
    if key.name == "builtins.id":
        return True
    match getattr(key, "node", None):
        case ast.Lambda(body=ast.Call(func=ast.Name(id="id"))):
            return True
    return False
