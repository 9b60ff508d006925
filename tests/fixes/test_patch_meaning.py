"""A patch leaves what a program means: ranks stay apart, times stay times, and libraries are
imported where they were.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from reprocheck.scan import patched, scan

END = "loss.backward()\n"
FIXED = {
    "the rank of a process": (
        "import time, torch\nimport torch.distributed as dist\ntorch.manual_seed(int(time.time()) + dist.get_rank())\n",
        ("int(time.time()) + dist.get_rank()", "0 + dist.get_rank()"),
    ),
    "a rank from the environment": (
        "import os, torch\ntorch.manual_seed(os.getpid() + int(os.environ.get('RANK', 0)))\n",
        ("os.getpid() + int", "0 + int"),
    ),
    "another function's number inside a conversion": (
        "import time, torch\nfrom setting import number\ntorch.manual_seed(int(time.time() + number()))\n",
        ("time.time() + number()", "0 + number()"),
    ),
    "bytes and methods of what changes": (
        "import os, random, datetime, torch\nrandom.seed(int.from_bytes(os.urandom(4), 'little'))\n"
        "torch.manual_seed(int(datetime.datetime.now().timestamp()))\n",
        ("int.from_bytes(os.urandom(4), 'little')", "0"),
        ("int(datetime.datetime.now().timestamp())", "0"),
    ),
    "a variable that is used for seeds alone": (
        "import random, time, torch\nnow = int(time.time())\ntorch.manual_seed(now)\nrandom.seed(now + 1)\n",
        ("int(time.time())", "0"),
    ),
    "a variable that is called a seed": (
        "import time, torch\nSEED = int(time.time())\ntorch.manual_seed(SEED)\nprint(SEED)\n",
        ("int(time.time())", "0"),
    ),
    "an environment that is set above the import": (
        "import os\nos.environ['KERAS_BACKEND'] = 'jax'\nimport keras\nm = keras.Sequential([keras.layers.Dense(3)])\nm.fit(x, y)\n",
        ("import keras\n", "import keras\n\nkeras.utils.set_random_seed(0)\n"),
    ),
}
LEFT = {
    "a time that is also measured with": (
        "import time, torch\nstart = int(time.time())\ntorch.manual_seed(start)\nprint(time.time() - start)\n"
    ),
    "a time that names a file": (
        "import time, torch\nstamp = int(time.time())\ntorch.manual_seed(stamp)\ntorch.save(net, f'run-{stamp}.pt')\n"
    ),
    "a time that is bound on the way": "import time, torch\ntorch.manual_seed(now := int(time.time()))\nprint(time.time() - now)\n",
    "an environment that is set before a late import": (
        "import os\nos.environ['KERAS_BACKEND'] = 'jax'\ndef main():\n    import keras\n"
        "    m = keras.Sequential([keras.layers.Dense(3)])\n    m.fit(x, y)\nmain()\n"
    ),
    "an environment that is set beside a late import": (
        "import os\ndef main():\n    os.environ.setdefault('OMP_NUM_THREADS', '1')\n"
        "    from torch import nn\n    nn.Linear(1, 1)(x).backward()\nmain()\n"
    ),
}


def fixed(folder: Path, text: str) -> tuple[str, int]:
    """The text that the patches make, and how many findings are promised to be fixed."""
    path = folder / "train.py"
    path.write_text(text)
    result = scan([path])
    assert any(one.severity == "error" for one in result.findings)
    return patched(result).get(path, text), sum(one.patchable for one in result.findings)


@pytest.mark.parametrize("name", FIXED)
def test_only_what_changes_in_each_run_is_replaced(name: str, tmp_path: Path) -> None:
    text, *changes = FIXED[name]
    expected = text + END
    for before, after in changes:
        expected = expected.replace(before, after, 1)
    after, promised = fixed(tmp_path, text + END)
    assert after == expected and promised
    assert fixed_again(tmp_path, after) == after


@pytest.mark.parametrize("name", LEFT)
def test_what_would_mean_something_else_is_left(name: str, tmp_path: Path) -> None:
    text = LEFT[name] + END
    assert fixed(tmp_path, text) == (text, 0)


def fixed_again(folder: Path, text: str) -> str:
    path = folder / "again.py"
    path.write_text(text)
    result = scan([path])
    assert not any(one.patchable for one in result.findings)
    return patched(result).get(path, text)
