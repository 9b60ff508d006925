"""Execute calls: the body of a user's function is executed, a call of a library is recorded."""

from __future__ import annotations

import ast
from collections.abc import Callable
from itertools import chain
from typing import Any, ClassVar

from reprocheck.scan.execution.library_calls import Known
from reprocheck.scan.execution.machine import NOTHING, Arguments, Frame
from reprocheck.scan.index import of_kind
from reprocheck.scan.syntax import variables
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
from reprocheck.scan.vocabulary import names, words

CALLED = names("execution", "called")
_SAME_OBJECT = words("execution", "same_object")
_FIELDS = words("execution", "fields")


class Calls(Known):
    """Calls functions and classes of the user and of libraries."""

    def call_of(self, node: ast.Call) -> Value:
        """Return the result of a call expression, after executing everything that the call does."""
        receiver: Value | None = None
        if isinstance(node.func, ast.Attribute):
            receiver = self.evaluate(node.func.value)
            callee = self.attribute(node.func, receiver, node.func.attr)
            self.values[id(node.func)] = callee
        else:
            callee = self.evaluate(node.func)
        positional, hidden = self.spelled_out(node.args)
        named: dict[str, Value] = {}
        open = bool(hidden)
        for keyword in node.keywords:
            value = self.evaluate(keyword.value)
            if keyword.arg is not None:
                named[keyword.arg] = value
                continue
            # `**options`
            if isinstance(value, Items) and value.is_dict:
                for key, item in zip(value.keys, value.items, strict=False):
                    if isinstance(key, Constant):
                        named[str(key.value)] = item
                open = open or not (value.whole and are_constants(value.keys))
            else:
                open = True
        arguments = Arguments(tuple(positional), named, open)
        return self.called(node, callee, arguments, receiver)

    def called(
        self, node: ast.AST, callee: Value, given: Arguments, receiver: Value | None = None
    ) -> Value:
        """Return the result of calling a value.

        callee    the value that is called
        given     the arguments
        receiver  the object of which `callee` is an attribute; None for a plain name
        """
        if isinstance(callee, Either):
            return either([self.called(node, one, given, receiver) for one in callee.choices])
        own = self._OWN.get(type(callee))
        if own is not None and not callee.is_opaque:
            return own(self, node, callee, given)
        # the name of what is called of a library, and the object whose method it is
        name = callee.name or "?"
        match callee:
            case Made() | Part(key=None):
                name, receiver = f"{name}.__call__", callee
            case Part(whole=whole):
                receiver = whole
            case _ if not isinstance(receiver, Instance | Made | Items | Constant):
                receiver = None
        return self._library_called(node, name, receiver, given)

    def object_called(self, node: ast.AST, callee: Instance, given: Arguments) -> Value:
        """Return the result of calling a user's object, by its `__call__` or `forward`."""
        for name in CALLED:
            result = self.method_called(node, callee, name, given)
            if result is not None:
                return result
        return self._library_called(node, f"{callee.library_name}.__call__", callee, given)

    def _library_called(
        self, node: ast.AST, name: str, receiver: Value | None, given: Arguments
    ) -> Value:
        """Record a call of a library, and execute the user's functions and objects it gets."""
        call = self.call(node, name, given, receiver=receiver)
        made = Made(call)
        call.result = made
        result = self.known_result(call)
        if result is not None:
            call.result = result
            return result
        self.give(call, made)
        if call.method in _SAME_OBJECT and receiver is not None:
            # Of a model or generator `to`, `eval` and the like give back this very thing, of a
            # tensor another one.
            is_object = isinstance(receiver, Instance)
            if isinstance(receiver, Made):
                maker = receiver.call.method
                is_object = maker == "default_rng" or maker[:1].isupper()
            if is_object:
                call.result = receiver
                return receiver
        return made

    def inline(self, node: ast.AST, function: Function, given: Arguments = NOTHING) -> Value:
        """Execute a call of a user's function, and return its result.

        The call itself is also a step.
        """
        if function.is_opaque:
            return self._library_called(node, function.qualified, function.owner, given)
        call = self.call(node, function.qualified, given, receiver=function.owner, own=True)
        wrapper = function.wrapper
        if wrapper is not None and id(wrapper.node) not in self.active:
            before = self.times(function)
            passed = Arguments((*_owner(function), *given.positional), given.named, given.open)
            result = self.follow(wrapper, node, lambda: self._run_function(wrapper, passed))
            if self.times(function) > before:
                call.result = result
                if result is UNKNOWN:
                    call.result = self.results[id(function.node)]
                return call.result
        call.result = self.follow(function, node, lambda: self._run_function(function, given))
        return call.result

    def method_called(
        self, node: ast.AST, value: Value, name: str, given: Arguments = NOTHING
    ) -> Value | None:
        """Execute a call of a method of a user's object; None if there is no such method."""
        if not isinstance(value, Instance):
            return None
        function = value.of.find(name)
        if not isinstance(function, Function):
            return None
        value.ran.add(name)
        return self.inline(node, function.bound_to(value), given)

    def _run_function(self, function: Function, given: Arguments) -> Value:
        """Return the result of executing the body of a function with these arguments."""
        inner = Frame(
            module=function.module,
            node=function.node,
            around=function.around,
            qualified=function.qualified,
            of_class=function.of_class,
            receiver=function.owner,
        )
        _bind_parameters(inner, function, given)
        with self.within(inner):
            node = function.node
            if isinstance(node, ast.Lambda):
                return self.evaluate(node.body)
            left = self.block(node.body)
            if inner.generator:
                return Items("generator", inner.yields, whole=False)
            if not left or not inner.returns:
                inner.returns.append(Constant(None))
            return either(inner.returns)

    def wrap(self, node: ast.AST, decorator: Value, function: Function) -> None:
        """Call a user's decorator with a function, and note the returned function as wrapper.

        Only a function that holds the decorated one is a wrapper. A library that the decorator
        hands the function to, as `functools.wraps`, does not call it.
        """
        self.decorated.append(function)
        try:
            made = self.called(node, decorator, Arguments((function,)))
        finally:
            self.decorated.pop()
        for one in of_kind(made.options(), Function):
            if one is not function and any(
                value is function for value in one.around.variables.values()
            ):
                function.wrapper = one

    def instantiated(self, node: ast.AST, of: Class, given: Arguments) -> Instance:
        """Return a new object of a user's class, after executing its constructor."""
        made = Instance(of, inputs=(*given.positional, *given.named.values()))
        call = self.call(node, of.qualified, given, own=True)
        call.result = made
        if self.method_called(node, made, "__init__", given) is None:
            self._fill_fields(made, given)
        self.method_called(node, made, "__post_init__")
        return made

    def _fill_fields(self, made: Instance, given: Arguments) -> None:
        """Assign the arguments to the fields of a dataclass, named tuple or similar class."""
        bodies = [base.node.body for base in reversed(made.of.own_line())]
        annotated = of_kind(chain.from_iterable(bodies), ast.AnnAssign)
        names = dict.fromkeys(variables([field.target for field in annotated]))
        made.attributes |= dict(zip(names, given.positional, strict=False))
        made.attributes |= {name: value for name, value in given.named.items() if name in names}
        if given.open:
            return
        attributes = chain.from_iterable(base.attributes.items() for base in made.of.own_line())
        for name, value in attributes:
            field = value.made_by(*_FIELDS)
            if field is None or name in made.attributes:
                continue
            factory = field.argument(None, "default_factory", "factory")
            default = field.argument(None, "default")
            if isinstance(factory, External | Function | Class):
                with self.within(Frame(module=field.module, node=field.module.tree)):
                    default = self.called(field.node, factory, NOTHING)
            if default is not None:
                made.attributes[name] = default

    _OWN: ClassVar[dict[type[Value], Callable[[Any, ast.AST, Any, Arguments], Value]]] = {
        Function: inline,
        Class: instantiated,
        Instance: object_called,
    }


def _owner(function: Function) -> tuple[Value, ...]:
    """Return what a method gets before its arguments (`self`); nothing if it is static."""
    if function.owner is None or function.kind == "static":
        return ()
    return (function.owner,)


def _bind_parameters(frame: Frame, function: Function, arguments: Arguments) -> None:
    """Assign each parameter its argument, else its default, else an unknown value."""
    parameters = function.node.args
    positional = [*parameters.posonlyargs, *parameters.args]
    required = len(positional) - len(function.defaults)
    defaults = [*[None] * required, *function.defaults, *function.keyword_defaults]
    given = [*_owner(function), *function.first, *arguments.positional]
    named = {**function.named, **arguments.named}
    variables = frame.variables
    variables |= {one.arg: value for one, value in zip(positional, given, strict=False)}
    left = list(zip([*positional, *parameters.kwonlyargs], defaults, strict=True))
    for parameter, default in left[min(len(given), len(positional)) :]:
        is_text = getattr(parameter.annotation, "id", None) == "str"
        missing = default or Parameter(parameter.arg, text=is_text)
        if arguments.open:
            missing = UNKNOWN
        variables[parameter.arg] = named.pop(parameter.arg, missing)
    is_whole = not arguments.open
    if parameters.vararg:
        variables[parameters.vararg.arg] = Items("tuple", given[len(positional) :], whole=is_whole)
    if parameters.kwarg:
        keys: list[Value] = list(map(Constant, named))
        variables[parameters.kwarg.arg] = Items("dict", list(named.values()), keys, whole=is_whole)
