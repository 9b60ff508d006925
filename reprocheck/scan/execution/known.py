"""What is known of calls of libraries beyond their names: containers, `super`, `partial`,
`getattr`, parsers, the environment, wrappers.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from reprocheck.scan.execution.assign import set_attribute
from reprocheck.scan.execution.attributes import attribute
from reprocheck.scan.execution.elements import EACH, element
from reprocheck.scan.steps import Call
from reprocheck.scan.values import (
    UNKNOWN,
    Class,
    Constant,
    Function,
    Instance,
    Items,
    Made,
    Package,
    Part,
    Super,
    Value,
    either,
)

if TYPE_CHECKING:
    from reprocheck.scan.execution.frame import Frame
    from reprocheck.scan.execution.machine import Machine

Known = Callable[["Machine", "Frame", Call], Value | None]

_TRANSPARENT = frozenset(
    {
        "jax.jit",
        "torch.compile",
        "torch.jit.script",
        "torch.jit.trace",
        "mindspore.jit",
        "mindspore.ms_function",
        "mindspore.ops.jit",
    }
    | {
        "tensorflow.function",
        "copy.copy",
        "copy.deepcopy",
        "typing.cast",
        "numba.njit",
        "numba.jit",
        "torch.jit.ignore",
    }
)
"""Calls that give back what they were given, in effect."""
_ADDS = frozenset({"append", "add", "appendleft", "insert"})
_JOINS = frozenset({"extend", "update", "extendleft"})
_ENVIRONMENT = "os.environ"


def result(machine: Machine, frame: Frame, call: Call) -> Value | None:
    """What a call gives back, where more is known than that it was made by the call."""
    if call.name in _TRANSPARENT:
        first = call.argument(1 if call.name.startswith("typing") else 0)
        return (
            first
            if isinstance(first, Function | Instance | Class)
            or call.name.startswith(("copy", "typing"))
            else None
        )
    known = _BY_NAME.get(call.name)
    if known is not None:
        return known(machine, frame, call)
    if isinstance(call.receiver, Items):
        return _container(machine, frame, call)
    if call.method in (
        "add_argument",
        "parse_args",
        "parse_known_args",
        "add_argument_group",
        "set_defaults",
    ):
        return _parser(call)
    if call.name.startswith(_ENVIRONMENT + "."):
        _environment(machine, frame, call)
    return None


# --------------------------------------------------------------------------------------- containers


def _container(machine: Machine, frame: Frame, call: Call) -> Value | None:
    """Methods of a list, set or dict that the source spells out."""
    items = call.receiver
    assert isinstance(items, Items)
    if call.method in _ADDS and call.arguments:
        items.items.append(call.arguments[-1])
        items.whole = items.whole and call.method == "append" and not machine.loops
        return Constant(None)
    if call.method in _JOINS and call.arguments:
        added = call.arguments[0]
        if isinstance(added, Items) and added.kind == items.kind:
            items.items += added.items
            items.keys += added.keys
        items.over = (*items.over, added)
        items.whole = items.whole and isinstance(added, Items) and added.whole
        if items.kind == "dict":
            for name, value in call.keywords.items():
                items.keys.append(Constant(name))
                items.items.append(value)
        return Constant(None)
    if call.method in ("get", "pop", "setdefault") and items.kind == "dict" and call.arguments:
        key = call.arguments[0]
        found = items.get(key.value) if isinstance(key, Constant) else None
        return found if found is not None else _missing(call, items, key)
    return None


def _missing(call: Call, items: Items, key: Value) -> Value | None:
    """What a dict gives for a key that it was not seen to hold."""
    default = call.argument(1)
    if (
        call.method == "setdefault"
        and isinstance(default, Items)
        and default.kind in ("set", "list", "dict")
    ):
        held = next(
            (item for item in items.items if isinstance(item, Items) and item.kind == default.kind),
            None,
        )
        if held is None:
            items.items.append(default)
            items.keys.append(key)
        return held or default
    if not (items.whole and isinstance(key, Constant)):
        return None
    if (
        default is None
        and call.method == "get"
        and items.items
        and all(isinstance(one, Constant) for one in items.keys)
    ):
        return Constant(None)
    return default


def _defaultdict(machine: Machine, frame: Frame, call: Call) -> Value | None:
    """`defaultdict(set)`: one set stands for those of all keys."""
    factory = call.argument(0)
    if (
        factory is None
        or factory.name not in ("builtins.set", "builtins.frozenset")
        or not isinstance(call.result, Made)
    ):
        return None
    call.result.facts[EACH] = Items("set", [], whole=False)
    return call.result


def _new(kind: str) -> Known:
    def made(machine: Machine, frame: Frame, call: Call) -> Value | None:
        """An empty container, or one with the given names; one made of something else stays a call,
        so that what it was can be seen.
        """
        if call.arguments or call.open:
            return None
        return Items(kind, list(call.keywords.values()), [Constant(name) for name in call.keywords])

    return made


def _new_set(machine: Machine, frame: Frame, call: Call) -> Value | None:
    """A set that is filled later: what is added to it is its content."""
    return None if call.arguments or call.open else Items("set", [], whole=False)


def _applied(machine: Machine, frame: Frame, call: Call) -> Value | None:
    """`map` and `filter`: the function is called with an element."""
    if len(call.arguments) < 2 or not isinstance(call.arguments[0], Function | Class):
        return None
    items = tuple(element(machine, frame, call.node, one) for one in call.arguments[1:])
    with machine.looping():
        value = machine.above.called(machine, frame, call.node, call.arguments[0], items, {})
    kept = value if call.method == "map" else items[0]
    return Items("generator", [kept], over=call.arguments[1:], whole=False)


def _next(machine: Machine, frame: Frame, call: Call) -> Value | None:
    return element(machine, frame, call.node, call.arguments[0]) if call.arguments else None


# ------------------------------------------------------------------------------------------ objects


def _super(machine: Machine, frame: Frame, call: Call) -> Value | None:
    at: Frame | None = frame
    while at is not None and at.of_class is None:
        at = at.around
    if at is None or at.of_class is None:
        return None
    return Super(at.of_class, at.receiver or UNKNOWN)


def _getattr(machine: Machine, frame: Frame, call: Call) -> Value | None:
    name = call.argument(1)
    if not call.arguments or not isinstance(name, Constant) or not isinstance(name.value, str):
        return None
    found = attribute(machine, frame, call.node, call.arguments[0], name.value)
    default = call.argument(2)
    return either([found, default]) if default is not None and isinstance(found, Part) else found


def _setattr(machine: Machine, frame: Frame, call: Call) -> Value | None:
    name = call.argument(1)
    if len(call.arguments) > 2 and isinstance(name, Constant) and isinstance(name.value, str):
        for option in call.arguments[0].options():
            set_attribute(machine, frame, call.node, option, name.value, call.arguments[2])
    return Constant(None)


def _partial(machine: Machine, frame: Frame, call: Call) -> Value | None:
    first = call.argument(0)
    if not isinstance(first, Function):
        return None
    return Function(
        node=first.node,
        module=first.module,
        around=first.around,
        qualified=first.qualified,
        owner=first.owner,
        of_class=first.of_class,
        defaults=first.defaults,
        keyword_defaults=first.keyword_defaults,
        first=(*first.first, *call.arguments[1:]),
        named={**first.named, **call.keywords},
        kind=first.kind,
    )


def _import_module(machine: Machine, frame: Frame, call: Call) -> Value | None:
    name = call.argument(0)
    if not isinstance(name, Constant) or not isinstance(name.value, str):
        return None
    module = frame.module.project.module(name.value, frame.module)
    if module is None:
        machine.imports(frame, call.node, name.value)
        return None
    machine.imports(frame, call.node, module.name, module)
    machine.replay(module, module.body.machine.steps)
    return Package(module)


def _namespace(machine: Machine, frame: Frame, call: Call) -> Value | None:
    assert isinstance(call.result, Made)
    call.result.facts |= call.keywords
    return call.result


# -------------------------------------------------------------------------------------- environment


def _environment(machine: Machine, frame: Frame, call: Call) -> None:
    """`setdefault` and `update` of `os.environ` are assignments as well."""
    if call.method == "setdefault" and len(call.arguments) > 1:
        _set_variable(machine, frame, call, call.arguments[0], call.arguments[1])
    elif call.method == "update":
        for name, value in call.keywords.items():
            machine.store(frame, call.node, f"{_ENVIRONMENT}[{name}]", value)
        for given in call.arguments:
            if isinstance(given, Items):
                for key, value in zip(given.keys, given.items, strict=False):
                    _set_variable(machine, frame, call, key, value)


def _putenv(machine: Machine, frame: Frame, call: Call) -> Value | None:
    if len(call.arguments) > 1:
        _set_variable(machine, frame, call, call.arguments[0], call.arguments[1])
    return None


def _set_variable(machine: Machine, frame: Frame, call: Call, name: Value, value: Value) -> None:
    if isinstance(name, Constant):
        machine.store(frame, call.node, f"{_ENVIRONMENT}[{name.value}]", value)


def _parser(call: Call) -> Value | None:
    """Arguments of a parser with their defaults: what a run without arguments would have."""
    parser = call.receiver
    if not isinstance(parser, Made):
        return None
    if call.method == "add_argument_group":
        made = Made(call)
        made.facts = parser.facts
        return made
    if call.method == "set_defaults":
        parser.facts |= call.keywords
    elif call.method == "add_argument":
        _add_argument(parser, call)
    else:
        made = Made(call)
        made.facts = {name: value for name, value in parser.facts.items() if value is not UNKNOWN}
        return made if call.method == "parse_args" else Items("tuple", [made, UNKNOWN])
    return None


def _add_argument(parser: Made, call: Call) -> None:
    flags = [
        value.value
        for value in call.arguments
        if isinstance(value, Constant) and isinstance(value.value, str)
    ]
    if not flags or call.open:
        return
    chosen = next((flag for flag in flags if flag.startswith("--")), flags[0])
    wanted = call.argument(None, "dest")
    name = (
        str(wanted.value) if isinstance(wanted, Constant) else chosen.lstrip("-").replace("-", "_")
    )
    required = call.argument(None, "required")
    if not chosen.startswith("-") or (isinstance(required, Constant) and required.value):
        return
    action = call.argument(None, "action")
    by_action = {"store_true": Constant(False), "store_false": Constant(True)}.get(
        str(action.value) if isinstance(action, Constant) else ""
    )
    parser.facts[name] = _argument(call.argument(None, "default") or by_action or Constant(None))


def _argument(default: Value) -> Value:
    """The value of an argument: its default where that is a number or a text; a flag, and what is
    None by default, may be given or not.
    """
    if isinstance(default, Constant) and default.value is None:
        return either([default, UNKNOWN])
    if (
        isinstance(default, Constant)
        and isinstance(default.value, int | float | str)
        and not isinstance(default.value, bool)
    ):
        return default
    return UNKNOWN


def _vars(machine: Machine, frame: Frame, call: Call) -> Value | None:
    first = call.argument(0)
    if isinstance(first, Made):
        return _as_dict(first.facts)
    return _as_dict(first.attributes) if isinstance(first, Instance) else None


def _as_dict(facts: Mapping[str, Value]) -> Value | None:
    if not facts:
        return None
    return Items("dict", list(facts.values()), [Constant(name) for name in facts], whole=False)


_BY_NAME: dict[str, Known] = {
    "builtins.list": _new("list"),
    "builtins.set": _new_set,
    "builtins.dict": _new("dict"),
    "builtins.map": _applied,
    "builtins.filter": _applied,
    "builtins.next": _next,
    "builtins.super": _super,
    "builtins.getattr": _getattr,
    "builtins.setattr": _setattr,
    "builtins.vars": _vars,
    "collections.defaultdict": _defaultdict,
    "functools.partial": _partial,
    "importlib.import_module": _import_module,
    "types.SimpleNamespace": _namespace,
    "argparse.Namespace": _namespace,
    "os.putenv": _putenv,
}
