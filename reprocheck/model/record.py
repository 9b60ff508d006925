"""What was started, and how it ended: what the parent process knows of a check."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

SCHEMA_VERSION = 1

Ended = Literal["completed", "stopped", "failed", "timed_out", "interrupted"]


@dataclass(frozen=True, kw_only=True, slots=True)
class EntryPoint:
    """What the user asked to run. `command` is started as it stands, `name` names the report folder."""

    command: tuple[str, ...]
    kind: Literal["script", "module", "command"]
    name: str

    @property
    def words(self) -> tuple[str, ...]:
        """As it stands behind `reprocheck run`."""
        return self.command[1:] if self.kind != "command" and len(self.command) > 1 else ("--", *self.command)


@dataclass(frozen=True, kw_only=True, slots=True)
class Tolerance:
    """`numpy.allclose` bounds: |a - b| <= atol + rtol * |b|, b of run 1."""

    rtol: float = 1e-3
    atol: float = 1e-3


@dataclass(frozen=True, kw_only=True, slots=True)
class Setting:
    """A setting, its value and where the value came from (`default`, `reprocheck.toml`, `REPROCHECK_STEPS`, `--steps`…)."""

    name: str
    value: object
    origin: str


@dataclass(frozen=True, kw_only=True, slots=True)
class FileChanges:
    """Paths relative to the working directory, sorted: what a run did to the tree. `folders` are those that it made."""

    created: tuple[str, ...] = ()
    changed: tuple[str, ...] = ()
    deleted: tuple[str, ...] = ()
    folders: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True, slots=True)
class RunRecord:
    """What the launcher knows of one run. Paths are relative to the report folder.

    `exit_status` is the return code, negative for a signal, None where the process could not be waited for.
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
    """Seconds after the start at which ranks were seen to end, by the names of their traces without suffix; none that we ended."""


@dataclass(frozen=True, kw_only=True, slots=True)
class DeeperPair:
    """Two runs recorded again at a deeper level. Their folders are `LEVEL/run-1` and `LEVEL/run-2` in the report folder.

    `iterations`: how many were recorded; `inside`: the module whose operators were recorded at level `op` (empty: all of them). `half`:
    one run alone, to be paired with that of another recording.
    """

    level: Literal["module", "op"]
    iterations: int
    runs: tuple[RunRecord, ...]
    inside: str = ""
    half: bool = False


@dataclass(frozen=True, kw_only=True, slots=True)
class Arm:
    """Runs under controls, made by the search. Their folders are `arms/NAME/run-N` in the report folder.

    `patched`: made in a copy of the working directory to which the fix was applied. `why`: one sentence, what it is tried for.
    `step_seconds`: median time of an iteration, None where the recorded ones took too little time to measure.
    """

    name: str
    controls: tuple[str, ...]
    runs: tuple[RunRecord, ...]
    patched: bool = False
    why: str = ""
    step_seconds: float | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class Side:
    """A recording as it was compared. Its first run is run 1 or run 2 of the check; paths of runs are relative to the report folder.

    `name`: its file or folder, or the commit. `sources`: hash of each of the user's files that it keeps. `runs`: all of its runs.
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
class CheckRecord:
    """`record.json`: what the parent process knows of a check. With the traces beside it, every report can be drawn again."""

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
    arms: tuple[Arm, ...] = ()
    step_seconds: float | None = None
    """Median time of an iteration as it is, where a search measured it."""
    compared: tuple[Side, ...] = ()
    """The two recordings that run 1 and run 2 were taken from; empty where they were made here, one after the other."""
    schema_version: int = SCHEMA_VERSION
