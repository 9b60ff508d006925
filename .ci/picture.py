"""The picture of the README: the first screen of the sample report, in Chromium.

    python .ci/picture.py reports/sample/report.html docs/images/report.png

The picture names the page that it shows by its checksum: fonts and browsers differ in pixels, so a
test compares that.
"""

from __future__ import annotations

import hashlib
import io
import sys
from pathlib import Path

from PIL import Image, PngImagePlugin
from playwright.sync_api import sync_playwright

CHROMIUM = "/usr/bin/chromium"
SIZE = {"width": 1280, "height": 800}
PAGE = "sha256 of the page"


def screen(page: Path) -> bytes:
    """The first screen of a page, light, as PNG."""
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        tab = browser.new_page(viewport=SIZE, color_scheme="light", reduced_motion="reduce")
        tab.goto(page.resolve().as_uri())
        taken = tab.screenshot()
        browser.close()
    return taken


def main() -> int:
    """Draws the picture of one file into another."""
    page, picture = Path(sys.argv[1]), Path(sys.argv[2])
    shown = PngImagePlugin.PngInfo()
    shown.add_text(PAGE, hashlib.sha256(page.read_bytes()).hexdigest())
    image = Image.open(io.BytesIO(screen(page))).convert("RGB").quantize(256)
    image.save(picture, optimize=True, pnginfo=shown)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
