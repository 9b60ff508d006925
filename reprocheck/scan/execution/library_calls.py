"""Return what is known of library calls beyond their names.

Elements of containers, `super`, `partial`, `getattr`, argument parsers, environment variables,
wrappers.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, ClassVar

from reprocheck.scan.aliases import canonical
from reprocheck.scan.execution.machine import Arguments
from reprocheck.scan.execution.pending import Pending
from reprocheck.scan.index import of_kind
from reprocheck.scan.steps import Call
from reprocheck.scan.values import (
    UNKNOWN,
    Class,
    Constant,
    External,
    Function,
    Instance,
    Items,
    Made,
    Package,
    Part,
    Super,
    Value,
    are_constants,
    either,
    is_row,
    literal,
    text_of,
)
from reprocheck.scan.vocabulary import names, words

_SAME = names("execution", "same")

EACH = "[]"
"""The fact of a library's container under which the one value stands that all its items share."""


_COMPILERS = words("execution", "compilers")


class Known(Pending):
    """Returns the elements of iterables, and the results of known library calls."""

    def element(self, node: ast.AST, value: Value) -> Value:
        """Return an element of an iterable, one value for all iterations.

        Functions that a library calls to make the element, as `__getitem__` of a loader's data set,
        are executed now.
        """
        elements: list[Value] = []
        for option in value.options():
            find = self._ELEMENTS.get(type(option))
            elements.append(find(self, node, option) if find else Part(option, None))
        return either(elements)

    def element_of_made(self, node: ast.AST, value: Made) -> Value:
        """Return an element of a library's result.

        `enumerate`, `zip`, `items()` and calls that only reorder give the elements of their
        arguments.
        """
        self.run(value)
        call = value.call
        if call.name == "builtins.zip" and not call.open:
            return Items("tuple", [self.element(node, one) for one in call.arguments])
        if call.method in ("items", "values"):
            key: Value = Part(value, None)
            match value.call.receiver:
                case Items(kind="dict", keys=keys, items=items):
                    key, held = either(keys), either(items)
                case Made(facts=facts) if EACH in facts:
                    held = facts[EACH]
                case _:
                    return key
            if value.call.method == "values":
                return held
            return Items("tuple", [key, held])
        if not call.arguments:
            return Part(value, None)
        if call.name == "builtins.enumerate":
            return Items("tuple", [Part(value, None), self.element(node, call.first)])
        if call.name in _SAME and isinstance(call.first, Items):
            return self.element(node, call.first)
        return Part(value, None)

    def element_of_instance(self, node: ast.AST, value: Instance) -> Value:
        """Return an element of a user's object, by its method `__iter__` or `__getitem__`."""
        given = self.method_called(node, value, "__iter__")
        if given is None:
            index = Arguments((Part(value, "index"),))
            return self.method_called(node, value, "__getitem__", index) or Part(value, None)
        if isinstance(given, Instance):
            return Part(value, None)
        return self.element(node, given)

    _ELEMENTS: ClassVar[dict[type[Value], Callable[[Any, ast.AST, Any], Value]]] = {
        Items: lambda self, node, value: either(value.elements),
        Instance: element_of_instance,
        Made: element_of_made,
    }

    def spelled_out(self, nodes: list[ast.expr]) -> tuple[list[Value], list[Value]]:
        """Return the values of expressions in a list, and starred values with unknown items."""
        items: list[Value] = []
        hidden: list[Value] = []
        for node in nodes:
            value = self.evaluate(node)
            if not isinstance(node, ast.Starred):
                items.append(value)
            elif is_row(value):
                items += value.items
            else:
                hidden.append(value)
        return items, hidden

    def known_result(self, call: Call) -> Value | None:
        """Return the result of a library call if more is known than its maker; else None."""
        by_name = self._BY_NAME.get(call.name)
        if by_name is not None:
            return by_name(self, call)
        receiver = call.receiver
        if isinstance(receiver, Items):
            known = self._OF_CONTAINER.get(call.method)
            if known is None or not call.arguments:
                return None
            return known(self, receiver, call)
        by_method = _OF_PARSER.get(call.method)
        if by_method is not None and isinstance(receiver, Made):
            return by_method(receiver, call)
        return None

    def compiled(self, call: Call) -> Value | None:
        given = call.argument(0)
        if isinstance(given, Function | Instance | Class):
            return given
        return None

    def add_item(self, items: Items, call: Call) -> Value | None:
        """Execute `append`, `add` or the like on a container."""
        items.items.append(call.arguments[-1])
        items.whole = items.whole and call.method == "append" and not self.loops
        return Constant(None)

    def add_items(self, items: Items, call: Call) -> Value | None:
        """Execute `extend`, `update` or the like on a container."""
        added = call.arguments[0]
        is_whole = False
        if isinstance(added, Items):
            is_whole = added.whole
            if added.kind == items.kind:
                items.items += added.items
                items.keys += added.keys
        items.over = (*items.over, added)
        items.whole = items.whole and is_whole
        if items.is_dict:
            items.keys += map(Constant, call.keywords)
            items.items += call.keywords.values()
        return Constant(None)

    def look_up(self, items: Items, call: Call) -> Value | None:
        """Return the result of `get`, `pop` or `setdefault` on a dict."""
        if not items.is_dict:
            return None
        return items.get(call.first) or _missing(call, items, call.first)

    _OF_CONTAINER: ClassVar[dict[str, Callable[[Any, Items, Call], Value | None]]] = {
        **dict.fromkeys(("append", "appendleft", "add", "insert"), add_item),
        **dict.fromkeys(("extend", "extendleft", "update"), add_items),
        **dict.fromkeys(("get", "pop", "setdefault"), look_up),
    }

    def default_dict(self, call: Call) -> Value | None:
        """Return the result of `defaultdict(set)`: one set stands for the sets of all keys."""
        factory = call.argument(0)
        if factory is None or factory.name not in ("builtins.set", "builtins.frozenset"):
            return None
        return _with_facts(call, {EACH: Items("set", [], whole=False)})

    def new_container(self, call: Call) -> Value | None:
        """Return an empty container, or a dict with the given keywords.

        None if it is made of another value, whose call must stay visible.
        """
        if call.arguments or call.open:
            return None
        keys: list[Value] = list(map(Constant, call.keywords))
        is_whole = call.method != "set"
        return Items(call.method, list(call.keywords.values()), keys, whole=is_whole)

    def map_or_filter(self, call: Call) -> Value | None:
        """Return the result of `map` or `filter`, after calling the function with one element."""
        if len(call.arguments) < 2 or not isinstance(call.first, Function | Class):
            return None
        items = tuple(self.element(call.node, one) for one in call.arguments[1:])
        with self.looping():
            value = self.called(call.node, call.first, Arguments(items))
        kept = {"map": value, "filter": items[0]}[call.method]
        return Items("generator", [kept], over=call.arguments[1:], whole=False)

    def next_element(self, call: Call) -> Value | None:
        if not call.arguments:
            return None
        return self.element(call.node, call.first)

    def super_object(self, call: Call) -> Value | None:
        for around in self.frame.outward():
            if around.of_class is not None:
                return Super(around.of_class, around.receiver or UNKNOWN)
        return None

    def get_attribute(self, call: Call) -> Value | None:
        name = text_of(call.argument(1))
        if not call.arguments or name is None:
            return None
        found = self.attribute(call.node, call.first, name)
        default = call.argument(2)
        if default is None or not isinstance(found, Part):
            return found
        return either([found, default])

    def set_named_attribute(self, call: Call) -> Value | None:
        match call.arguments:
            case [whole, Constant(value=str() as name), value]:
                for option in whole.options():
                    self.set_attribute(call.node, option, name, value)
        return Constant(None)

    def partial_function(self, call: Call) -> Value | None:
        first = call.argument(0)
        if not isinstance(first, Function):
            return None
        given = (*first.first, *call.arguments[1:])
        return replace(first, first=given, named={**first.named, **call.keywords}, wrapper=None)

    def import_by_name(self, call: Call) -> Value | None:
        name = text_of(call.argument(0))
        if name is None:
            return None
        module = self.frame.module.project.module(name, self.frame.module)
        if module is None:
            self.imports(call.node, name)
            return External(canonical(name))
        self.executes(call.node, module)
        return Package(module)

    def vars_of(self, call: Call) -> Value | None:
        match call.argument(0):
            case Made(facts=held) | Instance(attributes=held) if held:
                return Items("dict", list(held.values()), list(map(Constant, held)), whole=False)
        return None

    def update_environment(self, call: Call) -> Value | None:
        """Record `os.environ.update(...)` as assignments to environment variables."""
        for name, value in call.keywords.items():
            self._set_variable(call, Constant(name), value)
        for given in of_kind(call.arguments, Items):
            for key, value in zip(given.keys, given.items, strict=False):
                self._set_variable(call, key, value)
        return None

    def put_environment(self, call: Call) -> Value | None:
        match call.arguments:
            case [name, value, *_]:
                self._set_variable(call, name, value)
        return None

    def _set_variable(self, call: Call, name: Value, value: Value) -> None:
        if isinstance(name, Constant):
            self.store(call.node, f"os.environ[{name.value}]", value)

    _BY_NAME: ClassVar[dict[str, Callable[[Any, Call], Value | None]]] = {
        **dict.fromkeys(("builtins.list", "builtins.set", "builtins.dict"), new_container),
        **dict.fromkeys(("builtins.map", "builtins.filter"), map_or_filter),
        "builtins.next": next_element,
        "builtins.super": super_object,
        "builtins.getattr": get_attribute,
        "builtins.setattr": set_named_attribute,
        "builtins.vars": vars_of,
        "collections.defaultdict": default_dict,
        "functools.partial": partial_function,
        **dict.fromkeys(("importlib.import_module", "builtins.__import__"), import_by_name),
        **dict.fromkeys(
            ("types.SimpleNamespace", "argparse.Namespace"),
            lambda self, call: _with_facts(call, call.keywords),
        ),
        **dict.fromkeys(("os.putenv", "os.environ.setdefault"), put_environment),
        "os.environ.update": update_environment,
        **dict.fromkeys(
            ("copy.copy", "copy.deepcopy", "builtins.staticmethod"),
            lambda self, call: call.argument(0),
        ),
        "typing.cast": lambda self, call: call.argument(1),
        **dict.fromkeys(_COMPILERS, compiled),
    }


def _with_facts(call: Call, facts: Mapping[str, Value]) -> Value | None:
    """Return the result of a call, with attributes or elements of the result that are known."""
    assert isinstance(call.result, Made)
    call.result.facts |= facts
    return call.result


def _missing(call: Call, items: Items, key: Value) -> Value | None:
    """Return the result of looking up a key that a dict was not seen to hold."""
    default = call.argument(1)
    match default:
        case Items(kind="set" | "list" | "dict") if call.method == "setdefault":
            for item in of_kind(items.items, Items):
                if item.kind == default.kind:
                    return item
            items.items.append(default)
            items.keys.append(key)
            return default
    if not (items.whole and isinstance(key, Constant)):
        return None
    if default is not None or call.method != "get":
        return default
    if items.items and are_constants(items.keys):
        return Constant(None)
    return None


# arguments of a parser with their defaults: what a run without arguments would have


def add_group(parser: Made, call: Call) -> Value | None:
    made = Made(call)
    made.facts = parser.facts
    return made


def set_defaults(parser: Made, call: Call) -> Value | None:
    parser.facts |= call.keywords
    return None


def _parsed(parser: Made, call: Call) -> Value:
    made = Made(call)
    made.facts = {name: value for name, value in parser.facts.items() if value is not UNKNOWN}
    return made


def add_argument(parser: Made, call: Call) -> Value | None:
    flags = list(filter(None, map(text_of, call.arguments)))
    if not flags or call.open:
        return None
    chosen = next((flag for flag in flags if flag.startswith("--")), flags[0])
    if literal(call.argument(None, "required")) or not chosen.startswith("-"):
        return None
    name = text_of(call.argument(None, "dest")) or chosen.lstrip("-").replace("-", "_")
    default = call.argument(None, "default")
    if default is None:
        action = text_of(call.argument(None, "action"))
        default = Constant(_WITHOUT_FLAG.get(action))
    parser.facts[name] = _argument(default)
    return None


def _argument(default: Value) -> Value:
    """Return the value of a command-line argument: its default if that is a number or text.

    A flag is unknown, and an argument that is None by default may be None or unknown.
    """
    match default:
        case Constant(value=None):
            return either([default, UNKNOWN])
        case Constant(value=bool()):
            return UNKNOWN
        case Constant(value=int() | float() | str()):
            return default
    return UNKNOWN


_WITHOUT_FLAG: Mapping[str | None, bool] = {"store_true": False, "store_false": True}
"""What an argument is where its flag is not given, by its action."""
_OF_PARSER: Mapping[str, Callable[[Made, Call], Value | None]] = {
    "add_argument": add_argument,
    "add_argument_group": add_group,
    "parse_args": _parsed,
    "parse_known_args": lambda parser, call: Items("tuple", [_parsed(parser, call), UNKNOWN]),
    "set_defaults": set_defaults,
}
