"""The page that lists what rungs show is that of the classes."""

from __future__ import annotations

from pathlib import Path

from reprocheck.ladder import page

ROOT = Path(__file__).parents[2]


def test_the_page_lists_what_the_classes_hold() -> None:
    text = (ROOT / page.PAGE).read_text(encoding="utf-8")
    assert page.page(text) == text, "run python -m reprocheck.ladder.page"
