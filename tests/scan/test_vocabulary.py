"""The vocabulary of the scan: its files are well formed, and what is not says so."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import reprocheck.scan
from reprocheck.scan import vocabulary
from reprocheck.scan.checks import certainty, tables

FILES = sorted(vocabulary.FOLDER.glob("*.toml"))
LIST = r"(?:words|names|by_name|rows|tables\.calls)\(\s*\"(\w+)\", \"(\w+)\""
PATTERN = r"pattern\(\s*\"(\w+)\", \"(\w+)\""
KINDS_OF_ENTROPY = {"clock", "process", "system", "load"}
"""Keys that the code takes from a tuple."""


def lists(held: Any) -> Iterator[str]:
    """The lists of names in what a file holds."""
    for key, value in held.items():
        if isinstance(value, dict):
            yield from lists(value)
        elif isinstance(value, list):
            yield from (row["calls"] for row in value if "calls" in row)
        elif key not in ("inner", "beside"):
            yield value


def without_patterns(text: str) -> dict[str, Any]:
    """What a file holds besides regular expressions."""
    held = tomllib.loads(text)
    held.pop("patterns", None)
    return held


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_no_list_is_empty_or_holds_a_name_twice(file: Path) -> None:
    for listed in lists(without_patterns(file.read_text(encoding="utf-8"))):
        names = listed.split()
        assert names
        assert sorted(set(names)) == sorted(names)
        assert all(re.fullmatch(r"[\w.*()\[\]?=/-]+", name) for name in names), names


def test_the_code_asks_for_each_list_and_for_no_other() -> None:
    scan = Path(reprocheck.scan.__file__).parent
    files = (*scan.rglob("*.py"), *(scan.parent / "fixes").rglob("*.py"))
    texts = (file.read_text(encoding="utf-8") for file in files)
    asked = {found for text in texts for found in re.findall(LIST, text)}
    asked |= {("entropy", kind) for kind in KINDS_OF_ENTROPY}
    held = {
        (file.stem, key)
        for file in FILES
        for key in without_patterns(file.read_text(encoding="utf-8"))
    }
    assert asked == held


def test_the_code_asks_for_each_regular_expression_and_for_no_other() -> None:
    scan = Path(reprocheck.scan.__file__).parent
    texts = (file.read_text(encoding="utf-8") for file in scan.rglob("*.py"))
    asked = {found for text in texts for found in re.findall(PATTERN, text)}
    held = {
        (file.stem, key)
        for file in FILES
        for key in tomllib.loads(file.read_text(encoding="utf-8")).get("patterns", {})
    }
    assert asked == held


def test_a_row_that_says_something_unknown_is_an_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(vocabulary, "FOLDER", tmp_path)
    vocabulary._read.cache_clear()
    try:
        (tmp_path / "seeds.toml").write_text(
            '[[seed]]\ncalls = "a.seed"\nstreams = ["torch"]\nwithout = "fixed"\nword = "x"\n'
        )
        with pytest.raises(
            vocabulary.VocabularyError,
            match=r"seeds.toml, `seed`: Object contains unknown field `word`",
        ):
            vocabulary.rows("seeds", "seed", list[tables.Seeds])
        (tmp_path / "orders.toml").write_text("blind = 3\n")
        with pytest.raises(
            vocabulary.VocabularyError, match=r"orders.toml, `blind`: Expected `str`, got `int`"
        ):
            vocabulary.words("orders", "blind")
        with pytest.raises(vocabulary.VocabularyError, match=r"orders.toml, `asks`"):
            vocabulary.words("orders", "asks")
    finally:
        vocabulary._read.cache_clear()


def test_each_doubt_is_a_function() -> None:
    listed = {word for row in certainty._DOUBTS.values() for word in row.split()}
    assert all(callable(getattr(certainty, word.rstrip("!"))) for word in listed)
