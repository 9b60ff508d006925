"""The closed lists of words by which it is decided what may leave, read from `lists.toml`."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

COMMANDS = ("options", "resume")
"""Facts of the environment key of a target that are a part of a command."""
PACKAGE = "package."
"""In front of the name of a package; its value is a version."""
VARIABLE = "variable."
"""In front of the name of an environment variable: the name leaves, its value does not."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Lists:
    """The lists of harmless words; `lists.toml` says what each list holds."""

    facts: frozenset[str]
    facts_of: tuple[str, ...]
    facts_of_a_key: frozenset[str]
    packages: frozenset[str]
    variables: frozenset[str]
    in_facts: frozenset[str]
    settings: frozenset[str]
    launchers: frozenset[str]
    arguments: frozenset[str]
    options: frozenset[str]
    in_names: frozenset[str]
    public_sites: tuple[str, ...]
    public_owners: frozenset[str]
    bank_accounts: tuple[str, ...]
    tops_of_hosts: tuple[str, ...]


def _read() -> Lists:
    texts = tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))
    ordered = {name for name, kind in Lists.__annotations__.items() if kind.startswith("tuple")}
    kinds: dict[str, Any] = {name: tuple if name in ordered else frozenset for name in texts}
    return Lists(**{name: kinds[name](text.split()) for name, text in texts.items()})


LISTS = _read()
