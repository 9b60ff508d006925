"""What a night says, as files: JUnit, JSON, Markdown, annotations; the site; notices.

    FORMATS, write(report, folder)   its formats by name; all of them into a folder

A renderer is a pure function of its report: the same history gives the same bytes.
"""

from __future__ import annotations

from reprocheck.suite.pages.formats import FORMATS, Format, write

__all__ = ["FORMATS", "Format", "write"]
