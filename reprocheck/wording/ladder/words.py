"""The names that sentences are made of."""

from __future__ import annotations

import re
from collections.abc import Sequence

from reprocheck import language
from reprocheck.language import changed, form, tr

_KEY = re.compile(r"jax \((.+:\d+)\)")
"""A generator that stands for the keys that one line makes."""


def code(name: str) -> str:
    """Return a name of the user's, set apart from the words around it."""
    return changed(name, "`{}`".format)


def module(path: str, class_: str = "") -> str:
    """`block.drop` (PrivateDropout); a module that has no path is the model itself."""
    name = code(path)
    if not path:
        name = tr("the model")
    if class_ in ("", path):
        return name
    return tr("{name} ({class_})", name=name, class_=class_)


def checkpoint(path: str) -> str:
    """Return a checkpoint by the module that it was loaded into."""
    return tr("the checkpoint loaded into {module}", module=module(path))


def listed(names: Sequence[str], most: int = 4) -> str:
    """Return `a, b and c`, the rest counted."""
    if not names:
        return ""
    if len(names) <= most:
        return language.listed(names)
    return language.listed([*names[:most], tr("{number} more", number=len(names) - most)])


def line(text: str) -> str:
    """`line 12 of train.py` from `train.py:12`."""
    file, _, where = text.rpartition(":")
    if not file:
        return text
    return tr("line {where} of {file}", where=where, file=file)


def generators(names: Sequence[str], kind: str = "") -> str:
    """Return `the torch generator`, `the torch and numpy generators`; with the kind "differing "
    `the differing torch generator`.
    """
    key = _KEY.fullmatch(names[0])
    if key and len(names) == 1:
        return tr("the {kind}jax key of {line}", kind=kind, line=line(key[1]))
    return form(
        len(names),
        "the {kind}{names} generator",
        "the {kind}{names} generators",
        kind=kind,
        names=listed(sorted(names)),
    )
