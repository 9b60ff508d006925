"""`reprocheck report DIR`: the reports of a recorded check, drawn again from its traces."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated

import typer

from reprocheck.cli.destination import FormatOption, OutputOption, destination
from reprocheck.errors import ReportError


def report(
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="A report folder, such as reports/latest.")],
    format: FormatOption = None,
    output_file: OutputOption = None,
) -> int:
    """Draws the reports again: all of them into DIR, or one to stdout or a file. Exit 0 whatever the verdict was."""
    target = destination(format, output_file)
    _exists(folder)
    from reprocheck import replay, report
    from reprocheck.cli.terminal import Stream, standard_error, standard_output

    loaded = replay.load(folder.resolve())
    if target is None:
        report.write(loaded, folder.resolve())
        standard_output().line(f"{loaded.verdict.title}  {os.path.relpath(folder / report.FORMATS['html'].filename)}")
        return 0
    target.write(loaded)
    if target.file is not None:
        stream: Stream = standard_error()
        stream.line(f"{loaded.verdict.title}  {target.file}")
    return 0


def _exists(folder: Path) -> None:
    if folder.is_file():
        raise ReportError(f"{folder} is a file.", f"Name the report folder that holds it: {folder.parent}.")
    if folder.is_dir():
        return
    others = [path.parent for path in folder.parent.glob("*/record.json") if not path.parent.is_symlink()]
    fix = f"The newest one there is {max(others, key=lambda path: path.stat().st_mtime)}." if others else "`reprocheck run` makes one."
    raise ReportError(f"There is no report folder {folder}.", fix)
