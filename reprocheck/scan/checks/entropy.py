"""Values that are others in each run: the clock, process ids, the operating system's entropy,
hashes of strings.
"""

from __future__ import annotations

from collections.abc import Iterator

from reprocheck.scan.checks import tables
from reprocheck.scan.steps import Call
from reprocheck.scan.values import Constant, Derived, Either, Items, Made, Parameter, Part, Value

KINDS = ("clock", "process", "system", "load")
WORDS = {
    "clock": "the clock",
    "process": "the process id",
    "system": "the operating system's entropy",
    "load": "the load of the machine",
    "hash": "the hash of a string, which differs in each process",
    "address": "a memory address",
}
_MOST = 400
_DEEPEST = 6
_TABLES = ("csv.reader", "csv.DictReader")
_LISTS = (
    "builtins.list",
    "builtins.tuple",
    "builtins.sorted",
    "builtins.enumerate",
    "builtins.iter",
    "builtins.next",
)


def kind(name: str) -> str | None:
    """What a call by this name gives: `clock`, `process`, `system`, `load`; None where nothing of
    the sort.
    """
    return next((kind for kind in KINDS if name in tables.words("entropy", kind)), None)


def source(call: Call) -> str | None:
    """The same of a call, hashes of strings and memory addresses included."""
    if call.name == "builtins.hash":
        return "hash" if call.arguments and is_text(call.arguments[0]) else None
    return "address" if call.name == "builtins.id" else kind(call.name)


def described(call: Call) -> str:
    """The clock (`time.time`)."""
    return f"{WORDS[source(call) or 'system']} (`{call.name.replace('builtins.', '')}`)"


def inside(value: Value) -> Call | None:
    """The first call of this kind that a value was computed from."""
    return next((call for call in mixed(value) if source(call) is not None), None)


def mixed(value: Value) -> Iterator[Call]:
    """The calls whose results went into a number: through arithmetic and conversions, not through
    the arguments of other calls.
    """
    seen: set[int] = set()
    waiting = [value]
    while waiting and len(seen) < _MOST:
        one = waiting.pop(0)
        if id(one) in seen:
            continue
        seen.add(id(one))
        if isinstance(one, Made):
            yield one.call
            if _passes(one.call):
                waiting.extend(one.call.inputs)
        elif isinstance(one, Derived | Either | Items):
            waiting.extend(one.sources)
        elif isinstance(one, Part) and (
            one.key is None or one.key in tables.texts("entropy", "methods")
        ):
            waiting.append(one.whole)


def is_one_of_several(value: Value) -> bool:
    """Whether a number may also be another one: a branch chooses, or an argument that the source
    does not show.
    """
    seen: set[int] = set()
    waiting = [value]
    while waiting and len(seen) < _MOST:
        one = waiting.pop(0)
        if len(one.options()) > 1:
            return True
        if id(one) not in seen:
            seen.add(id(one))
            if isinstance(one, Derived) or (isinstance(one, Made) and _passes(one.call)):
                waiting.extend(one.sources)
    return False


def is_text(value: Value, depth: int = 0) -> bool:
    """Whether a value is, or may be for all that is known, a string: only what shows it counts."""
    for option in value.options() if depth <= _DEEPEST else ():
        if isinstance(option, Parameter):
            if option.text:
                return True
        elif isinstance(option, Constant):
            if isinstance(option.value, str | bytes):
                return True
        elif isinstance(option, Derived):
            if option.kind == "format" or (
                option.kind in ("Add", "Mod", "Mult")
                and any(is_text(part, depth + 1) for part in option.parts)
            ):
                return True
        elif isinstance(option, Made):
            if (
                option.call.name
                in (
                    "builtins.str",
                    "builtins.repr",
                    "builtins.chr",
                    "os.path.join",
                    "os.path.basename",
                )
                or option.call.method in _TEXTS
            ):
                return True
        elif (
            isinstance(option, Part) and option.key is None and _holds_text(option.whole, depth + 1)
        ):
            return True
    return False


_TEXTS = frozenset(
    {
        "split",
        "strip",
        "lower",
        "upper",
        "join",
        "format",
        "decode",
        "replace",
        "hexdigest",
        "readline",
        "rsplit",
        "lstrip",
        "rstrip",
        "title",
    }
)


def _holds_text(value: Value, depth: int) -> bool:
    """Whether what is taken from a value is text."""
    for option in value.options():
        if _is_read_from_table(option):
            return True
        if isinstance(option, Items) and option.items:
            return any(
                is_text(one, depth)
                for one in (option.items if option.kind != "dict" else option.keys)
            )
        if isinstance(option, Made) and option.call.method in (
            "split",
            "splitlines",
            "listdir",
            "glob",
            "keys",
            "readlines",
        ):
            return True
        if isinstance(option, Constant) and isinstance(
            option.value, str | tuple | frozenset | list
        ):
            return isinstance(option.value, str) or any(
                isinstance(item, str) for item in option.value
            )
    return False


def _is_read_from_table(value: Value) -> bool:
    """A row of a table of text, and rows in lists: `list(csv.DictReader(file))[0]["name"]`."""
    for _ in range(_DEEPEST):
        if isinstance(value, Part) and value.key is None:
            value = value.whole
        elif isinstance(value, Made) and value.call.name in _LISTS and value.call.arguments:
            value = value.call.arguments[0]
        elif isinstance(value, Items) and value.kind != "dict" and len(value.items) == 1:
            value = value.items[0]
        else:
            break
    return isinstance(value, Made) and value.call.name in _TABLES


def _passes(call: Call) -> bool:
    return call.name in tables.words("entropy", "through") or call.method in tables.texts(
        "entropy", "methods"
    )
