"""Describe a check of a resume, as data.

What was wanted, what was saved, what was read of it, and what the two runs say.

`k` is the number of updates that the checkpoint holds. Iteration `i` of a resumed run stands
against iteration `k + i` of the continued run: `Offset`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from reprocheck.model import Bitwise, CheckRecord, Divergence, Run, SourceLine
from reprocheck.resume.checkpoint_contents import Archive

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
        """Return the iteration of the continued run that corresponds to one of the resumed run."""
        return iteration + self.k


@dataclass(frozen=True, kw_only=True, slots=True)
class Checkpoint:
    """A checkpoint that the continued run wrote between two updates and kept.

    iteration  k: closed iterations when the checkpoint was written
    by         the function that saved the checkpoint, such as `torch.save`; "" if none is known by
               name
    line       the user's line that saved it, `file:line`; "" if unknown
    paths      the files of the checkpoint, relative to the working directory; absolute and masked
               if outside of it
    beside     files that were written with the checkpoint, such as a copy
    target     what a script that resumes is told: the file, the folder, or the prefix of the names
               of the files; "" if unknown
    size       bytes of all files of the checkpoint together
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
        """Return all files of the checkpoint: its own and those written with it."""
        return (*self.paths, *self.beside)

    @property
    def name(self) -> str:
        """Return the name of the checkpoint in a report."""
        return self.target or min(self.paths, default="")


@dataclass(frozen=True, kw_only=True, slots=True)
class Arm:
    """A further resumed run, which was given back a part of the state of the continued run.

    run     the number of the run in the record
    rungs   the rungs of the ladder across the gap whose state was put back before the first forward
            pass
    """

    run: int
    rungs: tuple[StateRungName, ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class Place:
    """A point at which the training is stopped and resumed.

    name        the requested point: `first`, `epoch-end`, `second-epoch`, `twice` or a number
    continued   number of the run that wrote the checkpoint and went on
    run         number of the resumed run in the record; None if there is none
    checkpoint  the checkpoint that was resumed from; None if the continued run wrote none there
    command     the command that started the resumed run, masked
    interrupted number of the run that a signal ended; None if none did
    arms        runs in which a part of the state was put back
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
    """Two runs with a patch of the script: another continued run, and one that resumes from it.

    of         index, from 0, of the place that the patch is for
    patch      a unified diff
    place      the place at which the patched runs stop and go on; None if no checkpoint was written
    """

    of: int
    patch: str
    place: Place | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class ResumeRecord:
    """`resume.json` beside `record.json`: marks a folder of runs as a check of a resume.

    Run 1 of the record is the continued run, the others are the resumed runs of `places`.

    go_on      m: how many iterations of both sides are compared
    at         the requested places; empty: all places that the run reaches
    within     how many iterations the continued run was given to write a checkpoint
    interrupt  `term` or `kill` if another run was ended by that signal, and resumed from the files
               that it had left; "" if the resumed runs start from a snapshot of the continued run
    explain    whether lost state is put back in further runs, to confirm the loss
    ranks      the number of ranks of the resumed runs; 0: the number of the command
    trial      the patch that was tried
    missed     names of requested places at which no checkpoint was written
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
    """One rung of the ladder across the gap.

    The state after update k against the state that the resumed run starts from.

    name       the name of the rung
    status     whether both sides have the same state
    iteration  the iteration of the resumed run (from 1) in which the state first differs; None if
               it belongs to no iteration
    rank       the first rank that differs; `ranks`: all that do
    place      parameter, generator, loader or module that differs first
    detail     one sentence, made last from the recorded values
    """

    name: StateRungName
    status: StateRungStatus
    iteration: int | None = None
    rank: int | None = None
    ranks: tuple[int, ...] = ()
    place: str = ""
    detail: str = ""


@dataclass(frozen=True, kw_only=True, slots=True)
class LostPart:
    """A part of the training that a resume has lost.

    part    the name of the part among the names of frames; for objects of the script, the
            expression
    key     the subscripts under which the checkpoint holds the part; "" if it does not
    loaded  whether the part was loaded, and changed after that
    """

    rung: StateRungName
    kind: Literal["part", "generator"]
    part: str
    key: str = ""
    loaded: bool = False


@dataclass(frozen=True, kw_only=True, slots=True)
class Mark:
    """A line of the script, and what happens on the line."""

    role: Role
    source: SourceLine


@dataclass(frozen=True, kw_only=True, slots=True)
class Mechanism:
    """Why a resumed run differs from the continued run: a catalogue entry with the evidence for it.

    marks  the lines that the mechanism is about; the first leads
    fix    code to paste or one sentence
    """

    code: str
    title: str
    evidence: tuple[str, ...] = ()
    marks: tuple[Mark, ...] = ()
    fix: str = ""

    @property
    def source(self) -> SourceLine | None:
        """Return the most telling line."""
        return self.marks[0].source if self.marks else None


@dataclass(frozen=True, kw_only=True, slots=True)
class OtherRanks:
    """The numbers of ranks of the continued run, then of the resumed run, which differ.

    samples   the samples of all ranks together in one iteration
    drawn_by  what draws from a generator of which each rank has its own; "" if nothing does
    """

    ranks: tuple[int, int]
    samples: tuple[int, int]
    drawn_by: str = ""

    @property
    def comparable(self) -> bool:
        """Return whether the losses have to agree within the tolerance.

        As means over the ranks.
        """
        return self.samples[0] == self.samples[1] and not self.drawn_by


@dataclass(frozen=True, kw_only=True, slots=True)
class Explained:
    """The ladder across the gap of one place, with the conclusions from it.

    starts_over  whether the whole model is as it was before the first update
    steps        how many steps were compared on the rungs from the forward pass on; None: all
    mechanisms   the mechanism of each rung that differs, if it has one
    ranks        the ranks that were compared
    beside       names of state that is put back although no `state_dict` has it
    other_ranks  set if the resumed run has another number of ranks
    archive      what the checkpoint holds, and what was loaded of it
    lost         the parts of the training that were lost
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
    """The comparison of the losses of both sides, with the iteration numbers of the resumed run.

    bitwise             whether all losses are equal in every bit; else the first iteration that
                        differs
    outside             the first loss outside the tolerance
    continued, resumed  the first losses that are not equal; None if one side has none
    ranks               the ranks whose losses differ in the first iteration in which any do
    """

    bitwise: Bitwise
    outside: Divergence | None = None
    continued: float | None = None
    resumed: float | None = None
    ranks: tuple[int, ...] = ()


@dataclass(frozen=True, kw_only=True, slots=True)
class Attempt:
    """A resumed run in which the state of some rungs was put back.

    agrees  whether the run goes on exactly as the continued run; None if they could not be compared
    acted   rungs of which a value was different before it was put back
    names   the names of these values
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
    """The result of runs with parts of the state put back.

    rungs       the smallest set of rungs that makes the losses agree; empty if none was found
    mechanisms  the mechanisms of these rungs
    sentence    what was done, and what came of it
    """

    sentence: str
    rungs: tuple[StateRungName, ...] = ()
    attempts: tuple[Attempt, ...] = ()
    mechanisms: tuple[Mechanism, ...] = ()

    @property
    def confirmed(self) -> bool:
        """Return whether putting state back made the losses agree, so that this state was lost."""
        return bool(self.rungs)


@dataclass(frozen=True, kw_only=True, slots=True)
class Repair:
    """The result of a patch that was tried.

    The patch, "" if it did not help, and a sentence on the runs with it.
    """

    patch: str
    sentence: str


@dataclass(frozen=True, kw_only=True, slots=True)
class ReportedPair:
    """The values that both runs report after an iteration of the resumed run.

    None if a side reports fewer values there.
    """

    iteration: int
    continued: float | None
    resumed: float | None

    @property
    def equal(self) -> bool:
        """Return whether the two values are equal in every bit."""
        return repr(self.continued) == repr(self.resumed)


@dataclass(frozen=True, kw_only=True, slots=True)
class Reported:
    """A series that both runs report besides their losses, such as `val_loss`.

    Values behind the checkpoint alone are compared.

    by     the tracker or framework: `tensorboard`, `keras`…; "" for `reprocheck.log`
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
    """An option that tells a script to resume.

    The words to add to its command, and the line that defines the option.
    """

    words: str
    source: SourceLine


@dataclass(frozen=True, kw_only=True, slots=True)
class Outcome:
    """The outcome of one place.

    reason              one sentence without its full stop
    compared            number of iterations that both sides have
    losses              the continued run from k + 1 on against the resumed run
    continued, resumed  the two sides of that comparison, both with the iteration numbers of the
                        resumed run
    before              the continued run up to the checkpoint
    read                files of the checkpoint that the resumed run opened before its first loss
    failed_at           the user's `file:line` that raised the exception which ended the resumed run
    option              the option that would tell the script to resume, if it was not told to
    confirmation        the result of runs that put state back; None if none was asked for
    repair              the patch that was seen to help; None if there is none
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
        """Return the rank whose losses a report shows: the first that differs, else the first."""
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
        """Return the confirmed mechanisms, each once; else the mechanism of the first rung."""
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
