"""Orders and numbers that come from hashes and addresses: sets, `hash()`, `id()`."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator

from reprocheck.rules.catalogue import Severity
from reprocheck.scan.checks import entropy, seed_values, sequences
from reprocheck.scan.checks.streams import every
from reprocheck.scan.order import Order
from reprocheck.scan.project import Module, Project
from reprocheck.scan.registry import Hit, check, hit
from reprocheck.scan.steps import Call, Loop, Step
from reprocheck.scan.values import Constant, Derived, Instance, Items, Made, Part, Value

_SET = frozenset({"builtins.set", "builtins.frozenset"})
_SET_METHODS = frozenset({"union", "intersection", "difference", "symmetric_difference", "copy"})
_SET_OPERATORS = frozenset({"BitOr", "BitAnd", "BitXor", "Sub"})
_KEEPS = (
    "builtins.list",
    "builtins.tuple",
    "builtins.sorted",
    "builtins.iter",
    "builtins.reversed",
    "builtins.set",
    "builtins.frozenset",
)
_NUMBERS = (
    "builtins.range",
    "builtins.int",
    "builtins.len",
    "builtins.float",
    "builtins.round",
    "builtins.abs",
    "builtins.ord",
    "numpy.arange",
)
UNSURE = {
    "unsure": (
        "the text does not show what the set holds, and `sorted` takes only what can be compared"
    )
}
"""Evidence of a finding whose patch must be tried before it is offered."""
_LAYER = re.compile(r"(torch|mindspore)\.nn\.[A-Z]\w*$")
"""Layers hash by their address."""
_DEEPEST = 6
"""How far containers in containers are followed: one may hold itself."""
_MODULES = frozenset({"parameters", "modules", "children", "get_parameters", "trainable_params"})


@check("RC505", "RC507")
def set_order(module: Module, project: Project) -> Iterator[Hit]:
    """A set that becomes a sequence, and is numbered, drawn from or collected in its order."""
    for order in module.orders:
        seen: set[int] = set()
        for step in order.steps:
            for value in step.inputs if isinstance(step, Call | Loop) else ():
                if id(value) not in seen and is_set(value):
                    seen.add(id(value))
                    yield from _of_set(order, value)


@check("RC505")
def hash_numbers(module: Module, project: Project) -> Iterator[Hit]:
    """`hash(name) % n` of a string."""
    for order in module.orders:
        for call in order.calls("builtins.hash"):
            if (
                not call.arguments
                or not entropy.is_text(call.arguments[0])
                or not _is_reckoned_with(call)
            ):
                continue
            if not seed_values.feeds_seed(order, call):
                message = "`hash()` of a string is another number in each process"
                yield hit(
                    "RC505",
                    call,
                    message,
                    by_hand="Take `zlib.crc32` of its bytes, or a digest of `hashlib`.",
                )


@check("RC507")
def address_order(module: Module, project: Project) -> Iterator[Hit]:
    """Sorting by `id`."""
    for order in module.orders:
        for call in every(order):
            key = call.keywords.get("key")
            if (
                call.method in ("sort", "sorted", "min", "max")
                and key is not None
                and _is_address(order, key)
            ):
                yield hit(
                    "RC507",
                    call,
                    f"`{call.method}` by `id` orders by memory address, which differs in each"
                    " process",
                )


def is_set(value: Value, depth: int = 0) -> bool:
    """Whether a value is a set, as far as can be seen."""
    for option in value.options() if depth <= _DEEPEST else ():
        if isinstance(option, Items):
            found = option.kind == "set"
        elif isinstance(option, Made):
            call = option.call
            found = call.name in _SET or (
                call.method in _SET_METHODS
                and call.receiver is not None
                and call.receiver is not value
                and is_set(call.receiver, depth + 1)
            )
        elif isinstance(option, Derived):
            found = option.kind in _SET_OPERATORS and any(
                is_set(part, depth + 1) for part in option.parts if part is not value
            )
        elif isinstance(option, Part):
            found = option.key is None and _holds_sets(option.whole, depth)
        else:
            found = False
        if found:
            return True
    return False


def content(value: Value, depth: int = 0) -> str:
    """What a set, or what it was made of, holds: `text`, `number`, `object`, or `unknown`."""
    if depth > _DEEPEST:
        return "unknown"
    kinds = {_content(option, depth) for option in value.options()}
    for kind in ("text", "object", "unknown"):
        if kind in kinds:
            return kind
    return "number" if kinds else "unknown"


def _content(value: Value, depth: int) -> str:
    if isinstance(value, Constant):
        return "text" if isinstance(value.value, str) else "unknown"
    if isinstance(value, Items):
        return _of_items(value, depth)
    if isinstance(value, Derived) and value.kind in _SET_OPERATORS:
        return _first_known(content(part, depth + 1) for part in value.parts)
    if isinstance(value, Made):
        return _of_made(value, depth)
    if isinstance(value, Part) and value.key is None and isinstance(value.whole, Items):
        return _first_known(content(item, depth + 1) for item in value.whole.items)
    return "unknown"


def _of_items(value: Items, depth: int) -> str:
    parts = value.keys if value.kind == "dict" else value.items
    if not parts:
        return _first_known(content(one, depth + 1) for one in value.over)
    kinds = {_element(part) for part in parts}
    for kind in ("text", "object", "unknown"):
        if kind in kinds:
            return kind
    return "number"


def _element(part: Value) -> str:
    if entropy.is_text(part):
        return "text"
    kinds = set()
    for option in part.options():
        if isinstance(option, Constant):
            kinds.add("number" if isinstance(option.value, int | float | bool) else "unknown")
        elif isinstance(option, Instance):
            kinds.add(
                "object"
                if option.of.find("__hash__") is None
                and option.of.find("__eq__") is None
                and not option.of.external_bases()
                else "unknown"
            )
        elif isinstance(option, Made) and (
            option.call.name == "builtins.object" or _LAYER.match(option.call.name)
        ):
            kinds.add("object")
        elif (isinstance(option, Made) and option.call.name in _NUMBERS) or (
            isinstance(option, Part)
            and option.key is None
            and isinstance(option.whole, Made)
            and option.whole.call.name in _NUMBERS
        ):
            kinds.add("number")
        elif (
            isinstance(option, Part)
            and option.key is None
            and isinstance(option.whole, Made)
            and option.whole.call.method in _MODULES
        ):
            kinds.add("object")
        elif isinstance(option, Derived) and option.kind in ("Mod", "FloorDiv", "Sub", "Pow"):
            kinds.add("number")
        else:
            kinds.add("unknown")
    return next((kind for kind in ("text", "object", "unknown") if kind in kinds), "number")


def _of_made(value: Made, depth: int) -> str:
    call = value.call
    if call.name in _NUMBERS:
        return "number"
    if call.name == "builtins.map" and call.arguments:
        return {"builtins.str": "text", "builtins.int": "number"}.get(
            call.arguments[0].name or "", "unknown"
        )
    if call.name in _KEEPS and call.arguments:
        first = call.arguments[0]
        return "text" if entropy.is_text(first) else content(first, depth + 1)
    if call.method in ("split", "splitlines", "listdir", "readlines") or call.name in (
        "os.listdir",
        "glob.glob",
    ):
        return "text"
    if call.method in _MODULES:
        return "object"
    if call.method in _SET_METHODS and call.receiver is not None:
        return _first_known(
            [
                content(call.receiver, depth + 1),
                *(content(one, depth + 1) for one in call.arguments),
            ]
        )
    if call.method == "keys" and call.receiver is not None:
        return content(call.receiver, depth + 1)
    return "unknown"


def _first_known(kinds: Iterable[str]) -> str:
    found = list(kinds)
    return next((kind for kind in ("text", "object", "number") if kind in found), "unknown")


def _holds_sets(value: Value, depth: int) -> bool:
    """`defaultdict(set)`, and a dict of sets that the source spells out."""
    for option in value.options():
        if (
            isinstance(option, Made)
            and option.call.name == "collections.defaultdict"
            and option.call.arguments
        ):
            return option.call.arguments[0].name in _SET
        if isinstance(option, Items) and option.kind == "dict" and option.items:
            return all(is_set(item, depth + 1) for item in option.items)
    return False


def _of_set(order: Order, value: Value) -> Iterator[Hit]:
    kind = content(value)
    if kind == "number":
        return
    use = sequences.decided(order, value)
    if use is None or (kind == "unknown" and not (use.strong and order.whole)):
        return
    elsewhere = not use.strong and not order.whole
    if elsewhere and kind != "text":
        return
    if kind == "object":
        yield hit("RC507", use.step, f"a set of objects goes by memory address here, and {use.how}")
        return
    of = "strings" if kind == "text" else "what may be strings"
    severity: Severity | None = None if kind == "text" and use.strong else "warning"
    if elsewhere:
        severity = "note"
    yield hit(
        "RC505",
        use.step,
        f"the order of a set of {of} differs in each process, and {use.how}",
        node=_node(use.step, value),
        severity=severity,
        patchable=kind == "text",
        more={} if kind == "text" else UNSURE,
    )


def _node(step: Step, value: Value) -> ast.AST:
    """The expression to underline: what is gone over, not the whole loop."""
    node = step.node
    if isinstance(node, ast.For | ast.AsyncFor):
        return node.iter
    if isinstance(node, ast.ListComp | ast.SetComp | ast.GeneratorExp | ast.DictComp):
        return node.generators[0].iter
    return node


def _is_reckoned_with(call: Call) -> bool:
    """Whether the number decides something: a bucket, a seed.

    A place in a table does not, where the key that lies there is looked at.
    """
    if _is_compared(call):
        return False
    parent = call.module.parent(call.node)
    if isinstance(parent, ast.Call) and call.module.names.of(parent.func) in (
        "builtins.abs",
        "builtins.int",
    ):
        parent = call.module.parent(parent)
    return isinstance(parent, ast.BinOp) and isinstance(parent.op, ast.Mod | ast.BitAnd)


def _is_compared(call: Call) -> bool:
    """Whether the function asks if what lies somewhere equals the very thing that was hashed."""
    node = call.node.args[0] if isinstance(call.node, ast.Call) and call.node.args else None
    function = call.module.function_of(call.node)
    if node is None or function is None:
        return False
    hashed = ast.unparse(node)
    for part in ast.walk(function):
        if isinstance(part, ast.Compare) and len(part.ops) == 1 and isinstance(part.ops[0], ast.Eq):
            sides = (part.left, part.comparators[0])
            if any(ast.unparse(one) == hashed for one in sides) and not any(
                isinstance(one, ast.Constant) for one in sides
            ):
                return True
    return False


def _is_address(order: Order, key: Value) -> bool:
    if key.name == "builtins.id":
        return True
    node = getattr(key, "node", None)
    return (
        isinstance(node, ast.Lambda)
        and isinstance(node.body, ast.Call)
        and isinstance(node.body.func, ast.Name)
        and node.body.func.id == "id"
    )
