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
    """What tells a file from the one of the other run: its size, else its hash and the time of its
    last change, as far as they are known.
    """

    size: int
    hash: str = ""
    time: float | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class Given(Statement):
    """One thing that the runs were not given alike.

    first, second: None where that run was not given it. names_the_run: it says what the run is
    called or where its results go, which changes no number by itself. made: a file that a program
    of each run makes anew. line: the user's, `file:line`, that opened the file, `written` the one
    that wrote it; "" where it is not known.
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
        """Return whether the other run was not given it at all."""
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
    """The line in which a run speaks of a state that it found, as far as it is cited."""

    run: int
    line: str


@dataclass(frozen=True, kw_only=True, slots=True)
class LeftFiles(FirstDifference):
    """Run 2 reads files that run 1 left; `says`: what its log says of them."""

    paths: tuple[str, ...]
    says: FoundState | None


@dataclass(frozen=True, kw_only=True, slots=True)
class LeftWithoutEffect(Statement):
    """Run 2 reads files of run 1, which explain nothing; `alike`: run 1 read the same from there,
    else they were read after the first difference.
    """

    paths: tuple[str, ...]
    alike: bool
