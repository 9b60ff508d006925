"""The pages of the rules are those of the catalogue."""

from __future__ import annotations

from pathlib import Path

from reprocheck.rules import catalogue
from reprocheck.rules.page import pages, write

RULES = Path(__file__).parents[2] / "docs" / "rules"


def test_the_pages_are_current() -> None:
    made = pages()
    assert (
        {path.name for path in RULES.glob("*.md")}
        == set(made)
        == {f"{entry.code}.md" for entry in catalogue()}
    )
    old = [
        name for name, text in made.items() if (RULES / name).read_text(encoding="utf-8") != text
    ]
    assert not old, "run `python -m reprocheck.rules.page docs`"


def test_a_page_says_what_the_scan_says() -> None:
    made = pages()
    for entry in catalogue():
        page = made[f"{entry.code}.md"]
        assert entry.why in page and entry.fix in page and entry.bad in page and entry.good in page
        assert (f"ignore[{entry.code}]" in page) is entry.scan and ("`--fix` fixes it" in page) is (
            entry.scan and entry.patch
        )


def test_pages_of_entries_that_are_gone_are_removed(tmp_path: Path) -> None:
    (tmp_path / "reference").mkdir()
    (tmp_path / "rules").mkdir()
    (tmp_path / "rules" / "RC999.md").write_text("")
    write(tmp_path)
    assert {path.name for path in (tmp_path / "rules").iterdir()} == set(pages()) and (
        tmp_path / "reference" / "rules.md"
    ).exists()
