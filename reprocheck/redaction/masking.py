"""Mask a report folder: names of home, user and host, and secrets of known names and forms.

The recorder masks them, too.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from functools import lru_cache

from reprocheck.child.reprocheck_child.shared.masking import mask
from reprocheck.child.reprocheck_child.shared.redaction import Redactor

SECRETS = "secret or address (masked)"
SHORT, MOST_PLAIN = 200, 10_000
"""Characters of texts that are remembered as having nothing to mask, and how many of them."""


@lru_cache(maxsize=8)
def _plain_texts(identity: tuple[str, str, str], known: tuple[str, ...]) -> set[str]:
    """Return the short texts that were found to hold nothing to mask.

    Those who mask for the same identity fill it. The pages of a night repeat the same facts for
    every target.
    """
    return set()


class Masking:
    """Masks texts for one report folder, and counts the secrets and addresses in them.

    identity   home folder, user name and host name
    known      values that are masked wherever they stand
    """

    def __init__(self, identity: tuple[str, str, str], known: Iterable[str] = ()) -> None:
        self._identity = identity
        known = tuple(known)
        self._redactor = Redactor(known)
        self._plain = _plain_texts(identity, known)

    @property
    def counts(self) -> Counter[str]:
        """Return how many were masked so far."""
        return +Counter({SECRETS: self._redactor.count})

    def masked(self, text: str) -> str:
        """Mask a text; its lines keep their number."""
        if text in self._plain and not self._redactor.in_key:
            return text
        shown = self._redactor.text(mask(text, *self._identity))
        is_plain = shown == text and not self._redactor.in_key
        if is_plain and len(text) < SHORT and len(self._plain) < MOST_PLAIN:
            self._plain.add(text)
        return shown

    def path(self, path: str) -> str:
        """Mask only names and tokens in a path."""
        return self._redactor.path(mask(path, *self._identity))

    def arguments(self, words: Sequence[str]) -> tuple[str, ...]:
        """Mask the words of a command, and values of options whose names suggest a secret."""
        return tuple(self._redactor.arguments(mask(word, *self._identity) for word in words))

    def source(self, text: str, *, python: bool) -> str:
        """Mask source code; that of Python can be parsed afterwards as before."""
        if not python:
            return self.masked(text)
        return self._redactor.source(mask(text, *self._identity))


REPLACEMENT = "�"
_TERMINAL = re.compile(
    r"\x1b\[[0-?]*[ -/]*[@-~]"  # CSI: colours, cursor
    r"|\x1b[\]PX^_].*?(?:\x07|\x1b\\|$)"  # OSC, DCS and the like, up to their end or the line's
    r"|\x1b[ -/]*[0-~]?"  # two-character sequences
    r"|\x9b[0-?]*[ -/]*[@-~]",
    re.MULTILINE,
)
_SURROGATE = re.compile("[\ud800-\udfff]")
_UNPRINTABLE = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ufffe\uffff]")
_LINE_BREAK = re.compile("\r\n|[\x0b\x0c\x85\u2028\u2029]")


def valid(text: str) -> str:
    """Return `text` with lone surrogates, which are bytes that are not UTF-8, replaced.

    It can be encoded then.
    """
    return _SURROGATE.sub(REPLACEMENT, text)


def printable(text: str) -> str:
    """Return `text` as a terminal would have left it.

    Codes gone, lines that a carriage return overwrote dropped, control characters replaced.
    """
    if text.isprintable():
        return text
    text = _LINE_BREAK.sub("\n", _TERMINAL.sub("", valid(text)))
    if "\r" in text:
        text = "\n".join(_last_drawn(line) for line in text.split("\n"))
    return _UNPRINTABLE.sub(REPLACEMENT, text)


def line(text: str) -> str:
    """Return `text` printable and in one line."""
    return " ".join(printable(text).split())


def tail(text: str, lines: int, characters: int) -> str:
    """Return the last printable lines of a log: at most `lines`, and `characters` in all."""
    kept = printable(text).strip("\n").split("\n")[-lines:]
    return "\n".join(kept)[-characters:]


def _last_drawn(text: str) -> str:
    """Return the last piece between carriage returns that shows anything."""
    pieces = reversed(text.split("\r"))
    return next(filter(str.strip, pieces), "")
