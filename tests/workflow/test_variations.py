"""Varied runs: a script that depends on something that two runs share differs under the variation
of it, which is named with its line; a clean one keeps its losses in every bit.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from reprocheck.settings.variations import Point, varied as variations_of_a_run
from tests.conftest import Outcome, check

HEAD = "import os, random, time\nimport reprocheck\n"
TRAINING = """
weight = 0.0
for step in range(3):
    reprocheck.log_loss((value * (step + 1) - weight) ** 2)
    weight += 0.1 * (value - weight)
"""
FILES = "os.makedirs('d', exist_ok=True)\n[open(f'd/{i}', 'w').close() for i in range(5)]\n"

DEPENDS = {
    "file-order": (FILES + "value = float(os.listdir('d')[0]) + 1", 5),
    "hostname": ("import socket\nrandom.seed(socket.gethostname())\nvalue = random.random()", 4),
    "user": ("import getpass\nrandom.seed(getpass.getuser())\nvalue = random.random()", 4),
    "timezone": ("value = time.localtime(0).tm_hour + 1.0", 3),
    "locale": ("value = 1.0 + len(os.environ.get('LC_ALL', ''))", 3),
    "path": ("random.seed(os.getcwd())\nvalue = random.random()", 3),
    "tmpdir": ("import tempfile\nrandom.seed(tempfile.gettempdir())\nvalue = random.random()", 4),
    "home": ("from pathlib import Path\nvalue = 1.0 + (Path.home() / 'mine').exists()", 4),
    "memory": ("import numpy as np\nvalue = float(abs(np.empty(300_000)).mean()) + 1", 4),
    "address": (
        "things = [object() for _ in range(50)]\n"
        "value = 1.0 + sorted(things, key=id).index(things[0])",
        None,
    ),
    "arrival": (
        # the others wait for the first one: only a first one that is late comes behind them
        "import threading\n"
        "from concurrent.futures import ThreadPoolExecutor\n"
        "begun, order = threading.Event(), []\n"
        "def work(n):\n"
        "    if n == 0: return begun.set()\n"
        "    begun.wait()\n"
        "    time.sleep(0.008)\n"
        "with ThreadPoolExecutor(4) as pool:\n"
        "    for n in range(4):\n"
        "        pool.submit(work, n).add_done_callback(lambda _, n=n: order.append(n))\n"
        "value = 1.0 + order[0]",
        12,
    ),
    "columns": ("import shutil\nvalue = 1.0 * shutil.get_terminal_size().columns", 4),
    "stdin": ("import stat\nvalue = 1.0 + stat.S_ISFIFO(os.fstat(0).st_mode)", None),
}
"""Variation -> what a script does that depends on it, and the line at which that is seen."""

ALL_TRIED = ("file-order", "home", "stdin")
"""Those that are looked for among all variations of the default set; the last one by halving."""

CLEAN = """
import shutil, socket, tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
import numpy as np
random.seed(1)
print(socket.gethostname(), time.ctime(), Path.home(), os.getcwd(), shutil.get_terminal_size())
names = sorted(os.listdir("d"))
with tempfile.TemporaryDirectory() as folder, ThreadPoolExecutor(2) as pool:
    Path(folder, "note").write_text("x")
    values = list(pool.map(float, names))
array = np.empty(1000)
array.fill(2.0)
value = values[1] + array.mean() + sum(sorted({"a": 1.0, "b": 2.0}.values())) + random.random()
"""


def varied(path: Path, body: str, *options: str, **environment: str) -> Outcome:
    (path / "train.py").write_text(HEAD + body + TRAINING)
    return check(*(options or ("--vary",)), "train.py", cwd=path, explain=True, **environment)


def guilty(outcome: Outcome) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = outcome.report["variations"]["guilty"]
    return found


RACE = "a thread may be paused for longer than the delays on a busy machine"


@pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=[pytest.mark.may_differ(RACE)] if name == "arrival" else ())
        for name in DEPENDS
    ],
)
def test_the_variation_that_a_script_depends_on_is_named_with_its_line(
    name: str, workdir: Path
) -> None:
    body, line = DEPENDS[name]
    home = workdir / "home"
    (home / "mine").mkdir(parents=True)
    options = () if name in ALL_TRIED else ("--vary", f"{name},umask")
    outcome = varied(workdir, body, *options, HOME=str(home))
    assert outcome.exit_code == 1, outcome.stdout
    assert [one["name"] for one in guilty(outcome)] == [name], outcome.report["variations"]
    source = guilty(outcome)[0]["source"]
    assert (source and source["line"]) == line
    variations = outcome.report["variations"]
    assert variations["agree_without"] is variations["agree_with_the_rest"] is True
    assert len(variations["tried"]) <= 8
    assert outcome.report["lead"]["sentence"].startswith("The training depends on ")
    assert f"--vary {name} train.py" in outcome.stdout


def test_later_runs_have_values_of_their_own_which_a_seed_repeats(workdir: Path) -> None:
    body = "value = 1.0 + (int(os.environ.get('COLUMNS', 80)) > 100)"
    wide = next(seed for seed in range(100) if _columns(seed, 3) > 100)
    options = ("--vary", "columns,umask", "--runs", "3", "--vary-seed", str(wide))
    outcome = varied(workdir, body, *options)
    assert outcome.exit_code == 1, outcome.stdout
    variations = outcome.report["variations"]
    assert variations["runs"] == [2, 3] and variations["seed"] == wide
    assert [one["name"] for one in guilty(outcome)] == ["columns"]
    assert f"--vary-seed {wide}" in outcome.stdout.rpartition("next ")[2]
    assert "(run 3)" in outcome.stdout


def _columns(seed: int, run: int) -> int:
    made = variations_of_a_run(("columns",), {}, (), Point(seed=seed, run=run))
    return int(made.environment["COLUMNS"])


def test_a_clean_script_keeps_its_losses_under_all_variations(workdir: Path) -> None:
    (workdir / "d").mkdir()
    for number in range(5):
        (workdir / "d" / str(number)).touch()
    outcome = varied(workdir, CLEAN, "--vary", "all")
    assert outcome.exit_code == 0, outcome.stdout
    assert outcome.report["bitwise"]["equal"]
    made = outcome.report["variations"]["made"]
    assert {*DEPENDS, "clock", "hash-seed", "umask"} <= set(made)
    differences = outcome.report["environment"]["differences"]
    assert all(one["key"].startswith("cpu.") for one in differences), differences


@pytest.mark.torch
def test_another_number_of_workers_is_tried_on_request(workdir: Path) -> None:
    body = (
        "import torch\n"
        "from torch.utils.data import DataLoader, IterableDataset\n"
        "class Rows(IterableDataset):\n"
        "    def __iter__(self):\n"
        "        return iter(range(4))\n"
        "loader = DataLoader(Rows(), num_workers=1)\n"
        "value = 1.0 + sum(1 for _ in loader) + sum(1 for _ in loader) + loader.num_workers"
    )
    outcome = varied(workdir, body, "--vary", "workers,umask")
    assert outcome.exit_code == 1, outcome.stdout
    found = [(one["name"], one["source"]["line"]) for one in guilty(outcome)]
    assert found == [("workers", 9)], outcome.report["variations"]


def test_a_variation_that_breaks_the_script_is_named_and_left_out(workdir: Path) -> None:
    body = "assert os.environ.get('COLUMNS') != '43', 'too narrow'\n" + FILES
    outcome = varied(workdir, body + "value = 1.0", "--vary", "columns,umask,file-order")
    assert outcome.exit_code == 0, outcome.stdout
    assert outcome.report["variations"]["made"] == ["file-order", "umask"]
    assert outcome.report["variations"]["left_out"] == [{"name": "columns", "why": "breaks"}]
    assert "columns (the script fails under it)" in " ".join(outcome.stdout.split())


def test_no_variation_is_blamed_where_plain_runs_differ(workdir: Path) -> None:
    outcome = varied(workdir, "value = random.random()", "--vary", "columns,umask")
    assert outcome.exit_code == 1, outcome.stdout
    variations = outcome.report["variations"]
    assert variations["agree_without"] is False
    assert variations["guilty"] == []
    assert "Two runs without variations differ, too" in outcome.stdout


def test_what_the_user_has_set_is_not_varied(workdir: Path) -> None:
    options = ("--vary", "hash-seed,clock,columns", "--control", "clock")
    outcome = varied(workdir, "value = 1.0", *options, PYTHONHASHSEED="3")
    assert outcome.exit_code == 0, outcome.stdout
    assert outcome.report["variations"]["made"] == ["columns"]
    assert outcome.report["variations"]["left_out"] == [
        {"name": "clock", "why": "control"},
        {"name": "hash-seed", "why": "user"},
    ]
