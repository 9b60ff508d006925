"""What a scan costs: `python -m benchmarks.scan` scans 1,000 files of 100,000 lines, and once more
from the cache.

The files are trainings of the shapes that occur: scripts, scripts that use a package of the
project, the package itself, tests.
"""

from __future__ import annotations

import sys
import tempfile
import time
from pathlib import Path

from benchmarks import table
from benchmarks.processes import python
from benchmarks.table import Row

FILES = 1_000
LINES = 100_000
ALLOWED = 10.0
"""Seconds of CPU."""
ALLOWED_MEMORY = 300.0
"""MB of all processes together."""
PACKAGE = 40
"""Files of one project: so many scripts and modules import one another."""

_HEAD = '''"""Part {number} of a project that was made up."""
import os
import random

import numpy as np
import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.data import DataLoader, Dataset

'''
_MODEL = """
class Block{number}(nn.Module):
    def __init__(self, width, p=0.1):
        super().__init__()
        self.first = nn.Linear(width, width)
        self.second = nn.Linear(width, width)
        self.norm = nn.LayerNorm(width)
        self.drop = nn.Dropout(p)

    def forward(self, x):
        hidden = F.relu(self.first(self.norm(x)))
        if self.training:
            hidden = self.drop(hidden)
        return x + self.second(hidden)

"""
_DATA = """
class Samples{number}(Dataset):
    def __init__(self, folder, size=100):
        self.files = sorted(name for name in os.listdir(folder) if name.endswith(".npy"))
        self.size = size
        self.rng = np.random.default_rng(0)

    def __len__(self):
        return self.size

    def __getitem__(self, index):
        values = self.rng.normal(size=(8,)).astype(np.float32)
        return torch.from_numpy(values), index % 4

"""
_HELPER = """
def helper{number}(values, limit=10, *, reverse=False):
    found = []
    for position, value in enumerate(values):
        if value is None or position > limit:
            continue
        found.append({{"value": value, "position": position, "total": sum(range(position))}})
    names = {{entry["value"]: entry for entry in found}}
    return sorted(names) if reverse else list(names.values())

"""
_MAIN = """
def seed_everything(seed=0):
    random.seed(seed)
    np.random.seed(seed)
    torch.manual_seed(seed)


def main():
    seed_everything(3)
    model = nn.Sequential(Block{number}(8), nn.Linear(8, 4))
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
    loader = DataLoader(Samples{number}("."), batch_size=8, shuffle=True, num_workers=2)
    for epoch in range(3):
        for inputs, labels in loader:
            loss = F.cross_entropy(model(inputs), labels)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()


if __name__ == "__main__":
    main()
"""


def scan(folder: Path) -> list[Row]:
    """A first scan of a large tree with all cores, the memory it takes, and a second one from the
    cache.
    """
    lines = _write(folder / "tree")
    command = ("-m", "reprocheck", "scan", "--exit-zero", "--format", "json", str(folder / "tree"))
    environment = {"XDG_CACHE_HOME": str(folder / "cache")}
    first = python(*command, environment=environment, cwd=folder, watched=True)
    second = python(*command, environment=environment, cwd=folder)
    how = (
        f"CPU time of all processes, {FILES:,} files, {lines:,} lines; wall time {first.wall:.1f} s"
    )
    return [
        Row(
            what="`reprocheck scan` of 1,000 files",
            value=first.cpu,
            allowed=ALLOWED,
            unit="s",
            how=how,
        ),
        Row(
            what="its memory",
            value=first.memory / 1e6,
            allowed=ALLOWED_MEMORY,
            unit="MB",
            how="all processes together, pages that they share counted once, ten times a second",
        ),
        Row(
            what="the same again, from the cache",
            value=second.cpu,
            allowed=None,
            unit="s",
            how=f"CPU time of all processes; wall time {second.wall:.1f} s",
        ),
    ]


def _write(folder: Path) -> int:
    """Writes the files and returns how many lines they have."""
    lines = 0
    for number in range(FILES):
        project = folder / f"project{number // PACKAGE}"
        part = number % PACKAGE
        path = project / ("package" if part % 2 else "") / f"part{part}.py"
        path.parent.mkdir(parents=True, exist_ok=True)
        (path.parent / "__init__.py").write_text("") if part % 2 else None
        text = _text(number, part)
        path.write_text(text, encoding="utf-8")
        lines += text.count("\n")
    return lines


def _text(number: int, part: int) -> str:
    text = _HEAD.format(number=number)
    if part % 2 == 0 and part:
        text += (
            f"from package.part{part - 1} import Block{number - 1} as Before, helper{number - 1}0\n"
        )
    elif part > 2:
        text += f"from .part{part - 2} import Samples{number - 2}\n"
    text += _MODEL.format(number=number) + _DATA.format(number=number)
    script = _MAIN.format(number=number) if part % 2 == 0 else ""
    wanted = LINES // FILES - (text + script).count("\n")
    for index in range(max(0, round(wanted / _HELPER.count("\n")))):
        text += _HELPER.format(number=f"{number}{index}")
    return text + script


def main() -> None:
    """Measures and prints."""
    started = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="benchmarks-") as scratch:
        rows = scan(Path(scratch))
    sys.stdout.write(table.markdown(rows, table.machine(), time.monotonic() - started))


if __name__ == "__main__":
    main()
