"""What is recorded of operators at level `op`: everywhere or inside one module, in the forward and
in the backward pass.
"""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from reprocheck.child.reprocheck_child.deep_levels.hashing import digest
from tests.child.frameworks.torch.levels import Level, plain, record

SCRIPT = Path(__file__).parent / "scripts" / "operators.py"
CASES = Path(__file__).parents[3] / "e2e" / "cases" / "torch"

pytestmark = pytest.mark.torch


@pytest.fixture(scope="module")
def script(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return Path(shutil.copy(SCRIPT, tmp_path_factory.mktemp("operators")))


@pytest.fixture(scope="module")
def printed(script: Path) -> list[str]:
    return plain(script)


@pytest.fixture(scope="module")
def everywhere(script: Path) -> Level:
    return record(script, "op")


@pytest.fixture(scope="module")
def inside(script: Path) -> Level:
    return record(script, "op", inside="gate")


def line_of(text: str) -> str:
    """`operators.py:LINE` of the first line that holds `text`."""
    numbers = [
        number for number, line in enumerate(SCRIPT.read_text().splitlines(), 1) if text in line
    ]
    return f"operators.py:{numbers[0]}"


def exact(leaves: list[Any]) -> str:
    """Leaves without what is an estimate."""
    return json.dumps([[path, leaf.get("h", leaf.get("v"))] for path, leaf in leaves])


@pytest.mark.parametrize("where", ["everywhere", "inside"])
def test_the_script_prints_what_it_prints_without_a_recorder(
    where: str, printed: list[str], request: pytest.FixtureRequest
) -> None:
    level: Level = request.getfixturevalue(where)
    assert len(printed) == 8
    assert printed[-2] == "error seen"
    assert level.printed == printed
    assert level.problems == []


def test_operators_of_the_forward_have_their_line_and_module(everywhere: Level) -> None:
    operators = everywhere.seen("op")
    assert (embedding := everywhere.seen("op", "aten.embedding.")[0])["m"] == "embed"
    assert embedding["l"] == line_of("self.embed(tokens)")
    assert {path for path, _ in embedding["in"]} >= {"weight", "indices"}
    labels = everywhere.seen("op", "aten.nll_loss_forward.")[0]
    assert "m" not in labels
    assert labels["l"] == line_of("cross_entropy")
    assert not any(
        operator["p"].startswith(("aten.view.", "aten.t.", "aten.transpose."))
        for operator in operators
    )
    places = [event["p"] for event in everywhere.events if event["e"] == "seen"]
    assert (
        places.index("aten.embedding.default")
        < places.index("aten.nll_loss_forward.default")
        < places.index("loss")
    )


def test_operators_of_the_backward_know_the_forward_that_they_belong_to(everywhere: Level) -> None:
    backward = [operator for operator in everywhere.seen("op") if operator.get("bw")]
    embedding = next(
        operator
        for operator in backward
        if operator["p"] == "aten.embedding_dense_backward.default"
    )
    assert (embedding["node"], embedding["m"], embedding["l"]) == (
        "EmbeddingBackward0",
        "embed",
        line_of("self.embed(tokens)"),
    )
    gate = next(operator for operator in backward if operator["p"] == "GateBackward")
    assert (gate["m"], gate["k"]) == ("gate", "autograd.Function")
    assert gate["l"].startswith("operators.py:")
    assert exact(gate["in"]) != exact(gate["out"])
    inner = [
        operator
        for operator in backward
        if operator["node"] == "GateBackward" and operator["p"].startswith("aten.")
    ]
    assert {operator["p"] for operator in inner[:2]} == {"aten.sigmoid.default", "aten.mul.Tensor"}
    assert inner[0]["l"] == line_of("ctx.saved_tensors[0].sigmoid()")


def test_draws_of_operators(everywhere: Level) -> None:
    dropout = next(
        operator
        for operator in everywhere.seen("op")
        if operator.get("m") == "block.3" and "g2" in operator
    )
    assert set(dropout["g"]) == {"torch"}
    draws = everywhere.seen("op", "aten.rand.generator")
    assert len(draws) >= 4
    assert len({draw["private"] for draw in draws}) == len(draws)
    assert not any("g2" in draw for draw in draws)


def test_memory_that_nothing_was_written_to_is_no_value(everywhere: Level) -> None:
    empty = next(
        operator for operator in everywhere.seen("op", "aten.empty.") if operator.get("m") == "gate"
    )
    assert empty["uninitialised"] is True
    assert empty["out"][0][1]["h"] == ""
    written = next(
        operator
        for operator in everywhere.seen("op", "aten.mul.out")
        if operator.get("m") == "gate"
    )
    assert [path for path, _ in written["in"]] == ["self", "other"]
    assert written["out"][0][1]["h"]


def test_only_the_module_asked_for_is_recorded(inside: Level) -> None:
    forward = [operator for operator in inside.seen("op") if not operator.get("bw")]
    backward = [operator for operator in inside.seen("op") if operator.get("bw")]
    assert {operator["m"] for operator in forward} == {"gate"}
    assert {operator["p"] for operator in forward} >= {
        "aten.clone.default",
        "aten.mul.out",
        "aten.add.Tensor",
    }
    assert {operator["node"] for operator in backward} >= {"GateBackward"}
    assert {operator.get("m") for operator in backward} == {"gate"}


def test_two_runs_first_part_at_the_scatter_with_atomics(tmp_path: Path) -> None:
    script = Path(shutil.copy(CASES / "atomic_gradient.py", tmp_path))
    first = record(script, "op", steps=2).seen("op")
    scatter = next(one for one in first if one["p"].startswith("aten.index_put"))
    inputs = {path: leaf["h"] for path, leaf in scatter["in"] if "h" in leaf}
    wanted = {"operator": scatter["p"], "inputs": inputs, "most": 20_000_000}
    second = record(script, "op", steps=2, values=wanted).seen("op")
    parted = next(
        (one, other)
        for one, other in zip(first, second)
        if (one["p"], exact(one["out"])) != (other["p"], exact(other["out"]))
    )
    assert parted[0]["p"] == parted[1]["p"]
    assert parted[0]["p"].startswith("aten.index_put")
    assert exact(parted[0]["in"]) == exact(parted[1]["in"])
    assert (parted[0]["bw"], parted[0]["node"], parted[0]["i"]) == (True, "IndexBackward0", 1)
    assert parted[0]["l"] == "atomic_gradient.py:14"
    assert {operator["i"] for operator in first} == {1, 2}
    (file,) = tmp_path.glob("trace-*/values.safetensors")
    assert {path: digest(data) for path, data in kept(file).items()} == inputs


def kept(file: Path) -> dict[str, bytes]:
    """The bytes of each tensor, as the library reads them."""
    from safetensors import deserialize

    return {name: bytes(tensor["data"]) for name, tensor in deserialize(file.read_bytes())}


def test_products_are_noted_for_their_gradient_is_rounded_otherwise(tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    script.write_text(
        "import torch\nx = torch.rand(6, requires_grad=True)\noptimizer = torch.optim.SGD([x], 1e-3)\nx.prod().backward()\n"
    )
    codes = [event["code"] for event in record(script, "op").events if event["e"] == "note"]
    assert [code for code in codes if not code.startswith("modules ")] == ["gradient-of-products"]


def of_iteration(level: Level, iteration: int) -> list[tuple[str, str]]:
    """The operators of an iteration, with what came out."""
    facts = [operator for operator in level.seen("op") if operator["i"] == iteration]
    return [(fact["p"], exact(fact["out"])) for fact in facts]


def test_recording_may_begin_at_a_later_iteration(
    script: Path, printed: list[str], everywhere: Level
) -> None:
    late = record(script, "op", begin=2)
    assert late.printed == printed
    assert late.problems == []
    assert of_iteration(late, 1) == []
    assert of_iteration(late, 2) == of_iteration(everywhere, 2) != []


BARE = """
import sys, torch
torch.manual_seed(0)
weights = torch.randn(4, 3, requires_grad=True)
optimizer = torch.optim.SGD([weights], 0.1) if sys.argv[1] == "optimizer" else None
inputs = torch.randn(5, 4)
for _ in range(4):
    loss = (inputs @ weights).tanh().pow(2).mean()
    loss.backward()
    if optimizer is not None:
        optimizer.step()
    else:
        with torch.no_grad():
            weights -= 0.1 * weights.grad
    weights.grad = None
    print(loss.item().hex(), torch._C._len_torch_dispatch_stack() < 2)
"""


@pytest.mark.parametrize("updates", ["optimizer", "hand"])
def test_so_it_may_without_modules(updates: str, tmp_path: Path) -> None:
    script = tmp_path / "bare.py"
    script.write_text(BARE)
    late = record(script, "op", updates, begin=3)
    assert late.printed == plain(script, updates)
    assert late.problems == []
    places = {iteration: [one[0] for one in of_iteration(late, iteration)] for iteration in (1, 2)}
    assert places == {1: [], 2: []}
    third = [one[0] for one in of_iteration(late, 3)]
    assert {"aten.tanh.default", "aten.tanh_backward.default"} <= {*third}


def test_operators_say_how_their_arguments_lie_and_what_range_integers_have(
    everywhere: Level,
) -> None:
    embedding = everywhere.seen("op", "aten.embedding.default")[0]
    low, high = embedding["how"]["range"]["indices"]
    assert 0 <= low < high < 50
    with_strides = [one for one in everywhere.seen("op") if "strides" in one.get("how", {})]
    assert with_strides
    for one in with_strides:
        shapes = {path: leaf["s"] for path, leaf in one["in"] if "s" in leaf}
        for path, strides in one["how"]["strides"].items():
            assert len(strides) == len(shapes[path])
