"""A check of a resume, as data: what was wanted, what was saved, what was read of it, and what the
two runs say.

Imports the result model only.

`k` is the number of updates that the checkpoint holds. Iteration `i` of a resumed run stands
against iteration `k + i` of the continued run: `Offset`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from reprocheck.model import Bitwise, CheckRecord, Divergence, Run, SourceLine

SCHEMA_VERSION = 1
CONTINUED = 1
"""The number of the continued run in the record; the resumed runs have those behind it."""

ResumeVerdict = Literal[
    "resumes_exactly",
    "resumes_within_tolerance",
    "does_not_resume_exactly",
    "starts_over",
    "inconclusive",
    "script_failed",
    "timed_out",
]
EXIT_CODE: Mapping[ResumeVerdict, int] = {
    "resumes_exactly": 0,
    "resumes_within_tolerance": 0,
    "does_not_resume_exactly": 1,
    "starts_over": 1,
    "inconclusive": 3,
    "script_failed": 4,
    "timed_out": 5,
}
"""As for `reprocheck run`."""

Role = Literal[
    "saves", "reads", "loads", "asks for", "seeds", "puts back", "passes", "counts", "makes"
]
"""What a line does with the state that a resume has lost."""
OF_WEIGHTS = ("weights", "module")
"""Kinds of what holds weights in a file."""
StateRungName = Literal[
    "weights", "optimizer state", "hyper-parameters", "step counter", "RNG state", "batch",
    "forward", "loss", "gradient", "reduced gradient", "update", "later",
]  # fmt: skip
"""The ladder across the gap, in the order in which a resumed training needs what stands on it."""
StateRungStatus = Literal["equal", "differs", "not_recorded", "not_compared"]
"""As on the ladder of a check; `not_compared`: what differs there may follow from a later rung."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Offset:
    """By how much the numbers of the continued run are ahead of those of a resumed run.

    >>> Offset(k=3).continued(1)
    4
    """

    k: int

    def continued(self, iteration: int) -> int:
        """Return the iteration of the continued run that one of the resumed run stands against."""
        return iteration + self.k


@dataclass(frozen=True, kw_only=True, slots=True)
class Checkpoint:
    """What the continued run wrote between two updates and kept.

    iteration  k: closed iterations when it was written
    by         the function that saved it, such as `torch.save`; "" where none is known by name
    line       the user's line that saved it, `file:line`; "" where that is not known
    paths      its files, from the working directory on, whole and masked for those elsewhere
    beside     files that were written with it, such as a copy
    target     what a script is told that resumes from it: its file, its folder, or how the names of
               its files begin; "" where that is not known
    size       bytes of all its files together
    """

    iteration: int
    by: str = ""
    line: str = ""
    paths: tuple[str, ...] = ()
    beside: tuple[str, ...] = ()
    target: str = ""
    size: int = 0

    @property
    def files(self) -> tuple[str, ...]:
        """All that was written."""
        return (*self.paths, *self.beside)

    @property
    def name(self) -> str:
        """Return what a report calls it."""
        return self.target or min(self.paths, default="")


@dataclass(frozen=True, kw_only=True, slots=True)
class Arm:
    """Another resumed run, which was given back a part of what the continued run held.

    run     its number in the record
    rungs   of the ladder across the gap: what was put back before its first forward pass
    """

    run: int
    rungs: tuple[StateRungName, ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class Place:
    """A point at which the training is stopped and resumed.

    name        what was asked for: `first`, `epoch-end`, `second-epoch`, `twice` or a number
    continued   number of the run that wrote the checkpoint and went on
    run         number of the resumed run in the record; None where there is none
    checkpoint  what it was resumed from; None where the continued run wrote none there
    command     how the resumed run was started, masked
    interrupted number of the run that a signal ended; None where none did
    arms        runs that a part of the state was put back in
    """

    name: str
    continued: int = CONTINUED
    checkpoint: Checkpoint | None = None
    run: int | None = None
    command: tuple[str, ...] = ()
    interrupted: int | None = None
    arms: tuple[Arm, ...] = ()


@dataclass(frozen=True, kw_only=True, slots=True)
class Trial:
    """Runs with a patch of the script: another continued run, and one that resumes from it.

    of         which of the places the patch is for, from 0
    patch      a unified difference
    place      where the other one goes on; None where no checkpoint was written there
    """

    of: int
    patch: str
    place: Place | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class ResumeRecord:
    """`resume.json` beside `record.json`: what makes a folder of runs a check of a resume.

    Run 1 of the record is the continued run, the others are the resumed runs of `places`.

    go_on    m: how many iterations of both sides are compared
    at       the places that were asked for; empty: all that the run comes to
    within   how many iterations the continued run was given to write a checkpoint
    interrupt  `term` or `kill` where another run was ended by that signal, and resumed from what
               it had left; "" where the resumed runs start from a snapshot of the continued run
    explain  whether what is lost is put back in further runs, to confirm it
    ranks    with how many the resumed runs were started; 0: with those of the command
    trial    the patch that was tried
    missed   names of places that were asked for, and that no checkpoint was written at
    """

    places: tuple[Place, ...]
    go_on: int
    within: int
    at: tuple[str, ...] = ()
    resume_with: str = ""
    pattern: str = ""
    interrupt: str = ""
    ranks: int = 0
    explain: bool = False
    trial: Trial | None = None
    missed: tuple[str, ...] = ()
    schema_version: int = SCHEMA_VERSION


@dataclass(frozen=True, kw_only=True, slots=True)
class StateRung:
    """One rung of the ladder across the gap: the state after update k against what the resumed run
    starts from.

    name       which rung
    status     whether both sides have the same
    iteration  of the resumed run (from 1) where it first differs; None for what is of none
    rank       the first one that differs; `ranks`: all that do
    place      parameter, generator, loader or module that differs first
    detail     one sentence, made last of what was recorded
    """

    name: StateRungName
    status: StateRungStatus
    iteration: int | None = None
    rank: int | None = None
    ranks: tuple[int, ...] = ()
    place: str = ""
    detail: str = ""


@dataclass(frozen=True, kw_only=True, slots=True)
class Frame:
    """A function of the user's under way: its line (`file:line`), and the expression by which the
    code there reaches each part of the training.
    """

    line: str
    names: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True, slots=True)
class Entry:
    """One value in a file: the subscripts that lead to it, what it is, and of which part; of a
    number its value.
    """

    key: str
    kind: str
    name: object = ""
    file: str = ""

    @property
    def parts(self) -> frozenset[str]:
        """The names of the weights that it holds."""
        return frozenset(str(self.name).split(", "))


@dataclass(frozen=True, kw_only=True, slots=True)
class Load:
    """A part of the training that was given what was loaded; `key`: where that stood in the file,
    "" where it is not known.
    """

    part: str
    key: str
    line: str


@dataclass(frozen=True, kw_only=True, slots=True)
class Archive:
    """What was saved and loaded.

    saving   functions of the user's under way where it was saved, from the innermost out
    reading  those where the resumed run read the file
    training those where it went on
    opened   the lines on which the resumed run opened files
    """

    entries: tuple[Entry, ...] = ()
    loads: tuple[Load, ...] = ()
    saving: tuple[Frame, ...] = ()
    reading: tuple[Frame, ...] = ()
    training: tuple[Frame, ...] = ()
    opened: Mapping[str, str] = field(default_factory=dict)

    @property
    def frames(self) -> tuple[Frame, ...]:
        """All functions that were under way."""
        return (*self.saving, *self.reading, *self.training)

    @property
    def files(self) -> tuple[str, ...]:
        """The files of these functions, each once."""
        return tuple(dict.fromkeys(frame.line.rpartition(":")[0] for frame in self.frames))

    @property
    def is_known(self) -> bool:
        """Return whether the file is one whose parts are known by what they are."""
        return any(entry.kind in ("optimizer", *OF_WEIGHTS) for entry in self.entries)

    def held(self, names: Iterable[str], *kinds: str) -> list[Entry]:
        """Return the entries that hold any of these parts, of these kinds."""
        wanted = set(names)
        return [one for one in self.entries if one.kind in kinds and wanted & one.parts]


@dataclass(frozen=True, kw_only=True, slots=True)
class LostPart:
    """A part of the training that a resume has lost.

    part    what it is called among the names of frames; of the script's own the expression
    key     the subscripts under which the file holds it; "" where it does not
    loaded  whether it was loaded, and changed behind that
    """

    rung: StateRungName
    kind: Literal["part", "generator"]
    part: str
    key: str = ""
    loaded: bool = False


@dataclass(frozen=True, kw_only=True, slots=True)
class Mark:
    """A line of the script, and what happens there."""

    role: Role
    source: SourceLine


@dataclass(frozen=True, kw_only=True, slots=True)
class Mechanism:
    """Why a resumed run is not the continued one: an entry of the catalogue with what speaks for
    it.

    marks  the lines that it is about; the first leads
    fix    code to paste or one sentence
    """

    code: str
    title: str
    evidence: tuple[str, ...] = ()
    marks: tuple[Mark, ...] = ()
    fix: str = ""

    @property
    def source(self) -> SourceLine | None:
        """The line that leads."""
        return self.marks[0].source if self.marks else None


@dataclass(frozen=True, kw_only=True, slots=True)
class OtherRanks:
    """A resumed run with another number of ranks than the continued run; that one stands first.

    samples   of all ranks in one iteration
    drawn_by  what draws from a generator, of which each rank has one; "" where nothing does
    """

    ranks: tuple[int, int]
    samples: tuple[int, int]
    drawn_by: str = ""

    @property
    def comparable(self) -> bool:
        """Return whether the losses, as means over the ranks, have to agree within the
        tolerance.
        """
        return self.samples[0] == self.samples[1] and not self.drawn_by


@dataclass(frozen=True, kw_only=True, slots=True)
class Explained:
    """What the ladder across the gap says of one place.

    starts_over  nothing of the model is what it was at the checkpoint
    steps        how many steps the rungs from the forward pass on were compared in; None: all
    mechanisms   of each rung that differs, where it has one
    ranks        that were compared
    beside       names of what is put back although no `state_dict` has it
    other_ranks  where the resumed run has another number of them
    archive      what the checkpoint holds, and what was loaded of it
    lost         the parts of the training that were
    """

    rungs: tuple[StateRung, ...] = ()
    mechanism: Mechanism | None = None
    mechanisms: Mapping[StateRungName, Mechanism] = field(default_factory=dict)
    coverage: tuple[str, ...] = ()
    starts_over: bool = False
    steps: int | None = None
    ranks: tuple[int, ...] = ()
    beside: tuple[str, ...] = ()
    other_ranks: OtherRanks | None = None
    archive: Archive = field(default_factory=Archive)
    lost: tuple[LostPart, ...] = ()

    @property
    def first(self) -> StateRung | None:
        """The first rung that differs."""
        return next((rung for rung in self.rungs if rung.status == "differs"), None)


@dataclass(frozen=True, kw_only=True, slots=True)
class Losses:
    """What the losses of both sides say, with the numbers of the resumed run.

    bitwise    whether all are equal in every bit; else the first iteration that is not
    outside    the first loss outside the tolerance
    continued, resumed  the first losses that are not equal; None where one side has none
    ranks      those whose losses are not equal in the first iteration in which any are not
    """

    bitwise: Bitwise
    outside: Divergence | None = None
    continued: float | None = None
    resumed: float | None = None
    ranks: tuple[int, ...] = ()


@dataclass(frozen=True, kw_only=True, slots=True)
class Attempt:
    """A resumed run in which some rungs were put back.

    agrees  whether it goes on exactly as the continued run; None where it could not be compared
    acted   rungs of which something had another value before
    names   what that was
    differs the first iteration of the resumed run whose losses still differ
    """

    rungs: tuple[StateRungName, ...]
    run: int
    agrees: bool | None
    acted: tuple[StateRungName, ...] = ()
    names: Mapping[StateRungName, tuple[str, ...]] = field(default_factory=dict)
    unavailable: tuple[str, ...] = ()
    differs: int | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class Confirmation:
    """What runs with parts of the state put back have shown.

    rungs       the smallest set of them that makes the losses agree; empty where none was found
    mechanisms  those of these rungs
    sentence    what was done, and what came of it
    """

    sentence: str
    rungs: tuple[StateRungName, ...] = ()
    attempts: tuple[Attempt, ...] = ()
    mechanisms: tuple[Mechanism, ...] = ()

    @property
    def confirmed(self) -> bool:
        """Return whether what was put back is what was lost."""
        return bool(self.rungs)


@dataclass(frozen=True, kw_only=True, slots=True)
class Repair:
    """A patch that was tried, "" where it did not help, and what a training with it does."""

    patch: str
    sentence: str


@dataclass(frozen=True, kw_only=True, slots=True)
class ReportedPair:
    """What both runs report behind an iteration of the resumed run; None where a side reports fewer
    values there.
    """

    iteration: int
    continued: float | None
    resumed: float | None

    @property
    def equal(self) -> bool:
        """Return whether both are the same in every bit."""
        return repr(self.continued) == repr(self.resumed)


@dataclass(frozen=True, kw_only=True, slots=True)
class Reported:
    """A series that both runs report beside their losses, such as `val_loss`, behind the
    checkpoint.

    by     who was given it: `tensorboard`, `keras`…; "" for `reprocheck.log`
    """

    name: str
    by: str
    rank: int
    pairs: tuple[ReportedPair, ...]

    @property
    def first_unequal(self) -> ReportedPair | None:
        """The first values that are not equal in every bit."""
        return next((pair for pair in self.pairs if not pair.equal), None)


@dataclass(frozen=True, kw_only=True, slots=True)
class Option:
    """An option by which a script is told to resume: the words that are added to its command, and
    the line that makes it.
    """

    words: str
    source: SourceLine


@dataclass(frozen=True, kw_only=True, slots=True)
class Outcome:
    """What one place says.

    reason     one sentence without its full stop
    compared   iterations that both sides have
    losses     the continued run from k + 1 on against the resumed run
    continued, resumed  the two sides of that comparison, both with the numbers of the resumed run
    before     the continued run up to the checkpoint
    read       files of the checkpoint that the resumed run opened before its first loss
    failed_at  `file:line` of the user's that raised what ended the resumed run
    option     the one that the script has to be given, where it was not told to resume
    confirmation  None where that was not asked for
    repair     None where no patch is known that was seen to help
    """

    place: Place
    verdict: ResumeVerdict
    reason: str
    offset: Offset | None = None
    compared: int = 0
    losses: Losses | None = None
    continued: Run | None = None
    resumed: Run | None = None
    before: Run | None = None
    read: tuple[str, ...] = ()
    failed_at: str = ""
    explained: Explained = field(default_factory=Explained)
    reported: tuple[Reported, ...] = ()
    option: Option | None = None
    confirmation: Confirmation | None = None
    repair: Repair | None = None

    @property
    def ranks(self) -> tuple[int, ...]:
        """The ranks of the continued run."""
        return tuple(sorted(self.continued.by_rank)) if self.continued else ()

    @property
    def rank(self) -> int:
        """The rank whose losses a report shows: the one that differs first, else the first."""
        differing = self.losses.ranks if self.losses else ()
        return next(iter((*differing, *self.ranks)), 0)

    @property
    def title(self) -> str:
        """The verdict in capitals: `RESUMES EXACTLY`, `STARTS OVER`."""
        return self.verdict.replace("_", " ").upper()

    @property
    def exit_code(self) -> int:
        """Exit code, as of `reprocheck run`."""
        return EXIT_CODE[self.verdict]

    @property
    def causes(self) -> tuple[Mechanism, ...]:
        """The mechanisms that are confirmed, each once; else the one of the first rung."""
        confirmed = self.confirmation.mechanisms if self.confirmation else ()
        named = confirmed or filter(None, [self.explained.mechanism])
        return tuple({one.code: one for one in reversed(tuple(named))}.values())[::-1]


_WORST: tuple[ResumeVerdict, ...] = (
    "starts_over",
    "does_not_resume_exactly",
    "script_failed",
    "timed_out",
    "inconclusive",
    "resumes_within_tolerance",
    "resumes_exactly",
)
"""Of several places the one that is named first stands for all."""


@dataclass(frozen=True, kw_only=True, slots=True)
class ResumeCheck:
    """A check of a resume as a whole: everything a report shows."""

    record: CheckRecord
    asked: ResumeRecord
    outcomes: tuple[Outcome, ...]
    caveats: tuple[str, ...] = ()
    coverage: tuple[str, ...] = ()
    recorded: tuple[Run, ...] = ()
    """All runs that were recorded, those of arms and patches among them."""
    folder: Path | None = field(default=None, compare=False)

    @property
    def runs(self) -> tuple[Run, ...]:
        """The runs that are compared: at each place the continued and the resumed one."""
        each = (one for outcome in self.outcomes for one in (outcome.continued, outcome.resumed))
        return tuple(filter(None, each))

    @property
    def decisive(self) -> Outcome:
        """The place that stands for all: the worst."""
        return min(self.outcomes, key=lambda outcome: _WORST.index(outcome.verdict))

    @property
    def title(self) -> str:
        """Title of the decisive place."""
        return self.decisive.title

    @property
    def exit_code(self) -> int:
        """Exit code of the decisive place."""
        return self.decisive.exit_code
