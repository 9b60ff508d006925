"""No text of a stranger is a formula to whoever opens a CSV file."""

from __future__ import annotations

import csv
import io
import re
from dataclasses import replace

import pytest
from hypothesis import example, given, strategies as st

from reprocheck.report import FORMATS
from reprocheck.report.spreadsheet import marked, unmarked
from tests.report.samples import bitwise_equal
from tests.verdict.test_reported_series import reported

TEXTS = st.text(alphabet="';\t\n\r =+-@\"a1,＝")
BEGINS_A_FORMULA = re.compile(r'[ "]*[=+\-@＝＋－＠]')


@given(TEXTS | st.text())
@example("a;=1")
@example("''=1")
def test_what_is_marked_is_no_formula_and_comes_back(text: str) -> None:
    safe = marked(text)
    assert not any(map(BEGINS_A_FORMULA.match, re.split(r"[;\t\r\n]", safe)))
    assert unmarked(safe) == text


@pytest.mark.parametrize("text", ["loss", "train/loss", "a-b", "x = 1", "1e-3", "it's", "'quoted'"])
def test_a_text_that_begins_no_formula_stays_as_it_is(text: str) -> None:
    assert marked(text) == text


@pytest.mark.parametrize("name", ["=cmd|'/c calc'!A1", "-1+1", "@SUM(1)", "a;=1", "\t=1"])
def test_a_series_named_like_a_formula_is_a_text_in_losses_csv(name: str) -> None:
    check = bitwise_equal()
    series = reported(name, [-0.5, 0.25], by=name)
    runs = tuple(
        replace(run, traces=tuple(replace(trace, series=(series,)) for trace in run.traces))
        for run in check.runs
    )
    rendered = FORMATS["csv"].render(replace(check, runs=runs)).decode()
    rows = [row for row in csv.DictReader(io.StringIO(rendered)) if row["series"] != "loss"]
    assert {(row["series"], row["by"]) for row in rows} == {(marked(name.strip()),) * 2}
    assert {float(row["value"]) for row in rows} == {-0.5, 0.25}
