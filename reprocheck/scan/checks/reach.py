"""Decide whether a training may run certain code: not if the code is unused or evaluates."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from itertools import chain, starmap
from operator import attrgetter

from reprocheck.scan import syntax
from reprocheck.scan.checks import reachable_functions, streams
from reprocheck.scan.memo import kept
from reprocheck.scan.names import last_word
from reprocheck.scan.order import Order
from reprocheck.scan.project import Module, Project
from reprocheck.scan.steps import Call

_EVALUATION = re.compile(
    r"(^|_)(test|val|valid|validation|eval|evaluation|dev)(_|$|\d|data|set|loader|dl|iter)"
)
"""In the name of a loader, or of the function that makes it."""


def is_unused(order: Order) -> bool:
    """Return whether an order starts in a function or class that nothing in a folder with programs
    mentions.

    The top level of a module is never unused, because the module may be a script. In a folder
    without programs nothing is unused, because the users are elsewhere.
    """
    root = order.root
    if order.whole or root.single or not any(map(attrgetter("is_entry"), root.project)):
        return False
    # the function or class of the top level that the order begins in; "" for a module
    path = order.function.removeprefix(f"{root.name}.")
    name = path.partition(".")[0]
    if not name or name in _mentioned(root.project):
        return False
    # A decorator may hand a definition to somebody.
    definitions = (node for node in root.tree.body if getattr(node, "name", "") == name)
    return not any(getattr(node, "decorator_list", []) for node in definitions)


def is_reached(module: Module) -> bool:
    """Return whether a program of the folder that trains imports a module, directly or not.

    Return True as well if no program trains, or one imports modules by names that are made at run
    time.
    """
    reached = _reached(module.project)
    return not reached or id(module) in reached


@kept
def _reached(project: Project) -> frozenset[int]:
    """Return the ids of the modules that programs with a training import; empty if any module may
    be imported.
    """
    modules: list[Module] = []
    for program in filter(attrgetter("is_entry"), project):
        imported = streams.imported(program)
        if any(_TRAININGS.search(module.source.text) for module in imported):
            modules += imported
    if any(map(imports_by_name, modules)):
        return frozenset()
    return frozenset(map(id, modules))


_TRAININGS = re.compile(
    r"\b(backward|fit|fit_generator|train_on_batch|minimize|apply_gradients|GradientTape|grad"
    r"|value_and_grad|learn|train|Trainer|TrainOneStepCell)\("
)
"""Calls of a training. A look at the text needs no tree of the many modules of a folder."""


def imports_by_name(module: Module) -> bool:
    """Return whether a module imports modules, or makes objects, by names that are made at run
    time.
    """
    return _IMPORTERS.search(module.source.text) is not None


_IMPORTERS = re.compile(r"\b(import_module|__import__|exec|instantiate)\(")


@kept
def _mentioned(project: Project) -> frozenset[str]:
    """Return the names that the modules of a project mention outside of import statements."""
    return frozenset(chain.from_iterable(map(reachable_functions.mentions, project)))


def is_in_evaluation(order: Order, call: Call) -> bool:
    """Return whether a call of a training program stands in a function that is named after an
    evaluation and trains nothing.
    """
    if not streams.trains(order):
        return False
    evaluating = frozenset(id(one) for one in functions(call) if _EVALUATES.search(one.name))
    return bool(evaluating - _training(order))


_EVALUATES = re.compile(
    r"^_?(eval|evaluate|validate|test)$|^(eval|validate|test)_|_(eval|evaluate|evaluation)$"
)


def functions(call: Call) -> Iterator[ast.FunctionDef | ast.AsyncFunctionDef]:
    """Return the user's functions in which a call happens, from the outside in."""
    return filter(None, starmap(Module.function_of, call.places))


@kept
def _training(order: Order) -> frozenset[int]:
    """Return the ids of the nodes of functions in which something is trained."""
    trainings = filter(streams.is_training, streams.every(order))
    return frozenset(map(id, chain.from_iterable(map(functions, trainings))))


def is_evaluation(call: Call) -> bool:
    """Return whether a loader is made for an evaluation, by the name of its variable or function,
    so that its order does not affect the training.
    """
    return any(starmap(_is_for_evaluation, call.places))


def _is_for_evaluation(module: Module, node: ast.AST) -> bool:
    statement = module.statement_of(node)
    if isinstance(statement, ast.Return):
        function = module.function_of(node)
        return _EVALUATION.search(getattr(function, "name", "")) is not None
    names = list(map(str.lower, _names(syntax.targets(statement))))
    return bool(names) and all(map(_EVALUATION.search, names))


def _names(targets: list[ast.expr]) -> Iterator[str]:
    """Return the names that targets of an assignment assign, one by one for a tuple."""
    for target in targets:
        yield from map(last_word, getattr(target, "elts", [target]))
