"""Whether a training may come to what was found: not where nothing uses the code, and not where it
evaluates.
"""

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
    """Return whether an order is a part of a folder with programs in which nothing mentions it: a
    function that nobody calls, a class of which nobody makes an object. What a module does as soon
    as it is executed is no such part: it may be a script.

    Where no file of the folder is a program, those that use it are elsewhere.
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
    """Return whether a program of the folder that trains imports a module, directly or not. Where
    none trains, or one imports by names that are made at run time, any module may be reached.
    """
    reached = _reached(module.project)
    return not reached or id(module) in reached


@kept
def _reached(project: Project) -> frozenset[int]:
    """Return the modules of the programs that train, by their ids; none where all may be."""
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
    """Return whether a module imports others, or makes objects, by names that are made at run
    time.
    """
    return _IMPORTERS.search(module.source.text) is not None


_IMPORTERS = re.compile(r"\b(import_module|__import__|exec|instantiate)\(")


@kept
def _mentioned(project: Project) -> frozenset[str]:
    """Return what the modules of a project mention, imports left out."""
    return frozenset(chain.from_iterable(map(reachable_functions.mentions, project)))


def is_in_evaluation(order: Order, call: Call) -> bool:
    """Return whether a call happens in a function of a training that evaluates, by its name, and in
    which nothing is trained.
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
    """Return the functions in which something is trained, by their nodes' ids."""
    trainings = filter(streams.is_training, streams.every(order))
    return frozenset(map(id, chain.from_iterable(map(functions, trainings))))


def is_evaluation(call: Call) -> bool:
    """Return whether a loader is made to evaluate: the name that it is given says so, or the
    function that makes it. Its order decides nothing that is trained.
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
    """Yield the names that are assigned, those in a tuple one by one."""
    for target in targets:
        yield from map(last_word, getattr(target, "elts", [target]))
