"""What controls did in a run, and what a search over them found."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import filterfalse
from typing import Literal

from reprocheck.model.explanation import SourceLine
from reprocheck.model.reason import ReasonKey
from reprocheck.model.seeds import SeedingCall
from reprocheck.model.statement import Statement

ControlClass = Literal["same numbers", "same training", "alters the training"]


def is_fix(name: str) -> bool:
    """Return whether a name is that of a patch, such as `RC402 train.py:3`, not of a control."""
    return " " in name


def fixes_in(names: Iterable[str]) -> tuple[str, ...]:
    """Return the patches among names of controls and of patches."""
    return tuple(filter(is_fix, names))


def controls_in(names: Iterable[str]) -> tuple[str, ...]:
    """Return the controls among names of controls and of patches."""
    return tuple(filterfalse(is_fix, names))


@dataclass(frozen=True, kw_only=True, slots=True)
class TouchedLine:
    """A line of the user's code at which a control acted."""

    source: SourceLine
    takes: str = ""
    """How the library's function that was called there takes a seed: `reset(seed)` by an argument,
    `sample.seed` by a method beside it.
    """
    draws: bool = False
    """Whether what it acted on there was seen to draw random numbers: the source or the operations
    of a dataset.
    """


@dataclass(frozen=True, kw_only=True, slots=True)
class Touch:
    """A call, variable or attribute that a control intercepted or set.

    `what` names the call, variable or attribute, `count` says how often, `value` what was set.
    """

    control: str
    what: str
    count: int = 1
    value: object = None
    setting: bool = False
    """Whether it was set alone: other touches of the control say whether that changed anything."""
    source: SourceLine | None = None
    """The first line of the user's code that it concerned."""
    lines: tuple[TouchedLine, ...] = ()
    """All lines of the user's code that it was seen to concern, in the order in which they came: of
    the first times alone.
    """


@dataclass(frozen=True, kw_only=True, slots=True)
class Override:
    """A value of the user's that a control replaced, in a trial arm."""

    control: str
    what: str
    old: object
    new: object
    source: SourceLine | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class Conflict:
    """A value that the user set, which contradicts a control and was kept.

    `wanted` is the value that the control would have set.
    """

    control: str
    what: str
    value: object
    wanted: object
    source: SourceLine | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class ControlTrace:
    """What the controls of a run did in the processes of the run.

    `unavailable`: pairs of a control and the reason why the control could not act.

    `patched`: files for which a process was given the text of a patch instead.
    """

    touches: tuple[Touch, ...] = ()
    overrides: tuple[Override, ...] = ()
    conflicts: tuple[Conflict, ...] = ()
    unavailable: tuple[tuple[str, str], ...] = ()
    patched: tuple[str, ...] = ()
    seedings: tuple[SeedingCall, ...] = ()
    """What seeded a generator, under `--must-differ seed` alone; in the order of the calls."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Tried:
    """One arm of the search: runs under `controls`; none: runs as they are.

    `patched`: with the fixes of all confirmed causes; `fixes`: with these alone, each as `RC402
    train.py:3`.

    agrees, bitwise   whether its runs agree by the criterion, and in every bit; None where that
    could not be decided
    suffices          whether they agree as far as the search asks; None where that could not be
                      decided
    acted             the controls and patches that acted on something in each of the runs
    reference         more controls, with a run under which the one run here was compared
    spared            a control and where it did not act: `entropy at train.py:3`
    reason            what it was tried for
    notes             the same with its values, or what stood in the way (a crash explained);
                      `note`: in words, once the check is told (`reprocheck.wording`)
    says              the last line of the log of a run that failed, which the note quotes
    another_from      the first iteration of another difference: those before it, which the search
                      is about, agree in every bit
    diverges_from     the first iteration outside the tolerance
    """

    controls: tuple[str, ...]
    runs: int
    agrees: bool | None
    bitwise: bool | None
    patched: bool = False
    fixes: tuple[str, ...] = ()
    suffices: bool | None = None
    acted: tuple[str, ...] = ()
    reference: tuple[str, ...] = ()
    spared: tuple[str, ...] = ()
    reason: ReasonKey | Literal[""] = ""
    notes: tuple[Statement | str, ...] = ()
    note: str = ""
    says: str = ""
    another_from: int | None = None
    diverges_from: int | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class Search:
    """A smallest set of controls that makes the runs agree, as `reprocheck explain` found it.

    Empty if no set does.

    fixes          patches that it takes, too, each as `RC402 train.py:3`
    statements     what it has found out; `sentence`: that in words, once the check is told
    certainty      how sure that is, with the numbers of runs behind it; `confidence`: in words
    remedies       what to do about each confirmed cause; `fix`: all of it, once the check is told
    patch          a diff of the user's own source that fixes it, empty where none is known
    touches        what the smallest set did in one of its runs; overrides, unavailable: of all arms
    further        options of `reprocheck explain` that look for another difference, which remains;
                   empty where none is known to remain
    broken_off     whether the search was ended before it came to an end
    """

    tried: tuple[Tried, ...]
    smallest: tuple[str, ...] = ()
    fixes: tuple[str, ...] = ()
    statements: tuple[Statement | str, ...] = ()
    certainty: tuple[Statement | str, ...] = ()
    sentence: str = ""
    confidence: str = ""
    remedies: tuple[Statement | str, ...] = ()
    fix: str = ""
    patch: str = ""
    further: tuple[str, ...] = ()
    broken_off: bool = False
    touches: tuple[Touch, ...] = ()
    overrides: tuple[Override, ...] = ()
    unavailable: tuple[tuple[str, str], ...] = ()

    @property
    def with_patch(self) -> Tried | None:
        """Return the arm whose runs used the patch; None if the patch was not tried."""
        alone = bool(self.fixes) and not self.smallest
        tried = (one for one in self.tried if alone and not one.controls)
        of_lines = next((one for one in tried if one.fixes == self.fixes), None)
        return of_lines or next((one for one in self.tried if one.patched), None)
