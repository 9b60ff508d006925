"""Hyper-parameters that are not the same in each run: from the clock, the process, or a draw."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from functools import lru_cache

from reprocheck.scan.checks import entropy
from reprocheck.scan.checks.streams import at, every
from reprocheck.scan.order import Order
from reprocheck.scan.project import Module, Project
from reprocheck.scan.registry import Hit, check, hit
from reprocheck.scan.steps import Call, Step
from reprocheck.scan.values import Value

_NAMES = re.compile(
    r"^(?:\w*_)?(?:lr|lrs|learning_rate|momentum|weight_decay|wd|dropout_rate|drop_rate|warmup_steps|batch_size|hidden_size|label_smoothing)"
    r"(?:_max|_min|_\d)?$"
)
_SCHEDULE = re.compile(r"\.(?:LambdaLR|MultiplicativeLR|LearningRateScheduler)$")
_KEYWORDS = frozenset(
    {
        "lr",
        "learning_rate",
        "momentum",
        "weight_decay",
        "betas",
        "eps",
        "alpha",
        "max_lr",
        "base_lr",
        "lr_lambda",
        "label_smoothing",
    }
)
_RATES = (
    "torch.optim.*",
    "keras.optimizers.*",
    "mindspore.nn.*",
    "mindspore.mint.optim.*",
    "mindspore.experimental.optim.*",
    "optax.*",
    "torch_npu.optim.*",
)
_POSITIONS = {
    "torch.optim.": 1,
    "mindspore.nn.": 1,
    "mindspore.mint.optim.": 1,
    "mindspore.experimental.optim.": 1,
    "keras.optimizers.": 0,
    "optax.": 0,
}
_OPTIMIZER = re.compile(
    r"\.(?:SGD|Adam\w*|Nadam|RAdam|RMSprop|RMSProp|Adagrad|Adadelta|Adamax|Momentum|Lion|LARS|Lamb|Ftrl|ASGD|LBFGS|Rprop|Muon|Adafactor|"
    r"sgd|adam\w*|lion|lamb|rmsprop|adagrad|\w*LR|Rprop|ProximalAdagrad|Thor)$"
)


@check("RC201")
def changing(module: Module, project: Project) -> Iterator[Hit]:
    """The clock, the process id or entropy in a hyper-parameter."""
    for order in module.orders:
        for call, value, word in _given(order):
            found = entropy.inside(value)
            if found is not None:
                yield hit(
                    "RC201",
                    call,
                    f"{word} of `{call.method}` comes from {entropy.described(found)}",
                    source=found.name,
                )
        for call in every(order):
            if (
                call.by is not None
                and _SCHEDULE.search(call.by.name)
                and entropy.kind(call.name) is not None
            ):
                message = (
                    f"the learning rate follows {entropy.described(call)}"
                    f" ({at(call, call.by.module)})"
                )
                yield hit("RC201", call.by, message, source=call.name)
        for node, name, value in _assigned(order, module):
            found = entropy.inside(value)
            if found is not None and not _is_given(order, found):
                yield Hit(
                    code="RC201",
                    module=module,
                    node=node,
                    message=f"`{name}` comes from {entropy.described(found)}",
                )


def _assigned(order: Order, module: Module) -> Iterator[tuple[ast.AST, str, Value]]:
    """What is assigned to variables, attributes and keys with the name of a hyper-parameter."""
    for node in _assignments(module):
        for target in node.targets if isinstance(node, ast.Assign) else [node.target]:
            if (name := _name(target)) and _NAMES.match(name) and node.value is not None:
                yield node.value, name, order.value_of(node.value)


@lru_cache(maxsize=16)
def _assignments(module: Module) -> tuple[ast.Assign | ast.AnnAssign | ast.AugAssign, ...]:
    return tuple(module.nodes(ast.Assign, ast.AnnAssign, ast.AugAssign))


def sink(order: Order, draw: Call) -> str | None:
    """The hyper-parameter that a draw becomes, if it becomes one."""
    return named(draw) or _fed(order).get(id(draw))


def named(call: Call) -> str | None:
    """The name of a hyper-parameter to which the statement around a call assigns."""
    return next((name for name in targets(call) if _NAMES.match(name)), None)


def targets(call: Step) -> tuple[str, ...]:
    """The names that the assignment around a call assigns to; also keys, as of `group["lr"]`, and
    keywords.
    """
    statement = call.module.statement_of(call.node)
    parts: list[ast.AST] = []
    if isinstance(statement, ast.Assign):
        parts = list(statement.targets)
    elif isinstance(statement, ast.AnnAssign | ast.AugAssign):
        parts = [statement.target]
    return tuple(name for part in parts if (name := _name(part)))


_OTHERS = frozenset(
    {
        "port",
        "master_port",
        "address",
        "name",
        "run_name",
        "suffix",
        "dummy",
        "dummy_input",
        "session_id",
        "run_id",
        "job_id",
        "uuid",
    }
)


def is_for_others(call: Call) -> bool:
    """Whether a number is for a port, a name and the like, which change no training: by what is
    assigned, a key of a dict, a loop.
    """
    names = set(targets(call))
    child: ast.AST = call.node
    at = call.module.parent(child)
    while at is not None and not isinstance(at, ast.stmt):
        if isinstance(at, ast.Dict):
            pairs = zip(at.keys, at.values, strict=True)
            names |= {
                str(key.value).lower()
                for key, value in pairs
                if value is child and isinstance(key, ast.Constant)
            }
        child, at = at, call.module.parent(at)
    if isinstance(at, ast.For) and at.iter is child:
        names.add(_name(at.target))
    return bool(names & _OTHERS)


def _name(target: ast.AST) -> str:
    if isinstance(target, ast.Name):
        return target.id.lower()
    if isinstance(target, ast.Attribute):
        return target.attr.lower()
    if isinstance(target, ast.Subscript) and isinstance(target.slice, ast.Constant):
        return str(target.slice.value).lower()
    return ""


@lru_cache(maxsize=16)
def _fed(order: Order) -> dict[int, str]:
    """The calls of which a hyper-parameter was made, by id."""
    return {id(made): word for _, value, word in _given(order) for made in entropy.mixed(value)}


def _is_given(order: Order, source: Call) -> bool:
    return any(entropy.inside(value) is source for _, value, _ in _given(order))


@lru_cache(maxsize=16)
def _given(order: Order) -> tuple[tuple[Call, Value, str], ...]:
    """The hyper-parameters that optimizers and schedules are given."""
    return tuple(_arguments(order))


def _arguments(order: Order) -> Iterator[tuple[Call, Value, str]]:
    for call in every(order):
        if call.own:
            continue
        if call.named(*_RATES) and _OPTIMIZER.search(call.name):
            for prefix, position in _POSITIONS.items():
                if call.name.startswith(prefix):
                    if position < len(call.arguments):
                        yield call, call.arguments[position], "the learning rate"
                    break
        for keyword, value in call.keywords.items():
            if keyword in _KEYWORDS:
                yield call, value, f"`{keyword}`"
