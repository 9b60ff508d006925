"""Patches of the forms in which people write a seed, an order or a number that is not the same in
each run.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from reprocheck.fixes.patches import patch
from reprocheck.scan import patched, scan
from reprocheck.scan.judge import findings
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


SHIFTED = """\
import os
import random
import torch
torch.manual_seed(0)
random.seed(0)
for _ in range(os.getpid() % 7):
    torch.rand(1)
    {more}
model = torch.nn.Linear(1, 1)
"""


@pytest.mark.parametrize(
    ("more", "fix"),
    [
        (
            "torch.randn(2)",
            "Put the whole loop of line 6 into `with torch.random.fork_rng():`, so that its draws"
            " move no other.",
        ),
        ("random.random()", "Let a fixed number decide how often the loop runs."),
    ],
)
def test_a_loop_that_shifts_a_stream_is_forked_as_a_whole_or_not(
    more: str, fix: str, tmp_path: Path
) -> None:
    script = tmp_path / "train.py"
    script.write_text(SHIFTED.format(more=more))
    assert [one.fix for one in scan([script]).findings if one.code == "RC403"] == [fix]


KERAS = "import numpy as np\n{imports}\n\nnet = {keras}.Sequential([{keras}.layers.Dense(1)])\nnet.fit(np.ones(4), np.ones(4))\n"


@pytest.mark.parametrize(
    ("imports", "keras"),
    [
        ("from tensorflow import keras", "keras"),
        ("import tensorflow as tf", "tf.keras"),
        ("import keras", "keras"),
    ],
)
def test_keras_is_seeded_by_the_name_that_the_script_has_for_it(
    imports: str, keras: str, tmp_path: Path
) -> None:
    script = tmp_path / "train.py"
    script.write_text(KERAS.format(imports=imports, keras=keras))
    (after,) = patched(scan([script])).values()
    assert after.count("import") == 2
    assert f"\n{keras}.utils.set_random_seed(0)\n" in after


STYLES = {
    "below those of the standard library": (
        "import os\nimport time\n\nimport torch\nfrom torch import nn\n\nfrom project import rows\n",
        "import os\nimport time\nimport random\n\nimport torch\nfrom torch import nn\n\nfrom project import rows\n",
    ),
    "in a block of its own": (
        '"""A script."""\nimport torch\nfrom torch import nn\n',
        '"""A script."""\nimport random\n\nimport torch\nfrom torch import nn\n',
    ),
    "below that of the future": (
        "from __future__ import annotations\n\nimport torch\nfrom torch import nn\n",
        "from __future__ import annotations\n\nimport random\n\nimport torch\nfrom torch import nn\n",
    ),
}
DRAWN = """

def noise():
    from random import gauss

    return gauss(0, 1)


torch.manual_seed(0)
net = nn.Linear(1, 1)
net.weight.data.fill_(noise())
net(torch.ones(1)).sum().backward()
"""


@pytest.mark.parametrize("name", STYLES)
def test_an_import_stands_where_imports_of_its_kind_stand(name: str, tmp_path: Path) -> None:
    before, after = STYLES[name]
    script = tmp_path / "train.py"
    script.write_text(before + DRAWN)
    changed = patched(scan([script]))[script]
    assert changed.startswith(after), changed
    assert "random.seed(0)" in changed
