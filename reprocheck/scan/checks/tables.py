"""Know calls of libraries, as data.

Calls that seed, draw, or return values that differ in each run.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping
from functools import cache
from operator import eq
from typing import Generic, Literal, TypeVar

import msgspec

from reprocheck.scan import vocabulary
from reprocheck.scan.aliases import canonical

T = TypeVar("T")

Kind = Literal["weights", "layer", "order", "augmentation", "split", "number", "hyper-parameter"]


class Seeds(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A call that puts generators into a known state.

    streams   the generators that it seeds
    keyword   keyword of the seed, which is also the first argument; empty if the call takes none
    without   what the call does without a seed: `system` (OS entropy), `fixed` (a constant seed),
              `required` (an error)
    instead   the call that takes a seed, if this one takes none
    calls     full names of the calls, separated by spaces
    """

    streams: tuple[str, ...]
    keyword: str = ""
    without: Literal["system", "fixed", "required"]
    instead: str = ""
    calls: str = ""


class Maker(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A call that makes a generator of one's own, or seeds one.

    keyword  keyword of the seed, which is also the first argument; empty if the call takes none
    without  what the call does without a seed: `system` (OS entropy), `stream` (a number from the
             generator of the process `stream`), `required` (an error), `always` (every number is OS
             entropy, even with a seed)
    instead  the method that takes a seed, if this one takes none
    calls    full names of the calls, separated by spaces
    """

    keyword: str = ""
    without: Literal["system", "stream", "required", "always"]
    stream: str = ""
    instead: str = ""
    calls: str = ""


class Primitive(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A random primitive of MindSpore that no global seed reaches.

    keyword, position  of the first of its seeds
    seeds              how many it has
    calls              names of the primitives, separated by spaces
    """

    keyword: str = "seed"
    position: int = 0
    seeds: int = 2
    calls: str = ""


class Draws(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A call that draws from a global generator.

    stream     the generator from which it draws
    kind       what is drawn, as `number`, `order` or `weights`
    when       `call` if the call itself draws, `use` if the object that it makes draws later
    unless     arguments with which the call does not draw: NAME (given) or NAME=VALUE
    only       arguments without which the call does not draw, in the same form
    constant   keywords of initializers: nothing is drawn if all given ones are constants
    needed     how many of the keywords in `constant` must be given for that
    positions  position of NAME among the arguments, if NAME may come without its keyword
    calls      full names of the calls, separated by spaces
    """

    stream: str
    kind: Kind
    when: Literal["call", "use"]
    unless: tuple[str, ...] = ()
    only: tuple[str, ...] = ()
    constant: tuple[str, ...] = ()
    needed: int = 1
    positions: dict[str, int] = {}
    calls: str = ""

    def position(self, condition: str) -> int | None:
        """Return the position of the argument that a condition (NAME or NAME=VALUE) names."""
        keyword, _, _ = condition.partition("=")
        return self.positions.get(keyword)


class Library(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A library call whose result differs from run to run even if all global generators are seeded.

    code       the rule that the call breaks
    cause      why it differs: `own` (a generator of its own), `threads`, `arrival`, `timing`
    seed       the argument that seeds the call; empty if it has none
    unless     arguments with which the result does not differ: NAME (given) or NAME=VALUE
    only       arguments without which the result does not differ, in the same form
    positions  position of NAME among the arguments, if NAME may come without its keyword
    options    arguments that are dicts and may hold those of `unless`, each with its position
    fix        what to write, as one sentence; empty if the fix is to give the argument `seed`
    calls      full names of the calls, separated by spaces
    """

    code: str = "RC407"
    cause: Literal["own", "threads", "arrival", "timing"] = "own"
    seed: str = ""
    unless: tuple[str, ...] = ()
    only: tuple[str, ...] = ()
    positions: dict[str, int] = {}
    options: dict[str, int] = {}
    fix: str = ""
    calls: str = ""


class ByName(Generic[T]):
    """A map from the names of calls to values.

    A name may contain `*` (letters), `**` (anything) and `[123]`.
    """

    def __init__(self, pairs: Iterable[tuple[str, T]]) -> None:
        self._exact: dict[str, T] = {}
        self._patterns: list[tuple[re.Pattern[str], T]] = []
        self._known: dict[str, T | None] = {}
        for name, value in pairs:
            if "*" in name or re.search(r"\[\w", name):
                spelt = re.escape(name).replace(r"\*\*", ".*").replace(r"\*", r"\w*")
                self._patterns.append((re.compile(re.sub(r"\\\[(\w+)\\\]", r"[\1]", spelt)), value))
            else:
                self._exact[canonical(name)] = value

    def get(self, name: str) -> T | None:
        """Return the value of the first name or pattern that matches; None if none does."""
        if name not in self._known:
            matching = (value for own, value in self._patterns if own.fullmatch(name))
            self._known[name] = self._exact.get(name) or next(matching, None)
        return self._known[name]

    def __contains__(self, name: str) -> bool:
        return self.get(name) is not None


class ByFunction(ByName[T]):
    """A map from functions to values, whatever module of a package a function comes from."""

    def __init__(self, pairs: Iterable[tuple[str, T]]) -> None:
        super().__init__(pairs)
        self._paths: defaultdict[tuple[str, str], list[str]] = defaultdict(list)
        for name in self._exact:
            self._paths[_ends(name)].append(name)

    def get(self, name: str) -> T | None:
        """Return the value of a name, else that of the function on the most similar path."""
        paths = self._paths.get(_ends(name), ())
        if name in self._known or name in self._exact or "()" in name or not paths:
            return super().get(name)
        parts = name.split(".")
        nearest = max(paths, key=lambda path: sum(map(eq, path.split("."), parts)))
        return self._exact[nearest]


def _ends(name: str) -> tuple[str, str]:
    """Return the package and the last word of a name: `torch`, `seed` of `torch.random.seed`."""
    return name.partition(".")[0], name.rpartition(".")[2]


@cache
def seeds() -> ByName[Seeds]:
    """Return the table of calls that seed."""
    return ByFunction((name, row) for row in _seeds() for name in row.calls.split())


@cache
def makers() -> Mapping[str, Maker]:
    """Return the calls that make or seed a generator of one's own, by name."""
    rows = vocabulary.rows("seeds", "maker", list[Maker])
    return {name: row for row in rows for name in row.calls.split()}


@cache
def primitives() -> Mapping[str, Primitive]:
    """Return MindSpore's random primitives, by name."""
    rows = vocabulary.rows("seeds", "primitive", list[Primitive])
    return {name: row for row in rows for name in row.calls.split()}


@cache
def last_parts() -> frozenset[str]:
    """Return the last words of the names of seeding calls, as `manual_seed`."""
    return frozenset(name.rpartition(".")[2] for row in _seeds() for name in row.calls.split())


def _seeds() -> list[Seeds]:
    return vocabulary.rows("seeds", "seed", list[Seeds])


@cache
def draws() -> ByName[Draws]:
    """Return the table of calls that draw."""
    rows = vocabulary.rows("draws", "draw", list[Draws])
    return ByName((name, row) for row in rows for name in row.calls.split())


@cache
def amounts() -> ByName[str]:
    """Return the table of calls whose arguments decide how much they draw."""
    return ByName(vocabulary.by_name("amounts", "takes").items())


@cache
def libraries() -> ByName[Library]:
    """Return the table of library calls that differ even if all global generators are seeded."""
    rows = vocabulary.rows("libraries", "library", list[Library])
    known = ((name, row) for row in rows for name in row.calls.split())
    return ByName((*known, *((name, Library(seed=seed)) for name, seed in _OF_PROJECT)))


_OF_PROJECT: list[tuple[str, str]] = []


def extend(pairs: Iterable[tuple[str, str]]) -> None:
    """Replace the calls of the project's own libraries.

    Each call's name with the argument that seeds it.
    """
    _OF_PROJECT[:] = pairs
    libraries.cache_clear()


@cache
def calls(subject: str, key: str) -> ByName[str]:
    """Return a set of call names from the vocabulary, as a map from each name to itself."""
    return ByName((name, name) for name in vocabulary.names(subject, key))
