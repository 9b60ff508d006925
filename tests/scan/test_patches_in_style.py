"""Patches of the forms in which people write a seed, an order or a number that is not the same in
each run.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from reprocheck.scan import scan
from reprocheck.scan.judge import findings
from reprocheck.scan.patches import patch
from reprocheck.scan.programs import of_text

WORKERS = """
import os
import random
import numpy as np
import torch
from torch.utils.data import DataLoader
{seed}
def init_worker(worker_id):
    np.random.seed(int.from_bytes(os.urandom(4), "little"))
    torch.seed()
loader = DataLoader(range(8), num_workers=2, worker_init_fn=init_worker, {options})
for batch in loader:
    print(batch)
"""


def fixed(text: str) -> str:
    found = findings(of_text({"train.py": text}))
    return patch(text, [one for one in found if one.patchable])


@pytest.mark.parametrize(
    ("seed", "options", "added"),
    [
        ("torch.manual_seed(0)", "shuffle=True", False),
        ("torch.manual_seed(0)", "shuffle=False", False),
        ("", "generator=torch.Generator().manual_seed(1)", False),
        ("", "shuffle=True", True),
    ],
)
def test_a_loader_gets_a_generator_only_where_nothing_else_seeds_its_workers(
    seed: str, options: str, added: bool
) -> None:
    after = fixed(WORKERS.format(seed=seed, options=options))
    assert (
        "    np.random.seed(torch.initial_seed() % 2**32)\n    torch.manual_seed(torch.initial_seed())\n"
        in after
    )
    assert ("generator=torch.Generator().manual_seed(0)" in after) is added


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (
            "import torch\nlabels = torch.tensor([hash(name) % 10 for name in ('cat', 'dog')])",
            "labels = torch.tensor([zlib.crc32(name.encode()) % 10 for name in ('cat', 'dog')])",
        ),
        (
            "import torch, os\ndef set_seed(seed=None):\n    if seed is None:\n        seed = os.getpid()\n"
            "    torch.manual_seed(seed)\nset_seed()",
            "        seed = 0",
        ),
        (
            "import numpy as np\nclass Sampler:\n    def __init__(self, size, seed=None):\n        self.rng = np.random.default_rng(seed)\n"
            "    def __iter__(self):\n        return iter(self.rng.permutation(8))\nprint(list(Sampler(8)))",
            "    def __init__(self, size, seed=0):",
        ),
        (
            "import random, torch\nmodel = torch.nn.Linear(1, 1)\n"
            "optimizer = torch.optim.SGD(model.parameters(), lr=random.choice([0.1, 0.5]))",
            "random.seed(0)",
        ),
        (
            "import tensorflow as tf\ntf.random.set_seed(0)\ndata = tf.data.Dataset.range(8)\n"
            "data = data.map(lambda x: x + tf.random.uniform(()), num_parallel_calls=tf.data.AUTOTUNE)",
            "data = data.map(lambda x: x + tf.random.uniform(()), num_parallel_calls=1)",
        ),
    ],
)
def test_a_form_that_people_write_is_fixed(before: str, after: str) -> None:
    text = fixed(before + "\n")
    assert after in text.splitlines()
    assert fixed(text) == text


def test_a_default_that_another_place_gives_as_well_is_left_alone() -> None:
    text = "import numpy as np\ndef make(seed=None):\n    if seed is None:\n        seed = None\n"
    text += "    return np.random.default_rng(seed)\nmake()\n"
    assert fixed(text) == text


def test_the_fix_tells_every_line_that_the_patch_changes(tmp_path: Path) -> None:
    script = tmp_path / "train.py"
    script.write_text(WORKERS.format(seed="", options="shuffle=True"))
    found = [one.fix for one in scan([script]).findings if one.code == "RC503"]
    assert found[0] == (
        "Write `np.random.seed(torch.initial_seed() % 2**32)`, and write `loader = DataLoader(range(8), num_workers=2, "
        "worker_init_fn=init_worker, shuffle=True, generator=torch.Generator().manual_seed(0))` in line 11."
    )


def test_a_shifted_stream_is_told_how_to_draw_apart(tmp_path: Path) -> None:
    script = tmp_path / "train.py"
    text = "import os\nimport torch\ntorch.manual_seed(0)\nfor _ in range(os.getpid() % 7):\n"
    text += "    torch.rand(1)\nmodel = torch.nn.Linear(1, 1)\n"
    script.write_text(text)
    assert [one.fix for one in scan([script]).findings] == [
        "Draw it within `with torch.random.fork_rng():`, which moves no other draw."
    ]
