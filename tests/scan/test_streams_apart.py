"""What `scan --fix` writes keeps streams apart that were: in each place that runs more than once,
as many different numbers are drawn after the edit as before it, and the same ones in each run.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Mapping
from functools import cache

import pytest

from reprocheck.fixes.patches import patch
from reprocheck.scan.judge import findings
from reprocheck.scan.programs import of_text

HEAD = """\
import os
import random
import time

import numpy as np
import torch
from sklearn.model_selection import train_test_split
from torch.utils.data import DataLoader, Dataset

"""
SEEDED = "torch.manual_seed(0)\n"
DRAWS: Mapping[str, tuple[str, str]] = {
    "RC407": ("rng = np.random.default_rng()", "rng.normal()"),
    "RC407 legacy": ("rng = np.random.RandomState()", "rng.normal()"),
    "RC407 python": ("rng = random.Random()", "rng.random()"),
    "RC407 system": ("rng = random.SystemRandom()", "rng.random()"),
    "RC502": ("rng = np.random.default_rng()", "int(rng.permutation(10**6)[0])"),
    "RC502 torch": (
        "rng = torch.Generator(); rng.seed()",
        "int(torch.randperm(10**6, generator=rng)[0])",
    ),
    "RC402": ("np.random.seed(time.time_ns() % 2**32)", "np.random.normal()"),
    "RC404": ("np.random.seed(os.getpid())", "np.random.normal()"),
    "RC402 bare": ("np.random.seed()", "np.random.normal()"),
    "RC406": ("draw = np.random.normal", "draw()"),
    "RC409": ("np.random.seed = 0", "np.random.normal()"),
    "RC512": ("rows = train_test_split(list(range(10**6)), test_size=8)[1]", "rows.pop()"),
    "RC301": (
        "net = torch.nn.Linear(8, 1)",
        "torch.nn.functional.dropout(net.weight).sum().item()",
    ),
    "RC501": ("rows = DataLoader(range(10**6), shuffle=True)", "next(iter(rows)).item()"),
    "RC511": ("draw = random.gauss", "draw(0, 1)"),
}
"""Rule -> what makes or seeds a generator, and what draws from it."""
UNSEEDED = ("RC301", "RC501")
"""Those of the programs that seed nothing."""
IN_WORKERS = ("RC407", "RC502 torch", "RC402", "RC301", "RC511")
"""Those that are tried in workers, too: to start them takes long."""
PLACES: Mapping[str, str] = {
    "once": "{make}\nsamples = [{draw} for step in range(4)]\n",
    "each rank": (
        "rank = int(os.environ['RANK'])\n{make}\nsamples = [{draw} for step in range(4)]\n"
    ),
    "each epoch": (
        "def noise():\n    {make}\n    return {draw}\n\n\n"
        "samples = []\nfor epoch in range(3):\n    samples.append(noise())\n"
    ),
    "each instance": (
        "class Jitter:\n    def __init__(self):\n        {make}\n        self.value = {draw}\n\n\n"
        "samples = [one.value for one in [Jitter() for _ in range(3)]]\n"
    ),
    "each environment": (
        "def environment(draws):\n    {make}\n    draws.append({draw})\n\n\n"
        "samples = []\nfor build in [lambda: environment(samples) for _ in range(3)]:\n    build()\n"
    ),
    "each item": (
        "class Rows(Dataset):\n    def __len__(self):\n        return 6\n\n"
        "    def __getitem__(self, index):\n        {make}\n        return {draw}\n\n\n"
        "loader = DataLoader(Rows(), num_workers=2)\n"
        "samples = [float(value) for epoch in range(2) for value in loader]\n"
    ),
    "each worker": (
        "def begin(worker):\n    global rng, net, rows, draw\n    {make}\n\n\n"
        "class Rows(Dataset):\n    def __len__(self):\n        return 6\n\n"
        "    def __getitem__(self, index):\n        return {draw}\n\n\n"
        "loader = DataLoader(Rows(), num_workers=2, worker_init_fn=begin)\n"
        "samples = [float(value) for epoch in range(2) for value in loader]\n"
    ),
}
OWN = {
    "before the workers": (
        "class Rows(Dataset):\n    def __init__(self):\n        self.rng = np.random.default_rng()\n\n"
        "    def __len__(self):\n        return 6\n\n"
        "    def __getitem__(self, index):\n        return self.noise()\n\n"
        "    def noise(self):\n        return self.rng.normal()\n\n\n"
        "rows = Rows()\nfirst = rows[0]\nloader = DataLoader(rows, num_workers={workers})\n"
        "samples = [float(value) for epoch in range(2) for value in loader]\n"
    ),
    "late": (
        "class Rows(Dataset):\n    def __len__(self):\n        return 6\n\n"
        "    def __getitem__(self, index):\n        if not hasattr(self, 'rng'):\n"
        "            self.rng = np.random.default_rng()\n        return self.rng.normal()\n\n\n"
        "loader = DataLoader(Rows(), num_workers={workers})\n"
        "samples = [float(value) for epoch in range(2) for value in loader]\n"
    ),
    "a transform": (
        "class Noise:\n    rng = np.random.default_rng()\n\n    def __call__(self, value):\n"
        "        return value + self.rng.normal()\n\n\n"
        "class Rows(Dataset):\n    def __init__(self, transform):\n        self.transform = transform\n\n"
        "    def __len__(self):\n        return 6\n\n"
        "    def __getitem__(self, index):\n        return self.transform(1.0)\n\n\n"
        "loader = DataLoader(Rows(Noise()), num_workers={workers})\n"
        "samples = [float(value) for epoch in range(2) for value in loader]\n"
    ),
}
"""Generators that a data set holds."""
RUNNER = """
import json, random, sys
import numpy, torch
seed = numpy.random.seed
def run(text):
    numpy.random.seed = seed
    torch.seed(); numpy.random.seed(); random.seed()
    names = {"__name__": "__main__"}
    exec(text, names)
    return names["samples"]
runs = json.load(sys.stdin)
json.dump([[run(text) for _ in range(times)] for text, times in runs], sys.stdout)
"""


def programs() -> dict[tuple[str, str], str]:
    """The programs, by what draws and where."""
    made = {}
    for name, (make, draw) in DRAWS.items():
        for place, text in PLACES.items():
            if "DataLoader" in text and name not in IN_WORKERS:
                continue
            filled = text.replace("{make}", make).replace("{draw}", draw)
            seed = "" if name in UNSEEDED else SEEDED
            made[name, place] = f"{HEAD}{seed}\n{filled}"
    for place, text in OWN.items():
        for workers in (0, 2):
            filled = text.replace("{workers}", str(workers))
            made[f"RC504 {workers}", place] = f"{HEAD}{SEEDED}\n{filled}"
        made["RC504 2", f"{place}, no seed"] = f"{HEAD}{filled}"
    return made


@cache
def fixed(text: str) -> str:
    """The program after each safe edit."""
    found = findings(of_text({"train.py": text}))
    return patch(text, [one for one in found if one.patchable])


@pytest.fixture(scope="module")
def drawn(tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[list[float]]]:
    """What each run of a program draws: one of it as it is, two of it after the edits."""
    edits = {text: fixed(text) for text in programs().values()}
    runs = [(before, 1) for before, after in edits.items() if after != before]
    runs += [(after, 2) for before, after in edits.items() if after != before]
    done = subprocess.run(
        [sys.executable, "-c", RUNNER],
        input=json.dumps(runs),
        cwd=tmp_path_factory.mktemp("streams"),
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    samples = json.loads(done.stdout)
    return {text: own for (text, _), own in zip(runs, samples, strict=True)}


@pytest.mark.parametrize("key", [pytest.param(key, id=", ".join(key)) for key in programs()])
def test_a_safe_edit_keeps_streams_apart_and_the_same_in_each_run(
    key: tuple[str, str], drawn: dict[str, list[list[float]]]
) -> None:
    before = programs()[key]
    after = fixed(before)
    if after == before:
        assert key[1] not in ("once", "late", "before the workers", "a transform")
        return
    one, other = drawn[after]
    assert one == other
    assert len({*one}) >= len({*drawn[before][0]})
    assert len({*one}) == len(one) or key[0].startswith("RC504 0")


def test_one_stream_for_each_rank_is_advice_alone() -> None:
    texts = {key: text for key, text in programs().items() if key[1] == "each rank"}
    assert [key for key, text in texts.items() if fixed(text) != text] == []
