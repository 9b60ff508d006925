"""Faults around a check: a share of those of `python -m benchmarks.faults`, and its table as it is
kept.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks.faults.__main__ import every
from benchmarks.faults.page import FILE, kept
from benchmarks.faults.seen import Fault, Row, cell
from tests.conftest import ROOT

POINTS: dict[str, int] = {
    "reprocheck run: SIGKILL, SIGTERM, SIGINT, SIGHUP": 12,
    "reprocheck, guard and script at once: SIGKILL": 3,
    "full for five iterations of a run": 9,
    "the output folder is removed while a run trains": 0,
    "the terminal is closed": 0,
    "two checks in one folder at once, of which the first is killed": 0,
}
"""Of each fault the point at which it is made here."""
FAULTS = {fault.name: fault for fault in every()}


@pytest.mark.parametrize("name", POINTS)
def test_nothing_is_lost_left_or_wrong(name: str, tmp_path: Path) -> None:
    fault: Fault = FAULTS[name]
    seen = fault.make(tmp_path / "place", POINTS[name])
    if seen is None:
        pytest.skip("it cannot be made on this machine")
    row = Row(fault=fault, seen=[seen])
    assert (list(row.wrong), list(row.left), list(row.lost)) == ([], [], [])


def test_the_kept_table_has_thirty_faults_and_nothing_wrong() -> None:
    rows = kept((ROOT / FILE).read_text(encoding="utf-8"))
    assert rows.keys() <= {cell(name) for name in FAULTS}
    made = {name: cells for name, cells in rows.items() if cells["points"] != "not made here"}
    assert len(made) >= 30
    points = {cell(name): fault.points for name, fault in FAULTS.items()}
    for name, cells in made.items():
        assert int(cells["points"]) == points[name], name
        assert (cells["left running"], cells["wrong"], cells["lost"]) == ("0", "0", "0"), name
