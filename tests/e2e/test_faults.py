"""Faults around a check: a share of those of `python -m benchmarks.faults`, and its table as it is
kept.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from benchmarks.faults.__main__ import every
from benchmarks.faults.page import FILE, kept
from benchmarks.faults.seen import Fault, Row
from tests.conftest import ROOT

POINTS: dict[str, tuple[int, ...]] = {
    "reprocheck run: SIGKILL": (7, 13),
    "reprocheck run: SIGTERM": (2,),
    "the script: SIGKILL": (11,),
    "reprocheck, guard and script at once: SIGKILL": (3,),
    "full for five iterations of a run": (9,),
    "the terminal is closed": (0,),
    "two checks in one folder at once": (0,),
    "`reprocheck report -o` is killed while it writes": (19,),
}
"""Of each fault the points at which it is made here."""
FAULTS = {fault.name: fault for fault in every()}


@pytest.mark.parametrize("name", POINTS)
def test_nothing_is_lost_left_or_wrong(name: str, tmp_path: Path) -> None:
    fault: Fault = FAULTS[name]
    with ThreadPoolExecutor() as pool:
        places = [(tmp_path / f"{point}", point) for point in POINTS[name]]
        seen = [one for one in pool.map(fault.make, *zip(*places, strict=True)) if one]
    if not seen:
        pytest.skip("it cannot be made on this machine")
    row = Row(fault=fault, seen=seen)
    assert (list(row.wrong), list(row.left), list(row.lost)) == ([], [], [])


def test_the_kept_table_has_every_fault_and_nothing_wrong() -> None:
    rows = kept((ROOT / FILE).read_text(encoding="utf-8"))
    assert set(rows) == set(FAULTS)
    made = {name: cells for name, cells in rows.items() if cells["points"] != "not made here"}
    assert len(made) >= 30
    for name, cells in made.items():
        assert int(cells["points"]) == FAULTS[name].points, name
        assert (cells["left running"], cells["wrong"], cells["lost"]) == ("0", "0", "0"), name
