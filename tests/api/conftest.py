"""A working directory that modules can be imported from, with settings that keep checks short."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

JOBS = """
import asyncio, os, random
import reprocheck

def train(steps=12, seed=None, scale=1.0):
    source = random.Random(seed)
    for _ in range(steps):
        reprocheck.log_loss(scale * source.random())

def unseeded():
    for _ in range(12):
        reprocheck.log_loss(2.0 ** random.uniform(0, 500))

def prints():
    print(os.getcwd(), __file__, sorted(os.listdir()))
    train(seed=0)

def breaks():
    reprocheck.log_loss(1.0)
    raise RuntimeError("no data here")

async def later():
    train()

def each():
    yield train()

def outer():
    def inner():
        train()
    return inner

class Model:
    def __init__(self, scale):
        self.scale = scale

    def fit(self, steps):
        train(steps, 1, self.scale)
"""


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """The working directory: `jobs.py` in it is a module, nothing is drawn and nothing
    explained.
    """
    folder = tmp_path / "work"
    folder.mkdir()
    (folder / "jobs.py").write_text(JOBS)
    (folder / "reprocheck.toml").write_text("draw = false\nexplain = false\n")
    monkeypatch.chdir(folder)
    monkeypatch.syspath_prepend(folder)
    yield folder
    sys.modules.pop("jobs", None)
