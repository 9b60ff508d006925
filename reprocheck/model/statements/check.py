"""Tell what a check says beside its verdict and the difference.

What was recorded and what was not, what was changed to observe, what run 1 left, and what a failed
script needs.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Literal

from reprocheck.model.statement import Statement

Explained = Literal["cause", "beside the losses", "source"]
"""Parts of the explanation of a check."""


@dataclass(frozen=True, kw_only=True, slots=True)
class NothingOfRun(Statement):
    """None of the processes of a run that loaded the recorder recorded anything."""

    run: int
    processes: int


@dataclass(frozen=True, kw_only=True, slots=True)
class EachRank(Statement):
    """What holds of each of these ranks of run 1."""

    ranks: tuple[int, ...]
    statement: Statement


@dataclass(frozen=True, kw_only=True, slots=True)
class LossesRecorded(Statement):
    """How many losses a rank recorded, and the frameworks that it imported: (name, version)."""

    values: int
    iterations: int
    frameworks: tuple[tuple[str, str], ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class NotDeep(Statement):
    """Level `auto` recorded only this many iterations at level `module`.

    `because` is empty if `auto` records no iteration of such a training at that level.
    """

    iterations: int
    because: Statement | str


@dataclass(frozen=True, kw_only=True, slots=True)
class NoFingerprints(Statement):
    """The weights were not fingerprinted."""


@dataclass(frozen=True, kw_only=True, slots=True)
class CutTrace(Statement):
    """The last line of the traces of these ranks is incomplete."""

    run: int
    ranks: tuple[int, ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class ValuesMasked(Statement):
    """So many values were masked: in the command and the settings, and in the logs."""

    in_record: int
    in_logs: int


@dataclass(frozen=True, kw_only=True, slots=True)
class PairEnded(Statement):
    """One or both runs at a deeper level were not recorded completely.

    `ended`, if both were, is how one of the runs ended.
    """

    level: str
    run: int = 0
    ended: Literal["", "failed", "timed_out"] = ""
    exit_status: int | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class FromTheStart(Statement):
    """Operators had to be recorded from the start, although the difference appears later."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Undetermined(Statement):
    """A part of the explanation was ended by an error."""

    what: Explained
    error: str


@dataclass(frozen=True, kw_only=True, slots=True)
class Unfinished(Statement):
    """Further runs were ended by an error.

    A pair or a single run at a deeper level, the runs of the search, or the run that records
    values.
    """

    what: Literal["pair", "half", "search", "values"]
    message: str
    level: str = ""


@dataclass(frozen=True, kw_only=True, slots=True)
class NoValues(Statement):
    """No values of tensors were recorded."""

    why: Literal["no operator", "no input", "not again"]
    operator: str = ""


@dataclass(frozen=True, kw_only=True, slots=True)
class ValuesMissing(Statement):
    """The values of some tensors of an operator (`paths`) were not recorded.

    They exceed the limit in MB.
    """

    operator: str
    most: int
    paths: tuple[str, ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class OthersDiffer(Statement):
    """All losses are equal, but something else differs: what the ladder names first."""

    first: Statement | str


@dataclass(frozen=True, kw_only=True, slots=True)
class PrintedDiffers(Statement):
    """What the runs printed differs from this line on."""

    line: int


@dataclass(frozen=True, kw_only=True, slots=True)
class LeftAlive(Statement):
    """Processes of a run had to be killed at its end."""

    run: int
    processes: int


@dataclass(frozen=True, kw_only=True, slots=True)
class StopReached(Statement):
    """A run reached its stop in this iteration, and was ended there or not.

    `run` is 0 if every run did.
    """

    run: int
    last: int
    ended: bool


@dataclass(frozen=True, kw_only=True, slots=True)
class ReadLeft(Statement):
    """A later run read these files, which run 1 wrote; `alike`: run 1 read the same from all."""

    paths: tuple[str, ...]
    alike: bool


@dataclass(frozen=True, kw_only=True, slots=True)
class VisibleLeft(Statement):
    """Later runs could see these files, which run 1 wrote.

    `made`: all of the files lie outside of the working directory and did not exist before.
    """

    paths: tuple[str, ...]
    made: bool


@dataclass(frozen=True, kw_only=True, slots=True)
class LeftByEarlier(Statement):
    """Each run reads these files, which the runs of an earlier check made.

    `others`: further files that such checks left.
    """

    paths: tuple[str, ...]
    when: datetime
    others: tuple[str, ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class AdviceReason(Statement):
    """Why another command line is advised after a script failed.

    place   the folder of the library, the interpreter, or the word after the options
    names   the names of the module, of the options, or of the files
    others  how many further files there are
    run     the number of the run that failed
    """

    kind: Literal[
        "wrong home",
        "reads input",
        "module elsewhere",
        "module nowhere",
        "in package",
        "our options",
        "found leftovers",
        "failed on leftover",
    ]
    place: str = ""
    names: tuple[str, ...] = ()
    others: int = 0
    run: int = 0
