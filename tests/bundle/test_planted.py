"""A small part of `python -m benchmarks.redaction`; the whole table is in docs/reference/bundle.md."""

from __future__ import annotations

from benchmarks.planted import KINDS
from benchmarks.redaction import measured
from benchmarks.sown import PLACES

NUMBER = 36


def test_hardly_anything_planted_comes_out_and_nothing_in_strict() -> None:
    results = measured(NUMBER, seed=7)
    assert results["none"].planted == NUMBER
    assert sum(results["none"].out.values()) > 0.9 * NUMBER, "the search finds what is there"
    assert results["default"].kept >= NUMBER - 1, results["default"].examples
    assert results["strict"].kept == NUMBER, results["strict"].examples


def test_there_are_kinds_and_places_enough() -> None:
    assert len(KINDS) >= 30
    assert len(PLACES) >= 40
