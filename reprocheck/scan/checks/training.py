"""The training of a program: whether there is one, and whether a value comes to it."""

from __future__ import annotations

import ast
import re
from collections.abc import Container, Iterable, Iterator
from enum import IntEnum
from itertools import chain, islice
from operator import attrgetter
from typing import TypeGuard

from reprocheck.scan import syntax
from reprocheck.scan.checks import reach, streams
from reprocheck.scan.index import of_kind
from reprocheck.scan.memo import kept
from reprocheck.scan.names import last_word
from reprocheck.scan.order import Order
from reprocheck.scan.steps import Call, Condition, Loop, Step
from reprocheck.scan.values import Value
from reprocheck.scan.vocabulary import names, words

_MOST = 2_000
"""Steps that are gone along from a value to the training."""


class Ground(IntEnum):
    """What an order shows of a training: none, one that it may start or try, one in a loop."""

    NONE = 0
    SOME = 1
    LOOP = 2


@kept
def ground(order: Order) -> Ground:
    """Return what an order shows of a training."""
    if _is_updated(order) and (any(map(goes_on, streams.every(order))) or _trains_in_text(order)):
        return Ground.LOOP
    if not order.whole:
        is_beyond = reach.is_unused(order) or not reach.is_reached(order.root)
        return _OF_PARTS[is_beyond]
    return _OF_PROGRAMS[streams.trains(order)]


_OF_PARTS = {True: Ground.NONE, False: Ground.SOME}
"""What a function shows that no program reaches, by whether nothing mentions it either, or no
training imports its module.
"""


_OF_PROGRAMS = {True: Ground.SOME, False: Ground.NONE}
"""The same of a program, by whether it trains at all."""


def _is_updated(order: Order) -> bool:
    """Return whether something is done with gradients, where `backward` is all that is seen: what
    measures speed throws them away.
    """
    calls = [call for call in streams.every(order) if not call.own]
    if any(call.method != "backward" and goes_on(call) for call in calls):
        return True
    takes = (call.method in _UPDATES or call.named("torch.optim.*") for call in calls)
    return any(takes) or "grad" in syntax.attributes(order.root.nodes(ast.Attribute))


_UPDATES = frozenset({"step", "zero_grad", "backward_step", "clip_grad_norm_"})


def _trains_in_text(order: Order) -> bool:
    """Return whether a program makes an optimizer, and has a function of its own that trains and
    that a condition kept from being followed.
    """
    if not streams.trains(order):
        return False
    root = order.root
    passes = (one for one in root.index.calls if syntax.word(one) in _PASSES)
    return any(root.function_of(one) and not order.at(root, one) for one in passes)


def goes_on(call: Call) -> bool:
    """Return whether a call trains again and again: in a loop, or because a library goes on by
    itself.
    """
    if call.own:
        return False
    if call.method in _WHOLE or call.named(*_WHOLE_NAMES):
        return True
    if call.method == "train":
        return _TRAINERS.search(_owner(call)) is not None
    is_pass = call.method in _PASSES or call.named(*_PASS_NAMES)
    return is_pass and not call.happens_once


_PASSES = frozenset({"backward", "train_on_batch", "training_step"})
_PASS_NAMES = ("tensorflow.GradientTape", "spacy.blank().update", "spacy.load().update")
_FITS = frozenset({"fit", "fit_predict", "partial_fit"})
_WHOLE = _FITS | {"fit_generator", "learn", "minimize", "apply_gradients"}
"""What trains as a whole, or puts a training into a graph."""
_WHOLE_NAMES = names("training", "whole")
_TRAINERS = re.compile(r"trainer|runner|learner|engine|solver|estimator", re.IGNORECASE)


def _owner(call: Call) -> str:
    """Return what a method is called on, as it is written and as it is known."""
    owner = syntax.owner(call.node)
    written = last_word(owner) if owner else ""
    return f"{written} {call.name}"


def goes_in(
    order: Order, step: Step, ends: Container[str] = (), *, by_function: bool = True
) -> bool:
    """Return whether a value comes to the training: a loader takes it, it is made in the loop that
    trains or (`by_function`) in a function that does, or a call of the training is given what is
    made of it. What calls of `ends` give back has nothing more of it.
    """
    if is_for_samples(step) or _is_in_training(order, step, by_function=by_function):
        return True
    values = chain(_values(step), _handed_back(order, step))
    flows = chain.from_iterable(order.flow(value, ends) for value in values)
    taking = filter(_trains_with, islice(flows, _MOST))
    return any(not reach.is_in_evaluation(order, one) for one in taking)


def distance(order: Order, step: Step) -> int:
    """Return how far weights are from an optimizer: 0 where it takes them, 1 where it takes what
    the functions around them give back, 2 where none is seen.
    """
    if _is_optimized(order, (*_values(step), *_applied_to(step))):
        return 0
    return 2 - _is_optimized(order, _handed_back(order, step))


def _applied_to(step: Step) -> Iterator[Value]:
    """`net.apply(initialize)`: the net, of a step in that function."""
    if step.by is not None and step.by.method == "apply" and step.by.receiver is not None:
        yield step.by.receiver


def _is_optimized(order: Order, values: Iterable[Value]) -> bool:
    """Return whether an optimizer, or a library that trains, is given what is made of some values,
    or what they are put into.
    """
    taken = list(islice(chain.from_iterable(map(order.flow, values)), _MOST))
    if any(map(_optimizes, taken)):
        return True
    holders = [one.receiver for one in of_kind(taken, Call) if one.method in _PUTS]
    around = chain.from_iterable(map(order.flow, filter(None, holders)))
    return any(map(_optimizes, islice(around, _MOST)))


_PUTS = frozenset({"add", "append", "add_module", "insert", "extend"})


def _optimizes(step: Step) -> bool:
    if not isinstance(step, Call):
        return False
    if step.method in _WHOLE or step.named(*_TAKING, *_PASS_NAMES):
        return True
    return _OPTIMIZERS.search(step.method.lower()) is not None


_OPTIMIZERS = re.compile(r"optim|adam|sgd|lars|lamb|rmsprop|trainer")
"""In the name of what takes weights."""
_NEAREST = 2
"""Functions around a step of which the results count as made of it."""


def _handed_back(order: Order, step: Step) -> Iterator[Value]:
    """Yield what the nearest of the user's functions around a step give back: a draw that is an
    index or decides a branch goes on in what they make with it.
    """
    for module, node in step.through[-_NEAREST:]:
        calls = of_kind(order.at(module, node), Call)
        yield from map(attrgetter("result"), calls)


def is_for_samples(step: Step) -> bool:
    """Return whether it makes samples or weights: the function, the class or the library that calls
    it says so.
    """
    if step.function_name in _SAMPLES or _WEIGHTS.search(step.function_name):
        return True
    holder = step.module.class_of(step.node)
    if holder is not None and _holds_samples(holder):
        return True
    loader = step.by
    return loader is not None and _is_loader(loader) and not reach.is_evaluation(loader)


_SAMPLES = frozenset({"__getitem__", "__getitems__", "__iter__", "__next__", "collate_fn"})
_WEIGHTS = re.compile(r"^_?(reset|init|initiali[sz]e)_(param|weight)|weights?_init$")


def _holds_samples(node: ast.ClassDef) -> bool:
    """Return whether a class is a data set."""
    bases = " ".join(map(ast.unparse, node.bases))
    return not syntax.methods(node).isdisjoint(_SAMPLES) or _DATA_SETS.search(bases) is not None


_DATA_SETS = re.compile("Dataset|Builder")


def _is_loader(call: Call) -> bool:
    return _LOADERS.search(call.method.lower()) is not None


_LOADERS = re.compile(r"loader|dataset|compose|transform|apply|^map$|generator|^subset$|^lambda$")


def _values(step: Step) -> tuple[Value, ...]:
    """Return what a step makes, or what it changes or goes over."""
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


def _trains_with(step: Step) -> TypeGuard[Call]:
    """Return whether a step is a part of a training that is given something."""
    if not isinstance(step, Call):
        return False
    if is_for_samples(step) or step.method in _TAKES or step.named(*_TAKING):
        return True
    return (step.method == "train" and goes_on(step)) or _runs_graph(step)


_TAKING = ("torch.optim.*", "keras.optimizers.*", "optax.*", *_WHOLE_NAMES)
_TAKES = streams.TRAINING_METHODS | _WHOLE | words("training", "takes")


def _is_in_training(order: Order, step: Step, *, by_function: bool) -> bool:
    """Return whether it happens in a loop that trains, or (`by_function`) in a function that does,
    and not in a branch that is for something else now and then.
    """
    loops, functions = places(order)
    if any(map(is_beside, step.conditions)):
        return False
    if not loops.isdisjoint(_loops(step)):
        return True
    if not by_function or not isinstance(step, Call):
        return False
    return not functions.isdisjoint(map(id, reach.functions(step)))


@kept
def places(order: Order) -> tuple[frozenset[int], frozenset[int]]:
    """Return the loops in which something is trained, and the functions, by the ids of their
    nodes.
    """
    trainings = [call for call in streams.every(order) if goes_on(call) or _runs_graph(call)]
    loops = chain.from_iterable(map(_loops, trainings))
    functions = chain.from_iterable(map(reach.functions, trainings))
    return frozenset(loops), frozenset(map(id, functions))


def _runs_graph(call: Call) -> bool:
    """`session.run(train_step)` of the first TensorFlow."""
    return call.method == "run" and "Session()" in call.name


def _loops(step: Step) -> Iterator[int]:
    """Yield the loops around a step, also those around the calls that led there."""
    for module, node in step.places:
        yield from (id(one) for one in module.around(node) if isinstance(one, ast.For | ast.While))


WORDS = "|".join(names("training", "beside"))
BESIDE = re.compile(rf"(^|_)({WORDS})(_|$|\d)")
"""In the name of a file or of a question: what it is for is no training."""


def is_beside(condition: Condition) -> bool:
    """`if step % 100 == 0:`, `if args.debug:`."""
    parts = list(ast.walk(condition.test))
    if any(isinstance(part, ast.Mod) for part in parts):
        return True
    is_denied = isinstance(condition.test, ast.UnaryOp) is condition.taken
    return not is_denied and any(BESIDE.search(_in_words(last_word(part))) for part in parts)


def _in_words(name: str) -> str:
    """`test_only` for `testOnly`."""
    return _HUMP.sub("_", name).lower()


_HUMP = re.compile(r"(?<=[a-z])(?=[A-Z])")


@kept
def trains_nets(order: Order) -> bool:
    """Return whether a program computes gradients: what evaluates may fit a classifier, too."""
    return any(goes_on(call) and call.method not in _FITS for call in streams.every(order))
