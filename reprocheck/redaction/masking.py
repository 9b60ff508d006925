"""The masking of a report folder: names of home, user and host, and secrets of known names and
forms, as the recorder masks them, too.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

from reprocheck.child.reprocheck_child.shared.masking import mask
from reprocheck.child.reprocheck_child.shared.redaction import Redactor

SECRETS = "secret or address (masked)"


class Masking:
    """Masks texts for one report folder, and counts the secrets and addresses in them.

    identity   home folder, user name and host name
    known      values that are masked wherever they stand
    """

    def __init__(self, identity: tuple[str, str, str], known: Iterable[str] = ()) -> None:
        self._identity = identity
        self._redactor = Redactor(known)

    @property
    def counts(self) -> Counter[str]:
        """Return how many were masked so far."""
        return +Counter({SECRETS: self._redactor.count})

    def masked(self, text: str) -> str:
        """Mask a text; its lines keep their number."""
        return self._redactor.text(mask(text, *self._identity))

    def path(self, path: str) -> str:
        """Mask only names and tokens in a path."""
        return self._redactor.path(mask(path, *self._identity))

    def arguments(self, words: Sequence[str]) -> tuple[str, ...]:
        """Mask the words of a command, including any value after an option whose name suggests a
        secret.
        """
        return tuple(self._redactor.arguments(mask(word, *self._identity) for word in words))

    def source(self, text: str, *, python: bool) -> str:
        """Mask source code; that of Python can be parsed afterwards as before."""
        if not python:
            return self.masked(text)
        return self._redactor.source(mask(text, *self._identity))
