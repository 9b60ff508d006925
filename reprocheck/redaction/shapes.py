"""Arguments, names and paths by their shape: what is left of a text that may not leave as it is."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from reprocheck.redaction.lists import LISTS
from reprocheck.redaction.patterns import Pattern

NUMBER = re.compile(r"[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d{1,3})?")
LONGEST_NUMBER = 12
"""Characters of a number that leaves in an argument: a seed, a rate, a size."""
_SUFFIX = re.compile(r"\.(?:py|ipynb|json|ya?ml|toml|csv|txt|pt|pth|bin|npz|npy|ckpt|h5|sh|cfg)$")
_MARK = re.compile(r"<[a-z]+>(?:\.\w+)?")
PLACEHOLDER = re.compile(r"(\{checkpoint\}|\{iteration\})")
"""What `--resume-with` fills in: it says nothing of anybody, and the command runs with it alone."""
_SCRIPTS = (".py", ".ipynb", ".sh")
_ASSIGNED = re.compile(r"(?P<name>[+~]{0,2}[A-Za-z_][\w.@/-]{0,64})=(?P<value>[^=].*)", re.DOTALL)
_FORMS = (
    re.compile(r"(?P<name>--[A-Za-z][\w.-]*)(?:[=:](?P<value>.*))?", re.DOTALL),
    re.compile(r"(?P<name>-[A-Za-z])[=:]?(?P<value>.*)", re.DOTALL),
    _ASSIGNED,
)
"""`--name`, `--name=value`, `--name:value`; `-n`, `-nVALUE`, `-n=value`; `name=value`, and as Hydra
has it `+name=value`, `~name=value`. Of an option with one dash one letter is its name.
"""
_VERSION = re.compile(
    r"\d{1,6}(?:\.\d{1,6}){0,2}(?:\.?(?:a|b|rc|dev|post)\d{0,8})?(?:\+(?:cpu|cu\d{2,4}|rocm[\d.]{1,6}))?"
)
_AMOUNT = re.compile(r"\d{1,4}(?:\.\d{1,3})?(?:[gm]i?b|[gm]hz)|[a-z]?\d{1,5}[a-z]{0,2}\+?")
"""`80GB`, and numbers of models: `8480C`, `7763`, `i7`."""
_BETWEEN = re.compile(r"[^A-Za-z0-9.+]+|\+(?=\W|$)|\.(?=\W|$)|(?<=[a-z])\.(?=[a-z])")
_COMMIT = re.compile(r"[0-9a-f]{7,64}(?:\+[0-9a-f]{0,4})?")
_OF_NVIDIA = re.compile(r"nvidia-[a-z]{2,12}(?:-[a-z]{2,12}){0,2}(?:-cu\d{2})?")
_OF_FOUR_PARTS = re.compile(r"(\d{1,3})(?:\.\d{1,3}){3}")
LEAST_OF_ADDRESS = 10
"""Networks begin at so much: `10.…` and `172.…` are the usual ones; versions of packages are
smaller.
"""
_SEPARATORS = re.compile(r"[._/\[\]() :-]+")
_SMALL = re.compile(r"\d{1,3}")


@dataclass(frozen=True, kw_only=True, slots=True)
class Word:
    """A word of a command: the name of an option with what stands behind it, and the value.

    value   `path` of the script, `name` of its module, `text` for all else
    """

    option: str = ""
    between: str = ""
    value: str = ""
    kind: Literal["path", "name", "text"] = "text"


def words_of(command: Sequence[str], *, started: bool = False) -> Iterator[Word]:
    """Split each word of a command into the option that it names and the value.

    `started`: of the words behind its script.
    """
    before = ""
    for index, text in enumerate(command):
        word = _word(text, before, first=index == 0 and not started, started=started)
        is_program = word.kind == "path" and not text.endswith(_SCRIPTS)
        started = started or not (
            word.kind == "text" or is_program or word.value in LISTS.launchers
        )
        before = text
        yield word


def _word(text: str, before: str, *, first: bool, started: bool) -> Word:
    """Parse one word of a command.

    `started`: the script or module comes before it, so that it is an argument of the script.
    """
    if any(map(str.isspace, text)):  # a command of `bash -c`, or text
        return Word(value=text)
    if before == "-m" and not started:
        return Word(value=text, kind="name")
    if text.endswith(_SCRIPTS) and not started and not text.startswith("-") and "=" not in text:
        return Word(value=text, kind="path")
    if first and not _ASSIGNED.fullmatch(text):
        return Word(value=text.rpartition("/")[2], kind="path")
    if text in LISTS.options:
        return Word(option=text)
    form_match = next(filter(None, (form.fullmatch(text) for form in _FORMS)), None)
    if form_match is None or NUMBER.fullmatch(text):
        return Word(value=text)
    option, value = form_match["name"], form_match["value"] or ""
    kind: Literal["name", "text"] = "text"
    if option == "-m" and value and not started:
        kind = "name"
    between = text[len(option) : len(text) - len(value)]
    return Word(option=option, between=between, value=value, kind=kind)


def values_of(command: Sequence[str]) -> Iterator[str]:
    """List what a command gives the training as text: values, not options, names or numbers."""
    for word in words_of(command):
        if word.kind != "text" or shape(word.value) not in ("<text>", "<path>"):
            continue
        yield word.value
        try:
            inner = shlex.split(word.value)
        except ValueError:  # a quotation mark without another: no command
            inner = word.value.split()
        if inner != [word.value]:  # a command of `bash -c`, or quoted
            yield from values_of(inner)


def shape(text: str) -> str:
    """Return what is shown of an argument or a value.

    >>> shape("0.1"), shape("conf/big.yaml"), shape("alice")
    ('0.1', '<path>.yaml', '<text>')
    """
    if text.lower() in LISTS.arguments or not text:
        return text
    if NUMBER.fullmatch(text) and len(text) <= LONGEST_NUMBER:
        return text
    if _MARK.fullmatch(text):
        return text
    if any(map(str.isspace, text)):
        return "<text>"
    parts = PLACEHOLDER.split(text)
    if len(parts) > 1:
        return "".join(map(shape, parts))
    suffix = _SUFFIX.search(text)
    if suffix:
        return f"<path>{suffix.group()}"
    if "/" in text:
        return "<path>"
    return "<text>"


def suffix(path: str) -> str:
    """Return the suffix of a file, if it is a common one."""
    match = _SUFFIX.search(path)
    if match is None:
        return ""
    return match.group()


def is_plain_name(name: str) -> bool:
    """Return whether a name is made of known words, and of small numbers behind them.

    Not more than two numbers in a row, as an address has.
    """
    if name in LISTS.in_names:
        return True
    parts = list(filter(None, _SEPARATORS.split(name)))
    numbers = [bool(_SMALL.fullmatch(part)) for part in parts]
    in_a_row = any(all(numbers[start : start + 3]) for start in range(len(numbers) - 2))
    words = [part.lower() for part in parts if not _SMALL.fullmatch(part)]
    return bool(words) and LISTS.in_names.issuperset(words) and not in_a_row


def is_plain_fact(text: str) -> bool:
    """Return whether a fact of the environment is made of words of a list, numbers and versions.

    >>> is_plain_fact("NVIDIA H100 80GB HBM3"), is_plain_fact("2.13.0+acme")
    (True, False)
    """
    pieces = filter(None, _BETWEEN.split(text.lower()))
    return all(
        piece in LISTS.in_facts or _VERSION.fullmatch(piece) or _AMOUNT.fullmatch(piece)
        for piece in pieces
    )


def is_commit(key: str, value: object) -> bool:
    """Return whether a fact is the hash of a commit or a build, which are public or harmless."""
    names_one = key.endswith(("commit", ".git_version", ".build"))
    return names_one and isinstance(value, str) and _COMMIT.fullmatch(value) is not None


def is_version_of(package: str, text: str) -> bool:
    """Return whether four numbers are the version of a package, and no address.

    >>> is_version_of("grobid", "0.11.0.1"), is_version_of("acme", "10.23.13.197")
    (True, False)
    """
    match = _OF_FOUR_PARTS.fullmatch(text)
    if match is None:
        return False
    return int(match.group(1)) < LEAST_OF_ADDRESS or bool(_OF_NVIDIA.fullmatch(package))


def is_known_package(name: str) -> bool:
    """Return whether a package may be named in `strict`."""
    return name in LISTS.packages or _OF_NVIDIA.fullmatch(name) is not None


_SEPARATOR = r"(?:\\{1,4}|/)"
_WORD = r"[\w.@+=,~$()-]+"
_FOLDER = rf"{_WORD}(?: {_WORD}){{0,2}}{_SEPARATOR}"
_OF_A_DRIVE = rf"(?<!\w)[A-Z]:{_SEPARATOR}(?=\w{{2}})(?:{_FOLDER})+"
_OF_A_USER = rf"(?<!\w)[a-z]:{_SEPARATOR}(?i:users){_SEPARATOR}(?:{_FOLDER})*"
_NAME = r"[\w.$-]{3,}"
_OF_A_SHARE = (
    rf"(?<![\w\\])(?:\\\\{_NAME}\\(?!\\)|\\{{4}}{_NAME}\\\\(?!\\)){_NAME}{_SEPARATOR}(?:{_FOLDER})*"
)
_SYSTEM = re.compile(rf"(?i)[a-z]:{_SEPARATOR}(?:windows|program files(?: \(x86\))?){_SEPARATOR}")
_HOME = re.compile(rf"(?i)[a-z]:{_SEPARATOR}users{_SEPARATOR}[^\\/]+")
_LIBRARY = re.compile(rf"(?i).*{_SEPARATOR}site-packages(?={_SEPARATOR})")


def place(path: str) -> str:
    r"""Return a path without the folders of this machine, as `patterns.place` shows others.

    >>> print(place(r"C:\Users\jdoe\falcon\train.py"), place(r"D:\acme\train.bin"))
    ~\falcon\train.py <path>\train.bin
    """
    for pattern, shown in ((_LIBRARY, "<python>"), (_HOME, "~")):
        known = pattern.match(path)
        if known is not None:
            return shown + path[known.end() :]
    separator, name = re.findall(rf"({_SEPARATOR})([^\\/]*)$", path)[-1]
    return f"<path>{separator}{name}"


WINDOWS_PATHS = Pattern(
    kind="folder of the machine",
    regex=re.compile(rf"(?:{_OF_A_DRIVE}|{_OF_A_USER}|{_OF_A_SHARE})(?:{_WORD})?"),
    shown=place,
    accepted=lambda found: not _SYSTEM.match(found) or _LIBRARY.match(found) is not None,
)
