"""Answers that are kept with what was asked about, and go when that goes."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any, Concatenate, ParamSpec, TypeVar

About = TypeVar("About")
More = ParamSpec("More")
Answer = TypeVar("Answer")

KEPT = "_kept"
"""The attribute that holds the answers."""


def kept(
    function: Callable[Concatenate[About, More], Answer],
) -> Callable[Concatenate[About, More], Answer]:
    """Return a function of an order, a module or a node, which is asked again and again: each
    answer is kept with that object.

    A cache of the function itself would hold the last objects that it was asked about, each with a
    tree.
    """

    @wraps(function)
    def asked(about: About, /, *more: More.args, **named: More.kwargs) -> Answer:
        answers: dict[Any, Answer] = vars(about).setdefault(KEPT, {})
        key = (function, *more, *named.items())
        if key not in answers:
            answers[key] = function(about, *more, **named)
        return answers[key]

    return asked
