"""Tell which controls can remove which cause, and which lines suggest a control.

The lists are in `likely.toml`.

A control is a setting under which reprocheck runs a script again, as a fixed seed.
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
_VALUES = 3
VAGUE = frozenset({"RC604", "RC605"})
"""Causes that say what happens and not why."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Likely:
    """The lists of `likely.toml`, explained there."""

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
    randomness: tuple[str, ...]
    reads: tuple[str, ...]
    by_line: tuple[str, ...]
    of_system: tuple[str, ...]
    accelerators: tuple[str, ...]
    start: tuple[str, ...]


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
        randomness=tuple(found["randomness"]),
        reads=tuple(found["reads"]),
        by_line=tuple(found["by_line"]),
        of_system=tuple(found["of_system"]),
        accelerators=tuple(found["accelerators"]),
        start=tuple(found["start"]),
    )


def is_vague(cause: Cause | StaticFinding) -> bool:
    """Return whether a cause says what happens and not why: another cause is preferred."""
    return cause.code in VAGUE


def place_of(control: str, code: str) -> int | None:
    """Return the rank of a control among those that can remove a cause, 0 for the nearest.

    None if it cannot remove the cause.
    """
    names = table().causes.get(code, ())
    if control not in names:
        return None
    return names.index(control)


def confirming(code: str) -> frozenset[str]:
    """Return the controls that confirm a cause if runs agree under them.

    Such a control removes the cause itself, and not only another one that leads to it.
    """
    lists = table()
    return frozenset(lists.causes.get(code, ())).difference(lists.instead.get(code, ()))


def confirms(control: str, code: str) -> bool:
    """Return whether a control confirms a cause if runs agree under it."""
    return control in confirming(code)


def nearest(code: str) -> str:
    """Return the control that is nearest to a cause; "" if no control can remove the cause."""
    return next(iter(table().causes.get(code, ())), "")


def removes(control: str, code: str) -> bool:
    """Return whether a control is the nearest one to a cause."""
    return nearest(code) == control


def draws(code: str) -> bool:
    """Return whether a cause is a source of randomness, so that fixed draws or reads remove it."""
    return nearest(code) in table().randomness


def shown_by(control: str) -> tuple[str, ...]:
    """Return what shows that a control had an effect, see `acts` in `likely.toml`.

    Empty if the control itself reports it.
    """
    return table().acts.get(control, ())


def on_lines() -> tuple[str, ...]:
    """Return the controls whose effect only lines of the user's code can show."""
    others = ("files", "framework", "threads")
    return tuple(name for name, kinds in table().acts.items() if kinds[0] not in others)


def values(control: str) -> int:
    """Return how many values of a control are tried before it counts as breaking a script."""
    return _VALUES if control in table().many_values else 1


def implied(control: str, rung: str, *, draws: bool = False) -> str:
    """Return the cause that a control confirms if no cause was named that the control can remove.

    rung   the rung of the ladder at which the runs first differ
    draws  whether the control acted on draws of random numbers
    """
    codes = table().implied[control]
    if draws and rung not in codes:
        return codes.get("draws", codes[""])
    return codes.get(rung, codes[""])


def without_effect(check: Check) -> frozenset[str]:
    """Return the controls that are already on, or cannot change anything in this check."""
    return frozenset((*check.record.controls, *_useless(check)))


def _useless(check: Check) -> Iterator[str]:
    """Yield the controls that cannot change anything in this check."""
    rung = check.first_rung
    facts = chain.from_iterable(facts.items() for facts in _facts(check))
    differs_on_device = rung is not None and _ACCELERATOR.search(rung.measured.device)
    if not differs_on_device and not any(starmap(_is_device, facts)):
        yield from table().accelerators
    if all(map(has_fixed_hash, _facts(check))):
        yield "hash-seed"


def _facts(check: Check) -> list[Mapping[str, object]]:
    return [run.environment for run in check.runs] or [{}]


def has_fixed_hash(facts: Mapping[str, object]) -> bool:
    """Return whether the user fixed the hash seed before the start, by the environment's facts."""
    return facts.get("python.hash_seed", "random") != "random"


def _is_device(key: str, value: object) -> bool:
    """Return whether a fact shows that a check ran on an accelerator.

    A driver, the framework's devices, or MindSpore's device.
    """
    if key.startswith("mindspore.device"):
        return str(value).lower() not in _NO_DEVICE
    names_device = key.endswith(".devices") or key.startswith("driver.")
    return names_device and bool(value)
