"""Find values that differ in each run: the clock, process ids, OS entropy, hashes of strings."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from reprocheck.scan.checks import tables
from reprocheck.scan.index import of_kind
from reprocheck.scan.steps import Call
from reprocheck.scan.values import (
    Constant,
    Derived,
    Either,
    External,
    Items,
    Made,
    Parameter,
    Part,
    Value,
    literal,
    reached,
)
from reprocheck.scan.vocabulary import names, words

KINDS = ("clock", "process", "system", "load")
WORDS = {
    "clock": "the clock",
    "process": "the process id",
    "system": "the operating system's entropy",
    "load": "the load of the machine",
    "job": "the number of the job",
    "hash": "the hash of a string, which differs in each process",
    "address": "a memory address",
}
_HASHED = {True: "hash", False: None}
"""The hash of a number is the same in each run."""
_JOBS = words("entropy", "jobs")
_MOST = 400
_DEEPEST = 6
_TABLES = ("csv.reader", "csv.DictReader")
_LISTS = names("entropy", "lists")


def kind(name: str) -> str | None:
    """Return which changing value a function of this name returns; None if none.

    `clock`, `process`, `system` (OS entropy) or `load` (of the machine).
    """
    return next((kind for kind in KINDS if name in tables.calls("entropy", kind)), None)


def source(call: Call) -> str | None:
    """Return which changing value a call returns: a kind of `kind`, `hash`, `address` or `job`.

    None if it returns no such value.
    """
    if call.name == "builtins.hash":
        return _HASHED[is_text(call.first)]
    if call.name == "builtins.id":
        return "address"
    if call.name in ("os.environ.get", "os.getenv") and literal(call.first) in _JOBS:
        return "job"
    return kind(call.name)


def described(call: Call) -> str:
    """Return the changing value that a call returns in words: `the clock (time.time)`."""
    what = WORDS[source(call) or "system"]
    return f"{what} (`{call.name.removeprefix('builtins.')}`)"


def inside(value: Value) -> Call | None:
    """Return the first changing source (as the clock) in a value's computation."""
    return next(filter(source, mixed(value)), None)


def mixed(value: Value) -> Iterator[Call]:
    """Return the calls whose results became part of a value by arithmetic and conversions.

    Not those that are arguments of other calls.
    """
    return (one.call for one in of_kind(reached(value, _mixed_of, _MOST), Made))


def _mixed_of(value: Value) -> Iterable[Value]:
    """Return the values that a value is directly made of, branches of a choice included."""
    match value:
        case Made(call=call) if _passes(call):
            return call.inputs
        case Derived() | Either() | Items():
            return value.sources
        case Part(key=key, whole=whole) if key is None or key in _PASSING_METHODS:
            return (whole,)
    return ()


def is_one_of_several(value: Value) -> bool:
    """Return whether a number may also be another one.

    A branch chooses, or an argument whose value the source does not show.
    """
    return any(len(one.options()) > 1 for one in reached(value, _computed_of, _MOST))


def _computed_of(value: Value) -> Iterable[Value]:
    """Return the values that a value is directly made of, without branches of a choice."""
    match value:
        case Derived():
            return value.sources
        case Made(call=call) if _passes(call):
            return value.sources
    return ()


def is_text(value: Value, depth: int = 0) -> bool:
    """Return whether a value is surely a string in at least one of its branches.

    `depth` is how many values the recursion has gone through; `_DEEPEST` ends it.
    """
    if depth > _DEEPEST:
        return False
    for option in value.options():
        match option:
            case Parameter(text=True) | Derived(kind="format") | Constant(value=str() | bytes()):
                return True
            case Derived(kind="Add" | "Mod" | "Mult", parts=parts):
                if any(is_text(part, depth + 1) for part in parts):
                    return True
            case Made(call=call) if call.name in _TEXT_CALLS or call.method in _TEXTS:
                return True
            case Part(key=None, whole=whole) if _holds_text(whole, depth + 1):
                return True
    return False


_TEXT_CALLS = words("entropy", "text_calls")
_TEXTS = words("entropy", "texts")
_GIVE_TEXTS = words("entropy", "give_texts")


def _holds_text(value: Value, depth: int) -> bool:
    """Return whether an item that is taken from a container is text.

    By the first of the container's options whose kind is known.
    """
    for option in value.options():
        # a row of a table of text, and rows in lists: `list(csv.DictReader(file))[0]["name"]`
        table = option
        for _ in range(_DEEPEST):
            table = _list_of(table)
        if isinstance(table, Made) and table.call.name in _TABLES:
            return True
        match option:
            case Items(items=[_, *_], elements=elements):
                return any(is_text(one, depth) for one in elements)
            case Made(call=Call(method=method)) if method in _GIVE_TEXTS:
                return True
            case Constant(value=str()) | External(dotted="sys.argv" | "os.environ"):
                return True
            case Constant(value=tuple() | frozenset() | list() as items):
                return any(isinstance(item, str) for item in items)
    return False


def _list_of(value: Value) -> Value:
    """Return the list of which a value is an item, or of which it is made; else the value.

    It is made of a list as in `sorted(names)`.
    """
    match value:
        case Part(key=None, whole=whole):
            return whole
        case Made(call=Call(name=name, arguments=(first, *_))) if name in _LISTS:
            return first
        case Items(kind=kind, items=[only]) if kind != "dict":
            return only
    return value


_PASSING_METHODS = words("entropy", "methods")


def _passes(call: Call) -> bool:
    """Return whether the result of a call is made of its arguments, as that of `int(x)`."""
    return call.method in _PASSING_METHODS or call.name in tables.calls("entropy", "through")
