"""The attachment of a bug report: what of a check is sent, in one file.

    made(check, redaction)           the files of the attachment
    of_pages(subject, pages, ...)    the same of pages that were drawn elsewhere
    archive.packed(files)            the same as a zip

Imports report, redaction, model, files and errors.
"""

from __future__ import annotations

from reprocheck.bundle.contents import Bundle, made, of_pages
from reprocheck.bundle.manifest import Subject

__all__ = ["Bundle", "Subject", "made", "of_pages"]
