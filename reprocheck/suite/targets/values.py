"""What the values of a target's own keys may be."""

from __future__ import annotations

import math
import re
import shlex
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from math import inf
from typing import Any, get_args

from reprocheck.errors import SettingsError, UsageError
from reprocheck.resume.request import PLACES, SIGNALS, places
from reprocheck.suite.model import Allow, KnownIssue, Resources
from reprocheck.suite.targets import selection

_DAY = re.compile(r"\d{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12]\d|3[01])")
_CURVES = "curves"
"""The key of `allow` for all curves, where it is a table."""
EXPECTED = ("reproducible", "not_reproducible")
"""Verdicts that a target may expect, as report.json names them."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Kind:
    """Describe the values that a key takes. `parse` raises ValueError if a value is not allowed."""

    allowed: str
    parse: Callable[[object], Any]


def read(kind: Kind, key: str, value: object, place: str) -> Any:
    """Return the parsed value of a key.

    `place`: the name of the table in errors. Raises SettingsError.
    """
    try:
        return kind.parse(value)
    except ValueError as error:
        because = f": {error}" if str(error) else ""
        raise SettingsError(
            f"{place}: {key} = {shown(value)} is not allowed{because}.",
            f"{key} takes {kind.allowed}.",
        ) from None


def shown(value: object) -> str:
    """Format a value as TOML."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, str):
        return f'"{value}"'
    return str(value)


def as_text(value: object) -> str:
    """Format a plain value as on a command line.

    Raises ValueError for a table, a list or a date.
    """
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, (str, int, float)):
        return str(value)
    raise ValueError


def _text(value: object) -> str:
    if not isinstance(value, str) or not value.strip() or "\0" in value:
        raise ValueError
    return value


def _texts(value: object) -> tuple[str, ...]:
    if isinstance(value, str):
        return (_text(value),)
    if not isinstance(value, list):
        raise ValueError
    return tuple(_text(one) for one in value)


def _name(value: object) -> str:
    if not isinstance(value, str) or not selection.valid(value):
        raise ValueError
    return value


def _words(value: object) -> tuple[str, ...]:
    """Return the words after `reprocheck run`; a text is split as a shell splits it."""
    if isinstance(value, str):
        return tuple(shlex.split(value))
    if not isinstance(value, list):
        raise ValueError
    return tuple(as_text(word) for word in value)


def _environment(value: object) -> dict[str, str]:
    table = _table(value)
    if any("=" in name or not name for name in table):
        raise ValueError("a variable has no = in its name")
    return {name: as_text(one) for name, one in table.items()}


def _table(value: object) -> dict[str, object]:
    if not isinstance(value, dict):
        raise ValueError
    return value


def _one_of(*choices: str) -> Kind:
    def parse(value: object) -> object:
        if value not in choices:
            raise ValueError
        return value

    return Kind(allowed=f"one of {', '.join(choices)}", parse=parse)


def _allow(value: object) -> tuple[Allow | None, dict[str, float]]:
    """Return how far all curves may be from the baseline, and the limits of what is named."""
    given = {_CURVES: value} if isinstance(value, str) else dict(_table(value))
    curves = given.pop(_CURVES, None)
    if curves is not None and curves not in get_args(Allow):
        raise ValueError(f"{_CURVES} is one of {', '.join(get_args(Allow))}")
    limits = {name: _share(name, one) for name, one in given.items()}
    return curves, limits  # type: ignore[return-value]


def _share(name: str, value: object) -> float:
    """Return a relative limit: `5 %` or `1e-4`."""
    text = as_text(value).strip()
    try:
        number = float(text.removesuffix("%")) / (100 if text.endswith("%") else 1)
    except ValueError:
        number = math.nan
    if not 0 <= number < math.inf:
        raise ValueError(f'{name} is a relative limit, such as "5 %" or "1e-4"')
    return number


def _resources(value: object) -> Resources:
    table = _table(value)
    unknown = next((key for key in table if key not in OF_RESOURCES), None)
    if unknown is not None:
        raise ValueError(f"it has no key {unknown}; its keys are {', '.join(OF_RESOURCES)}")
    numbers = {key: _count(key, one) for key, one in table.items()}
    return Resources(**numbers)  # type: ignore[arg-type]


def _count(key: str, value: object) -> float:
    allowed_types = (int, float) if key == "cpus" else (int,)
    least = OF_RESOURCES[key]
    if isinstance(value, bool) or not isinstance(value, allowed_types) or not least <= value < inf:
        whole = "" if key == "cpus" else "whole "
        raise ValueError(f"{key} is a {whole}number of at least {least}")
    return value


def _resume(value: object) -> dict[str, object] | None:
    """Return options of `reprocheck resume` by name; None if no resume check is asked for."""
    if isinstance(value, bool):
        return {} if value else None
    table = _table(value)
    unknown = next((key for key in table if key not in OF_A_RESUME), None)
    if unknown is not None:
        raise ValueError(f"it has no key {unknown}; its keys are {', '.join(OF_A_RESUME)}")
    return {key: _of_a_resume(key, one) for key, one in table.items()}


def _of_a_resume(key: str, value: object) -> object:
    kind = OF_A_RESUME[key]
    try:
        return kind.parse(value)
    except ValueError:
        raise ValueError(f"{key} takes {kind.allowed}") from None


def _known_issue(value: object) -> KnownIssue:
    table = _table(value)
    if not {"why", "until"} <= set(table) <= {"why", "until", "link"}:
        raise ValueError("it takes why and until, and link")
    until = str(table["until"])
    if not _DAY.fullmatch(until):
        raise ValueError("until is a day, such as 2026-12-31")
    link = _text(table["link"]) if "link" in table else ""
    return KnownIssue(why=_text(table["why"]), until=until, link=link)


def _owners(value: object) -> dict[str, tuple[str, ...]]:
    """Return the webhooks of each owner."""
    return {owner: _texts(urls) for owner, urls in _table(value).items()}


def _places(value: object) -> tuple[str, ...]:
    """Return the places at which a training is stopped."""
    given = value if isinstance(value, list) else [value]
    try:
        return places([as_text(one) for one in given])
    except UsageError as error:
        raise ValueError(error.message) from None


def _from_one(value: object) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or value < 1:
        raise ValueError
    return value


def _nights(value: object) -> int | None:
    if value == "all":
        return None
    if isinstance(value, bool) or not isinstance(value, int) or value < 1:
        raise ValueError
    return value


TABLE = Kind(allowed="a table", parse=_table)
_KNOWN_ISSUE = Kind(
    allowed='a table, such as { why = "PyTorch 1234", until = 2026-12-31 }', parse=_known_issue
)

OF_RESOURCES: Mapping[str, int] = {"cpus": 0, "gpus": 0, "npus": 0, "nodes": 1, "minutes": 1}
"""What a target may ask for, and how much at least."""

OF_A_RESUME: Mapping[str, Kind] = {
    "with": Kind(allowed='a text, such as "--resume {checkpoint}"', parse=_text),
    "checkpoint": Kind(allowed='a pattern, such as "out/*.pt"', parse=_text),
    "at": Kind(
        allowed=f"{', '.join(PLACES)} or a number of updates, alone or in a list", parse=_places
    ),
    "interrupt": _one_of(*SIGNALS),
    "ranks": Kind(allowed="a number of ranks", parse=_from_one),
    "steps": Kind(allowed="a number of iterations", parse=_from_one),
    "go-on": Kind(allowed="a number of iterations", parse=_from_one),
    "known_issue": _KNOWN_ISSUE,
}
"""Options of `reprocheck resume` that a target may have, and its own known issue."""

OF_A_TARGET: Mapping[str, Kind] = {
    "name": Kind(allowed=selection.ALLOWED, parse=_name),
    "run": Kind(
        allowed="what stands behind `reprocheck run`, as text or as a list of words", parse=_words
    ),
    "folder": Kind(allowed="the path of a folder", parse=_text),
    "environment": Kind(
        allowed='a table of variables, such as { DATA = "/data" }', parse=_environment
    ),
    "expect": _one_of(*EXPECTED),
    "allow": Kind(
        allowed=f"one of {', '.join(get_args(Allow))}, or a table of limits, such as"
        ' { memory = "5 %", seconds = "20 %", val_loss = "1e-4" }',
        parse=_allow,
    ),
    "tags": Kind(allowed="a text or a list of texts", parse=_texts),
    "needs": Kind(
        allowed="a table with cpus, gpus, npus, nodes and minutes, such as { cpus = 4, gpus = 1 }",
        parse=_resources,
    ),
    "matrix": TABLE,
    "owner": Kind(allowed='a name, such as "@ada"', parse=_text),
    "known_issue": _KNOWN_ISSUE,
    "quarantine": Kind(allowed="a text: why it comes and goes", parse=_text),
    "resume": Kind(
        allowed='true, or a table such as { with = "--resume {checkpoint}", go-on = 20 }',
        parse=_resume,
    ),
}
"""Keys of a target beside the settings of `run`."""

OF_THE_SUITE: Mapping[str, Kind] = {
    "folder": Kind(allowed="the path of a folder", parse=_text),
    "history": Kind(
        allowed="the URL of a database, such as postgresql+psycopg://nightly@db/nightly",
        parse=_text,
    ),
    "baselines": Kind(allowed='the path of a file, such as "baselines.json"', parse=_text),
    "webhooks": Kind(allowed="a URL or a list of URLs", parse=_texts),
    "owners": Kind(allowed='a table of URLs, such as { "@ada" = "$ADA_WEBHOOK" }', parse=_owners),
    "keep": Kind(allowed="a number of nights, 1 or more, or all", parse=_nights),
    "defaults": TABLE,
}
"""Keys of the suite itself."""
