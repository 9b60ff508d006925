"""A whole check of a training on the fake NPU with noise in its backward passes; the examples have
one without.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.conftest import ROOT, UNCOMPILED, check

pytestmark = pytest.mark.torch
pytest.importorskip(
    "torch.utils.backend_registration", reason="needs PyTorch with a Python PrivateUse1 backend"
)

FAKE = f"{ROOT / 'tests' / 'fakes' / 'torch_npu'}:{UNCOMPILED}"
EXAMPLE = ROOT / "examples" / "torch_npu" / "train.py"


def test_noise_in_the_backward_pass_fails_the_backward_check(workdir: Path) -> None:
    outcome = check("--steps", "3", EXAMPLE, cwd=workdir, PYTHONPATH=FAKE, FAKE_NPU_NOISE="100")
    assert (outcome.title, outcome.exit_code) == ("NOT REPRODUCIBLE (backward)", 1), (
        outcome.stdout + outcome.stderr
    )
    assert outcome.report["bitwise"]["first_iteration"] == outcome.report["first_divergence"] == 2
    assert outcome.losses()[0] == outcome.losses(run=2)[0]


CPU_SEED_ALONE = """\
import torch

torch.default_generator.manual_seed(0)
model = torch.nn.Sequential(torch.nn.Linear(8, 8), torch.nn.Dropout(0.5)).npu()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for _ in range(3):
    optimizer.zero_grad()
    model(torch.ones(4, 8).npu()).sum().backward()
    optimizer.step()
"""


def test_a_layer_that_draws_from_an_unseeded_generator_of_the_npu_has_a_line(workdir: Path) -> None:
    (workdir / "train.py").write_text(CPU_SEED_ALONE)
    outcome = check("--steps", "3", "train.py", cwd=workdir, explain=True, PYTHONPATH=FAKE)
    cause = outcome.report["causes"][0]
    assert (cause["code"], cause["source"]["line"]) == ("RC401", 4), outcome.stdout + outcome.stderr
