"""Names and sentences of the ladder."""

from __future__ import annotations

import re
from collections.abc import Sequence

from reprocheck.model.letters import capital
from reprocheck.trace.deep import Seen

_KEY = re.compile(r"jax \((.+:\d+)\)")
"""A generator that stands for the keys that one line makes."""


def code(name: str) -> str:
    """A name of the user's, set apart from the words around it."""
    return f"`{name}`"


def module(path: str, class_: str = "") -> str:
    """`block.drop` (PrivateDropout); a module that has no path is the model itself."""
    if not path:
        return f"the model ({class_})" if class_ else "the model"
    return f"{code(path)} ({class_})" if class_ and class_ != path else code(path)


def place(path: str, class_: str = "") -> str:
    """The place of a rung: the path of a module; the class where it is the model itself, which has
    none.
    """
    return path or class_ or "the model"


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
        "weights": f"the {'buffer' if seen.buffer else 'parameter'} {name}",
        "seed": f"a seed for {name}",
        "fold": f"a number folded into the key of {name}",
        "load": f"a checkpoint for {module(seen.place)}",
    }.get(seen.kind, name)


def within(iteration: int | None) -> str:
    """`In iteration 2`, or before it."""
    return f"In iteration {iteration}" if iteration else "Before the first iteration"


def plural(count: int, noun: str, nouns: str = "") -> str:
    """`1 parameter`, `3 parameters`, `2 batches`."""
    return f"{count} {noun}" if count == 1 else f"{count} {nouns or noun + 's'}"


def listed(names: Sequence[str], most: int = 4) -> str:
    """`a, b and c`, the rest counted."""
    shown = [*names[:most], *([f"{len(names) - most} more"] if len(names) > most else [])]
    if len(shown) < 2:
        return "".join(shown)
    return f"{', '.join(shown[:-1])} and {shown[-1]}"


def number(value: object) -> str:
    """A value as it is shown: nine digits for a float."""
    return f"{value:.9g}" if isinstance(value, float) else str(value)


def both(a: object, b: object) -> str:
    """The values of both runs, with as many digits as it takes to tell them apart."""
    one, other = number(a), number(b)
    if one == other:
        one, other = repr(a), repr(b)
    return f"{one} in run 1 and {other} in run 2"


def line(text: str) -> str:
    """`line 12 of train.py` from `train.py:12`."""
    file, _, where = text.rpartition(":")
    return f"line {where} of {file}" if file else text


def generators(names: Sequence[str], kind: str = "") -> str:
    """`the torch generator`, `the torch and numpy generators`; with a kind `the differing torch
    generator`.
    """
    the = f"the {kind}".rstrip()
    if len(names) == 1 and (key := _KEY.fullmatch(names[0])):
        return f"{the} jax key of {line(key[1])}"
    return f"{the} {listed(sorted(names))} generator{'s' if len(names) > 1 else ''}"


def sentence(text: str) -> str:
    """With a capital letter and a full stop. A name in front keeps its letters."""
    text = text.strip()
    end = "" if not text or text.endswith((".", "?", "!")) else "."
    return f"{capital(text)}{end}"
