"""The catalogue: each cause that a difference can have, read from `entries/*.toml`.

One table of a file is one entry.

The first digit of a code is its group (`GROUPS`). Codes and names are stable: a retired one is not
given again.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import MISSING, dataclass, field, fields
from difflib import get_close_matches
from functools import cache
from itertools import chain
from pathlib import Path
from typing import Literal

from reprocheck.errors import ReprocheckError
from reprocheck.model import RungName

ENTRIES = Path(__file__).parent / "entries"
GROUPS = (
    "Environment",
    "Files",
    "Hyper-parameters",
    "Weights",
    "Generators",
    "Data",
    "Forward pass",
    "Backward pass",
    "Collectives",
    "Update and later",
)
Severity = Literal["error", "warning", "note"]
_PROSE = ("why", "shows", "title")


@dataclass(frozen=True, kw_only=True, slots=True)
class Entry:
    """One cause.

    code, name   stable: `RC301`, `unseeded-weights`
    rung         the rung of the ladder on which it usually shows first
    why, shows   what goes on, and what gives it away
    fix, fixes   code or commands to paste, or one sentence; `fixes` holds those of a framework
                 (`python` for a program without one, `accelerate` for a library
                 around one), of a device (`cuda`) or of both
                 (`torch cuda`), and `fix`, where the entry is not of one framework alone, names
                 none
    titles       titles for a framework, where the title's words do not fit it
    frameworks, devices   where it occurs; `any` for everywhere
    references   public threads (`repository#number`) and documents that it is known from
    bad, good    the smallest code that has it, and the same without it
    severity     what the scan says of it: `error` changes results from run to run, `warning` can,
                 `note` is worth knowing
    scan         whether the scan finds it in source code: `bad` has a finding then, and `good` has
                 none
    patch        whether `scan --fix` can fix it
    """

    code: str
    name: str
    title: str
    rung: RungName
    why: str
    shows: str
    fix: str
    bad: str
    good: str
    frameworks: tuple[str, ...]
    devices: tuple[str, ...]
    references: tuple[str, ...] = ()
    fixes: Mapping[str, str] = field(default_factory=dict)
    titles: Mapping[str, str] = field(default_factory=dict)
    severity: Severity = "warning"
    scan: bool = False
    patch: bool = False

    @property
    def group(self) -> str:
        """Return what the first digit of the code stands for."""
        return GROUPS[int(self.code[2])]

    def fix_for(self, frameworks: Iterable[str]) -> str:
        """Return the fix for the first of these frameworks that has one of its own, else the one
        for all.
        """
        return next((self.fixes[name] for name in frameworks if name in self.fixes), self.fix)

    def title_for(self, frameworks: Iterable[str]) -> str:
        """Return the title for the first of these frameworks, if it has one of its own, else the
        one for all.
        """
        return next((self.titles[name] for name in frameworks if name in self.titles), self.title)


_REQUIRED = [
    one.name for one in fields(Entry) if one.default is MISSING and one.default_factory is MISSING
]


@cache
def catalogue() -> tuple[Entry, ...]:
    """Return all entries, by code."""
    read = chain.from_iterable(map(entries_of, sorted(ENTRIES.glob("*.toml"))))
    return tuple(sorted(read, key=lambda entry: entry.code))


def entry(code: str) -> Entry:
    """Return the entry of a code or name that is there. Raises KeyError."""
    found = find(code)
    if found is None:
        raise KeyError(code)
    return found


def find(wanted: str) -> Entry | None:
    """Return the entry of a code or name, in any case; None if there is none."""
    return _index().get(wanted.strip().lower().replace("_", "-"))


def nearest(wanted: str) -> tuple[str, ...]:
    """Codes and names that are spelt like `wanted` or hold it, nearest first."""
    word = wanted.strip().lower().replace("_", "-")
    names = [name for entry in catalogue() for name in (entry.code.lower(), entry.name)]
    close = get_close_matches(word, names, n=3, cutoff=0.6)
    inside = [name for name in names if word and len(word) > 2 and word in name]
    found = dict.fromkeys([*close, *inside])
    return tuple(name.upper() if name in _codes() else name for name in found)[:3]


@cache
def _codes() -> frozenset[str]:
    return frozenset(entry.code.lower() for entry in catalogue())


@cache
def _index() -> Mapping[str, Entry]:
    return {key: entry for entry in catalogue() for key in (entry.code.lower(), entry.name)}


def entries_of(file: Path) -> Iterator[Entry]:
    """Read the entries of a file. Raises ReprocheckError where one lacks a field."""
    for table in tomllib.loads(file.read_text(encoding="utf-8"))["entry"]:
        try:
            given = {name: table[name] for name in _REQUIRED} | table
            for name in _PROSE:
                given[name] = " ".join(given[name].split())
            for name in ("fix", "bad", "good"):
                given[name] = given[name].strip("\n")
            for name in ("frameworks", "devices", "references"):
                given[name] = tuple(given.get(name, ()))
            given["fixes"] = {
                framework: code.strip("\n") for framework, code in given.get("fixes", {}).items()
            }
        except KeyError as error:
            raise ReprocheckError(
                f"{file.name}: the entry {table.get('code', table)} has no field {error.args[0]}.",
                "Write it as the other entries of the file do.",
            ) from None
        yield Entry(**given)
