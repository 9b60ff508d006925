"""What a part of the check has found out, before anybody has said it."""

from __future__ import annotations


class Statement:
    """Base of the frozen classes that hold what was found out, as values.

    `reprocheck.wording` has one function for each subclass, which says it in a sentence.
    """

    __slots__ = ()
