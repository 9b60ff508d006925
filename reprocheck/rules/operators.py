"""Look up operators whose results may differ from run to run, in the lists of `operators/*.toml`.

A list alone proves no cause: it supports what the ladder found, and explains errors of
deterministic mode.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Literal

from reprocheck.model.statement import Statement

OPERATORS = Path(__file__).parent / "operators"

Phase = Literal["forward", "backward", "both"]


@dataclass(frozen=True, kw_only=True, slots=True)
class Operator(Statement):
    """An operator on a list of operators whose results may differ from run to run.

    name      as its documentation names it
    devices   kinds of devices on which it is listed, as `cuda`
    phase     the pass (forward or backward) in which its result differs
    when      what triggers that, as words that follow the name
    deterministic_mode   what deterministic mode does: it `switches` to another kernel, `raises` an
              error, or other words of the source; empty if the source says nothing
    aliases   module classes, dispatcher and autograd names, and names in error messages
    list      the list that contains the operator
    """

    name: str
    devices: tuple[str, ...]
    phase: Phase
    when: str
    deterministic_mode: str
    aliases: tuple[str, ...]
    list: OperatorList


@dataclass(frozen=True, kw_only=True, slots=True)
class OperatorList:
    """The source of a list of operators, and the frameworks that the list is about."""

    name: str
    frameworks: tuple[str, ...]
    source: str
    version: str


@cache
def operator_lists() -> tuple[tuple[OperatorList, tuple[Operator, ...]], ...]:
    """Return all lists, each with its operators."""
    return tuple(_read(file) for file in sorted(OPERATORS.glob("*.toml")))


def known(
    name: str, *, device: str = "cpu", backward: bool | None = None, frameworks: Iterable[str] = ()
) -> tuple[Operator, ...]:
    """Return the listed operators with this name (of a module class, dispatcher or autograd).

    device      as `cpu`, `cuda:0`, `npu`
    backward    whether the operator ran in the backward pass; None for either pass
    frameworks  to which the lists must belong; empty for all lists
    """
    kind = device.lower().partition(":")[0] or "cpu"
    other = {None: "", True: "forward", False: "backward"}[backward]
    wanted = set(frameworks)
    return tuple(
        operator
        for operator in raised(name)
        if kind in operator.devices
        and operator.phase != other
        and (not wanted or wanted & set(operator.list.frameworks))
    )


def raised(name: str) -> tuple[Operator, ...]:
    """Return the listed operators, on any device, that an error message may mean by `name`."""
    return _by_alias().get(_key(name), ())


def _read(file: Path) -> tuple[OperatorList, tuple[Operator, ...]]:
    table = tomllib.loads(file.read_text(encoding="utf-8"))
    rows = table.pop("operator")
    source = OperatorList(**{**table, "frameworks": tuple(table["frameworks"])})
    return source, tuple(
        Operator(
            name=row["name"],
            devices=tuple(row["devices"]),
            phase=row["phase"],
            when=row["when"],
            deterministic_mode=row.get("deterministic_mode", ""),
            aliases=tuple(row["aliases"]),
            list=source,
        )
        for row in rows
    )


@cache
def _by_alias() -> Mapping[str, tuple[Operator, ...]]:
    index: dict[str, tuple[Operator, ...]] = {}
    for _, operators in operator_lists():
        for operator in operators:
            for key in {_key(name) for name in _names(operator)}:
                index[key] = (*index.get(key, ()), operator)
    return index


def _names(operator: Operator) -> Iterator[str]:
    yield from operator.aliases
    for name in operator.name.split(", "):
        yield name
        yield name.rpartition(".")[2]


def _key(name: str) -> str:
    """Return one spelling of an operator's name: `aten::index_put_` becomes `indexput`."""
    word = name.strip().lower()
    word = re.sub(r"^(aten|torch\.ops\.aten)(\.|::)", "", word)
    word = re.sub(r"^([a-z0-9_]+)\.[a-z0-9_]+$", r"\1", word)  # the overload
    word = re.sub(r"backward\d$", "backward", word)
    return re.sub(r"[^a-z0-9]", "", word)
