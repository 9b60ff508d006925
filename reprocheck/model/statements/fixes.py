"""What is to be done about a cause, where that is more than code to paste."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from reprocheck.model.statement import Statement
from reprocheck.model.statements.given import Given


@dataclass(frozen=True, kw_only=True, slots=True)
class CatalogueFix(Statement):
    """The fix of an entry of the catalogue for the first of these frameworks and devices that has
    one of its own, else for all.
    """

    code: str
    keys: tuple[str, ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class ControlFix(Statement):
    """What does in the script what a control does from outside, for a framework or a device."""

    control: str
    key: str


@dataclass(frozen=True, kw_only=True, slots=True)
class InNames(Statement):
    """A fix with the names under which a script imports modules: (module, name)."""

    fix: Statement | str
    names: tuple[tuple[str, str], ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class Parts(Statement):
    """Code and statements, one behind another."""

    parts: tuple[Statement | str, ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class LeftInFolder(Statement):
    """How many files and new folders the runs left, where these are too many to be named."""

    files: int
    folders: int


@dataclass(frozen=True, kw_only=True, slots=True)
class AtLines(Statement):
    """What to do in other lines than that of the cause: (`file:line`, the fix)."""

    fixes: tuple[tuple[str, str], ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class SeedCall(Statement):
    """Where a call (`call`) needs a seed that cannot be written for the user.

    kind  it makes a generator over and over; it is a method of what has got a generator elsewhere
          (`owner`); it makes a generator
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
    """Something is to be given to all runs alike."""

    given: Given


@dataclass(frozen=True, kw_only=True, slots=True)
class FixValue(Statement):
    """A value is to be fixed: in the command in place of something (`by`), or in a line of a file,
    written as `fixed`.
    """

    by: str
    file: str = ""
    line: int = 0
    fixed: str = ""
