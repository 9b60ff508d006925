"""Functions that seed: one that the program never calls seeds nothing, and one that may be called
in a way not seen may seed.
"""

from __future__ import annotations

import pytest

from reprocheck.scan.checks import tables
from reprocheck.scan.finding import Finding
from reprocheck.scan.judge import findings
from reprocheck.scan.programs import of_text

SEEDER = "import torch\n\n\ndef set_seed(seed):\n    torch.manual_seed(seed)\n"
TRAINING = "model = torch.nn.Linear(2, 1)\nmodel(torch.ones(2)).backward()\n"


def found(files: dict[str, str]) -> list[Finding]:
    return [one for one in findings(of_text(dict(files))) if one.severity != "note"]


NEVER = {
    "imported, and not called": {
        "train.py": f"import torch\nfrom utils import set_seed\n{TRAINING}",
        "utils.py": SEEDER,
    },
    "in a module that is imported whole": {
        "train.py": f"import torch\nimport utils\n{TRAINING}",
        "utils.py": SEEDER,
    },
    "exported, and not called": {
        "train.py": f"import torch, utils\n{TRAINING}",
        "utils.py": f"{SEEDER}\n\n__all__ = ['set_seed']\n",
    },
    "called by a function that is never called": {
        "train.py": f"{SEEDER}\n\ndef prepare():\n    set_seed(0)\n\n\n{TRAINING}"
    },
    "called under the guard of another program": {
        "train.py": f"import torch, utils\n{TRAINING}",
        "utils.py": f"{SEEDER}\n\nif __name__ == '__main__':\n    set_seed(0)\n",
    },
    "a method of a class of one's own": {
        "train.py": f"import torch\n\n\nclass Setup:\n    def fix(self):\n        torch.manual_seed(0)\n\n\nsetup = Setup()\n{TRAINING}"
    },
}


NOT_RUN = {
    "under a condition that is false": "if False:\n    set_seed(0)\n",
    "under one that negates what holds": "if not 1:\n    set_seed(0)\n",
    "under what only type checkers see": "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    set_seed(0)\n",
    "in the other branch": "if True:\n    pass\nelse:\n    set_seed(0)\n",
    "in a loop that never begins": "while 0:\n    set_seed(0)\n",
    "behind `and`": "False and set_seed(0)\n",
    "behind `or`": "rank = True or set_seed(0)\n",
    "in an expression": "rank = set_seed(0) if False else 3\n",
    "below a return": "def prepare():\n    return 1\n    set_seed(0)\nprepare()\n",
    "in a function that is defined there": "if False:\n    def prepare():\n        set_seed(0)\nprepare = print\nprepare()\n",
    "named only": "set_seed\n",
    "in a partial that nobody calls": "import functools\nstart = functools.partial(set_seed, 3)\n",
    "in a table that nobody reads": "STEPS = {'start': [set_seed, print]}\n",
    "in a lambda that nobody calls": "start = lambda: set_seed(3)\n",
}
NEVER |= {name: {"train.py": f"{SEEDER}\n\n{text}{TRAINING}"} for name, text in NOT_RUN.items()}


@pytest.mark.parametrize("name", NEVER)
def test_a_function_that_seeds_and_is_never_called_is_named(name: str) -> None:
    wrong = found(NEVER[name])
    assert [one.code for one in wrong] == ["RC301"]
    function = "fix" if "class" in name else "set_seed"
    assert f"`{function}` (line" in wrong[0].message and wrong[0].message.endswith(
        "is never called"
    )
    assert wrong[0].fix == f"Call `{function}` at the start of the program."


MAY = {
    "by a partial": f"{SEEDER}\n\nimport functools\nstart = functools.partial(set_seed, 3)\nload()(start)\n{TRAINING}",
    "by a lambda": f"{SEEDER}\n\nstart = lambda: set_seed(3)\nload()(start)\n{TRAINING}",
    "under a condition that may change": f"{SEEDER}\n\nfor step in steps():\n    if step:\n        load()(set_seed)\n{TRAINING}",
    "behind a return that may not come": (
        f"{SEEDER}\n\ndef start(x):\n    if x:\n        return\n    load()(set_seed)\nstart(y)\n{TRAINING}"
    ),
    "by a table of functions": f"{SEEDER}\n\nsteps = {{'seed': set_seed}}\nfor step in load_steps():\n    steps[step](0)\n{TRAINING}",
    "by its name as text": f"{SEEDER}\n\nimport sys\ngetattr(sys.modules[__name__], 'set_seed')(0)\n{TRAINING}",
    "by globals": f"{SEEDER}\n\nimport sys\nglobals()[sys.argv[1]](0)\n{TRAINING}",
    "by a command line": f"{SEEDER}\n\n{TRAINING}\nimport fire\nfire.Fire()\n",
    "by a registry": f"{SEEDER.replace('def', '@register' + chr(10) + 'def')}\n\n{TRAINING}",
    "by a library that calls a method": (
        "import torch\nfrom somewhere import Hooks, run\n\n\nclass Own(Hooks):\n    def start(self):\n        torch.manual_seed(0)\n\n\n"
        f"run(Own)\n{TRAINING}"
    ),
}


@pytest.mark.parametrize("name", MAY)
def test_a_function_that_may_be_called_may_seed(name: str) -> None:
    assert found({"train.py": MAY[name]}) == []


def test_a_function_may_be_called_under_another_name() -> None:
    program = f"import torch\nfrom utils import set_seed as fix\nsteps = [fix]\nsteps[where()](0)\n{TRAINING}"
    assert found({"train.py": program, "utils.py": SEEDER}) == []


PATHS = (
    "torch.random.manual_seed(0)",
    "torch._C.random.manual_seed(0)",
    "__import__('torch').manual_seed(0)",
    "import importlib\nimportlib.import_module('torch').manual_seed(0)",
    "class Setup:\n    seed = staticmethod(torch.manual_seed)\nSetup.seed(0)",
    "import functools\nfunctools.partial(torch.manual_seed, 3)()",
)


@pytest.mark.parametrize("seed", PATHS)
def test_a_seed_counts_by_whatever_path_it_is_reached(seed: str) -> None:
    assert not found({"train.py": f"import torch\n{seed}\n{TRAINING}"})
    assert found({"train.py": f"import torch\n{seed}\n{TRAINING}".replace("manual_seed", "clone")})


def test_a_function_of_a_package_is_known_in_each_of_its_modules() -> None:
    table = tables.seeds()
    for name, streams in (
        ("mindspore.seed.set_seed", "mindspore weights"),
        ("tensorflow.python.framework.random_seed.set_seed", "tensorflow"),
        ("keras.src.utils.rng_utils.set_random_seed", "keras"),
        ("torch.cuda.random_.manual_seed", "device"),
        ("numpy.random.mtrand.seed", "numpy"),
    ):
        known = table.get(name)
        assert known is not None and streams in known.streams
    assert table.get("torch.cuda.random_.manual_seed") == table.get("torch.cuda.manual_seed")
    assert "numpy.random.default_rng().seed" not in table and "mylib.seed" not in table


DOES_MORE = (
    "def split(data, seed):\n    torch.manual_seed(seed)\n    return data[torch.randperm(len(data))]",
    "def make(seed):\n    torch.manual_seed(seed)\n    layer = torch.nn.Linear(2, 1)\n    return layer",
    "def items(seed):\n    torch.manual_seed(seed)\n    yield from (1, 2)",
    "def worker_init(number):\n    torch.manual_seed(torch.initial_seed() + number)",
    "class Buffer:\n    def reset(self, seed):\n        torch.manual_seed(seed)\n        self.items = []",
)


@pytest.mark.parametrize("function", DOES_MORE)
def test_a_function_that_does_more_than_to_seed_is_not_offered(function: str) -> None:
    [wrong] = found({"train.py": f"import torch\n\n{function}\n\n{TRAINING}"})
    assert wrong.code == "RC301" and "never called" not in wrong.message


def test_a_function_that_seeds_all_sets_switches_and_tells_is_offered() -> None:
    body = (
        "def begin(seed):\n    torch.manual_seed(seed)\n    if torch.cuda.is_available():\n"
        "        torch.cuda.manual_seed_all(seed)\n    torch.backends.cudnn.deterministic = True\n"
        "    torch.use_deterministic_algorithms(True)\n    print(seed)\n    return seed\n"
    )
    [wrong] = found({"train.py": f"import torch\n\n{body}\n\n{TRAINING}"})
    assert wrong.fix == "Call `begin` at the start of the program."


def test_a_seed_that_is_none_where_it_is_given_is_to_be_given() -> None:
    split = "import pandas as pd\ndef pairs(data, seed=None):\n    return data.sample(frac=1, random_state=seed)\n"
    [wrong] = found(
        {
            "train.py": f"import torch\n{split}pairs(pd.read_csv('a.csv'))\ntorch.manual_seed(0)\n{TRAINING}"
        }
    )
    assert (wrong.code, wrong.fix) == ("RC512", "Give `random_state` a seed: it is `None` here.")
