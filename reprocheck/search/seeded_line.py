"""A line that makes a generator without a seed, or seeds one from the operating system: the same
line with a number.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from contextlib import suppress

from reprocheck.search.seeds_of_libraries import name_of

_TAKE_A_SEED = frozenset(
    {
        "default_rng",
        "RandomState",
        "SeedSequence",
        "PCG64",
        "PCG64DXSM",
        "MT19937",
        "Philox",
        "SFC64",
        "Random",
        "SeedGenerator",
    }
)
"""What makes a generator, and takes its seed as the first argument.

One that is given None starts from the operating system.
"""
_OF_SYSTEM = {"SystemRandom": "Random", "from_non_deterministic_state": "from_seed"}
"""What makes a generator from the operating system -> what beside it takes a number."""
_BARE = frozenset({"default_rng", "RandomState", "SeedSequence", "Random", "seed"})
"""What makes or seeds one from the operating system, where it is given no number."""
_BY_NUMBER = {
    "torch.Generator.seed": "manual_seed",
    "mindspore.Generator.seed": "manual_seed",
}
"""What a control acted on that takes no number -> the method beside it that takes one."""
_FACTORY = "default_factory"
"""The word by which a field of a dataclass is given what makes its value."""


def calls_of(text: str) -> list[ast.Call]:
    """Return the calls of a line that holds a whole statement, or the head of one: the outermost
    first.
    """
    statement = text.strip()
    for whole in (statement, f"{statement} pass"):
        with suppress(SyntaxError):
            return list(_calls_in(ast.parse(whole)))
    return []


def makes_one(call: ast.Call) -> bool:
    """Return whether a call makes a generator that takes its seed as the first argument."""
    return last(call.func) in _TAKE_A_SEED


def last(node: ast.expr) -> str:
    """`default_rng` of `np.random.default_rng`."""
    if isinstance(node, ast.Attribute):
        return node.attr
    return name_of(node)


def is_unseeded(calls: Iterable[ast.Call]) -> bool:
    """Return whether one of the calls makes or seeds a generator, and is given no number."""
    return any(_starts_from_system(call) or _makes_for_field(call) for call in calls)


def seeded_line(text: str, what: str = "") -> str:
    """Return a statement with a number for each generator that it makes or seeds without one; ""
    where it does something else. `what`: what a control acted on there.
    """
    try:
        tree = ast.parse(text.strip())
    except (SyntaxError, ValueError, RecursionError):
        return ""
    changed = [_seed(call, what) for call in _calls_in(tree)]
    if not any(changed):
        return ""
    return ast.unparse(tree)


def _seed(call: ast.Call, what: str) -> bool:
    """Give a call a number, where it needs one; return whether it does."""
    for word in _makes_for_field(call):
        maker = ast.Call(func=word.value, args=[ast.Constant(0)], keywords=[])
        word.value = ast.Lambda(args=_NOTHING, body=maker)
        return True
    if not _is_empty(call):
        return False
    match call.func:
        case ast.Attribute() as method if _taking_a_number(method, what):
            method.attr = _taking_a_number(method, what)
        case _ if not makes_one(call):
            return False
    call.args = [ast.Constant(0)]
    return True


def _taking_a_number(method: ast.Attribute, what: str) -> str:
    """Return what stands beside a method and takes a number; "" where nothing does. The module
    `secrets` has no generator but that of the system.
    """
    if name_of(method.value) == "secrets":
        return ""
    if method.attr == "seed":
        return _BY_NUMBER.get(what, "")
    return _OF_SYSTEM.get(method.attr, "")


_NOTHING = ast.arguments(posonlyargs=[], args=[], kwonlyargs=[], kw_defaults=[], defaults=[])
"""The arguments of a function that takes none."""


def _starts_from_system(call: ast.Call) -> bool:
    name = last(call.func)
    return name in _OF_SYSTEM or (name in _BARE and _is_empty(call))


def _makes_for_field(call: ast.Call) -> list[ast.keyword]:
    """`default_factory=np.random.default_rng`: a field that gets a generator without a seed."""
    words = (word for word in call.keywords if word.arg == _FACTORY)
    return [word for word in words if last(word.value) in _TAKE_A_SEED]


def _is_empty(call: ast.Call) -> bool:
    """Return whether a call gives no argument."""
    return not [*call.args, *call.keywords]


def _calls_in(tree: ast.AST) -> Iterator[ast.Call]:
    return (node for node in ast.walk(tree) if isinstance(node, ast.Call))
