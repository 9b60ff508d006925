"""Run `reprocheck report DIR`: draw the reports of a recorded check again from its traces.

`-o FILE.zip` packs the check to be sent.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from reprocheck.cli.destination import Destination, FormatOption, OutputOption, destination
from reprocheck.cli.parameters import argument, with_settings
from reprocheck.errors import ReportError, UsageError

if TYPE_CHECKING:
    from reprocheck.model import Check
    from reprocheck.resume.model import ResumeCheck

PACKED = ".zip"


@with_settings("lang")
def report(
    flags: dict[str, object],
    folder: Annotated[
        Path,
        argument(
            metavar="DIR|ZIP", help="A report folder, such as reports/latest, or the zip of one."
        ),
    ],
    format: FormatOption = None,
    output_file: OutputOption = None,
) -> int:
    """Draw the reports again: all of them into DIR, or one to stdout or a file.

    Exit 0 whatever the verdict was.
    """
    from reprocheck import settings
    from reprocheck.language import spoken

    if format is None and output_file is not None and output_file.lower().endswith(PACKED):
        return _pack(folder, Path(output_file))
    target = destination(format, output_file)
    with spoken(settings.load(flags, Path.cwd()).lang):
        if _is_zip(folder):
            return _drawn_from_zip(folder, target)
        _exists(folder)
        return _drawn(folder.resolve(), folder.resolve(), Path(os.path.relpath(folder)), target)


def _drawn(recording: Path, into: Path, shown: Path, target: Destination | None) -> int:
    """Draw the reports of a check into another folder, or one to its target; return the check."""
    from reprocheck import report
    from reprocheck.cli.terminal import standard_error, standard_output
    from reprocheck.language import spoken
    from reprocheck.resume import records
    from reprocheck.workflow import replay

    if records.is_one(recording):
        with spoken("en"):
            return _resume_drawn(recording, into, shown, target)
    loaded = replay.load(recording)
    if target is None:
        into.mkdir(exist_ok=True)
        report.write(loaded, into)
        standard_output().line(f"{loaded.verdict.title}  {shown / report.FORMATS['html'].filename}")
        return 0
    target.write(loaded)
    if target.file is not None:
        standard_error().line(f"{loaded.verdict.title}  {target.file}")
    return 0


def _resume_drawn(recording: Path, into: Path, shown: Path, target: Destination | None) -> int:
    """Draw the reports of a resume check into a folder, or one to its target; return the check."""
    from reprocheck.cli.terminal import standard_output
    from reprocheck.resume.check import load
    from reprocheck.resume.report.formats import FORMATS, known, write

    loaded = load(recording)
    if target is not None:
        target.put(FORMATS[known(target.format)].render(loaded))
        return 0
    into.mkdir(exist_ok=True)
    write(loaded, into)
    standard_output().line(f"{loaded.title}  {shown / FORMATS['html'].filename}")
    return 0


def _drawn_from_zip(file: Path, target: Destination | None) -> int:
    """Draw the reports of a zipped check into a new folder beside the zip, with the zip's name."""
    from reprocheck.recording import bundle

    into = file.with_suffix("")
    if target is None and into.exists():
        raise ReportError(
            f"{into} exists, and the reports of {file} would go there.",
            "Remove it, or ask for one report: -o report.html",
        )
    with bundle.opened(file) as recording:
        return _drawn(recording, into, Path(os.path.relpath(into)), target)


def _pack(folder: Path, file: Path) -> int:
    """Pack a whole check into one file: its recording, and the reports that exist."""
    from reprocheck.cli.terminal import standard_output
    from reprocheck.recording import bundle
    from reprocheck.report import FORMATS

    if _is_zip(folder):
        raise UsageError(f"{folder} is packed already.", "Name a report folder.")
    _exists(folder)
    bundle.pack_all(folder.resolve(), file, [form.filename for form in FORMATS.values()])
    standard_output().line(f"PACKED  {file}")
    return 0


@contextmanager
def loaded(folder: Path) -> Iterator[Check | ResumeCheck]:
    """Yield the check in a report folder or in a zip; its files exist only within the block.

    Raises ReportError.
    """
    from reprocheck.recording import bundle
    from reprocheck.resume import check as resume, records
    from reprocheck.workflow import replay

    with ExitStack() as stack:
        if _is_zip(folder):
            folder = stack.enter_context(bundle.opened(folder))
        else:
            _exists(folder)
            folder = folder.resolve()
        yield resume.load(folder) if records.is_one(folder) else replay.load(folder)


def _is_zip(path: Path) -> bool:
    return path.suffix.lower() == PACKED and path.is_file()


def _exists(folder: Path) -> None:
    if folder.is_file():
        raise ReportError(
            f"{folder} is a file.", f"Name the report folder that holds it: {folder.parent}."
        )
    if folder.is_dir():
        return
    others = [
        path.parent for path in folder.parent.glob("*/record.json") if not path.parent.is_symlink()
    ]
    fix = (
        f"The newest one there is {max(others, key=lambda path: path.stat().st_mtime)}."
        if others
        else "`reprocheck run` makes one."
    )
    raise ReportError(f"There is no report folder {folder}.", fix)
