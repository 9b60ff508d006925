"""The values in a checkpoint, and which of them the resumed run loaded."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

OF_WEIGHTS = ("weights", "module")
"""Kinds of what holds weights in a file."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Frame:
    """A function of the user's that was executing.

    Its line (`file:line`), and the expression by which its code reaches each part of the training.
    """

    line: str
    names: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True, slots=True)
class Entry:
    """One value in a checkpoint.

    The subscripts that lead to it, its kind, and the part that it belongs to; of a number its
    value.
    """

    key: str
    kind: str
    name: object = ""
    file: str = ""

    @property
    def parts(self) -> frozenset[str]:
        """The names of the weights that the entry holds."""
        return frozenset(str(self.name).split(", "))


@dataclass(frozen=True, kw_only=True, slots=True)
class Load:
    """A part of the training that was given a loaded value.

    `key`: the key of the value in the checkpoint, "" if unknown.
    """

    part: str
    key: str
    line: str


@dataclass(frozen=True, kw_only=True, slots=True)
class Archive:
    """What a checkpoint holds, and what was loaded of it.

    saving   functions of the user's executing when the checkpoint was saved, from the innermost out
    reading  functions executing when the resumed run read the checkpoint
    training functions executing when the resumed run went on to train
    opened   the lines on which the resumed run opened files
    """

    entries: tuple[Entry, ...] = ()
    loads: tuple[Load, ...] = ()
    saving: tuple[Frame, ...] = ()
    reading: tuple[Frame, ...] = ()
    training: tuple[Frame, ...] = ()
    opened: Mapping[str, str] = field(default_factory=dict)

    @property
    def frames(self) -> tuple[Frame, ...]:
        """All functions that were under way."""
        return (*self.saving, *self.reading, *self.training)

    @property
    def files(self) -> tuple[str, ...]:
        """The files of these functions, each once."""
        return tuple(dict.fromkeys(frame.line.rpartition(":")[0] for frame in self.frames))

    @property
    def is_known(self) -> bool:
        """Return whether the parts of the checkpoint could be identified."""
        return any(entry.kind in ("optimizer", *OF_WEIGHTS) for entry in self.entries)

    def held(self, names: Iterable[str], *kinds: str) -> list[Entry]:
        """Return the entries that hold any of these parts, of these kinds."""
        wanted = set(names)
        return [one for one in self.entries if one.kind in kinds and wanted & one.parts]
