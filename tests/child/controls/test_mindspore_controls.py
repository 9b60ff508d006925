"""Controls for MindSpore remove what they say, from outside, in graph and PyNative mode, and leave
the rest as it is.
"""

from __future__ import annotations

import json
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from reprocheck.settings import controls
from tests.conftest import CHILD, ROOT, check, clean_environment, mindspore_python

SOURCES = Path(__file__).parent / "scripts" / "mindspore" / "sources.py"
CASES = ROOT / "tests" / "e2e" / "cases" / "mindspore"
KEPT = (
    *(
        "launch-blocking",
        "seed",
        "private-rng",
        "entropy",
        "single-worker",
        "deterministic",
        "single-thread",
        "fill-memory",
    ),
    "cpu-rng",
)
ALTERED = ("dropout-off", "data-order", "augment-off")
HARMLESS = (
    *(
        "hash-seed",
        "file-order",
        "launch-blocking",
        "seed",
        "private-rng",
        "entropy",
        "clock",
        "single-worker",
        "deterministic",
    ),
    "fill-memory",
)

pytestmark = [pytest.mark.mindspore, pytest.mark.xdist_group("mindspore")]


@dataclass(frozen=True, kw_only=True)
class Run:
    """What a run printed, by name, and its events."""

    printed: dict[str, Any]
    events: list[dict[str, Any]]

    def said(self, kind: str, control: str) -> dict[str, Any]:
        """What -> value, of the events of a kind that name a control; later ones of the same only
        count.
        """
        found: dict[str, Any] = {}
        for event in self.events:
            if event["e"] == kind and event["c"] == control:
                found.setdefault(event.get("w", event.get("why")), event.get("v"))
        return found

    @property
    def losses(self) -> list[Any]:
        return [value for event in self.events if event["e"] == "loss" for value in event["v"]]


def run(folder: Path, script: Path, *names: str, override: bool = False) -> Run:
    """Run a script under controls with the recorder alone, without the command line."""
    trace = folder / "trace"
    trace.mkdir(parents=True)
    variables, _ = controls.environment(names, 0, {}, str(folder))
    settings = {
        "steps": None,
        "level": "loss",
        "workdir": str(SOURCES.parent),
        "stop_wait": 20,
        "mask": {},
    }
    settings |= {"controls": list(names), "seed": 0, "override": override, "environment": variables}
    (trace / "recorder.json").write_text(json.dumps(settings))
    environment = clean_environment(**variables, REPROCHECK_CHILD=str(trace), PYTHONPATH=str(CHILD))
    done = subprocess.run(
        [mindspore_python(), str(script)],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    events = [
        json.loads(line)
        for file in trace.glob("*.jsonl")
        for line in file.read_text().rstrip("\0").splitlines()
    ]
    assert not [event for event in events if event["e"] == "problem"]
    return Run(
        printed=dict(
            json.loads(line) for line in done.stdout.splitlines() if line.startswith('["')
        ),
        events=events,
    )


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Run]:
    folder = tmp_path_factory.mktemp("controls")
    return {
        "kept": run(folder / "1", SOURCES, *KEPT),
        "again": run(folder / "2", SOURCES, *KEPT, override=True),
        "altered": run(folder / "3", SOURCES, *ALTERED),
        "opened": run(folder / "4", SOURCES, "no-compile", "private-rng"),
    }


def test_every_draw_is_repeated_and_different_draws_stay_different(runs: dict[str, Run]) -> None:
    first, second = runs["kept"].printed, runs["again"].printed
    assert {name for name, value in first.items() if second[name] != value} == set()
    assert runs["altered"].printed["primitive"] != first["primitive"], (
        "nothing but a control fixes an operator without a seed"
    )
    assert len({*first["reseeded"], first["default reseeded"]}) == 3
    assert all(first["primitives"]), "two operators without a seed draw different numbers"
    assert runs["opened"].printed["primitive"] == first["primitive"], (
        "private streams do not depend on other controls"
    )
    assert first["primitive under a global seed"] != first["primitive"]
    private = runs["kept"].said("control", "private-rng")
    assert {
        "mindspore.ops.StandardNormal without a seed",
        "mindspore.ops.Bernoulli without a seed",
    } <= set(private)
    assert "mindspore.Generator.seed" in private


def test_what_the_script_seeds_itself_is_left_alone(runs: dict[str, Run]) -> None:
    for name in ("numpy of the script", "random of the script", "weights", "numpy afterwards"):
        assert len({json.dumps(found.printed[name]) for found in runs.values()}) == 1, name
    assert runs["kept"].said("control", "seed")["mindspore.set_seed"] == 0
    assert not [event for event in runs["kept"].events if event["e"] == "override"]


def test_workers_memory_and_switches(runs: dict[str, Run]) -> None:
    kept, again = runs["kept"], runs["again"]
    assert (
        kept.printed["workers"],
        kept.printed["default workers"],
        kept.printed["deterministic"],
    ) == (1, 1, "ON")
    assert (runs["altered"].printed["workers"], runs["altered"].printed["default workers"]) == (
        2,
        2,
    )
    assert kept.said("control", "single-worker")["MapDataset(num_parallel_workers)"] == 1
    assert kept.printed["memory"] == [25.0, 120.0, 25.0, 3.0]
    assert kept.said("conflict", "launch-blocking") == {
        "mindspore.set_context(pynative_synchronize)": False
    }
    assert kept.said("conflict", "single-thread") == {
        "mindspore.runtime.executor.dispatch_threads_num": 2
    }
    replaced = {
        event["w"]: (event["old"], event["new"])
        for event in again.events
        if event["e"] == "override"
    }
    assert replaced["mindspore.set_context(pynative_synchronize)"] == (False, True)
    assert replaced["mindspore.runtime.executor.dispatch_threads_num"] == (2, 1)
    assert not kept.said("conflict", "deterministic"), "a second call for the same is accepted"
    assert len(kept.said("unavailable", "cpu-rng")) == 1
    assert not [
        event for event in kept.events if event["e"] == "unavailable" and event["c"] != "cpu-rng"
    ]


def test_single_worker_says_which_datasets_draw(tmp_path: Path) -> None:
    script = SOURCES.parent / "workers.py"
    lines = enumerate(script.read_text().splitlines(), start=1)
    made = {
        number: line.partition(" = ")[0] for number, line in lines if "num_parallel_workers" in line
    }
    found = [
        event
        for event in run(tmp_path, script, "single-worker").events
        if event.get("w", "").endswith("(num_parallel_workers)")
    ]
    drawing = {made[int(event["l"].rpartition(":")[2])]: event.get("d", False) for event in found}
    assert drawing == {
        **dict.fromkeys(("still", "halved", "scaled", "batched"), False),
        **dict.fromkeys(("noisy", "erased", "jittered", "flipped", "lambdas"), True),
    }


def test_dropout_keeps_every_value_in_graph_and_pynative_mode(runs: dict[str, Run]) -> None:
    altered = runs["altered"].printed
    inputs = [[1 + (60 * row + column) / 239 for column in range(60)] for row in range(4)]
    for name, layers in (("dropout", 6), ("dropout in a graph", 6), ("dropout in jit", 1)):
        wanted = [pytest.approx([layers * value for value in row], rel=1e-6) for row in inputs]
        assert altered[name] == wanted, name
    assert altered["graph"] is True
    touched = runs["altered"].said("control", "dropout-off")
    assert {
        "mindspore.nn.Dropout",
        "mindspore.nn.Dropout2d",
        "mindspore.ops.Dropout",
        "mindspore.ops.dropout",
    } <= set(touched)


def test_samples_come_in_order_and_shards_stay_shards(runs: dict[str, Run]) -> None:
    altered = runs["altered"].printed
    assert altered["shuffled"] == altered["buffer"] == list(range(32))
    assert (altered["sampler"], altered["subset"], altered["weighted"]) == (
        list(range(8)),
        [9, 4, 7, 1],
        [0, 1, 2, 3],
    )
    assert altered["shard"] == list(range(1, 32, 4))
    kept = runs["kept"].printed
    assert sorted(kept["shuffled"]) == list(range(32)) != kept["shuffled"]


def test_augmentation_is_the_identity_or_keeps_the_size(runs: dict[str, Run]) -> None:
    altered = runs["altered"].printed
    images = [
        [
            [[(((i * 12 + y) * 12 + x) * 3 + c) % 251 for c in range(3)] for x in range(12)]
            for y in range(12)
        ]
        for i in range(8)
    ]
    assert altered["flips"] == altered["eager"] == images
    middle = [[[pixel[0] for pixel in row[3:9]] for row in image[3:9]] for image in images]
    assert altered["crops"] == middle
    assert altered["resized"] == runs["kept"].printed["resized"] == [[5, 5, 3]] * 8
    assert altered["one of"] == [[pixel[0] for pixel in image[2][2:10]] for image in images]
    assert runs["altered"].said("control", "augment-off")["RandomCrop"] == "CenterCrop"


def test_graph_mode_is_not_entered_under_no_compile(runs: dict[str, Run]) -> None:
    assert runs["opened"].printed["graph"] is False
    assert (
        runs["opened"].said("control", "no-compile")["graph mode and functions compiled by jit"]
        == "PyNative mode"
    )


def test_controls_that_find_nothing_to_remove_leave_every_bit(tmp_path: Path) -> None:
    script = CASES / "clean_model_train.py"
    plain, controlled = run(tmp_path / "1", script), run(tmp_path / "2", script, *HARMLESS)
    assert len(plain.losses) == 8
    assert controlled.losses == plain.losses


def test_the_seed_control_mends_a_training_that_nobody_seeded(workdir: Path) -> None:
    options = ("--no-explain", "--seed", "3", "--python", mindspore_python())
    outcome = check(*options, CASES / "unseeded_weights.py", cwd=workdir)
    assert (outcome.title, outcome.exit_code) == ("REPRODUCIBLE", 0), (
        outcome.stdout + outcome.stderr
    )
    assert outcome.report["controls"]["on"] == ["seed"]
