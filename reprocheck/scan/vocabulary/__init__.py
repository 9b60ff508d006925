"""Hold the names that the scan knows, as data.

One TOML file a subject, each read once, when it is asked for.

A list of names is one text, which `tomllib` reads much faster than an array of texts.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any, TypeVar

import msgspec

FOLDER = Path(__file__).parent

T = TypeVar("T")


class VocabularyError(Exception):
    """A file of the vocabulary lacks a key, or holds something else under it."""


def words(subject: str, key: str) -> frozenset[str]:
    """Return the names of a list."""
    return frozenset(names(subject, key))


def names(subject: str, key: str) -> tuple[str, ...]:
    """Return the names of a list, in their order."""
    return tuple(rows(subject, key, str).split())


def by_name(subject: str, key: str) -> dict[str, str]:
    """Return what is known of each name: the key in the table that holds the name."""
    table = rows(subject, key, dict[str, str])
    return {name: known for known, listed in table.items() for name in listed.split()}


def pattern(subject: str, key: str) -> re.Pattern[str]:
    """Return a regular expression; line breaks and spaces are no part of it."""
    text = rows(subject, "patterns", dict[str, str])[key]
    return re.compile("".join(text.split()))


def rows(subject: str, key: str, kind: type[T]) -> T:
    """Return what a file holds under a key. Raises VocabularyError where that is not of a kind."""
    try:
        return msgspec.convert(_read(subject)[key], kind)
    except (KeyError, msgspec.ValidationError) as error:
        raise VocabularyError(f"{FOLDER.name}/{subject}.toml, `{key}`: {error}") from None


@cache
def _read(subject: str) -> Mapping[str, Any]:
    return tomllib.loads((FOLDER / f"{subject}.toml").read_text(encoding="utf-8"))
