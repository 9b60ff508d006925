"""The rule that decides what is observed: recorded facts of one thing, and nothing else."""

from __future__ import annotations

import ast
from itertools import chain
from pathlib import Path
from typing import get_args

import pytest

from reprocheck import rules
from reprocheck.causes import suspects
from reprocheck.causes.evidence import Kind, Recorded, confidence

DIFFERS = Recorded(kind="state differs", of="torch")


def test_nothing_is_observed_without_a_recorded_fact() -> None:
    assert {confidence(entry.name, ()) for entry in rules.catalogue()} == {"suspected"}


def test_entries_are_shown_by_facts_that_there_are() -> None:
    for entry in rules.catalogue():
        assert set(chain(*entry.observed_by)) <= set(get_args(Kind)), entry.code


@pytest.mark.parametrize("of", ["torch", "numpy"])
def test_the_facts_of_two_generators_do_not_add_up(of: str) -> None:
    facts = (DIFFERS, Recorded(kind="seeded equally", of=of))
    assert confidence("shifted-stream", facts) == ("observed" if of == "torch" else "suspected")


def test_a_fact_shows_only_the_entries_that_it_is_named_for() -> None:
    facts = (DIFFERS, Recorded(kind="never seeded", of="torch"))
    assert confidence("unseeded-weights", facts) == "observed"
    assert (
        confidence("clock-seed", facts) == confidence("private-initialiser", facts) == "suspected"
    )


def test_no_suspect_says_by_itself_how_sure_it_is() -> None:
    folder = Path(suspects.__file__).parent
    for path in folder.glob("*.py"):
        keywords = {
            node.arg
            for node in ast.walk(ast.parse(path.read_text()))
            if isinstance(node, ast.keyword)
        }
        assert "confidence" not in keywords, path.name
