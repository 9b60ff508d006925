"""What is not seen of a training where something is found: each doubt is the number of steps by
which a finding is less severe.
"""

from __future__ import annotations

import ast
import re
from itertools import chain, islice
from operator import attrgetter
from pathlib import PurePath

from reprocheck.scan import syntax
from reprocheck.scan.checks import (
    files,
    other_programs,
    private_generators,
    reach,
    replaced_weights,
    streams,
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
from reprocheck.scan.vocabulary import words

_MOST = 2_000
"""Steps that are gone along from a value to the training."""


def is_without_loop(order: Order, hit: Hit) -> int:
    """Count the steps from a training in a loop to what is seen: one that may be started or tried,
    or none.
    """
    return training.Ground.LOOP - training.ground(order)


def goes_elsewhere(order: Order, hit: Hit) -> int:
    """Return 1 where it is not seen how what is drawn or ordered comes to the training."""
    step = hit.step
    if step is None or isinstance(step, Store) or files.decides_by_number(step):
        return 0
    ends = _ORDER_FREE if hit.code in _ORDERS else ()
    return int(not training.goes_in(order, step, ends))


def is_beside_loop(order: Order, hit: Hit) -> int:
    """Return 1 where a number is drawn outside of the loop that trains, and for no sample.

    What a program that speaks of seeds draws in a function that trains, and outside of its loop,
    was wrong in two of five cases.
    """
    step = hit.step
    if step is None or isinstance(step, Store):
        return 0
    return int(not training.goes_in(order, step, by_function=not speaks_of_seeds(order)))


def is_far_from_optimizer(order: Order, hit: Hit) -> int:
    """Return 1 where no optimizer takes the weights: what a function made of them may come to one,
    or nothing.
    """
    step = hit.step
    if step is None or isinstance(step, Store):
        return 0
    return int(training.distance(order, step) > 0)


@kept
def speaks_of_seeds(order: Order) -> bool:
    """Return whether a module of the program has a word of seeds, or another may be imported by a
    name that is made at run time.

    Where none has, that nothing is seeded needs no inference.
    """
    modules = streams.closure(order)
    return any(_SEEDS.search(one.source.text) or reach.imports_by_name(one) for one in modules)


_SEEDS = re.compile("seed|determin|rng_state|set_state|reproduc", re.IGNORECASE)
_ORDERS = frozenset({"RC104", "RC508"})
_ORDER_FREE = frozenset({"max", "min", "len", "any", "all", "Counter"})
"""Calls of which the result is the same in any order of what they are given."""


def is_for_others(order: Order, hit: Hit) -> int:
    """Return 1 where the code is that of others, or of tests, evaluations, pictures: its folder,
    its file, its program or a function on the way says so.

    2 for a function that trains nothing, which is sure to be for that.
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
        for function in reach.functions(hit.step):
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
    """Count the steps where there is a training, and it is not seen how an order comes to it.

    What trains nothing and draws an order may write data for another program.
    """
    if not streams.trains(order):
        return 2 * other_programs.leaves_nothing(order)
    return is_without_loop(order, hit) + 2 * goes_elsewhere(order, hit)


def is_idle(order: Order, hit: Hit) -> int:
    """Return 1 where the program trains nothing and writes nothing that another one could train on,
    or no program that trains imports the module.
    """
    if not order.whole:
        return int(training.ground(order) is training.Ground.NONE)
    return int(not streams.trains(order) and other_programs.leaves_nothing(order))


def is_only_one(order: Order, hit: Hit) -> int:
    """Return 1 where one file is taken by its position: mostly there is one alone."""
    for node in hit.module.expressions_around(hit.node):
        match node:
            case ast.Subscript(slice=ast.Constant(value=int()) | ast.UnaryOp()):
                return 1
    return 0


def is_for_evaluation(order: Order, hit: Hit) -> int:
    """Return 1 where a call is named after a test, or is given the data of one."""
    if not isinstance(hit.step, Call):
        return 0
    given = " ".join(map(ast.unparse, syntax.given(hit.step.node)[:1])).lower()
    is_of_test = _TEST_DATA.search(given) is not None and "train" not in given
    return int(is_of_test or reach.is_evaluation(hit.step))


_TEST_DATA = re.compile(r"(^|[^a-z])(test|val|valid|validation|eval|dev)([^a-z]|set|data|$)")


def is_unsure(order: Order, hit: Hit) -> int:
    """Return 1 where the check itself is less sure than its rule, and no data set is made there."""
    is_for_samples = hit.step is not None and training.is_for_samples(hit.step)
    return int(hit.severity == "warning" and not is_for_samples)


def is_path(order: Order, hit: Hit) -> int:
    """Return 1 where the name of a file or a run differs, of which other things are made than
    seeds.
    """
    return int(hit.evidence.get("source", "").startswith("tempfile."))


def is_left_out(order: Order, hit: Hit) -> int:
    """Return 1 where it happens only if a caller passes no number, and no caller in the program is
    seen.
    """
    if not isinstance(hit.step, Call) or (order.whole and hit.step.by is None):
        return 0
    return int(private_generators.is_in_fallback(hit.step))


def is_under_condition(order: Order, hit: Hit) -> int:
    """Return 1 where it happens only if an option is given that the text does not show."""
    return int(hit.step is not None and bool(hit.step.conditions))


def may_be_replaced(order: Order, hit: Hit) -> int:
    """Return 1 where the object that holds the weights loads a checkpoint, and no option that is
    off asks for that.
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
_RESUMES = re.compile(
    r"resum|continu|restart|restore|checkpoint|ckpt|load|exists|isfile|path|start"
)


def is_drawn_again(order: Order, hit: Hit) -> int:
    """Return 1 where a loop over all parameters of the model fills them: that draw counts, and not
    this one.
    """
    for step in islice(order.flow(getattr(hit.step, "result", UNKNOWN)), _MOST):
        # `parameter.normal_()` in a loop over parameters, whatever their number of dimensions
        draws = step.method in replaced_weights.DRAWS
        if draws and "parameters()" in getattr(step, "name", ""):
            tests = (ast.unparse(condition.test) for condition in step.conditions)
            if not any(map(_BY_SHAPE.search, tests)):
                return 1
    return 0


_BY_SHAPE = re.compile("dim|shape|size|len|requires_grad")


def is_seeded_in_some_way(order: Order, hit: Hit) -> int:
    """Return 2 where the class or function that makes an environment seeds one, 1 where the program
    does somewhere.
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


_GENERATORS = frozenset({"random", "np", "numpy", "torch", "cuda"})


def _seeds_environment(call: ast.Call) -> bool:
    """Return whether a call seeds an environment, or makes one of the project's own, which may seed
    itself: `env.seed(1)`, `env.reset(seed=1)`, `make_env(name, seed)`.
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
    """Return 1 where the object that the method is called on may be another one."""
    receiver = getattr(hit.step, "receiver", None)
    return int(receiver is not None and len(receiver.options()) > 1)


def is_played(order: Order, hit: Hit) -> int:
    """Return 1 where observations of an environment are given to a model that predicts, and to none
    that learns.
    """
    flow = islice(order.flow(getattr(hit.step, "result", UNKNOWN)), _MOST)
    methods = set(map(attrgetter("method"), flow))
    return int("predict" in methods and methods.isdisjoint(_LEARNS))


_LEARNS = frozenset({"learn", "fit", "train", "backward", "minimize", "apply_gradients"})


def is_careful(order: Order, hit: Hit) -> int:
    """Return 1 where the program speaks of seeds.

    There, sets whose order may differ held numbers, or were only asked, in three of five cases.
    """
    return int(speaks_of_seeds(order))


def is_for_tests(order: Order, hit: Hit) -> int:
    """Return 1 in a branch that is for a test, or is taken only now and then."""
    return int(hit.step is not None and any(map(training.is_beside, hit.step.conditions)))


def is_drawn_on_request(order: Order, hit: Hit) -> int:
    """Return 1 for a generator whose draws all stand under conditions that its making does not."""
    if not isinstance(hit.step, Call):
        return 0
    own = set(hit.step.conditions)
    return int(syntax.are_all(order.on(hit.step.result), lambda one: set(one.conditions) > own))


def fits_classifiers_alone(order: Order, hit: Hit) -> int:
    """Return 1 where scikit-learn alone trains, as in an evaluation of features, and no network
    does.
    """
    trainings = filter(training.goes_on, streams.every(order))
    return int(syntax.are_all(trainings, lambda one: one.name.startswith("sklearn.")))


def has_no_convolution(order: Order, hit: Hit) -> int:
    """Return 1 where no module of the program speaks of a convolution, which is what is timed."""
    texts = (module.source.text for module in streams.closure(order))
    return int(not any(map(_CONVOLUTION.search, texts)))


_CONVOLUTION = re.compile("conv|resnet|vgg|torchvision|timm|unet", re.IGNORECASE)


def is_pictured(order: Order, hit: Hit) -> int:
    """Return 2 where the result is shown in a picture."""
    shown = order.flow(getattr(hit.step, "result", UNKNOWN))
    return 2 * any(step.method in _PICTURES for step in islice(shown, _MOST))


_PICTURES = frozenset({"scatter", "plot", "imshow", "savefig", "scatterplot"})


def is_of_queue(order: Order, hit: Hit) -> int:
    """Return 1 where it is taken out of a queue, which one alone may fill."""
    return int(getattr(hit.step, "method", "") == "get")


def always(order: Order, hit: Hit) -> int:
    """Return 1: findings of such rules were wrong more often than right where they were read in
    public code.
    """
    return 1
