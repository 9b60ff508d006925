"""Find code that draws a different number of times, or makes different data, in each run."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from itertools import chain, islice

from reprocheck.language import tr
from reprocheck.scan import syntax
from reprocheck.scan.checks import entropy, tables
from reprocheck.scan.index import of_kind, within
from reprocheck.scan.order import Order
from reprocheck.scan.project import Module, Project
from reprocheck.scan.registry import Hit, check, check_orders, hit
from reprocheck.scan.steps import Call
from reprocheck.scan.values import Derived, Value
from reprocheck.scan.vocabulary import names

_TENSORS = names("entropy", "tensors")
_DRAWN = ("random.", "numpy.random.", "torch.", "tensorflow.random.")


@check_orders("RC403")
def shifted(order: Order) -> Iterator[Hit]:
    """Find draws in a loop whose number of iterations differs in each run."""
    for loop in order.loops():
        turns = next(loop.value.calls("builtins.range"), None)
        if turns is None or not turns.arguments:
            continue
        source = entropy.inside(turns.arguments[-1])
        if source is None:
            continue
        body = loop.node.body if isinstance(loop.node, ast.For) else [loop.node]
        draw = _draw(loop.module, body)
        if draw is not None:
            message = (
                f"`{ast.unparse(draw.func)}` is called as often as {entropy.described(source)} says"
            )
            yield hit("RC403", loop, message, node=draw, by_hand=_apart(loop.module, loop.node))


@check_orders("RC604")
def changing_data(order: Order) -> Iterator[Hit]:
    """Find OS entropy, hashes of strings and parts of the clock (as `time() % 60`) in a tensor."""
    for call in order.calls(*_TENSORS):
        found = entropy.inside(call.first)
        if found is None or not _becomes_data(found, call.first):
            continue
        made = ""
        if found.module is order.root:
            made = ":".join(map(str, found.module.source.span(found.node)))
        message = f"this holds {entropy.described(found)}, another value in each run"
        yield hit("RC604", call, message, made=made)


def _becomes_data(found: Call, value: Value) -> bool:
    """Return whether a changing value counts as data: a clock only if taken modulo a number, and
    neither a measured load nor a hash.
    """
    kind = entropy.source(found)
    if kind == "clock":
        # A remainder is taken of a phase; what is only measured is none.
        computed = of_kind(islice(value.origin(), 200), Derived)
        return any(one.kind in ("Mod", "BitAnd") for one in computed)
    return kind not in ("load", "hash")


@check("RC403")
def until(module: Module, project: Project) -> Iterator[Hit]:
    """Find draws in a loop that ends at a time of the clock."""
    for node in module.nodes(ast.While):
        clock = next(filter(None, syntax.called(module, node.test)), "")
        if entropy.kind(clock) != "clock" or _is_apart(module, node):
            continue
        draw = _draw(module, node.body)
        if draw is not None:
            message = (
                f"`{ast.unparse(draw.func)}` is called as often as the clock (`{clock}`) allows"
            )
            evidence = {"by_hand": _apart(module, node)}
            yield Hit(code="RC403", module=module, node=draw, message=message, evidence=evidence)


def _apart(module: Module, loop: ast.AST) -> str:
    """Return what to write so that the draws of a loop change no other draw: a `fork_rng` block if
    only torch draws, else a fixed number of iterations.
    """
    drawing = {module.name_of(call.func).partition(".")[0] for call in _draws(module, [loop])}
    if drawing == {"torch"} and isinstance(loop, ast.For | ast.While):
        return tr(
            "Put the whole loop of line {line} into `with torch.random.fork_rng():`, so that its"
            " draws move no other.",
            line=loop.lineno,
        )
    return tr("Let a fixed number decide how often the loop runs.")


def _is_apart(module: Module, node: ast.AST) -> bool:
    """Return whether a node stands in `with torch.random.fork_rng()`, so that its draws change no
    others.
    """
    blocks = of_kind(module.around(node), ast.With)
    contexts = chain.from_iterable(block.items for block in blocks)
    return any("fork_rng" in ast.unparse(item.context_expr) for item in contexts)


def _draw(module: Module, body: Sequence[ast.AST]) -> ast.Call | None:
    """Return the first call in some statements that draws."""
    return next(_draws(module, body), None)


def _draws(module: Module, body: Sequence[ast.AST]) -> Iterator[ast.Call]:
    """Return the calls in some statements that draw."""
    return (call for call in within(body, ast.Call) if _is_draw(module.name_of(call.func)))


def _is_draw(name: str) -> bool:
    """Return whether a call by this name draws from a generator that the rest of the program
    shares.
    """
    return name.startswith(_DRAWN) and name in tables.draws()
