"""The attachment of a check of a resume."""

from __future__ import annotations

from collections.abc import Mapping

from reprocheck.bundle import Bundle, Subject, of_pages, source
from reprocheck.redaction import Redaction, redacted
from reprocheck.resume.model import ResumeCheck
from reprocheck.resume.report import document, markdown, page, rows


def made(check: ResumeCheck, redaction: Redaction, texts: Mapping[str, str]) -> Bundle:
    """Make the attachment, with the user's files where they are given."""
    shown = redacted(check, redaction)
    pages = {
        "issue.md": markdown.render(shown),
        "report.html": page.render(shown),
        "report.json": document.render(shown),
        **source.files(texts, redaction),
        **source.logs(shown.runs),
    }
    causes = [cause for outcome in shown.outcomes for cause in outcome.causes]
    subject = Subject(
        title=shown.title,
        where=rows.sentence(shown.decisive.reason),
        command=rows.command(shown),
        cited=[cause.source for cause in causes if cause.source is not None],
        patched=any(outcome.repair for outcome in shown.outcomes),
    )
    return of_pages(subject, pages, redaction)
