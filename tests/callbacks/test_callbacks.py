"""A callback says the losses that the hooks see, trainer by trainer."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from tests.conftest import ROOT, check, mindspore_python
from tests.controls.torch_runs import Start, Trained

SCRIPTS = Path(__file__).parent / "scripts"
TRAINERS = ROOT / "tests" / "torch" / "scripts" / "trainers.py"


def said(run: Trained, kind: str) -> list[float]:
    """The losses of a kind in their order: those that were logged, or those that a backward pass began at."""
    assert run.status == 0, run.errors
    values = [value for event in run.events("loss") if event["k"] == kind for value in event["v"]]
    return [float.fromhex(value) if isinstance(value, str) else value for value in values]


@pytest.mark.torch
def test_lightning_and_transformers(tmp_path: Path) -> None:
    workers = tmp_path / "workers"
    workers.mkdir()
    lightning, transformers = (
        Start(TRAINERS, tmp_path / name, arguments=(name, callback), WORKERS=str(workers))
        for name, callback in (("lightning", "LightningCallback"), ("transformers", "TransformersCallback"))
    )
    run = lightning.end()
    assert said(run, "log") == said(run, "backward") != []
    run = transformers.end()
    assert np.allclose(said(run, "log"), 2 * np.array(said(run, "backward"))), "the model's loss, before it is divided by the accumulation"
    assert len(said(run, "log")) >= 8


def test_keras(tmp_path: Path) -> None:
    pytest.importorskip("keras")
    run = Start(SCRIPTS / "keras_fit.py", tmp_path / "keras", steps=8).end()
    assert len(said(run, "log")) == 8
    assert np.allclose(said(run, "log"), said(run, "backward"), rtol=1e-5)


@pytest.mark.mindspore
def test_mindspore(workdir: Path) -> None:
    outcome = check("--python", mindspore_python(), SCRIPTS / "mindspore_train.py", cwd=workdir)
    assert outcome.title == "REPRODUCIBLE"
    assert [len(losses) for losses in outcome.losses()] == [1] * 8
    assert not [line for line in outcome.report["coverage"] if "Error" in line]
