"""What a file of a training holds by key, which of it is loaded again, and how the code of a
function reaches the parts of its training.
"""

from __future__ import annotations

import random
import sys
from types import FrameType, SimpleNamespace
from typing import Any

import numpy as np
import pytest

from reprocheck.child.reprocheck_child.deep_levels import scope
from reprocheck.child.reprocheck_child.resume.archives import MOST, Archives


class _Deep:
    """Takes facts as the recorder does."""

    recorder = SimpleNamespace(named=str)

    def __init__(self) -> None:
        self.facts: list[tuple[str, str, dict[str, Any]]] = []

    def seen(self, kind: str, place: str, **keys: Any) -> None:
        self.facts.append((kind, place, keys))

    @staticmethod
    def source(_: int) -> str:
        return "train.py:7"

    @staticmethod
    def frames(_: int) -> list[Any]:
        return []


@pytest.fixture
def deep() -> _Deep:
    return _Deep()


def by_key(archives: Archives, value: Any) -> dict[str, tuple[str, Any]]:
    return {place: (one["d"], one["v"]) for place, one in archives.contents(value)}


def test_the_content_of_a_file_is_told_by_its_keys(deep: _Deep) -> None:
    own = np.random.default_rng(3)
    name = "data.rng (numpy.random.Generator)"
    archives = Archives(deep, lambda: {name: own})
    saved = {
        "step": 3,
        "best": None,
        "rng": {
            "python": random.getstate(),
            "numpy": np.random.get_state(),
            "env": own.bit_generator.state,
        },
        "args": SimpleNamespace(lr=0.1),
        "history": [0.5, 0.25],
    }
    assert by_key(archives, saved) == {
        "['step']": ("int", 3),
        "['best']": ("NoneType", None),
        "['rng']['python']": ("generator", "python"),
        "['rng']['numpy']": ("generator", "numpy"),
        "['rng']['env']": ("generator", name),
        "['args']": ("SimpleNamespace", ""),
        "['history'][0]": ("float", 0.5),
        "['history'][1]": ("float", 0.25),
    }


def test_of_a_long_file_as_much_is_told_as_fits_a_trace(deep: _Deep) -> None:
    archives = Archives(deep, dict)
    assert len(archives.contents(dict.fromkeys(range(10 * MOST), 1))) <= MOST


def test_a_file_that_an_adapter_knows_a_part_of_is_told_by_that(deep: _Deep) -> None:
    archives = Archives(deep, dict)
    archives.kinds.append(lambda one: ("optimizer", "optimizer 0") if "groups" in one else None)
    assert by_key(archives, {"opt": {"groups": []}}) == {"['opt']": ("optimizer", "optimizer 0")}


def test_what_was_loaded_is_known_by_its_key_also_in_another_dict(deep: _Deep) -> None:
    archives = Archives(deep, dict)
    file = {"model": {"w": [1.0], "b": [2.0]}, "opt": {"state": {}}, "rng": (3, (1, 2), None)}
    archives.read(file)
    assert archives.key_of(file["opt"]) == "['opt']"
    assert archives.key_of(file["rng"]) == "['rng']"
    renamed = {f"module.{name}": one for name, one in dict(file["model"]).items()}
    assert archives.key_of(renamed) == "['model']"
    assert archives.key_of({"state": {}}) == "" and archives.key_of(object()) == ""
    archives.loaded("part", "optimizer 0", file["opt"])
    kinds = [(kind, place) for kind, place, _ in deep.facts]
    assert kinds == [("names", "read"), ("load", "optimizer 0")]
    assert deep.facts[1][2]["in"] == [["key", {"v": "['opt']"}]]
    archives.read({"other": 1})
    assert archives.key_of(file["opt"]) == ""


def test_the_code_of_a_function_reaches_parts_by_the_shortest_expression() -> None:
    optimizer, net, rng = object(), object(), random.Random(1)
    trainer = SimpleNamespace(
        state=SimpleNamespace(optimizer=optimizer), data={"rng": rng}, nets=[0, net]
    )
    named = {id(optimizer): "optimizer 0", id(net): "module ", id(rng): "data (random.Random)"}

    def frame() -> FrameType:
        held = trainer
        assert held is not None
        return sys._getframe()

    assert scope.expressions(frame(), named) == {
        "optimizer 0": "held.state.optimizer",
        "module ": "held.nets[1]",
        "data (random.Random)": "held.data['rng']",
    }


def test_the_parts_of_a_training_with_pytorch_are_known_by_what_they_hold(deep: _Deep) -> None:
    torch = pytest.importorskip("torch")
    from reprocheck.child.reprocheck_child.frameworks.torch.state_dicts import StateDicts

    net = torch.nn.Linear(2, 1)
    optimizers = [torch.optim.SGD([net.bias], 0.1), torch.optim.Adam(net.parameters(), 0.1)]
    net(torch.ones(1, 2)).sum().backward()
    for one in optimizers:
        one.step()
    schedule = torch.optim.lr_scheduler.StepLR(optimizers[1], 3)
    held = SimpleNamespace(
        optimizers=lambda: enumerate(optimizers),
        live_schedules=lambda: [("StepLR[0]", schedule)],
        weights=lambda: [(name, one, False) for name, one in net.named_parameters()],
    )
    archives = Archives(deep, lambda: {"rng (torch.Generator)": own})
    own = torch.Generator().manual_seed(9)
    deep.boundary = SimpleNamespace(archives=archives)  # type: ignore[attr-defined]
    archives.kinds.append(StateDicts(torch, deep, held).kind)
    copied = {f"module.{name}": one.clone() for name, one in net.state_dict().items()}
    found = by_key(
        archives,
        {
            "net": net.state_dict(),
            "copy": copied,
            "adam": optimizers[1].state_dict(),
            "sgd": optimizers[0].state_dict(),
            "schedule": schedule.state_dict(),
            "rng": {"own": own.get_state(), "default": torch.get_rng_state()},
            "loader": {"_snapshot": {}, "_num_yielded": 3},
            "losses": torch.zeros(3),
        },
    )
    assert found == {
        "['net']": ("weights", "weight, bias"),
        "['copy']": ("weights", "weight, bias"),
        "['adam']": ("optimizer", "optimizer 1"),
        "['sgd']": ("optimizer", "optimizer 0"),
        "['schedule']": ("schedule", "StepLR[0]"),
        "['rng']['own']": ("generator", "rng (torch.Generator)"),
        "['rng']['default']": ("generator", "torch"),
        "['loader']": ("loader", ""),
        "['losses']": ("weights", ""),
    }
