"""Where the runs first diverge, and why: the ladder and the causes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal, get_args

from reprocheck.model.evidence import (
    Evidence,
    Generators,
    Measured,
    OperatorDiffers,
    PathDiffers,
    generators_of,
)
from reprocheck.model.replay import Replay
from reprocheck.model.statement import Statement
from reprocheck.model.statements.difference import Culprit, FirstDifference

RungName = Literal[
    "environment",
    "files and arguments",
    "hyper-parameters",
    "initial weights",
    "RNG state",
    "batch",
    "forward",
    "loss",
    "gradient",
    "reduced gradient",
    "update",
    "later",
]
RUNGS: tuple[RungName, ...] = get_args(RungName)
"""The ladder, in the order in which things happen."""

RungStatus = Literal["equal", "differs", "not_recorded"]
Size = Literal["rounding", "gross"]
Confidence = Literal["observed", "confirmed", "suspected"]
FixFrom = Literal["place", "check", "catalogue", "page"]
"""What a fix is made for.

`place`: a line of the user's. `check`: what ran here, as its command. `catalogue`: every program.
`page`: it is no fix, and only names the page of the catalogue that has it.
"""


@dataclass(frozen=True, kw_only=True, slots=True)
class SourceLine:
    """A line of the user's code.

    `file` is relative to the working directory if the file lies in it, and absolute otherwise;
    `text` is the text of the line when the run executed it.
    """

    file: str
    line: int
    text: str = ""

    @property
    def at(self) -> str:
        """The place of the line as `file:line`."""
        return f"{self.file}:{self.line}"

    @staticmethod
    def of(at: str) -> SourceLine | None:
        """Return the line that recorded facts name as `file:line`, without its text.

        None where they name none.

        >>> SourceLine.of("train.py:12").line
        12
        """
        file, _, number = at.rpartition(":")
        if not file or not number.isdecimal():
            return None
        return SourceLine(file=file, line=int(number))


@dataclass(frozen=True, kw_only=True, slots=True)
class TracePosition:
    """A place in the record of a run: the name of a trace file, and the offset in it."""

    trace: str
    at: int


@dataclass(frozen=True, kw_only=True, slots=True)
class Rung:
    """One rung of the ladder.

    The fields below `status` describe the first difference on this rung, in execution order.

    iteration            the iteration, from 1; None if the difference belongs to no iteration
    place                module, parameter, file, hyper-parameter or loader
    statement            what was found out, as a value; None if there is nothing to say
    detail               the statement in one sentence, once the check is put into words
                         (`reprocheck.wording`)
    culprit              the operation between the last place that agrees and `place`, which made
                         the difference; None if unknown, or until the check is put into words
    size                 rounding-level (about 1e-6 relative) or gross; None if the values are not
                         numbers
    relative_difference  ||a - b|| / ||b||, estimated; None if it cannot be estimated
    evidence             details of the difference that causes and the search use; None if there are
                         none
    measured             the tensor or number that differs
    operator             the first operator that differs, if operators were recorded
    operations autograd nodes and classes of modules that can have made the difference
    inside               the module whose operators are to be recorded at level `op`; empty: all
                         modules
    unused_generators    generators whose states differ and that no module drew from
    iterations           of several ranks: rank -> iteration of its first difference on this rung
    recorded_at          the place where run 1 recorded the first difference of the ladder
    """

    rung: RungName
    status: RungStatus
    iteration: int | None = None
    rank: int | None = None
    place: str | None = None
    statement: Statement | None = None
    detail: str = ""
    culprit: str | None = None
    size: Size | None = None
    relative_difference: float | None = None
    source: SourceLine | None = None
    evidence: Evidence | None = None
    measured: Measured = field(default_factory=Measured)
    operator: OperatorDiffers | None = None
    operations: tuple[str, ...] = ()
    inside: str = ""
    unused_generators: tuple[str, ...] = ()
    iterations: Mapping[int, int | None] = field(default_factory=dict)
    recorded_at: TracePosition | None = None

    @property
    def statements(self) -> tuple[Statement, ...]:
        """The statement of this rung in a tuple; an empty tuple if the rung has none."""
        return () if self.statement is None else (self.statement,)

    @property
    def blamed(self) -> Culprit | None:
        """The operation that makes the difference; None if it is not known."""
        if isinstance(self.statement, FirstDifference) and self.statement.blames:
            return Culprit(difference=self.statement)
        return None

    @property
    def generators(self) -> Generators:
        """The generators that the difference was drawn from."""
        return generators_of(self.evidence)

    @property
    def another_path(self) -> bool:
        """Return whether the runs do not go the same way through the code."""
        by_operator = self.operator is not None and self.operator.only_in_one_run
        return by_operator or isinstance(self.evidence, PathDiffers)


@dataclass(frozen=True, kw_only=True, slots=True)
class Ladder:
    """The point at which two runs first diverge.

    `rungs` holds all of RUNGS in their order; `first` is the first rung that differs, None if none
    does.

    level               the deepest level of recording: `module` or `op`
    runs                the numbers of the two runs compared, within the pair recorded at the deeper
                        level
    independent         a rung before the first whose difference is of rounding level, if neither
                        difference follows from the other
    came_back           False if the deeper pair of runs agreed although the first pair had not: an
                        intermittent difference
    statement           where and when the runs diverge, and what that means
    unrecorded          what could not be recorded, and what graph or compiled code hides
    sentence, coverage  `statement` and `unrecorded` in sentences, once the check is put into words
                        (`reprocheck.wording`)
    replay              the operation that makes the first difference, with what a run of it without
                        the training takes; None if no operation does, or not enough was recorded
    """

    rungs: tuple[Rung, ...]
    first: RungName | None
    level: str = "module"
    independent: RungName | None = None
    came_back: bool = True
    statement: Statement | None = None
    unrecorded: tuple[Statement, ...] = ()
    sentence: str = ""
    coverage: tuple[str, ...] = ()
    replay: Replay | None = None

    def rung(self, name: RungName) -> Rung:
        """Return the rung of that name."""
        return next(rung for rung in self.rungs if rung.rung == name)

    @property
    def first_rung(self) -> Rung | None:
        """The rung that differs first."""
        return self.rung(self.first) if self.first else None


@dataclass(frozen=True, kw_only=True, slots=True)
class Lead:
    """The one difference that a check tells first: chosen once, when the search has ended.

    cause      the code of the best cause, such as `RC402`; "" if none is known
    source     the line of the cause; if there is no cause, the line of the rung
    statement  where the runs diverge, and what that means
    sentence   `statement` in words, once the check is put into words (`reprocheck.wording`)
    """

    rung: RungName | None
    cause: str = ""
    source: SourceLine | None = None
    statement: Statement | None = None
    sentence: str = ""


@dataclass(frozen=True, kw_only=True, slots=True)
class Cause:
    """An entry of the catalogue of causes (`reprocheck.rules`), with the evidence for it.

    `remedy` is what to do about the cause, a text if it is code or a command to paste, and
    `fix_from` says what the remedy is made for; `fix` is the remedy in words, as `title` is
    translated, once the check is put into words. `calls` are those lines of the user's code that
    fit the cause, by the full names of the functions called.
    """

    code: str
    title: str
    confidence: Confidence
    statements: tuple[Statement | str, ...] = ()
    """What speaks for it; a text where a recording holds one."""
    evidence: tuple[str, ...] = ()
    """The same in sentences, once the check is told (`reprocheck.wording`)."""
    source: SourceLine | None = None
    remedy: Statement | str = ""
    fix: str = ""
    fix_from: FixFrom = "catalogue"
    calls: tuple[str, ...] = ()

    @property
    def at(self) -> str:
        """The place of the cause as `file:line`; "" if the cause has no line."""
        if self.source is None:
            return ""
        return self.source.at
