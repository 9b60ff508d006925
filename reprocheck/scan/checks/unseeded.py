"""Find draws from a generator that is never seeded, or is seeded only later."""

from __future__ import annotations

import ast
import re
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from itertools import filterfalse, islice

from reprocheck.language import mark, tr
from reprocheck.rules.catalogue import Severity
from reprocheck.scan import syntax
from reprocheck.scan.checks import (
    devices,
    hyper,
    memory,
    order_use,
    other_programs,
    processes,
    seed_values,
    streams,
    training,
)
from reprocheck.scan.checks.streams import Drawing, at, short, title
from reprocheck.scan.checks.tables import Kind
from reprocheck.scan.order import Order
from reprocheck.scan.registry import Hit, check_orders, hit
from reprocheck.scan.steps import Call, Condition, Step
from reprocheck.scan.values import UNKNOWN, Constant, Derived, Made, Value, is_none
from reprocheck.scan.vocabulary import by_name, names, words

_DEVICE = frozenset({"device"})
_TORCH = frozenset({"torch"})
_MISSES = {(_TORCH, _DEVICE): "the accelerator", (_DEVICE, _TORCH): "the CPU"}
"""What a seed of torch is for that does not reach a draw: by the streams of the draw and of it."""
_TRAINED = frozenset({"weight", "bias"})

CODES = by_name("weights", "codes")
WORDS = {
    "weights": "the weights of `{name}` are drawn here",
    "layer": "`{name}` draws here",
    "order": "`{name}` draws an order here",
    "augmentation": "`{name}` changes samples at random",
    "split": "`{name}` chooses samples at random",
    "number": "`{name}` draws here",
    "hyper-parameter": "`{name}` draws a hyper-parameter here",
}
_PARAMETERS = names("weights", "parameters")
_WEIGHTS = names("weights", "weights")
_BY_HAND = {
    "optuna": mark(
        "Give the study a sampler with a seed: `sampler=optuna.samplers.TPESampler(seed=0)`."
    )
}
"""How a generator of a library's own is seeded."""
_MOST = 60
_DEEPEST = 8
"""Conversions of a number that becomes a weight."""
_NEAREST = 20
"""Draws of weights of which one is chosen."""
_MOST_DRAWS = 2_000
"""Draws of a program that are looked at. Of each kind only the first is reported."""


@check_orders("RC301", "RC302", "RC401", "RC406", "RC501", "RC511", "RC512", "RC202", "RC009")
def unseeded(order: Order) -> Iterator[Hit]:
    """Find the first draw from each unseeded generator for each purpose."""
    if order.whole:
        yield from _in_program(order)
    elif order.root.is_entry:
        # a data set that the program holds and does not use in plain sight
        program = order.root.program
        for drawing in streams.drawings(order):
            if not _is_sample(drawing.call):
                continue
            if not streams.seeded_anywhere(program, drawing.streams):
                yield _hit(program, drawing, "augmentation")
                return


def _in_program(order: Order) -> Iterator[Hit]:
    looked_at: Counter[tuple[str, str]] = Counter()
    reported: set[tuple[str, str]] = set()
    weights: dict[tuple[str, str], list[Drawing]] = {}
    for listed in islice(streams.drawings(order), _MOST_DRAWS):
        drawing = _where_it_draws(order, listed)
        kind = drawing.draws.kind
        if kind == "number":
            purposes = (name for name, holds in _PURPOSES.items() if holds(order, drawing.call))
            kind = next(purposes, kind)
        if _goes_without_saying(order, drawing, kind, reported | weights.keys()):
            continue
        key: tuple[str, str] = (title(drawing.streams), kind)
        optional = None
        if not _is_open(order, drawing):
            key = (title(drawing.streams), "option")
            optional = _left_to_option(order, drawing)
            if optional is None:
                continue
        is_enough = key in reported or looked_at[key] > _MOST
        if is_enough or not _matters(order, drawing, kind):
            continue
        looked_at[key] += 1
        if kind == "weights" and memory.are_replaced(order, drawing.call):
            continue
        if optional is not None:
            reported.add(key)
            yield _optional_hit(order, drawing, kind, optional)
        elif kind == "weights":
            weights.setdefault(key, []).append(drawing)
        else:
            reported.add(key)
            yield _hit(order, drawing, kind)
    for drawings in weights.values():
        # the first that is seen to go to an optimizer, else the first
        near = (one for one in drawings[:_NEAREST] if not training.distance(order, one.call))
        yield _hit(order, next(near, drawings[0]), "weights")


def _goes_without_saying(
    order: Order, drawing: Drawing, kind: str, reported: set[tuple[str, str]]
) -> bool:
    """Return whether a draw reaches no training, or its generator is already reported."""
    if other_programs.is_without_training(order):
        # It may write what is drawn, for a program that trains. What torch draws there is given
        # to a model to try it.
        is_prepared = (
            drawing.draws.when == "call"
            and kind in _PREPARED
            and not drawing.streams.isdisjoint(_OF_DATA)
            and not other_programs.leaves_nothing(order)
        )
        if not is_prepared:
            return True
    if kind in ("number", "order") and not streams.uses_framework(order):
        return True
    # Keras or its backend may be found unseeded already.
    names = {name for name, purpose in reported if purpose in CODES}
    return "backend" in drawing.streams and not names.isdisjoint({"Keras", "TensorFlow"})


_PREPARED = words("weights", "prepared")
_OF_DATA = frozenset({"numpy", "python"})


def _where_it_draws(order: Order, drawing: Drawing) -> Drawing:
    """Return a drawing with the streams that it really uses.

    A layer of torch draws on the device of its input. So if the program uses an accelerator and
    seeds only the CPU's generator, the layer draws from the unseeded generator of the accelerator.
    """
    if drawing.draws.kind != "layer" or drawing.streams != {"torch"}:
        return drawing
    uses_accelerator = any(devices.first_use(order, kind) is not None for kind in ("cuda", "npu"))
    if not uses_accelerator or streams.seeded_anywhere(order, _DEVICE):
        return drawing
    if not streams.seeded_anywhere(order, drawing.streams):
        return drawing
    return replace(drawing, streams=_DEVICE)


def is_weight(order: Order, draw: Call) -> bool:
    """Return whether the drawn tensor is trained: a parameter, or a tensor with `requires_grad`."""
    if streams.given(draw, "requires_grad=True", sure=True):
        return True
    if draw.method.endswith("_") and _is_of_weight(draw):
        return True  # `layer.weight.data.normal_()`
    targets = syntax.targets(draw.statement)
    if any(ast.unparse(target).endswith(_WEIGHTS) for target in targets):
        return True
    for step in islice(order.flow(draw.result), _MOST):
        if step.named(*_PARAMETERS):
            return True
        if step.method in ("copy_", "set_data") and _is_of_weight(step):
            return True
        if not isinstance(step, Call):
            continue
        if step.method == "requires_grad_":
            asks_for_gradient, tensor = True, step.receiver or UNKNOWN
        else:
            is_variable = step.name == "torch.autograd.Variable"
            asks_for_gradient = is_variable and streams.given(step, "requires_grad=True", sure=True)
            tensor = step.first
        if asks_for_gradient and _is_draw_itself(tensor, draw):
            return True
    return False


_PURPOSES: dict[Kind, Callable[[Order, Call], bool]] = {
    "hyper-parameter": lambda order, draw: hyper.sink(order, draw) is not None,
    "augmentation": lambda order, draw: _is_sample(draw),
    "weights": is_weight,
    "layer": lambda order, draw: draw.function_name in ("forward", "construct"),
}
"""What a number may be drawn for, the surest first."""


def _is_draw_itself(value: Value, draw: Call) -> bool:
    """Return whether a value is the drawn tensor, perhaps scaled or converted.

    The result of a model is not: its gradient may be wanted without any training.
    """
    for _ in range(_DEEPEST):
        match value:
            case Made(call=call) if call is draw:
                return True
            case Made(call=call) if not call.own and call.method != "__call__":
                value = call.receiver or call.first
            case Derived(parts=parts):
                others = list(filterfalse(_is_number, parts))
                if len(others) != 1:
                    return False
                value = others[0]
            case _:
                return False
    return False


def _is_number(value: Value) -> bool:
    """Return whether a value is a scale for weights: a literal, or a square root of one."""
    match value:
        case Constant():
            return True
        case Derived(parts=parts):
            return any(map(_is_number, parts))
    return value.made_by(*_ROOTS) is not None


_ROOTS = names("weights", "roots")


def _is_of_weight(step: Step) -> bool:
    """Return whether a method is called on a weight or a bias."""
    receiver = getattr(step, "receiver", None) or UNKNOWN
    return not _TRAINED.isdisjoint(memory.keys(islice(receiver.origin(), 20)))


def _is_sample(call: Call) -> bool:
    """Return whether a call stands in the method that makes a sample, `__getitem__`."""
    return call.function_name in ("__getitem__", "__getitems__")


def _is_open(order: Order, drawing: Drawing) -> bool:
    """Return whether no seed of the program reaches a draw."""
    call, wanted = drawing.call, drawing.streams
    if drawing.draws.stream == "private":
        return True
    if streams.is_spawned(call) and not order.cut:
        # The program may seed, and no seed be set in the process that draws.
        seedings = streams.seedings_of(order, wanted)
        if syntax.are_all(seedings, lambda one: not streams.reaches(one.call, call)):
            return True
    is_for_samples = call.by is not None or call.function_name == "__getitem__"
    if is_for_samples and wanted <= _OF_DATA:
        # In workers of loaders torch seeds these generators, where it is seeded itself.
        has_workers = any(map(processes.may_have_workers, streams.every(order)))
        if has_workers and streams.seeded_anywhere(order, _TORCH):
            return False
    draws_here = drawing.draws.when == "call" and call.by is None and not _is_sample(call)
    if draws_here:
        if streams.seeded_before(order, call, wanted) is not None:
            return False
        if streams.seeded_after(order, call, wanted) is not None:
            return True
    return not streams.seeded_anywhere(order, wanted)


def _left_to_option(order: Order, drawing: Drawing) -> Call | None:
    """Return the call that seeds a draw if all such calls depend on an option; else None.

    The option is None by default.
    """
    if order.cut:
        return None
    seeds = [one.call for one in streams.seedings_of(order, drawing.streams)]
    for seed in seeds:
        if not any(_asks_for_option(order, condition) for condition in seed.conditions):
            return None
    return next(iter(seeds), None)


def _asks_for_option(order: Order, condition: Condition) -> bool:
    """Return whether a condition asks for an optional option: `args.seed is not None`."""
    asked, taken = condition.test, condition.taken
    match condition.test:
        case ast.Compare(left=left, ops=[operator], comparators=[compared]) if is_none(
            order.value_of(compared)
        ):
            asked = left
            taken = taken is isinstance(operator, ast.IsNot | ast.NotEq)
    options = order.value_of(asked).options()
    if not taken or len(options) < 2 or UNKNOWN not in options:
        return False
    return any(map(is_none, options))


def _matters(order: Order, drawing: Drawing, kind: str) -> bool:
    """Return whether a draw changes a training.

    Numbers for a pause or a port do not, nor does an unused order, or what is only shown.
    """
    call = drawing.call
    if drawing.draws.when == "call" and other_programs.is_tried_out(order, call):
        return False
    if kind == "order":
        evaluates = training.is_evaluation(call) or training.is_in_evaluation(order, call)
        is_beside = other_programs.is_for_show(order, call) or evaluates
        return not order_use.is_order_unused(call) and not is_beside
    if kind != "number":
        # A model that is loaded from what a training of the same kind wrote lacks no head.
        path = " ".join(map(ast.unparse, syntax.given(call.node)[:1]))
        return not (_is_of_checkpoint(call) and _TRAINED_PATHS.search(path))
    if other_programs.is_for_show(order, call) or seed_values.feeds_seed(order, call):
        return False
    if training.is_in_evaluation(order, call):
        return False
    return not hyper.is_pause(call) and not hyper.is_for_others(call)


_TRAINED_PATHS = re.compile(r"reward|value_model|ckpt|checkpoint|output|save|tuned")


def _optional_hit(order: Order, drawing: Drawing, kind: str, seeding: Call) -> Hit:
    """Return a hit for a draw whose generator is seeded only if the user gives an option."""
    drawn = f"`{short(drawing.call.name)}` ({at(drawing.call, seeding.module)})"
    name = title(drawing.streams)
    message = (
        f"this seeds {name} only where an option is given that is `None` by default, and {drawn}"
        " draws from it"
    )
    code = CODES.get(kind, "RC202")
    conditions = (one for one in seeding.conditions if _asks_for_option(order, one))
    test = next(conditions).test
    if isinstance(test, ast.Compare):
        by_hand = tr("Give the option a number as its default.")
    else:
        by_hand = tr(
            "Ask `{test} is not None`, since `{test}` alone leaves seed 0 out, and give the option"
            " a number as its default.",
            test=ast.unparse(test),
        )
    return hit(code, seeding, message, severity="note", patchable=False, by_hand=by_hand)


def _hit(order: Order, drawing: Drawing, kind: str) -> Hit:
    call = drawing.call
    name = title(drawing.streams)
    is_private = drawing.draws.stream == "private"
    takes_a_seed = seed_values.STATE in drawing.draws.unless
    if takes_a_seed or call.name == "torch.utils.data.random_split":
        seed_place = seed_values.seed_argument(drawing)
    else:
        seed_place = seed_values.seed_place(order, call)
    purpose = WORDS[kind].format(name=short(call.name))
    if _is_of_checkpoint(call):
        purpose = "weights that the checkpoint lacks, as those of a new head, are drawn here"
    if kind == "hyper-parameter" and is_private:
        by_hand = tr(_BY_HAND.get(call.name.partition(".")[0], ""))
        message = f"{purpose}, from a generator without a seed"
        return hit("RC202", call, message, patchable=False, by_hand=by_hand)
    report = partial(hit, step=call, patchable=bool(seed_place), stream=name, more=seed_place)
    unseeded = f"{purpose}, and nothing seeds {name} in this program"
    if kind == "hyper-parameter":
        return report("RC202", message=unseeded)
    code = CODES[kind]
    # Less severe than the rule says where a checkpoint replaces most, or nothing is trained.
    severity: Severity | None = None
    if _is_of_checkpoint(call) or (kind != "number" and not streams.trains(order)):
        severity = "warning"
    late = None
    if not is_private and kind != "augmentation":  # samples are drawn again and again
        late = streams.seeded_after(order, call, drawing.streams)
    if late is not None:
        message = f"{purpose}, before {name} is seeded in {at(late.call, call.module)}"
        more = {**seed_values.later_number(late.call), **seed_place}
        return report(_LATE.get(kind, code), message=message, severity=severity, more=more)
    unused = streams.never_called(order, drawing.streams)
    if unused is not None:
        seeder = unused.function.name
        place = streams.line_at(unused.module, unused.function.lineno, call.module)
        message = f"{unseeded}: `{seeder}` ({place}) would, and is never called"
        fix = tr("Call `{name}` at the start of the program.", name=seeder)
        return report(code, message=message, severity=severity, fix=fix)
    if drawing.streams == {"tensorflow"}:
        switches = (*order.calls(_OP_DETERMINISM), *order.environment("TF_DETERMINISTIC_OPS"))
        if any(order.is_before(switch, call) for switch in switches):
            message = (
                f"`{short(call.name)}` draws without a seed while deterministic operators are on:"
                " TensorFlow raises an error"
            )
            return hit("RC009", call, message)
    message = f"{unseeded}{_hint(order, drawing)}"
    return report(code, message=message, severity=severity)


_LATE = {"weights": "RC302"}
"""The rule for a seed that comes after a draw, where that is another one."""


def _is_of_checkpoint(call: Call) -> bool:
    return call.name.endswith("from_pretrained")


def _hint(order: Order, drawing: Drawing) -> str:
    """Return why an existing seed does not reach the draw, as the end of a message.

    Empty if there is none.
    """
    for one in streams.seedings(order):
        place = at(one.call, drawing.call.module)
        if one.streams & drawing.streams and not streams.reaches(one.call, drawing.call):
            return f": the seed in {place} is set in the process that starts this one"
        if "keras" in drawing.streams and "tensorflow" in one.streams:
            keras = _NAMES[streams.is_of_tensorflow(drawing.call.module, "layer")]
            return f": the seed in {place} does not reach {keras}, which draws from Python's random"
        missed = _MISSES.get((drawing.streams, one.streams))
        if missed is not None:
            return f": the seed in {place} is for {missed} alone"
    return ""


_NAMES = {True: "Keras 2.10", False: "Keras 3"}
"""The Keras that draws from Python's generator, by whether the project asks for one before 3."""


_OP_DETERMINISM = "tensorflow.config.experimental.enable_op_determinism"
