"""What the rules know of libraries, as data: calls that seed, calls that draw, values that differ
in each run.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable
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

    streams   the generators
    keyword   of the number; it is the first argument by position. Empty where the call has none
    without   what happens without a number: `system`, `fixed`, `required`
    """

    streams: tuple[str, ...]
    keyword: str = ""
    without: Literal["system", "fixed", "required"]
    calls: str = ""


class Draws(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A call that draws from a global generator.

    when      `call` where it draws itself, `use` where what it makes draws later
    unless    arguments with which it does not: NAME (given) or NAME=VALUE; `positions` says where
              NAME stands without keyword
    only      arguments without which it does not
    constant  keywords of initialisers: nothing is drawn where those that are given are constants
    needed    how many of them must be given for that
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
        """Return where the argument of a condition (NAME or NAME=VALUE) stands without its
        keyword.
        """
        keyword, _, _ = condition.partition("=")
        return self.positions.get(keyword)


class Library(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A call of a library whose result differs from run to run whatever the global generators hold.

    code       the rule that it breaks
    cause      why: `own` (a generator of its own), `threads`, `arrival`, `timing`
    seed       the argument that seeds it; empty where there is none
    unless     arguments with which it does not differ, as those of `Draws`, and `positions`
    only       arguments without which it does not
    options    arguments that may hold those of `unless` in a dict, each with its position
    fix        what to write, as one sentence; empty where the seed says it
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
    """Values by the name of a call; a name may hold `*` (letters), `**` (anything) and `[123]`."""

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
        """Return the value of a name; None where there is none."""
        if name not in self._known:
            matching = (value for own, value in self._patterns if own.fullmatch(name))
            self._known[name] = self._exact.get(name) or next(matching, None)
        return self._known[name]

    def __contains__(self, name: str) -> bool:
        return self.get(name) is not None


class ByFunction(ByName[T]):
    """Values by the name of a function, whatever module of its package it is taken from."""

    def __init__(self, pairs: Iterable[tuple[str, T]]) -> None:
        super().__init__(pairs)
        self._paths: defaultdict[tuple[str, str], list[str]] = defaultdict(list)
        for name in self._exact:
            self._paths[_ends(name)].append(name)

    def get(self, name: str) -> T | None:
        """Return the value of a name, else that of the same function on the most similar path."""
        paths = self._paths.get(_ends(name), ())
        if name in self._known or name in self._exact or "()" in name or not paths:
            return super().get(name)
        parts = name.split(".")
        nearest = max(paths, key=lambda path: sum(map(eq, path.split("."), parts)))
        return self._exact[nearest]


def _ends(name: str) -> tuple[str, str]:
    """Return the package that a function comes from, and its own name."""
    return name.partition(".")[0], name.rpartition(".")[2]


@cache
def seeds() -> ByName[Seeds]:
    """Return calls that seed."""
    return ByFunction((name, row) for row in _seeds() for name in row.calls.split())


@cache
def last_parts() -> frozenset[str]:
    """Return the last parts of the names of calls that seed."""
    return frozenset(name.rpartition(".")[2] for row in _seeds() for name in row.calls.split())


def _seeds() -> list[Seeds]:
    return vocabulary.rows("seeds", "seed", list[Seeds])


@cache
def draws() -> ByName[Draws]:
    """Return calls that draw."""
    rows = vocabulary.rows("draws", "draw", list[Draws])
    return ByName((name, row) for row in rows for name in row.calls.split())


@cache
def amounts() -> ByName[str]:
    """Return how much calls draw, by their arguments."""
    return ByName(vocabulary.by_name("amounts", "takes").items())


@cache
def libraries() -> ByName[Library]:
    """Return calls of libraries that differ whatever the global generators hold."""
    rows = vocabulary.rows("libraries", "library", list[Library])
    known = ((name, row) for row in rows for name in row.calls.split())
    return ByName((*known, *((name, Library(seed=seed)) for name, seed in _OF_PROJECT)))


_OF_PROJECT: list[tuple[str, str]] = []


def extend(pairs: Iterable[tuple[str, str]]) -> None:
    """Take the calls of a project's own libraries, each with the argument that seeds it, in place
    of those that were taken before.
    """
    _OF_PROJECT[:] = pairs
    libraries.cache_clear()


@cache
def calls(subject: str, key: str) -> ByName[str]:
    """Return a list of names of calls."""
    return ByName((name, name) for name in vocabulary.names(subject, key))
