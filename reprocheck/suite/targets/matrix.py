"""The matrix of a target: `{lr}` in its values stands for each value of the axis `lr`."""

from __future__ import annotations

import itertools
import math
import re
from collections.abc import Iterable, Iterator, Mapping

from reprocheck.errors import SettingsError
from reprocheck.settings import nearest
from reprocheck.suite.targets.values import TABLE, as_text, read

LARGEST = 1000
"""Targets that one matrix may make."""
_PLACEHOLDER = re.compile(r"\{\{(?P<literal>\w+)\}\}|(?<!\$)\{(?P<axis>[A-Za-z_]\w*)\}")
"""`{lr}`; `{{lr}}` stands for the text `{lr}`, and `${HOME}` is left to the shell."""
_AXIS = re.compile(r"[A-Za-z_]\w*")

Axes = Mapping[str, tuple[str, ...]]


def axes(value: object, place: str) -> Axes:
    """Return the axes of a matrix with their values as text. Raises SettingsError."""
    found = {
        axis: _values(axis, given, place)
        for axis, given in read(TABLE, "matrix", value, place).items()
    }
    size = math.prod(len(values) for values in found.values())
    if size > LARGEST:
        raise SettingsError(
            f"{place}: the matrix makes {size:,} targets, more than {LARGEST:,}.",
            "Take values out of it, or split the target into several.",
        )
    return found


def _values(axis: str, given: object, place: str) -> tuple[str, ...]:
    if not _AXIS.fullmatch(axis):
        raise SettingsError(
            f"{place}: matrix.{axis} cannot be an axis.",
            "Its name has letters, digits and underscores, so that {name} can stand for it.",
        )
    if not isinstance(given, list) or not given:
        raise SettingsError(
            f"{place}: matrix.{axis} = {given} is not a list of values.",
            f"Write it as {axis} = [1, 2].",
        )
    try:
        values = tuple(as_text(one) for one in given)
    except ValueError:
        raise SettingsError(
            f"{place}: matrix.{axis} holds something else than text and numbers.",
            "An axis takes texts, numbers, true and false.",
        ) from None
    twice = next((value for value in values if values.count(value) > 1), None)
    if twice is not None:
        raise SettingsError(
            f"{place}: matrix.{axis} holds {twice} twice.", "Remove one of the two."
        )
    return values


def combinations(of: Axes) -> Iterator[dict[str, str]]:
    """Yield each choice of one value per axis; one empty choice if there is no axis."""
    for chosen in itertools.product(*of.values()):
        yield dict(zip(of, chosen, strict=True))


def check_placeholders(texts: Iterable[str], of: Axes, place: str) -> None:
    """Check that every placeholder has an axis, and every axis is used. Raises SettingsError."""
    used = {found["axis"] for text in texts for found in _PLACEHOLDER.finditer(text)} - {None}
    for name in sorted(used - set(of)):
        meant = nearest(name, of)
        question = f"Did you mean {{{meant}}}? " if meant else ""
        raise SettingsError(
            f"{place}: {{{name}}} has no axis in the matrix.",
            f"{question}Add `matrix = {{ {name} = [...] }}`, or write {{{{{name}}}}} for the text"
            f" {{{name}}} itself.",
        )
    for axis in sorted(set(of) - used):
        raise SettingsError(
            f"{place}: nothing uses the axis {axis}, so all its values give the same training.",
            f"Write {{{axis}}} in run, environment or an option, or remove the axis.",
        )


def fill(text: str, values: Mapping[str, str]) -> str:
    """Replace each placeholder in a text by the value of its axis."""

    def one(found: re.Match[str]) -> str:
        if found["literal"] is not None:
            return f"{{{found['literal']}}}"
        return values[found["axis"]]

    return _PLACEHOLDER.sub(one, text)
