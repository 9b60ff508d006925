"""Every example gives the verdict that its README promises, and the recorded losses are those of
the plain run, bit for bit.
"""

from __future__ import annotations

import json
import re
import shlex
import shutil
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

from tests.conftest import ROOT, UNCOMPILED, Outcome, check, clean_environment, mindspore_python

EXAMPLES = ROOT / "examples"
FAKE_NPU = f"{ROOT / 'tests' / 'fakes' / 'torch_npu'}:{UNCOMPILED}"
PLAIN = Path(__file__).parent / "plain.py"
ROW = re.compile(
    r"^\| `reprocheck (?P<kind>run|resume) (?P<command>[^`]+)` \| (?P<shows>[^|]+)"
    r" \| (?P<verdict>[^|]+) \|$",
    re.M,
)
ROWS = tuple(ROW.finditer((EXAMPLES / "README.md").read_text()))
PROMISES = {row["command"]: row["verdict"] for row in ROWS if row["kind"] == "run"}
RESUMED = {row["command"]: row["verdict"] for row in ROWS if row["kind"] == "resume"}
LOSSES_AN_ITERATION = {"examples/transformers/train.py": 2, "examples/accelerate/train.py": 2}
COMPARED_ELSEWHERE = {"jax", "keras", "tensorflow", "torch", "torch_npu"}
"""Frameworks that the tests in `tests/child/frameworks` and `tests/fakes` compare with a plain run."""
RECORDED = 10
"""Iterations that are recorded where nothing else is said."""


def script(command: str) -> str:
    """The example that a command of the README runs, as a path from the repository's top folder."""
    return next(word for word in shlex.split(command) if word.startswith("examples/"))


def kind(command: str) -> str:
    """The folder of the example."""
    return Path(script(command)).parts[1]


def marked(commands: list[str]) -> list[object]:
    """The commands as parameters of a test, marked with the framework that they need."""
    jax = pytest.mark.skipif(
        not all(map(find_spec, ("jax", "flax", "optax"))),
        reason="JAX, flax and optax are not installed",
    )
    tensorflow = pytest.mark.skipif(
        find_spec("tensorflow") is None, reason="TensorFlow is not installed"
    )
    marks = {
        "numpy": (),
        "mindspore": (pytest.mark.mindspore,),
        "jax": (jax,),
        "keras": (tensorflow,),
        "tensorflow": (tensorflow,),
    }
    return [
        pytest.param(
            command, id=script(command), marks=marks.get(kind(command), (pytest.mark.torch,))
        )
        for command in commands
    ]


CLEAN = [command for command, verdict in PROMISES.items() if verdict == "REPRODUCIBLE"]
MISTAKEN = [command for command in PROMISES if command not in CLEAN]


@pytest.fixture
def top(workdir: Path) -> Path:
    """A folder that has the examples where the repository's top folder has them."""
    shutil.copytree(EXAMPLES, workdir / "examples", ignore=shutil.ignore_patterns("__pycache__"))
    return workdir


def run_as_the_readme_says(
    command: str, top: Path, explain: bool = False, vary: bool = False, **environment: str
) -> Outcome:
    """`reprocheck run COMMAND`, with `--python` where the framework lives in another
    environment.
    """
    options = ["--python", mindspore_python()] if kind(command) == "mindspore" else []
    options += ["--vary"] if vary else []
    if kind(command) in ("torch", "torch_npu"):
        environment = {"PYTHONPATH": UNCOMPILED, **environment}
    return check(*options, *shlex.split(command), cwd=top, explain=explain, **environment)


def plain_losses(command: str, top: Path, folder: Path) -> list[list[float]]:
    """The losses of the same command without reprocheck, of each rank."""
    words = [word for word in shlex.split(command) if word != "--"]
    place = words.index(script(command))
    words[place:place] = [str(PLAIN), str(folder / "losses")]
    launcher = [] if place else [sys.executable]
    done = subprocess.run(
        [*launcher, *words],
        cwd=top,
        env=clean_environment(),
        capture_output=True,
        text=True,
        stdin=subprocess.DEVNULL,
        timeout=300,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return [
        [float.fromhex(loss) for loss in json.loads(path.read_text())]
        for path in sorted(folder.glob("losses.*.json"))
    ]


def reproducible(command: str, top: Path, **environment: str) -> Outcome:
    """REPRODUCIBLE in every bit at the level that a user gets, with all losses of ten iterations,
    also where the second run is varied.
    """
    outcome = run_as_the_readme_says(command, top, explain=True, vary=True, **environment)
    assert (outcome.title, outcome.exit_code) == ("REPRODUCIBLE", 0), (
        outcome.stdout + outcome.stderr
    )
    assert outcome.report["bitwise"]["equal"] is True
    assert len(outcome.report["variations"]["made"]) >= 14, outcome.report["variations"]
    assert outcome.report["stopped_early"] == RECORDED
    assert outcome.report["state_left"] == []
    assert (outcome.report["ladder"], outcome.report["causes"]) == (None, [])
    each = LOSSES_AN_ITERATION.get(script(command), 1)
    for rank in range(len(outcome.report["runs"][0]["ranks"])):
        assert [len(losses) for losses in outcome.losses(rank=rank)] == [each] * RECORDED
    return outcome


def assert_neutral(outcome: Outcome, plain: list[list[float]]) -> None:
    """Run 1 has the losses of the plain run, rank by rank."""
    assert len(plain) == len(outcome.report["runs"][0]["ranks"])
    for rank, expected in enumerate(plain):
        recorded = [loss for losses in outcome.losses(rank=rank) for loss in losses]
        assert recorded == expected[: len(recorded)]


def test_every_example_has_a_row_and_names_its_command() -> None:
    there = {path.relative_to(ROOT).as_posix() for path in EXAMPLES.rglob("*.py")}
    assert {script(row["command"]) for row in ROWS} == there
    assert len(ROWS) == len(there)
    assert (EXAMPLES / "README.md").read_text().count("\n| `") == len(ROWS), (
        "a row that this test cannot read"
    )
    for row in ROWS:
        command = row["command"]
        assert f"reprocheck {row['kind']} {command}\n" in (ROOT / script(command)).read_text()


def test_the_right_resume_is_the_mistaken_one_with_the_state_of_the_generator() -> None:
    """It is the mistaken one that is run: both take seconds."""
    right, mistaken = (set((ROOT / script(one)).read_text().splitlines()) for one in RESUMED)
    missing = [line.strip() for line in right - mistaken if "rng" in line]
    assert len(missing) == 2
    code = {line for line in right ^ mistaken if line.startswith(" ") and "rng" not in line}
    assert {line.strip().partition(" ")[0] for line in code} == {"reprocheck"}


@pytest.mark.torch
def test_the_mistaken_resume_gives_its_verdict(top: Path) -> None:
    command = list(RESUMED)[-1]
    words = ["resume", "--no-draw", "--at", "first", "--go-on", "2", *shlex.split(command)]
    done = subprocess.run(
        [sys.executable, "-m", "reprocheck", *words],
        cwd=top,
        env=clean_environment(PYTHONPATH=UNCOMPILED),
        capture_output=True,
        text=True,
        timeout=300,
    )
    title, _, code = RESUMED[command].partition(", exit ")
    said = done.stdout.partition("\n")[0]
    assert (said, done.returncode) == (title, int(code or 0)), done.stdout + done.stderr


def test_every_promise_is_one_that_is_tested_here() -> None:
    assert all(
        verdict.startswith("NOT REPRODUCIBLE, exit 1")
        for command, verdict in PROMISES.items()
        if command in MISTAKEN
    )
    assert {script(command) for command in MISTAKEN} == {
        "examples/torch/mistakes.py",
        "examples/mindspore/two_iterations_mistakes.py",
    }


@pytest.mark.parametrize(
    "command", marked([command for command in CLEAN if kind(command) != "mindspore"])
)
def test_clean_example_is_reproducible_with_the_losses_of_the_plain_run(
    command: str, top: Path, tmp_path: Path
) -> None:
    outcome = reproducible(command, top)
    if kind(command) not in COMPARED_ELSEWHERE:
        assert_neutral(outcome, plain_losses(command, top, tmp_path))
    backward = {row["iteration"] for row in outcome.report["checks"] if row["kind"] == "backward"}
    assert backward == {3 if kind(command) == "transformers" else 2}
    moved = [
        caveat
        for caveat in outcome.report["caveats"]
        if "the second check is made on iteration 3 instead of iteration 2" in caveat
    ]
    assert len(moved) == (kind(command) == "transformers"), outcome.report["caveats"]
    if kind(command) == "torch_npu":
        assert "training on the CPU" in outcome.log()


@pytest.mark.torch
def test_npu_example_trains_on_a_device_where_there_is_one(top: Path) -> None:
    """The fake device stands in; the losses are those before scaling, which are far from those
    after.
    """
    outcome = reproducible("examples/torch_npu/train.py", top, PYTHONPATH=FAKE_NPU)
    assert "training on the CPU" not in outcome.log()
    assert "Fake NPU" in json.dumps(outcome.report["environment"])
    assert 0.5 < outcome.losses()[0][0] < 5


@pytest.mark.parametrize(
    "command", marked([command for command in CLEAN if kind(command) == "mindspore"])
)
def test_clean_mindspore_example_is_reproducible_with_the_losses_of_the_plain_run(
    command: str, top: Path
) -> None:
    outcome = run_as_the_readme_says(command, top)
    assert (outcome.title, outcome.exit_code) == ("REPRODUCIBLE", 0), (
        outcome.stdout + outcome.stderr
    )
    assert outcome.report["bitwise"]["equal"] is True
    plain = subprocess.run(
        [mindspore_python(), script(command)],
        cwd=top,
        env=clean_environment(),
        capture_output=True,
        text=True,
        timeout=300,
    )
    printed = [float(loss) for loss in re.findall(r"loss is (\S+)", plain.stdout)]
    assert len(printed) == 2, plain.stdout + plain.stderr
    assert [loss for losses in outcome.losses() for loss in losses] == printed
    assert outcome.log() == plain.stdout


@pytest.mark.parametrize("command", marked(MISTAKEN))
def test_example_with_mistakes_is_not_reproducible(command: str, top: Path) -> None:
    """By chance the first losses, of other weights and samples, may lie within the tolerance: then
    the second differ.
    """
    outcome = run_as_the_readme_says(command, top)
    assert outcome.title in ("NOT REPRODUCIBLE (forward)", "NOT REPRODUCIBLE (backward)"), (
        outcome.stdout + outcome.stderr
    )
    assert outcome.exit_code == outcome.report["exit_code"] == 1
    assert outcome.report["bitwise"] | {"ulp": None} == {
        "equal": False,
        "first_iteration": 1,
        "ulp": None,
    }
    if kind(command) == "mindspore":
        assert any("sink" in change for change in outcome.report["changed_to_observe"]), (
            outcome.report["changed_to_observe"]
        )
