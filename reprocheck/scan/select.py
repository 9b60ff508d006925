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
    single = filter(None, re.split(r"[\s,]+", " ".join(words)))
    return frozenset().union(*(_codes(word, option) for word in single))


def _codes(word: str, option: str) -> set[str]:
    every = {entry.code for entry in catalogue()}
    if word.lower() == "all":
        return {UNUSED_IGNORE, *every}
    if word.lower() == UNUSED_IGNORE:
        return {UNUSED_IGNORE}
    entry = find(word)
    if entry is not None:
        return {entry.code}
    matching = {code for code in every if _begins(code, word)}
    if not matching:
        close = nearest(word)
        advice = "`reprocheck rules` lists them."
        if close:
            advice = f"Did you mean {' or '.join(close)}?"
        raise UsageError(f"{option} {word}: there is no such rule.", advice)
    return matching


def _begins(code: str, word: str) -> bool:
    return bool(re.fullmatch(r"(?i)RC\d{0,3}", word)) and code.startswith(word.upper())
