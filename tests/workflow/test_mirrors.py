"""`--fail-on mirrors`: what is the same inside a run fails a check whose runs agree."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.conftest import check

SCRIPT = """
import numpy as np
import torch
from torch.utils.data import DataLoader, Dataset

torch.manual_seed(0)


class Augmented(Dataset):
    def __init__(self):
        self.rng = np.random.default_rng(0)

    def __len__(self):
        return 32

    def __getitem__(self, i):
        return torch.from_numpy(self.rng.normal(i / 32, 1.0, 4).astype("f4"))


net = torch.nn.Linear(4, 1)
optimizer = torch.optim.SGD(net.parameters(), 0.1)
for x in DataLoader(Augmented(), batch_size=4, num_workers=2):
    optimizer.zero_grad()
    net(x).square().mean().backward()
    optimizer.step()
"""


@pytest.mark.torch
def test_workers_that_draw_alike_fail_the_check_with_their_line(workdir: Path) -> None:
    (workdir / "train.py").write_text(SCRIPT)
    outcome = check("--fail-on", "mirrors", "train.py", cwd=workdir, explain=True)
    assert outcome.exit_code == 1, outcome.stdout
    assert "FAILED BY --fail-on mirrors" in outcome.stdout
    assert outcome.report["bitwise"]["equal"]
    (found,) = outcome.report["mirrors"]["found"]
    assert (found["kind"], found["between"], found["asked"]) == ("worker-draws", [0, 1], False)
    assert found["source"] == {"file": "train.py", "line": 16}
    said = " ".join(outcome.stdout.split())
    assert "Workers 0 and 1 of a loader draw the same random numbers" in said
    assert "Once what is the same differs, check again: reprocheck run --fail-on mirrors" in said
