"""Find out whether drawn weights are replaced later: by a checkpoint, constants, or other draws.

Other draws are findings of their own.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable
from dataclasses import replace
from functools import partial
from itertools import chain

from reprocheck.scan.checks import streams
from reprocheck.scan.index import within
from reprocheck.scan.names import last_word
from reprocheck.scan.order import Order
from reprocheck.scan.steps import Call, Condition, Step
from reprocheck.scan.values import Part, Value, literal
from reprocheck.scan.vocabulary import names, words

_OVERRIDDEN = frozenset({"bias", "grad", "running_mean", "running_var"})
"""Parameters and buffers that say nothing of the weights that are filled."""
_LOADS = names("weights", "loads")
_FILLS = words("weights", "fills")
_INITIALISERS = "torch.nn.init."
DRAWS = frozenset({"normal_", "uniform_"})


def are_replaced(order: Order, layer: Call) -> bool:
    """Return whether all weights that a layer draws are replaced later on."""
    own = set(layer.conditions)
    # `if args.resume:`, the branch that goes on from a checkpoint
    asked = {last_word(condition.test) for condition in own if condition.taken}
    if not asked.isdisjoint({"resume", "resume_training"}):
        return True
    comes_later = partial(order.is_before, layer)
    # A checkpoint is loaded where the weights are drawn: under no other conditions, or in the two
    # branches of one question.
    loads = filter(comes_later, order.methods(*_LOADS))
    others = [set(load.conditions) - own for load in loads]
    branches: set[Condition] = set().union(*(one for one in others if len(one) == 1))
    opposites = (replace(branch, taken=not branch.taken) for branch in branches)
    if set() in others or not branches.isdisjoint(opposites):
        return True
    for store in order.stores():
        # `layer.weight = nn.Parameter(...)`: where that is drawn, it is a draw of its own
        filled = store.target
        if isinstance(filled, Part) and store.name.endswith(".weight.data"):
            filled = filled.whole
        is_of_weight = store.name.endswith((".weight", ".weight.data"))
        if is_of_weight and filled is layer.result and comes_later(store):
            return True
    later = list(filter(comes_later, order.flow(layer.result)))
    for step in later:
        if step.method in _FILLS and own.issuperset(step.conditions):
            tensor = _filled(step)
            if tensor is not None and _OVERRIDDEN.isdisjoint(keys(tensor.origin())):
                return True
    return _are_drawn_again(order, layer, later)


def keys(values: Iterable[Value]) -> set[str | None]:
    """Return the names of those values that are attributes, as `fc` for `self.fc`."""
    return {value.key for value in values if isinstance(value, Part)}


def _filled(step: Step) -> Value | None:
    """Return the tensor that an initializer or a method that draws in place fills."""
    if isinstance(step, Call) and step.name.startswith(_INITIALISERS):
        return step.argument(0)
    return getattr(step, "receiver", None)


_PLAIN = re.compile(r"^torch\.nn\.(Linear|Conv\w+|Embedding)$")
"""Layers that draw a weight, and a bias unless they have none."""


def _are_drawn_again(order: Order, layer: Call, later: list[Step]) -> bool:
    """Return whether all weights of a layer are drawn or filled again: by `reset_parameters`, in a
    loop over layers of its kind, or in a function given to `apply`.
    """
    own = set(layer.conditions)
    resets = (step for step in later if getattr(step, "name", "") == f"{layer.name}{streams.RESET}")
    if any(own.issuperset(one.conditions) for one in resets):
        return True
    if not _PLAIN.search(layer.name):
        return False
    applied = [step for step in later if step.method == "apply"]
    inside = (step for step in order.steps if step.by is not None and step.by in applied)
    kind = layer.name.rpartition(".")[2]
    filled: set[str | None] = set()
    for step in chain(later, inside):
        is_initialiser = getattr(step, "name", "").startswith(_INITIALISERS)
        tensor = _filled(step)
        if tensor is None or not (is_initialiser or step.method in _FILLS | DRAWS):
            continue
        if all(_is_of_kind(kind, one) for one in step.conditions if one not in own):
            filled |= keys(tensor.origin())
    bias = layer.keywords.get("bias")
    drawn = {"weight", "bias"}
    if layer.name.endswith(".Embedding") or (bias is not None and literal(bias) is False):
        drawn = {"weight"}
    return filled.issuperset(drawn)


def _is_of_kind(kind: str, condition: Condition) -> bool:
    """Return whether a condition holds for a layer of this kind: `isinstance(m, nn.Conv2d)`,
    `name.find("Conv") != -1`, or a test for a bias.
    """
    kinds: list[str] = []
    for part in within(condition.test, ast.Constant, ast.Attribute, ast.Name):
        word = str(part.value) if isinstance(part, ast.Constant) else last_word(part)
        kinds += filter(_KIND.search, (word, *map(str.capitalize, word.split("_"))))
    if not kinds:
        return condition.taken and _ASKS_FOR_ONE.search(ast.unparse(condition.test)) is not None
    return any(one in kind for one in kinds) is condition.taken


_ASKS_FOR_ONE = re.compile(r"is not None|hasattr")


_KIND = re.compile(r"^(Linear|Conv|Embedding|Batch|Instance|Group|Layer|LSTM|GRU|RNN)")
