"""The attachment of a bug report: what of a check is sent, in one file.

    made(check, redaction)           the files of the attachment
    archive.packed(files)            the same as a zip

Imports report, redaction, model, files and errors.
"""

from __future__ import annotations

from reprocheck.bundle.contents import Bundle, made

__all__ = ["Bundle", "made"]
