"""Draws from a generator that nothing seeds, or that is seeded only later."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from dataclasses import replace
from itertools import islice

from reprocheck.rules.catalogue import Severity
from reprocheck.scan.checks import beside, devices, hyper, seed_values, seeding, streams, unread
from reprocheck.scan.checks.streams import Drawing, at, short, title
from reprocheck.scan.order import Order
from reprocheck.scan.project import Module, Project
from reprocheck.scan.registry import Hit, check, hit
from reprocheck.scan.steps import Call, Condition
from reprocheck.scan.values import UNKNOWN, Part, Value

_DEVICE = frozenset({"device"})
_OVERRIDDEN = frozenset({"bias", "grad", "running_mean", "running_var"})
"""Parameters and buffers that say nothing of the weights that are filled."""

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
_LOADS = (
    "load_state_dict",
    "load_param_into_net",
    "load_weights",
    "set_weights",
    "load_checkpoint",
    "load_model",
    "load_checkpoint_and_dispatch",
)
_FILLS = frozenset(
    {
        "fill_",
        "zero_",
        "copy_",
        "constant_",
        "ones_",
        "zeros_",
        "eye_",
        "dirac_",
        "set_data",
        "set_value",
        "set_",
        "assign",
    }
)
_PARAMETERS = (
    "torch.nn.Parameter",
    "mindspore.Parameter",
    "tensorflow.Variable",
    "keras.Variable",
    "torch.autograd.Variable",
)
_WEIGHTS = (".weight", ".bias", ".weight.data", ".bias.data")
_STUDY_FIX = "Give the study a sampler with a seed: `sampler=optuna.samplers.TPESampler(seed=0)`."
_MOST = 60
_MOST_DRAWS = 2_000
"""Draws of a program that are looked at. Of each kind only the first is reported."""


@check("RC301", "RC302", "RC401", "RC406", "RC501", "RC511", "RC512", "RC202", "RC009")
def unseeded(module: Module, project: Project) -> Iterator[Hit]:
    """One finding for each generator and purpose: its first draw."""
    for order in module.orders:
        if order.whole:
            yield from _in_program(order)
        elif module.is_entry:
            yield from _in_samples(order, module.program)


def _in_samples(order: Order, program: Order) -> Iterator[Hit]:
    """Draws of a data set that the program holds and does not use in plain sight."""
    for drawing in streams.drawings(order):
        if _is_sample(drawing.call) and not streams.seeded_anywhere(program, drawing.streams):
            yield _hit(program, drawing, "augmentation")
            return


def _in_program(order: Order) -> Iterator[Hit]:
    looked_at: dict[tuple[str, str], int] = {}
    reported: set[tuple[str, str]] = set()
    for drawn in islice(streams.drawings(order), _MOST_DRAWS):
        drawing = _where_it_draws(order, drawn)
        kind = _kind(order, drawing)
        if kind in ("number", "order") and not streams.uses_framework(order):
            continue
        if "backend" in drawing.streams and _is_told_of_backend(reported):
            continue
        key = (title(drawing.streams), kind)
        optional = None
        if not _is_open(order, drawing):
            optional = _left_to_option(order, drawing)
            if optional is None:
                continue
            key = (key[0], "option")
        enough = key in reported or looked_at.get(key, 0) > _MOST
        if enough or not _matters(order, drawing, kind):
            continue
        looked_at[key] = looked_at.get(key, 0) + 1
        if kind == "weights" and _is_overwritten(order, drawing.call):
            continue
        reported.add(key)
        if optional is None:
            yield _hit(order, drawing, kind)
        else:
            yield _optional_hit(drawing, kind, optional)


def _is_told_of_backend(reported: set[tuple[str, str]]) -> bool:
    """Whether Keras or its backend is found unseeded already."""
    return any(name in ("Keras", "TensorFlow") and kind in CODES for name, kind in reported)


def _where_it_draws(order: Order, drawing: Drawing) -> Drawing:
    """A layer of torch draws on the device of what it is given. Where the program uses an
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
    """What a draw is for. A number may be a hyper-parameter, a weight, a part of a sample or what a
    layer draws.
    """
    if drawing.draws.kind != "number":
        return drawing.draws.kind
    if hyper.sink(order, drawing.call) is not None:
        return "hyper-parameter"
    if _is_sample(drawing.call):
        return "augmentation"
    if _is_weight(order, drawing.call):
        return "weights"
    function = drawing.call.module.function_of(drawing.call.node)
    if function is not None and function.name in ("forward", "construct"):
        return "layer"
    return "number"


def _is_weight(order: Order, draw: Call) -> bool:
    """Whether what is drawn is trained: a parameter, or a tensor that asks for its gradient."""
    if streams.given(draw, "requires_grad=True", sure=True) or _fills_weight(draw):
        return True
    statement = draw.module.statement_of(draw.node)
    targets = statement.targets if isinstance(statement, ast.Assign) else []
    if any(ast.unparse(target).endswith(_WEIGHTS) for target in targets):
        return True
    uses = islice(order.flow(draw.result), _MOST)
    return any(isinstance(step, Call) and _becomes_weight(step) for step in uses)


def _becomes_weight(step: Call) -> bool:
    """Whether a call makes a parameter of what it is given, or puts it into one."""
    if step.named(*_PARAMETERS) or step.method == "requires_grad_":
        return True
    copies = step.method in ("copy_", "set_data")
    return copies and step.receiver is not None and _is_weight_name(step.receiver)


def _fills_weight(draw: Call) -> bool:
    """`layer.weight.data.normal_()`."""
    in_place = draw.method.endswith("_")
    return in_place and draw.receiver is not None and _is_weight_name(draw.receiver)


def _is_weight_name(value: Value) -> bool:
    return any(
        isinstance(one, Part) and one.key in ("weight", "bias")
        for one in islice(value.origin(), 20)
    )


def _is_sample(call: Call) -> bool:
    """Whether it stands in the code that makes a sample of a data set."""
    function = call.module.function_of(call.node)
    return function is not None and function.name in ("__getitem__", "__getitems__")


def _is_open(order: Order, drawing: Drawing) -> bool:
    """Whether no seed reaches the draw."""
    call, wanted = drawing.call, drawing.streams
    if drawing.draws.stream == "private":
        return True
    draws_here = drawing.draws.when == "call" and call.by is None and not _is_sample(call)
    if draws_here:
        if streams.seeded_before(order, call, wanted) is not None:
            return False
        if streams.seeded_after(order, call, wanted) is not None:
            return True
    return not streams.seeded_anywhere(order, wanted)


def _left_to_option(order: Order, drawing: Drawing) -> Call | None:
    """The call that seeds a draw, if each that does so is made only where an option is given that
    is None by default.
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
    test, taken = condition.test, condition.taken
    if isinstance(test, ast.Compare) and len(test.ops) == 1:
        compared, operator = test.comparators[0], test.ops[0]
        if streams.is_none(order.value_of(compared)):
            taken = taken is isinstance(operator, ast.IsNot | ast.NotEq)
            test = test.left
    options = order.value_of(test).options()
    if not taken or len(options) < 2 or UNKNOWN not in options:
        return False
    return any(streams.is_none(option) for option in options)


def _matters(order: Order, drawing: Drawing, kind: str) -> bool:
    """Numbers for a pause or a port change no training, nor does an order that is not used, or what
    is shown.
    """
    call = drawing.call
    if kind == "order":
        return not unread.is_order_unused(call) and not beside.is_for_show(call)
    if kind != "number":
        return True
    if beside.is_for_show(call) or seed_values.feeds_seed(order, call):
        return False
    return not _is_pause(call) and not hyper.is_for_others(call)


def _is_pause(draw: Call) -> bool:
    """`time.sleep(random.random())`."""
    parent = draw.module.parent(draw.node)
    if parent is None:
        return False
    return "sleep" in (draw.module.names.of(getattr(parent, "func", parent)) or "")


def _is_overwritten(order: Order, layer: Call) -> bool:
    """Whether the weights are all replaced afterwards, by a checkpoint or by constants."""
    own = set(layer.conditions)
    for load in order.methods(*_LOADS):
        if own.issuperset(load.conditions) and order.is_before(layer, load):
            return True
    for step in order.flow(layer.result):
        if not isinstance(step, Call) or step.method not in _FILLS:
            continue
        if order.is_before(layer, step) and own.issuperset(step.conditions):
            filled = step.receiver
            if step.name.startswith("torch.nn.init."):
                filled = step.argument(0)
            if filled is not None and not _is_bias(filled):
                return True
    return False


def _is_bias(value: Value) -> bool:
    return any(isinstance(one, Part) and one.key in _OVERRIDDEN for one in value.origin())


def _optional_hit(drawing: Drawing, kind: str, seeding: Call) -> Hit:
    drawn = f"`{short(drawing.call.name)}` ({at(drawing.call, seeding.module)})"
    name = title(drawing.streams)
    message = (
        f"this seeds {name} only where an option is given that is `None` by default, and {drawn}"
        " draws from it"
    )
    return hit(CODES.get(kind, "RC202"), seeding, message, severity="note", patchable=False)


def _hit(order: Order, drawing: Drawing, kind: str) -> Hit:
    call = drawing.call
    name = title(drawing.streams)
    seed_place = seeding.place(order, call)
    if _takes_a_seed(drawing):
        seed_place = seeding.argument(drawing)
    patchable = bool(seed_place)
    from_checkpoint = call.name.endswith("from_pretrained")
    said = WORDS[kind].format(name=short(call.name))
    if from_checkpoint:
        said = "weights that the checkpoint lacks, as those of a new head, are drawn here"
    if kind == "hyper-parameter":
        return _hyper_hit(drawing, said, seed_place)
    severity: Severity | None = "warning"
    if not from_checkpoint and (kind == "number" or streams.trains(order)):
        severity = None
    late = None
    if drawing.draws.stream != "private" and kind != "augmentation":
        late = streams.seeded_after(order, call, drawing.streams)
    if late is not None:
        return hit(
            "RC302" if kind == "weights" else CODES[kind],
            call,
            f"{said}, before {name} is seeded in {at(late.call, call.module)}",
            severity=severity,
            patchable=patchable,
            stream=name,
            more={**seeding.number(late.call), **seed_place},
        )
    code = CODES[kind]
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
            f"`{short(call.name)}` draws without a seed while deterministic operators are on:"
            " TensorFlow raises an error",
        )
    return hit(
        code,
        call,
        f"{said}, and nothing seeds {name} in this program{_hint(order, drawing)}",
        severity=severity,
        patchable=patchable,
        stream=name,
        more=seed_place,
    )


def _hyper_hit(drawing: Drawing, said: str, seed_place: Mapping[str, str]) -> Hit:
    """A hyper-parameter that is drawn."""
    call = drawing.call
    if drawing.draws.stream == "private":
        return hit(
            "RC202",
            call,
            f"{said}, from a generator without a seed",
            patchable=False,
            by_hand=_STUDY_FIX if call.name.startswith("optuna.") else "",
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
    """A draw from a generator for which the program has a function that seeds, and does not call
    it.
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
        fix=f"Call `{function.name}` at the start of the program.",
        more=seed_place,
    )


def _takes_a_seed(drawing: Drawing) -> bool:
    """Whether the call itself can be given a seed or a seeded generator."""
    return (
        drawing.call.name == "torch.utils.data.random_split"
        or seeding.STATE in drawing.draws.unless
    )


def _hint(order: Order, drawing: Drawing) -> str:
    """Why a seed that is there does not help."""
    for one in streams.seedings(order):
        place = at(one.call, drawing.call.module)
        if "keras" in drawing.streams and "tensorflow" in one.streams:
            return f": the seed in {place} does not reach Keras 3, which draws from Python's random"
        if drawing.streams == {"torch"} and one.streams == _DEVICE:
            return f": the seed in {place} is for the accelerator alone"
        if drawing.streams == _DEVICE and one.streams == {"torch"}:
            return f": the seed in {place} is for the CPU alone"
    return ""


def _op_determinism(order: Order, call: Call) -> bool:
    switches = [
        *order.calls("tensorflow.config.experimental.enable_op_determinism"),
        *order.environment("TF_DETERMINISTIC_OPS"),
    ]
    return any(order.is_before(switch, call) for switch in switches)
