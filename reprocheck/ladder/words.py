"""The names that sentences of the ladder are made of."""

from __future__ import annotations

import re
from collections.abc import Sequence, Sized

from reprocheck.ladder.align import Step
from reprocheck.model.letters import capital
from reprocheck.trace.deep import Seen

_KEY = re.compile(r"jax \((.+:\d+)\)")
"""A generator that stands for the keys that one line makes."""


def code(name: str) -> str:
    """A name of the user's, set apart from the words around it."""
    return f"`{name}`"


def module(path: str, class_: str = "") -> str:
    """`block.drop` (PrivateDropout); a module that has no path is the model itself."""
    name = code(path)
    if not path:
        name = "the model"
    if class_ in ("", path):
        return name
    return f"{name} ({class_})"


def place(path: str, class_: str = "") -> str:
    """The place of a rung: the path of a module; the class where it is the model itself, which has
    none.
    """
    return path or class_ or "the model"


def checkpoint(path: str) -> str:
    """A checkpoint by the module that it was loaded into."""
    return f"the checkpoint loaded into {module(path)}"


def fact(seen: Seen) -> str:
    """A fact in words, such as `a call of block.drop`."""
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


def weight(seen: Seen) -> str:
    """the parameter `head.weight`, the buffer `norm.mean`."""
    kind = {True: "buffer", False: "parameter"}[seen.buffer]
    return f"the {kind} {code(seen.place)}"


def runs(step: Step) -> tuple[int, int]:
    """The run that has a fact, and the run that does not."""
    if step.first is None:
        return 2, 1
    return 1, 2


def within(iteration: int | None) -> str:
    """`In iteration 2`, or before it."""
    if not iteration:
        return "Before the first iteration"
    return f"In iteration {iteration}"


def plural(count: int, noun: str, nouns: str = "") -> str:
    """`1 parameter`, `3 parameters`, `2 batches`."""
    if count == 1:
        return f"1 {noun}"
    return f"{count} {nouns or noun + 's'}"


def agreeing(names: Sized, one: str, several: str) -> str:
    """The form of a word that goes with so many names: `differs`, `differ`."""
    if len(names) == 1:
        return one
    return several


def listed(names: Sequence[str], most: int = 4) -> str:
    """`a, b and c`, the rest counted."""
    *shown, last = [*names[:most], ""]
    if len(names) > most:
        last = f"{len(names) - most} more"
    elif shown:
        last = shown.pop()
    return f"{', '.join(shown)} and {last}" if shown else last


def named(names: Sequence[str], most: int = 4) -> str:
    """`a`, `b` and `c`: names of the user's, the rest counted."""
    return listed(list(map(code, names)), most)


def number(value: object) -> str:
    """A value as it is shown: nine digits for a float."""
    if isinstance(value, float):
        return f"{value:.9g}"
    return str(value)


def both(a: object, b: object, *, second: int = 2) -> str:
    """The values of both runs, with as many digits as it takes to tell them apart."""
    one, other = number(a), number(b)
    if one == other:
        one, other = repr(a), repr(b)
    return f"{one} in run 1 and {other} in run {second}"


def line(text: str) -> str:
    """`line 12 of train.py` from `train.py:12`."""
    file, _, where = text.rpartition(":")
    if not file:
        return text
    return f"line {where} of {file}"


def at(text: str, before: str = " at ") -> str:
    """`line`, with the word that goes before it; "" where no line is known."""
    if not text:
        return ""
    return f"{before}{line(text)}"


def seeder(package: str, where: str) -> str:
    """Who seeded a generator: `transformers` at line 3 of train.py, line 3 of train.py."""
    if package:
        return f"`{package}`{at(where)}"
    return line(where) or "the script"


def generators(names: Sequence[str], kind: str = "") -> str:
    """`the torch generator`, `the torch and numpy generators`; with a kind `the differing torch
    generator`.
    """
    the = f"the {kind}".rstrip()
    key = _KEY.fullmatch(names[0])
    if key and len(names) == 1:
        return f"{the} jax key of {line(key[1])}"
    return f"{the} {listed(sorted(names))} {agreeing(names, 'generator', 'generators')}"


def sentence(text: str) -> str:
    """With a capital letter and a full stop. A name in front keeps its letters."""
    text = capital(text.strip())
    if not text or text.endswith((".", "?", "!")):
        return text
    return f"{text}."
