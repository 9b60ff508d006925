"""The table of formats of a check of a resume, and writing them into its folder."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from reprocheck.errors import UsageError
from reprocheck.redaction import Redaction, redacted, redaction_of
from reprocheck.report import html, markdown
from reprocheck.resume.model import ResumeCheck
from reprocheck.resume.records import put
from reprocheck.resume.report import content, document
from reprocheck.resume.report.drawings import drawing


@dataclass(frozen=True, kw_only=True, slots=True)
class Format:
    """A report, the file it is written to, and how it is drawn with what may stand there."""

    filename: str
    render: Callable[[ResumeCheck], bytes]


def _shown(check: ResumeCheck) -> ResumeCheck:
    return redacted(check, Redaction("folder"))


def text(check: ResumeCheck) -> bytes:
    """Return the Markdown of a check of which nothing more is to be taken out."""
    return markdown.render(content.report(check))


def page(check: ResumeCheck, issue: str) -> bytes:
    """Return the page of a check of which nothing more is to be taken out.

    issue   what its button copies
    """
    drawn = tuple(drawing(outcome, number) for number, outcome in enumerate(check.outcomes))
    return html.render(content.report(check, drawn), issue)


def _page(check: ResumeCheck) -> bytes:
    """Draw the page; what its button copies may leave the machine."""
    leaving = redacted(check, redaction_of(check, "paste"))
    return page(_shown(check), text(leaving).decode())


FORMATS: Mapping[str, Format] = {
    "json": Format(filename="report.json", render=lambda check: document.render(_shown(check))),
    "md": Format(filename="report.md", render=lambda check: text(_shown(check))),
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
