"""Level `module`: what cells were given and returned, gradients, hyper-parameters, weights, without
a change to any number.
"""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import CHILD, ROOT, clean_environment, mindspore_python

SCRIPTS = Path(__file__).parent / "scripts"
CASES = ROOT / "tests" / "e2e" / "cases" / "mindspore"

pytestmark = [pytest.mark.mindspore, pytest.mark.xdist_group("mindspore")]


@dataclass(frozen=True, kw_only=True)
class Recorded:
    """What a recorded run printed, and its events."""

    stdout: str
    events: list[dict[str, Any]]

    def of(self, *kinds: str) -> list[dict[str, Any]]:
        """Events of these kinds, in order."""
        return [event for event in self.events if event["e"] in kinds]

    def seen(self, *kinds: str, iteration: int | None = None) -> list[dict[str, Any]]:
        """What was seen, of these kinds, in order."""
        return [
            event
            for event in self.of("seen")
            if event["r"] in kinds and iteration in (None, event["i"])
        ]

    def places(self, kind: str, iteration: int) -> list[str]:
        """Where things of a kind were seen in an iteration."""
        return [event["p"] for event in self.seen(kind, iteration=iteration)]


def run(folder: Path, script: Path, *arguments: str, **environment: str) -> str:
    """What a script prints."""
    folder.mkdir(exist_ok=True)
    command = [mindspore_python(), str(script), *arguments]
    environment = clean_environment(OMP_NUM_THREADS="1", **environment)
    done = subprocess.run(
        command, cwd=folder, env=environment, capture_output=True, text=True, timeout=300
    )
    assert done.returncode == 0, done.stderr[-3000:]
    return done.stdout


def recorded(folder: Path, script: Path, *arguments: str, steps: int | None = None) -> Recorded:
    """Run a script with the recorder alone, at level `module`."""
    trace = folder / "trace"
    trace.mkdir(parents=True)
    (trace / "recorder.json").write_text(
        json.dumps(
            {
                "steps": steps,
                "level": "module",
                "workdir": str(folder),
                "stop_wait": 20,
                "boundaries": [2],
            }
        )
    )
    stdout = run(folder, script, *arguments, REPROCHECK_CHILD=str(trace), PYTHONPATH=str(CHILD))
    (file,) = trace.glob("*.jsonl")
    events = [json.loads(line) for line in file.read_text().splitlines()]
    assert not [event for event in events if event["e"] == "problem"]
    (framework,) = [event for event in events if event["e"] == "framework"]
    assert set(framework["hooks"].values()) == {"ok"}
    return Recorded(stdout=stdout, events=events)


def first_difference(one: Recorded, other: Recorded) -> dict[str, Any]:
    """What was seen first that is not as the other run saw it; states of generators aside."""
    for a, b in zip(one.of("seen"), other.of("seen"), strict=True):
        if a["r"] != "rng" and [a.get(key) for key in ("r", "p", "in", "out", "n")] != [
            b.get(key) for key in ("r", "p", "in", "out", "n")
        ]:
            return {**a, "same_inputs": a.get("in") == b.get("in")}
    raise AssertionError("the runs agree")


@pytest.mark.parametrize("mode", ["pynative", "graph"])
def test_every_way_to_train_computes_what_it_computes_unrecorded(
    mode: str, every_way: Callable[[str], str], workdir: Path
) -> None:
    expected = every_way(mode)
    found = recorded(workdir / "recorded", SCRIPTS / "every_way.py", mode)
    assert found.stdout == expected, (
        "the recorder changed the numbers, or what random generators draw"
    )
    losses = [
        float.fromhex(line.split()[-1])
        for line in expected.splitlines()
        if line.startswith("loss ")
    ]
    in_trace = [value for event in found.of("loss") for value in event["v"]]
    assert set(losses) <= set(in_trace)
    assert "graph-opened" in {event["code"] for event in found.of("note")}, (
        "a function is compiled by jit in either mode"
    )
    roots = [
        leaf["v"][0]
        for event in found.seen("root")
        for _, leaf in event["out"]
        if "v" in leaf and len(leaf["v"]) == 1
    ]
    assert set(roots) & set(losses)
    assert {"float16", "bfloat16"} <= {
        leaf["d"] for event in found.seen("root") for _, leaf in event["out"]
    }


def test_unseeded_dropout_is_the_first_difference_where_all_before_it_agrees(workdir: Path) -> None:
    one, other = (
        recorded(workdir / name, SCRIPTS / "only_dropout.py", steps=2) for name in ("one", "other")
    )
    found = first_difference(one, other)
    assert (found["r"], found["p"], found["k"], found["i"], found["same_inputs"]) == (
        "call",
        "1",
        "Dropout",
        1,
        True,
    )
    assert "g" not in found, "the kernel seeds itself and shows no state"
    (dropout,) = (event for event in one.seen("call", iteration=1) if event["p"] == "1")
    assert dropout["x"] == "p=0.5"

    assert [event["p"] for event in one.seen("weights")] == [
        "0.weight",
        "0.bias",
        "2.weight",
        "2.bias",
    ]
    assert one.places("call", 1) == ["0", "1", "2", "", "MSELoss"]
    assert one.places("outgrad", 1) == ["MSELoss", "2", "", "1", "0"]
    assert one.places("gradient", 1) == ["2.bias", "2.weight", "0.bias", "0.weight"]
    (batch,) = one.seen("batch", iteration=1)
    assert (batch["p"], batch["out"]) == (
        "inputs of SequentialCell",
        one.seen("call", iteration=1)[0]["in"],
    ), "the loss trains nothing"
    (root,) = one.seen("root", iteration=1)
    (loss, *_) = one.of("loss")
    assert root["out"][0][1]["v"] == loss["v"]
    order = [
        event["r"]
        for event in one.seen(
            "weights",
            "rng",
            "call",
            "root",
            "outgrad",
            "gradient",
            "hyper",
            "reduced",
            "update",
            iteration=1,
        )
    ]
    assert list(dict.fromkeys(order)) == [
        "weights",
        "rng",
        "call",
        "root",
        "outgrad",
        "gradient",
        "hyper",
        "reduced",
        "update",
    ]
    gradients = {event["p"]: event["out"] for event in one.seen("gradient", iteration=1)}
    assert gradients == {event["p"]: event["out"] for event in one.seen("reduced", iteration=1)}
    changed = {event["p"]: event["out"] for event in one.seen("update", iteration=1)}
    assert all(changed[event["p"]] != event["out"] for event in one.seen("weights"))
    assert (one.events[-1]["e"], one.events[-1]["i"]) == ("stop", 2)
    assert one.seen("update", iteration=2), "the last update is described before the process ends"


def test_unseeded_weights_in_graph_mode_are_the_first_difference(workdir: Path) -> None:
    one, other = (
        recorded(workdir / name, CASES / "unseeded_weights.py", steps=1)
        for name in ("one", "other")
    )
    found = first_difference(one, other)
    assert (found["r"], found["p"], set(found["g"])) == ("weights", "0.weight", {"numpy"})
    assert [event["p"] for event in one.seen("weights")] == [
        "0.weight",
        "0.bias",
        "2.weight",
        "2.bias",
    ], "no state of the optimizer"
    assert found["l"].rsplit(":", 1)[1] == "9"
    (batch, *_) = one.seen("batch")
    assert (batch["p"], len(batch["n"]), len(batch["out"])) == ("BatchDataset[0]", 16, 2)
    assert one.seen("call"), "the graph is opened"


def test_a_graph_that_must_stay_one_is_recorded_from_outside(workdir: Path) -> None:
    found = recorded(workdir, SCRIPTS / "kept_graph.py")
    losses = [float.fromhex(line) for line in found.stdout.splitlines()]
    assert [event["v"] for event in found.of("loss")] == [[loss] for loss in losses]
    assert [event["out"][0][1]["v"] for event in found.seen("root")] == [[loss] for loss in losses]
    assert not found.seen("call", "outgrad", "gradient", "reduced")
    assert found.places("weights", 1) == ["weight", "bias"]
    batches = found.seen("batch")
    assert [(batch["p"], batch["i"], len(batch["n"]), len(batch["out"])) for batch in batches] == [
        ("inputs of TrainOneStepCell", iteration, 2, 2) for iteration in (1, 2)
    ]
    assert [found.places("hyper", iteration) for iteration in (1, 2)] == [["SGD[0]"], ["SGD[0]"]]
    assert [found.places("update", iteration)[:2] for iteration in (1, 2)] == [
        ["weight", "bias"],
        ["weight", "bias"],
    ]
    hidden = {event["where"]: event["why"] for event in found.of("unrecorded")}
    assert "semi_auto_parallel" in hidden["graph"]
    assert "compiled graph" in hidden["SGD[0]"]


@pytest.fixture(scope="module")
def own_cells(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Recorded]:
    """The script module_level.py in both modes, with what it prints unrecorded asserted."""
    folder = tmp_path_factory.mktemp("own_cells")
    found = {
        mode: recorded(folder / mode, SCRIPTS / "module_level.py", mode)
        for mode in ("pynative", "graph")
    }
    assert found["pynative"].stdout == run(
        folder / "plain", SCRIPTS / "module_level.py", "pynative"
    )
    return found


def test_both_modes_are_seen_alike(own_cells: dict[str, Recorded]) -> None:
    one, other = (
        [(event["r"], event["p"], event["i"]) for event in found.of("seen")]
        for found in own_cells.values()
    )
    assert one == other


def test_what_is_held_where_a_training_goes_on_is_what_an_update_left(
    own_cells: dict[str, Recorded],
) -> None:
    found = own_cells["pynative"]
    assert [event["i"] for event in found.seen("boundary")] == [2]
    held = {event["p"]: event for event in found.seen("held")}
    left = {event["p"]: event["out"] for event in found.seen("update", iteration=1)}
    left.update((event["p"], event["out"]) for event in found.seen("written", iteration=2))
    assert left and all(held[name]["out"] == out for name, out in left.items())
    states = [name for name, event in held.items() if "o" in event]
    assert {"optimizer.global_step", "optimizer.moment1.backbone.head.weight"} <= {*states}
    assert not [name for name in held if "learning_rate" in name]


def test_cells_are_named_as_their_parameters_are(own_cells: dict[str, Recorded]) -> None:
    found = own_cells["pynative"]
    cells = found.places("call", 1)
    assert {
        "net.backbone.encoder.0",
        "net.backbone.lstm",
        "net.backbone.head",
        "net.backbone",
        "net.loss",
        "net",
    } <= set(cells)
    assert not {"", "optimizer", "grad"} & set(cells), "a train cell is no forward pass"
    (lstm, *_) = [
        event for event in found.seen("call", iteration=1) if event["p"] == "net.backbone.lstm"
    ]
    assert [path for path, _ in lstm["out"]] == ["0", "1.0", "1.1"]
    assert {event["p"] for event in found.seen("weights") if event.get("b")} == {
        "net.backbone.encoder.1.moving_mean",
        "net.backbone.encoder.1.moving_variance",
    }


def test_a_weight_written_to_after_its_update_is_seen_before_the_next_step(
    own_cells: dict[str, Recorded],
) -> None:
    for found in own_cells.values():
        (written,) = found.seen("written")
        assert written["i"] == 2 and written["p"].endswith(".head.bias")
        assert written["p"] in found.places("update", 1), "by the name that its update gave it"


def test_seeds_schedules_scales_and_checkpoints_are_seen(own_cells: dict[str, Recorded]) -> None:
    found = own_cells["graph"]
    seeds = {
        (event["p"], event["out"][0][1]["v"], event["l"].rsplit(":", 1)[1])
        for event in found.seen("seed")
    }
    assert {
        ("mindspore", 3, "14"),
        ("numpy", 3, "14"),
        ("mindspore.dataset", 3, "14"),
        ("mindspore.mint", 4, "15"),
        ("python", 7, "16"),
    } <= seeds
    (load,) = found.seen("load")
    assert (load["p"], load["in"]) == ("Net", [["missing", {"v": ""}], ["unexpected", {"v": ""}]])
    rates = [{path: leaf["v"] for path, leaf in event["out"]} for event in found.seen("hyper")]
    assert [(rate["lr[0]"], rate["lr[3]"]) for rate in rates[:3]] == [
        (0.5, 0.25),
        (0.25, 0.125),
        (0.125, 0.0625),
    ]
    assert [(rate["weight_decay[0]"], rate["weight_decay[3]"]) for rate in rates[:1]] == [
        (0.25, 0.0)
    ]
    assert [
        (rate["lr"], rate["momentum"], rate["StaticLossScaler.scale_value"]) for rate in rates[3:]
    ] == [
        (0.5, 0.5, 1024.0),
        (0.25, 0.5, 1024.0),
    ]


def test_what_threads_of_a_pipeline_draw_is_blamed_on_no_cell(
    own_cells: dict[str, Recorded],
) -> None:
    found = own_cells["pynative"]
    assert not [
        event
        for event in found.seen("call")
        if "numpy" in event.get("g", {}) or "python" in event.get("g", {})
    ]
    assert [event["why"] for event in found.of("unrecorded") if "threads" in event["why"]]
    assert [len(event["n"]) for event in found.seen("batch")] == [4, 4, 4]
