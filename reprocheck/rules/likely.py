"""Which controls can remove which cause, and which lines speak for a control: the lists of
`likely.toml`.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from itertools import chain, starmap
from pathlib import Path

from reprocheck.model import Cause, Check
from reprocheck.model.static import StaticFinding

TABLE = Path(__file__).parent / "likely.toml"
_ACCELERATOR = re.compile(r"cuda|npu|ascend|gpu|xpu|tpu", re.IGNORECASE)
_NO_DEVICE = frozenset({"", "cpu", "none"})
_OF_ACCELERATORS = ("launch-blocking", "cpu-rng")
"""Controls that can do nothing where there is the CPU alone."""
_OF_RANDOMNESS = (
    "seed",
    "private-rng",
    "entropy",
    "clock",
    "hash-seed",
    "file-order",
    "fixed-addresses",
    "fill-memory",
)
"""Controls that fix what a script draws or reads, and not how it computes."""

_VALUES = 3


VAGUE = frozenset({"RC604", "RC605"})
"""Causes that say what happens and not why."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Likely:
    """The lists of `likely.toml`."""

    causes: Mapping[str, tuple[str, ...]]
    instead: Mapping[str, tuple[str, ...]]
    rungs: Mapping[str, tuple[str, ...]]
    hints: Mapping[str, str]
    acts: Mapping[str, tuple[str, ...]]
    implied: Mapping[str, Mapping[str, str]]
    open: tuple[str, ...]
    shown: tuple[str, ...]
    unseeded: tuple[str, ...]
    anew: tuple[str, ...]
    anew_where_shown: tuple[str, ...]
    many_values: tuple[str, ...]


@cache
def table() -> Likely:
    """Return the lists, read once."""
    found = tomllib.loads(TABLE.read_text(encoding="utf-8"))
    return Likely(
        causes={code: tuple(names) for code, names in found["causes"].items()},
        instead={code: tuple(names) for code, names in found["instead"].items()},
        rungs={rung: tuple(names) for rung, names in found["rungs"].items()},
        hints=found["hints"],
        acts={name: tuple(kinds) for name, kinds in found["acts"].items()},
        implied=found["implied"],
        open=tuple(found["open"]),
        shown=tuple(found["shown"]),
        unseeded=tuple(found["unseeded"]),
        anew=tuple(found["anew"]),
        anew_where_shown=tuple(found["anew_where_shown"]),
        many_values=tuple(found["many_values"]),
    )


def is_vague(cause: Cause | StaticFinding) -> bool:
    """Return whether a cause says what happens and not why: another that fits is preferred, a
    control says more.
    """
    return cause.code in VAGUE


def place_of(control: str, code: str) -> int | None:
    """Return how near a control is to a cause, from 0; None where a cause says nothing for it."""
    names = table().causes.get(code, ())
    if control not in names:
        return None
    return names.index(control)


def confirming(code: str) -> frozenset[str]:
    """Return the controls under which runs that agree confirm a cause: they can remove that very
    cause, and not only one that leads to it.
    """
    lists = table()
    return frozenset(lists.causes.get(code, ())).difference(lists.instead.get(code, ()))


def confirms(control: str, code: str) -> bool:
    """Return whether a control is one of them."""
    return control in confirming(code)


def nearest(code: str) -> str:
    """Return the control that is nearest to a cause; "" where none can remove it."""
    return next(iter(table().causes.get(code, ())), "")


def removes(control: str, code: str) -> bool:
    """Return whether a control is the one that is nearest to a cause."""
    return nearest(code) == control


def draws(code: str) -> bool:
    """Return whether a cause is a source of randomness: fixing what is drawn or read there removes
    it.
    """
    return nearest(code) in _OF_RANDOMNESS


def shown_by(control: str) -> tuple[str, ...]:
    """Return what shows that a control acted: see `acts` in the lists; nothing where it says so
    itself.
    """
    return table().acts.get(control, ())


def on_lines() -> tuple[str, ...]:
    """Return the controls of which lines of the user's alone show that they act: no call tells."""
    others = ("files", "framework", "threads")
    return tuple(name for name, kinds in table().acts.items() if kinds[0] not in others)


def values(control: str) -> int:
    """Return how many values of a control are tried before it counts as one that makes scripts
    fail.
    """
    return _VALUES if control in table().many_values else 1


def implied(control: str, rung: str, *, draws: bool = False) -> str:
    """Return the cause that a control confirms where none was named that it can remove.

    `draws`: what it acted on draws random numbers.
    """
    codes = table().implied[control]
    if draws and rung not in codes:
        return codes.get("draws", codes[""])
    return codes.get(rung, codes[""])


def without_effect(check: Check) -> frozenset[str]:
    """Return the controls that are on already, or cannot change anything here: what they remove is
    not why these runs differ.
    """
    return frozenset((*check.record.controls, *_useless(check)))


def _useless(check: Check) -> Iterator[str]:
    """Return controls that cannot change anything here."""
    rung = check.first_rung
    facts = chain.from_iterable(facts.items() for facts in _facts(check))
    differs_on_device = rung is not None and _ACCELERATOR.search(rung.measured.device)
    if not differs_on_device and not any(starmap(_is_device, facts)):
        yield from _OF_ACCELERATORS
    if all(map(has_fixed_hash, _facts(check))):
        yield "hash-seed"


def _facts(check: Check) -> list[Mapping[str, object]]:
    return [run.environment for run in check.runs] or [{}]


def has_fixed_hash(facts: Mapping[str, object]) -> bool:
    """Return whether the user fixed the hash seed before the start, by the facts of an
    environment.
    """
    return facts.get("python.hash_seed", "random") != "random"


def _is_device(key: str, value: object) -> bool:
    """Return whether a check ran on a device, by its driver, the framework's list of devices, or
    the device that MindSpore says it uses.
    """
    if key.startswith("mindspore.device"):
        return str(value).lower() not in _NO_DEVICE
    names_device = key.endswith(".devices") or key.startswith("driver.")
    return names_device and bool(value)
