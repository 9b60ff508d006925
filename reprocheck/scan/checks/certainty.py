"""Lower the severity of a finding by doubts: what the program does not show of a training.

A rule has its full severity if the program trains in a loop, the value that was found goes into
that training, and the code is meant for training. Each of these that is not seen lowers the
severity by one step: from an error to a warning, from a warning to a note. Which doubts count for
which rule, and which findings may be errors at all, follows from 1,400 findings in public code that
were read by hand (`benchmarks/scan_reports/judgements.tsv`). Findings in a file that the user named
on the command line, rather than its folder, keep their severity.
"""

from __future__ import annotations

import ast
import re
from itertools import chain, islice
from operator import attrgetter
from pathlib import PurePath

from reprocheck.rules.catalogue import Severity
from reprocheck.scan import syntax
from reprocheck.scan.checks import (
    files,
    memory,
    other_programs,
    private_generators,
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
from reprocheck.scan.steps import Call, Store
from reprocheck.scan.values import UNKNOWN
from reprocheck.scan.vocabulary import by_name, pattern, words

_MOST = 2_000
"""Steps that are gone along from a value to the training."""


def is_without_loop(order: Order, hit: Hit) -> int:
    """Return how much less than a training in a loop the program shows; 0 for such a loop.

    More for a training that may be started elsewhere, most for none.
    """
    return training.Ground.LOOP - training.ground(order)


def goes_elsewhere(order: Order, hit: Hit) -> int:
    """Return 1 if the scan sees no way from the drawn or ordered value to the training, else 0."""
    step = hit.step
    if step is None or isinstance(step, Store) or files.decides_by_number(step):
        return 0
    ends = _ORDER_FREE if hit.code in _ORDERS else ()
    return int(not training.goes_in(order, step, ends))


def is_beside_loop(order: Order, hit: Hit) -> int:
    """Return 1 if a number is drawn outside of the training loop, and for no sample, else 0.

    In a program that speaks of seeds, findings about draws in a function that trains, but outside
    of its loop, were wrong in two of five cases.
    """
    step = hit.step
    if step is None or isinstance(step, Store):
        return 0
    return int(not training.goes_in(order, step, by_function=not speaks_of_seeds(order)))


def is_far_from_optimizer(order: Order, hit: Hit) -> int:
    """Return 1 if no optimizer is seen to take the found weights directly, else 0: a sort key.

    Weights that go through a function first may not reach an optimizer: the scan cannot tell.
    """
    step = hit.step
    if step is None or isinstance(step, Store):
        return 0
    return int(training.distance(order, step) > 0)


@kept
def speaks_of_seeds(order: Order) -> bool:
    """Return whether a module contains a word of seeding, as `seed` or `determin`.

    Also if it imports modules by a name that is made at run time.

    If no module does, it is certain without any inference that nothing is seeded.
    """
    modules = streams.closure(order)
    return any(_SEEDS.search(one.source.text) or training.imports_by_name(one) for one in modules)


_SEEDS = re.compile("seed|determin|rng_state|set_state|reproduc", re.IGNORECASE)
_ORDERS = frozenset({"RC104", "RC508"})
_ORDER_FREE = words("certainty", "order_free")


def is_for_others(order: Order, hit: Hit) -> int:
    """Return 1 if the code is foreign, or is for tests, evaluations or pictures, else 0.

    By the name of its folder, file, program or of a function that leads to it.

    Return 2 if such a function trains nothing, because it is then surely not for training.
    """
    program, module = order.root, hit.module
    is_in_foreign_file = (
        _is_foreign(program)
        or _is_foreign(module)
        or (_is_named_beside(module) and module is not program)
        or (_is_named_beside(program) and not training.trains_nets(order))
    )
    levels = [int(is_in_foreign_file)]
    if isinstance(hit.step, Call):
        _, training_functions = training.places(order)
        for function in training.functions_around(hit.step):
            if _FUNCTIONS.search(function.name.lower()):
                levels.append(2 - (id(function) in training_functions))
    return max(levels)


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


def is_kept_from_training(order: Order, hit: Hit) -> int:
    """Return how many steps an order (of files, of a set) is away from a training that is seen.

    A program that trains nothing may still write data in this order for another program.
    """
    if not streams.trains(order):
        return 2 * other_programs.leaves_nothing(order)
    return is_without_loop(order, hit) + 2 * goes_elsewhere(order, hit)


def is_idle(order: Order, hit: Hit) -> int:
    """Return 1 if the program trains nothing and writes nothing for a training, else 0.

    Also if the module is a library that no program with a training imports.
    """
    if not order.whole:
        return int(training.ground(order) is training.Ground.NONE)
    return int(not streams.trains(order) and other_programs.leaves_nothing(order))


def is_only_one(order: Order, hit: Hit) -> int:
    """Return 1 if one file of a listing is taken by position: mostly there is just one."""
    for node in hit.module.expressions_around(hit.node):
        match node:
            case ast.Subscript(slice=ast.Constant(value=int()) | ast.UnaryOp()):
                return 1
    return 0


def is_for_evaluation(order: Order, hit: Hit) -> int:
    """Return 1 if a call is named after a test or evaluation, or is given test data, else 0."""
    if not isinstance(hit.step, Call):
        return 0
    given = " ".join(map(ast.unparse, syntax.given(hit.step.node)[:1])).lower()
    is_of_test = _TEST_DATA.search(given) is not None and "train" not in given
    return int(is_of_test or training.is_evaluation(hit.step))


_TEST_DATA = re.compile(r"(^|[^a-z])(test|val|valid|validation|eval|dev)([^a-z]|set|data|$)")


def is_unsure(order: Order, hit: Hit) -> int:
    """Return 1 if the check itself gave the finding the severity `warning`, else 0.

    0 if the step makes a data set, too.
    """
    is_for_samples = hit.step is not None and training.is_for_samples(hit.step)
    return int(hit.severity == "warning" and not is_for_samples)


def is_path(order: Order, hit: Hit) -> int:
    """Return 1 if the value is a random name of `tempfile`, which serves other uses, too."""
    return int(hit.evidence.get("source", "").startswith("tempfile."))


def is_left_out(order: Order, hit: Hit) -> int:
    """Return 1 if the call only runs when a caller leaves the seed out, and none does.

    As far as the program shows.
    """
    if not isinstance(hit.step, Call) or (order.whole and hit.step.by is None):
        return 0
    return int(private_generators.is_in_fallback(hit.step))


def is_under_condition(order: Order, hit: Hit) -> int:
    """Return 1 if the step stands under a condition, else 0."""
    return int(hit.step is not None and bool(hit.step.conditions))


def may_be_replaced(order: Order, hit: Hit) -> int:
    """Return 1 if the object with the weights loads a checkpoint, which replaces them.

    A load under an option to resume, as `if args.resume:`, does not count.
    """
    if not isinstance(hit.step, Call):
        return 0
    loads = (step for step in order.flow(hit.step.result) if step.method in _LOADS)
    for load in islice(loads, _MOST):
        # A program may load a checkpoint only where somebody asks to go on from it.
        tests = (ast.unparse(condition.test).lower() for condition in load.conditions)
        if not any(map(_RESUMES.search, tests)):
            return 1
    return 0


_LOADS = words("weights", "may_load")
_RESUMES = pattern("certainty", "resumes")


def is_drawn_again(order: Order, hit: Hit) -> int:
    """Return 1 if a loop over `model.parameters()` fills all parameters anew, else 0.

    This later draw decides the weights.
    """
    for step in islice(order.flow(getattr(hit.step, "result", UNKNOWN)), _MOST):
        # `parameter.normal_()` in a loop over parameters, whatever their number of dimensions
        draws = step.method in memory.DRAWS
        if draws and "parameters()" in getattr(step, "name", ""):
            tests = (ast.unparse(condition.test) for condition in step.conditions)
            if not any(map(_BY_SHAPE.search, tests)):
                return 1
    return 0


_BY_SHAPE = re.compile("dim|shape|size|len|requires_grad")


def is_seeded_in_some_way(order: Order, hit: Hit) -> int:
    """Return 2 if what makes an environment also seeds one, 1 if another place does, else 0.

    What makes one is a class or a function.
    """
    near = hit.module.class_of(hit.node) or hit.module.function_of(hit.node)
    for call in within(near, ast.Call):
        match call.func:
            # `self.unwrapped.seed(0)`: an object is seeded, and no module of generators
            case ast.Attribute(attr="seed", value=owner) if call.args:
                if last_word(owner) not in _GENERATORS:
                    return 2
    calls = chain.from_iterable(module.index.calls for module in streams.closure(order))
    return int(any(map(_seeds_environment, calls)))


_GENERATORS = words("certainty", "generators")


def _seeds_environment(call: ast.Call) -> bool:
    """Return whether a call seeds an environment, as `env.seed(1)`, or makes a seeded one.

    An environment of the project is made with a seed or by `register`, as `make_env(name, seed=1)`.
    """
    match call.func:
        case ast.Attribute(attr="seed", value=owner) if call.args:
            return _ENVIRONMENT.search(ast.unparse(owner)) is not None
    keywords = {keyword.arg for keyword in call.keywords}
    name = syntax.word(call).lower()
    if name == "register":
        return "entry_point" in keywords
    return "env" in name and "seed" in keywords


_ENVIRONMENT = re.compile(r"env|space")


def is_one_of_several(order: Order, hit: Hit) -> int:
    """Return 1 if the object whose method is called may be one of several, else 0."""
    receiver = getattr(hit.step, "receiver", None)
    return int(receiver is not None and len(receiver.options()) > 1)


def is_played(order: Order, hit: Hit) -> int:
    """Return 1 if the observations of an environment go to a model that only predicts."""
    flow = islice(order.flow(getattr(hit.step, "result", UNKNOWN)), _MOST)
    methods = set(map(attrgetter("method"), flow))
    return int("predict" in methods and methods.isdisjoint(_LEARNS))


_LEARNS = words("certainty", "learns")


def is_careful(order: Order, hit: Hit) -> int:
    """Return 1 if the program speaks of seeds, else 0.

    In such programs, sets whose order may differ held numbers, or were only tested for membership,
    in three of five cases.
    """
    return int(speaks_of_seeds(order))


def is_for_tests(order: Order, hit: Hit) -> int:
    """Return 1 if the step stands in a branch for a test, or one that is taken now and then."""
    return int(hit.step is not None and any(map(training.is_beside, hit.step.conditions)))


def is_drawn_on_request(order: Order, hit: Hit) -> int:
    """Return 1 if all draws of a generator stand under conditions that its creation lacks."""
    if not isinstance(hit.step, Call):
        return 0
    own = set(hit.step.conditions)
    return int(syntax.are_all(order.on(hit.step.result), lambda one: set(one.conditions) > own))


def fits_classifiers_alone(order: Order, hit: Hit) -> int:
    """Return 1 if only scikit-learn trains, as to evaluate features, and no network is trained."""
    trainings = filter(training.goes_on, streams.every(order))
    return int(syntax.are_all(trainings, lambda one: one.name.startswith("sklearn.")))


def has_no_convolution(order: Order, hit: Hit) -> int:
    """Return 1 if no module mentions a convolution.

    Only convolutions are timed by cuDNN's benchmark mode.
    """
    texts = (module.source.text for module in streams.closure(order))
    return int(not any(map(_CONVOLUTION.search, texts)))


_CONVOLUTION = re.compile("conv|resnet|vgg|torchvision|timm|unet", re.IGNORECASE)


def is_pictured(order: Order, hit: Hit) -> int:
    """Return 2 if the result of the step is shown in a picture, else 0."""
    shown = order.flow(getattr(hit.step, "result", UNKNOWN))
    return 2 * any(step.method in _PICTURES for step in islice(shown, _MOST))


_PICTURES = words("certainty", "pictures")


def is_of_queue(order: Order, hit: Hit) -> int:
    """Return 1 if the result is taken from a queue, which only one thread or process may fill."""
    return int(getattr(hit.step, "method", "") == "get")


def always(order: Order, hit: Hit) -> int:
    """Return 1 for rules whose findings in public code were more often wrong than right."""
    return 1


_LEVELS: tuple[Severity, ...] = ("error", "warning", "note")


def lowered(order: Order, hit: Hit, severity: Severity) -> Severity:
    """Return the severity of a finding after all doubts: at most `severity`, that of its rule."""
    if severity == "note" or order.root.single or hit.module.single:
        return severity
    doubts = _DOUBTS.get(hit.code, _OF_OTHERS)
    # A call that trains by itself, or has a generator of its own, needs no more of a training.
    if isinstance(hit.step, Call) and hit.step.name in tables.libraries():
        doubts = _OF_LIBRARIES
    steps = sum(_steps(order, hit, doubt) for doubt in doubts.split())
    level = _LEVELS[min(_LEVELS.index(severity) + steps, len(_LEVELS) - 1)]
    if level == "error" and not _may_be_error(order, hit.code):
        return "warning"
    return level


_DOUBTS = by_name("certainty", "doubts")
_ERRORS = by_name("certainty", "errors")
_OF_OTHERS = "is_without_loop is_for_others"
_OF_LIBRARIES = "is_for_others is_pictured"


def _steps(order: Order, hit: Hit, doubt: str) -> int:
    """Return by how many steps a doubt, a function of this module, lowers a severity.

    `!` doubles them, so that an error becomes a note: findings of which the doubt was true were
    mostly wrong.
    """
    steps: int = globals()[doubt.rstrip("!")](order, hit)
    if doubt.endswith("!"):
        return 2 * steps
    return steps


def _may_be_error(order: Order, code: str) -> bool:
    """Return whether a finding in a folder may be an error.

    Of other rules too few were read in public code, or too few of those were right.
    """
    match _ERRORS.get(code):
        case "surely":
            return True
        case "where_nothing_seeds":
            return not speaks_of_seeds(order)
        case "in_programs":
            return order.whole
    return False
