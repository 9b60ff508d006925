"""Draws from a generator that nothing seeds, or that is seeded only later."""

from __future__ import annotations

import ast
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import filterfalse, islice

from reprocheck.language import mark, tr
from reprocheck.rules.catalogue import Severity
from reprocheck.scan import syntax
from reprocheck.scan.checks import (
    devices,
    display_draws,
    hyper,
    order_use,
    other_programs,
    processes,
    reach,
    replaced_weights,
    seed_values,
    seeding,
    streams,
    training,
)
from reprocheck.scan.checks.streams import Drawing, at, short, title
from reprocheck.scan.order import Order
from reprocheck.scan.registry import Hit, check_orders, hit
from reprocheck.scan.steps import Call, Condition, Step
from reprocheck.scan.values import UNKNOWN, Constant, Derived, Made, Value, is_none

_DEVICE = frozenset({"device"})
_TORCH = frozenset({"torch"})
_MISSES = {(_TORCH, _DEVICE): "the accelerator", (_DEVICE, _TORCH): "the CPU"}
"""What a seed of torch is for that does not reach a draw: by the streams of the draw and of it."""
_TRAINED = frozenset({"weight", "bias"})

CODES = {
    "weights": "RC301",
    "layer": "RC401",
    "order": "RC501",
    "augmentation": "RC511",
    "split": "RC512",
    "number": "RC406",
}
WORDS = {
    "weights": "the weights of `{name}` are drawn here",
    "layer": "`{name}` draws here",
    "order": "`{name}` draws an order here",
    "augmentation": "`{name}` changes samples at random",
    "split": "`{name}` chooses samples at random",
    "number": "`{name}` draws here",
    "hyper-parameter": "`{name}` draws a hyper-parameter here",
}
_PARAMETERS = ("torch.nn.Parameter", "mindspore.Parameter", "tensorflow.Variable", "keras.Variable")
_WEIGHTS = (".weight", ".bias", ".weight.data", ".bias.data")
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
    """Yield one finding for each generator and purpose: its first draw."""
    if order.whole:
        yield from _in_program(order)
    elif order.root.is_entry:
        yield from _in_samples(order)


def _in_samples(order: Order) -> Iterator[Hit]:
    """Yield draws of a data set that the program holds and does not use in plain sight."""
    samples = (drawing for drawing in streams.drawings(order) if _is_sample(drawing.call))
    for drawing in samples:
        program = order.root.program
        if not streams.seeded_anywhere(program, drawing.streams):
            yield _hit(program, drawing, "augmentation")
            return


def _in_program(order: Order) -> Iterator[Hit]:
    looked_at: Counter[tuple[str, str]] = Counter()
    reported: set[tuple[str, str]] = set()
    weights: dict[tuple[str, str], list[Drawing]] = {}
    for drawn in islice(streams.drawings(order), _MOST_DRAWS):
        drawing = _where_it_draws(order, drawn)
        kind = _kind(order, drawing)
        if _goes_without_saying(order, drawing, kind, reported | weights.keys()):
            continue
        key = (title(drawing.streams), kind)
        optional = None
        if not _is_open(order, drawing):
            key = (title(drawing.streams), "option")
            optional = _left_to_option(order, drawing)
            if optional is None:
                continue
        enough = key in reported or looked_at[key] > _MOST
        if enough or not _matters(order, drawing, kind):
            continue
        looked_at[key] += 1
        if kind == "weights" and replaced_weights.are_replaced(order, drawing.call):
            continue
        if kind == "weights" and optional is None:
            weights.setdefault(key, []).append(drawing)
            continue
        reported.add(key)
        yield _optional_hit(order, drawing, kind, optional) or _hit(order, drawing, kind)
    for drawings in weights.values():
        yield _hit(order, _plainest(order, drawings), "weights")


def _plainest(order: Order, drawings: Sequence[Drawing]) -> Drawing:
    """Return the first draw of weights that are seen to go to an optimizer, else the first."""
    near = (one for one in drawings[:_NEAREST] if not training.distance(order, one.call))
    return next(near, drawings[0])


def _goes_without_saying(
    order: Order, drawing: Drawing, kind: str, reported: set[tuple[str, str]]
) -> bool:
    """Return whether a draw reaches no training, or is a matter that is reported already."""
    if other_programs.is_without_training(order) and not _is_prepared(order, drawing, kind):
        return True
    if kind in ("number", "order") and not streams.uses_framework(order):
        return True
    return "backend" in drawing.streams and _is_told_of_backend(reported)


def _is_prepared(order: Order, drawing: Drawing, kind: str) -> bool:
    """Return whether a program that trains nothing may write what is drawn, for one that does. What
    torch draws there is given to a model to try it.
    """
    if drawing.draws.when != "call" or other_programs.leaves_nothing(order):
        return False
    return kind in _PREPARED and not drawing.streams.isdisjoint(_OF_DATA)


_PREPARED = frozenset({"split", "order", "number"})
_OF_DATA = frozenset({"numpy", "python"})


def _is_told_of_backend(reported: set[tuple[str, str]]) -> bool:
    """Return whether Keras or its backend is found unseeded already."""
    names = {name for name, kind in reported if kind in CODES}
    return not names.isdisjoint({"Keras", "TensorFlow"})


def _where_it_draws(order: Order, drawing: Drawing) -> Drawing:
    """Return a layer of torch draws on the device of what it is given. Where the program uses an
    accelerator and seeds the CPU's generator alone, the accelerator's is the one without a seed.
    """
    if drawing.draws.kind != "layer" or drawing.streams != {"torch"}:
        return drawing
    uses_accelerator = any(devices.first_use(order, kind) is not None for kind in ("cuda", "npu"))
    if not uses_accelerator or streams.seeded_anywhere(order, _DEVICE):
        return drawing
    if not streams.seeded_anywhere(order, drawing.streams):
        return drawing
    return replace(drawing, streams=_DEVICE)


def _kind(order: Order, drawing: Drawing) -> str:
    """Return what a draw is for. A number may be a hyper-parameter, a weight, a part of a sample or
    what a layer draws.
    """
    if drawing.draws.kind != "number":
        return drawing.draws.kind
    purposes = (purpose for purpose, holds in _PURPOSES.items() if holds(order, drawing.call))
    return next(purposes, "number")


def _is_hyper_parameter(order: Order, draw: Call) -> bool:
    return hyper.sink(order, draw) is not None


def _is_in_sample(order: Order, draw: Call) -> bool:
    return _is_sample(draw)


def _is_in_layer(order: Order, draw: Call) -> bool:
    return draw.function_name in ("forward", "construct")


def _is_weight(order: Order, draw: Call) -> bool:
    """Return whether what is drawn is trained: a parameter, or a tensor that asks for its
    gradient.
    """
    if streams.given(draw, "requires_grad=True", sure=True) or _fills_weight(draw):
        return True
    targets = syntax.targets(draw.statement)
    if any(ast.unparse(target).endswith(_WEIGHTS) for target in targets):
        return True
    taking = filter(_becomes_weight, islice(order.flow(draw.result), _MOST))
    return any(_is_kept_in(step) or _is_draw_itself(_taken(step), draw) for step in taking)


_PURPOSES = {
    "hyper-parameter": _is_hyper_parameter,
    "augmentation": _is_in_sample,
    "weights": _is_weight,
    "layer": _is_in_layer,
}
"""What a number may be drawn for, the surest first."""


def _becomes_weight(step: Step) -> bool:
    """Return whether a call makes a parameter of what it is given, or puts it into one."""
    if step.named(*_PARAMETERS) or step.method == "requires_grad_":
        return True
    if isinstance(step, Call) and step.name == "torch.autograd.Variable":
        return streams.given(step, "requires_grad=True", sure=True)
    return step.method in ("copy_", "set_data") and _is_of_weight(step)


def _is_kept_in(step: Step) -> bool:
    """Return whether a step makes a parameter, or fills one."""
    return step.named(*_PARAMETERS) or step.method in ("copy_", "set_data")


def _taken(step: Step) -> Value:
    """Return what becomes a weight: what `requires_grad_` is called on, or the first argument."""
    if not isinstance(step, Call):
        return UNKNOWN
    if step.method == "requires_grad_":
        return step.receiver or UNKNOWN
    return step.first


def _is_draw_itself(value: Value, draw: Call) -> bool:
    """Return whether a value is what was drawn, scaled or converted, and not what a model or other
    numbers made of it: of that the gradient may be asked, and nothing is trained.
    """
    for _ in range(_DEEPEST):
        match value:
            case Made(call=call) if call is draw:
                return True
            case Made(call=call) if not call.own and call.method != "__call__":
                value = call.receiver or call.first
            case Derived(parts=parts):
                value = _only_one(filterfalse(_is_number, parts))
            case _:
                return False
    return False


def _is_number(value: Value) -> bool:
    """Return whether a value is a number by which weights are scaled: a literal, or a root of
    one.
    """
    match value:
        case Constant():
            return True
        case Derived(parts=parts):
            return any(map(_is_number, parts))
    return value.made_by(*_ROOTS) is not None


_ROOTS = ("numpy.sqrt", "math.sqrt", "torch.sqrt")


def _only_one(values: Iterable[Value]) -> Value:
    """Return the value, where it is one alone."""
    match list(values):
        case [only]:
            return only
    return UNKNOWN


def _fills_weight(draw: Call) -> bool:
    """`layer.weight.data.normal_()`."""
    return draw.method.endswith("_") and _is_of_weight(draw)


def _is_of_weight(step: Step) -> bool:
    """Return whether a method is called on a weight or a bias."""
    receiver = getattr(step, "receiver", None) or UNKNOWN
    return not _TRAINED.isdisjoint(replaced_weights.keys(islice(receiver.origin(), 20)))


def _is_sample(call: Call) -> bool:
    """Return whether it stands in the code that makes a sample of a data set."""
    return call.function_name in ("__getitem__", "__getitems__")


def _is_open(order: Order, drawing: Drawing) -> bool:
    """Return whether no seed reaches the draw."""
    call, wanted = drawing.call, drawing.streams
    if drawing.draws.stream == "private":
        return True
    if _is_seeded_in_parent_alone(order, drawing):
        return True
    if _is_seeded_by_torch(order, drawing):
        return False
    draws_here = drawing.draws.when == "call" and call.by is None and not _is_sample(call)
    if draws_here:
        if streams.seeded_before(order, call, wanted) is not None:
            return False
        if streams.seeded_after(order, call, wanted) is not None:
            return True
    return not streams.seeded_anywhere(order, wanted)


def _is_seeded_by_torch(order: Order, drawing: Drawing) -> bool:
    """Return whether a draw of Python's or NumPy's is made for samples in a program whose loaders
    have workers: torch seeds these generators there, and is seeded itself.
    """
    is_for_samples = drawing.call.by is not None or drawing.call.function_name == "__getitem__"
    if not is_for_samples or not drawing.streams <= _OF_DATA:
        return False
    has_workers = any(map(processes.may_have_workers, streams.every(order)))
    return has_workers and streams.seeded_anywhere(order, _TORCH)


def _is_seeded_in_parent_alone(order: Order, drawing: Drawing) -> bool:
    """Return whether the program seeds, and no seed is set in the spawned process that draws."""
    if order.cut or not streams.is_spawned(drawing.call):
        return False
    found = streams.seedings_of(order, drawing.streams)
    return syntax.are_all(found, lambda one: not streams.reaches(one.call, drawing.call))


def _left_to_option(order: Order, drawing: Drawing) -> Call | None:
    """Return the call that seeds a draw, if each that does so is made only where an option is given
    that is None by default.
    """
    if order.cut:
        return None
    found = [one.call for one in streams.seedings_of(order, drawing.streams)]
    if not found or not all(_is_optional(order, call) for call in found):
        return None
    return found[0]


def _is_optional(order: Order, call: Call) -> bool:
    return any(_asks_for_option(order, condition) for condition in call.conditions)


def _asks_for_option(order: Order, condition: Condition) -> bool:
    """`if args.seed is not None:` where `--seed` has no default."""
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
    """Numbers for a pause or a port change no training, nor does an order that is not used, or what
    is shown.
    """
    call = drawing.call
    if drawing.draws.when == "call" and display_draws.is_tried_out(order, call):
        return False
    if kind == "order":
        evaluates = reach.is_evaluation(call) or reach.is_in_evaluation(order, call)
        is_beside = display_draws.is_for_show(order, call) or evaluates
        return not order_use.is_order_unused(call) and not is_beside
    if kind != "number":
        return not _is_of_trained_checkpoint(call)
    if display_draws.is_for_show(order, call) or seed_values.feeds_seed(order, call):
        return False
    if reach.is_in_evaluation(order, call):
        return False
    return not hyper.is_pause(call) and not hyper.is_for_others(call)


def _is_of_trained_checkpoint(call: Call) -> bool:
    """Return whether a model is loaded from what a training of the same kind wrote: it lacks no
    head.
    """
    given = syntax.given(call.node)[:1]
    return _is_of_checkpoint(call) and any(_TRAINED_PATHS.search(ast.unparse(one)) for one in given)


_TRAINED_PATHS = re.compile(r"reward|value_model|ckpt|checkpoint|output|save|tuned")


def _optional_hit(order: Order, drawing: Drawing, kind: str, seeding: Call | None) -> Hit | None:
    """Return a draw from a generator that is seeded where an option is given alone."""
    if seeding is None:
        return None
    drawn = f"`{short(drawing.call.name)}` ({at(drawing.call, seeding.module)})"
    name = title(drawing.streams)
    message = (
        f"this seeds {name} only where an option is given that is `None` by default, and {drawn}"
        " draws from it"
    )
    code = CODES.get(kind, "RC202")
    by_hand = _with_default(order, seeding)
    return hit(code, seeding, message, severity="note", patchable=False, by_hand=by_hand)


def _with_default(order: Order, seeding: Call) -> str:
    """Return what to change so that a seeding that hangs on an option happens."""
    conditions = (one for one in seeding.conditions if _asks_for_option(order, one))
    test = next(conditions).test
    if isinstance(test, ast.Compare):
        return tr("Give the option a number as its default.")
    return tr(
        "Ask `{test} is not None`, since `{test}` alone leaves seed 0 out, and give the option a"
        " number as its default.",
        test=ast.unparse(test),
    )


def _hit(order: Order, drawing: Drawing, kind: str) -> Hit:
    call = drawing.call
    name = title(drawing.streams)
    seed_place = seeding.place(order, call)
    if _takes_a_seed(drawing):
        seed_place = seeding.argument(drawing)
    said = tr(WORDS[kind], name=short(call.name))
    if _is_of_checkpoint(call):
        said = "weights that the checkpoint lacks, as those of a new head, are drawn here"
    if kind == "hyper-parameter":
        return _hyper_hit(drawing, said, seed_place)
    code = CODES[kind]
    severity = _severity(order, call, kind)
    patchable = bool(seed_place)
    late = _seeded_late(order, drawing, kind)
    if late is not None:
        return hit(
            _LATE.get(kind, code),
            call,
            f"{said}, before {name} is seeded in {at(late.call, call.module)}",
            severity=severity,
            patchable=patchable,
            stream=name,
            more={**seeding.number(late.call), **seed_place},
        )
    unused = streams.never_called(order, drawing.streams)
    if unused is not None:
        return _unused_hit(
            drawing,
            code,
            said,
            unused,
            severity=severity,
            patchable=patchable,
            seed_place=seed_place,
        )
    if drawing.streams == {"tensorflow"} and _op_determinism(order, call):
        return hit(
            "RC009",
            call,
            (
                f"`{short(call.name)}` draws without a seed while deterministic operators are on:"
                " TensorFlow raises an error"
            ),
        )
    message = f"{said}, and nothing seeds {name} in this program{_hint(order, drawing)}"
    return hit(
        code, call, message, severity=severity, patchable=patchable, stream=name, more=seed_place
    )


_LATE = {"weights": "RC302"}
"""The rule for a seed that comes after a draw, where that is another one."""


def _is_of_checkpoint(call: Call) -> bool:
    return call.name.endswith("from_pretrained")


def _severity(order: Order, call: Call, kind: str) -> Severity | None:
    """Less than that of the rule where a checkpoint replaces most, or nothing is trained."""
    if _is_of_checkpoint(call):
        return "warning"
    if kind == "number" or streams.trains(order):
        return None
    return "warning"


def _seeded_late(order: Order, drawing: Drawing, kind: str) -> streams.Seeding | None:
    """Return the seed that comes after a draw; a private generator has none, and samples are drawn
    again and again.
    """
    if drawing.draws.stream == "private" or kind == "augmentation":
        return None
    return streams.seeded_after(order, drawing.call, drawing.streams)


def _hyper_hit(drawing: Drawing, said: str, seed_place: Mapping[str, str]) -> Hit:
    """Return a hyper-parameter that is drawn."""
    call = drawing.call
    if drawing.draws.stream == "private":
        return hit(
            "RC202",
            call,
            f"{said}, from a generator without a seed",
            patchable=False,
            by_hand=tr(_BY_HAND.get(call.name.partition(".")[0], "")),
        )
    name = title(drawing.streams)
    message = f"{said}, and nothing seeds {name} in this program"
    patchable = bool(seed_place)
    return hit("RC202", call, message, patchable=patchable, stream=name, more=seed_place)


def _unused_hit(
    drawing: Drawing,
    code: str,
    said: str,
    unused: streams.Unused,
    *,
    severity: Severity | None,
    patchable: bool,
    seed_place: Mapping[str, str],
) -> Hit:
    """Return a draw from a generator for which the program has a function that seeds, and does not
    call it.
    """
    module, function = unused.module, unused.function
    place = streams.line_at(module, function.lineno, drawing.call.module)
    message = (
        f"{said}, and nothing seeds {title(drawing.streams)} in this program: `{function.name}`"
        f" ({place}) would, and is never called"
    )
    return hit(
        code,
        drawing.call,
        message,
        severity=severity,
        patchable=patchable,
        stream=title(drawing.streams),
        fix=tr("Call `{name}` at the start of the program.", name=function.name),
        more=seed_place,
    )


def _takes_a_seed(drawing: Drawing) -> bool:
    """Return whether the call itself can be given a seed or a seeded generator."""
    is_split = drawing.call.name == "torch.utils.data.random_split"
    return is_split or seeding.STATE in drawing.draws.unless


def _hint(order: Order, drawing: Drawing) -> str:
    """Return why a seed that is there does not help."""
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


def _op_determinism(order: Order, call: Call) -> bool:
    switches = [
        *order.calls("tensorflow.config.experimental.enable_op_determinism"),
        *order.environment("TF_DETERMINISTIC_OPS"),
    ]
    return any(order.is_before(switch, call) for switch in switches)
