"""How sure a finding in a folder is: what its program shows of a training that comes to it.

The severity of a rule is that of a finding for which all of it is seen: a program that trains in a
loop, a value that goes into that training, and code that is for training. Each that is not seen
takes one step: from an error to a warning, from a warning to a note. Which things count, and which
findings may be errors at all, follows from 1,400 findings in public code that were read by hand
(`benchmarks/scan_reports/judgements.tsv`). A file that is named itself is taken for what it may
become, and its findings keep their severity.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Mapping
from itertools import chain, islice
from operator import attrgetter
from pathlib import PurePath

from reprocheck.rules.catalogue import Severity
from reprocheck.scan import syntax
from reprocheck.scan.checks import (
    files,
    other_programs,
    private_generators,
    reach,
    replaced_weights,
    streams,
    tables,
    training,
)
from reprocheck.scan.index import within
from reprocheck.scan.memo import kept
from reprocheck.scan.names import last_word
from reprocheck.scan.order import Order
from reprocheck.scan.project import Module
from reprocheck.scan.registry import Hit
from reprocheck.scan.steps import Call, Step, Store
from reprocheck.scan.values import UNKNOWN
from reprocheck.scan.vocabulary import words

_LEVELS: tuple[Severity, ...] = ("error", "warning", "note")
_MOST = 2_000
"""Steps that are gone along from a value to the training."""


def lowered(order: Order, hit: Hit, severity: Severity) -> Severity:
    """Return the severity of a finding of an order, from that of its rule."""
    if severity == "note" or order.root.single or hit.module.single:
        return severity
    doubts = _DOUBTS.get(hit.code, _OF_PROGRAMS)
    # A call that trains by itself, or has a generator of its own, needs no more of a training.
    if isinstance(hit.step, Call) and hit.step.name in tables.libraries():
        doubts = (_is_for_others, _is_pictured)
    steps = sum(doubt(order, hit) for doubt in doubts)
    level = _LEVELS[min(_LEVELS.index(severity) + steps, len(_LEVELS) - 1)]
    is_earned = _ERRORS.get(hit.code, _never)
    if level == "error" and not is_earned(order, hit):
        return "warning"
    return level


def _is_without_loop(order: Order, hit: Hit) -> int:
    """No training is seen, or none that goes on and on."""
    return training.Ground.LOOP - training.ground(order)


def _goes_elsewhere(order: Order, hit: Hit) -> int:
    """Return a loss of certainty where a draw or an order is not seen to reach the training."""
    step = hit.step
    if step is None or isinstance(step, Store) or files.decides_by_number(step):
        return 0
    ends = _ORDER_FREE if hit.code in _ORDERS else ()
    return int(not training.goes_in(order, step, ends))


def _is_beside_loop(order: Order, hit: Hit) -> int:
    """Return the same where a program that speaks of seeds draws in a function that trains: what it
    draws there, outside of the loop and for no sample, was wrong in two of five cases.
    """
    step = hit.step
    if step is None or isinstance(step, Store):
        return 0
    return int(not training.goes_in(order, step, by_function=not _speaks_of_seeds(order)))


def _is_far_from_optimizer(order: Order, hit: Hit) -> int:
    """No optimizer takes the weights: what a function made of them may come to one, or nothing."""
    step = hit.step
    if step is None or isinstance(step, Store):
        return 0
    return int(training.distance(order, step) > 0)


@kept
def _speaks_of_seeds(order: Order) -> bool:
    """Return whether a module of the program has a word of seeds, or another may be imported by a
    name that is made at run time. Where none has, that nothing is seeded needs no inference.
    """
    modules = streams.closure(order)
    return any(_SEEDS.search(one.source.text) or reach.imports_by_name(one) for one in modules)


_SEEDS = re.compile("seed|determin|rng_state|set_state|reproduc", re.IGNORECASE)
_ORDERS = frozenset({"RC104", "RC508"})
_ORDER_FREE = frozenset({"max", "min", "len", "any", "all", "Counter"})
"""Calls of which the result is the same in any order of what they are given."""


def _is_for_others(order: Order, hit: Hit) -> int:
    """Return a loss of certainty for code of others, or of tests, evaluations, pictures.

    Its folder, its file, its program or a function on the way says so. A function that trains
    nothing is sure to be for that.
    """
    return max(_of_files(order, hit.module), _of_functions(order, hit.step))


def _of_files(order: Order, module: Module) -> int:
    """Return what the folders and names of a program and of a module in it say."""
    if _is_foreign(order.root) or _is_foreign(module):
        return 1
    if _is_named_beside(module) and module is not order.root:
        return 1
    return int(_is_named_beside(order.root) and not training.trains_nets(order))


def _of_functions(order: Order, step: Step | None) -> int:
    """Return what the names of the functions on the way to a step say."""
    if not isinstance(step, Call):
        return 0
    beside_it = (one for one in reach.functions(step) if _FUNCTIONS.search(one.name.lower()))
    _, functions = training.places(order)
    return max((2 - (id(one) in functions) for one in beside_it), default=0)


def _is_foreign(module: Module) -> bool:
    folders = map(str.lower, PurePath(module.shown).parent.parts)
    return not _FOREIGN.isdisjoint(folders)


def _is_named_beside(module: Module) -> bool:
    return training.BESIDE.search(PurePath(module.shown).stem.lower()) is not None


_FOREIGN = words("folders", "foreign")
_FUNCTIONS = re.compile(
    rf"(^|_)({training.WORDS}|translate|download|upload|remove|delete|backup)(_|$|\d)|^_?(print|log)(_|$)"
)
"""The same in the name of a function."""


Doubt = Callable[[Order, Hit], int]
"""What is not seen, and how many steps that takes."""


def _refuted_by(doubt: Doubt) -> Doubt:
    """Return a doubt that leaves a note alone: findings of which it was true were mostly wrong."""

    def refutes(order: Order, hit: Hit) -> int:
        return 2 * doubt(order, hit)

    return refutes


def _is_kept_from_training(order: Order, hit: Hit) -> int:
    """There is a training, and it is not seen how an order comes to it. What trains nothing and
    draws an order may write data for another program.
    """
    if not streams.trains(order):
        return 2 * other_programs.leaves_nothing(order)
    return _is_without_loop(order, hit) + 2 * _goes_elsewhere(order, hit)


def _is_idle(order: Order, hit: Hit) -> int:
    """Return the program trains nothing and writes nothing that another one could train on, or no
    program that trains imports the module.
    """
    if not order.whole:
        return int(training.ground(order) is training.Ground.NONE)
    return int(not streams.trains(order) and other_programs.leaves_nothing(order))


def _is_only_one(order: Order, hit: Hit) -> int:
    """One file is taken by its position: mostly there is one alone."""
    return int(any(map(_takes_one, hit.module.expressions_around(hit.node))))


def _takes_one(node: ast.AST) -> bool:
    match node:
        case ast.Subscript(slice=ast.Constant(value=int()) | ast.UnaryOp()):
            return True
    return False


def _is_for_evaluation(order: Order, hit: Hit) -> int:
    """Return what it is called, or what it is given, is the data of a test."""
    if not isinstance(hit.step, Call):
        return 0
    given = " ".join(map(ast.unparse, syntax.given(hit.step.node)[:1])).lower()
    is_of_test = _TEST_DATA.search(given) is not None and "train" not in given
    return int(is_of_test or reach.is_evaluation(hit.step))


_TEST_DATA = re.compile(r"(^|[^a-z])(test|val|valid|validation|eval|dev)([^a-z]|set|data|$)")


def _is_unsure(order: Order, hit: Hit) -> int:
    """Return a loss of certainty where the check is less sure than its rule.

    No data set is made there.
    """
    is_for_samples = hit.step is not None and training.is_for_samples(hit.step)
    return int(hit.severity == "warning" and not is_for_samples)


def _is_path(order: Order, hit: Hit) -> int:
    """Return what differs is the name of a file or a run, of which other things are made than
    seeds.
    """
    return int(hit.evidence.get("source", "").startswith("tempfile."))


def _is_left_out(order: Order, hit: Hit) -> int:
    """Return a loss of certainty where a caller passes no number, and none is seen."""
    if not isinstance(hit.step, Call) or (order.whole and hit.step.by is None):
        return 0
    return int(private_generators.is_in_fallback(hit.step))


def _is_under_condition(order: Order, hit: Hit) -> int:
    """Return a loss of certainty where an option decides that the text does not show."""
    return int(hit.step is not None and bool(hit.step.conditions))


def _may_be_replaced(order: Order, hit: Hit) -> int:
    """Return what holds the weights loads a checkpoint, and no option that is off asks for that."""
    if not isinstance(hit.step, Call):
        return 0
    loads = (one for one in order.flow(hit.step.result) if one.method in _LOADS)
    return int(any(not _is_resume(order, one) for one in islice(loads, _MOST)))


_LOADS = words("weights", "may_load")


def _is_drawn_again(order: Order, hit: Hit) -> int:
    """Return a loop over all parameters of the model fills them: that draw counts, and not this
    one.
    """
    taken = islice(order.flow(getattr(hit.step, "result", UNKNOWN)), _MOST)
    return int(any(map(_fills_parameters, taken)))


def _fills_parameters(step: Step) -> bool:
    """`parameter.normal_()` in a loop over parameters, whatever their number of dimensions."""
    if step.method not in replaced_weights.DRAWS or "parameters()" not in getattr(step, "name", ""):
        return False
    tests = (ast.unparse(one.test) for one in step.conditions)
    return not any(map(_BY_SHAPE.search, tests))


_BY_SHAPE = re.compile("dim|shape|size|len|requires_grad")


def _is_resume(order: Order, load: Step) -> bool:
    """Return whether a checkpoint is loaded only where somebody asks to go on from it."""
    return any(_RESUMES.search(ast.unparse(one.test).lower()) for one in load.conditions)


_RESUMES = re.compile(
    r"resum|continu|restart|restore|checkpoint|ckpt|load|exists|isfile|path|start"
)


def _is_seeded_in_some_way(order: Order, hit: Hit) -> int:
    """Return the class or function that makes an environment seeds one, or the program does
    somewhere.
    """
    near = hit.module.class_of(hit.node) or hit.module.function_of(hit.node)
    if near is not None and any(map(_seeds_object, within(near, ast.Call))):
        return 2
    calls = chain.from_iterable(module.index.calls for module in streams.closure(order))
    return int(any(map(_seeds_environment, calls)))


def _seeds_object(call: ast.Call) -> bool:
    """`self.unwrapped.seed(0)`: an object is seeded, and no module of generators."""
    match call.func:
        case ast.Attribute(attr="seed", value=owner) if call.args:
            return last_word(owner) not in _GENERATORS
    return False


_GENERATORS = frozenset({"random", "np", "numpy", "torch", "cuda"})


def _seeds_environment(call: ast.Call) -> bool:
    """`env.seed(1)`, `env.reset(seed=1)`, `make_env(name, seed)`; or one of the project's own is
    made, which may seed itself.
    """
    words = {one.arg for one in call.keywords}
    name = syntax.word(call).lower()
    match call.func:
        case ast.Attribute(attr="seed", value=owner) if call.args:
            return _ENVIRONMENT.search(ast.unparse(owner)) is not None
    is_made = "seed" in words and "env" in name
    return is_made or (name == "register" and "entry_point" in words)


_ENVIRONMENT = re.compile(r"env|space")


def _is_one_of_several(order: Order, hit: Hit) -> int:
    """Return what it is called on may be something else."""
    receiver = getattr(hit.step, "receiver", None)
    return int(receiver is not None and len(receiver.options()) > 1)


def _is_played(order: Order, hit: Hit) -> int:
    """Return what comes of an environment is given to a model that predicts, and to none that
    learns.
    """
    flow = islice(order.flow(getattr(hit.step, "result", UNKNOWN)), _MOST)
    methods = set(map(attrgetter("method"), flow))
    return int("predict" in methods and methods.isdisjoint(_LEARNS))


_LEARNS = frozenset({"learn", "fit", "train", "backward", "minimize", "apply_gradients"})


def _is_careful(order: Order, hit: Hit) -> int:
    """Return the program speaks of seeds: there, sets whose order may differ held numbers, or were
    only asked, in three of five cases.
    """
    return int(_speaks_of_seeds(order))


def _is_for_tests(order: Order, hit: Hit) -> int:
    """Return a loss of certainty for a branch that is for a test, or taken now and then."""
    return int(hit.step is not None and any(map(training.is_beside, hit.step.conditions)))


def _is_drawn_on_request(order: Order, hit: Hit) -> int:
    """Return a generator of which all draws stand under conditions that its making does not."""
    if not isinstance(hit.step, Call):
        return 0
    own = set(hit.step.conditions)
    return int(syntax.are_all(order.on(hit.step.result), lambda one: set(one.conditions) > own))


def _fits_classifiers_alone(order: Order, hit: Hit) -> int:
    """Return all that trains is scikit-learn's, as in an evaluation of features: no network
    does.
    """
    trainings = filter(training.goes_on, streams.every(order))
    return int(syntax.are_all(trainings, lambda one: one.name.startswith("sklearn.")))


def _has_no_convolution(order: Order, hit: Hit) -> int:
    """No module of the program speaks of a convolution, which is what is timed."""
    texts = (module.source.text for module in streams.closure(order))
    return int(not any(map(_CONVOLUTION.search, texts)))


_CONVOLUTION = re.compile("conv|resnet|vgg|torchvision|timm|unet", re.IGNORECASE)


def _is_pictured(order: Order, hit: Hit) -> int:
    """Return what is made is shown in a picture."""
    shown = order.flow(getattr(hit.step, "result", UNKNOWN))
    return 2 * any(step.method in _PICTURES for step in islice(shown, _MOST))


_PICTURES = frozenset({"scatter", "plot", "imshow", "savefig", "scatterplot"})


def _is_of_queue(order: Order, hit: Hit) -> int:
    """Return a loss of certainty for items of a queue, which one alone may fill."""
    return int(getattr(hit.step, "method", "") == "get")


def _always(order: Order, hit: Hit) -> int:
    """Return what the rule says was wrong more often than right where it was read in public
    code.
    """
    return 1


_OF_PROGRAMS: tuple[Doubt, ...] = (_is_without_loop, _is_for_others)
_OF_VALUES: tuple[Doubt, ...] = (*_OF_PROGRAMS, _refuted_by(_goes_elsewhere))
_OF_NUMBERS: tuple[Doubt, ...] = (*_OF_PROGRAMS, _is_beside_loop, _refuted_by(_may_be_replaced))
_OF_LAYERS: tuple[Doubt, ...] = (
    _is_without_loop,
    _refuted_by(_is_for_others),
    _refuted_by(_is_far_from_optimizer),
    _refuted_by(_may_be_replaced),
    _refuted_by(_is_drawn_again),
)
"""Warnings about weights were wrong in 12 of 15 places."""
_OF_ORDERS: tuple[Doubt, ...] = (
    _is_for_others,
    _is_kept_from_training,
    _refuted_by(_is_for_evaluation),
)
_OF_NETS: tuple[Doubt, ...] = (*_OF_PROGRAMS, _refuted_by(_fits_classifiers_alone))
_RARELY_RIGHT: tuple[Doubt, ...] = (*_OF_PROGRAMS, _always)
_DOUBTS: Mapping[str, tuple[Doubt, ...]] = {
    **dict.fromkeys(("RC101", "RC305", "RC504", "RC510", "RC701", "RC902"), _RARELY_RIGHT),
    "RC104": (
        _is_for_others,
        _is_idle,
        _goes_elsewhere,
        _is_only_one,
        _refuted_by(_is_for_evaluation),
    ),
    **dict.fromkeys(("RC301", "RC302"), _OF_LAYERS),
    "RC303": (*_RARELY_RIGHT, _refuted_by(_is_far_from_optimizer)),
    "RC401": (*_OF_VALUES, _is_under_condition),
    "RC402": (*_OF_PROGRAMS, _refuted_by(_is_path), _refuted_by(_is_left_out), _is_unsure),
    "RC406": _OF_NUMBERS,
    "RC407": (
        *_OF_VALUES,
        _is_seeded_in_some_way,
        _is_one_of_several,
        _refuted_by(_is_played),
        _is_drawn_on_request,
    ),
    **dict.fromkeys(("RC501", "RC512"), _OF_ORDERS),
    **dict.fromkeys(("RC502", "RC507"), _OF_VALUES),
    "RC505": (*_OF_VALUES, _is_unsure, _is_careful),
    "RC508": (*_OF_VALUES, _is_of_queue),
    "RC511": (*_OF_VALUES, _refuted_by(_is_for_evaluation)),
    "RC602": _OF_NETS,
    "RC703": (_is_for_others,),
    "RC706": (*_OF_NETS, _has_no_convolution, _is_for_tests),
}
"""What each rule must show. Other rules need a training in a loop, and code that is for it."""


Need = Callable[[Order, Hit], bool]
"""What an error must show beside that no doubt is left."""


def _never(order: Order, hit: Hit) -> bool:
    """Too few of them were read in public code, or too few of those were right."""
    return False


def _without_more(order: Order, hit: Hit) -> bool:
    return True


def _where_nothing_seeds(order: Order, hit: Hit) -> bool:
    return not _speaks_of_seeds(order)


def _in_program(order: Order, hit: Hit) -> bool:
    return order.whole


_ERRORS: Mapping[str, Need] = {
    # An optimizer takes these weights: right in 177 of 180 places.
    "RC301": _without_more,
    # The layer draws in each pass. Where the program speaks of seeds, it may reach it in a way that
    # is not seen: 14 of 17 places there, 9 of 9 elsewhere.
    "RC401": _where_nothing_seeds,
    # A program that trains seeds from the clock itself, and no function that something else calls.
    "RC402": _in_program,
    # Libraries and environments have their own ways to be seeded: right in 19 of 20 places where
    # the program speaks of none, in 9 of 15 elsewhere.
    "RC407": _where_nothing_seeds,
    # The order, the changes and the choice of the samples of a training: right in 108 of 110.
    "RC501": _without_more,
    "RC511": _without_more,
    "RC512": _without_more,
}
"""Rules of which a finding in a folder may be an error, and what that needs."""
