"""The detector of the extra `bundle`: Kingfisher, MongoDB's scanner for secrets, in this process.

Its rules are compiled once and kept in the user's cache folder; nothing is sent anywhere.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from importlib.util import find_spec
from typing import Any


@dataclass(frozen=True, kw_only=True, slots=True)
class Secret:
    """What a scanner found: the text itself, and the name of its rule."""

    kind: str
    text: str


Scanner = Callable[[str], list[Secret]]
"""Looks for secrets in a text."""


@cache
def found_scanner() -> Scanner | None:
    """Return the scanner for secrets; None if the extra `bundle` is not installed."""
    if find_spec("kingfisher_sdk") is None:
        return None
    from kingfisher_sdk import Rules, Scanner as Kingfisher

    scanner: Any = Kingfisher(Rules(confidence="low"))

    def secrets(text: str) -> list[Secret]:
        data = text.encode("utf-8", "replace")
        return [_secret(data, one) for one in scanner.scan(data)]

    return secrets


def _secret(data: bytes, finding: Any) -> Secret:
    """Return the text that a finding covers; for a finding inside Base64, the Base64 text."""
    place = finding.location
    covered = data[place["start_offset"] : place["end_offset"]].decode("utf-8", "replace")
    return Secret(kind=_kind(finding.rule_id), text=covered)


def _kind(rule: str) -> str:
    # where rules come from: it stands in front of their names
    for source in ("betterleaks.", "kingfisher.", "veles.secrets/"):
        rule = rule.removeprefix(source)
    return rule.replace("-", " ")
