"""Checkpoints outside of the working directory, written by code that the interpreter's `open` never
sees: the advice, followed word by word, leads to the right verdict, and nothing of the user's is
touched.
"""

from __future__ import annotations

import re
import shlex
from importlib.util import find_spec
from pathlib import Path

import pytest

from reprocheck.cli import main
from reprocheck.errors import UsageError
from reprocheck.resume.external_checkpoint import Elsewhere, outside

MOVED = """
import os, pickle, shutil, sys
import reprocheck

out, move = sys.argv[1], getattr(shutil if sys.argv[2] == "move" else os, sys.argv[2])
state = {"w": 1.0, "step": 0}
for name in sorted(os.listdir(out)) if os.path.isdir(out) else []:
    if name.startswith("step-"):
        with open(f"{out}/{name}/held", "rb") as file:
            state = pickle.load(file)
while state["step"] < 9:
    loss = (state["w"] - state["step"]) ** 2
    reprocheck.log_loss(loss)
    state["w"] -= 0.1 * loss
    state["step"] += 1
    if state["step"] % 3 == 0:
        os.makedirs("draft")
        with open("draft/held", "wb") as file:
            pickle.dump(state, file)
        with open("draft/w.pkl", "wb") as file:
            pickle.dump(state["w"], file)
        os.makedirs(out, exist_ok=True)
        move("draft", f"{out}/step-{state['step']}")
"""
SAFETENSORS = """
import os, sys
import numpy as np
from safetensors.numpy import load_file, save_file
import reprocheck

out = sys.argv[1]
w, first = np.ones(3), 0
if os.path.exists(f"{out}/model.safetensors"):
    saved = load_file(f"{out}/model.safetensors")
    w, first = saved["w"], int(saved["step"][0])
for step in range(first, 9):
    loss = float(((w - step) ** 2).mean())
    reprocheck.log_loss(loss)
    w = w - 0.01 * loss
    if step % 3 == 2:
        os.makedirs(out, exist_ok=True)
        save_file({"w": w, "step": np.array([step + 1])}, f"{out}/model.safetensors")
"""
TENSORFLOW = """
import sys
import tensorflow as tf

w, step = tf.Variable([1.0, 2.0]), tf.Variable(0)
optimizer = tf.keras.optimizers.SGD(0.1)
optimizer.build([w])
kept = tf.train.Checkpoint(w=w, optimizer=optimizer, step=step)
manager = tf.train.CheckpointManager(kept, sys.argv[1], max_to_keep=2)
if manager.latest_checkpoint:
    kept.restore(manager.latest_checkpoint)
while int(step) < 9:
    with tf.GradientTape() as tape:
        loss = tf.reduce_sum((w - float(step)) ** 2)
    optimizer.apply_gradients([(tape.gradient(loss, w), w)])
    step.assign_add(1)
    if int(step) % 3 == 0:
        manager.save()
"""
ORBAX = """
import os, sys
import jax
import jax.numpy as jnp
import optax
import orbax.checkpoint as ocp

out = sys.argv[1]
state = {"w": jnp.ones(3), "step": jnp.array(0)}


@jax.jit
def step(state):
    loss, change = jax.value_and_grad(lambda w: ((w - state["step"]) ** 2).mean())(state["w"])
    return {"w": state["w"] - 0.1 * change, "step": state["step"] + 1}, loss


manager = ocp.CheckpointManager(out, options=ocp.CheckpointManagerOptions(max_to_keep=2))
if manager.latest_step() is not None:
    state = manager.restore(manager.latest_step(), args=ocp.args.StandardRestore(state))
for number in range(int(state["step"]), 9):
    state, loss = step(state)
    if number % 3 == 2:
        manager.save(number + 1, args=ocp.args.StandardSave(state))
manager.wait_until_finished()
"""


def _needs(name: str) -> pytest.MarkDecorator:
    return pytest.mark.skipif(find_spec(name) is None, reason=f"{name} is not installed")


@pytest.fixture
def out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder beside the working directory."""
    (tmp_path / "work").mkdir()
    monkeypatch.chdir(tmp_path / "work")
    return tmp_path / "out"


@pytest.mark.parametrize(
    ("stands", "script", "how"),
    [
        pytest.param("nothing", MOVED, ["rename"], id="a folder that is renamed"),
        pytest.param("a file", MOVED, ["rename"], id="a folder that is renamed, beside a file"),
        pytest.param("nothing", MOVED, ["move"], id="a folder that is moved"),
        pytest.param("a file", MOVED, ["move"], id="a folder that is moved, beside a file"),
        pytest.param("nothing", SAFETENSORS, [], id="safetensors", marks=_needs("safetensors")),
        pytest.param(
            "a file", SAFETENSORS, [], id="safetensors, beside a file", marks=_needs("safetensors")
        ),
        pytest.param("a file", TENSORFLOW, [], id="TensorFlow", marks=_needs("tensorflow")),
        pytest.param("nothing", ORBAX, [], id="orbax", marks=_needs("orbax")),
    ],
)
def test_the_advice_is_right(
    stands: str, script: str, how: list[str], out: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    if stands == "a file":
        (out / "empty").mkdir(parents=True)
        (out / "mine.txt").write_text("keep")
    stood = _standing(out.parent)
    Path("train.py").write_text(script)
    options: list[str] = []
    while (code := _checked(options, [str(out), *how])) == 2:
        options = _advised(capsys.readouterr().err)
        assert _standing(out.parent) == stood
    said = " ".join(capsys.readouterr().out.split())
    assert code == 0 and "RESUMES EXACTLY 6 iterations" in said
    assert f"checkpoint {out}" in said and "after update 3" in said
    assert _standing(out.parent) == stood


def _checked(options: list[str], arguments: list[str]) -> int:
    return main(["resume", "--no-draw", "--at", "first", *options, "train.py", *arguments])


def _advised(said: str) -> list[str]:
    _, _, advice = " ".join(said.split()).partition("Allow it with ")
    words = shlex.split(advice.partition(": what")[0])
    assert words[:1] == ["--checkpoint"]
    return words


def _standing(folder: Path) -> dict[str, str]:
    """What stands beside the working directory."""
    return {
        str(path): path.read_text() if path.is_file() else ""
        for path in folder.rglob("*")
        if not path.is_relative_to(folder / "work")
    }


@pytest.mark.parametrize(
    ("written", "stands", "pattern"),
    [
        ("model.pt", "", "*"),
        ("model.pt", "notes.txt", "model*"),
        ("model.pt", "model.txt", "model.pt"),
        ("step-3.pt", "notes.txt", "step-*"),
        (".model.pt.tmp", "notes.txt", "*model*"),
        ("loss=0.5-epoch=3.ckpt", "loss.txt", "loss=*"),
        ("checkpoint-3/model.safetensors", "", "*"),
        ("checkpoint-3/model.safetensors", "notes.txt", "checkpoint-*/*"),
        ("3/_METADATA", "notes.txt", "*/*"),
        ("run7/model.pt", "", "run7/*"),
        ("run7/model.pt", "run7/notes.txt", "run7/model*"),
    ],
)
def test_a_pattern_is_as_wide_as_what_stands_there_allows(
    written: str, stands: str, pattern: str, tmp_path: Path
) -> None:
    if stands:
        (tmp_path / stands).parent.mkdir(exist_ok=True)
        (tmp_path / stands).touch()
    assert _pattern(tmp_path / written, "") == f"{tmp_path}/{pattern}"


@pytest.mark.parametrize(
    ("allowed", "written", "pattern"),
    [
        ("ckpt-*", "checkpoint.tmp12", "c*"),
        ("step-*.pt", "best.pt", "*.pt"),
        ("a/*", "b/model.pt", "*"),
    ],
)
def test_what_is_allowed_stays_allowed(
    allowed: str, written: str, pattern: str, tmp_path: Path
) -> None:
    assert _pattern(tmp_path / written, f"{tmp_path}/{allowed}") == f"{tmp_path}/{pattern}"


def _pattern(path: Path, allowed: str) -> str:
    (pattern,) = _advised(outside(str(path), Elsewhere(allowed)).fix)[1:]
    return pattern


def test_where_files_of_the_user_have_such_names_the_script_has_to_write_elsewhere(
    tmp_path: Path,
) -> None:
    (tmp_path / "model.pt").touch()
    assert "a folder of its own" in outside(f"{tmp_path}/model.pt", Elsewhere("")).fix
    allowed = Elsewhere(f"{tmp_path}/step-*")
    assert "a folder of its own" in outside(f"{tmp_path}/last.pt", allowed).fix


def test_what_stood_there_stays_and_what_was_made_goes(tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    (tmp_path / "mine.txt").touch()
    stood = _standing(tmp_path)
    elsewhere = Elsewhere(f"{tmp_path}/step-*")
    folder = tmp_path / "step-3"
    folder.mkdir()
    (folder / "model.pt").write_text("3")
    (tmp_path / "step-last").symlink_to("step-3")
    elsewhere.keep(tmp_path.with_name("kept"))
    elsewhere.remove()
    assert _standing(tmp_path) == stood
    elsewhere.put_back(tmp_path.with_name("kept"))
    assert (tmp_path / "step-last" / "model.pt").read_text() == "3"
    elsewhere.remove()
    assert _standing(tmp_path) == stood


def test_a_file_of_the_user_that_matches_is_refused(tmp_path: Path) -> None:
    (tmp_path / "step-1").symlink_to("nowhere")
    with pytest.raises(UsageError, match=re.escape("step-1 stands there already")):
        Elsewhere(f"{tmp_path}/step-*").refuse()
