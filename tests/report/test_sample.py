"""The sample in the repository is what its recording says today."""

from __future__ import annotations

import hashlib
import re
from importlib.metadata import version
from pathlib import Path

import pytest
from PIL import Image

from reprocheck.recording import bundle
from reprocheck.report import FORMATS
from reprocheck.workflow import replay
from tests.conftest import ROOT

SAMPLE = ROOT / "reports" / "sample"
AGAIN = "run `bash .ci/sample`, and look at what it changes"


def pinned(package: str) -> str:
    """The version in constraints.txt, with which the sample is drawn."""
    found = re.search(rf"^{package}==(.+)$", (ROOT / "constraints.txt").read_text(), re.MULTILINE)
    assert found is not None
    return found[1]


def drawn(name: str) -> bytes:
    with bundle.opened(SAMPLE / "recording.zip") as folder:
        return FORMATS[name].render(replay.load(folder))


def test_the_text_of_the_sample_is_drawn_from_its_recording() -> None:
    assert drawn("md") == (SAMPLE / "report.md").read_bytes(), AGAIN


@pytest.mark.skipif(
    version("matplotlib") != pinned("matplotlib"),
    reason="other versions of matplotlib draw other curves",
)
def test_the_page_of_the_sample_is_drawn_from_its_recording() -> None:
    assert drawn("html") == (SAMPLE / "report.html").read_bytes(), AGAIN


def test_the_picture_shows_the_page_of_the_sample() -> None:
    with Image.open(ROOT / "docs" / "images" / "report.png") as picture:
        shown = picture.info["sha256 of the page"]
    assert shown == hashlib.sha256((SAMPLE / "report.html").read_bytes()).hexdigest(), AGAIN


def test_the_sample_is_small_and_names_nobody() -> None:
    files = {path.name: path.read_bytes() for path in SAMPLE.iterdir()}
    assert set(files) == {"recording.zip", "report.html", "report.md"}
    assert sum(map(len, files.values())) < 400_000
    home, user = str(Path.home()).encode(), b"/home/"
    assert not any(home + b"/" in data or user in data for data in files.values())
