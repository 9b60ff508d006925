"""A session's browser, and the folders of checks written once."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

CHROMIUM = Path("/usr/bin/chromium")


@pytest.fixture(scope="session")
def browser() -> Iterator[Any]:
    """Chromium of the system, headless."""
    if not CHROMIUM.exists():
        pytest.skip("Chromium is not installed")
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        made = playwright.chromium.launch(
            executable_path=str(CHROMIUM), args=["--no-sandbox", "--disable-gpu"]
        )
        yield made
        made.close()


@pytest.fixture(scope="session")
def pages(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """report.html of every sample."""
    from reprocheck.report import write
    from tests.report.samples import SAMPLES, million

    folder = tmp_path_factory.mktemp("pages")
    made = {}
    for name, sample in (*SAMPLES.items(), ("million", million)):
        target = folder / name
        target.mkdir()
        write(sample(), target, ["html"])
        made[name] = target / "report.html"
    return made
