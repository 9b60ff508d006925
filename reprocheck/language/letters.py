"""Choose the first letter of a sentence.

A name of code or of a product keeps its own, wherever it stands.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from reprocheck.language import changed


def capital(text: str) -> str:
    """Return a text with a capital letter, unless it begins with a name: `torch.rand`, `cuDNN`."""
    return changed(text, partial(_with_first, str.upper), str)


def small(text: str) -> str:
    """Return a text with a small letter, unless it begins with a name: `XLA`, `TensorFlow`."""
    return changed(text, partial(_with_first, str.lower), str)


def clause(sentence: str) -> str:
    """Return a sentence as a part of another: with a small letter, and without its full stop."""
    return changed(small(sentence), _open)


def unended(sentence: str) -> str:
    """Return a sentence without its full stop."""
    return changed(sentence, _open)


def _with_first(change: Callable[[str], str], text: str) -> str:
    first_word = text.partition(" ")[0].rstrip(".,:;").removesuffix("'s")
    if _is_name(first_word):
        return text
    return change(text[:1]) + text[1:]


def _open(text: str) -> str:
    return text.rstrip(".。")


def _is_name(word: str) -> bool:
    """Return whether a word is a name.

    It has capitals behind its first letter, or signs and digits that words do not have.
    """
    plain = word.replace("-", "").replace("'", "")
    return bool(plain) and not (plain.isalpha() and plain[1:] == plain[1:].lower())
