"""How sure a finding in a folder is: what its program shows of a training that comes to it.

The severity of a rule is that of a finding for which all of it is seen: a program that trains in a
loop, a value that goes into that training, and code that is for training. Each that is not seen
takes one step: from an error to a warning, from a warning to a note. A file that is named itself is
taken for what it may become, and its findings keep their severity.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterator, Mapping
from enum import IntEnum
from itertools import chain, islice
from pathlib import PurePath

from reprocheck.rules.catalogue import Severity
from reprocheck.scan import syntax
from reprocheck.scan.checks import beside, reach, streams, tables
from reprocheck.scan.kept import kept
from reprocheck.scan.names import last_word
from reprocheck.scan.order import Order
from reprocheck.scan.project import Module
from reprocheck.scan.registry import Hit
from reprocheck.scan.steps import Call, Loop, Step, Store
from reprocheck.scan.values import Value

_LEVELS: tuple[Severity, ...] = ("error", "warning", "note")
_MOST = 2_000
"""Steps that are gone along from a value to the training."""


class _Ground(IntEnum):
    """What an order shows of a training: none, one that it may start or try, one in a loop."""

    NONE = 0
    SOME = 1
    LOOP = 2


def lowered(order: Order, hit: Hit, severity: Severity) -> Severity:
    """The severity of a finding of an order, from that of its rule."""
    if severity == "note" or order.root.single or hit.module.single:
        return severity
    doubts = _DOUBTS.get(hit.code, _OF_PROGRAMS)
    if _is_of_library(hit):
        doubts = (_is_for_others,)
    steps = sum(doubt(order, hit) for doubt in doubts)
    level = _LEVELS.index(severity) + steps
    return _LEVELS[min(level, len(_LEVELS) - 1)]


def _is_of_library(hit: Hit) -> bool:
    """Whether it is a call of a library that trains by itself, or draws what it was not seeded for:
    no more of a training needs to be seen.
    """
    return isinstance(hit.step, Call) and hit.step.name in tables.libraries()


# ------------------------------------------------------------------------------------- the training


def _is_without_loop(order: Order, hit: Hit) -> int:
    """No training is seen, or none that goes on and on."""
    return _Ground.LOOP - _ground(order)


@kept
def _ground(order: Order) -> _Ground:
    """What an order shows of a training."""
    if any(map(_goes_on, streams.every(order))) or _trains_in_text(order):
        return _Ground.LOOP
    if not order.whole:
        return _OF_PARTS[reach.is_unused(order)]
    if beside.is_without_training(order):
        return _Ground.NONE
    return _Ground.SOME


_OF_PARTS = {True: _Ground.NONE, False: _Ground.SOME}
"""What a function shows that no program reaches, by whether nothing mentions it either."""


def _trains_in_text(order: Order) -> bool:
    """Whether a program makes an optimizer, and has a function of its own that trains and that a
    condition kept from being followed.
    """
    if not streams.trains(order):
        return False
    root = order.root
    passes = (one for one in root.index.calls if syntax.word(one) in _PASSES)
    return any(root.function_of(one) and not order.at(root, one) for one in passes)


def _goes_on(call: Call) -> bool:
    """Whether a call trains again and again: in a loop, or because a library goes on by itself."""
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
_WHOLE_NAMES = (
    "transformers.Trainer().train",
    "mindspore.train.Model().train",
    "mindspore.Model().train",
    "mindspore.nn.TrainOneStepCell",
    "jax.grad",
    "jax.value_and_grad",
    "mindspore.value_and_grad",
    "mindspore.ops.value_and_grad",
    "optuna.create_study().optimize",
    "sklearn.model_selection.cross_val_score",
    "sklearn.model_selection.cross_val_predict",
    "sklearn.model_selection.cross_validate",
)
_TRAINERS = re.compile(r"trainer|runner|learner|engine|solver|estimator", re.IGNORECASE)


def _owner(call: Call) -> str:
    """What a method is called on, as it is written and as it is known."""
    written = ""
    match call.node:
        case ast.Call(func=ast.Attribute(value=owner)):
            written = last_word(owner)
    return f"{written} {call.name}"


# ---------------------------------------------------------------------------------------- the value


def _goes_elsewhere(order: Order, hit: Hit) -> int:
    """It is not seen how what is drawn or ordered comes to the training."""
    step = hit.step
    if step is None or isinstance(step, Store):
        return 0
    return int(not _goes_in(order, step))


def _goes_in(order: Order, step: Step) -> bool:
    """Whether a value comes to the training: a loader takes it, it is made in the loop that trains,
    or a call of the training is given what is made of it.
    """
    if _is_for_samples(step) or _is_in_training(order, step):
        return True
    values = chain(_values(step), _handed_back(order, step))
    flows = islice(chain.from_iterable(map(order.flow, values)), _MOST)
    return any(_trains_with(one) or _is_put_into_net(order, one) for one in flows)


def _is_put_into_net(order: Order, step: Step) -> bool:
    """`model.add(layer)`, and the model is trained."""
    if step.called not in _ADDS or not isinstance(step, Call) or step.receiver is None:
        return False
    return any(map(_trains_with, islice(order.flow(step.receiver), _MOST)))


_ADDS = frozenset({"keras.Sequential().add", "keras.models.Sequential().add"})


def _handed_back(order: Order, step: Step) -> Iterator[Value]:
    """What the user's functions around a step give back: a draw that is an index or decides a
    branch goes on in what they make with it.
    """
    for module, node in reversed(step.through):
        calls = (one for one in order.at(module, node) if isinstance(one, Call) and one.own)
        yield from (call.result for call in calls)


def _is_for_samples(step: Step) -> bool:
    """Whether it makes samples or weights: the function, the class or the library that calls it
    says so.
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
    """Whether a class is a data set."""
    methods = {one.name for one in node.body if isinstance(one, ast.FunctionDef)}
    bases = " ".join(map(ast.unparse, node.bases))
    return not methods.isdisjoint(_SAMPLES) or "Dataset" in bases or "Builder" in bases


def _is_loader(call: Call) -> bool:
    return _LOADERS.search(call.method.lower()) is not None


_LOADERS = re.compile(r"loader|dataset|compose|transform|apply|^map$|generator|^subset$|^lambda$")


def _values(step: Step) -> tuple[Value, ...]:
    """What a step makes, or what it changes or goes over."""
    match step:
        case Call(method=method) if method in _IN_PLACE or method.endswith("_"):
            changed = map(Value.origin, step.inputs[:1])
            return (*step.outputs, *islice(chain.from_iterable(changed), _NEAR))
        case Loop():
            return step.inputs
    return step.outputs


_NEAR = 5
"""Of what is changed in place: it, what it is a part of, and so on."""
_IN_PLACE = frozenset({"shuffle"})


def _trains_with(step: Step) -> bool:
    """Whether a step is a part of a training that is given something."""
    if not isinstance(step, Call):
        return False
    if _is_for_samples(step) or step.method in _TAKES or step.named(*_TAKING):
        return True
    return step.method == "train" and _goes_on(step)


_TAKING = ("torch.optim.*", "keras.optimizers.*", "optax.*", *_WHOLE_NAMES)
_TAKES = (
    streams.TRAINING_METHODS
    | _WHOLE
    | {
        "DataLoader",
        "TensorDataset",
        "from_tensor_slices",
        "from_generator",
        "load_dataset",
        "register_buffer",
        "update",
        "step",
        "run",
    }
)


def _is_in_training(order: Order, step: Step) -> bool:
    """Whether it happens in a loop that trains, or in a function that does, and not in a branch
    that is for something else now and then.
    """
    loops, functions = _training_places(order)
    if any(_is_now_and_then(one.test) for one in step.conditions):
        return False
    if not loops.isdisjoint(_loops(step)):
        return True
    return isinstance(step, Call) and not functions.isdisjoint(map(id, reach.functions(step)))


@kept
def _training_places(order: Order) -> tuple[frozenset[int], frozenset[int]]:
    """The loops in which something is trained, and the functions, by the ids of their nodes."""
    trainings = [call for call in streams.every(order) if _goes_on(call) or _runs_graph(call)]
    loops = chain.from_iterable(map(_loops, trainings))
    functions = chain.from_iterable(map(reach.functions, trainings))
    return frozenset(loops), frozenset(map(id, functions))


def _runs_graph(call: Call) -> bool:
    """`session.run(train_step)` of the first TensorFlow."""
    return call.method == "run" and "Session()" in call.name


def _loops(step: Step) -> Iterator[int]:
    """The loops around a step, also those around the calls that led there."""
    for module, node in step.places:
        yield from (id(one) for one in module.around(node) if isinstance(one, ast.For | ast.While))


def _is_now_and_then(test: ast.AST) -> bool:
    """`if step % 100 == 0:`, `if args.debug:`."""
    if any(isinstance(part, ast.Mod) for part in ast.walk(test)):
        return True
    return any(_BESIDE.search(last_word(part).lower()) for part in ast.walk(test))


# ----------------------------------------------------------------------------------------- the code


def _is_for_others(order: Order, hit: Hit) -> int:
    """The code is that of others, or of tests, evaluations, pictures: its folder, its file, its
    program or a function on the way says so.
    """
    if _is_foreign(order.root) or _is_foreign(hit.module):
        return 1
    if hit.module is not order.root and _is_named_beside(hit.module):
        return 1
    if _is_named_beside(order.root) and not _trains_nets(order):
        return 1
    if not isinstance(hit.step, Call):
        return 0
    functions = reach.functions(hit.step)
    return int(any(_FUNCTIONS.search(function.name.lower()) for function in functions))


@kept
def _trains_nets(order: Order) -> bool:
    """Whether a program computes gradients: what evaluates may fit a classifier, too."""
    return any(_goes_on(call) and call.method not in _FITS for call in streams.every(order))


def _is_foreign(module: Module) -> bool:
    folders = map(str.lower, PurePath(module.shown).parent.parts)
    return not _FOREIGN.isdisjoint(folders)


def _is_named_beside(module: Module) -> bool:
    return _BESIDE.search(PurePath(module.shown).stem.lower()) is not None


_FOREIGN = frozenset(
    {
        *("third_party", "thirdparty", "third-party", "3rdparty", "vendor", "vendored"),
        *("external", "externals", "extern", "submodules"),
        *("test", "tests", "testing", "unittests", "benchmarks", "benchmark"),
    }
)
"""Folders of what is not the training of this project."""
_WORDS = (
    r"eval|evals|evaluate|evaluates|evaluation|evaluator|valid|validate|validation|test|tests"
    r"|testing|infer|inference|predict|prediction|predictor|visuali[sz]e|visuali[sz]ation"
    r"|visuali[sz]er|plot|plots|plotting|show|demo|debug|bench|benchmark|benchmarks|profile"
    r"|profiler|profiling|metric|metrics|fid|display|report|summary|analysis|analyze|render"
)
_BESIDE = re.compile(rf"(^|_)({_WORDS})(_|$|\d)")
"""In the name of a file or of a question: what it is for is no training."""
_FUNCTIONS = re.compile(
    rf"(^|_)({_WORDS}|translate|download|upload|remove|delete|backup)(_|$|\d)|^_?(print|log)(_|$)"
)
"""The same in the name of a function."""


# ------------------------------------------------------------------------------- rules and doubts

Doubt = Callable[[Order, Hit], int]


def _is_kept_from_training(order: Order, hit: Hit) -> int:
    """There is a training, and it is not seen how an order comes to it. What trains nothing and
    draws an order writes data for another program.
    """
    if not streams.trains(order):
        return 0
    return _is_without_loop(order, hit) + _goes_elsewhere(order, hit)


def _is_guessed(order: Order, hit: Hit) -> int:
    """The text does not show what a set holds."""
    return int("unsure" in hit.evidence)


def _is_only_one(order: Order, hit: Hit) -> int:
    """One file is taken by its position: mostly there is one alone."""
    return int(any(map(_takes_one, hit.module.expressions_around(hit.node))))


def _takes_one(node: ast.AST) -> bool:
    match node:
        case ast.Subscript(slice=ast.Constant(value=int()) | ast.UnaryOp()):
            return True
    return False


def _is_for_evaluation(order: Order, hit: Hit) -> int:
    """What it is called, or what it is given, is the data of a test."""
    if not isinstance(hit.step, Call):
        return 0
    given = " ".join(map(ast.unparse, syntax.given(hit.step.node)[:1])).lower()
    is_of_test = _TEST_DATA.search(given) is not None and "train" not in given
    return int(is_of_test or reach.is_evaluation(hit.step))


_TEST_DATA = re.compile(r"(^|[^a-z])(test|val|valid|validation|eval|dev)([^a-z]|set|data|$)")


def _is_under_condition(order: Order, hit: Hit) -> int:
    """It happens where an option is given alone that the text does not show."""
    return int(hit.step is not None and bool(hit.step.conditions))


def _may_be_replaced(order: Order, hit: Hit) -> int:
    """What holds the weights loads a checkpoint, and no option that is off asks for that."""
    if not isinstance(hit.step, Call):
        return 0
    loads = (one for one in order.flow(hit.step.result) if one.method in _LOADS)
    return int(any(not _is_resume(order, one) for one in islice(loads, _MOST)))


_LOADS = frozenset({"load_state_dict", "load_weights", "load_checkpoint", "load_model", "restore"})


def _is_resume(order: Order, load: Step) -> bool:
    """Whether a checkpoint is loaded only where somebody asks to go on from it."""
    return any(_asks_to_resume(ast.unparse(one.test)) for one in load.conditions)


def _asks_to_resume(test: str) -> bool:
    return _RESUMES.search(test.lower()) is not None


_RESUMES = re.compile(
    r"resum|continu|restart|restore|checkpoint|ckpt|load|exists|isfile|path|start"
)


def _is_seeded_in_some_way(order: Order, hit: Hit) -> int:
    """The program seeds an environment somewhere, which may be this one."""
    calls = chain.from_iterable(module.index.calls for module in streams.closure(order))
    return int(any(map(_seeds_environment, calls)))


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


def _always(order: Order, hit: Hit) -> int:
    """What the rule says was wrong more often than right where it was read in public code."""
    return 1


_OF_PROGRAMS: tuple[Doubt, ...] = (_is_without_loop, _is_for_others)
_OF_VALUES: tuple[Doubt, ...] = (*_OF_PROGRAMS, _goes_elsewhere)
_OF_ORDERS: tuple[Doubt, ...] = (_is_for_others, _is_kept_from_training)
_DOUBTS: Mapping[str, tuple[Doubt, ...]] = {
    **dict.fromkeys(("RC302", "RC406"), _OF_VALUES),
    **dict.fromkeys(("RC502", "RC504", "RC507", "RC508"), _OF_VALUES),
    **dict.fromkeys(("RC501", "RC512"), (*_OF_ORDERS, _is_for_evaluation)),
    "RC511": (*_OF_VALUES, _is_for_evaluation),
    **dict.fromkeys(("RC305", "RC510", "RC701", "RC902"), (*_OF_PROGRAMS, _always)),
    "RC303": (_is_for_others, _always),
    "RC703": (_is_for_others,),
    "RC104": (_is_for_others, _goes_elsewhere, _is_only_one),
    "RC301": (*_OF_VALUES, _may_be_replaced),
    "RC401": (*_OF_VALUES, _is_under_condition),
    "RC505": (*_OF_VALUES, _is_guessed),
    "RC407": (*_OF_VALUES, _is_seeded_in_some_way),
}
