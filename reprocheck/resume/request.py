"""What `reprocheck resume` is asked for, and the refusal of what it cannot do."""

from __future__ import annotations

import shlex
import signal
from collections.abc import Sequence
from dataclasses import dataclass, replace

from reprocheck.errors import EntryPointError, UsageError
from reprocheck.model import EntryPoint
from reprocheck.resume.launchers import with_ranks
from reprocheck.resume.model import Checkpoint

PLACES = ("first", "epoch-end", "second-epoch")
"""Places that are known by name; a number of updates is one, too."""
TWICE = "twice"
"""The first checkpoint that the run resumed from the first one writes."""
WITHIN, GO_ON = 50, 10
"""Iterations in which a checkpoint is to be written, and iterations that are compared."""
SIGNALS = {"term": signal.SIGTERM, "kill": signal.SIGKILL}
AFTER = 2
"""Updates behind the first checkpoint after which the signal is sent."""
UNTIL_END = 50
"""Iterations that a script with a handler may still make."""
MOST_NAMED = 3
CHECKPOINT, ITERATION = "{checkpoint}", "{iteration}"
"""What stands for the path and for k in `--resume-with`."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Asked:
    """What a check of a resume is to find out.

    at           names of places; empty: `first`, and the other two where the run comes to them
    within       iterations in which the continued run is to write a checkpoint
    go_on        m: iterations of both sides that are compared
    resume_with  what is added to the command of the resumed run; "" for the same command
    interrupt    `term` or `kill`: end another run by that signal, and resume from what it left; ""
                 for none
    pattern      what the checkpoint is called; "" where that is to be found out
    explain      whether what is lost is put back in further runs, to confirm it
    """

    at: tuple[str, ...] = ()
    within: int = WITHIN
    go_on: int = GO_ON
    resume_with: str = ""
    pattern: str = ""
    interrupt: str = ""
    ranks: int = 0
    explain: bool = False

    @property
    def places(self) -> tuple[str, ...]:
        """All places that are looked for."""
        if self.interrupt:
            return PLACES[:1]
        return tuple(name for name in self.at if name != TWICE) or PLACES[: 1 if self.at else None]

    @property
    def twice(self) -> bool:
        """Return whether the resumed run is resumed."""
        return TWICE in self.at

    def missed(self, served: Sequence[str]) -> tuple[str, ...]:
        """Return the places that were asked for by name, but for those that snapshots serve."""
        return tuple(name for name in self.at if name not in served)

    def told(self) -> dict[str, object]:
        """Return what the recorder of the continued run is told."""
        spare = AFTER + 1 if self.interrupt else 0
        return {
            "resume": {
                "at": list(self.places),
                "go_on": self.go_on + spare,
                "spare": spare,
                "within": self.within,
                "pattern": self.pattern,
            },
            "boundaries": [],
        }


def told_to_wait(updates: int, interrupt: str) -> dict[str, object]:
    """Return what the recorder of a run is told that a signal ends after so many updates.

    KILL finds those who write at that moment in the middle of it.
    """
    waits = {
        "at": [],
        "go_on": 0,
        "within": 0,
        "pattern": "",
        "signal_at": updates,
        "at_once": interrupt == "kill",
    }
    return {"resume": waits, "boundaries": []}


def refuse_signal(name: str) -> None:
    """Raise UsageError for a signal that is not known."""
    if name and name not in SIGNALS:
        raise UsageError(
            f"--interrupt {name}: there is no such signal.", f"Take {' or '.join(SIGNALS)}."
        )


def places(names: Sequence[str]) -> tuple[str, ...]:
    """Return the places that `--at` names, each once. Raises UsageError."""
    for name in names:
        if name not in (*PLACES, TWICE) and not (name.isdecimal() and int(name) > 0):
            raise UsageError(
                f"--at {name}: there is no such place.",
                f"Take {', '.join((*PLACES, TWICE))}, or a number of updates from 1 on.",
            )
    return tuple(dict.fromkeys(names))


def refuse(entry: EntryPoint) -> None:
    """Raise EntryPointError for what cannot be stopped and started again."""
    if entry.kind == "script" and entry.command[1].endswith(".ipynb"):
        raise EntryPointError(
            "A notebook cannot be resumed: its cells are run by hand, and nothing starts it again"
            " from a checkpoint.",
            "Export it as a script (`jupyter nbconvert --to script`), and check that.",
        )


def resumed_entry(entry: EntryPoint, asked: Asked, checkpoint: Checkpoint) -> EntryPoint:
    """Return the command that resumes from a checkpoint. Raises UsageError."""
    added = words(asked.resume_with)
    if any(CHECKPOINT in word for word in added) and not checkpoint.target:
        raise UsageError(
            f"{CHECKPOINT} is not known: {' and '.join(checkpoint.paths[:MOST_NAMED])} were written"
            " together, and neither is the whole checkpoint.",
            f"Name it with --checkpoint PATTERN, such as --checkpoint {checkpoint.paths[0]}.",
        )
    values = {CHECKPOINT: checkpoint.target, ITERATION: str(checkpoint.iteration)}
    for name, value in values.items():
        added = [word.replace(name, value) for word in added]
    command = with_ranks(entry.command, asked.ranks) if asked.ranks else entry.command
    return replace(entry, command=(*command, *added))


def words(resume_with: str) -> list[str]:
    """Return the words of `--resume-with`. Raises UsageError."""
    try:
        return shlex.split(resume_with)
    except ValueError as error:
        raise UsageError(
            f"--resume-with {resume_with!r} cannot be read as a command line: {error}.",
            "Quote it as a shell would: --resume-with '--resume {checkpoint}'.",
        ) from None
