"""A seed that is made in one place and set in another: the place that makes it is named, and a
patch changes that one.
"""

from __future__ import annotations

from pathlib import Path
from textwrap import dedent

import pytest

from reprocheck.scan import Result, patched, scan

USE = "import torch\nfrom config import *\n\n{before}torch.manual_seed({seed} + 1)\nnet = torch.nn.Linear(2, 1)\n"
ORIGINS = {
    "a default that a factory makes": (
        "@dataclass\nclass Config:\n    seed: int = field(default_factory=lambda: int(time.time() * 1000))\n",
        "Config().seed",
        "    seed: int = field(default_factory=lambda: 0)",
    ),
    "a factory that is named": (
        "@dataclass\nclass Config:\n    seed: int = field(default_factory=time.time_ns)\n",
        "Config().seed",
        "    seed: int = field(default_factory=lambda: 0)",
    ),
    "a variable of a module": ("seed = int(time.time())\n", "seed", "seed = 0"),
    "a class variable": (
        "class Settings:\n    seed = int(time.time()) % 100\n",
        "Settings.seed",
        "    seed = 0",
    ),
    "a function": ("def choose():\n    return int(time.time())\n", "choose()", "    return 0"),
    "an entry of a table": (
        "TABLE = {'lr': 0.1, 'seed': os.getpid()}\n",
        "TABLE['seed']",
        "TABLE = {'lr': 0.1, 'seed': 0}",
    ),
    "bytes of the system": (
        "seed = int.from_bytes(os.urandom(4), 'little')\n",
        "seed",
        "seed = 0",
    ),
}
HEAD = "import os\nimport time\nimport uuid\nfrom dataclasses import dataclass, field\n\n"


def scanned(folder: Path, config: str, seed: str, before: str = "") -> Result:
    (folder / "config.py").write_text(HEAD + config)
    (folder / "train.py").write_text(USE.format(seed=seed, before=before))
    return scan([folder / "train.py"])


@pytest.mark.parametrize("name", ORIGINS)
def test_a_seed_of_another_file_is_found_and_fixed_where_it_is_made(
    name: str, tmp_path: Path
) -> None:
    config, seed, line = ORIGINS[name]
    result = scanned(tmp_path, config, seed)
    (found,) = (one for one in result.findings if one.code in ("RC402", "RC404"))
    assert Path(found.path).name == "config.py" and "it is set in line 4 of " in found.message
    assert found.fix == f"Write `{line.strip()}`."
    ((path, text),) = patched(result).items()
    assert path.name == "config.py", "what uses the seed stays as it is"
    rows = set(text.splitlines())
    assert rows - set((HEAD + config).splitlines()) == {line}


LEFT_ALONE = {
    "several seeds of one line would be equal": (
        "def choose():\n    return int(time.time())\n",
        "choose() + choose()",
    ),
    "an object is no number": ("run = uuid.uuid4()\n", "run.int"),
    "a time that other files may measure with": ("began = int(time.time())\n", "began"),
    "text is no number": ("run = str(uuid.uuid4())\n", "hash(run)"),
}


@pytest.mark.parametrize("name", LEFT_ALONE)
def test_what_a_constant_would_break_is_not_fixed(name: str, tmp_path: Path) -> None:
    assert patched(scanned(tmp_path, *LEFT_ALONE[name])) == {}


def test_all_seeds_of_one_number_are_one_finding(tmp_path: Path) -> None:
    result = scanned(
        tmp_path, "seed = int(time.time())\n", "seed", before="import random\nrandom.seed(seed)\n"
    )
    (found,) = (one for one in result.findings if one.code == "RC402")
    assert [row.rpartition(":")[2] for row in found.evidence["used"].splitlines()] == ["5", "6"]


def test_within_a_file_the_call_that_seeds_is_shown_and_the_line_that_makes_the_number_is_fixed(
    tmp_path: Path,
) -> None:
    text = dedent(
        """\
        import time
        import torch

        seed = int(time.time())
        number = seed % 1000
        torch.manual_seed(number)
        """
    )
    (tmp_path / "train.py").write_text(text)
    result = scan([tmp_path / "train.py"])
    (found,) = result.findings
    assert (found.line, found.fix) == (6, "Write `seed = 0` in line 4.")
    assert "the number is made in line 4" in found.message
    assert list(patched(result).values()) == [text.replace("int(time.time())", "0")]
