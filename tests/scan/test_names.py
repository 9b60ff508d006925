"""What names stand for: imports, aliases, scopes, star imports, canonical names."""

from __future__ import annotations

import ast

import pytest

from reprocheck.scan.aliases import canonical
from reprocheck.scan.names import Names
from reprocheck.scan.programs import of_text


def last_call(text: str) -> str | None:
    """The name of the last call of a text."""
    tree = ast.parse(text)
    calls = [node for node in ast.walk(tree) if isinstance(node, ast.Call)]
    last = max(calls, key=lambda node: (node.end_lineno or 0, node.end_col_offset or 0))
    return Names(tree, "main").of(last.func)


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("import torch\ntorch.manual_seed(0)", "torch.manual_seed"),
        ("import torch as t\nt.manual_seed(0)", "torch.manual_seed"),
        ("from torch import manual_seed as seed\nseed(0)", "torch.manual_seed"),
        ("import torch.nn.functional as F\nF.dropout(x)", "torch.nn.functional.dropout"),
        ("from torch.nn.modules.dropout import Dropout\nDropout()", "torch.nn.Dropout"),
        (
            "from torch.utils.data.dataloader import DataLoader\nDataLoader(x)",
            "torch.utils.data.DataLoader",
        ),
        ("import tensorflow as tf\ntf.keras.layers.Dense(1)", "keras.layers.Dense"),
        ("from tensorflow.keras.layers import Dense\nDense(1)", "keras.layers.Dense"),
        (
            "import pytorch_lightning as pl\npl.seed_everything(0)",
            "lightning.pytorch.seed_everything",
        ),
        ("import lightning as L\nL.seed_everything(0)", "lightning.pytorch.seed_everything"),
        ("from transformers.trainer_utils import set_seed\nset_seed(1)", "transformers.set_seed"),
        ("import mindspore as ms\nms.common.set_seed(1)", "mindspore.set_seed"),
        ("import numpy as np\nrandom = np.random\nrandom.rand(3)", "numpy.random.rand"),
        (
            "import numpy as np\nrng = np.random.default_rng()\nrng.shuffle(x)",
            "numpy.random.default_rng().shuffle",
        ),
        ("from pathlib import Path\nPath('x').glob('*')", "pathlib.Path().glob"),
        ("from random import *\nshuffle(x)", "random.shuffle"),
        ("from torch.nn import *\nDropout(0.5)", "torch.nn.Dropout"),
        ("sorted(x)", "builtins.sorted"),
        ("def sorted(x): return x\nsorted(x)", "main.sorted"),
        ("import random\ndef f(random):\n    random.seed(0)", None),
        (
            "import random\nclass A:\n    random = 1\n    def f(self):\n        random.seed(0)",
            "random.seed",
        ),
        (
            "try:\n    import torch_npu\nexcept ImportError:\n    torch_npu = None\ntorch_npu.npu.manual_seed(0)",
            "torch.npu.manual_seed",
        ),
        ("if a:\n    import random as r\nelse:\n    import numpy.random as r\nr.seed(0)", None),
        ("import random\n[random.seed(0) for random in x]", None),
    ],
)
def test_a_call_has_its_documented_name(text: str, name: str | None) -> None:
    assert last_call(text) == name


def test_canonical_names_are_stable() -> None:
    for name in (
        "torch.nn.Dropout",
        "keras.layers.Dense",
        "torch.random.fork_rng",
        "torch.nn.parallel.DistributedDataParallel",
    ):
        assert canonical(name) == canonical(canonical(name)) == name
    assert canonical("torch.random.manual_seed") == "torch.manual_seed"


def test_a_star_import_of_a_module_of_the_users_is_seen_through() -> None:
    project = of_text(
        {
            "main.py": "from helper import *\nshuffle(names)\nnp.random.rand(3)\n",
            "helper.py": "import numpy as np\nfrom random import shuffle\n",
        }
    )
    main = next(module for module in project if module.name == "main")
    assert [call.lineno for call in main.calls("random.shuffle", "numpy.random.rand")] == [2, 3]


def test_star_imports_of_one_another_end() -> None:
    project = of_text({"a.py": "from b import *\nf()\n", "b.py": "from a import *\ng()\n"})
    for module in project:
        assert list(module.calls("random.*")) == []


def test_relative_imports_are_resolved() -> None:
    project = of_text(
        {
            "package/__init__.py": "",
            "package/one.py": "from . import two\nfrom .two import f\nf()\n",
            "package/two.py": "def f(): ...",
        }
    )
    one = next(module for module in project if module.name == "package.one")
    assert {module.name for module in one.imports} == {"package", "package.two"}
    assert [call.lineno for call in one.calls("package.two.f")] == [3]


def test_a_name_with_many_meanings_that_name_itself_is_looked_up_once() -> None:
    lines = [
        "import tensorflow as tf",
        "ds = tf.data.Dataset.range(3)",
        *["ds = ds.repeat()"] * 2_000,
        "ds.shuffle(3)",
    ]
    assert last_call("\n".join(lines)) is None


def test_names_that_name_one_another_in_a_circle_are_unknown_and_the_rest_is_known() -> None:
    circle = "import torch\na = b.x\nb = a.y\na = torch\nother = torch.nn\n"
    assert last_call(f"{circle}b.f()") is None
    assert last_call(f"{circle}other.Linear()") == "torch.nn.Linear"


def test_a_long_chain_of_names_is_followed_to_its_beginning() -> None:
    chain = [f"x{number + 1} = x{number}" for number in range(3_000)]
    assert (
        last_call("\n".join(["import torch", "x0 = torch.nn", *chain, "x3000.Linear()"]))
        == "torch.nn.Linear"
    )
