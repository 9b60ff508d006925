"""What a training with PyTorch holds at the point where a resume is judged, as the recorder writes
it.
"""

from __future__ import annotations

import pytest

from reprocheck.resume.gap.mersenne_twister import ahead, seeded, state_of
from tests.child.frameworks.torch.levels import Level, plain, record

pytestmark = pytest.mark.torch

SCRIPT = """
import copy, random; from types import SimpleNamespace as Kept
import numpy, torch
from torch import nn

torch.manual_seed(3)
model = type("Net", (nn.Sequential,), {})(nn.Linear(2, 4), nn.BatchNorm1d(4), nn.Dropout(0.5), nn.Linear(4, 1))
model.running, model.beta, model[0].kept = torch.zeros(()), 0.5, {"mean": torch.ones(2), "graph": None}
model[2].register_buffer("scratch", torch.ones(1), persistent=False)
average, ema = torch.optim.swa_utils.AveragedModel(model), Kept(shadow=copy.deepcopy(model))
optimizer = torch.optim.Adam(model.parameters(), 0.1)
plateau = torch.optim.lr_scheduler.ReduceLROnPlateau(optimizer)
rate = torch.optim.lr_scheduler.ExponentialLR(optimizer, 0.5)
scaler = torch.amp.GradScaler("cpu", init_scale=8.0)
torch.set_rng_state(torch.get_rng_state())
random.setstate(random.getstate())
numpy.random.set_state(numpy.random.get_state())
exec("import torch; torch.set_rng_state(torch.get_rng_state())", {"__name__": "library.seeds"})
torch.manual_seed(5)
for step in range(7):
    with torch.no_grad():
        model(torch.ones(4, 2))  # a validation
    optimizer.zero_grad()
    loss = model(torch.randn(4, 2)).pow(2).mean()
    model.running += 1
    model[0].kept["graph"] = loss
    scaler.scale(loss).backward()
    scaler.step(optimizer)
    scaler.update()
    rate.step()
    average.update_parameters(model)
    print(loss.item().hex())
"""


KINDS = ("gradient", "update", "outgrad", "batch", "call")


@pytest.fixture(scope="module")
def both(tmp_path_factory: pytest.TempPathFactory) -> tuple[list[str], Level]:
    script = tmp_path_factory.mktemp("boundary") / "train.py"
    script.write_text(SCRIPT)
    return plain(script), record(script, "module", boundaries=[2, 3])


def test_the_training_is_not_changed(both: tuple[list[str], Level]) -> None:
    printed, level = both
    assert level.printed == printed and not level.problems


def test_all_that_is_held_before_an_iteration_is_written_once(
    both: tuple[list[str], Level],
) -> None:
    level = both[1]
    assert [boundary["i"] for boundary in level.seen("boundary")] == [2, 3]
    facts = [fact for fact in level.seen("held") if fact["i"] == 3]
    held = {fact["p"]: fact for fact in facts}
    assert len(held) == len(facts)
    assert {"0.weight", "1.running_mean", "0.weight:exp_avg", "0.weight:step"} <= held.keys()
    assert held["1.running_mean"]["b"] and not held["0.weight"]["b"]
    assert {"average.n_averaged", "ema.shadow.0.weight"} <= held.keys()
    (last,) = [fact for fact in level.seen("update", "0.weight") if fact["i"] == 2][:1]
    assert held["0.weight"]["out"][0][1]["h"] == last["out"][0][1]["h"]


def test_before_a_boundary_and_behind_two_iterations_only_what_is_fed_is_written(
    both: tuple[list[str], Level],
) -> None:
    level = both[1]
    assert [fact["i"] for fact in level.seen("rest")] == [1, 5]
    iterations = {kind: {fact["i"] for fact in level.seen(kind)} for kind in KINDS}
    deep = {2, 3, 4}
    assert iterations["gradient"] == iterations["update"] == iterations["outgrad"] == deep
    assert iterations["batch"] == iterations["call"] == set(range(1, 8))
    resting = [fact for fact in level.seen("call") if fact["i"] in (1, 7)]
    outermost = [fact for fact in resting if not fact["p"] and fact["in"]]
    assert resting == outermost and "out" not in resting[0]
    assert {fact["i"] for fact in level.seen("weights", "0.weight")} == {1}


def test_tensors_that_no_state_dict_holds_are_written_beside_the_weights(
    both: tuple[list[str], Level],
) -> None:
    facts = [fact for fact in both[1].seen("held") if fact["i"] == 2]
    held = {fact["p"]: fact for fact in facts if fact.get("k") == "attribute"}
    own = {name for name in held if not name.startswith(("average", "ema"))}
    assert own == {"running", "beta", "0.kept['mean']", "2.scratch"}, "what hangs on a graph is not"
    assert held["running"]["out"][0][1]["v"] == [1.0]


def test_schedules_and_scales_are_held_by_what_decides_their_next_value(
    both: tuple[list[str], Level],
) -> None:
    schedules = {
        fact["p"]: dict(fact["out"])
        for fact in both[1].seen("held")
        if fact.get("k") == "schedule" and fact["i"] == 2
    }
    assert list(schedules) == ["ReduceLROnPlateau[0]", "ExponentialLR[1]", "GradScaler[2]"]
    assert schedules["ExponentialLR[1]"]["last_epoch"] == {"v": 1}
    assert schedules["GradScaler[2]"]["scale"] == {"v": 8.0}
    assert schedules["ReduceLROnPlateau[0]"]["num_bad_epochs"] == {"v": 0}


def test_states_that_are_put_back_and_where_generators_stand_are_written(
    both: tuple[list[str], Level],
) -> None:
    level = both[1]
    restored = [(fact["p"], fact["l"], fact.get("by")) for fact in level.seen("restore")]
    assert restored == [
        ("torch", "train.py:15", None),
        ("python", "train.py:16", None),
        ("numpy", "train.py:17", None),
        ("torch", "train.py:18", "library"),
    ]
    states = {fact["p"]: fact["raw"] for fact in level.seen("state") if fact["i"] == 2}
    assert states.keys() == {"python", "numpy", "torch"}
    state = state_of("torch", states["torch"])
    assert state is not None
    distance = ahead(seeded("torch", 5), state)
    assert distance is not None and distance > 0
