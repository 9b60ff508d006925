"""How the page of a report can be read: `python -m benchmarks.page`. `--write` puts the table into
docs/reference/report.md.

Checks made by hand, one of each kind, are drawn and looked at in Chromium: whether verdict, cause
and fix are on the first screen, how much of the text is there without JavaScript, and what axe-core
objects to.
"""

from __future__ import annotations

import argparse
import re
import tempfile
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

CHROMIUM = "/usr/bin/chromium"
SCREENS = {"wide": (1280, 800), "narrow": (390, 844)}
SCHEMES = ("light", "dark")
ALL: dict[str, object] = {}
LOOKS: dict[str, object] = {
    "runOnly": [
        "color-contrast",
        "link-in-text-block",
        "scrollable-region-focusable",
        "target-size",
    ]
}
"""Rules whose outcome depends on colours and sizes. All others read the document, which is the same
in every view.
"""
TWO_VIEWS = (("light", 1280, ALL), ("dark", 390, LOOKS))
"""Colours depend on the theme alone and sizes on the width alone: two views have all of them."""
FOUR_VIEWS = tuple((scheme, width, ALL) for scheme in SCHEMES for width, _ in SCREENS.values())
LEAST_SHARE = 0.8
"""Of the words that are seen with JavaScript: those that have to be there without it."""
PAGE = Path("docs/reference/report.md")
BEGIN, END = "<!-- table of pages -->", "<!-- end of the pages -->"
HEAD = (
    "| check | page | verdict, cause and fix end at, 1280 × 800 | 390 × 844 | words without"
    " JavaScript | as it opens | violations |",
    "|---|--:|--:|--:|--:|--:|--:|",
)
_RUN = "(rules) => axe.run({ ...rules, resultTypes: ['violations'] })"


def objections(page: Any, views: Any = TWO_VIEWS) -> dict[str, list[str]]:
    """What axe-core objects to on an open page, by theme, width and rule: the elements.

    Everything is unfolded. `page` was opened with `bypass_csp`: the policy of a page keeps out what
    axe brings along.
    """
    # here: tests without a browser are collected where axe is not installed
    from axe_playwright_python.base import AXE_SCRIPT

    page.evaluate(AXE_SCRIPT)
    page.evaluate("document.querySelectorAll('details').forEach((one) => { one.open = true })")
    found = {}
    for scheme, width, rules in views:
        page.emulate_media(color_scheme=scheme)
        page.set_viewport_size({"width": width, "height": 900})
        result = page.evaluate(_RUN, rules)
        assert len(result["passes"]) > (1 if rules else 20), "axe looked at next to nothing"
        for rule in result["violations"]:
            targets = [str(node["target"][0]) for node in rule["nodes"]]
            found[f"{scheme}, {width}: {rule['id']}"] = targets
    return found


def answer_ends(browser: Any, file: Path, screen: str) -> float:
    """Where verdict, cause and fix end on a page as it opens, in pixels from the top.

    Of a fix that is code or a patch, all of its lines count.
    """
    width, height = SCREENS[screen]
    page = browser.new_page(viewport={"width": width, "height": height})
    page.goto(file.as_uri())
    parts = [page.locator("section.verdict")]
    cause = page.locator("article.cause").first
    if page.locator("#cause").count():
        fix = cause.locator(".copyable, p:has(.fix)").last
        parts = [page.locator("h1"), page.locator(".reason"), cause.locator("h3"), fix]
    boxes = [part.bounding_box() for part in parts]
    page.close()
    return max(box["y"] + box["height"] for box in boxes)


def unfolded(text: str) -> str:
    """A page with all that a reader can unfold, which takes no JavaScript."""
    return re.sub(r"<details(?! open)", "<details open", text)


def share_without_javascript(browser: Any, file: Path) -> float:
    """Of the words that are seen on a page with JavaScript, those that are seen without it."""
    seen = {}
    for scripts in (True, False):
        page = browser.new_page(java_script_enabled=scripts)
        page.goto(file.as_uri())
        seen[scripts] = Counter(page.inner_text("body").split())
        page.close()
    return float((seen[True] & seen[False]).total() / seen[True].total())


@dataclass(frozen=True, kw_only=True, slots=True)
class Read:
    """How a page can be read.

    ends        where verdict, cause and fix end, by screen: see `answer_ends`
    words, opens  the share of words that is there without JavaScript: with all unfolded, and as the
                page opens
    violations  of the rules of axe-core, in four views
    """

    bytes: int
    ends: dict[str, float]
    words: float
    opens: float
    violations: int

    @property
    def good(self) -> bool:
        """Whether the page keeps what is promised of it."""
        fits = all(self.ends[screen] <= height for screen, (_, height) in SCREENS.items())
        return fits and min(self.words, self.opens) >= LEAST_SHARE and not self.violations


def read(browser: Any, file: Path) -> Read:
    """Looks at a page in every way."""
    open_file = file.with_suffix(".unfolded.html")
    open_file.write_text(unfolded(file.read_text()))
    page = browser.new_page(bypass_csp=True)
    page.goto(file.as_uri())
    violations = len(objections(page, FOUR_VIEWS))
    page.close()
    return Read(
        bytes=file.stat().st_size,
        ends={screen: answer_ends(browser, file, screen) for screen in SCREENS},
        words=share_without_javascript(browser, open_file),
        opens=share_without_javascript(browser, file),
        violations=violations,
    )


def checks() -> Iterator[tuple[str, bytes]]:
    """Each kind of check in words, with its page."""
    from reprocheck.recording import bundle
    from reprocheck.report import FORMATS
    from reprocheck.workflow import replay
    from tests.report import samples

    html = FORMATS["html"]
    with bundle.opened(Path("reports/sample/recording.zip")) as folder:
        yield "the sample: a confirmed cause, a patch", html.render(replay.load(folder))
    yield "a cause that was observed, code to paste", html.render(samples.explained())
    yield "a pass", html.render(samples.bitwise_equal())
    yield "a pass, and series that differ", html.render(samples.with_series())
    yield "64 ranks that diverge later", html.render(samples.many_ranks(64))
    yield "a script that failed", html.render(samples.script_failed())


def row(said: str, of: Read) -> str:
    """A row of the table."""
    ends = " | ".join(f"{of.ends[screen]:.0f}" for screen in SCREENS)
    shares = f"{of.words:.0%} | {of.opens:.0%}"
    return f"| {said} | {of.bytes / 1e3:.0f} kB | {ends} | {shares} | {of.violations} |"


def main() -> int:
    """Prints the table; exit 1 where a page does not keep what is promised."""
    from playwright.sync_api import sync_playwright

    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--write", action="store_true", help=f"put the table into {PAGE}")
    asked = parser.parse_args()
    found = []
    with sync_playwright() as playwright, tempfile.TemporaryDirectory() as folder:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        for number, (said, page) in enumerate(checks()):
            file = Path(folder, f"{number}.html")
            file.write_bytes(page)
            found.append((said, read(browser, file)))
        browser.close()
    table = "\n".join([*HEAD, *(row(*one) for one in found)])
    print(table)
    if asked.write:
        before, _, rest = PAGE.read_text().partition(BEGIN)
        after = rest.partition(END)[2]
        PAGE.write_text(f"{before}{BEGIN}\n{table}\n{END}{after}")
    return 0 if all(of.good for _, of in found) else 1


if __name__ == "__main__":
    raise SystemExit(main())
