"""Where the pages of the site and the reports of the checks lie, from the page that links them."""

from __future__ import annotations

from urllib.parse import quote

from reprocheck.report import FORMATS
from reprocheck.report.text import valid
from reprocheck.suite.model import TargetReport
from reprocheck.suite.targets.selection import folder_name

INDEX = "index.html"
SITE = "site"
"""The folder of the site, in the folder of the suite."""


def target_file(name: str) -> str:
    """Return the path of a target's page, relative to the folder of the site."""
    return f"targets/{folder_name(valid(name))}.html"


def night_file(night: str) -> str:
    """Return the path of a night's page, relative to the folder of the site."""
    return f"nights/{night}.html"


def to(file: str, root: str) -> str:
    """Return a link to a file of the site.

    `root`: the relative path from the page to the site's folder.
    """
    return root + quote(valid(file))


def report(folder: str, root: str) -> str:
    """Return a link to the report in a folder of the suite; "" if there is none.

    `root`: as in `to`.
    """
    if not folder:
        return ""
    return f"{root}../{quote(valid(folder))}/{FORMATS['html'].filename}"


def comparison(target: TargetReport, root: str) -> str:
    """Return a link to the comparison of a target with the last good night.

    It is "" if there is none. `root`: as in `to`.
    """
    return "" if target.state is None else report(target.state.suspect.report, root)
