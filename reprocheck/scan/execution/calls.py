"""Calls: those of the user's functions and classes are followed into, those of libraries
recorded.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Mapping
from itertools import chain
from types import MappingProxyType

from reprocheck.scan.execution import known, pending
from reprocheck.scan.execution.attributes import attribute
from reprocheck.scan.execution.bound import bound_to
from reprocheck.scan.execution.elements import spelled_out
from reprocheck.scan.execution.frame import Frame
from reprocheck.scan.execution.machine import Machine
from reprocheck.scan.steps import Call
from reprocheck.scan.values import (
    UNKNOWN,
    Class,
    Constant,
    Either,
    External,
    Function,
    Instance,
    Items,
    Made,
    Parameter,
    Part,
    Value,
    are_constants,
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

    arguments, hidden = spelled_out(machine, frame, node.args)
    keywords: Keywords = {}
    open = bool(hidden)
    for keyword in node.keywords:
        value = machine.above.evaluate(machine, frame, keyword.value)
        if keyword.arg is not None:
            keywords[keyword.arg] = value
            continue
        spelled = _spelled_keywords(value)
        keywords |= {str(name.value): item for name, item in spelled if isinstance(name, Constant)}
        open = open or not _is_known_dict(value)
    return tuple(arguments), keywords, open


def _spelled_keywords(value: Value) -> Iterable[tuple[Value, Value]]:
    """The keys and items of a dict that is given as `**options`."""
    match value:
        case Items(kind="dict", keys=keys, items=items):
            return zip(keys, items, strict=False)
    return ()


def _is_known_dict(value: Value) -> bool:
    """Whether all keywords are seen that `**options` gives."""
    match value:
        case Items(kind="dict", keys=keys, whole=True):
            return are_constants(keys)
    return False


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
    match callee:
        case Either(choices=choices):
            each = [
                called(machine, frame, node, one, arguments, keywords, open=open, receiver=receiver)
                for one in choices
            ]
            return either(each)
        case Function():
            return inline(machine, frame, node, callee, arguments, keywords, open=open)
        case Class():
            return instantiated(machine, frame, node, callee, arguments, keywords, open=open)
        case Instance():
            return _object_called(machine, frame, node, callee, arguments, keywords, open=open)
    name, receiver = _named(callee, receiver)
    return _of_library(machine, frame, node, name, receiver, arguments, keywords, open=open)


def _object_called(
    machine: Machine,
    frame: Frame,
    node: ast.AST,
    callee: Instance,
    arguments: tuple[Value, ...],
    keywords: Keywords,
    *,
    open: bool,
) -> Value:
    """What calling an object of the user's gives back."""
    for name in CALLED:
        given = method(machine, frame, node, callee, name, arguments, keywords, open=open)
        if given is not None:
            return given
    name = f"{callee.library_name}.__call__"
    return _of_library(machine, frame, node, name, callee, arguments, keywords, open=open)


def _named(callee: Value, receiver: Value | None) -> tuple[str, Value | None]:
    """The name of what is called of a library, and the object whose method it is."""
    name = callee.name or "?"
    match callee:
        case Made() | Part(key=None):
            return f"{name}.__call__", callee
        case Part(whole=whole):
            return name, whole
    if isinstance(receiver, Instance | Made | Items | Constant):
        return name, receiver
    return name, None


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
    if not isinstance(value, Made):
        return False
    return value.call.method == "default_rng" or value.call.method[:1].isupper()


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
        given = machine.follow(
            wrapper,
            frame.module,
            node,
            lambda: _run(machine, wrapper, (*_owner(function), *arguments), keywords, open=open),
        )
        if machine.times(function) > before:
            call.result = given
            if given is UNKNOWN:
                call.result = machine.results[id(function.node)]
            return call.result
    call.result = machine.follow(
        function,
        frame.module,
        node,
        lambda: _run(machine, function, arguments, keywords, open=open),
    )
    return call.result


def method(
    machine: Machine,
    frame: Frame,
    node: ast.AST,
    value: Value,
    name: str,
    arguments: tuple[Value, ...] = (),
    keywords: Mapping[str, Value] = MappingProxyType({}),
    *,
    open: bool = False,
) -> Value | None:
    """Follows a call of a method of an object of the user's; None where it has none of that
    name.
    """
    if not isinstance(value, Instance):
        return None
    function = value.of.find(name)
    if not isinstance(function, Function):
        return None
    value.ran.add(name)
    bound = bound_to(function, value)
    return inline(machine, frame, node, bound, arguments, dict(keywords), open=open)


def _owner(function: Function) -> tuple[Value, ...]:
    """What a method is given before its arguments."""
    if function.owner is None or function.kind == "static":
        return ()
    return (function.owner,)


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
        if isinstance(one, Function) and one is not function and _is_around(one, function):
            function.wrapper = one


def _is_around(outer: Function, function: Function) -> bool:
    """Whether a function sees another one as a variable."""
    if outer.around is None:
        return False
    return any(value is function for value in outer.around.variables.values())


def _body(
    machine: Machine, frame: Frame, node: ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda
) -> Value:
    if isinstance(node, ast.Lambda):
        return machine.above.evaluate(machine, frame, node.body)
    left = machine.above.block(machine, frame, node.body)
    if frame.generator:
        return Items("generator", frame.yields, whole=False)
    if not left or not frame.returns:
        frame.returns.append(Constant(None))
    return either(frame.returns)


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
    given = [*_owner(function), *function.first, *arguments]
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
            variables[name] = default or _unknown(parameter)
    if parameters.vararg:
        variables[parameters.vararg.arg] = Items("tuple", given[len(positional) :], whole=not open)
    if parameters.kwarg:
        keys: list[Value] = list(map(Constant, named))
        variables[parameters.kwarg.arg] = Items("dict", list(named.values()), keys, whole=not open)


def _unknown(parameter: ast.arg) -> Parameter:
    """A parameter for which nothing was passed."""
    is_text = getattr(parameter.annotation, "id", None) == "str"
    return Parameter(parameter.arg, text=is_text)


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
    constructed = method(machine, frame, node, made, "__init__", arguments, keywords, open=open)
    if constructed is None:
        _fields(made, arguments, keywords)
        if not open:
            _defaults(machine, made)
    method(machine, frame, node, made, "__post_init__")
    return made


def _fields(made: Instance, arguments: tuple[Value, ...], keywords: Keywords) -> None:
    """What a dataclass, a named tuple and the like do with their arguments."""
    bodies = [base.node.body for base in reversed(made.of.own_line())]
    annotated = [one for one in chain.from_iterable(bodies) if isinstance(one, ast.AnnAssign)]
    targets = [one.target for one in annotated]
    names = dict.fromkeys(one.id for one in targets if isinstance(one, ast.Name))
    made.attributes |= dict(zip(names, arguments, strict=False))
    made.attributes |= {name: value for name, value in keywords.items() if name in names}


_FIELDS = frozenset({"dataclasses.field", "attr.ib", "attrs.field", "pydantic.Field"})


def _defaults(machine: Machine, made: Instance) -> None:
    """What the fields of a dataclass hold that nobody gave: `field(default=3)`,
    `field(default_factory=list)`.
    """
    for base in made.of.own_line():
        for name, value in base.attributes.items():
            if name in made.attributes or not isinstance(value, Made):
                continue
            if value.call.name in _FIELDS:
                _default(machine, made, name, value.call)


def _default(machine: Machine, made: Instance, name: str, field: Call) -> None:
    """What one field holds."""
    factory = field.argument(None, "default_factory", "factory")
    default = field.argument(None, "default")
    if isinstance(factory, External | Function | Class):
        frame = Frame(module=field.module, node=field.module.tree)
        default = called(machine, frame, field.node, factory, (), {})
    if default is not None:
        made.attributes[name] = default
