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
    """A sample of runs that differ.

    Their number, and how many do not have the most frequent outcome.

    insufficient  how many of the runs were made under controls that do not suffice; the other runs
                  were made without controls
    blind         how many runs have an outcome that says nothing of agreement; each counts as an
                  outcome of its own
    unlike        whether all runs differ from each other and from the runs that agree under the
                  control in question, so that the control could not make that difference by itself
    pairs         how many pairs the runs form, if each run follows from the one before it; else 0
    second        whether also the second run of each pair has the same outcome, and not only the
                  first
    carried       whether files that a run leaves cause the difference
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
        """Return whether some of the runs agree with each other."""
        return self.odd < self.runs - 1


@dataclass(frozen=True, kw_only=True, slots=True)
class Agreement(Statement):
    """Runs under a set of controls and patches agree.

    arms    the arms of the record to which the runs belong
    exact   whether the runs agree in every bit
    later   the first iteration of another difference, before which the runs agree in every bit
    seen    the sample of runs that differ
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
        """Return the text by which a sentence names this cause."""
        return NamedCause(
            code=cause.code, title=cause.title, confidence=cause.confidence, at=cause.at
        )


@dataclass(frozen=True, kw_only=True, slots=True)
class Removes(Statement):
    """The smallest set of controls and patches removes the difference, which confirms causes.

    shown   False if too few runs agree, so that the agreement can be luck
    """

    names: tuple[str, ...]
    under: Agreement
    confirms: tuple[NamedCause, ...] = ()
    shown: bool = True


@dataclass(frozen=True, kw_only=True, slots=True)
class Certainty(Statement):
    """How sure it is that a set of controls and patches removes the difference.

    luck    the share of searches in which as many runs agree by chance
    bound   the bound, with 95 % confidence, of the share of runs that differ from the first run
    wanted  how many runs must agree if too few do; else 0. `more`: whether further runs are needed
    """

    under: Agreement
    proving: int
    luck: float
    bound: float
    wanted: int = 0
    more: bool = False


@dataclass(frozen=True, kw_only=True, slots=True)
class SearchRemark(Statement):
    """A remark about a search that has no values.

    broken off        the search was ended before it had finished nothing to try    the first
    difference is as large as the difference in what the start gave patch in vain     runs with a
    patch of the confirmed causes differ within tolerance  the search was about a difference that
    the checks pass
    """

    kind: Literal["broken off", "nothing to try", "patch in vain", "within tolerance"]


@dataclass(frozen=True, kw_only=True, slots=True)
class NextToTry(Statement):
    """What a search that was broken off would do next."""

    names: tuple[str, ...]
    why: Reason


@dataclass(frozen=True, kw_only=True, slots=True)
class Moved(Statement):
    """Controls remove only a part of a difference.

    The runs first differ on `rung` under the controls, and on `before` without.
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
    """Runs under the smallest set of controls differ later.

    further  options of `reprocheck explain` that look for the later difference; empty if the patch
             comes first
    """

    iteration: int
    further: tuple[str, ...]


Remaining = Literal["idle", "few tried", "nothing recorded", "given", "noise", "unreached"]


@dataclass(frozen=True, kw_only=True, slots=True)
class Remains(Statement):
    """What is known of a difference that no control removes.

    idle       controls under which the runs agreed although nothing shows that the controls
               sufficed
    crashing   controls under which the script fails
    rung       the first rung that differs, and its place
    culprit    the operation that made the difference, as the ladder names it
    operator   the first operator that differs, if operators were recorded
    operators  what the lists of nondeterministic operators say of the operators of the rung, each
               once
    suspect    the first cause, if it says why the runs differ and on which line
    given      the arguments, variables and files that differ between the runs
    clocks     line and call of each clock that a cause names and no control reaches
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
    """A run differs if a control does not act at one place, or if one patch is left out."""

    name: str
    place: str = ""


@dataclass(frozen=True, kw_only=True, slots=True)
class ActedAt(Statement):
    """A place where a control acted, and the object on which it acted.

    first   whether it is the first place
    draws   whether the object draws random numbers
    others  the other places, each with its object, if any of them may be the cause
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
