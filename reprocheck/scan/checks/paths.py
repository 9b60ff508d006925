"""Code that takes another path, or draws another number of times, in each run."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from itertools import islice

from reprocheck.scan.checks import entropy, tables
from reprocheck.scan.checks.streams import every
from reprocheck.scan.order import Order
from reprocheck.scan.project import Module, Project
from reprocheck.scan.registry import Hit, check, hit
from reprocheck.scan.steps import Call, Loop
from reprocheck.scan.values import Derived, Value

_TENSORS = (
    "torch.tensor", "torch.as_tensor", "numpy.array", "numpy.asarray", "mindspore.Tensor",
    "jax.numpy.array", "jax.numpy.asarray",
    "tensorflow.constant", "tensorflow.convert_to_tensor",
)  # fmt: skip
_DRAWN = ("random.", "numpy.random.", "torch.", "tensorflow.random.")


@check("RC403")
def shifted(module: Module, project: Project) -> Iterator[Hit]:
    """Draws in a loop whose number of turns is another in each run."""
    for order in module.orders:
        for loop in order.loops():
            turns = next(loop.value.calls("builtins.range"), None)
            found = (
                entropy.inside(turns.arguments[-1])
                if turns is not None and turns.arguments
                else None
            )
            if found is not None and (draw := _draw_in(loop)) is not None:
                message = (
                    f"`{ast.unparse(draw.func)}` is called as often as {entropy.described(found)}"
                    " says"
                )
                yield hit("RC403", loop, message, node=draw, by_hand=_apart(module, draw))


@check("RC604")
def changing_data(module: Module, project: Project) -> Iterator[Hit]:
    """Entropy, hashes of strings and phases of the clock that become data."""
    for order in module.orders:
        for call in order.calls(*_TENSORS):
            found = entropy.inside(call.arguments[0]) if call.arguments else None
            kind = entropy.source(found) if found is not None else None
            if (
                found is None
                or kind in (None, "load", "hash")
                or (kind == "clock" and not _is_phase(call.arguments[0]))
            ):
                continue
            made = (
                ":".join(map(str, found.module.source.span(found.node)))
                if found.module is module
                else ""
            )
            yield hit(
                "RC604",
                call,
                f"this holds {entropy.described(found)}, another value in each run",
                made=made,
            )


def _is_phase(value: Value) -> bool:
    """Whether a remainder is taken: what is only measured is no phase."""
    return any(
        isinstance(one, Derived) and one.kind in ("Mod", "BitAnd")
        for one in islice(value.origin(), 200)
    )


@check("RC605")
def other_path(module: Module, project: Project) -> Iterator[Hit]:
    """An index or a condition of the clock."""
    for order in module.orders:
        for call in every(order):
            if entropy.kind(call.name) is None or not _chooses(order, call):
                continue
            yield hit(
                "RC605",
                call,
                f"{entropy.described(call)} decides which branch the program takes here",
            )


@check("RC403")
def until(module: Module, project: Project) -> Iterator[Hit]:
    """Draws in a loop that ends by the clock."""
    for node in module.nodes(ast.While):
        if not _is_apart(module, node):
            clock = next(
                (
                    name
                    for part in ast.walk(node.test)
                    if isinstance(part, ast.Call) and (name := module.names.of(part.func))
                ),
                None,
            )
            if (
                clock is not None
                and entropy.kind(clock) == "clock"
                and (draw := _draw(module, node.body)) is not None
            ):
                message = (
                    f"`{ast.unparse(draw.func)}` is called as often as the clock (`{clock}`) allows"
                )
                evidence = {"by_hand": _apart(module, draw)}
                yield Hit(
                    code="RC403", module=module, node=draw, message=message, evidence=evidence
                )


def _apart(module: Module, draw: ast.Call) -> str:
    """How a draw moves no generator of the rest."""
    if (module.names.of(draw.func) or "").startswith("torch."):
        return "Draw it within `with torch.random.fork_rng():`, which moves no other draw."
    return "Draw it from a generator of its own, which has a seed and moves no other draw."


def _is_apart(module: Module, node: ast.AST) -> bool:
    """Whether draws there move no generator of the rest: `with torch.random.fork_rng()`."""
    at = module.parent(node)
    while at is not None:
        if isinstance(at, ast.With) and any(
            "fork_rng" in ast.unparse(item.context_expr) for item in at.items
        ):
            return True
        at = module.parent(at)
    return False


def _draw_in(loop: Loop) -> ast.Call | None:
    return _draw(loop.module, loop.node.body if isinstance(loop.node, ast.For) else [loop.node])


def _draw(module: Module, body: Sequence[ast.AST]) -> ast.Call | None:
    for part in (part for statement in body for part in ast.walk(statement)):
        if isinstance(part, ast.Call):
            name = module.names.of(part.func)
            if name and name.startswith(_DRAWN) and tables.draws().get(name) is not None:
                return part
    return None


def _chooses(order: Order, call: Call) -> bool:
    """Whether a remainder of it is an index, or stands in a condition: `layers[time.time_ns() %
    2]`. Time limits are no such thing.
    """
    node: ast.AST = call.node
    remainder = False
    while True:
        parent = call.module.parent(node)
        if isinstance(parent, ast.BinOp):
            remainder = remainder or isinstance(parent.op, ast.Mod | ast.BitAnd)
        elif isinstance(parent, ast.Subscript):
            return parent.slice is node and remainder
        elif isinstance(parent, ast.If | ast.IfExp | ast.While):
            return parent.test is node and remainder
        elif not isinstance(parent, ast.Compare | ast.BoolOp | ast.UnaryOp | ast.Call):
            return False
        if isinstance(parent, ast.Call) and call.module.names.of(parent.func) not in (
            "builtins.int",
            "builtins.bool",
            "builtins.round",
        ):
            return False
        node = parent
