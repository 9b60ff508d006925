"""What was started, and how it ended: what the parent process knows of a check."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from reprocheck.model.reason import Reason
from reprocheck.model.seeds import SeedOrigin
from reprocheck.model.statements.check import AdviceReason

SCHEMA_VERSION = 1

CHANGES: Mapping[str, str] = {
    "variables": "These environment variables are set for the runs: {names}.",
    "no input": "Standard input is empty.",
    "copies": "The working directory of each run is a copy.",
    "side by side": (
        "Up to {jobs} runs were under way side by side, in working directories of different names."
    ),
    "waiting": (
        "{name}=passive: waiting threads of one run sleep, so that they do not slow down the other."
    ),
}
"""What the launcher changes, in the English that records hold; `wording` says it again."""

Ended = Literal["completed", "stopped", "failed", "timed_out", "interrupted"]


@dataclass(frozen=True, kw_only=True, slots=True)
class EntryPoint:
    """What the user asked to run.

    `command` is started unchanged, `name` names the report folder.
    """

    command: tuple[str, ...]
    kind: Literal["script", "module", "command"]
    name: str

    @property
    def words(self) -> tuple[str, ...]:
        """Return the words that stand behind `reprocheck run`."""
        return (
            self.command[1:]
            if self.kind != "command" and len(self.command) > 1
            else ("--", *self.command)
        )


@dataclass(frozen=True, kw_only=True, slots=True)
class Tolerance:
    """`numpy.allclose` bounds: |a - b| <= atol + rtol * |b|, b of run 1."""

    rtol: float = 1e-3
    atol: float = 1e-3


@dataclass(frozen=True, kw_only=True, slots=True)
class Setting:
    """A setting, its value and where the value came from, such as `default` or `--steps`."""

    name: str
    value: object
    origin: str


def is_elsewhere(path: str) -> bool:
    """Return whether a path of a trace or a record lies outside of the working directory.

    Such paths are absolute, and masked.
    """
    return path.startswith(("/", "~/"))


@dataclass(frozen=True, kw_only=True, slots=True)
class FileChanges:
    """The files that changed while a run was under way.

    Paths are relative to the working directory and sorted.

    folders     folders that are new
    unseen      changed paths that no process of the run was seen to write: another program wrote
                there, or a program that is not Python
    elsewhere   files outside of the working directory that the run wrote and left; absolute paths,
                masked
    made        those of `elsewhere` that did not exist before
    gone        files outside of the working directory that the run removed or moved away, masked
    copied      whether the run worked in a copy of the directory that no other run saw
    read        files outside of the working directory that the run read and that had been changed
                since the first run of the pair began; absolute paths, masked
    """

    created: tuple[str, ...] = ()
    changed: tuple[str, ...] = ()
    deleted: tuple[str, ...] = ()
    folders: tuple[str, ...] = ()
    unseen: tuple[str, ...] = ()
    elsewhere: tuple[str, ...] = ()
    made: tuple[str, ...] = ()
    gone: tuple[str, ...] = ()
    copied: bool = False
    read: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True, slots=True)
class FilesAfter:
    """What became of the user's files after the runs of a pair.

    `left`, `before` and `meanwhile` are folders, relative to the report folder.

    put_back    files that the runs had overwritten, removed or touched, and that were restored
    moved       files that runs which were recorded again had made; now in `left`
    replaced    those of `put_back` whose content had changed; the content of the runs is in `left`
    others      files that somebody else changed, made or removed; they stay as they are
    kept        those of `others` whose content from before the runs is in `before`
    saved       contents, as `run-N/PATH` in `meanwhile`, that a path had before a later run wrote
                there, if somebody else may have made them
    lost        files that could not be restored; their kept contents are still in the store
    unkept      files that the runs changed and of which no copy had been kept
    """

    put_back: tuple[str, ...] = ()
    moved: tuple[str, ...] = ()
    replaced: tuple[str, ...] = ()
    left: str = ""
    others: tuple[str, ...] = ()
    kept: tuple[str, ...] = ()
    before: str = ""
    saved: tuple[str, ...] = ()
    meanwhile: str = ""
    lost: tuple[str, ...] = ()
    unkept: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True, slots=True)
class RunRecord:
    """What the parent process knows of one run. Paths are relative to the report folder.

    `exit_status` is the return code, negative for a signal, None if the process could not be waited
    for.
    """

    number: int
    ended: Ended
    exit_status: int | None
    started: str
    seconds: float
    trace: str
    stdout: str
    stderr: str
    files: FileChanges = field(default_factory=FileChanges)
    killed: int = 0
    """Processes that were still alive when the entry point had ended and were killed."""
    gone: Mapping[str, float] = field(default_factory=dict)
    """Seconds after the start at which ranks were seen to end, by the names of their traces without
    suffix; none that we ended.
    """
    masked: int = 0
    """Secrets and addresses that were masked in its logs."""
    varied: tuple[str, ...] = ()
    """The variations of the run: what was other than in the runs that the user makes."""
    point: int = 0
    """The number of the run whose values of the variations it had; 0 without variations."""

    @property
    def ended_badly(self) -> bool:
        """Return whether the run failed or took too long; a run that reprocheck stopped did not."""
        return self.ended in ("failed", "timed_out")

    @property
    def ended_as_planned(self) -> bool:
        """Return whether the run came to its own end, or to the early stop."""
        return self.ended in ("completed", "stopped")


@dataclass(frozen=True, kw_only=True, slots=True)
class DeeperPair:
    """Two runs recorded at a deeper level.

    Their folders are `LEVEL/run-1` and `LEVEL/run-2` in the report folder; with `of_check` they are
    runs of the check itself, whose first iterations were recorded deeply.

    `iterations`: how many iterations were recorded; `begin`: the first iteration that was recorded
    deeply (if it is not 1, the folders are in `later/`); `inside`: the module whose operators were
    recorded at level `op` (empty: all modules). `half`: whether the pair is one run only, to be
    paired with that of another recording.
    """

    level: Literal["module", "op"]
    iterations: int
    runs: tuple[RunRecord, ...]
    inside: str = ""
    begin: int = 1
    half: bool = False
    of_check: bool = False


@dataclass(frozen=True, kw_only=True, slots=True)
class Arm:
    """Runs under controls, made by the search.

    Their folders are `arms/NAME/run-N` in the report folder.

    `patched`: with the fixes of all confirmed causes in the files that these change. `fixes`: with
    these alone, each as `RC402 train.py:3`. `in_place`: Python was given it in place
    of these files, and told of it; without, the runs worked in a copy that held it. `renewed`: no
    copy of the working directory could be made, so it was put back after each run. `reason`: what
    it is tried for; `why`: the same as a sentence, in older records. `value`: which of several
    values its controls give, from 0. `reference`: more controls, with the losses of which one run
    of this arm is compared. `spared`: control, `@` and a line or a library, where it did not act.
    """

    name: str
    controls: tuple[str, ...]
    runs: tuple[RunRecord, ...]
    patched: bool = False
    fixes: tuple[str, ...] = ()
    in_place: bool = False
    renewed: bool = False
    reason: Reason | None = None
    why: str = ""
    value: int = 0
    reference: tuple[str, ...] = ()
    spared: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True, slots=True)
class Trial:
    """Runs of the search for the variation that a training depends on.

    `varied`: the variations of its one run, which is compared with run 1 of the check. The first
    trial has none, and two runs, which are made as the user makes them and compared with each
    other. The folders are `arms/NAME/run-N` in the report folder.
    """

    name: str
    varied: tuple[str, ...]
    runs: tuple[RunRecord, ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class Reseeded:
    """The run that got another seed at its origin; its folder is `arms/NAME/run-1`."""

    name: str
    origin: SeedOrigin
    runs: tuple[RunRecord, ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class Side:
    """One side of a comparison of two recordings.

    The first run of the recording is run 1 or run 2 of the check; paths of runs are relative to the
    report folder.

    `name`: the file or folder of the recording, or the commit. `sources`: the hash of each file of
    the user's that the recording keeps. `runs`: all runs of the recording.
    """

    name: str
    entry_point: EntryPoint
    started: str
    reprocheck_version: str
    settings: tuple[Setting, ...] = ()
    environment: Mapping[str, object] = field(default_factory=dict)
    sources: Mapping[str, str] = field(default_factory=dict)
    runs: tuple[RunRecord, ...] = ()


@dataclass(frozen=True, kw_only=True, slots=True)
class Advice:
    """Another command line to suggest: `before reprocheck run options words`.

    reason   what went wrong and what the user can do
    why      the reason as a sentence that leads to the command: from an older record without
             `reason`, or once the check is put into words (`reprocheck.wording`)
    before   text in front of the command, such as environment variables
    options  options to add to those that the user gave
    words    the entry point, if it is not the one that the user gave
    """

    reason: AdviceReason | None = None
    why: str = ""
    before: str = ""
    options: tuple[str, ...] = ()
    words: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True, slots=True)
class CheckRecord:
    """`record.json`: what the parent process knows of a check.

    With the traces beside it, every report can be drawn again.
    """

    reprocheck_version: str
    entry_point: EntryPoint
    started: str
    tolerance: Tolerance
    settings: tuple[Setting, ...]
    runs: tuple[RunRecord, ...]
    environment: Mapping[str, object] = field(default_factory=dict)
    changed_to_observe: tuple[str, ...] = ()
    caveats: tuple[str, ...] = ()
    deeper: tuple[DeeperPair, ...] = ()
    controls: tuple[str, ...] = ()
    """Controls that were on in the runs of the check itself."""
    trials: tuple[Trial, ...] = ()
    """Runs of the search for the variation that the training depends on."""
    vary_seed: int = 0
    """What decides the values of the variations from run 3 on."""
    not_varied: tuple[tuple[str, str], ...] = ()
    """Variations that were asked for and not made, each with the key of the reason."""
    reseeded: tuple[Reseeded, ...] = ()
    """The run with another seed, which must differ from run 1."""
    arms: tuple[Arm, ...] = ()
    searched: bool = False
    """Whether a search for the cause was asked for."""
    compared: tuple[Side, ...] = ()
    """The two recordings that run 1 and run 2 were taken from; empty where they were made here, one
    after the other.
    """
    masked: int = 0
    """Secrets and addresses that were masked in the command and the settings."""
    files_after: tuple[FilesAfter, ...] = ()
    """What became of the user's files, for each pair of runs after which there is something to
    say.
    """
    earlier: Mapping[str, str] = field(default_factory=dict)
    """Files of the working directory that runs of earlier checks had left there when this one began
    -> when that check began.
    """
    advice: Advice | None = None
    """What fixes the failure of the script, where a command line does."""
    schema_version: int = SCHEMA_VERSION

    def setting(self, name: str, default: object = None) -> object:
        """Return the value of a setting; `default` where the record holds none of that name."""
        return {one.name: one.value for one in self.settings}.get(name, default)

    @property
    def fail_on(self) -> str:
        """Return what makes the exit code 1, besides the forward and the backward check."""
        return str(self.setting("fail_on", "checks"))
