"""Level `auto` of MindSpore: the first iterations of PyNative mode are recorded deeply, then the
hooks are gone; and no training is another one for it.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.child.frameworks.mindspore.test_mindspore_levels import SCRIPTS, run
from tests.child.test_additions import declared
from tests.conftest import CHILD

pytestmark = [pytest.mark.mindspore, pytest.mark.xdist_group("mindspore")]

ITERATIONS = 8
EAGER = ("loop", "model", "train_cell", "scaled", "by_hand")
COMPILED = {
    "jitted": (1, "mindspore.jit was called"),
    "graph": (0, "graph mode compiles the training"),
    "exported": (0, "a cell was compiled"),
}
"""Name -> after which iteration the level is left, and why."""
ARGUMENTS = (str(ITERATIONS), *EAGER, *COMPILED)

Trace = list[dict[str, Any]]


@dataclass(frozen=True, kw_only=True)
class Recorded:
    """What all trainings print, each in a fork, and the trace of each."""

    printed: list[str]
    traces: dict[str, Trace]


@pytest.fixture(scope="module")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> Recorded:
    """All trainings at level `auto`."""
    folder = tmp_path_factory.mktemp("recorded")
    trace = folder / "trace"
    trace.mkdir()
    settings = {"steps": None, "level": "auto", "workdir": str(folder), "stop_wait": 20}
    (trace / "recorder.json").write_text(json.dumps(settings))
    printed = run(
        folder,
        SCRIPTS / "forked.py",
        *ARGUMENTS,
        REPROCHECK_CHILD=str(trace),
        PYTHONPATH=str(CHILD),
    )
    files = [
        [json.loads(line) for line in file.read_text().rstrip("\0").splitlines()]
        for file in trace.glob("*.jsonl")
    ]
    trained = [events for events in files if any(event["e"] == "loss" for event in events)]
    trained.sort(key=lambda events: float(events[0]["time"]))
    names = (*EAGER, *COMPILED)
    return Recorded(printed=printed.splitlines(), traces=dict(zip(names, trained, strict=True)))


def test_losses_and_generators_are_those_of_the_plain_run(
    recorded: Recorded, tmp_path: Path
) -> None:
    plainly = run(tmp_path, SCRIPTS / "forked.py", *ARGUMENTS).splitlines()
    losses = [line for line in plainly if line.startswith("loss")]
    assert len(losses) >= ITERATIONS * len(recorded.traces)
    assert without_hooks(recorded.printed) == without_hooks(plainly)


def without_hooks(printed: list[str]) -> list[str]:
    """The lines that tell of the training, not of the recorder."""
    return [line for line in printed if not line.startswith("hooks")]


def test_the_deeper_hooks_are_gone_at_the_end(recorded: Recorded) -> None:
    at_level_loss = declared("In MindSpore, from its import on")
    left = [line.split()[1:] for line in recorded.printed if line.startswith("hooks")]
    assert [name for name, *_ in left] == list(recorded.traces)
    for _, on_tensors, *places in left:
        assert on_tensors == "0"
        assert set(places) <= at_level_loss


@pytest.mark.parametrize("name", EAGER)
def test_the_first_iterations_hold_facts_and_the_others_do_not(
    name: str, recorded: Recorded
) -> None:
    trace = recorded.traces[name]
    assert not [event for event in trace if event["e"] == "problem"]
    (left,) = [event for event in trace if event["e"] == "left"]
    assert (left["i"], left["why"]) == (2, "")
    assert [event["e"] for event in trace].index("deep") < trace.index(left)
    facts = [event for event in trace if event["e"] == "seen"]
    assert max(event["i"] for event in facts) <= 3
    for iteration in (1, 2):
        kinds = {event["r"] for event in facts if event["i"] == iteration}
        assert {"batch", "call", "root", "outgrad", "gradient"} <= kinds
    assert {"weights", "seed"} <= {event["r"] for event in facts if event["i"] == 1}


@pytest.mark.parametrize("name", COMPILED)
def test_the_level_is_left_before_anything_is_compiled(name: str, recorded: Recorded) -> None:
    trace = recorded.traces[name]
    assert not [event for event in trace if event["e"] in ("problem", "unrecorded")]
    (left,) = [event for event in trace if event["e"] == "left"]
    assert (left["i"], left["why"]) == COMPILED[name]
    facts = [event for event in trace if event["e"] == "seen" and event["r"] != "seed"]
    assert bool(facts) == bool(left["i"])
