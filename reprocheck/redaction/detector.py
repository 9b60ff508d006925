"""The detector: what looks like a secret, or says who or where somebody is, is taken out of text.

In this order: private keys; names of home, user and host; folders of the machine; values that are
known to be the sender's (of arguments and variables); what a scanner of secrets finds; the patterns
that the recorder has (`shared.redaction`); those of `patterns`.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from reprocheck.child.reprocheck_child.shared.masking import CREDENTIALS, mask
from reprocheck.child.reprocheck_child.shared.redaction import Redactor
from reprocheck.redaction.patterns import PATHS, PATTERNS, Pattern

KINDS_OF_MARKS = {
    "<secret>": "token, key or password",
    "<email>": "e-mail address",
    "<address>": "network address",
    CREDENTIALS: "user and password in an address",
    "<user>": "user name",
    "<host>": "host name",
    "~": "home folder",
}
"""What stands in a masked text -> the kind under which it is counted."""
KNOWN = "<argument>"
_QUOTED = {True: f"`{KNOWN}`", False: KNOWN}
"""By whether a value is looked for between backticks alone."""
SHORTEST_KNOWN = 6
LONGEST_WORD = 12
"""A value that is one word in small letters is looked for from this length on: `transformer` is a
module's name, too.
"""


@dataclass(frozen=True, kw_only=True, slots=True)
class Secret:
    """What a scanner found: the text itself, and the name of its rule."""

    kind: str
    text: str


Scanner = Callable[[str], list[Secret]]
"""Looks for secrets in a text."""


class Detector:
    """Takes out of texts what must not leave, and counts it by kind.

    identity   home folder, user name and host name of the sender
    known      values that are taken out wherever they stand
    scanner    what looks for secrets beside the patterns
    """

    def __init__(
        self,
        identity: tuple[str, str, str] = ("", "", ""),
        known: Iterable[str] = (),
        scanner: Scanner | None = None,
    ) -> None:
        self.counts: Counter[str] = Counter()
        self._identity = identity
        known = set(known)
        self._known = sorted(map(_to_find, known), key=len, reverse=True)
        self._scanner = scanner
        self._seen: dict[str, tuple[str, Counter[str]]] = {}

    def masked(self, text: str) -> str:
        """The text without what must not leave; lines keep their number."""
        if text not in self._seen:
            self._seen[text] = self._searched(text)
        shown, counts = self._seen[text]
        self.counts.update(counts)
        return shown

    def _searched(self, text: str) -> tuple[str, Counter[str]]:
        counts: Counter[str] = Counter()
        # first: what takes a part of a key away would hide where it ends
        shown = mask(Redactor().keys(text), *self._identity)
        shown = _replaced(shown, PATHS, counts)
        shown = self._without_known(shown, counts)
        shown = self._scanned(shown, counts)
        shown = Redactor().text(shown)
        for mark, kind in KINDS_OF_MARKS.items():
            counts[kind] += max(0, shown.count(mark) - text.count(mark) - counts.pop(mark, 0))
        for pattern in PATTERNS:
            shown = _replaced(shown, pattern, counts)
        return shown, +counts

    def _without_known(self, text: str, counts: Counter[str]) -> str:
        for value in self._known:
            found = text.count(value)
            if found:
                counts["value of an argument or a variable"] += found
                text = text.replace(value, _QUOTED[value.startswith("`")])
        return text

    def _scanned(self, text: str, counts: Counter[str]) -> str:
        if self._scanner is None:
            return text
        for secret in sorted(self._scanner(text), key=_longest_first):
            found = text.count(secret.text)
            if found and secret.text:
                counts[secret.kind] += found
                counts["<secret>"] += found
                text = text.replace(secret.text, "<secret>")
        return text


def _to_find(value: str) -> str:
    """What is looked for: the value, or, of one that other things are called, too, the value as our
    sentences name it.
    """
    if is_telling(value):
        return value
    return f"`{value}`"


def _longest_first(secret: Secret) -> int:
    return -len(secret.text)


def _replaced(text: str, pattern: Pattern, counts: Counter[str]) -> str:
    def shown(match: re.Match[str]) -> str:
        found = match.group()
        if not pattern.accepted(found):
            return found
        counts[pattern.kind] += 1
        return pattern.shown(found)

    return pattern.regex.sub(shown, text)


def is_telling(value: str) -> bool:
    """Whether a value is found again in a text without finding other things."""
    is_word = value.isalpha() and value.islower()
    is_mark = value.startswith("<")
    least = LONGEST_WORD if is_word else SHORTEST_KNOWN
    return len(value) >= least and not is_mark and not value.isdigit()
