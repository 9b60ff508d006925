"""Recognize programs and draws that train nothing.

They try out a module, show, measure, convert or prepare data.
"""

from __future__ import annotations

import ast
import re
from functools import partial
from itertools import chain
from operator import attrgetter
from pathlib import Path

from reprocheck.scan import syntax
from reprocheck.scan.checks import streams, training
from reprocheck.scan.index import of_kind, within
from reprocheck.scan.memo import kept
from reprocheck.scan.names import last_word
from reprocheck.scan.order import Order
from reprocheck.scan.project import Module
from reprocheck.scan.steps import Call, Step
from reprocheck.scan.syntax import is_guard
from reprocheck.scan.vocabulary import names, pattern, words

_WRITES = pattern("shown", "writes")
_DRIVES = re.compile(r"^(learn|launch|spawn|optimize|search|train_\w+)$")
_SEARCHES = names("shown", "searches")
_DRIVERS = re.compile(r"(trainer|runner|learner|experiment|agent)\w*\.\w+$", re.IGNORECASE)


def is_below_guard(root: Module, step: Step) -> bool:
    """Return whether a step stands below `if __name__ == "__main__":` of the module `root`."""
    module, node = (*step.through, (step.module, step.node))[0]
    is_guarded = any(map(is_guard, (node, *module.around(node))))
    return is_guarded and module is root


@kept
def is_without_training(order: Order) -> bool:
    """Return whether a program in a folder trains nothing, and starts nothing that may train.

    It shows, measures, converts or prepares something.

    Return False for a file that the user named itself, because it may become a training.
    """
    if order.root.single:
        return False
    if any(map(partial(_goes_on, order.root), streams.every(order))):
        # A module for others may show how it is used: what it trains stands in its guard alone,
        # and reads no data.
        root = order.root
        is_for_others = id(root) in root.project.imported or "." in root.name
        for call in streams.every(order) if is_for_others else ():
            if _READS.match(call.method) or ".datasets." in call.name:
                return False
            if not streams.is_training(call):
                continue
            if call.through or not any(map(is_guard, call.module.around(call.node))):
                return False
        return is_for_others
    return not order.cut or not _trains_in_text(order)


_READS = pattern("shown", "reads")


def _goes_on(root: Module, call: Call) -> bool:
    """Return whether a call is a part of a training, or starts one.

    A single backward pass below a `__main__` guard and outside of any loop shows how to call a
    model, and is no training; neither are gradients that no optimizer takes.
    """
    if call.name == "torch.autograd.grad":
        return False
    if call.method in _PASSES and call.happens_once:
        return not is_below_guard(root, call)
    return streams.is_training(call) or _drives(call)


_PASSES = frozenset({"backward", "zero_grad"})


def _trains_in_text(order: Order) -> bool:
    """Return whether any code of a program calls a training method, executed or not."""
    calls = (module.index.calls for module in streams.closure(order))
    return not streams.TRAINING_METHODS.isdisjoint(map(last_word, chain.from_iterable(calls)))


@kept
def leaves_nothing(order: Order) -> bool:
    """Return whether a program writes no files that another program could train on."""
    return not any(_WRITES.match(call.method) for call in streams.every(order))


@kept
def is_chore(order: Order) -> bool:
    """Return whether a program is named after work that is no training.

    Its file, as `convert_data.py`, or its folder, as `demo/`.

    Return False if it trains nevertheless, unless its name is that of a benchmark or profile.
    """
    path = Path(order.root.shown)
    is_named = _CHORE.search(path.stem) or _CHORES.fullmatch(path.parent.name)
    if order.root.single or not is_named:
        return False
    return bool(_SPEED.search(path.stem)) or not streams.trains(order)


_CHORE = pattern("shown", "chore")
_CHORES = re.compile(r"demos?|visuali[sz]\w+|evaluation|eval|analysis|profiling|diagnostics")
_SPEED = pattern("shown", "speed")


def is_for_nobody(order: Order) -> bool:
    """Return whether a program trains nothing, and writes nothing for another training."""
    return order.whole and is_without_training(order) and leaves_nothing(order)


@kept
def is_trial(order: Order) -> bool:
    """Return whether a program only tries out its own module.

    It trains and writes nothing, and other programs import the module.
    """
    root = order.root
    if not order.whole or order.cut or id(root) not in root.project.imported:
        return False
    if streams.trains(order):
        return False
    return not any(_WRITES.match(one.method) or _drives(one) for one in streams.every(order))


def _drives(call: Call) -> bool:
    """Return whether a call starts a training of other code, as `study.optimize`."""
    if call.name.startswith(_SEARCHES):
        return False
    if _DRIVES.match(call.method):
        return True
    owner = syntax.owner(call.node)
    if owner is None:
        return False
    return _DRIVERS.search(f"{last_word(owner)}.{syntax.method(call.node)}") is not None


_SHOWS = re.compile(r"^_?(plot|show|highlight|visuali[sz]e|display)(_|$)|^_test(_|$)")
_MEASURES = pattern("shown", "measures")
_PICTURES = words("shown", "pictures")
_GOES_ON = streams.TRAINING_METHODS | {"DataLoader", "TensorDataset", "from_tensor_slices", "step"}
_ASKED = words("shown", "asked")
_ASKS = words("shown", "asks")


def is_for_show(order: Order, call: Call) -> bool:
    """Return whether the result of a draw is only shown, measured, or asked for its type.

    No training uses the result.
    """
    ways = (is_in_showing_function, is_in_showing_branch, is_asked_for_type)
    if any(holds(call) for holds in ways):
        return True
    return any(holds(order, call) for holds in (is_pictured, is_printed, is_only_told))


def is_tried_out(order: Order, call: Call) -> bool:
    """Return whether a notebook cell draws a value that reaches no layer and no training.

    Such a cell only demonstrates a library.
    """
    is_in_cell = bool(call.module.source.cells) and not call.function_name
    is_in_place = isinstance(call.parent, ast.Expr) and call.method in _IN_PLACE
    if not is_in_cell or call.loops or is_in_place:
        return False
    return not any(map(_reaches_training, order.flow(call.result)))


_IN_PLACE = frozenset({"shuffle"})


def _reaches_training(step: Step) -> bool:
    """Return whether a step takes a value to a layer, or to a training."""
    if step.method in ("__call__", "forward"):
        return True
    is_pass = step.method == "backward" and step.happens_once
    return step.method in _GOES_ON and not is_pass


def is_in_showing_function(call: Call) -> bool:
    """Return whether a call stands in a function that shows something, as `plot_samples`.

    A branch that only measures, as `if benchmark:`, counts, too.
    """
    names = map(attrgetter("name"), training.functions_around(call))
    if any(map(_SHOWS.match, names)):
        return True
    taken = (condition.test for condition in call.conditions if condition.taken)
    return any(map(_MEASURES.search, map(last_word, taken)))


def is_in_showing_branch(call: Call) -> bool:
    """Return whether a call stands in a branch that makes a picture every few steps.

    The branch trains nothing, as `if step % 100 == 0:`.
    """
    branches = of_kind(call.module.around(call.node), ast.If)
    return any(
        any(isinstance(part, ast.Mod) for part in within(branch.test, ast.AST))
        and _is_of_pictures(set(map(syntax.word, within(branch.body, ast.Call))))
        for branch in branches
    )


def is_asked_for_type(call: Call) -> bool:
    """Return whether only the type or shape of a draw is used.

    `isinstance(space.sample(), int)`, `space.sample().shape`
    """
    match call.parent:
        case ast.Attribute(attr=asked):
            return asked in _ASKED
    return syntax.word(call.parent) in _ASKS


def is_printed(order: Order, call: Call) -> bool:
    """Return whether a draw only goes into a printed text, as in `print(generate(model))`.

    The function that draws trains nothing.
    """
    if not streams.trains(order):
        return False  # printing is all that is done with it
    printed: set[int] = set()
    for module, node in call.places:
        around = map(syntax.word, module.expressions_around(node))
        if not _PRINTS.isdisjoint(around):
            printed.add(id(node))
    if not printed or any(map(_reaches_training, order.flow(call.result))):
        return False
    return printed.isdisjoint(_leading_to_trainings(order))


def is_only_told(order: Order, call: Call) -> bool:
    """Return whether a draw is only printed, logged or used in a file name.

    The program trains, and no condition depends on the draw.
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
_FORMATS = words("shown", "formats")
_ASKING = (ast.If, ast.While, ast.IfExp)


_PRINTS = frozenset({"print", "pprint"})


@kept
def _leading_to_trainings(order: Order) -> frozenset[int]:
    """Return the ids (`id(node)`) of calls of own functions in which something is trained."""
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
