"""`--format` and `-o` of the commands that show a night: which of its files goes where."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from reprocheck.cli.destination import STDOUT, did_you_mean, named_file
from reprocheck.errors import ReportError, UsageError

if TYPE_CHECKING:
    from reprocheck.suite.pages import NightReport

NAMES = ("json", "junit", "md", "github")
SUFFIXES = {".json": "json", ".xml": "junit", ".md": "md"}
FormatOption = Annotated[
    str | None,
    typer.Option(
        "--format", metavar="|".join(NAMES), help="Print the night so, or write it to -o."
    ),
]
OutputOption = Annotated[
    str | None,
    typer.Option(
        "-o",
        metavar="FILE|-",
        help="File to write the night to, its format taken from the name; -: stdout.",
    ),
]


@dataclass(frozen=True, kw_only=True, slots=True)
class NightFile:
    """A format of `reprocheck.suite.pages.FORMATS`, and the file it goes to; None: stdout."""

    format: str
    file: Path | None

    def write(self, report: NightReport) -> None:
        """Draws the night and writes it. Raises ReportError where the file cannot be written."""
        from reprocheck.cli.terminal import standard_output
        from reprocheck.files.atomic import put
        from reprocheck.suite.pages import FORMATS

        data = FORMATS[self.format].render(report)
        if self.file is None:
            standard_output().data(data)
            return
        try:
            put(self.file, data)
        except OSError as error:
            raise _unwritable(self.file, error) from None


def night_file(format: str | None, output: str | None) -> NightFile | None:
    """What `--format` and `-o` ask for; None where neither is given.

    A file that cannot be written is known before the first check. Raises UsageError, ReportError.
    """
    from reprocheck.files.atomic import try_to_put

    if format is None and output is None:
        return None
    file = named_file(output)
    if format is None:
        format = SUFFIXES.get(Path(output or "").suffix.lower())
    if format is None:
        shown = "stdout" if output == STDOUT else f"{output}"
        raise UsageError(
            f"-o {shown} does not name a format of a night.", f"Add --format {'|'.join(NAMES)}."
        )
    if format not in NAMES:
        from reprocheck.settings import nearest

        fix = did_you_mean(nearest(format, NAMES), NAMES)
        raise UsageError(f"--format {format}: there is no such format of a night.", fix)
    if file is not None:
        try:
            try_to_put(file)
        except OSError as error:
            raise _unwritable(file, error) from None
    return NightFile(format=format, file=file)


def _unwritable(file: Path, error: OSError) -> ReportError:
    return ReportError(
        f"{file} cannot be written: {error.strerror or error}.", "Name another file with -o."
    )
