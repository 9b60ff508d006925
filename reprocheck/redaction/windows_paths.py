"""Paths of Windows, which logs and configurations that were made there bring along."""

from __future__ import annotations

import re

from reprocheck.redaction.patterns import Pattern

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
