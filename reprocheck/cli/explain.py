"""Run `reprocheck explain`: a check, its ladder, and a search that confirms the cause."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from reprocheck.cli.destination import FormatOption, OutputOption, destination
from reprocheck.cli.parameters import ENTRY, option, with_settings
from reprocheck.cli.run import ValuesOption
from reprocheck.errors import ReportError, UsageError
from reprocheck.settings import OPTIONS

OWN = ("explain", "level")
"""Options of `run` that mean nothing here."""
PatchOption = Annotated[
    Path | None,
    option(
        "--write-patch",
        metavar="FILE",
        help="Write the patch to this file; `patch -p1` applies it.",
    ),
]
ResumeOption = Annotated[
    bool,
    option(
        "--resume",
        help="Explain why a resume is not exact: then the options are those of `resume`.",
    ),
]


@with_settings(*(option.name for option in OPTIONS if option.name not in OWN))
def explain(
    ctx: typer.Context,
    flags: dict[str, object],
    resume: ResumeOption = False,
    write_patch: PatchOption = None,
    format: FormatOption = None,
    output_file: OutputOption = None,
    with_values: ValuesOption = False,
) -> int:
    """Find the cause of a failed check; return the exit code of the verdict."""
    from reprocheck import settings
    from reprocheck.cli.console import Console
    from reprocheck.cli.run import entry_words, perform
    from reprocheck.language import spoken

    if resume:  # else `application` has made another command of it
        raise UsageError("--resume stands too late.", "Write `reprocheck explain --resume …`.")
    held = replace(settings.load(flags, Path.cwd()), explain=True)
    words = entry_words(ctx.meta[ENTRY], "explain")
    target = destination(format, output_file)
    if write_patch is not None:
        writable(write_patch)
    console = Console(held, target)
    with spoken(held.lang):
        return perform(
            words,
            held,
            console,
            target,
            search=True,
            write_patch=write_patch,
            values=with_values,
        )


def writable(file: Path) -> None:
    """Raise ReportError, before the first run, if the patch cannot be written to `file`."""
    if file.is_dir():
        raise ReportError(f"{file} is a folder.", "Name a file with --write-patch.")
    if not file.parent.is_dir():
        raise ReportError(
            f"{file} cannot be written: there is no folder {file.parent}.",
            "Name another file with --write-patch.",
        )
