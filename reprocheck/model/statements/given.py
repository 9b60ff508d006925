"""What the runs were given: environment, arguments, variables, files, and source."""

from __future__ import annotations

from dataclasses import dataclass

from reprocheck.model.compared import SourceDifference
from reprocheck.model.evidence import FromOutside
from reprocheck.model.statement import Statement
from reprocheck.model.statements.difference import FirstDifference
from reprocheck.model.verdict import EnvironmentDifference

BY_NUMBER = "argument "
"""The name of an argument that has none begins so."""


@dataclass(frozen=True, kw_only=True, slots=True)
class FileState:
    """What distinguishes a file from that of the other run: the size, else the hash and the time of
    the last change, if known.
    """

    size: int
    hash: str = ""
    time: float | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class Given(Statement):
    """An argument, variable or file that differs between the runs.

    first, second: None if that run was not given it. names_the_run: the value only says how the run
    is called or where its results go, which changes no number by itself. made: a file that a
    program of each run makes anew. line: the user's line, `file:line`, that opened the file,
    `written`: the line that wrote the file; "" if unknown.
    """

    kind: FromOutside
    name: str
    first: str | FileState | None
    second: str | FileState | None
    names_the_run: bool = False
    made: bool = False
    line: str = ""
    written: str = ""

    @property
    def of_one_run(self) -> bool:
        """Return whether only one of the runs was given the argument, variable or file."""
        return None in (self.first, self.second)


@dataclass(frozen=True, kw_only=True, slots=True)
class NotGivenAlike(Statement):
    """Source, arguments, variables and files are not the same."""

    code: tuple[SourceDifference, ...]
    others: tuple[Given, ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class OtherEnvironment(Statement):
    """Facts of the environment are not the same in a run as in run 1."""

    differences: tuple[EnvironmentDifference, ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class FoundState:
    """The log line in which a run says that it found a state, as far as the line is cited."""

    run: int
    line: str


@dataclass(frozen=True, kw_only=True, slots=True)
class LeftFiles(FirstDifference):
    """Run 2 reads files that run 1 left; `says`: what the log of run 2 says of the files."""

    paths: tuple[str, ...]
    says: FoundState | None


@dataclass(frozen=True, kw_only=True, slots=True)
class LeftWithoutEffect(Statement):
    """Run 2 reads files of run 1 that do not explain the difference; `alike`: run 1 read the same
    files, else run 2 read them only after the first difference.
    """

    paths: tuple[str, ...]
    alike: bool
