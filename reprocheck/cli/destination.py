"""`--format` and `-o`: which report goes where besides the report folder."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from reprocheck.cli.parameters import option
from reprocheck.errors import ReportError, UsageError

if TYPE_CHECKING:
    from reprocheck.model import Check

STDOUT = "-"
SUFFIXES = {
    ".html": "html",
    ".md": "md",
    ".json": "json",
    ".xml": "junit",
    ".csv": "csv",
    ".svg": "svg",
    ".png": "png",
}
NAMES = ("html", "md", "json", "junit", "csv")
"""The formats that `--format` completes and its help names; report.FORMATS holds all of them."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Formats:
    """What a command writes: the formats that its help names, those that a suffix stands for, and
    what a message calls one of them.
    """

    names: tuple[str, ...]
    suffixes: Mapping[str, str]
    called: str

    @property
    def known(self) -> tuple[str, ...]:
        """Each format once, those that the help names first."""
        return tuple(dict.fromkeys((*self.names, *self.suffixes.values())))


REPORT = Formats(names=NAMES, suffixes=SUFFIXES, called="report format")


def _complete(incomplete: str) -> list[str]:
    return [name for name in NAMES if name.startswith(incomplete)]


FormatOption = Annotated[
    str | None,
    option(
        "--format",
        metavar="|".join(NAMES),
        help="Print this report instead, or write it to -o.",
        autocompletion=_complete,
    ),
]
OutputOption = Annotated[
    str | None,
    option(
        "-o",
        metavar="FILE|-",
        help="File to write the report to, its format taken from the name; -: stdout.",
    ),
]


@dataclass(frozen=True, kw_only=True, slots=True)
class Destination:
    """A format of a command's reports, and the file it goes to; None: stdout."""

    format: str
    file: Path | None

    @property
    def is_stdout(self) -> bool:
        """Whether stdout holds data and nothing else."""
        return self.file is None

    def write(self, check: Check) -> None:
        """Draw the report and write it. Raises ReportError where the file cannot be written."""
        from reprocheck.report import FORMATS

        self.put(FORMATS[self.format].render(check))

    def put(self, data: bytes) -> None:
        """Write a report. Raises ReportError where the file cannot be written."""
        from reprocheck.cli.terminal import standard_output
        from reprocheck.files.atomic import put

        if self.file is None:
            standard_output().data(data)
            return
        try:
            put(self.file, data)
        except OSError as error:
            raise _unwritable(self.file, error) from None


def destination(
    format: str | None, output: str | None, formats: Formats = REPORT
) -> Destination | None:
    """Return what `--format` and `-o` ask for; None where neither is given.

    A file that cannot be written is known before the first run. Raises UsageError, ReportError.
    """
    from reprocheck.files.atomic import try_to_put

    if format is None and output is None:
        return None
    file = named_file(output)
    if format is None:
        format = formats.suffixes.get(Path(output or "").suffix.lower())
    if format is None:
        shown = "stdout" if output == STDOUT else output
        raise UsageError(
            f"-o {shown} does not name a {formats.called}.",
            f"Add --format {'|'.join(formats.names)}.",
        )
    _check(format, formats)
    if file is not None:
        try:
            try_to_put(file)
        except OSError as error:
            raise _unwritable(file, error) from None
    return Destination(format=format, file=file)


def _check(format: str, formats: Formats) -> None:
    from reprocheck.settings import nearest

    if format not in formats.known:
        fix = did_you_mean(nearest(format, formats.known), formats.names)
        raise UsageError(f"--format {format}: there is no such {formats.called}.", fix)


def did_you_mean(meant: str | None, names: Iterable[str]) -> str:
    """Return what to type instead of a word that is not known: the nearest, and all there are."""
    fix = f"Take {', '.join(names)}."
    if not meant:
        return fix
    return f"Did you mean {meant}? {fix}"


def named_file(output: str | None) -> Path | None:
    """Return the file that `-o` names; None for stdout."""
    if output in (None, STDOUT):
        return None
    return Path(str(output))


def _unwritable(file: Path, error: OSError) -> ReportError:
    return ReportError(
        f"{file} cannot be written: {error.strerror or error}.", "Name another file with -o."
    )
