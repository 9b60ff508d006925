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
    """Describe the formats that a command writes.

    Those that its help names, those that a file suffix selects, and what messages call a report.
    """

    names: tuple[str, ...]
    suffixes: Mapping[str, str]
    called: str

    @property
    def known(self) -> tuple[str, ...]:
        """Return each format once, the formats that the help names first."""
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
    """Hold the format of a report and its file; None: stdout."""

    format: str
    file: Path | None

    @property
    def is_stdout(self) -> bool:
        """Return whether the report goes to stdout, so that nothing else may be printed there."""
        return self.file is None

    def write(self, check: Check) -> None:
        """Draw the report and write it. Raises ReportError if the file cannot be written."""
        from reprocheck.report import FORMATS

        self.put(FORMATS[self.format].render(check))

    def put(self, data: bytes) -> None:
        """Write the bytes of a report. Raises ReportError if the file cannot be written."""
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
    """Return the destination that `--format` and `-o` ask for; None if neither is given.

    An unwritable file is an error before the first run. Raises UsageError, ReportError.
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
    """Return a hint for an unknown word: the nearest name, and all names."""
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
