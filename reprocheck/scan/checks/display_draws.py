"""Draws that nobody trains on: what is shown or measured, and what is only asked for its type."""

from __future__ import annotations

import ast
import re
from itertools import chain
from operator import attrgetter

from reprocheck.scan import syntax
from reprocheck.scan.checks import reach, streams
from reprocheck.scan.index import of_kind, within
from reprocheck.scan.memo import kept
from reprocheck.scan.names import last_word
from reprocheck.scan.order import Order
from reprocheck.scan.steps import Call, Step
from reprocheck.scan.vocabulary import words

_SHOWS = re.compile(r"^_?(plot|show|highlight|visuali[sz]e|display)(_|$)|^_test(_|$)")
_MEASURES = re.compile(
    r"(^|_)"
    r"(benchmark|benchmarking|profile|profiling|debug|dry_run|smoke_test|sanity_check)"
    r"(_mode|_run)?$",
    re.IGNORECASE,
)
_PICTURES = words("shown", "pictures")
_GOES_ON = streams.TRAINING_METHODS | {"DataLoader", "TensorDataset", "from_tensor_slices", "step"}
_ASKED = frozenset({"shape", "dtype", "ndim"})
_ASKS = frozenset({"isinstance", "type", "len"})


def is_for_show(order: Order, call: Call) -> bool:
    """Return whether the result of a draw is only shown, measured, or asked for its type, and no
    training uses the result.
    """
    ways = (is_in_showing_function, is_in_showing_branch, is_asked_for_type)
    if any(holds(call) for holds in ways):
        return True
    return any(holds(order, call) for holds in (is_pictured, is_printed, is_only_told))


def is_tried_out(order: Order, call: Call) -> bool:
    """Return whether a notebook cell draws a value that reaches no layer and no training, as when
    the cell only demonstrates a library.
    """
    is_in_cell = bool(call.module.source.cells) and not call.function_name
    is_in_place = isinstance(call.parent, ast.Expr) and call.method in _IN_PLACE
    if not is_in_cell or call.loops or is_in_place:
        return False
    return not any(map(_goes_on, order.flow(call.result)))


_IN_PLACE = frozenset({"shuffle"})


def _goes_on(step: Step) -> bool:
    """Return whether a step takes a value to a layer, or to a training."""
    if step.method in ("__call__", "forward"):
        return True
    is_pass = step.method == "backward" and step.happens_once
    return step.method in _GOES_ON and not is_pass


def is_in_showing_function(call: Call) -> bool:
    """Return whether a call stands in a function that shows something, as `plot_samples`, or in a
    branch that only measures, as `if benchmark:`.
    """
    names = map(attrgetter("name"), reach.functions(call))
    if any(map(_SHOWS.match, names)):
        return True
    taken = (condition.test for condition in call.conditions if condition.taken)
    return any(map(_MEASURES.search, map(last_word, taken)))


def is_in_showing_branch(call: Call) -> bool:
    """Return whether a call stands in a branch that makes a picture every few steps and trains
    nothing, as `if step % 100 == 0:`.
    """
    branches = of_kind(call.module.around(call.node), ast.If)
    return any(
        any(isinstance(part, ast.Mod) for part in within(branch.test, ast.AST))
        and _is_of_pictures(set(map(syntax.word, within(branch.body, ast.Call))))
        for branch in branches
    )


def is_asked_for_type(call: Call) -> bool:
    """Return whether only the type or shape of a draw is used: `isinstance(space.sample(), int)`,
    `space.sample().shape`.
    """
    match call.parent:
        case ast.Attribute(attr=asked):
            return asked in _ASKED
    return syntax.word(call.parent) in _ASKS


def is_printed(order: Order, call: Call) -> bool:
    """Return whether a draw only goes into a printed text, as in `print(generate(model))`, and the
    function that draws trains nothing.
    """
    if not streams.trains(order):
        return False  # printing is all that is done with it
    printed: set[int] = set()
    for module, node in call.places:
        around = map(syntax.word, module.expressions_around(node))
        if not _PRINTS.isdisjoint(around):
            printed.add(id(node))
    if not printed or any(map(_goes_on, order.flow(call.result))):
        return False
    return printed.isdisjoint(_leading_to_trainings(order))


def is_only_told(order: Order, call: Call) -> bool:
    """Return whether a draw is only printed, logged or used in a file name, in a program that
    trains, and no condition depends on the draw.
    """
    takers = {step.method for step in order.flow(call.result) if isinstance(step, Call)}
    is_told = not _TELLS.isdisjoint(takers) and takers <= _TELLS | _FORMATS
    if not is_told or not streams.trains(order):
        return False
    # A question in the same function may name what the call is assigned to.
    around = call.module.function_of(call.node) or call.module.tree
    tests = map(attrgetter("test"), within(around, *_ASKING))
    asked = map(last_word, chain.from_iterable(map(ast.walk, tests)))
    targets = syntax.targets(call.module.statement_of(call.node))
    return set(map(last_word, targets)).isdisjoint(asked)


_TELLS = words("shown", "tells")
_FORMATS = frozenset({"str", "repr", "format", "join", "round", "Path", "close", "exists"})
_ASKING = (ast.If, ast.While, ast.IfExp)


_PRINTS = frozenset({"print", "pprint"})


@kept
def _leading_to_trainings(order: Order) -> frozenset[int]:
    """Return the ids (`id(node)`) of the calls of the user's own functions inside which something
    is trained.
    """
    trainings = filter(streams.is_training, streams.every(order))
    through = chain.from_iterable(call.through for call in trainings)
    return frozenset(id(node) for _, node in through)


def is_pictured(order: Order, call: Call) -> bool:
    """Return whether the result of a draw ends in a picture, and in no training."""
    if not streams.trains(order):
        return False  # what trains is written by hand, and may take it
    return _is_of_pictures(set(map(attrgetter("method"), order.flow(call.result))))


def _is_of_pictures(methods: set[str]) -> bool:
    return not methods.isdisjoint(_PICTURES) and methods.isdisjoint(_GOES_ON)
