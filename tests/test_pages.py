"""The parts of the documentation that are made from the code are current."""

from __future__ import annotations

import importlib.util
import shutil
from pathlib import Path
from types import ModuleType

import pytest

from reprocheck.rules import catalogue
from tests.conftest import ROOT


@pytest.fixture(scope="module")
def pages() -> ModuleType:
    spec = importlib.util.spec_from_file_location("pages", ROOT / ".ci" / "pages.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_pages_are_current(pages: ModuleType) -> None:
    made = pages.pages()
    old = [path.name for path, text in made.items() if path.read_text(encoding="utf-8") != text]
    assert not old, "run `python .ci/pages.py`"
    rules = {path.name for path in (ROOT / "docs" / "rules").glob("*.md")}
    assert rules == {f"{entry.code}.md" for entry in catalogue()}


def test_a_page_says_what_the_scan_says(pages: ModuleType) -> None:
    for entry in catalogue():
        page = pages.rule_page(entry)
        assert entry.why in page and entry.fix in page and entry.bad in page and entry.good in page
        assert (f"ignore[{entry.code}]" in page) is entry.scan
        assert ("`--fix` fixes it" in page) is (entry.scan and entry.patch)


def test_pages_of_entries_that_are_gone_are_removed(pages: ModuleType, tmp_path: Path) -> None:
    docs = shutil.copytree(ROOT / "docs", tmp_path / "docs")
    (docs / "rules" / "RC999.md").write_text("")
    pages.write(docs)
    assert not (docs / "rules" / "RC999.md").exists()
    assert (docs / "reference" / "rules.md").read_text(encoding="utf-8") == pages.rules_page()
