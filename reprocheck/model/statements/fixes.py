"""What is to be done about a cause, where that is more than code to paste."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from reprocheck.model.statement import Statement
from reprocheck.model.statements.inputs import Given


@dataclass(frozen=True, kw_only=True, slots=True)
class CatalogueFix(Statement):
    """The fix of a catalogue entry, for the first framework and device with a fix of its own.

    Else the general fix.
    """

    code: str
    keys: tuple[str, ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class ControlFix(Statement):
    """The change of the script that has the effect of a control, for a framework or a device."""

    control: str
    key: str


@dataclass(frozen=True, kw_only=True, slots=True)
class InNames(Statement):
    """A fix with the names under which a script imports modules: (module, name)."""

    fix: Statement | str
    names: tuple[tuple[str, str], ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class Parts(Statement):
    """A sequence of code and statements."""

    parts: tuple[Statement | str, ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class LeftInFolder(Statement):
    """How many files and new folders the runs left, if they are too many to be named."""

    files: int
    folders: int


@dataclass(frozen=True, kw_only=True, slots=True)
class AtLines(Statement):
    """The changes in lines other than that of the cause, as pairs (`file:line`, fix)."""

    fixes: tuple[tuple[str, str], ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class SeedCall(Statement):
    """A call (`call`) needs a seed that reprocheck cannot write for the user.

    kind  the call makes generators repeatedly; the call is a method of an object (`owner`) that got
          its generator elsewhere; the call makes one generator
    """

    kind: Literal["each time", "where its owner is made", "by an argument"]
    call: str = ""
    owner: str = ""


@dataclass(frozen=True, kw_only=True, slots=True)
class KeepOrder(Statement):
    """A call keeps its rows in order if an argument is true."""

    argument: str


@dataclass(frozen=True, kw_only=True, slots=True)
class GiveAlike(Statement):
    """All runs are to be given the same argument, variable or file."""

    given: Given


@dataclass(frozen=True, kw_only=True, slots=True)
class FixValue(Statement):
    """A value that is to be fixed.

    In the command, in place of something (`by`), or in a line of a file, written as `fixed`.
    """

    by: str
    file: str = ""
    line: int = 0
    fixed: str = ""
