"""Find hyper-parameters, data and numbers of draws that differ in each run.

They are made from the clock, the process id, or a draw.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, islice, pairwise

from reprocheck.language import tr
from reprocheck.scan import syntax
from reprocheck.scan.checks import entropy, tables
from reprocheck.scan.checks.streams import at, every
from reprocheck.scan.index import of_kind, within
from reprocheck.scan.memo import kept
from reprocheck.scan.names import last_part, last_word
from reprocheck.scan.order import Order
from reprocheck.scan.project import Module, Project
from reprocheck.scan.registry import Hit, check, check_orders, hit
from reprocheck.scan.steps import Call, Step
from reprocheck.scan.values import Derived, Value
from reprocheck.scan.vocabulary import by_name, names, pattern, words

_NAMES = pattern("hyper", "names")
_SCHEDULE = re.compile(r"\.(?:LambdaLR|MultiplicativeLR|LearningRateScheduler)$")
_KEYWORDS = words("hyper", "keywords")
_POSITIONS = by_name("hyper", "positions")
_PACKAGES = tuple(_POSITIONS)
_OPTIMIZER = pattern("hyper", "optimizer")


@dataclass(frozen=True, slots=True)
class _Given:
    """A hyper-parameter that a call gets.

    call   the call, as of an optimizer
    value  the value of the hyper-parameter
    word   its name in messages
    """

    call: Call
    value: Value
    word: str


@check_orders("RC201")
def changing(order: Order) -> Iterator[Hit]:
    """Find hyper-parameters that are made from the clock, the process id or OS entropy."""
    for given in _given(order):
        source = entropy.inside(given.value)
        if source is None:
            continue
        message = f"{given.word} of `{given.call.method}` comes from {entropy.described(source)}"
        by_hand = ""
        if given.word == "`batch_size`":
            by_hand = tr("Give {word} a fixed number.", word=given.word)
        yield hit("RC201", given.call, message, source=source.name, by_hand=by_hand)


@check_orders("RC201")
def changing_schedule(order: Order) -> Iterator[Hit]:
    """Find a learning rate schedule whose function reads the clock or another changing value."""
    for call in every(order):
        schedule = call.by
        if schedule is None or not _SCHEDULE.search(schedule.name):
            continue
        if entropy.kind(call.name) is not None:
            place = at(call, schedule.module)
            message = f"the learning rate follows {entropy.described(call)} ({place})"
            yield hit("RC201", schedule, message, source=call.name)


@check_orders("RC201")
def changing_variable(order: Order) -> Iterator[Hit]:
    """Find a variable with the name of a hyper-parameter that is made from a changing value.

    As the clock is. No optimizer is seen to take the variable.
    """
    for value, name in _assigned(order.root):
        source = entropy.inside(order.value_of(value))
        if source is None:
            continue
        if not any(entropy.inside(given.value) is source for given in _given(order)):
            message = f"`{name}` comes from {entropy.described(source)}"
            yield Hit(code="RC201", module=order.root, node=value, message=message)


@kept
def _assigned(module: Module) -> tuple[tuple[ast.expr, str], ...]:
    """Return the values that are assigned to names of hyper-parameters, each with the name.

    The names are those of variables, attributes and dictionary keys.
    """
    nodes = module.nodes(ast.Assign, ast.AnnAssign, ast.AugAssign)
    names = ((node.value, _name(target)) for node in nodes for target in _targets(node))
    return tuple((value, name) for value, name in names if value and _NAMES.match(name))


def sink(order: Order, draw: Call) -> str | None:
    """Return the name of the hyper-parameter that a draw becomes; None if it becomes none."""
    return named(draw) or _fed(order).get(id(draw))


def named(call: Call) -> str | None:
    """Return the hyper-parameter to which the statement around a call assigns, as `lr`.

    None if it assigns to none.
    """
    return next(filter(_NAMES.match, targets(call)), None)


def targets(call: Step) -> tuple[str, ...]:
    """Return the names that the assignment around a call assigns to.

    Keys as of `group["lr"]` included.
    """
    names = map(_name, _targets(call.statement))
    return tuple(filter(None, names))


def _targets(statement: ast.AST | None) -> list[ast.expr]:
    """Return the target expressions of an assignment of any kind."""
    match statement:
        case ast.AnnAssign(target=target) | ast.AugAssign(target=target):
            return [target]
    return syntax.targets(statement)


_OTHERS = words("hyper", "others")


def is_pause(call: Call) -> bool:
    """Return whether a number only says how long to wait: `time.sleep(random.random() * 0.02)`."""
    around = of_kind(call.module.around(call.node), ast.Call)
    return any(last_part(call.module.name_of(one.func)) == "sleep" for one in around)


def is_for_others(call: Call) -> bool:
    """Return whether a number is for a port, a name or the like, which change no training.

    By the name that it is assigned to, its dictionary key, or its loop variable.
    """
    names = set(targets(call))
    around = [call.node, *call.module.expressions_around(call.node), call.statement]
    for child, node in pairwise(around):
        match node:
            case ast.Dict(keys=keys, values=values):
                pairs = zip(keys, values, strict=True)
                names.update(_key(key) for key, value in pairs if value is child)
            case ast.For(target=target, iter=gone_over) if gone_over is child:
                names.add(_name(target))
    return not names.isdisjoint(_OTHERS)


def _key(key: ast.expr | None) -> str:
    """Return a dictionary key that the source spells out, in lower case; "" for any other key."""
    match key:
        case ast.Constant(value=value):
            return str(value).lower()
    return ""


def _name(target: ast.AST) -> str:
    """Return the name of a target in lower case: a variable, an attribute, a key."""
    match target:
        case ast.Subscript(slice=key):
            return _key(key)
    return last_word(target).lower()


@kept
def _fed(order: Order) -> dict[int, str]:
    """Return a map from the ids of calls to the hyper-parameter that is made of their result."""
    return {id(made): one.word for one in _given(order) for made in entropy.mixed(one.value)}


@kept
def _given(order: Order) -> tuple[_Given, ...]:
    """Return the hyper-parameters that optimizers and schedules are given."""
    parameters: list[_Given] = []
    for call in every(order):
        if call.own:
            continue
        package = next(filter(call.name.startswith, _PACKAGES), None)
        if package is not None and _OPTIMIZER.search(call.name):
            position = int(_POSITIONS[package])
            for rate in call.arguments[position : position + 1]:
                parameters.append(_Given(call, rate, "the learning rate"))
        for keyword, value in call.keywords.items():
            if keyword in _KEYWORDS:
                parameters.append(_Given(call, value, f"`{keyword}`"))
    return tuple(parameters)


_TENSORS = names("entropy", "tensors")
_DRAWN = names("hyper", "drawn")


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
    """Return whether a changing value counts as data.

    A clock only if taken modulo a number, and neither a measured load nor a hash.
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
    """Return what to write so that the draws of a loop change no other draw.

    A `fork_rng` block if only torch draws, else a fixed number of iterations.
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
    """Return whether a node stands in `with torch.random.fork_rng()`.

    Its draws change no others then.
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
    """Return whether a call by this name draws from a generator that other code shares."""
    return name.startswith(_DRAWN) and name in tables.draws()
