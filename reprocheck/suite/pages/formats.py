"""The table of formats of a night, and writing them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from reprocheck.errors import ReportError
from reprocheck.files.atomic import replacing
from reprocheck.redaction import Redaction, redacted
from reprocheck.suite.model import NightReport
from reprocheck.suite.pages import document, github, junit, markdown


@dataclass(frozen=True, kw_only=True, slots=True)
class Format:
    """Describe a file format of a night: its name, its file, and the function that renders it.

    `draw` is pure: no clock, no environment, no network; the same bytes for the same night.
    """

    name: str
    filename: str
    draw: Callable[[NightReport], bytes]

    def render(self, report: NightReport) -> bytes:
        """Redact the report of a night, and render it in this format."""
        return self.draw(redacted(report, Redaction("folder")))


_ALL = (
    Format(name="json", filename="night.json", draw=document.render),
    Format(name="junit", filename="junit.xml", draw=junit.render),
    Format(name="md", filename="summary.md", draw=markdown.render),
    Format(name="github", filename="annotations.txt", draw=github.render),
)
FORMATS: Mapping[str, Format] = {form.name: form for form in _ALL}
"""Name of a format -> the format. To add one, add a line above."""


def write(report: NightReport, folder: Path, formats: Iterable[str] = FORMATS) -> tuple[Path, ...]:
    """Write the formats (names in FORMATS, by default all) into a folder, which is made if needed.

    Returns the files. Raises ReportError if the folder cannot be written or the disk is full.
    """
    files = []
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for name in formats:
            form = FORMATS[name]
            file = folder / form.filename
            with replacing(file) as draft:
                draft.write(form.render(report))
            files.append(file)
    except OSError as error:
        reason = error.strerror or type(error).__name__
        raise ReportError(f"{folder} cannot be written: {reason}.", _FIX) from None
    return tuple(files)


_FIX = "Free some space; `reprocheck suite report` draws the night again, without running."
