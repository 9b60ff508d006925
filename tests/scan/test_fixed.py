"""Both halves together: what the scan finds and fixes, `reprocheck run` calls reproducible.

`python -m benchmarks.scan_fixed` runs all programs; here two of them are run, and the kept table is
compared with the programs of today.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from benchmarks.scan_fixed.programs import NOT_RUN, codes, program
from benchmarks.scan_fixed.running import said
from reprocheck.fixes.patches import CODES
from tests.conftest import ROOT
from tests.heads import NO_COMPILER

TABLE = ROOT / "benchmarks" / "scan_fixed.md"
ROW = re.compile(r"\| (RC\d+) \|.*\| (.*) \| (\w+) \|$")


def test_every_rule_that_can_be_fixed_has_a_program_that_is_run() -> None:
    assert {*codes(), *NOT_RUN} == CODES and not NOT_RUN.keys() & set(codes())


def test_the_kept_table_is_that_of_these_programs_and_each_fixed_one_is_reproducible(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    kept = [match.groups() for match in map(ROW.match, TABLE.read_text().splitlines()) if match]
    programs = [program(code) for code in codes()]
    expected = [(one.code, "REPRODUCIBLE, bit for bit", one.digest) for one in programs]
    assert kept == expected, (
        "run `python -m benchmarks.scan_fixed --write benchmarks/scan_fixed.md`"
    )
    assert [one.code for one in programs if one.code not in {hit.code for hit in one.found}] == []
    assert [(one.code, one.left) for one in programs if one.left] == []


@pytest.mark.parametrize("code", ["RC406", "RC504"])
def test_a_program_is_reproducible_once_it_is_fixed(
    code: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    one = program(code)
    assert (
        said(one, NO_COMPILER + one.wrong, tmp_path / "wrong", "--no-explain").verdict
        == "not_reproducible"
    )
    fixed = said(one, NO_COMPILER + one.fixed, tmp_path / "fixed")
    assert fixed.verdict == "reproducible" and fixed.bitwise
