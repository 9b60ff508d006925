"""What could not be read of the traces of a run, and what is known of its ranks."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from reprocheck.model.statement import Statement


@dataclass(frozen=True, kw_only=True, slots=True)
class Unreadable(Statement):
    """A trace could not be read: the error of the system.

    `left_alone`: why reprocheck did not try.
    """

    error: str = ""
    left_alone: str = ""


@dataclass(frozen=True, kw_only=True, slots=True)
class Incomplete(Statement):
    """A trace has no end: its last line is cut, or later lines could not be written."""

    kind: Literal["last line", "not written"]


@dataclass(frozen=True, kw_only=True, slots=True)
class TraceBreaksOff(Statement):
    """Lines are missing in a trace after those that were read."""

    why: Statement | str


@dataclass(frozen=True, kw_only=True, slots=True)
class LinesLeftOut(Statement):
    """How many lines or losses of a trace were not read.

    no events     lines that are no events
    too many      events beyond the limit for one process
    losses        losses that a stretch counts but does not hold
    facts         facts after the first `most`
    unknown       events of kinds (`names`) that this version does not know
    """

    kind: Literal["no events", "too many", "losses", "facts", "unknown"]
    number: int
    most: int = 0
    names: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True, slots=True)
class NewerFormat(Statement):
    """A trace has a newer format than `known`, the newest that is read here."""

    version: int
    known: int


@dataclass(frozen=True, kw_only=True, slots=True)
class NoSuchRank(Statement):
    """A trace gives a rank number that no machine has."""

    rank: int | None
    world: int | None


@dataclass(frozen=True, kw_only=True, slots=True)
class SecondProcess(Statement):
    """A second process trained as the same rank; the report shows it as another rank."""

    rank: int
    reported: int


@dataclass(frozen=True, kw_only=True, slots=True)
class RanksGiven(Statement):
    """Processes that did not say their ranks are reported as these."""

    ranks: tuple[int, ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class TrainingsInThreads(Statement):
    """Trainings in threads or tasks of one process: rank and name of each.

    "" for the main thread.
    """

    trainings: tuple[tuple[int, str], ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class LossesOfSeveral(Statement):
    """Optimizers step in several threads, and which losses belong to which is not known."""


@dataclass(frozen=True, kw_only=True, slots=True)
class RanksMissing(Statement):
    """Only this many ranks of a world recorded something.

    unseen  ranks of which no process loaded the recorder
    silent  ranks that started and recorded nothing
    """

    recorded: int
    world: int
    unseen: tuple[int, ...]
    silent: tuple[int, ...]
