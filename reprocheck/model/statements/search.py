"""What a search over controls has found out.

Names are those of controls, and of patches as `RC402 train.py:3`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from reprocheck.model.reason import Reason
from reprocheck.model.statement import Statement

if TYPE_CHECKING:
    from reprocheck.model.explanation import Cause, Confidence, RungName


@dataclass(frozen=True, kw_only=True, slots=True)
class Sample(Statement):
    """Runs that differ: how many, and how many of them do not have the most frequent outcome.

    insufficient how many of them were made under controls that do not suffice: others are as they
            are
    blind   how many have an outcome that says nothing of agreement: each counts as one of its own
    unlike  whether all of them differ from each other, and from the runs that agree under the
            control that is asked about, which could not make that difference by itself
    pairs   how many pairs they are, where each run follows from the one before it; 0 elsewhere.
            `second`: whether the second of each pair gives the same, too, and not the first alone
    carried whether files that a run leaves are what makes them so
    """

    runs: int
    odd: int
    insufficient: int = 0
    blind: int = 0
    unlike: bool = False
    pairs: int = 0
    second: bool = False
    carried: bool = False

    @property
    def intermittent(self) -> bool:
        """Return whether some of them agree with each other."""
        return self.odd < self.runs - 1


@dataclass(frozen=True, kw_only=True, slots=True)
class Agreement(Statement):
    """Runs under a set of controls and patches agree.

    arms    the arms of the record that hold them
    exact   whether they do in every bit
    later   the first iteration of another difference, before which they agree in every bit
    seen    the runs that differ
    """

    names: tuple[str, ...]
    runs: int
    arms: tuple[str, ...]
    exact: bool
    later: int | None
    seen: Sample


@dataclass(frozen=True, kw_only=True, slots=True)
class NamedCause:
    """What a sentence names a cause by."""

    code: str
    title: str
    confidence: Confidence
    at: str

    @staticmethod
    def of(cause: Cause) -> NamedCause:
        """Return what a sentence names this cause by."""
        return NamedCause(
            code=cause.code, title=cause.title, confidence=cause.confidence, at=cause.at
        )


@dataclass(frozen=True, kw_only=True, slots=True)
class Removes(Statement):
    """The smallest set of controls and patches removes the difference, and what that confirms.

    shown   False where too few runs agree: that can be luck
    """

    names: tuple[str, ...]
    under: Agreement
    confirms: tuple[NamedCause, ...] = ()
    shown: bool = True


@dataclass(frozen=True, kw_only=True, slots=True)
class Certainty(Statement):
    """How sure it is that a set of controls and patches removes the difference.

    luck    the share of searches in which as many runs agree by chance
    bound   of the share of runs that differ from the first one, with 95 % confidence
    wanted  how many runs must agree where too few do; 0 elsewhere. `more`: whether it takes more
    """

    under: Agreement
    proving: int
    luck: float
    bound: float
    wanted: int = 0
    more: bool = False


@dataclass(frozen=True, kw_only=True, slots=True)
class SearchRemark(Statement):
    """What is said of a search, without any value.

    broken off        it was ended before it had finished
    nothing to try    what differs first differs by as much as what the start gave
    patch in vain     runs with a patch of the confirmed causes differ
    within tolerance  what was searched is a difference that the checks pass
    """

    kind: Literal["broken off", "nothing to try", "patch in vain", "within tolerance"]


@dataclass(frozen=True, kw_only=True, slots=True)
class NextToTry(Statement):
    """What a search that was broken off would do next."""

    names: tuple[str, ...]
    why: Reason


@dataclass(frozen=True, kw_only=True, slots=True)
class Moved(Statement):
    """Controls that do not remove all of a difference remove a part: runs first differ on `rung`
    under them, and on `before` without.
    """

    names: tuple[str, ...]
    rung: RungName
    before: RungName


@dataclass(frozen=True, kw_only=True, slots=True)
class PatchesInVain(Statement):
    """Runs with patches differ as well."""

    fixes: tuple[str, ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class AnotherRemains(Statement):
    """Runs under the smallest set differ later.

    further  options of `reprocheck explain` that look for that; empty where the patch comes first
    """

    iteration: int
    further: tuple[str, ...]


Remaining = Literal["idle", "few tried", "nothing recorded", "given", "noise", "unreached"]


@dataclass(frozen=True, kw_only=True, slots=True)
class Remains(Statement):
    """What is known of a difference that no control removes.

    idle       controls under which the runs agreed although nothing shows that they sufficed
    crashing   controls under which the script fails
    rung       the first that differs, and its place
    culprit    the operation that made the difference, as the ladder names it
    operator   the first operator that differs, where operators were recorded
    operators  what the lists say of the operators that the rung names, each once
    suspect    the first cause, where it says why the runs differ, and on which line
    given      what the runs were not given alike
    clocks     line and call of clocks that a cause names and no control reaches
    """

    kind: Remaining
    idle: tuple[str, ...] = ()
    crashing: tuple[str, ...] = ()
    rung: RungName = "later"
    place: str = ""
    culprit: Statement | str = ""
    operator: str = ""
    operators: tuple[Statement | str, ...] = ()
    suspect: NamedCause | None = None
    given: tuple[Statement | str, ...] = ()
    clocks: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, kw_only=True, slots=True)
class DiffersWithout(Statement):
    """A run differs in which a control does not act at a place, or one without a patch."""

    name: str
    place: str = ""


@dataclass(frozen=True, kw_only=True, slots=True)
class ActedAt(Statement):
    """Where a control acted, and on what.

    first   whether it is the first place
    draws   whether what it acted on draws random numbers
    others  the other places, each with what it acted on, where any of them may be the cause
    """

    control: str
    at: str
    what: str
    first: bool
    draws: bool
    others: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, kw_only=True, slots=True)
class SeenUnder(Statement):
    """An error of deterministic mode was seen under controls, and the search went on without."""

    names: tuple[str, ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class ArmNote(Statement):
    """Why the runs of an arm were made, or what stood in the way.

    why        a sentence in older records
    hindrance  `not taken`: no process loaded the patched text. `refused`: deterministic mode has no
               `what` (at the line `at`). `failed`, `took too long`: the run of this number did, and
               `what` it said last. `within tolerance`: they pass, too far apart for rounding. `one
               run`: it was compared with those under `beside`. `nothing acted`: they agree, and
               nothing shows that a control did
    """

    why: Reason | str = ""
    hindrance: Literal[
        "as in the check",
        "none",
        "not taken",
        "refused",
        "failed",
        "took too long",
        "within tolerance",
        "one run",
        "nothing acted",
    ] = "none"
    what: str = ""
    at: str = ""
    run: int = 0
    beside: tuple[str, ...] = ()
