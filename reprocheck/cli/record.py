"""`reprocheck record`: one run alone, recorded so that it can be compared elsewhere and later."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from reprocheck.cli.parameters import ENTRY, option, with_settings
from reprocheck.errors import ReportError
from reprocheck.language import count
from reprocheck.settings import OPTIONS

if TYPE_CHECKING:
    from reprocheck.cli.console import Console
    from reprocheck.model import Check

NOT_HERE = ("runs", "fail_on", "draw", "rtol", "atol")
"""Options of `run` that mean nothing without a comparison, and `runs`, whose least and default are
1 here.
"""
RunsOption = Annotated[
    int,
    option(
        "--runs",
        metavar="N",
        min=1,
        help="How often the script is run; more than once shows the noise from run to run. [1]",
    ),
]
FileOption = Annotated[
    Path | None,
    option("-o", metavar="FILE.zip", help="Write the recording into this file, too."),
]
DeepOption = Annotated[
    int,
    option(
        "--deep",
        metavar="N",
        min=0,
        help="Record N iterations with their modules, to compare a later one. [those of a check]",
    ),
]


@with_settings(*(option.name for option in OPTIONS if option.name not in NOT_HERE))
def record(
    ctx: typer.Context,
    flags: dict[str, object],
    runs: RunsOption = 1,
    output_file: FileOption = None,
    deep: DeepOption = 0,
) -> int:
    """Record the user's command; return 0 if losses were recorded, else the exit code of `run`."""
    from reprocheck import launch, settings
    from reprocheck.cli.console import Console
    from reprocheck.cli.failure import Interrupted
    from reprocheck.cli.run import entry_words, interpreter, kept, title
    from reprocheck.workflow.check import recorded

    held = replace(settings.load(flags, Path.cwd()), runs=runs)
    words = entry_words(ctx.meta[ENTRY], "record")
    if output_file is not None:
        _writable(output_file)
    entry = launch.entry_point(**words, python=interpreter(words, held))  # type: ignore[arg-type]
    folder = launch.prepare(held.output, entry.name)
    console = Console(held)
    console.begin(title(entry))
    try:
        check = recorded(entry, held, folder, console, deep=deep)
    except KeyboardInterrupt:
        raise Interrupted(kept(folder)) from None
    finally:
        console.clear()
    return _told(check, folder, output_file, console)


def failed(check: Check) -> bool:
    """Return whether nothing comparable was recorded.

    Also true if the script failed or timed out before it was.
    """
    from reprocheck.workflow.check import losses_of

    return not losses_of(check) or check.verdict.verdict in ("script_failed", "timed_out")


def _told(check: Check, folder: Path, file: Path | None, console: Console) -> int:
    """Pack the recording, print where it is, and return the exit code."""
    from reprocheck.cli import summary
    from reprocheck.recording import bundle

    if failed(check):
        summary.print_verdict(check, console)
        summary.print_place(check, console, Path(os.path.relpath(folder)), None)
        return check.verdict.exit_code or 3
    if file is not None:
        bundle.pack(folder, file)
    place = file or Path(os.path.relpath(folder))
    if console.quiet:
        console.out.line(str(place))
        return 0
    run = check.runs[0]
    counts = [
        count(len(check.runs), "run"),
        count(max(len(trace.losses) for trace in run.traces), "iteration"),
    ]
    if len(run.traces) > 1:
        counts.append(count(len(run.traces), "rank"))
    title = f"RECORDED  {', '.join(counts)}"
    summary.print_recording(console.out, title, place, "record the other side, and compare them:")
    return 0


def _writable(file: Path) -> None:
    """Raise an error, before the first run, if the recording cannot be written to `file`."""
    if file.is_dir():
        raise ReportError(
            f"{file} is a folder.",
            "Name a file with -o, such as run.zip; --output names the folder of recordings.",
        )
    if not file.absolute().parent.is_dir() or not os.access(file.absolute().parent, os.W_OK):
        raise ReportError(
            f"{file} cannot be written.", "Name a file in a folder that can be written with -o."
        )
