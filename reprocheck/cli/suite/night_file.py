"""`--format` and `-o` of the commands that show a night: which of its files goes where."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from reprocheck.cli.destination import Destination, Formats, destination
from reprocheck.cli.parameters import option

if TYPE_CHECKING:
    from reprocheck.suite.model import NightReport

NIGHT = Formats(
    names=("json", "junit", "md", "github"),
    suffixes={".json": "json", ".xml": "junit", ".md": "md"},
    called="format of a night",
)
FormatOption = Annotated[
    str | None,
    option(
        "--format", metavar="|".join(NIGHT.names), help="Print the night so, or write it to -o."
    ),
]
OutputOption = Annotated[
    str | None,
    option(
        "-o",
        metavar="FILE|-",
        help="File to write the night to, its format taken from the name; -: stdout.",
    ),
]


def night_file(format: str | None, output: str | None) -> Destination | None:
    """Return the destination that `--format` and `-o` ask for; None if neither is given.

    An unwritable file is an error before the first check. Raises UsageError, ReportError.
    """
    return destination(format, output, NIGHT)


def write_night(file: Destination, report: NightReport) -> None:
    """Draw the night and write it. Raises ReportError if the file cannot be written."""
    from reprocheck.suite.pages import FORMATS

    file.put(FORMATS[file.format].render(report))
