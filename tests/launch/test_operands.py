"""One more run that keeps what an operator is given: the file lies in the report folder afterwards,
and nothing else of the run does.
"""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from reprocheck import launch
from reprocheck.model import DeeperPair
from reprocheck.recording import record
from reprocheck.settings import Settings
from tests.launch.conftest import Place
from tests.launch.test_workdir import facts

TRAINS = """
    import os, json
    from pathlib import Path
    trace = Path(os.environ["REPROCHECK_CHILD"])
    told = json.loads((trace / "recorder.json").read_text())
    if told.get("values") and told["values"]["operator"] == "aten.mul.Tensor":
        (trace / "values.safetensors").write_text(json.dumps(told))
    Path("made.txt").write_text(trace.parent.name)
"""
LIKE = DeeperPair(level="op", iterations=3, inside="net.0", begin=2, runs=())


@pytest.mark.parametrize("operator", ["aten.mul.Tensor", "aten.add.Tensor"])
def test_the_values_are_kept_and_nothing_else(operator: str, place: Place) -> None:
    place.check(TRAINS, runs=2)
    before, recorded = facts(place.path), record.read(place.folder)
    target = place.folder / "replay.safetensors"
    found = launch.record_operands(
        launch.entry_point(script="train.py"),
        Settings(),
        place.folder,
        place.heard,
        target,
        like=LIKE,
        wanted={"operator": operator, "inputs": {"self": "ab"}, "most": 9},
    )
    assert found == target.exists() == (operator == "aten.mul.Tensor")
    if found:
        told = json.loads(target.read_text())
        assert told["values"] == {"operator": operator, "inputs": {"self": "ab"}, "most": 9}
        assert (told["level"], told["inside"], told["begin"], told["steps"]) == (
            "op",
            "net.0",
            2,
            3,
        )
    assert facts(place.path) == before
    assert not (place.folder / "arms" / "values" / "run-1").exists()
    assert replace(record.read(place.folder), files_after=()) == replace(recorded, files_after=())
