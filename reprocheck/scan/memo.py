"""Cache answers on the object that they are about, so that both are freed together."""

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
    """Return a function whose results are cached on its first argument.

    That is an order, a module or a node.

    `functools.cache` would keep these objects, and with each a tree, in memory.
    """

    @wraps(function)
    def asked(about: About, /, *more: More.args, **named: More.kwargs) -> Answer:
        answers: dict[Any, Answer] = vars(about).setdefault(KEPT, {})
        key = (function, *more, *named.items())
        if key not in answers:
            answers[key] = function(about, *more, **named)
        return answers[key]

    return asked
