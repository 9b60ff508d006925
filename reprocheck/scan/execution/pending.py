"""Functions and objects of the user's that a library is given, and that it calls: now, or once what
it made of them is used.

A loader reads its dataset when it is gone over, a thread runs its target when it is started;
`model.apply(f)` calls `f` at once.
"""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterator
from typing import TYPE_CHECKING

from reprocheck.scan.execution.bound import bound_to
from reprocheck.scan.steps import Call
from reprocheck.scan.values import Class, Function, Instance, Items, Made, Parameter, Value

if TYPE_CHECKING:
    from reprocheck.scan.execution.frame import Frame
    from reprocheck.scan.execution.machine import Machine

_LATER = frozenset(
    {
        "jax.grad",
        "jax.value_and_grad",
        "jax.vmap",
        "jax.pmap",
        "jax.lax.scan",
        "mindspore.value_and_grad",
        "mindspore.ops.value_and_grad",
    }
    | {
        "mindspore.grad",
        "mindspore.ops.grad",
        "torch.func.grad",
        "torch.func.vmap",
        "torch.vmap",
        "jax.checkpoint",
        "jax.remat",
    }
)
"""Functions that give back something to call, as classes do."""
_DRIVES = frozenset(
    {
        "fit",
        "train",
        "run",
        "start",
        "evaluate",
        "predict",
        "learn",
        "test",
        "validate",
        "launch",
        "main",
        "train_model",
    }
)
"""Methods of a library's class that call what a class of the user's overrides."""
_QUIET = frozenset({"torch.nn.Module().train", "torch.nn.Module().eval", "keras.Model().test"})
_INSIDE = frozenset(
    {"__getitem__", "__call__", "__iter__", "__next__", "__len__", "forward", "construct", "call"}
)
_KEEPS = frozenset(
    {
        "append",
        "add",
        "insert",
        "extend",
        "update",
        "setdefault",
        "isinstance",
        "type",
        "id",
        "print",
        "len",
        "repr",
        "hasattr",
    }
)
MOST = 40


def given(machine: Machine, frame: Frame, call: Call, made: Made) -> None:
    """What follows from giving a library functions and objects."""
    first = [value for name, value in call.keywords.items() if "init" in name]
    held = list(
        _held(
            (
                *first,
                *call.arguments,
                *(value for value in call.keywords.values() if value not in first),
            )
        )
    )
    held = [value for value in held if value not in machine.decorated]
    if call.receiver is not None:
        if isinstance(call.receiver, Made):
            run(machine, frame, call.receiver)
        elif (
            isinstance(call.receiver, Instance)
            and call.method in _DRIVES
            and call.name not in _QUIET
        ):
            _do(machine, frame, call, call.receiver)
    if not held or call.method in _KEEPS:
        return
    if call.method[:1].isupper() or call.name in _LATER:
        made.pending = held[:MOST]
        machine.waiting.append(made)
        return
    for value in held[:MOST]:
        _do(machine, frame, call, value)


def run(machine: Machine, frame: Frame, made: Made) -> None:
    """What a library object does with what it was given, when it is used: once."""
    waiting, made.pending = made.pending, []
    for value in waiting:
        _do(machine, frame, made.call, value)
    for source in made.call.arguments[:1]:
        if isinstance(source, Made) and source.pending:
            run(machine, frame, source)


def run_rest(machine: Machine, frame: Frame) -> None:
    """What was never used until the end, and functions inside of functions that nobody called."""
    for made in list(machine.waiting):
        if made.pending:
            run(machine, frame, made)
    for _ in range(3):
        rest = [
            function for function in machine.closures if id(function.node) not in machine.reached
        ]
        machine.closures = []
        for function in rest:
            _call_unknown(machine, function.around or frame, function.node, function)


def run_methods(
    machine: Machine, frame: Frame, node: ast.AST, value: Value, *, skip: Collection[int] = ()
) -> None:
    """The methods of an object that nothing called so far."""
    if not isinstance(value, Instance):
        return
    for name, method in _methods(value.of):
        if (
            name not in value.ran
            and id(method.node) not in skip
            and id(method.node) not in machine.reached
        ):
            value.ran.add(name)
            _call_unknown(machine, frame, node, bound_to(method, value))


def _do(machine: Machine, frame: Frame, call: Call, value: Value) -> None:
    """A library calls a function, or the methods of an object."""
    with machine.left_to(call):
        if isinstance(value, Function):
            _call_with(machine, frame, call, value)
        elif isinstance(value, Instance):
            _run_object(machine, frame, call.node, value)
        elif isinstance(value, Class):
            made = machine.above.instantiated(machine, frame, call.node, value, (), {}, open=True)
            _run_object(machine, frame, call.node, made)
        elif isinstance(value, Made):
            run(machine, frame, value)


def _run_object(machine: Machine, frame: Frame, node: ast.AST, value: Value) -> None:
    if not isinstance(value, Instance):
        return
    for name, method in _methods(value.of):
        if name in value.ran or (name.startswith("__") and name not in _INSIDE):
            continue
        value.ran.add(name)
        _call_unknown(machine, frame, node, bound_to(method, value))


def _methods(of: Class) -> Iterator[tuple[str, Function]]:
    seen: set[str] = set()
    for base in of.line_of_bases():
        if isinstance(base, Class):
            for name, value in list(base.attributes.items()):
                if isinstance(value, Function) and name not in seen:
                    seen.add(name)
                    yield name, value


def _call_with(machine: Machine, frame: Frame, call: Call, function: Function) -> None:
    """`Thread(target=f, args=(...))` and `spawn(f, args=(...))` say with what; else nothing is
    known of the arguments.
    """
    args = call.argument(None, "args")
    expected = (
        len(function.node.args.posonlyargs)
        + len(function.node.args.args)
        - (function.owner is not None)
    )
    if isinstance(args, Items) and args.whole and args.kind in ("tuple", "list"):
        missing = expected - len(args.items)
        values = tuple(args.items) if missing <= 0 else (Parameter("rank"), *args.items)
        machine.above.inline(machine, frame, call.node, function, values, {}, open=False)
        return
    _call_unknown(machine, frame, call.node, function)


def _call_unknown(machine: Machine, frame: Frame, node: ast.AST, function: Function) -> None:
    machine.above.inline(machine, frame, node, function, (), {}, open=False)


def _held(values: tuple[Value, ...]) -> Iterator[Value]:
    """Functions and objects of the user's in arguments, also in lists, and what a library made of
    them and did not use so far.
    """
    waiting = [(value, 0) for value in values]
    while waiting:
        value, depth = waiting.pop(0)
        if isinstance(value, Function | Instance | Class) or (
            isinstance(value, Made) and value.pending
        ):
            yield value
        elif isinstance(value, Items) and depth < 3:
            waiting.extend((item, depth + 1) for item in value.items[:MOST])
        elif len(value.options()) > 1 and depth < 3:
            waiting.extend((option, depth + 1) for option in value.options())
