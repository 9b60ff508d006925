"""Draws from a generator that nothing seeds, or that is seeded only later."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from itertools import islice

from reprocheck.rules.catalogue import Severity
from reprocheck.scan.checks import beside, hyper, seed_values, seeding, streams, unread
from reprocheck.scan.checks.streams import Drawing, at, short, title
from reprocheck.scan.order import Order
from reprocheck.scan.project import Module, Project
from reprocheck.scan.registry import Hit, check, hit
from reprocheck.scan.steps import Call, Condition
from reprocheck.scan.values import UNKNOWN, Part, Value

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
    seen: dict[tuple[str, str], int] = {}
    for drawing in islice(streams.drawings(order), _MOST_DRAWS):
        kind = _kind(order, drawing)
        key = (title(drawing.streams), kind)
        if kind in ("number", "order") and not streams.uses_framework(order):
            continue
        if "backend" in drawing.streams and any(
            seen.get((name, kind), 0) < 0 for name in ("Keras", "TensorFlow") for kind in CODES
        ):
            continue
        seeding = None
        if not _is_open(order, drawing):
            seeding, key = _left_to_option(order, drawing), (key[0], "option")
            if seeding is None:
                continue
        if seen.get(key, 0) < 0 or seen.get(key, 0) > _MOST or not _matters(order, drawing, kind):
            continue
        seen[key] = seen.get(key, 0) + 1
        if kind == "weights" and _is_overwritten(order, drawing.call):
            continue
        seen[key] = -1
        yield (
            _hit(order, drawing, kind) if seeding is None else _optional_hit(drawing, kind, seeding)
        )


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
    return (
        "layer" if function is not None and function.name in ("forward", "construct") else "number"
    )


def _is_weight(order: Order, draw: Call) -> bool:
    """Whether what is drawn is trained: a parameter, or a tensor that asks for its gradient."""
    if streams.given(draw, "requires_grad=True", sure=True) or (
        draw.method.endswith("_") and _fills_weight(draw)
    ):
        return True
    statement = draw.module.statement_of(draw.node)
    if isinstance(statement, ast.Assign) and any(
        ast.unparse(target).endswith(_WEIGHTS) for target in statement.targets
    ):
        return True
    for step in islice(order.flow(draw.result), _MOST):
        if isinstance(step, Call) and (step.named(*_PARAMETERS) or step.method == "requires_grad_"):
            return True
        if (
            isinstance(step, Call)
            and step.method in ("copy_", "set_data")
            and step.receiver is not None
            and _is_weight_name(step.receiver)
        ):
            return True
    return False


def _fills_weight(draw: Call) -> bool:
    """`layer.weight.data.normal_()`."""
    return draw.receiver is not None and _is_weight_name(draw.receiver)


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
    if drawing.draws.when == "call" and call.by is None and not _is_sample(call):
        if streams.seeded_before(order, call, wanted) is not None:
            return False
        return streams.seeded_after(order, call, wanted) is not None or not streams.seeded_anywhere(
            order, wanted
        )
    return not streams.seeded_anywhere(order, wanted)


def _left_to_option(order: Order, drawing: Drawing) -> Call | None:
    """The call that seeds a draw, if each that does so is made only where an option is given that
    is None by default.
    """
    found = streams.seedings_of(order, drawing.streams)
    optional = [
        one.call
        for one in found
        if any(_asks_for_option(order, condition) for condition in one.call.conditions)
    ]
    return optional[0] if optional and len(optional) == len(found) and not order.cut else None


def _asks_for_option(order: Order, condition: Condition) -> bool:
    """`if args.seed is not None:` where `--seed` has no default."""
    test, taken = condition.test, condition.taken
    if (
        isinstance(test, ast.Compare)
        and len(test.ops) == 1
        and streams.is_none(order.value_of(test.comparators[0]))
    ):
        taken = taken is isinstance(test.ops[0], ast.IsNot | ast.NotEq)
        test = test.left
    options = order.value_of(test).options()
    return (
        taken
        and len(options) > 1
        and UNKNOWN in options
        and any(streams.is_none(option) for option in options)
    )


def _matters(order: Order, drawing: Drawing, kind: str) -> bool:
    """Numbers for a pause or a port change no training, nor does an order that is not used, or what
    is shown.
    """
    call = drawing.call
    if kind == "order" and unread.is_order_unused(call):
        return False
    if kind not in ("number", "order"):
        return True
    if beside.is_for_show(call):
        return False
    if kind == "order":
        return True
    if seed_values.feeds_seed(order, call):
        return False
    parent = call.module.parent(call.node)
    if parent is not None and "sleep" in (
        call.module.names.of(getattr(parent, "func", parent)) or ""
    ):
        return False
    return not hyper.is_for_others(call)


def _is_overwritten(order: Order, layer: Call) -> bool:
    """Whether the weights are all replaced afterwards, by a checkpoint or by constants."""
    own = set(layer.conditions)
    for load in order.methods(*_LOADS):
        if own.issuperset(load.conditions) and order.is_before(layer, load):
            return True
    for step in order.flow(layer.result):
        if (
            isinstance(step, Call)
            and step.method in _FILLS
            and order.is_before(layer, step)
            and own.issuperset(step.conditions)
        ):
            filled = step.argument(0) if step.name.startswith("torch.nn.init.") else step.receiver
            if filled is not None and not _is_bias(filled):
                return True
    return False


def _is_bias(value: Value) -> bool:
    return any(
        isinstance(one, Part) and one.key in ("bias", "grad", "running_mean", "running_var")
        for one in value.origin()
    )


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
    seed_place = seeding.argument(drawing) if _takes_a_seed(drawing) else seeding.place(order, call)
    patchable = bool(seed_place)
    said = WORDS[kind].format(name=short(call.name))
    if call.name.endswith("from_pretrained"):
        said = "weights that the checkpoint lacks, as those of a new head, are drawn here"
    late = (
        None
        if drawing.draws.stream == "private" or kind == "augmentation"
        else streams.seeded_after(order, call, drawing.streams)
    )
    sure = (streams.trains(order) or kind == "number") and not call.name.endswith("from_pretrained")
    severity: Severity | None = None if sure else "warning"
    if kind == "hyper-parameter":
        private = drawing.draws.stream == "private"
        if private:
            by_hand = _STUDY_FIX if call.name.startswith("optuna.") else ""
            return hit(
                "RC202",
                call,
                f"{said}, from a generator without a seed",
                patchable=False,
                by_hand=by_hand,
            )
        message = f"{said}, and nothing seeds {name} in this program"
        return hit("RC202", call, message, patchable=patchable, stream=name, more=seed_place)
    if late is not None:
        code = "RC302" if kind == "weights" else CODES[kind]
        return hit(
            code,
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
    if "keras" in drawing.streams and (
        seed := next((one for one in streams.seedings(order) if "tensorflow" in one.streams), None)
    ):
        return (
            f": the seed in {at(seed.call, drawing.call.module)} does not reach Keras 3, which"
            " draws from Python's random"
        )
    if drawing.streams == {"torch"} and (
        seed := next((one for one in streams.seedings(order) if one.streams == {"device"}), None)
    ):
        return f": the seed in {at(seed.call, drawing.call.module)} is for the accelerator alone"
    return ""


def _op_determinism(order: Order, call: Call) -> bool:
    switches = [
        *order.calls("tensorflow.config.experimental.enable_op_determinism"),
        *order.environment("TF_DETERMINISTIC_OPS"),
    ]
    return any(order.is_before(switch, call) for switch in switches)
