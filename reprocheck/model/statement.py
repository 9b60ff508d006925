"""What a part of the check has found out, before anybody has said it."""

from __future__ import annotations


class Statement:
    """Base of the frozen classes that hold findings as values.

    `reprocheck.wording` has one function for each subclass, which puts the finding into a sentence.
    """

    __slots__ = ()
