"""Level `module` of PyTorch: what is recorded, in which order, under which names; and that no
training is another one for it.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import CHILD, clean_environment

SCRIPT = Path(__file__).parent / "scripts" / "modules.py"
VICTIMS = [
    line[4:].split("(")[0] for line in SCRIPT.read_text().splitlines() if line.startswith("def ")
]
VICTIMS = [name for name in VICTIMS if name not in ("say", "train", "modes")]

pytestmark = pytest.mark.torch
Event = dict[str, Any]


def run(
    folder: Path, *arguments: str | Path, level: str = "", steps: int | None = None
) -> tuple[str, list[Event]]:
    """What a script prints, and the events that were recorded of it (none without a level)."""
    trace = folder / (level or "plain")
    trace.mkdir()
    environment = clean_environment(OMP_NUM_THREADS="1")
    if level:
        settings = {
            "steps": steps,
            "level": level,
            "workdir": str(folder),
            "output": str(trace),
            "stop_wait": 20,
            "mask": {},
        }
        (trace / "recorder.json").write_text(json.dumps(settings))
        environment |= {"REPROCHECK_CHILD": str(trace), "PYTHONPATH": str(CHILD)}
    done = subprocess.run(
        [sys.executable, "-W", "error::UserWarning", *arguments],
        cwd=folder,
        env=environment,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    lines = [
        line
        for file in trace.glob("*.jsonl")
        for line in file.read_text().rstrip("\0").splitlines()
    ]
    return done.stdout, [json.loads(line) for line in lines]


def recorded(tmp_path: Path, source: str, **options: Any) -> list[Event]:
    """The `seen` events of a script given as text."""
    (tmp_path / "script.py").write_text(source)
    return seen(run(tmp_path, "script.py", level="module", **options)[1])


def seen(events: list[Event]) -> list[Event]:
    """The events of the deeper levels, an `again` as what it stands for; the recorder itself made
    no error.
    """
    assert not [event for event in events if event["e"] == "problem"]
    found: list[Event] = []
    gradients: dict[str, Event] = {}
    for event in events:
        if event["e"] == "seen":
            found.append(event)
            if event["r"] == "gradient":
                gradients[event["p"]] = event
        elif event["e"] == "again":
            found += [
                {**gradients[place], "r": event["r"], "i": event["i"], "o": event["o"]}
                for place in event["p"]
            ]
    return found


def of(events: list[Event], kind: str, iteration: int = 1) -> list[Event]:
    """The events of one kind in one iteration."""
    return [event for event in events if event["r"] == kind and event["i"] == iteration]


def places(events: list[Event], kind: str, iteration: int = 1) -> list[str]:
    """Where they were."""
    return [event["p"] for event in of(events, kind, iteration)]


def one(events: list[Event], kind: str, place: str, iteration: int = 1, call: int = 0) -> Event:
    """The one event of a kind at a place."""
    (found,) = [
        event
        for event in of(events, kind, iteration)
        if event["p"] == place and event.get("c", 0) == call
    ]
    return found


def hashes(event: Event, key: str = "out") -> list[str]:
    """Hashes of the leaves."""
    return [value["h"] for _, value in event[key]]


# --------------------------------------------------------------------------------------- neutrality


@pytest.fixture(scope="module")
def all_victims(tmp_path_factory: pytest.TempPathFactory) -> tuple[str, str, list[Event]]:
    """What all victims print in one process, plain and recorded, and what was recorded."""
    folder = tmp_path_factory.mktemp("victims")
    plain, _ = run(folder, SCRIPT, *VICTIMS)
    return (plain, *run(folder, SCRIPT, *VICTIMS, level="module"))


def test_losses_and_generators_are_those_of_the_plain_run(
    all_victims: tuple[str, str, list[Event]],
) -> None:
    plain, deep, _ = all_victims
    assert plain.count("losses") > 3 * 12
    assert deep.splitlines() == plain.splitlines()


def test_nothing_breaks_and_what_cannot_be_seen_is_said(
    all_victims: tuple[str, str, list[Event]],
) -> None:
    events = all_victims[2]
    problems = [
        event for event in events if event["e"] == "problem" and event["where"] != "reading a loss"
    ]
    assert not problems
    unrecorded = {event["where"] for event in events if event["e"] == "unrecorded"}
    assert {"module Linear", "saved tensors of MseLossBackward0"} <= unrecorded
    assert "eager" in {event["code"] for event in events if event["e"] == "note"}


def test_modes_of_the_script_see_no_more_than_at_level_loss(tmp_path: Path) -> None:
    loss, _ = run(tmp_path, SCRIPT, "modes", level="loss")
    module, _ = run(tmp_path, SCRIPT, "modes", level="module")
    assert "operator" in loss
    assert module == loss


# --------------------------------------------------------------------------------- what is recorded

NUMBERS = """
import torch
from torch import nn

model = nn.Linear(1, 1, bias=False)
model.weight.data.fill_(2.0)
optimizer = torch.optim.SGD(model.parameters(), 0.5, momentum=0.5)
for number in (3.0, 1.0):
    for factor in (1.0, 2.0):
        (model(torch.full((1, 1), number)) * factor).sum().backward()
    nn.utils.clip_grad_value_(model.parameters(), 4.0)
    optimizer.step()
    optimizer.zero_grad()
"""


def test_values_are_those_of_the_arithmetic(tmp_path: Path) -> None:
    events = recorded(tmp_path, NUMBERS)

    def values(kind: str, place: str, iteration: int = 1, call: int = 0, key: str = "out") -> Any:
        return one(events, kind, place, iteration, call)[key][0][1]["v"]

    assert values("weights", "weight") == [2.0]
    assert values("call", "", key="in") == [3.0]
    assert values("call", "") == [6.0]
    assert values("root", "loss") == [6.0]
    assert values("root", "loss", call=1) == [12.0]
    assert values("outgrad", "", call=1) == [2.0]
    assert values("gradient", "weight") == [3.0]
    assert values("gradient", "weight", call=1) == [9.0]
    assert values("reduced", "weight") == [4.0]
    assert values("update", "weight") == [0.0]
    assert values("update", "weight:momentum_buffer") == [4.0]
    assert values("gradient", "weight", 2, call=1) == [3.0]
    assert values("update", "weight", 2) == [-2.5]
    assert dict(one(events, "hyper", "SGD[0]")["out"])["lr"] == {"v": 0.5}


@pytest.fixture(scope="module")
def convolution(tmp_path_factory: pytest.TempPathFactory) -> list[Event]:
    """A network with dropout, layers in place and a criterion, two iterations."""
    return seen(
        run(tmp_path_factory.mktemp("convolution"), SCRIPT, "convolution", level="module", steps=2)[
            1
        ]
    )


def test_facts_stand_in_the_order_of_execution(convolution: list[Event]) -> None:
    order = [
        event["r"]
        for event in convolution
        if event["i"] == 1 and event["r"] not in ("seed", "found")
    ]
    order = [kind for index, kind in enumerate(order) if index == 0 or order[index - 1] != kind]
    once = [kind for kind in order if kind not in ("outgrad", "gradient")]
    assert once == [
        "weights",
        "rng",
        "batch",
        "call",
        "rng",
        "root",
        "hyper",
        "reduced",
        "update",
        "rng",
    ]
    assert (
        order.index("root")
        < order.index("outgrad")
        < order.index("gradient")
        < order.index("hyper")
        < order.index("update")
    )
    assert {event["i"] for event in convolution} == {1, 2}


def test_modules_have_their_paths_calls_and_generators(convolution: list[Event]) -> None:
    assert places(convolution, "call") == [
        "conv",
        "norm",
        "relu",
        "drop",
        "conv",
        "head",
        "",
        "criterion",
    ]
    assert [event["p"] for event in of(convolution, "call") if "g" in event] == ["drop", ""]
    drop = one(convolution, "call", "drop")
    assert (drop["k"], set(drop["g"]), set(drop["g2"])) == ("Dropout2d", {"torch"}, {"torch"})
    assert drop["g"] != drop["g2"]
    assert hashes(one(convolution, "call", "norm")) == hashes(
        one(convolution, "call", "relu"), "in"
    )
    assert hashes(one(convolution, "call", "norm")) != hashes(one(convolution, "call", "relu"))
    assert [path for path, _ in one(convolution, "call", "criterion")["in"]] == ["0", "1"]


def test_weights_have_names_lines_and_the_generator_before_them(convolution: list[Event]) -> None:
    assert places(convolution, "weights") == [
        *(
            "conv.weight",
            "conv.bias",
            "norm.weight",
            "norm.bias",
            "norm.running_mean",
            "norm.running_var",
        ),
        *("norm.num_batches_tracked", "head.weight", "head.bias"),
    ]
    weight = one(convolution, "weights", "conv.weight")
    line = 1 + SCRIPT.read_text().splitlines().index("            self.conv = nn.Conv2d(3, 8, 3)")
    assert weight["l"].endswith(f"modules.py:{line}")
    assert weight["g"] != one(convolution, "weights", "head.weight")["g"]
    assert one(convolution, "weights", "norm.running_mean")["b"] is True


def test_gradients_come_in_the_order_of_the_backward_pass(convolution: list[Event]) -> None:
    assert set(places(convolution, "outgrad")) == {
        "criterion",
        "",
        "head",
        "drop",
        "relu",
        "norm",
        "conv",
    }
    order = [
        event["p"]
        for event in convolution
        if event["i"] == 1 and event["r"] in ("outgrad", "gradient")
    ]
    assert order.index("") < order.index("head") < order.index("head.weight")
    assert (
        order.index("head")
        < order.index("norm")
        < order.index("norm.weight")
        < order.index("conv.weight")
    )
    clipped, raw = (
        one(convolution, "reduced", "conv.weight"),
        one(convolution, "gradient", "conv.weight"),
    )
    assert clipped["out"][0][1]["z"] < raw["out"][0][1]["z"]
    assert hashes(one(convolution, "update", "conv.weight")) != hashes(
        one(convolution, "weights", "conv.weight")
    )


REWRITTEN = """
import torch
from torch import nn

class Changing(nn.Sequential):
    def forward(self, value):
        for module in self:
            value = module(value)
            value.data.mul_(2.0)
        return value

model = nn.Sequential(nn.Linear(200, 200), nn.ReLU(inplace=True), Changing(nn.Linear(200, 200), nn.Tanh()), nn.Linear(200, 150))
optimizer = torch.optim.Adam(model.parameters(), 0.01)
for _ in range(2):
    model(torch.ones(4, 200)).sum().backward()
    model[0].weight.grad.data.add_(0.5)
    optimizer.step()
    optimizer.zero_grad()
with torch.inference_mode():
    model(torch.ones(100, 200))
"""


def test_what_is_written_to_without_a_version_is_read_again(tmp_path: Path) -> None:
    events = recorded(tmp_path, REWRITTEN)
    for iteration in (1, 2):
        calls = {event["p"]: event for event in of(events, "call", iteration)}
        # in place: what went in is not what is there now
        assert hashes(calls["0"]) != hashes(calls["1"])
        assert hashes(calls["0"]) == hashes(calls["1"], "in")
        assert hashes(calls["1"]) == hashes(calls["2"], "in") == hashes(calls["2.0"], "in")
        assert hashes(calls["2.0"]) != hashes(calls["2.1"], "in")
        assert hashes(calls["2"]) == hashes(calls["3"], "in")
        raw, reduced = (
            {event["p"]: hashes(event) for event in of(events, kind, iteration)}
            for kind in ("gradient", "reduced")
        )
        assert {name for name in raw if raw[name] != reduced[name]} == {"0.weight"}
    state = one(events, "update", "3.weight:exp_avg")["out"][0][1]
    assert state["h"]
    assert "k" not in state
    assert "k" in one(events, "update", "3.weight")["out"][0][1]


NAMES = """
import torch
from torch import nn
from torch.nn import functional

def bare():
    weight, biases = torch.ones(2, requires_grad=True), [torch.ones(2, requires_grad=True)]
    hidden = {"scale": torch.ones(1, requires_grad=True)}
    optimizer = torch.optim.SGD([weight, *biases, *hidden.values()], 0.1)
    del hidden
    return weight, biases, optimizer

weight, biases, optimizer = bare()
net, other = nn.Linear(2, 2), nn.Linear(2, 3)
both = torch.optim.SGD([*net.parameters(), *other.parameters()], 0.1)
labels = torch.tensor([0, 2])
for _ in range(2):
    out = other(net(torch.ones(2, 2) * weight + biases[0]))
    functional.cross_entropy(out, labels).backward()
    optimizer.step()
    both.step()
"""


def test_several_roots_bare_tensors_and_functional_losses_have_names(tmp_path: Path) -> None:
    events = recorded(tmp_path, NAMES)
    bare = {"weight (2)", "biases[0]", "hidden['scale']"}
    assert set(places(events, "weights")) == {"weight", "bias", "other.weight", "other.bias", *bare}
    assert "script.py:" in one(events, "weights", "biases[0]")["l"]
    assert places(events, "between") == ["LogSoftmaxBackward0", "NllLossBackward0"]
    saved = dict(one(events, "between", "NllLossBackward0")["in"])
    assert saved["target"]["v"] == [0, 2]
    assert hashes(one(events, "update", "biases[0]")) != hashes(
        one(events, "update", "biases[0]", 2)
    )


def test_structures_are_followed_and_generators_left_alone(tmp_path: Path) -> None:
    events = seen(run(tmp_path, SCRIPT, "structures", level="module", steps=2)[1])
    call = one(events, "call", "")
    assert {"0.x", "0.names.0", "name"} <= {path for path, _ in call["in"]}
    assert {"logits", "text"} <= {path for path, _ in call["out"]}
    groups = dict(one(events, "hyper", "SGD[0]")["out"])
    assert (groups["param_groups[0].lr"], groups["param_groups[1].lr"]) == ({"v": 0.1}, {"v": 0.2})


def test_weights_changed_by_hand_and_inside_a_step_are_seen(tmp_path: Path) -> None:
    by_hand = seen(run(tmp_path, SCRIPT, "by_hand", level="module")[1])
    assert {event["p"] for event in by_hand if event["r"] == "update"} == {
        "weight",
        "bias",
        "scale",
    }
    first = {
        kind: [event["i"] for event in by_hand if event["r"] == kind]
        for kind in ("gradient", "update")
    }
    assert first["gradient"][:3] == [1, 1, 1], (
        "the gradients of iteration 1 belong to it, though its loss has closed it"
    )
    assert first["update"][0] == 1
    (tmp_path / "closures").mkdir()
    closures = seen(run(tmp_path / "closures", SCRIPT, "closures", level="module", steps=2)[1])
    assert set(places(closures, "weights")) == {"weight", "bias"}
    assert len(of(closures, "root")) > 1
    assert hashes(of(closures, "reduced")[0]) == hashes(
        [event for event in of(closures, "gradient") if event["p"] == "weight"][-1]
    )


def test_weights_written_to_after_their_update_are_seen_before_the_next_forward(
    tmp_path: Path,
) -> None:
    events = seen(run(tmp_path, SCRIPT, "touched", level="module")[1])
    written = [event for event in events if event["r"] == "written"]
    assert [event["p"] for event in written] == ["0.weight", "1.weight", "2.bias", "teacher.0.bias"]
    assert {event["i"] for event in written} == {2}
    assert written[2]["out"][0][1]["v"] == [0.25]
    order = [
        (event["r"], event["i"]) for event in events if event["r"] in ("update", "written", "call")
    ]
    assert order.index(("update", 1)) < order.index(("written", 2)) < order.index(("call", 2))


def test_two_runs_of_a_seeded_script_are_recorded_alike(
    tmp_path: Path, convolution: list[Event]
) -> None:
    again = seen(run(tmp_path, SCRIPT, "convolution", level="module", steps=2)[1])
    for event in (*again, *convolution):
        if event["r"] == "rng":
            event["g"].pop("numpy", None)  # nobody has seeded it
    once, twice = (
        [event for event in events if event["r"] != "found"] for events in (convolution, again)
    )
    assert once == twice
    assert [event["p"] for event in convolution if event["r"] == "found"] == ["numpy"], (
        "as it was before any seed"
    )
