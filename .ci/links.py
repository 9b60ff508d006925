"""Every link and picture of a built site leads to a file of the site, and to an anchor in it;
nothing is loaded from another server.

    python .ci/links.py .site_cache/site
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

LOADED = {("script", "src"), ("img", "src"), ("iframe", "src")}
"""What a browser fetches by itself."""
PLACES = {*LOADED, ("a", "href"), ("link", "href")}
ABSENT = "404.html"
"""Shown below any address: its links begin at the root of the server."""


@dataclass(frozen=True)
class Link:
    """Where a tag leads to, and whether the browser goes there by itself."""

    target: str
    loaded: bool


@dataclass
class Page(HTMLParser):
    """The anchors and links of a page."""

    anchors: set[str] = field(default_factory=set)
    links: list[Link] = field(default_factory=list)

    def __post_init__(self) -> None:
        super().__init__()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        for name, value in attrs:
            if name == "id" or (tag, name) == ("a", "name"):
                self.anchors.add(value or "")
            elif (tag, name) in PLACES:
                stylesheet = tag == "link" and ("rel", "stylesheet") in attrs
                loaded = (tag, name) in LOADED or stylesheet
                self.links.append(Link(value or "", loaded))


def read(file: Path) -> Page:
    """The page in a file."""
    page = Page()
    page.feed(file.read_text(encoding="utf-8"))
    return page


def wrong(site: Path) -> Iterator[str]:
    """What is wrong with the links of a site, one sentence each."""
    pages = {file: read(file) for file in sorted(site.rglob("*.html")) if file.name != ABSENT}
    for file, page in pages.items():
        for link in page.links:
            reason = _reason(link, file, pages)
            if reason is not None:
                yield f"{file.relative_to(site)}: {link.target}: {reason}"


def _reason(link: Link, file: Path, pages: dict[Path, Page]) -> str | None:
    """Why a link is wrong; None where it is right, or leads out of the site."""
    parts = urlsplit(link.target)
    if parts.scheme or parts.netloc:
        outside = link.loaded and parts.scheme != "data"
        return "it is loaded from another server" if outside else None
    found = file
    if parts.path:
        found = (file.parent / unquote(parts.path)).resolve()
    if found.is_dir():
        found = found / "index.html"
    if not found.is_file():
        return "there is no such file"
    known = pages.get(found)
    if not parts.fragment or known is None or unquote(parts.fragment) in known.anchors:
        return None
    return "there is no such anchor"


def main() -> int:
    """1 where a link is wrong; each is printed."""
    found = list(wrong(Path(sys.argv[1]).resolve()))
    for line in found:
        print(line, file=sys.stderr)
    return int(bool(found))


if __name__ == "__main__":
    raise SystemExit(main())
