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
from typing import Any, Literal, get_args

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
    """One cause of differences between runs.

    code, name   stable: `RC301`, `unseeded-weights`
    title        one line that names the cause
    rung         the rung of the ladder on which the cause usually shows first
    why, shows   what happens, and by what one recognizes the cause
    fix          code or commands to paste, or a sentence; names no framework unless the entry is of
                 one framework alone
    fixes        fixes for a framework (`python` for a program without, `accelerate` for a library
                 around one), a device (`cuda`) or both (`torch cuda`)
    titles       titles for a framework, if the words of `title` do not fit the framework
    frameworks, devices   where the cause occurs; `any` for everywhere
    observed_by  lists of recorded facts (`Kind` in `causes/evidence.py`): all those of one list, of
                 one thing, make the cause *observed*; without a list it is never more than
                 *suspected*
    references   public threads (`repository#number`) and documents that describe the cause
    bad, good    the smallest code with the cause, and the same code without it
    severity     of a finding: `error` changes results from run to run, `warning` may, `note` is
                 worth knowing
    scan         whether the scan finds the cause in source code: in `bad`, and not in `good`
    patch        whether `scan --fix` can fix the cause
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
    observed_by: tuple[tuple[str, ...], ...] = ()
    references: tuple[str, ...] = ()
    fixes: Mapping[str, str] = field(default_factory=dict)
    titles: Mapping[str, str] = field(default_factory=dict)
    severity: Severity = "warning"
    scan: bool = False
    patch: bool = False

    @property
    def group(self) -> str:
        """Return the group of the entry, by the first digit of its code."""
        return GROUPS[int(self.code[2])]

    def fix_for(self, frameworks: Iterable[str]) -> str:
        """Return the fix for the first framework that has its own, else the general fix."""
        return next((self.fixes[name] for name in frameworks if name in self.fixes), self.fix)

    def title_for(self, frameworks: Iterable[str]) -> str:
        """Return the title for the first framework that has its own, else the general title."""
        return next((self.titles[name] for name in frameworks if name in self.titles), self.title)


_REQUIRED = [
    one.name for one in fields(Entry) if one.default is MISSING and one.default_factory is MISSING
]
_OF_ANNOTATION = {"tuple": list, "Mapping": dict, "bool": bool}
_KINDS: Mapping[str, type] = {
    one.name: _OF_ANNOTATION.get(str(one.type).partition("[")[0], str) for one in fields(Entry)
}
"""Field -> what it is in the files."""
_CALLED = {str: "text", list: "list", dict: "table", bool: "boolean"}
_VALUES: Mapping[str, tuple[str, ...]] = {
    "rung": get_args(RungName),
    "severity": get_args(Severity),
}
"""Fields that have one of a few values."""


@cache
def catalogue() -> tuple[Entry, ...]:
    """Return all entries of the catalogue, in order of their codes."""
    read = chain.from_iterable(map(entries_of, sorted(ENTRIES.glob("*.toml"))))
    return tuple(sorted(read, key=lambda entry: entry.code))


def entry(code: str) -> Entry:
    """Return the entry with this code or name. Raises KeyError."""
    found = find(code)
    if found is None:
        raise KeyError(code)
    return found


def find(wanted: str) -> Entry | None:
    """Return the entry with this code or name, in upper or lower case; None if there is none."""
    return _index().get(wanted.strip().lower().replace("_", "-"))


def nearest(wanted: str) -> tuple[str, ...]:
    """Return codes and names that are spelled like `wanted` or contain it, nearest first."""
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
    """Yield the entries of a file.

    Raises ReprocheckError if the file is no table of entries, or if an entry lacks a field or has
    one that no entry has, or that is of another kind; it names the file, the code and the field.
    """
    try:
        found = tomllib.loads(file.read_text(encoding="utf-8"))
    except tomllib.TOMLDecodeError as error:
        raise ReprocheckError(f"{file.name} is no TOML: {error}.") from None
    if set(found) != {"entry"}:
        raise ReprocheckError(
            f"{file.name} has {', '.join(found) or 'nothing'} at its top.",
            "Begin each entry with [[entry]], and have nothing else there.",
        )
    for number, table in enumerate(found["entry"], 1):
        if wrong := _wrong(table):
            code = table.get("code", f"number {number}")
            raise ReprocheckError(
                f"{file.name}: the entry {code} {wrong}",
                "Write it as the other entries of the file do.",
            )
        yield Entry(**{name: _read(name, value) for name, value in table.items()})


def _wrong(table: Mapping[str, object]) -> str:
    """Return what is wrong with the fields of an entry; "" if nothing is."""
    for name in _REQUIRED:
        if name not in table:
            return f"has no field {name}."
    for name, value in table.items():
        if name not in _KINDS:
            return f"has a field {name}, which no entry has. The fields are {', '.join(_KINDS)}."
        if not isinstance(value, _KINDS[name]):
            return f"has a field {name} that is no {_CALLED[_KINDS[name]]}."
        if value not in _VALUES.get(name, (value,)):
            return f"has {value!r} as its {name}. It is one of: {', '.join(_VALUES[name])}."
    return ""


def _read(name: str, value: Any) -> Any:
    """Return the value of a field as an entry has it."""
    if name in _PROSE:
        return " ".join(value.split())
    if name in ("fix", "bad", "good"):
        return value.strip("\n")
    if name == "fixes":
        return {framework: code.strip("\n") for framework, code in value.items()}
    if name == "observed_by":
        return tuple(map(tuple, value))
    if isinstance(value, list):
        return tuple(value)
    return value
