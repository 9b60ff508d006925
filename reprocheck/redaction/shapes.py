"""Arguments, names and paths by their shape: what is left of a text that may not leave as it is."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from reprocheck.redaction.lists import KNOWN_OPTIONS, PLAIN, VOCABULARY

NUMBER = re.compile(r"[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d{1,3})?")
LONGEST_NUMBER = 12
"""Characters of a number that leaves in an argument: a seed, a rate, a size."""
_SUFFIX = re.compile(r"\.(?:py|ipynb|json|ya?ml|toml|csv|txt|pt|pth|bin|npz|npy|ckpt|h5|sh|cfg)$")
_OPTION = re.compile(r"(--?[A-Za-z][\w-]*)(?:(=)(.*))?", re.DOTALL)
_PAIR = re.compile(r"(\+{0,2}[A-Za-z_][\w.@/-]{0,64})(=)(.*)", re.DOTALL)
_SEPARATORS = re.compile(r"[._/\[\]() :-]+")
_SMALL = re.compile(r"\d{1,3}")


def arguments(command: Sequence[str], *, strict: bool) -> Iterator[tuple[str, str]]:
    """Each word of a command with what it is: `path`, `name`, `shown` (as it stands here) or
    `checked` (through the detector).
    """
    before = ""
    for index, word in enumerate(command):
        yield _argument(index, word, before, strict=strict)
        before = word


def _argument(index: int, word: str, before: str, *, strict: bool) -> tuple[str, str]:
    if index == 0 and "/" in word and not word.endswith((".py", ".ipynb")):
        return "checked", word.rpartition("/")[2]
    if before == "-m":
        return "name", word
    if word.endswith((".py", ".ipynb")) and "=" not in word:
        return "path", word
    for pattern in (_OPTION, _PAIR):
        found = pattern.fullmatch(word)
        if found and not NUMBER.fullmatch(word):
            return _option(found, strict=strict)
    return "checked", shape(word)


def _option(found: re.Match[str], *, strict: bool) -> tuple[str, str]:
    name, equals, value = found.groups()
    if strict and name not in KNOWN_OPTIONS:
        name = "--<option>"
    if equals is None:
        return "checked", name
    return "checked", f"{name}={shape(value)}"


def shape(text: str) -> str:
    """What is shown of an argument or a value.

    >>> shape("0.1"), shape("conf/big.yaml"), shape("alice")
    ('0.1', '<path>.yaml', '<text>')
    """
    if text.lower() in PLAIN or not text:
        return text
    if NUMBER.fullmatch(text) and len(text) <= LONGEST_NUMBER:
        return text
    if text.startswith("<") and text.endswith(">"):
        return text
    suffix = _SUFFIX.search(text)
    if suffix:
        return f"<path>{suffix.group()}"
    if "/" in text:
        return "<path>"
    return "<text>"


def suffix(path: str) -> str:
    """The suffix of a file, where it is a usual one."""
    found = _SUFFIX.search(path)
    if found is None:
        return ""
    return found.group()


def is_plain_name(name: str) -> bool:
    """Whether a name is made of words of the list, and of small numbers behind them: not more than
    two in a row, as an address has.
    """
    if name in VOCABULARY:
        return True
    parts = list(filter(None, _SEPARATORS.split(name)))
    numbers = [bool(_SMALL.fullmatch(part)) for part in parts]
    in_a_row = any(all(numbers[start : start + 3]) for start in range(len(numbers) - 2))
    words = [part.lower() for part in parts if not _SMALL.fullmatch(part)]
    return bool(words) and VOCABULARY.issuperset(words) and not in_a_row
