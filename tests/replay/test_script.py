"""`replay.py`: what it says, what it holds, and what it shows where it is run."""

from __future__ import annotations

import ast
import subprocess
import sys
from array import array
from dataclasses import replace
from pathlib import Path

import pytest

from reprocheck.model import RUNGS, Check, Ladder, Rung
from reprocheck.model.replay import Argument, Constant, OnDevice, Replay, TensorArgument
from reprocheck.replay import NAME, script
from reprocheck.replay.torch import script as torch_script
from reprocheck.replay.values import NAME as VALUES
from reprocheck.report import write
from tests.conftest import mindspore_python
from tests.replay.values_file import safetensors
from tests.report.samples import forward_fails

FLOATS = TensorArgument(shape=(4, 3), strides=(1, 4), dtype="float32", fill="floats")
INDEX = TensorArgument(shape=(9,), strides=(1,), dtype="int64", fill="integers", low=0, high=3)


def operator(name: str, *arguments: tuple[str, Argument], **facts: object) -> Replay:
    made = Replay(framework="torch", name=name, of="operator", arguments=arguments)
    return replace(made, **facts)  # type: ignore[arg-type]


PLACES = [3, 0, 2, 1, 3, 3, 0, 1, 2]
REPLAYS = {
    "sum": operator(
        "aten.index_add.default",
        ("self", FLOATS),
        ("dim", 0),
        ("index", INDEX),
        ("source", replace(FLOATS, shape=(9, 3), strides=(3, 1))),
        threads=1,
    ),
    "rand": operator(
        "aten.rand.generator",
        ("size", (4, 3)),
        ("dtype", Constant(name="torch.float64")),
        ("device", OnDevice()),
        draws=True,
        own_generator=True,
    ),
    "unfilled": operator(
        "aten.mul.Tensor", ("self", replace(FLOATS, fill="nothing")), ("other", 2.0)
    ),
    "values": operator(
        "aten.index_select.default",
        ("self", FLOATS),
        ("dim", 0),
        ("index", INDEX),
        values=("self", "index"),
    ),
    "lstm": Replay(
        framework="torch",
        name="torch.nn.LSTM",
        of="module",
        arguments=(("input", FLOATS),),
        constructor="3, 2, num_layers=2, dropout=0.5",
        draws=True,
    ),
    "list": operator(
        "aten._foreach_add_.Scalar",
        ("self", (FLOATS, FLOATS)),
        ("scalar", float("inf")),
        deterministic=True,
    ),
}
"""The one that is told to be deterministic comes last: they are run in one process."""


def with_replay(replay: Replay | None) -> Check:
    rungs = tuple(Rung(rung=name, status="equal") for name in RUNGS)
    return replace(forward_fails(), ladder=Ladder(rungs=rungs, first=None, replay=replay))


def test_a_check_has_a_script_where_an_operation_makes_the_difference(tmp_path: Path) -> None:
    assert script(forward_fails()) is None
    assert script(with_replay(None)) is None
    check = with_replay(REPLAYS["sum"])
    text = script(check)
    assert text is not None
    write(check, tmp_path)
    assert (tmp_path / NAME).read_text() == text
    page = (tmp_path / "report.html").read_text()
    assert '<a href="replay.py">replay.py</a> runs <code>aten.index_add.default</code>' in page
    assert "`replay.py` runs `aten.index_add.default`" in (tmp_path / "report.md").read_text()


CELL = Replay(
    framework="mindspore",
    name="mindspore.nn.Dropout",
    of="module",
    arguments=(("input", replace(FLOATS, dtype="float16")),),
    constructor="p=0.5",
    draws=True,
)


def cell_script() -> str:
    text = script(with_replay(CELL))
    assert text is not None
    return text


@pytest.mark.mindspore
def test_a_cell_of_mindspore_is_seeded_as_it_is_made(tmp_path: Path) -> None:
    (tmp_path / NAME).write_text(cell_script())
    done = subprocess.run(
        [mindspore_python(), NAME, "--times", "5"], cwd=tmp_path, capture_output=True, text=True
    )
    assert (done.returncode, done.stderr) == (1, "")
    assert "Equal inputs, the same seed: 0 of 4 further results differ" in done.stdout
    assert "Equal inputs, without reseeding: 4 of 4 further results differ" in done.stdout
    assert "of 12 elements at most; largest difference" in done.stdout


@pytest.mark.parametrize("name", REPLAYS)
def test_a_script_needs_the_framework_alone(name: str) -> None:
    tree = ast.parse(torch_script(REPLAYS[name]))
    imported = {
        alias.name
        for node in ast.walk(tree)
        if isinstance(node, ast.Import)
        for alias in node.names
    }
    assert imported <= {"argparse", "functools", "itertools", "json", "pathlib", "sys", "torch"}
    assert not any(isinstance(node, ast.ImportFrom) for node in ast.walk(tree))


def test_scripts_are_as_ruff_has_them(tmp_path: Path) -> None:
    for name, replay in REPLAYS.items():
        (tmp_path / f"{name}.py").write_text(torch_script(replay))
    (tmp_path / "cell.py").write_text(cell_script())
    ruff = [sys.executable, "-m", "ruff"]
    options = ["--isolated", "--no-cache", "--line-length", "100", str(tmp_path)]
    rules = ["--select", "E,F,I,N,UP,W"]
    subprocess.run([*ruff, "check", *rules, *options], check=True)
    subprocess.run([*ruff, "format", "--check", *options], check=True)


RUN_ALL = """\
import runpy, sys
for path in sys.argv[1:]:
    sys.argv = [path, "--times", "5"]
    try:
        runpy.run_path(path, run_name="__main__")
    except SystemExit as end:
        print("exit", int(end.code))
names = runpy.run_path(sys.argv[0].replace("list", "values"))
given = names["filled"](names["inputs"](names["Make"]("cpu")))
print(given["self"].tolist(), given["self"].stride(), given["index"].tolist())
"""


@pytest.mark.torch
def test_what_scripts_show(tmp_path: Path) -> None:
    paths = []
    for name, replay in REPLAYS.items():
        paths.append(tmp_path / f"{name}.py")
        paths[-1].write_text(torch_script(replay))
    (tmp_path / VALUES).write_bytes(
        safetensors(
            self=("F32", [4, 3], array("f", range(12))), index=("I64", [9], array("q", PLACES))
        )
    )
    done = subprocess.run(
        [sys.executable, "-c", RUN_ALL, *map(str, paths)],
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stderr == ""
    said = dict(zip(REPLAYS, done.stdout.split("exit "), strict=False))
    ends = dict(zip(REPLAYS, [part[0] for part in done.stdout.split("exit ")[1:]], strict=True))
    differ = {name for name, status in ends.items() if status == "1"}
    assert differ == {"rand", "unfilled", "lstm"}
    assert "Equal inputs: 0 of 4 further results differ from the first." in said["sum"]
    for draws in ("rand", "lstm"):
        assert "the same state of the generator: 0 of 4 further" in said[draws]
        assert "without reseeding: 4 of 4 further" in said[draws]
    assert "of 12 elements at most; largest difference" in said["unfilled"]
    assert " ULP" in said["unfilled"]
    assert "Values as recorded: self, index" in said["values"]
    rows = [[0.0, 1.0, 2.0], [3.0, 4.0, 5.0], [6.0, 7.0, 8.0], [9.0, 10.0, 11.0]]
    assert done.stdout.splitlines()[-1] == f"{rows} (1, 4) {PLACES}"
