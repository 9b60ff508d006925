"""Each way to train in PyTorch is recorded as the script itself names its losses: the same
iterations, the same lists, every bit.
"""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
import sysconfig
from dataclasses import dataclass
from pathlib import Path

import pytest

from reprocheck.model import Run, RunRecord
from reprocheck.trace import read_run
from tests.child.controls.torch_runs import Start
from tests.conftest import check, clean_environment

SCRIPT = Path(__file__).parent / "scripts" / "shapes.py"
FORWARD_LOSSES = {"accumulation": 4, "several_roots": 2, "threads": 2, "skipped_step": 2, "gan": 2}
SHAPES = [
    name for name in re.findall(r"^def (\w+)\(\)", SCRIPT.read_text(), re.M) if name != "data"
]
HEADER = Path(sysconfig.get_paths()["include"], "Python.h")
MADE = [name for name in SHAPES if name != "compiled" or HEADER.exists()]
"""What `torch.compile` builds includes the header, which not every system installs."""

pytestmark = pytest.mark.torch


@dataclass(frozen=True, kw_only=True)
class Shape:
    """What one way to train printed, iteration by iteration, and the process that it trained in."""

    printed: list[list[float]]
    pid: int


def shapes(output: str) -> dict[str, Shape]:
    """The parts of what the script printed, by the name of the shape."""
    found = {}
    for part in output.split("shape ")[1:]:
        first, *lines = part.splitlines()
        name, pid = first.split()
        losses = [
            [float.fromhex(word) for word in line.split()[1:]]
            for line in lines
            if line.startswith("losses")
        ]
        found[name] = Shape(printed=losses, pid=int(pid))
    return found


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("shapes")


@pytest.fixture(scope="module")
def plain(folder: Path) -> dict[str, Shape]:
    """All shapes as they are."""
    command = [sys.executable, SCRIPT, *MADE]
    environment = clean_environment(TORCHINDUCTOR_CACHE_DIR=str(folder / "cache"))
    return shapes(
        subprocess.run(
            command,
            cwd=folder,
            env=environment,
            capture_output=True,
            text=True,
            check=True,
            timeout=400,
        ).stdout
    )


@pytest.fixture(scope="module")
def recorded(plain: dict[str, Shape], folder: Path) -> tuple[dict[str, Shape], Path]:
    """All shapes with the recorder, and the folder of their traces."""
    started = Start(
        SCRIPT,
        folder / "recorded",
        steps=None,
        arguments=tuple(MADE),
        TORCHINDUCTOR_CACHE_DIR=str(folder / "cache"),
    )
    run = started.end()
    assert run.status == 0, run.errors
    return shapes(run.output), started.trace


def read(trace: Path, pid: int) -> Run:
    """The run of one process."""
    mine = trace.parent / str(pid)
    mine.mkdir()
    for file in trace.glob("*.jsonl"):
        if json.loads(file.read_text().partition("\n")[0].rstrip("\0"))["pid"] == pid:
            for part in trace.glob(f"{file.stem}.*"):
                shutil.copy(part, mine)
    paths = {"trace": mine.name, "stdout": "stdout.log", "stderr": "stderr.log"}
    return read_run(
        mine.parent,
        RunRecord(number=1, ended="completed", exit_status=0, started="", seconds=1.0, **paths),
    )


@pytest.mark.parametrize("name", SHAPES)
def test_recorded_losses_are_those_of_the_plain_run_bit_for_bit(
    name: str, plain: dict[str, Shape], recorded: tuple[dict[str, Shape], Path]
) -> None:
    if name not in MADE:
        pytest.skip(f"there is no {HEADER}")
    shape, expected = recorded[0][name], plain[name].printed
    assert len(expected) >= 3
    assert shape.printed == expected
    run = read(recorded[1], shape.pid)
    (trace,) = run.traces
    assert [
        list(trace.losses.losses(iteration)) for iteration in range(1, len(trace.losses) + 1)
    ] == expected
    assert not run.problems
    assert trace.forward is not None
    assert trace.forward.end - trace.forward.start == FORWARD_LOSSES.get(name, 1)


def test_early_stop_leaves_the_recorded_iterations_equal(workdir: Path) -> None:
    outcome = check("--steps", "2", SCRIPT, "accumulation", cwd=workdir)
    assert outcome.report["stopped_early"] == 2
    assert len(outcome.losses()) == 2
    # The process that forked it lives, so it may go on unrecorded until that one has reached its
    # stop or is known to train nothing
    assert len(shapes(outcome.log())["accumulation"].printed) >= 2
