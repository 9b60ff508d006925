"""Fixes of the scan are said in the language of the report; what it says of a place is English."""

from __future__ import annotations

import re

import pytest

from reprocheck.language import spoken
from reprocheck.scan.judge import findings
from reprocheck.scan.programs import of_text

CHINESE = re.compile(r"[\u4e00-\u9fff]")
WORKERS = """
import numpy, torch
from torch.utils.data import DataLoader
torch.manual_seed(0)
loader = DataLoader(range(8), num_workers=2, worker_init_fn=lambda worker: numpy.random.seed())
for batch in loader:
    print(batch)
"""
MADE_OFTEN = """
import numpy, torch
torch.manual_seed(0)
net = torch.nn.Linear(2, 1)
optimizer = torch.optim.SGD(net.parameters(), 0.1)
for step in range(8):
    rng = numpy.random.default_rng()
    loss = net(torch.tensor(rng.normal(size=(4, 2)), dtype=torch.float32)).mean()
    loss.backward()
    optimizer.step()
"""
CLOCK = """
import time, torch
torch.manual_seed(int(time.time()))
net = torch.nn.Linear(2, 1)
optimizer = torch.optim.SGD(net.parameters(), 0.1)
net(torch.ones(1, 2)).mean().backward()
optimizer.step()
"""


@pytest.mark.parametrize(
    ("text", "code"),
    [(WORKERS, "RC503"), (MADE_OFTEN, "RC407"), (CLOCK, "RC402")],
    ids=["worker", "often", "clock"],
)
def test_a_fix_is_translated_and_the_message_is_not(text: str, code: str) -> None:
    with spoken("zh"):
        found = [one for one in findings(of_text({"train.py": text})) if one.code == code]
    assert found and all(CHINESE.search(one.fix) for one in found), [one.fix for one in found]
    assert not any(CHINESE.search(one.message) for one in found)
