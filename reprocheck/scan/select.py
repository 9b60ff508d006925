"""Choose rules for `--select` and `--ignore`: by code, by the beginning of a code, or by name."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from reprocheck.errors import UsageError
from reprocheck.rules import catalogue, find, nearest
from reprocheck.scan.files import matches
from reprocheck.scan.finding import UNUSED_IGNORE, Finding, Result


def codes(words: Iterable[str], option: str) -> frozenset[str]:
    """Return the codes that words such as `RC301`, `RC5`, `unseeded-weights` or `RC1,RC2` stand
    for.

    Raises UsageError.
    """
    single = filter(None, re.split(r"[\s,]+", " ".join(words)))
    return frozenset().union(*(_codes(word, option) for word in single))


def without(result: Result, ignored: Mapping[str, Sequence[str]], folder: Path) -> Result:
    """Return the result without what is not wanted in some files.

    ignored    patterns of paths, each with the rules that it leaves out
    folder     what the patterns are relative to

    Raises UsageError for a rule that does not exist.
    """
    left_out = {
        pattern: codes(words, f"per-file-ignores of {pattern}")
        for pattern, words in ignored.items()
    }

    def is_wanted(finding: Finding) -> bool:
        path = os.path.relpath(finding.path, folder).replace(os.sep, "/")
        return not any(
            finding.code in unwanted and matches(path, pattern)
            for pattern, unwanted in left_out.items()
        )

    return replace(
        result,
        findings=tuple(filter(is_wanted, result.findings)),
        suppressed=tuple(filter(is_wanted, result.suppressed)),
    )


def _codes(word: str, option: str) -> set[str]:
    every = {entry.code for entry in catalogue()}
    if word.lower() == "all":
        return {UNUSED_IGNORE, *every}
    if word.lower() == UNUSED_IGNORE:
        return {UNUSED_IGNORE}
    entry = find(word)
    if entry is not None:
        return {entry.code}
    is_beginning = re.fullmatch(r"(?i)RC\d{0,3}", word) is not None
    matching = {code for code in every if is_beginning and code.startswith(word.upper())}
    if not matching:
        close = nearest(word)
        advice = "`reprocheck rules` lists them."
        if close:
            advice = f"Did you mean {' or '.join(close)}?"
        raise UsageError(f"{option} {word}: there is no such rule.", advice)
    return matching
