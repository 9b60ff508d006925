"""Weights that are replaced after they were drawn: by a checkpoint, by constants, or by other draws
(those are found then).
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator
from dataclasses import replace
from functools import partial
from itertools import chain

from reprocheck.scan.checks import streams
from reprocheck.scan.index import within
from reprocheck.scan.names import last_word
from reprocheck.scan.order import Order
from reprocheck.scan.steps import Call, Condition, Step, Store
from reprocheck.scan.values import Part, Value, literal
from reprocheck.scan.vocabulary import names, words

_OVERRIDDEN = frozenset({"bias", "grad", "running_mean", "running_var"})
"""Parameters and buffers that say nothing of the weights that are filled."""
_LOADS = names("weights", "loads")
_FILLS = words("weights", "fills")
_INITIALISERS = "torch.nn.init."
DRAWS = frozenset({"normal_", "uniform_"})


def are_replaced(order: Order, layer: Call) -> bool:
    """Return whether the weights are all replaced afterwards."""
    own = set(layer.conditions)
    if any(map(_asks_for_checkpoint, own)):
        return True
    comes_later = partial(order.is_before, layer)
    if _one_happens(own, filter(comes_later, order.methods(*_LOADS))):
        return True
    if any(map(comes_later, filter(partial(_sets_weight, layer), order.stores()))):
        return True
    later = list(filter(comes_later, order.flow(layer.result)))
    fills = (step for step in later if step.method in _FILLS)
    if any(own.issuperset(fill.conditions) for fill in filter(_fills_more_than_bias, fills)):
        return True
    return _are_drawn_again(order, layer, later)


def _asks_for_checkpoint(condition: Condition) -> bool:
    """`if args.resume:`, the branch that goes on from a checkpoint."""
    match condition.test:
        case ast.Name() | ast.Attribute():
            return condition.taken and last_word(condition.test) in ("resume", "resume_training")
    return False


def keys(values: Iterable[Value]) -> set[str | None]:
    """Return the attributes among some values, by their names."""
    return {value.key for value in values if isinstance(value, Part)}


def _sets_weight(layer: Call, store: Store) -> bool:
    """`layer.weight = nn.Parameter(...)`: where that is drawn, it is a draw of its own."""
    filled = store.target
    if isinstance(filled, Part) and store.name.endswith(".weight.data"):
        filled = filled.whole
    return filled is layer.result and store.name.endswith((".weight", ".weight.data"))


def _one_happens(own: set[Condition], steps: Iterable[Step]) -> bool:
    """Return whether one of some steps happens under conditions that hold: it has no others, or
    those are the two branches of one question.
    """
    others = [set(step.conditions) - own for step in steps]
    branches: set[Condition] = set().union(*(one for one in others if len(one) == 1))
    opposites = (replace(one, taken=not one.taken) for one in branches)
    return set() in others or not branches.isdisjoint(opposites)


def _fills_more_than_bias(step: Step) -> bool:
    """Return whether a call that fills a tensor fills the weights."""
    filled = _filled(step)
    return filled is not None and _OVERRIDDEN.isdisjoint(keys(filled.origin()))


def _filled(step: Step) -> Value | None:
    """Return what a call fills."""
    if isinstance(step, Call) and step.name.startswith(_INITIALISERS):
        return step.argument(0)
    return getattr(step, "receiver", None)


_PLAIN = re.compile(r"^torch\.nn\.(Linear|Conv\w+|Embedding)$")
"""Layers that draw a weight, and a bias unless they have none."""


def _are_drawn_again(order: Order, layer: Call, later: list[Step]) -> bool:
    """Return whether all that a layer drew is drawn or filled again: by the layer itself, in a loop
    over layers of its kind, or in a function that is applied to all.
    """
    own = set(layer.conditions)
    resets = (step for step in later if getattr(step, "name", "") == f"{layer.name}{streams.RESET}")
    if any(own.issuperset(one.conditions) for one in resets):
        return True
    if not _PLAIN.search(layer.name):
        return False
    applied = [step for step in later if step.method == "apply"]
    inside = (step for step in order.steps if step.by is not None and step.by in applied)
    filled = {name for step in chain(later, inside) for name in _filled_of(layer, step)}
    return filled.issuperset(_drawn(layer))


def _drawn(layer: Call) -> set[str]:
    """Return the names of what a layer draws."""
    bias = layer.keywords.get("bias")
    if layer.name.endswith(".Embedding") or (bias is not None and literal(bias) is False):
        return {"weight"}
    return {"weight", "bias"}


def _filled_of(layer: Call, step: Step) -> Iterator[str]:
    """Yield which of them a step fills, if it is for layers of this kind."""
    is_filling = step.method in _FILLS | DRAWS or getattr(step, "name", "").startswith(
        _INITIALISERS
    )
    filled = _filled(step)
    if not is_filling or filled is None:
        return
    own = set(layer.conditions)
    kind = layer.name.rpartition(".")[2]
    if all(_is_of_kind(kind, one) for one in step.conditions if one not in own):
        found = keys(filled.origin())
        yield from (name for name in ("weight", "bias") if name in found)


def _is_of_kind(kind: str, condition: Condition) -> bool:
    """`isinstance(m, nn.Conv2d)`, `name.find("Conv") != -1`, or one that asks whether there is a
    bias.
    """
    named = list(_kinds(condition.test))
    if not named:
        return condition.taken and _ASKS_FOR_ONE.search(ast.unparse(condition.test)) is not None
    return any(one in kind for one in named) is condition.taken


_ASKS_FOR_ONE = re.compile(r"is not None|hasattr")


def _kinds(test: ast.AST) -> Iterator[str]:
    """Yield the kinds of layers that a question names."""
    for part in within(test, ast.Constant, ast.Attribute, ast.Name):
        word = last_word(part)
        if isinstance(part, ast.Constant):
            word = str(part.value)
        yield from filter(_KIND.search, (word, *map(str.capitalize, word.split("_"))))


_KIND = re.compile(r"^(Linear|Conv|Embedding|Batch|Instance|Group|Layer|LSTM|GRU|RNN)")
