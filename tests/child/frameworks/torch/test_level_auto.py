"""Level `auto` of PyTorch: the first iterations are recorded deeply, then the hooks are gone; and no
training is another one for it.
"""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest

from tests.child.frameworks.torch.levels import Level, plain, record
from tests.child.frameworks.torch.test_level_module import VICTIMS, Event, run
from tests.conftest import CHILD

SCRIPTS = Path(__file__).parent / "scripts"
LONG = [name for name in VICTIMS if name != "many"]
ITERATIONS = 20


@pytest.fixture(scope="module")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> Level:
    """All victims at level `auto`, each in a fork."""
    return record(copied(tmp_path_factory), "auto", str(ITERATIONS), *LONG)


@pytest.fixture(scope="module")
def plainly(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    """What all victims print without a recorder."""
    return plain(copied(tmp_path_factory), str(ITERATIONS), *LONG)


def copied(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The script and what it imports, in a folder of their own."""
    folder = tmp_path_factory.mktemp("forked")
    for name in ("modules.py", "forked.py"):
        shutil.copy(SCRIPTS / name, folder)
    return folder / "forked.py"


def traces(recorded: Level) -> list[list[Event]]:
    """Those of the forks that trained."""
    return [
        events for events in recorded.processes if any(event["e"] == "loss" for event in events)
    ]


def of(recorded: Level, kind: str) -> list[Event]:
    """The events of one kind, of all forks."""
    return [event for events in traces(recorded) for event in events if event["e"] == kind]


@pytest.mark.torch
def test_losses_and_generators_are_those_of_the_plain_run(
    recorded: Level, plainly: list[str]
) -> None:
    losses = [line for line in plainly if line.startswith("losses")]
    assert len(losses) >= ITERATIONS * (len(LONG) - 1)
    assert recorded.printed == plainly


@pytest.mark.torch
def test_the_hooks_are_gone_at_the_end(recorded: Level) -> None:
    left = [line for line in recorded.printed if line.startswith("hooks")]
    assert left == [f"hooks {name} []" for name in LONG]


@pytest.mark.torch
def test_the_first_iterations_hold_facts_and_the_others_do_not(recorded: Level) -> None:
    # no loss is read inside a transformation of torch.func, at any level
    assert {event["where"] for event in of(recorded, "problem")} <= {"reading a loss"}
    lefts = of(recorded, "left")
    assert len(traces(recorded)) == len(lefts) == len(LONG)
    assert {event["why"] for event in lefts} - {""} == {"torch.compile was called"}
    assert {event["i"] for event in lefts if not event["why"]} <= {2, 3}
    for trace in traces(recorded):
        (left,) = [event["i"] for event in trace if event["e"] == "left"]
        facts = [event for event in trace if event["e"] in ("seen", "again")]
        assert max((event["i"] for event in facts), default=0) <= left + 1
        kinds = {event["r"] for event in facts if event["i"] == 1}
        assert not left or {"root", "gradient"} <= kinds


STILL = """
import torch
from torch import nn

model = nn.Linear(2, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.0)
for step in range(14):
    optimizer.zero_grad()
    model(torch.ones(1, 2)).sum().backward()
    optimizer.step()
"""


@pytest.mark.torch
def test_the_level_is_left_where_no_weight_ever_changes(tmp_path: Path) -> None:
    (tmp_path / "script.py").write_text(STILL)
    _, events = run(tmp_path, "script.py", level="auto")
    (left,) = [event for event in events if event["e"] == "left"]
    why = "no update changed a weight in the first 10 iterations"
    assert (left["i"], left["why"]) == (10, why)


def test_recording_that_takes_longer_than_the_training_is_too_dear(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.syspath_prepend(str(CHILD))
    from reprocheck_child.recorder import first_iterations
    from reprocheck_child.shared.iterations import Grouping

    class Recorder:
        def __init__(self) -> None:
            self.grouping, self.said = Grouping(), []
            self.on_fork, self.on_event = [], []

        def watching(self) -> bool:
            return False

        def leave_level(self, why: str) -> None:
            self.said.append(why)

    def left(spent: float, whole: float) -> list[str]:
        recorder: Any = Recorder()
        now = iter([0.0, 0.0, spent, whole])
        monkeypatch.setattr(first_iterations, "perf_counter", lambda: next(now))
        first = first_iterations.FirstIterations(recorder)
        first.timed(lambda: None)()
        recorder.grouping.optimizer(0)
        recorder.grouping.loss(1, "backward")
        recorder.grouping.update(0, True)
        first.look()
        return list(recorder.said)

    assert left(spent=3.0, whole=5.0) == ["recording took 3.0 of the 5.0 seconds of iteration 1"]
    assert left(spent=3.0, whole=7.0) == [], "the step is less than twice as long"
    assert left(spent=1.0, whole=1.1) == [], "it costs less than another start of the script"
