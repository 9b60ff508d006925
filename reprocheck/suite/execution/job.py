"""What is to be done for a target, and what became of it."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Literal

from reprocheck import settings
from reprocheck.errors import SettingsError
from reprocheck.redaction import Redaction, identity, known_secrets
from reprocheck.settings import OPTIONS, Option, plain
from reprocheck.suite.target import Target

Kind = Literal["check", "recording", "run"]
OWN_OPTIONS = ("output", "keep", "color", "lang", "quiet", "verbose", "show_output")
"""Options of `run` that the night sets itself."""
NOT_OF_RECORD = ("runs", "fail_on", "draw", "rtol", "atol", "level")
"""Options of `run` that `record` does not take, and the level, which its kind decides."""
OF_RESUME = ("rtol", "atol", "timeout", "python", "draw", "control", "seed", "deterministic")
"""Options of `run` that mean the same to `resume`."""
_FLAG_OF_WITH = "--resume-with"


@dataclass(frozen=True, kw_only=True)
class Job:
    """One check of a target in a night, one deeper recording of it, or one run of it alone.

    root         the folder of the suite, absolute
    place        the folder of the report, relative to `root`, with slashes; nothing stands there
    kind         `check`: `reprocheck run`, or `resume` where the target asks for it. `recording`:
                 `reprocheck record`, into the file `recording.zip` in `place`.
                 `run`: `reprocheck record`, one run
    recorded     what a recording holds, as options of `reprocheck record`
    environment  variables that are set beside those of the target: the devices that it may use
    """

    target: Target
    night: str
    root: Path
    place: str
    attempt: int = 1
    kind: Kind = "check"
    recorded: tuple[str, ...] = ("--level", "module")
    environment: Mapping[str, str] = field(default_factory=dict)

    @property
    def folder(self) -> Path:
        """Return the absolute path of the report folder."""
        return self.root / self.place

    @property
    def recording(self) -> Path:
        """Return the path of the deeper recording's file."""
        return self.folder / "recording.zip"

    @property
    def secrets(self) -> list[str]:
        """Return the values that are masked wherever they appear."""
        return known_secrets(self.target.words, {**os.environ, **self.target.environment})

    @property
    def redaction(self) -> Redaction:
        """Return the redaction of everything written about the job, the same as `run` uses."""
        return Redaction("folder", identity=identity(), known=self.secrets)

    @cached_property
    def is_alone(self) -> bool:
        """Return whether the runs work in the working directory itself.

        Then no other job may use it.
        """
        return self.target.resume is None and _workdir(self.target) != "copy"


@dataclass(frozen=True, kw_only=True, slots=True)
class Performed:
    """Hold a job that has ended, and its result.

    started      when the job began: seconds since 1970
    exit_status  the exit status of `reprocheck run`, negative for a signal; None if not started
    commit       the commit of the working directory, with `+` if tracked files are modified; "" if
                 git is not used
    files        a digest of the target's own files; "" if they are not known
    error        why nothing could be made of it; "" where a report may be there
    lost         why it did not come to its end, through no fault of the target; "" if it did
    """

    job: Job
    started: float
    seconds: float
    exit_status: int | None = None
    commit: str = ""
    files: str = ""
    error: str = ""
    lost: str = ""

    @property
    def no_recording(self) -> str:
        """Return why a deeper recording was not made; "" if it was."""
        if self.job.recording.is_file():
            return ""
        return self.error or self.lost or f"exit status {self.exit_status}"


def _workdir(target: Target) -> object:
    """Return the value of the option `workdir` for a target, wherever it was set."""
    own = target.options.get("workdir")
    if own is not None:
        return own
    try:
        return settings.load({}, target.workdir, {**os.environ, **target.environment}).workdir
    except SettingsError:  # the check itself says so
        return "inplace"


def command_words(job: Job, output: Path) -> tuple[str, ...]:
    """Return the words after `reprocheck`: the command, its options, and the script to run.

    `output`: the folder in which the report folder is made.
    """
    kept = ("--output", str(output), "--color", "never")
    if job.target.resume is not None:
        shared = {name: job.target.options.get(name) for name in OF_RESUME}
        given = option_words({name: one for name, one in shared.items() if one is not None})
        return ("resume", *given, *resume_words(job.target.resume), *kept, *job.target.words)
    if job.kind == "check":
        return ("run", *option_words(job.target.options), *kept, *job.target.words)
    left_out: tuple[str, ...] = NOT_OF_RECORD
    given = (*job.recorded, "-o", str(output / "recording.zip"))
    if job.kind == "run":
        left_out = (*NOT_OF_RECORD, "explain")
        given = ("--no-explain",)
    options = {name: value for name, value in job.target.options.items() if name not in left_out}
    return ("record", *option_words(options), *given, *kept, *job.target.words)


def resume_words(options: Mapping[str, object]) -> tuple[str, ...]:
    """Convert options of `reprocheck resume` to words of the command line.

    >>> resume_words({"with": "--from {checkpoint}", "at": ("first", "3"), "go-on": 20})
    ('--resume-with', '--from {checkpoint}', '--at', 'first', '--at', '3', '--go-on', '20')
    """
    words: list[str] = []
    for key, value in options.items():
        flag = _FLAG_OF_WITH if key == "with" else f"--{key}"
        for part in value if isinstance(value, tuple) else (value,):
            words += (flag, str(part))
    return tuple(words)


def option_words(options: Mapping[str, object]) -> tuple[str, ...]:
    """Return settings as words of the command line, without those of OWN_OPTIONS.

    >>> option_words({"steps": 20, "control": ["seed", "workers"], "draw": False})
    ('--steps', '20', '--no-draw', '--control', 'seed', '--control', 'workers')
    """
    return tuple(
        word
        for option in OPTIONS
        if option.name in options and option.name not in OWN_OPTIONS
        for word in _words_of(option, options[option.name])
    )


def _words_of(option: Option, value: object) -> Iterator[str]:
    """Yield one option as words of the command line; none if the value is the default."""
    if option.kind.type == "switch":
        if value == "failure":  # of `draw`: the default, which has no word
            return
        if value:
            yield option.flag
        elif not option.key.startswith("no-"):  # `--no-dropout` has no opposite
            yield f"--no-{option.key}"
        return
    shown = plain(option, value)
    if shown is None:
        return
    values = value if isinstance(value, (list, tuple)) and value else [shown]
    for one in values:
        yield option.flag
        yield str(one)
