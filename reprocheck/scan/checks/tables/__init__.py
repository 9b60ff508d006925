"""What the rules know of libraries, as data: calls that seed, calls that draw, values that differ
in each run.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Generic, Literal, TypeVar

from reprocheck.scan.aliases import canonical

FOLDER = Path(__file__).parent

T = TypeVar("T")

Kind = Literal["weights", "layer", "order", "augmentation", "split", "number", "hyper-parameter"]


@dataclass(frozen=True, kw_only=True, slots=True)
class Seeds:
    """A call that puts generators into a known state.

    streams   the generators
    keyword   of the number; it is the first argument by position. Empty where the call has none
    without   what happens without a number: `system`, `fixed`, `required`
    """

    streams: tuple[str, ...]
    keyword: str
    without: Literal["system", "fixed", "required"]


@dataclass(frozen=True, kw_only=True, slots=True)
class Draws:
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
    positions: tuple[tuple[str, int], ...] = ()

    def position(self, condition: str) -> int | None:
        """Where the argument of a condition (NAME or NAME=VALUE) stands without its keyword."""
        keyword, _, _ = condition.partition("=")
        return dict(self.positions).get(keyword)


@dataclass(frozen=True, kw_only=True, slots=True)
class Library:
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
    positions: tuple[tuple[str, int], ...] = ()
    options: tuple[tuple[str, int], ...] = ()
    fix: str = ""


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
        """The value of a name; None where there is none."""
        if name not in self._known:
            matching = (value for own, value in self._patterns if own.fullmatch(name))
            self._known[name] = self._exact.get(name) or next(matching, None)
        return self._known[name]

    def __contains__(self, name: str) -> bool:
        return self.get(name) is not None


@cache
def seeds() -> ByName[Seeds]:
    """Calls that seed."""
    rows = _read("seeds")["seed"]
    return ByName(
        (
            name,
            Seeds(
                streams=tuple(row["streams"]),
                keyword=row.get("keyword", ""),
                without=row["without"],
            ),
        )
        for row in rows
        for name in row["calls"]
    )


@cache
def last_parts() -> frozenset[str]:
    """The last parts of the names of calls that seed."""
    return frozenset(
        name.rpartition(".")[2] for row in _read("seeds")["seed"] for name in row["calls"]
    )


@cache
def draws() -> ByName[Draws]:
    """Calls that draw."""
    rows = _read("draws")["draw"]
    return ByName((name, _draws(row)) for row in rows for name in row["calls"])


@cache
def libraries() -> ByName[Library]:
    """Calls of libraries that differ whatever the global generators hold."""
    rows = _read("libraries")["library"]
    known = ((name, _library(row)) for row in rows for name in row["calls"])
    return ByName((*known, *((name, Library(seed=seed)) for name, seed in _OF_PROJECT)))


_OF_PROJECT: list[tuple[str, str]] = []


def extend(pairs: Iterable[tuple[str, str]]) -> None:
    """Takes the calls of a project's own libraries, each with the argument that seeds it, in place
    of those that were taken before.
    """
    _OF_PROJECT[:] = pairs
    libraries.cache_clear()


@cache
def words(table: str, key: str) -> ByName[str]:
    """A list of names."""
    return ByName((name, name) for name in _read(table)[key])


@cache
def texts(table: str, key: str) -> frozenset[str]:
    """A list of words that are no names of calls."""
    return frozenset(_read(table)[key])


def _draws(row: Mapping[str, Any]) -> Draws:
    fields = {name: value for name, value in row.items() if name != "calls"}
    for name in ("unless", "only", "constant"):
        fields[name] = tuple(fields.get(name, ()))
    fields["positions"] = tuple(fields.get("positions", {}).items())
    return Draws(**fields)


def _library(row: Mapping[str, Any]) -> Library:
    fields = {name: value for name, value in row.items() if name != "calls"}
    for name in ("unless", "only"):
        fields[name] = tuple(fields.get(name, ()))
    for name in ("positions", "options"):
        fields[name] = tuple(fields.get(name, {}).items())
    return Library(**fields)


@cache
def _read(name: str) -> dict[str, Any]:
    return tomllib.loads((FOLDER / f"{name}.toml").read_text(encoding="utf-8"))
