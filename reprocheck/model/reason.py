"""Why a search makes runs, as data: `wording.search` says it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

ReasonKey = Literal[
    "a cause speaks for it",
    "a line speaks for it",
    "the ladder speaks for it",
    "suspects together",
    "patches together",
    "next difference",
    "all harmless",
    "harmless and patches",
    "altering, too",
    "without",
    "alone",
    "a part of it",
    "not at a place",
    "without silent",
    "fails alone",
    "which fails",
    "without failing",
    "another value",
    "free names",
    "suffices",
    "more runs",
    "how often",
    "intermittent",
    "no chance",
    "patch",
]


@dataclass(frozen=True, kw_only=True, slots=True)
class Reason:
    """Why runs are made under a set of controls and patches.

    names   the controls or patches that the reason is about
    code    the code of the cause that a control would remove
    place   the place in the code at which a control does not act
    runs    how many further runs are made
    """

    key: ReasonKey
    names: tuple[str, ...] = ()
    code: str = ""
    place: str = ""
    runs: int = 0
