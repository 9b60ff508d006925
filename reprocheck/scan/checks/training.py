"""Find out whether a program trains, and whether a value reaches that training.

Also whether the training may run certain code.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Container, Iterable, Iterator
from enum import IntEnum
from itertools import chain, islice, starmap
from operator import attrgetter

from reprocheck.scan import syntax
from reprocheck.scan.checks import reachable_functions, streams
from reprocheck.scan.index import of_kind
from reprocheck.scan.memo import kept
from reprocheck.scan.names import last_word
from reprocheck.scan.order import Order
from reprocheck.scan.project import Module, Project
from reprocheck.scan.steps import Call, Condition, Loop, Step
from reprocheck.scan.values import Value
from reprocheck.scan.vocabulary import names, pattern, words

_EVALUATION = pattern("training", "evaluation")


def is_unused(order: Order) -> bool:
    """Return whether an order starts in a function that nothing in a folder mentions.

    A class counts as a function. The folder holds programs.

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
    """Return the ids of the modules that programs with a training import.

    Empty if any module may be imported.
    """
    modules: list[Module] = []
    for program in filter(attrgetter("is_entry"), project):
        imported = streams.imported(program)
        if any(_TRAININGS.search(module.source.text) for module in imported):
            modules += imported
    if any(map(imports_by_name, modules)):
        return frozenset()
    return frozenset(map(id, modules))


_TRAININGS = pattern("training", "trainings")


def imports_by_name(module: Module) -> bool:
    """Return whether a module imports modules, or makes objects, by names made at run time."""
    return _IMPORTERS.search(module.source.text) is not None


_IMPORTERS = re.compile(r"\b(import_module|__import__|exec|instantiate)\(")


@kept
def _mentioned(project: Project) -> frozenset[str]:
    """Return the names that the modules of a project mention outside of import statements."""
    return frozenset(chain.from_iterable(map(reachable_functions.mentions, project)))


def is_in_evaluation(order: Order, call: Call) -> bool:
    """Return whether a call stands in an evaluation, which trains nothing.

    In a function of a training program that is named so.
    """
    if not streams.trains(order):
        return False
    evaluating = frozenset(id(one) for one in functions_around(call) if _EVALUATES.search(one.name))
    return bool(evaluating - _training(order))


_EVALUATES = pattern("training", "evaluates")


def functions_around(call: Call) -> Iterator[ast.FunctionDef | ast.AsyncFunctionDef]:
    """Return the user's functions in which a call happens, from the outside in."""
    return filter(None, starmap(Module.function_of, call.places))


@kept
def _training(order: Order) -> frozenset[int]:
    """Return the ids of the nodes of functions in which something is trained."""
    trainings = filter(streams.is_training, streams.every(order))
    return frozenset(map(id, chain.from_iterable(map(functions_around, trainings))))


def is_evaluation(call: Call) -> bool:
    """Return whether a loader is made for an evaluation: its order affects no training.

    The name of its variable or function tells.
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


_MOST = 2_000
"""Steps that are gone along from a value to the training."""


class Ground(IntEnum):
    """How much of a training a program shows: none, one that may start, or one in a loop."""

    NONE = 0
    SOME = 1
    LOOP = 2


@kept
def ground(order: Order) -> Ground:
    """Return how much of a training an order of steps shows."""
    calls = [call for call in streams.every(order) if not call.own]
    is_updated = True
    if not any(call.method != "backward" and goes_on(call) for call in calls):
        # What measures speed throws gradients away.
        takes = (call.method in _UPDATES or call.named("torch.optim.*") for call in calls)
        is_updated = any(takes) or "grad" in syntax.attributes(order.root.nodes(ast.Attribute))
    if is_updated and (any(map(goes_on, calls)) or _trains_in_text(order)):
        return Ground.LOOP
    if order.whole:
        may_train = streams.trains(order)
    else:
        # what no program reaches may be mentioned, and its module imported by a training
        may_train = not is_unused(order) and is_reached(order.root)
    return Ground.SOME if may_train else Ground.NONE


_UPDATES = words("training", "updates")


def _trains_in_text(order: Order) -> bool:
    """Return whether a program makes an optimizer, and has a training not entered.

    The scan did not enter that function because of a condition.
    """
    if not streams.trains(order):
        return False
    root = order.root
    passes = (one for one in root.index.calls if syntax.word(one) in _PASSES)
    return any(root.function_of(one) and not order.at(root, one) for one in passes)


def goes_on(call: Call) -> bool:
    """Return whether a call trains repeatedly: in a loop, or in a library's, as `fit`."""
    if call.own:
        return False
    if call.method in _WHOLE or call.named(*_WHOLE_NAMES):
        return True
    if call.method == "train":
        # on what it is called, as it is written and as it is known
        owner = syntax.owner(call.node)
        written = last_word(owner) if owner else ""
        return _TRAINERS.search(f"{written} {call.name}") is not None
    is_pass = call.method in _PASSES or call.named(*_PASS_NAMES)
    return is_pass and not call.happens_once


_PASSES = words("training", "passes")
_PASS_NAMES = names("training", "pass_names")
_FITS = words("training", "fits")
_WHOLE = _FITS | {"fit_generator", "learn", "minimize", "apply_gradients"}
"""What trains as a whole, or puts a training into a graph."""
_WHOLE_NAMES = names("training", "whole")
_TRAINERS = re.compile(r"trainer|runner|learner|engine|solver|estimator", re.IGNORECASE)


def goes_in(
    order: Order, step: Step, ends: Container[str] = (), *, by_function: bool = True
) -> bool:
    """Return whether the value of a step reaches the training.

    In the training loop, through a loader, or as an argument of a training call.

    ends         calls whose results are not followed, as `len`
    by_function  whether a step anywhere in a function that trains counts as well
    """
    if is_for_samples(step) or _is_in_training(order, step, by_function=by_function):
        return True
    values = chain(_values(step), _handed_back(order, step))
    flows = chain.from_iterable(order.flow(value, ends) for value in values)
    for taker in of_kind(islice(flows, _MOST), Call):
        is_training = (
            taker.method in _TAKES
            or taker.named(*_TAKING)
            or (taker.method == "train" and goes_on(taker))
            or _runs_graph(taker)
            or is_for_samples(taker)
        )
        if is_training and not is_in_evaluation(order, taker):
            return True
    return False


def distance(order: Order, step: Step) -> int:
    """Return how far weights are from an optimizer.

    0 if it takes the weights, 1 if it takes the results of the functions around them, 2 if no
    optimizer is seen.
    """
    values = list(_values(step))
    if step.by is not None and step.by.method == "apply" and step.by.receiver is not None:
        values.append(step.by.receiver)  # the net of `net.apply(initialize)`
    if _is_optimized(order, values):
        return 0
    return 2 - _is_optimized(order, _handed_back(order, step))


def _is_optimized(order: Order, values: Iterable[Value]) -> bool:
    """Return whether an optimizer or training library takes some values.

    A result or a container of these values counts, too.
    """
    taken = list(islice(chain.from_iterable(map(order.flow, values)), _MOST))
    if any(map(_optimizes, taken)):
        return True
    holders = [one.receiver for one in of_kind(taken, Call) if one.method in _PUTS]
    around = chain.from_iterable(map(order.flow, filter(None, holders)))
    return any(map(_optimizes, islice(around, _MOST)))


_PUTS = words("training", "puts")


def _optimizes(step: Step) -> bool:
    if not isinstance(step, Call):
        return False
    if step.method in _WHOLE or step.named(*_TAKING, *_PASS_NAMES):
        return True
    return _OPTIMIZERS.search(step.method.lower()) is not None


_OPTIMIZERS = pattern("training", "optimizers")
_NEAREST = 2
"""Functions around a step of which the results count as made of it."""


def _handed_back(order: Order, step: Step) -> Iterator[Value]:
    """Yield the results of the user's functions that are nearest around a step.

    A draw that is an index or decides a branch affects these.
    """
    for module, node in step.through[-_NEAREST:]:
        calls = of_kind(order.at(module, node), Call)
        yield from map(attrgetter("result"), calls)


def is_for_samples(step: Step) -> bool:
    """Return whether a step makes samples or weights.

    The name of its function, of its class, or of the loader that calls it tells.
    """
    if step.function_name in _SAMPLES or _WEIGHTS.search(step.function_name):
        return True
    holder = step.module.class_of(step.node)
    if holder is not None:
        bases = " ".join(map(ast.unparse, holder.bases))
        if not syntax.methods(holder).isdisjoint(_SAMPLES) or _DATA_SETS.search(bases):
            return True
    loader = step.by
    return (
        loader is not None
        and _LOADERS.search(loader.method.lower()) is not None
        and not is_evaluation(loader)
    )


_SAMPLES = words("training", "samples")
_WEIGHTS = re.compile(r"^_?(reset|init|initiali[sz]e)_(param|weight)|weights?_init$")


_DATA_SETS = re.compile("Dataset|Builder")


_LOADERS = re.compile(r"loader|dataset|compose|transform|apply|^map$|generator|^subset$|^lambda$")


def _values(step: Step) -> tuple[Value, ...]:
    """Return the values that a step makes, changes in place, or loops over."""
    match step:
        case Call(method=method) if method in _IN_PLACE or method.endswith("_"):
            changed = map(Value.origin, step.inputs[:1])
            return (*step.outputs, *islice(chain.from_iterable(changed), _NEAR))
        case Loop():
            return step.inputs
    return step.outputs


_NEAR = 5
"""Of what is changed in place: it, what it is a part of, and so on."""
_IN_PLACE = frozenset({"shuffle", "reset_parameters"})


_TAKING = ("torch.optim.*", "keras.optimizers.*", "optax.*", *_WHOLE_NAMES)
_TAKES = streams.TRAINING_METHODS | _WHOLE | words("training", "takes")


def _is_in_training(order: Order, step: Step, *, by_function: bool) -> bool:
    """Return whether a step stands in a loop that trains, and not in a side branch.

    With `by_function`, it stands in a function that trains. A side branch is as `if step % 100 ==
    0:`.
    """
    loops, functions = places(order)
    if any(map(is_beside, step.conditions)):
        return False
    if not loops.isdisjoint(_loops(step)):
        return True
    if not by_function or not isinstance(step, Call):
        return False
    return not functions.isdisjoint(map(id, functions_around(step)))


@kept
def places(order: Order) -> tuple[frozenset[int], frozenset[int]]:
    """Return the ids of the nodes of the loops and functions in which something is trained."""
    trainings = [call for call in streams.every(order) if goes_on(call) or _runs_graph(call)]
    loops = chain.from_iterable(map(_loops, trainings))
    functions = chain.from_iterable(map(functions_around, trainings))
    return frozenset(loops), frozenset(map(id, functions))


def _runs_graph(call: Call) -> bool:
    """Return whether a call runs a graph of TensorFlow 1: `session.run(train_step)`."""
    return call.method == "run" and "Session()" in call.name


def _loops(step: Step) -> Iterator[int]:
    """Yield the ids of the loops around a step, and around the calls that led to it."""
    for module, node in step.places:
        yield from (id(one) for one in module.around(node) if isinstance(one, ast.For | ast.While))


WORDS = "|".join(names("training", "beside"))
BESIDE = re.compile(rf"(^|_)({WORDS})(_|$|\d)")
"""In the name of a file or of a question: what it is for is no training."""


def is_beside(condition: Condition) -> bool:
    """Return whether a condition is true now and then or for tests only.

    `step % 100 == 0`, `args.debug`
    """
    parts = list(ast.walk(condition.test))
    if any(isinstance(part, ast.Mod) for part in parts):
        return True
    is_denied = isinstance(condition.test, ast.UnaryOp) is condition.taken
    # `test_only` for `testOnly`
    return not is_denied and any(
        BESIDE.search(_HUMP.sub("_", last_word(part)).lower()) for part in parts
    )


_HUMP = re.compile(r"(?<=[a-z])(?=[A-Z])")


@kept
def trains_nets(order: Order) -> bool:
    """Return whether a program trains with gradients; fitting a classifier does not count."""
    return any(goes_on(call) and call.method not in _FITS for call in streams.every(order))
