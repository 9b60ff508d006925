"""The names and the table of functions that sentences of the ladder are made with."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import singledispatch

from reprocheck.language import changed, mark, shortlist, spoken, tr
from reprocheck.language.letters import capital
from reprocheck.model.statement import Statement
from reprocheck.model.statements.difference import THE_MODEL, Culprit, Fact, FirstDifference
from reprocheck.wording.say import say

_KEY = re.compile(r"jax \((.+:\d+)\)")
"""A generator that stands for the keys that one line makes."""


def code(name: str) -> str:
    """Return a name from the user's code, in backticks."""
    return f"`{name}`"


def module(path: str, class_: str = "") -> str:
    """Return the name of a module: `block.drop` (PrivateDropout).

    Without a path it is the model itself.
    """
    name = code(path)
    if not path:
        name = "the model"
    if class_ in ("", path):
        return name
    return f"{name} ({class_})"


def subject(seen: Fact) -> str:
    """Return the name of a fact: of a call, its module with the class."""
    if seen.kind == "call":
        return module(seen.place, seen.class_)
    return code(seen.place)


def place(path: str) -> str:
    """Return the place of a rung."""
    if path == THE_MODEL:
        return "the model"
    return path


def checkpoint(path: str) -> str:
    """Return the name of a checkpoint: that of the module into which it was loaded."""
    return f"the checkpoint loaded into {module(path)}"


def fact(seen: Fact) -> str:
    """Return a fact in words, such as `a call of block.drop`."""
    name = code(seen.place)
    return {
        "call": f"a call of {module(seen.place, seen.class_)}",
        "batch": f"a batch of {name}",
        "epoch": f"an order of samples for {name}",
        "between": f"{name} before the loss",
        "root": "a backward pass",
        "loss": "a loss",
        "outgrad": f"a gradient of the output of {module(seen.place)}",
        "gradient": f"a gradient of {name}",
        "reduced": f"a gradient of {name} at the update",
        "update": f"an update of {name}",
        "hyper": f"an update by {name}",
        "weights": weight(seen),
        "seed": f"a seed for {name}",
        "fold": f"a number folded into the key of {name}",
        "load": f"a checkpoint for {module(seen.place)}",
    }.get(seen.kind, name)


def weight(seen: Fact) -> str:
    """Return the parameter `head.weight`, the buffer `norm.mean`."""
    if seen.buffer:
        return f"the buffer {code(seen.place)}"
    return f"the parameter {code(seen.place)}"


def runs(seen: Fact) -> tuple[int, int]:
    """Return the run that has a fact, and the run that does not."""
    if seen.only_in == 2:
        return 2, 1
    return 1, 2


def within(iteration: int | None) -> str:
    """Return the place in time: `In iteration 2`, or words for what comes before 1."""
    if not iteration:
        return tr("Before the first iteration")
    return tr("In iteration {iteration}", iteration=iteration)


def named(names: Sequence[str], most: int = 4) -> str:
    """Return `a`, `b` and `c`: names of the user's, the rest counted."""
    return shortlist(list(map(code, names)), most)


def number(value: object) -> str:
    """Return a value as text: nine digits for a float."""
    if isinstance(value, float):
        return f"{value:.9g}"
    return str(value)


def both(a: object, b: object, *, second: int = 2) -> str:
    """Return the values of both runs, with as many digits as it takes to tell them apart."""
    of_first, of_second = number(a), number(b)
    if of_first == of_second:
        of_first, of_second = repr(a), repr(b)
    return f"{of_first} in run 1 and {of_second} in run {second}"


def line(text: str) -> str:
    """Return `line 12 of train.py` for `train.py:12`."""
    file, _, where = text.rpartition(":")
    if not file:
        return text
    return tr("line {where} of {file}", where=where, file=file)


def at(text: str, before: str = mark(" at ")) -> str:
    """Return `line` with a preposition before it; "" if no line is known."""
    if not text:
        return ""
    return tr(before) + line(text)


def seeder(package: str, where: str) -> str:
    """Return who seeded a generator: `transformers` at line 3 of train.py, line 3 of train.py."""
    if package:
        return code(package) + at(where)
    return line(where) or tr("the script")


def generators(names: Sequence[str], kind: str = "") -> str:
    """Return `the torch generator`, `the torch and numpy generators`.

    With the kind "differing " `the differing torch generator`.
    """
    key = _KEY.fullmatch(names[0])
    if key and len(names) == 1:
        return f"the {kind}jax key of {line(key[1])}"
    noun = "generator" if len(names) == 1 else "generators"
    return f"the {kind}{shortlist(sorted(names))} {noun}"


def sentence(text: str) -> str:
    """Return a text with a capital letter and a full stop. A name in front keeps its letters."""
    text = capital(changed(text, str.strip))
    if not text or text.endswith((".", "?", "!", "。", "？", "！")):
        return text
    return tr("{sentence}.", sentence=text)


@dataclass(frozen=True, kw_only=True, slots=True)
class Said:
    """A difference in words.

    `detail` for its row of the ladder, `sentence` for the whole, `head` for the sentence without
    its part on the culprit.
    """

    detail: str
    sentence: str
    head: str = ""
    culprit: str | None = None


@singledispatch
def said_of(statement: Statement) -> Said:
    """Return what was found out of a rung in words."""
    if isinstance(statement, FirstDifference):
        raise TypeError(f"nothing says {type(statement).__name__}")
    detail = say(statement)
    return Said(detail=detail, sentence=detail)


@say.register
def detail_of(statement: FirstDifference) -> str:
    """Return the English text that the row of the ladder shows for a difference."""
    with spoken("en"):
        return said_of(statement).detail


@say.register
def made_by(culprit: Culprit) -> str:
    """Say which operation makes a difference, in English."""
    with spoken("en"):
        return said_of(culprit.difference).culprit or ""
