"""The detector: what looks like a secret, or says who or where somebody is, is taken out of text.

In this order: private keys; names of home, user and host; folders of the machine; values that are
known to be the sender's (of arguments and variables); what a scanner of secrets finds; the patterns
that the recorder has (`shared.redaction`); those of the other modules of this folder.
"""

from __future__ import annotations

import json
import re
from base64 import b64encode
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from importlib.util import find_spec
from itertools import chain
from typing import Any
from urllib.parse import quote

from reprocheck.child.reprocheck_child.shared.masking import CREDENTIALS, mask
from reprocheck.child.reprocheck_child.shared.redaction import Redactor
from reprocheck.redaction.accounts import ACCOUNTS, ADDRESSES, BANK_ACCOUNTS
from reprocheck.redaction.patterns import NAMED_HOSTS, PATHS, PATTERNS, Pattern, masked
from reprocheck.redaction.shapes import WINDOWS_PATHS


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
_OF_A_KNOWN_VALUE = "value of an argument or a variable"


class Detector:
    """Removes from texts what must not leave the machine, and counts the removals by kind.

    identity   home folder, user name and host name of the sender
    known      values that are removed wherever they occur
    scanner    a scanner for secrets, in addition to the patterns
    folders    the folders that the training ran in: paths in them are made relative
    """

    def __init__(
        self,
        identity: tuple[str, str, str] = ("", "", ""),
        known: Iterable[str] = (),
        scanner: Scanner | None = None,
        folders: Iterable[str] = (),
    ) -> None:
        self.counts: Counter[str] = Counter()
        self._identity = identity
        self._known = written(known)
        self._scanner = scanner
        self._folders = [_within(folder) for folder in sorted(folders, key=len, reverse=True)]
        self._seen: dict[str, tuple[str, Counter[str]]] = {}

    def masked(self, text: str) -> str:
        """Return the text with sensitive parts masked; the number of lines stays the same."""
        if text not in self._seen:
            self._seen[text] = self._searched(text)
        shown, counts = self._seen[text]
        self.counts.update(counts)
        return shown

    def _searched(self, text: str) -> tuple[str, Counter[str]]:
        counts: Counter[str] = Counter()
        # first: what takes a part of a key away would hide where it ends
        shown = mask(Redactor().keys(text), *self._identity)
        for pattern in (*self._folders, WINDOWS_PATHS, PATHS):
            shown = _replaced(shown, pattern, counts)
        shown, found = without(shown, self._known, KNOWN)
        counts[_OF_A_KNOWN_VALUE] += found
        shown = self._scanned(shown, counts)
        shown = Redactor().text(shown)
        for sign, kind in KINDS_OF_MARKS.items():
            counts[kind] += max(0, shown.count(sign) - text.count(sign) - counts.pop(sign, 0))
        for pattern in (*ACCOUNTS, *NAMED_HOSTS, BANK_ACCOUNTS, *PATTERNS, *ADDRESSES):
            shown = _replaced(shown, pattern, counts)
        return shown, +counts

    def _scanned(self, text: str, counts: Counter[str]) -> str:
        if self._scanner is None:
            return text
        for secret in sorted(self._scanner(text), key=lambda secret: -len(secret.text)):
            if not secret.text:
                continue
            # the password `postgres` is no part of `postgresql://`
            alone = r"(?<![^\W\d_])%s(?![^\W\d_])" if secret.text.isalpha() else "%s"
            text, number = re.subn(alone % re.escape(secret.text), "<secret>", text)
            counts[secret.kind] += number
            counts["<secret>"] += number
        return text


def _within(folder: str) -> Pattern:
    """Return the beginning of a path of a file in a folder."""
    return masked(PATHS.kind, rf"(?<![\w.~/-]){re.escape(folder)}/(?=[\w.])", "")


def written(values: Iterable[str]) -> list[str]:
    """List the ways in which texts may write these values, the longest first."""
    return sorted(set(chain.from_iterable(map(_to_find, values))), key=len, reverse=True)


def without(text: str, values: Iterable[str], shown: str) -> tuple[str, int]:
    """Replace each of these values by a mark, and count the replacements."""
    number = 0
    for value in values:
        found = text.count(value)
        if found:
            number += found
            text = text.replace(value, f"`{shown}`" if value.startswith("`") else shown)
    return text, number


def _to_find(value: str) -> Iterator[str]:
    """Yield the texts to search for: a value, also as `repr`, JSON, a URL and Base64 write it.

    A value that is also a common word only as sentences of reprocheck name it.
    """
    if not is_telling(value):
        yield f"`{value}`"
        return
    data = value.encode("utf-8", "surrogatepass")
    yield from (value, repr(value)[1:-1], json.dumps(value)[1:-1], quote(data, safe=""))
    yield b64encode(data).decode().rstrip("=")


def _replaced(text: str, pattern: Pattern, counts: Counter[str]) -> str:
    def shown(match: re.Match[str]) -> str:
        text_found = match.group(pattern.group)
        if not pattern.accepted(text_found):
            return match.group()
        counts[pattern.kind] += 1
        start, end = match.span(pattern.group)
        before, behind = text[match.start() : start], text[end : match.end()]
        return before + pattern.shown(text_found) + behind

    return pattern.regex.sub(shown, text)


def is_telling(value: str) -> bool:
    """Return whether a value is specific enough to be searched for in texts."""
    is_word = value.isalpha() and value.islower()
    is_mark = value.startswith("<")
    # one word in small letters has to be longer: `transformer` is a module's name, too
    least = 12 if is_word else 6
    return len(value) >= least and not is_mark and not value.isdigit()
