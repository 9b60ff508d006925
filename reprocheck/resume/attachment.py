"""The attachment of a check of a resume."""

from __future__ import annotations

from collections.abc import Mapping

from reprocheck import bundle
from reprocheck.redaction import Redaction, redacted
from reprocheck.resume.model import ResumeCheck
from reprocheck.resume.report import document, formats, rows


def made(check: ResumeCheck, redaction: Redaction, texts: Mapping[str, str]) -> bundle.Bundle:
    """Make the attachment, with the user's files where they are given."""
    shown = redacted(check, redaction)
    issue = formats.text(shown)
    pages = {
        "issue.md": issue,
        "report.html": formats.page(shown, issue.decode()),
        "report.json": document.render(shown),
        **bundle.source.files(texts, redaction),
        **bundle.source.logs(shown.runs),
    }
    causes = [cause for outcome in shown.outcomes for cause in outcome.causes]
    cited = [mark.source for cause in causes for mark in cause.marks]
    patches = [one.repair.patch for one in shown.outcomes if one.repair is not None]
    subject = bundle.Subject(
        title=shown.title,
        where=rows.sentence(shown.decisive.reason),
        command=rows.command(shown),
        cited=cited,
        diffs=(*patches, *(cause.fix for cause in causes)),
    )
    return bundle.of_pages(subject, pages, redaction)
