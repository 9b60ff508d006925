"""A whole check of a training on the fake NPU with noise in its backward passes; the examples have
one without.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.conftest import ROOT, check

pytestmark = pytest.mark.torch
pytest.importorskip(
    "torch.utils.backend_registration", reason="needs PyTorch with a Python PrivateUse1 backend"
)

FAKE = ROOT / "tests" / "fakes" / "torch_npu"
EXAMPLE = ROOT / "examples" / "torch_npu" / "train.py"


def test_noise_in_the_backward_pass_fails_the_backward_check(workdir: Path) -> None:
    outcome = check(
        "--steps", "3", EXAMPLE, cwd=workdir, PYTHONPATH=str(FAKE), FAKE_NPU_NOISE="100"
    )
    assert (outcome.title, outcome.exit_code) == ("NOT REPRODUCIBLE (backward)", 1), (
        outcome.stdout + outcome.stderr
    )
    assert outcome.report["bitwise"]["first_iteration"] == outcome.report["first_divergence"] == 2
    assert outcome.losses()[0] == outcome.losses(run=2)[0]
