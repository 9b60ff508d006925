"""A callback says the losses that the hooks see.

Those of Lightning and transformers are tested where these train.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from tests.child.controls.torch_runs import Start
from tests.conftest import check, mindspore_python

SCRIPTS = Path(__file__).parent / "scripts"


def test_keras(tmp_path: Path) -> None:
    pytest.importorskip("keras")
    run = Start(SCRIPTS / "keras_fit.py", tmp_path / "keras", steps=8).end()
    assert run.status == 0, run.errors
    seen, said = (
        [value for event in run.events("loss") if event["k"] == kind for value in event["v"]]
        for kind in ("backward", "log")
    )
    assert len(said) == 8
    assert np.allclose(said, seen, rtol=1e-5)


@pytest.mark.mindspore
def test_mindspore(workdir: Path) -> None:
    outcome = check("--python", mindspore_python(), SCRIPTS / "mindspore_train.py", cwd=workdir)
    assert outcome.title == "REPRODUCIBLE"
    assert [len(losses) for losses in outcome.losses()] == [1] * 8
    assert not [line for line in outcome.report["coverage"] if "Error" in line]
