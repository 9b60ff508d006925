"""Calls: those of the user's functions and classes are followed into, those of libraries
recorded.
"""

from __future__ import annotations

import ast
from collections.abc import Mapping

from reprocheck.scan.execution import known, pending
from reprocheck.scan.execution.attributes import attribute
from reprocheck.scan.execution.bound import bound_to
from reprocheck.scan.execution.frame import Frame
from reprocheck.scan.execution.machine import Machine
from reprocheck.scan.values import (
    UNKNOWN,
    Class,
    Constant,
    External,
    Function,
    Instance,
    Items,
    Made,
    Parameter,
    Part,
    Value,
    either,
)

Keywords = dict[str, Value]
CALLED = ("__call__", "forward", "construct", "call")
"""What runs when an object is called: its own `__call__`, else what its framework calls."""
_SAME_OBJECT = frozenset(
    {
        "manual_seed",
        "to",
        "cpu",
        "cuda",
        "npu",
        "xpu",
        "eval",
        "train",
        "half",
        "float",
        "double",
        "bfloat16",
        "requires_grad_",
        "share_memory",
    }
    | {"set_train", "to_float", "add_flags", "set_grad"}
)


def evaluate_call(machine: Machine, frame: Frame, node: ast.Call) -> Value:
    """What a call gives back, once everything that it does was gone through."""
    receiver: Value | None = None
    if isinstance(node.func, ast.Attribute):
        receiver = machine.above.evaluate(machine, frame, node.func.value)
        callee = attribute(machine, frame, node.func, receiver, node.func.attr)
        machine.values[id(node.func)] = callee
    else:
        callee = machine.above.evaluate(machine, frame, node.func)
    arguments, keywords, open = _arguments(machine, frame, node)
    return called(machine, frame, node, callee, arguments, keywords, open=open, receiver=receiver)


def _arguments(
    machine: Machine, frame: Frame, node: ast.Call
) -> tuple[tuple[Value, ...], Keywords, bool]:

    arguments: list[Value] = []
    keywords: Keywords = {}
    open = False
    for argument in node.args:
        value = machine.above.evaluate(machine, frame, argument)
        if not isinstance(argument, ast.Starred):
            arguments.append(value)
        elif isinstance(value, Items) and value.whole and value.kind in ("list", "tuple"):
            arguments += value.items
        else:
            open = True
    for keyword in node.keywords:
        value = machine.above.evaluate(machine, frame, keyword.value)
        if keyword.arg is not None:
            keywords[keyword.arg] = value
            continue
        if isinstance(value, Items) and value.kind == "dict":
            spelled = zip(value.keys, value.items, strict=False)
            keywords |= {str(key.value): item for key, item in spelled if isinstance(key, Constant)}
            open = (
                open or not value.whole or not all(isinstance(key, Constant) for key in value.keys)
            )
        else:
            open = True
    return tuple(arguments), keywords, open


def called(
    machine: Machine,
    frame: Frame,
    node: ast.AST,
    callee: Value,
    arguments: tuple[Value, ...],
    keywords: Keywords,
    *,
    open: bool = False,
    receiver: Value | None = None,
) -> Value:
    """What calling a value gives back."""
    options = callee.options()
    if len(options) > 1:
        return either(
            [
                called(machine, frame, node, one, arguments, keywords, open=open, receiver=receiver)
                for one in options
            ]
        )
    if isinstance(callee, Function):
        return inline(machine, frame, node, callee, arguments, keywords, open=open)
    if isinstance(callee, Class):
        return instantiated(machine, frame, node, callee, arguments, keywords, open=open)
    if isinstance(callee, Instance):
        for method in CALLED:
            function = callee.of.find(method)
            if isinstance(function, Function):
                callee.ran.add(method)
                return inline(
                    machine, frame, node, bound_to(function, callee), arguments, keywords, open=open
                )
        return _of_library(
            machine,
            frame,
            node,
            f"{callee.library_name}.__call__",
            callee,
            arguments,
            keywords,
            open=open,
        )
    name = callee.name or "?"
    if isinstance(callee, Made) or (isinstance(callee, Part) and callee.key is None):
        name, receiver = f"{name}.__call__", callee
    elif isinstance(callee, Part):
        receiver = callee.whole
    elif receiver is not None and not isinstance(receiver, Instance | Made | Items | Constant):
        receiver = None
    return _of_library(machine, frame, node, name, receiver, arguments, keywords, open=open)


def _of_library(
    machine: Machine,
    frame: Frame,
    node: ast.AST,
    name: str,
    receiver: Value | None,
    arguments: tuple[Value, ...],
    keywords: Keywords,
    *,
    open: bool,
) -> Value:
    """Records a call of a library, and follows what it does with functions and objects of the
    user's.
    """
    call = machine.call(
        frame, node, name, receiver=receiver, arguments=arguments, keywords=keywords, open=open
    )
    made = Made(call)
    call.result = made
    result = known.result(machine, frame, call)
    if result is not None:
        call.result = result
        return result
    pending.given(machine, frame, call, made)
    if call.method in _SAME_OBJECT and receiver is not None and _is_object(receiver):
        call.result = receiver
        return receiver
    return made


def _is_object(value: Value) -> bool:
    """Whether `to`, `eval` and the like give back this very thing: a model or generator, and not a
    tensor made of it.
    """
    if isinstance(value, Instance):
        return True
    return isinstance(value, Made) and (
        value.call.method[:1].isupper() or value.call.method in ("default_rng",)
    )


# ----------------------------------------------------------------------------------- the user's own


def inline(
    machine: Machine,
    frame: Frame,
    node: ast.AST,
    function: Function,
    arguments: tuple[Value, ...],
    keywords: Keywords,
    *,
    open: bool,
) -> Value:
    """Follows a call of the user's function. The call itself is a step, too."""
    call = machine.call(
        frame,
        node,
        function.qualified,
        receiver=function.owner,
        arguments=arguments,
        keywords=keywords,
        open=open,
        own=True,
    )

    wrapper = function.wrapper
    if wrapper is not None and id(wrapper.node) not in machine.active:
        before = machine.times(function)
        owner = () if function.owner is None or function.kind == "static" else (function.owner,)
        given = machine.follow(
            wrapper,
            frame.module,
            node,
            lambda: _run(machine, wrapper, (*owner, *arguments), keywords, open=open),
        )
        if machine.times(function) > before:
            call.result = machine.results[id(function.node)] if given is UNKNOWN else given
            return call.result
    call.result = machine.follow(
        function,
        frame.module,
        node,
        lambda: _run(machine, function, arguments, keywords, open=open),
    )
    return call.result


def _run(
    machine: Machine,
    function: Function,
    arguments: tuple[Value, ...],
    keywords: Keywords,
    *,
    open: bool,
) -> Value:
    """What the body of a function gives back."""
    inner = Frame(
        module=function.module,
        node=function.node,
        around=function.around,
        qualified=function.qualified,
        of_class=function.of_class,
        receiver=function.owner,
    )
    _bind_parameters(inner, function, arguments, keywords, open=open)
    return _body(machine, inner, function.node)


def wrap(
    machine: Machine, frame: Frame, node: ast.AST, decorator: Value, function: Function
) -> None:
    """Calls a decorator of the user's with a function: what it gives back, where that is a function
    around this one, is its wrapper.

    A library that the decorator gives the function to looks at it, as `functools.wraps` does, and
    does not call it.
    """
    machine.decorated.append(function)
    try:
        made = called(machine, frame, node, decorator, (function,), {})
    finally:
        machine.decorated.pop()
    for one in made.options():
        around = one.around if isinstance(one, Function) and one is not function else None
        if (
            isinstance(one, Function)
            and around is not None
            and any(value is function for value in around.variables.values())
        ):
            function.wrapper = one


def _body(
    machine: Machine, frame: Frame, node: ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda
) -> Value:
    if isinstance(node, ast.Lambda):
        return machine.above.evaluate(machine, frame, node.body)
    left = machine.above.block(machine, frame, node.body)
    if frame.generator:
        return Items("generator", frame.yields, whole=False)
    values = frame.returns if left or not frame.returns else [*frame.returns, Constant(None)]
    return either(values) if values else Constant(None)


def _bind_parameters(
    frame: Frame,
    function: Function,
    arguments: tuple[Value, ...],
    keywords: Mapping[str, Value],
    *,
    open: bool,
) -> None:
    """Gives each parameter its argument, else its default, else what is unknown."""
    parameters = function.node.args
    positional = [*parameters.posonlyargs, *parameters.args]
    owner = () if function.owner is None or function.kind == "static" else (function.owner,)
    given = [*owner, *function.first, *arguments]
    named = {**function.named, **keywords}
    variables = frame.variables
    first_default = len(positional) - len(function.defaults)
    for index, parameter in enumerate(positional):
        name = parameter.arg
        if index < len(given):
            variables[name] = given[index]
        elif name in named:
            variables[name] = named.pop(name)
        elif open:
            variables[name] = UNKNOWN
        elif index >= first_default:
            variables[name] = function.defaults[index - first_default]
        else:
            variables[name] = _unknown(parameter)
    for parameter, default in zip(parameters.kwonlyargs, function.keyword_defaults, strict=False):
        name = parameter.arg
        if name in named:
            variables[name] = named.pop(name)
        elif open:
            variables[name] = UNKNOWN
        else:
            variables[name] = default if default is not None else _unknown(parameter)
    if parameters.vararg:
        variables[parameters.vararg.arg] = Items("tuple", given[len(positional) :], whole=not open)
    if parameters.kwarg:
        variables[parameters.kwarg.arg] = Items(
            "dict", list(named.values()), [Constant(name) for name in named], whole=not open
        )


def _unknown(parameter: ast.arg) -> Parameter:
    """A parameter for which nothing was passed."""
    return Parameter(
        parameter.arg,
        text=isinstance(parameter.annotation, ast.Name) and parameter.annotation.id == "str",
    )


def instantiated(
    machine: Machine,
    frame: Frame,
    node: ast.AST,
    of: Class,
    arguments: tuple[Value, ...],
    keywords: Keywords,
    *,
    open: bool,
) -> Value:
    """An object of a class of the user's, after its constructor."""
    made = Instance(of, inputs=(*arguments, *keywords.values()))
    call = machine.call(
        frame, node, of.qualified, arguments=arguments, keywords=keywords, open=open, own=True
    )
    call.result = made
    constructor = of.find("__init__")
    if isinstance(constructor, Function):
        made.ran.add("__init__")
        inline(machine, frame, node, bound_to(constructor, made), arguments, keywords, open=open)
    elif isinstance(of.node, ast.ClassDef):
        _fields(made, arguments, keywords)
        if not open:
            _defaults(machine, made)
    after = of.find("__post_init__")
    if isinstance(after, Function):
        made.ran.add("__post_init__")
        inline(machine, frame, node, bound_to(after, made), (), {}, open=False)
    return made


def _fields(made: Instance, arguments: tuple[Value, ...], keywords: Keywords) -> None:
    """What a dataclass, a named tuple and the like do with their arguments."""
    classes = [base for base in made.of.line_of_bases() if isinstance(base, Class)]
    names = [
        statement.target.id
        for one in reversed(classes)
        for statement in one.node.body
        if isinstance(statement, ast.AnnAssign) and isinstance(statement.target, ast.Name)
    ]
    made.attributes |= dict(zip(dict.fromkeys(names), arguments, strict=False))
    made.attributes |= {name: value for name, value in keywords.items() if name in names}


_FIELDS = frozenset({"dataclasses.field", "attr.ib", "attrs.field", "pydantic.Field"})


def _defaults(machine: Machine, made: Instance) -> None:
    """What the fields of a dataclass hold that nobody gave: `field(default=3)`,
    `field(default_factory=list)`.
    """
    for base in made.of.line_of_bases():
        for name, value in base.attributes.items() if isinstance(base, Class) else ():
            if (
                name in made.attributes
                or not isinstance(value, Made)
                or value.call.name not in _FIELDS
            ):
                continue
            factory, default = (
                value.call.argument(None, "default_factory", "factory"),
                value.call.argument(None, "default"),
            )
            if isinstance(factory, External | Function | Class):
                frame = Frame(module=value.call.module, node=value.call.module.tree)
                made.attributes[name] = called(machine, frame, value.call.node, factory, (), {})
            elif default is not None:
                made.attributes[name] = default
