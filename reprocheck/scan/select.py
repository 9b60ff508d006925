"""Which rules are wanted: `--select` and `--ignore`, by code, by the beginning of one, or by
name.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from reprocheck.errors import UsageError
from reprocheck.rules import catalogue, find, nearest
from reprocheck.scan.finding import UNUSED_IGNORE


def codes(words: Iterable[str], option: str) -> frozenset[str]:
    """The codes that words such as `RC301`, `RC5`, `unseeded-weights` or `RC1,RC2` stand for.

    Raises UsageError.
    """
    found: set[str] = set()
    for word in (part for given in words for part in re.split(r"[\s,]+", given) if part):
        if word.lower() in ("all", UNUSED_IGNORE):
            found.update(
                {UNUSED_IGNORE}
                if word.lower() != "all"
                else {UNUSED_IGNORE, *(entry.code for entry in catalogue())}
            )
            continue
        entry = find(word)
        matching = (
            {entry.code} if entry else {one.code for one in catalogue() if _begins(one.code, word)}
        )
        if not matching:
            close = nearest(word)
            raise UsageError(
                f"{option} {word}: there is no such rule.",
                f"Did you mean {' or '.join(close)}?"
                if close
                else "`reprocheck rules` lists them.",
            )
        found |= matching
    return frozenset(found)


def _begins(code: str, word: str) -> bool:
    return bool(re.fullmatch(r"(?i)RC\d{0,3}", word)) and code.startswith(word.upper())
