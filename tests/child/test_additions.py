"""What the recorder adds to a process is what the page on neutrality declares, no more and no
less.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from reprocheck.child.reprocheck_child.recorder import series
from tests.conftest import (
    CHILD,
    ROOT,
    check,
    clean_environment,
    mindspore_python,
    needs,
    reprocheck,
)

PROBE = Path(__file__).parent / "scripts" / "additions.py"
PAGE = (ROOT / "docs" / "reference" / "neutrality.md").read_text()


def declared(section: str, begins: str = "") -> set[str]:
    """The names in a section of the page, or in the item of it that begins with some words."""
    text = PAGE.split(f"## {section}\n")[1].split("\n## ")[0]
    if begins:
        text = next(item for item in text.split("\n- ") if item.startswith(begins))
    return set(re.findall(r"`([\w.]+)`", text))


def seen_in(folder: Path, *arguments: str | Path, **environment: str) -> dict[str, Any]:
    """What the probe shows in one recorded process: `reprocheck record ARGUMENTS`."""
    done = reprocheck("record", *arguments, cwd=folder, **environment)
    assert (folder / "seen.json").exists(), done.stdout + done.stderr
    return dict(json.loads((folder / "seen.json").read_text()))


@pytest.fixture(scope="module")
def shown(tmp_path_factory: pytest.TempPathFactory) -> tuple[dict[str, Any], dict[str, Any]]:
    """What a plain and a recorded process show."""
    plain, recorded = tmp_path_factory.mktemp("plain"), tmp_path_factory.mktemp("recorded")
    subprocess.run(
        [sys.executable, PROBE, "seen.json"],
        cwd=plain,
        env=clean_environment(REPROCHECK_DRAW="false"),
        check=True,
    )
    check(PROBE, "seen.json", cwd=recorded)
    return json.loads((plain / "seen.json").read_text()), json.loads(
        (recorded / "seen.json").read_text()
    )


def test_what_every_process_shows_is_declared(shown: tuple[dict[str, Any], dict[str, Any]]) -> None:
    plain, recorded = shown
    everywhere = declared("In every Python process")
    assert (
        set(recorded["finders"]) - set(plain["finders"])
        == {"reprocheck_child.recorder.import_hook._Finder"}
        <= everywhere
    )
    assert recorded["atexit"] == plain["atexit"] + 1
    assert [number for number in recorded["descriptors"] if number >= 700] == [700]
    assert set(recorded["path"]) - set(plain["path"]) == {str(CHILD)}
    added = set(recorded["environment"]) - set(plain["environment"])
    assert (
        added
        == {"REPROCHECK_CHILD", "PYTHONPATH", "TMPDIR"} - set(plain["environment"])
        <= declared("Around the command")
    )


def test_the_modules_that_are_imported_early_are_declared(
    shown: tuple[dict[str, Any], dict[str, Any]],
) -> None:
    plain, recorded = shown
    said = declared("In every Python process", begins="These modules of the standard library")
    added = {
        name
        for name in set(recorded["modules"]) - set(plain["modules"])
        if not name.startswith("reprocheck_child")
    }
    assert added - said == {"sitecustomize"} - set(plain["modules"])
    assert said <= set(recorded["modules"])


TRAINED = """
import json, sys
for _ in range(4):
    train()
with open("modules.json", "w") as file:
    json.dump(sorted(sys.modules), file)
"""
TRAININGS = {
    "": "from reprocheck import log_loss\ntrain = lambda: log_loss(0.5)",
    "torch": """
import torch
layer = torch.nn.Linear(2, 1)
optimizer = torch.optim.SGD(layer.parameters(), 0.1)
def train():
    optimizer.zero_grad()
    layer(torch.ones(1, 2)).sum().backward()
    optimizer.step()
""",
    "jax": """
import jax
step = jax.value_and_grad(lambda weights: (weights * weights).sum())
def train():
    step(jax.numpy.ones(3))
""",
}
"""By their frameworks."""


@pytest.mark.parametrize(
    ("framework", "level"),
    [("", "auto"), pytest.param("torch", "op", marks=pytest.mark.torch), ("jax", "loss")],
)
def test_the_modules_that_a_recorded_training_has_beside_its_own_stand_in_the_report(
    framework: str, level: str, tmp_path: Path
) -> None:
    if framework:
        needs(framework)
    script = tmp_path / "train.py"
    script.write_text(TRAININGS[framework] + TRAINED)
    plain, recorded = tmp_path / "plain", tmp_path / "recorded"
    plain.mkdir(), recorded.mkdir()
    environment = clean_environment(REPROCHECK_DRAW="false")
    subprocess.run([sys.executable, script], cwd=plain, env=environment, check=True)
    outcome = check("--level", level, "--no-explain", script, cwd=recorded)
    own = set(json.loads((plain / "modules.json").read_text()))
    beside = set(json.loads((recorded / "modules.json").read_text())) - own
    packages = {name.partition(".")[0] for name in beside if not name.startswith("_")}
    # what a framework imports of itself while it runs is its own
    packages -= {"reprocheck_child", "sitecustomize", framework}
    told = [line for line in outcome.report["changed_to_observe"] if "imported these" in line]
    named = {name for line in told for name in line.rstrip(".").partition(": ")[2].split(", ")}
    code = f"import sys, {', '.join(sorted(named))}; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert packages <= {name.partition(".")[0] for name in done.stdout.split()}
    assert ("xxhash" in packages) == ("xxhash" in named)
    assert "`xxhash`" in PAGE


PACKAGES = {
    "torch": "In PyTorch, from its import on",
    "jax": "In JAX, from its import on",
    "tensorflow": "In TensorFlow, from its import on",
    "keras": "In Keras, from its import on",
    "safetensors": "In libraries that open files by themselves",
    "h5py": "In libraries that open files by themselves",
}
"""Package -> the section of the page that declares what stands in the place of its functions."""
LATER = tuple(f"tensorflow.python.data.ops.{name}_op" for name in ("cache", "save", "snapshot"))
"""Modules that a package imports once they are needed."""


@pytest.fixture(scope="module")
def replaced(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """What stands in the place of functions of these packages, in one recorded process that imports
    all of them that are installed.
    """
    folder = tmp_path_factory.mktemp("replaced")
    named = [name for name in (*PACKAGES, *LATER) if find_spec(name.partition(".")[0])]
    return seen_in(folder, "--no-explain", PROBE, "seen.json", *named, KERAS_BACKEND="tensorflow")


@pytest.mark.torch
@pytest.mark.parametrize("package", PACKAGES)
def test_what_stands_in_the_place_of_functions_of_a_package_is_declared(
    package: str, replaced: dict[str, Any]
) -> None:
    needs(package)
    said = {name for name in declared(PACKAGES[package]) if name.startswith(f"{package}.")}
    assert set(replaced[package]) == said


def test_what_stands_in_the_place_of_functions_of_trackers_is_declared() -> None:
    for module, function, *_ in (*series.GIVEN, *series.RETURNED):
        assert f"`{module}.{function}`" in PAGE


@pytest.mark.torch
def test_what_stands_in_torch_while_the_first_iterations_are_recorded_is_declared(
    replaced: dict[str, Any], tmp_path: Path
) -> None:
    found = set(seen_in(tmp_path, "--explain", PROBE, "seen.json", "torch")["torch"])
    said = declared("In PyTorch, at level auto, up to the iteration of the backward check")
    assert found - set(replaced["torch"]) == {name for name in said if name.startswith("torch.")}


@pytest.mark.mindspore
def test_what_stands_in_the_place_of_functions_of_mindspore_is_declared(tmp_path: Path) -> None:
    assert in_mindspore(tmp_path, "--no-explain") == named_of_mindspore(
        "In MindSpore, from its import on"
    )


@pytest.mark.mindspore
def test_what_stands_in_mindspore_while_the_first_iterations_are_recorded_is_declared(
    tmp_path: Path,
) -> None:
    from_its_import_on = named_of_mindspore("In MindSpore, from its import on")
    said = named_of_mindspore(
        "In MindSpore, at level auto, up to the iteration of the backward check"
    )
    assert in_mindspore(tmp_path, "--explain") - from_its_import_on == said


def in_mindspore(folder: Path, *options: str) -> set[str]:
    """What stands in the place of functions of MindSpore in a recorded process."""
    probe = (PROBE, "seen.json", "mindspore", "mindspore.dataset")
    return set(seen_in(folder, *options, "--python", mindspore_python(), *probe)["mindspore"])


def named_of_mindspore(section: str) -> set[str]:
    """What a section of the page declares of MindSpore."""
    return {name for name in declared(section) if name.startswith("mindspore.")}
