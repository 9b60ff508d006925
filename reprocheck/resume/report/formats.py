"""The table of formats of a check of a resume, and writing them into its folder."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from reprocheck.errors import UsageError
from reprocheck.redaction import Redaction, redacted, redaction_of
from reprocheck.resume.model import ResumeCheck
from reprocheck.resume.report import document, markdown, page
from reprocheck.resume.report_files import put


@dataclass(frozen=True, kw_only=True, slots=True)
class Format:
    """A report, the file it is written to, and how it is drawn with what may stand there."""

    filename: str
    render: Callable[[ResumeCheck], bytes]


def _shown(check: ResumeCheck) -> ResumeCheck:
    return redacted(check, Redaction("folder"))


def _page(check: ResumeCheck) -> bytes:
    """Draw the page; what its button copies may leave the machine."""
    leaving = redacted(check, redaction_of(check, "paste"))
    return page.render(_shown(check), markdown.render(leaving).decode())


FORMATS: Mapping[str, Format] = {
    "json": Format(filename="report.json", render=lambda check: document.render(_shown(check))),
    "md": Format(filename="report.md", render=lambda check: markdown.render(_shown(check))),
    "html": Format(filename="report.html", render=_page),
}


def known(name: str) -> str:
    """Return the name of a format, where there is such a report. Raises UsageError."""
    if name not in FORMATS:
        raise UsageError(
            f"A check of a resume has no report in the format {name}.",
            f"Take {', '.join(FORMATS)}.",
        )
    return name


def write(check: ResumeCheck, folder: Path, formats: Iterable[str] | None = None) -> None:
    """Write the formats (all by default) into a folder. Raises ReportError."""
    for name in FORMATS if formats is None else formats:
        form = FORMATS[name]
        put(folder, form.filename, form.render(check))
