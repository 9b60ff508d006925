"""Make the commands to type next.

The command that was given, with what the user typed, some of it replaced. Standard library only.
"""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Sequence

from reprocheck.model import Check
from reprocheck.report.text import line

_SAID_ELSEWHERE = (
    "output",
    "keep",
    "format",
    "quiet",
    "verbose",
    "color",
    "show_output",
    "jobs",
    "jobs_on_accelerator",
    "max_runs",
)


def again(check: Check, options: str, command: str = "run", words: tuple[str, ...] = ()) -> str:
    """Return the `reprocheck run` command with the options given, some replaced.

    The entry point is the same, or `words`.
    """
    left_out = (*_SAID_ELSEWHERE, *{"explain": ("explain", "level")}.get(command, ()))
    given = _options(check, options, left_out)
    started = words or check.record.entry_point.words
    return line(" ".join(["reprocheck", command, *given, *map(shlex.quote, started)]))


def compared_again(check: Check, options: str) -> str:
    """Return the `reprocheck compare` command for the same two sides, with options replaced.

    The sides are two recordings, or the script and a commit.
    """
    given = _options(check, options, _SAID_ELSEWHERE)
    sides = [in_shell(side.name) for side in check.record.compared]
    if check.record.setting("against") is not None:
        sides = [shlex.quote(word) for word in check.record.entry_point.words]
    return line(" ".join(["reprocheck", "compare", *given, *sides]))


def without_files(check: Check, files: Sequence[str], options: str) -> str:
    """Return the command of `again` with each run starting after the removal of these files.

    "" if a shell cannot start it, or the user started it already.

    `files` are absolute masked paths, as in the record.
    """
    entry = check.record.entry_point
    removal = f"rm -f {' '.join(map(in_shell, files))}"
    # the module that calls a function in each run is never started by hand
    is_notebook = any(word.endswith(".ipynb") for word in entry.command[:2])
    if is_notebook or "reprocheck_child.call" in entry.command:
        return ""
    if any(removal in word for word in entry.command):
        return ""
    starts = f"{removal}; exec {' '.join(map(in_shell, entry.command))}"
    left_out = (*_SAID_ELSEWHERE, "python")
    given = _options(check, options, left_out)
    return line(" ".join(["reprocheck", "run", *given, "--", "sh", "-c", shlex.quote(starts)]))


def in_shell(word: str) -> str:
    """Return a word quoted for a shell, with a leading `~` kept expandable."""
    if word.startswith("~/"):
        return f"~/{shlex.quote(word[2:])}"
    return shlex.quote(word)


def _options(check: Check, options: str, left_out: Sequence[str]) -> list[str]:
    """Return the new options, and the given ones that are neither replaced nor left out."""
    new = options.split()
    kept: list[str] = []
    for setting in check.record.settings:
        was_typed = setting.origin.startswith("--")
        replaced = setting.origin in new or setting.name in left_out
        if was_typed and not replaced:
            kept += _flag(setting.origin, setting.value)
    return [*new, *map(shlex.quote, kept)]


def _flag(flag: str, value: object) -> Iterable[str]:
    if value is True:
        return (flag,)
    if value is False:
        return (flag.replace("--", "--no-", 1),)
    if isinstance(value, float):
        return (flag, f"{value:g}")
    return (flag, str(value))
