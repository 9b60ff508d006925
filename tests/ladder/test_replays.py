"""What it takes to run the operation that makes a difference again: from its recorded call."""

from __future__ import annotations

import ast
import tempfile
from pathlib import Path

import pytest
from hypothesis import given as for_any, settings, strategies as st

from reprocheck.model import Ladder
from reprocheck.model.replay import Constant, OnDevice, TensorArgument
from reprocheck.replay.torch import script
from tests.ladder.ladder_traces import (
    HASHES,
    Event,
    call,
    check_of,
    climb,
    loss,
    pair_of,
    plain,
    seen,
    tensor,
    text,
    told,
    training,
    update,
)

SCATTER: list[object] = [
    ["self", tensor("grid", (40, 8))],
    ["indices.0", {"v": None}],
    ["indices.1", tensor("index", (90,), "int64")],
    ["values", tensor("values", (90, 8), dev="cuda:0")],
    ["accumulate", {"v": True}],
]


TORCH: Event = {"e": "framework", "name": "torch", "version": "2.13.0", "hooks": {}}


def of_operator(
    folder: Path,
    name: str,
    given: list[object],
    unequal: list[object] | None = None,
    **keys: object,
) -> Ladder:
    """The ladder of two runs in which an operator inside `noise` returns something else; with
    `unequal` it is given that in run 2.
    """

    def events(returned: str, given: list[object]) -> list[Event]:
        made: Event = {"in": given, "out": [["", tensor(returned, (40, 8))]], "m": "noise"}
        return [
            HASHES,
            seen("op", name, **made, **keys),
            call("noise", "x", returned, k="Noise"),
            loss(1.0),
            update(1),
        ]

    def ends(returned: str) -> list[Event]:
        return [TORCH, HASHES, call("noise", "x", returned, k="Noise"), loss(1.0), update(1)]

    module = pair_of(folder, [text(ends("n"))], [text(ends("N"))])
    runs = events("n", given), events("N", unequal or given)
    deep = pair_of(folder, [text(runs[0])], [text(runs[1])], level="op")
    check = check_of(folder, deeper=(module, deep), first=(plain(1.0), plain(2.0)))
    found = told(check, folder)
    assert found.first == "forward"
    return found


def said(ladder: Ladder) -> str:
    """Why `noise` is not replayed."""
    (line,) = [line for line in ladder.coverage if "replay.py" in line]
    head, _, why = line.rstrip(".").partition(": ")
    assert head == "No `replay.py` was made of `noise`"
    return why


def test_an_operator_with_equal_inputs_is_known_by_what_these_look_like(tmp_path: Path) -> None:
    how = {"strides": {"values": [1, 90]}, "range": {"indices.1": [3, 7]}}
    replay = of_operator(tmp_path, "aten.index_put.default", SCATTER, how=how).replay
    assert replay is not None
    assert (replay.name, replay.of, replay.draws) == ("aten.index_put.default", "operator", False)
    assert replay.device == "cuda"
    given = dict(replay.arguments)
    assert list(given) == ["self", "indices", "values", "accumulate"]
    assert given["accumulate"] is True
    assert given["self"] == TensorArgument(
        shape=(40, 8), strides=(8, 1), dtype="float32", fill="floats"
    )
    assert given["values"] == TensorArgument(
        shape=(90, 8), strides=(1, 90), dtype="float32", fill="floats"
    )
    index = TensorArgument(shape=(90,), strides=(1,), dtype="int64", fill="integers", low=3, high=7)
    assert given["indices"] == (None, index)


def test_indices_without_a_recorded_range_are_within_every_dimension(tmp_path: Path) -> None:
    replay = of_operator(tmp_path, "aten.index_put.default", SCATTER).replay
    assert replay is not None
    indices = dict(replay.arguments)["indices"]
    assert isinstance(indices, tuple)
    assert isinstance(indices[1], TensorArgument)
    assert (indices[1].low, indices[1].high) == (0, 7)


def test_a_draw_from_a_generator_of_its_own_is_told_as_one(tmp_path: Path) -> None:
    given: list[object] = [
        ["dtype", {"v": "torch.float32"}],
        ["device", {"v": "cuda:0"}],
        ["high", {"v": "inf"}],
        ["mode", {"v": "sum"}],
    ]
    ladder = of_operator(
        tmp_path, "aten.rand.generator", given, private="abc", how={"empty": ["size"]}
    )
    replay = ladder.replay
    assert replay is not None
    assert (replay.draws, replay.own_generator) == (True, True)
    assert dict(replay.arguments) == {
        "dtype": Constant(name="torch.float32"),
        "device": OnDevice(),
        "high": float("inf"),
        "mode": "sum",
        "size": (),
    }


def test_what_an_operator_fills_is_an_argument_of_its_own(tmp_path: Path) -> None:
    replay = of_operator(tmp_path, "aten.uniform_.default", [["from", {"v": 0.0}]]).replay
    assert replay is not None
    assert [name for name, _ in replay.arguments] == ["self", "from"]
    given = [["self", tensor("left over", (40, 8))], ["p", {"v": 0.5}]]
    replay = of_operator(tmp_path / "given", "aten.bernoulli_.float", given).replay
    assert replay is not None
    assert [(name, one.fingerprint) for name, one in replay.tensors] == [("self", "")]


def test_a_module_of_the_framework_that_draws_is_called_as_it_was_made(tmp_path: Path) -> None:
    moved = {"g": {"torch": "a"}, "g2": {"torch": "b"}, "x": "p=0.25, inplace=False"}
    other = {**moved, "g": {"torch": "c"}}

    def events(returned: str, states: dict[str, object]) -> list[Event]:
        return [HASHES, call("drop", "x", returned, k="Dropout", **states), loss(1.0), update(1)]

    ladder = climb(tmp_path, events("n", moved), events("N", other))
    assert ladder.first == "RNG state"
    assert ladder.replay is not None
    assert ladder.replay.name == "torch.nn.Dropout"
    assert ladder.replay.constructor == "p=0.25, inplace=False"
    assert ladder.replay.draws
    assert [name for name, _ in ladder.replay.arguments] == ["input"]


def test_a_cell_of_mindspore_that_draws_is_called_as_it_was_made(tmp_path: Path) -> None:
    started: Event = {"e": "framework", "name": "mindspore", "version": "2.10.0", "hooks": {}}

    def events(returned: str, **given: object) -> list[Event]:
        drop = {**call("drop", "x", returned, k="Dropout", x="p=0.25"), **given}
        return [started, HASHES, drop, loss(1.0), update(1)]

    ladder = climb(tmp_path / "one", events("n"), events("N"))
    assert ladder.first == "forward"
    assert ladder.replay is not None
    assert ladder.replay.name == "mindspore.nn.Dropout"
    assert ladder.replay.framework == "mindspore"
    assert ladder.replay.constructor == "p=0.25"
    two = {"in": [["0", tensor("x")], ["1", tensor("y")]]}
    ladder = climb(tmp_path / "two", events("n", **two), events("N", **two))
    assert ladder.replay is None


def test_the_code_of_a_script_is_not_replayed_and_the_coverage_says_so(tmp_path: Path) -> None:
    runs = [TORCH, *training()], [TORCH, *training(noisy="other")]
    modules = climb(tmp_path / "modules", *runs)
    assert modules.first == "forward"
    assert modules.replay is None
    operators = climb(tmp_path / "operators", *runs, level="op")
    assert said(modules) == (
        "its operators were not recorded; `reprocheck run --level op` records them"
    )
    assert said(operators).startswith("it is code of the script")


def test_what_comes_into_a_module_from_outside_is_not_replayed(tmp_path: Path) -> None:
    unequal = [["self", tensor("other", (40, 8))], *SCATTER[1:]]
    ladder = of_operator(tmp_path, "aten.index_put.default", SCATTER, unequal)
    assert ladder.replay is None
    assert said(ladder) == "what differs comes into it from something that was not recorded"


@pytest.mark.parametrize(
    ("name", "given", "keys", "why"),
    [
        ("aten.os; import os.default", SCATTER, {}, "another library"),
        ("torchvision.nms.default", SCATTER, {}, "another library"),
        ("RoundBackward", SCATTER, {"k": "autograd.Function"}, "code of the script"),
        ("aten.add.Tensor", [['x": evil(), "', {"v": 1}]], {}, "not all"),
        ("aten.add.Tensor", [["self", {"v": '"); evil("'}]], {}, "not all"),
        ("aten.add.Tensor", [["self", {"h": "a", "d": "complex"}]], {}, "not all"),
        ("aten.add.Tensor", [["self", tensor("x", (-1,))]], {}, "not all"),
        ("aten.add.Tensor", [["self", tensor("x", d="float32); evil(")]], {}, "not all"),
        ("aten.add.Tensor", [["self", tensor("x", dev="cpu); evil(")]], {}, "not all"),
        ("aten.add.Tensor", [["self.1", tensor("x")]], {}, "not all"),
        ("aten.add.Tensor", [["self", {"v": 1}]], {"how": {"empty": ['"']}}, "not all"),
        ("aten.add.Tensor", [["self", tensor("x", (1 << 40,))]], {}, "too large"),
    ],
)
def test_what_is_of_no_known_form_is_not_replayed(
    name: str, given: list[object], keys: dict[str, object], why: str, tmp_path: Path
) -> None:
    ladder = of_operator(tmp_path, name, given, **keys)
    assert ladder.replay is None
    (line,) = [line for line in ladder.coverage if "replay.py" in line]
    assert why in line


@pytest.mark.parametrize(
    "constructor", ["p=open('x')", "0.5) or print(", "p=0.5\nimport os", "p=x", "0" * 500]
)
def test_a_module_is_made_of_literals_alone(constructor: str, tmp_path: Path) -> None:
    moved = {"g": {"torch": "a"}, "g2": {"torch": "b"}, "x": constructor}

    def events(returned: str) -> list[Event]:
        return [HASHES, call("drop", "x", returned, k="Dropout", **moved), loss(1.0), update(1)]

    ladder = climb(tmp_path, events("n"), events("N"))
    assert ladder.replay is None
    assert any("not all that it was given is known" in line for line in ladder.coverage)


WORDS = st.sampled_from(["self", "self.0", "self.1", "float32", "int64", "aten.add.Tensor", "cpu"])
TEXT = WORDS | st.text(max_size=12)
PLAIN = st.none() | st.booleans() | st.integers(-9, 9) | st.floats() | TEXT
SIZES = st.lists(st.integers(-1, 5), max_size=3)
LEAF = st.builds(lambda value: {"v": value}, PLAIN) | st.builds(
    lambda dtype, shape, device: tensor("x", shape, dtype, dev=device),
    st.sampled_from(["float32", "int64", "bool"]) | TEXT,
    SIZES,
    st.sampled_from(["cpu", "cuda:0"]) | TEXT,
)
HOW = st.fixed_dictionaries(
    {
        "strides": st.dictionaries(TEXT, SIZES, max_size=2),
        "range": st.dictionaries(TEXT, st.tuples(st.integers(), st.integers()), max_size=2),
        "empty": st.lists(TEXT, max_size=2),
    }
)
ALLOWED = (
    *(ast.Dict, ast.List, ast.Tuple, ast.Constant, ast.UnaryOp, ast.USub),
    *(ast.Call, ast.Attribute, ast.Name, ast.Load),
)


@settings(max_examples=80, deadline=None)
@for_any(
    name=st.just("aten.add.Tensor") | TEXT,
    given=st.lists(st.tuples(TEXT, LEAF), max_size=4),
    how=HOW,
)
def test_no_trace_brings_code_into_a_script(
    name: str, given: list[tuple[str, Event]], how: Event
) -> None:
    with tempfile.TemporaryDirectory() as folder:
        operator = of_operator(Path(folder), name, list(map(list, given)), how=how)
    if operator.replay is None:
        return
    tree = ast.parse(script(operator.replay))
    (inputs,) = [node for node in tree.body if getattr(node, "name", "") == "inputs"]
    assert isinstance(inputs, ast.FunctionDef)
    returned = inputs.body[-1]
    assert isinstance(returned, ast.Return)
    assert isinstance(returned.value, ast.Dict)
    for node in ast.walk(returned.value):
        assert isinstance(node, ALLOWED)
        if isinstance(node, ast.Name):
            assert node.id in ("make", "torch", "float")
