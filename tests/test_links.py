"""Every relative link of the documentation leads to a file that is in the repository, and to a
heading that is in that file.
"""

from __future__ import annotations

import re
import subprocess
from functools import cache
from itertools import pairwise
from pathlib import Path
from urllib.parse import unquote

import pytest
from markdown_it import MarkdownIt
from markdown_it.token import Token

from tests.conftest import ROOT

PAGES = sorted(
    path.relative_to(ROOT).as_posix()
    for pattern in (
        "*.md",
        "docs/**/*.md",
        "examples/**/*.md",
        "benchmarks/*.md",
        "reports/README.md",
        "reports/sample/*.md",
    )
    for path in ROOT.glob(pattern)
)


def tokens(page: Path) -> list[Token]:
    found = MarkdownIt("commonmark").enable("table").parse(page.read_text(encoding="utf-8"))
    return [one for token in found for one in (token, *(token.children or ()))]


def links(page: Path) -> list[str]:
    """The targets of links and pictures, those with a scheme of their own left out."""
    targets = [
        str(token.attrGet("href") or token.attrGet("src") or "")
        for token in tokens(page)
        if token.type in ("link_open", "image")
    ]
    return [target for target in targets if target and not re.match(r"[a-z]+:", target)]


@cache
def anchors(page: Path) -> frozenset[str]:
    """The anchors of the headings, as forges make them."""
    every = tokens(page)
    titles = [
        "".join(part.content for part in after.children or ())
        for token, after in pairwise(every)
        if token.type == "heading_open"
    ]
    slugs = [re.sub(r"[^\w\- ]", "", title.lower()).strip().replace(" ", "-") for title in titles]
    again = {f"{slug}-{number}" for slug in slugs for number in range(1, slugs.count(slug))}
    written = set(re.findall(r'<a (?:id|name)="([^"]+)"', page.read_text(encoding="utf-8")))
    return frozenset({*slugs, *again, *written})


@cache
def tracked() -> frozenset[Path]:
    """The files of the repository and their folders."""
    if not (ROOT / ".git").exists():
        pytest.skip("not a checkout")
    done = subprocess.run(
        ["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=True
    )
    files = [ROOT / name for name in done.stdout.split("\0") if name]
    return frozenset({parent for file in files for parent in (file, *file.parents)})


@pytest.mark.parametrize("page", PAGES)
def test_links_lead_somewhere(page: str) -> None:
    source = ROOT / page
    broken = []
    for link in links(source):
        path, _, anchor = unquote(link).partition("#")
        target = (source.parent / path).resolve() if path else source
        if target not in tracked():
            broken.append(f"{link}: git knows no such file; a new one needs `git add`")
        elif anchor and anchor not in anchors(target):
            broken.append(f"{link}: there is no such heading")
    assert broken == []


def test_the_pages_that_a_reader_begins_with_are_among_them() -> None:
    assert {
        "README.md",
        "CONTRIBUTING.md",
        "CHANGELOG.md",
        "docs/tutorial.md",
        "docs/reference/cli.md",
        "reports/README.md",
    } <= set(PAGES)
