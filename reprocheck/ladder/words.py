"""The names that sentences of the ladder are made of."""

from __future__ import annotations

from collections.abc import Sequence, Sized

from reprocheck import language
from reprocheck.ladder.align import Step
from reprocheck.language import changed, mark, tr
from reprocheck.model.letters import capital
from reprocheck.trace.deep import Seen
from reprocheck.wording.ladder.words import (
    checkpoint as checkpoint,
    code as code,
    generators as generators,
    line as line,
    listed as listed,
    module as module,
)


def place(path: str, class_: str = "") -> str:
    """Return the place of a rung: the path of a module; the class where it is the model itself,
    which has none.
    """
    return path or class_ or tr("the model")


def fact(seen: Seen) -> str:
    """Return a fact in words, such as `a call of block.drop`."""
    name = code(seen.place)
    return {
        "call": tr("a call of {place}", place=module(seen.place, seen.class_)),
        "batch": tr("a batch of {name}", name=name),
        "epoch": tr("an order of samples for {name}", name=name),
        "between": tr("{name} before the loss", name=name),
        "root": tr("a backward pass"),
        "loss": tr("a loss"),
        "outgrad": tr("a gradient of the output of {place}", place=module(seen.place)),
        "gradient": tr("a gradient of {name}", name=name),
        "reduced": tr("a gradient of {name} at the update", name=name),
        "update": tr("an update of {name}", name=name),
        "hyper": tr("an update by {name}", name=name),
        "weights": weight(seen),
        "seed": tr("a seed for {name}", name=name),
        "fold": tr("a number folded into the key of {name}", name=name),
        "load": tr("a checkpoint for {place}", place=module(seen.place)),
    }.get(seen.kind, name)


def weight(seen: Seen) -> str:
    """Return the parameter `head.weight`, the buffer `norm.mean`."""
    if seen.buffer:
        return tr("the buffer {place}", place=code(seen.place))
    return tr("the parameter {place}", place=code(seen.place))


def runs(step: Step) -> tuple[int, int]:
    """Return the run that has a fact, and the run that does not."""
    if step.first is None:
        return 2, 1
    return 1, 2


def within(iteration: int | None) -> str:
    """Return `In iteration 2`, or the words for what comes before it."""
    if not iteration:
        return tr("Before the first iteration")
    return tr("In iteration {iteration}", iteration=iteration)


def agreeing(names: Sized, one: str, several: str) -> str:
    """Return the form of a word that goes with so many names: `differs`, `differ`."""
    return language.form(len(names), one, several)


def named(names: Sequence[str], most: int = 4) -> str:
    """Return `a`, `b` and `c`: names of the user's, the rest counted."""
    return listed(list(map(code, names)), most)


def number(value: object) -> str:
    """Return a value as it is shown: nine digits for a float."""
    if isinstance(value, float):
        return f"{value:.9g}"
    return str(value)


def both(a: object, b: object, *, second: int = 2) -> str:
    """Return the values of both runs, with as many digits as it takes to tell them apart."""
    one, other = number(a), number(b)
    if one == other:
        one, other = repr(a), repr(b)
    return tr("{one} in run 1 and {other} in run {second}", one=one, other=other, second=second)


def at(text: str, before: str = mark(" at ")) -> str:
    """`line`, with the word that goes before it; "" where no line is known."""
    if not text:
        return ""
    return tr(before) + line(text)


def seeder(package: str, where: str) -> str:
    """Return who seeded a generator: `transformers` at line 3 of train.py, line 3 of train.py."""
    if package:
        return code(package) + at(where)
    return line(where) or tr("the script")


def sentence(text: str) -> str:
    """Return a text with a capital letter and a full stop. A name in front keeps its letters."""
    text = capital(changed(text, str.strip))
    if not text or text.endswith((".", "?", "!", "。", "？", "！")):
        return text
    return tr("{sentence}.", sentence=text)
