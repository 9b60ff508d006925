"""A confirmed cause names the line on which its control acted, also where a library made the
generator, and a fix that fits it.
"""

from __future__ import annotations

import ast
from dataclasses import replace
from pathlib import Path

import pytest

from reprocheck.files.imports import bound_to
from reprocheck.fixes.seeds import Advice, seeded_call
from reprocheck.model import Cause, SourceLine, Touch, TouchedLine
from reprocheck.model.statements.fixes import SeedCall
from reprocheck.search.confirmed_causes import confirmed
from reprocheck.search.place import Place, seed_takers
from tests.causes.cause_ladders import check, ladder
from tests.e2e.explain.explaining import explain
from tests.search.test_confirmed_causes import AGREED

LIBRARY = """import importlib, random
class Net:
    def __init__(self):
        importlib.import_module("lazy")
class Space:
    rng = None
    def seed(self, number):
        self.rng = random.Random(number)
    def sample(self):
        self.rng = self.rng or random.Random()
        return self.rng.random()
class Env:
    def __init__(self):
        self.action_space = Space()
"""
SCRIPT = """import os, sys
sys.path.insert(0, os.environ["LIBRARY"])
import reprocheck, spaces
net = spaces.Net()
env = spaces.Env()
for step in range(20):
    value = env.action_space.sample()
    reprocheck.log_loss(10 * value)
"""


def test_a_generator_that_a_library_makes_is_cited_by_the_users_line(tmp_path: Path) -> None:
    """Not the line that makes the library import another one, which makes a generator as well:
    PyTorch's optimizers do so.
    """
    packages = tmp_path / "site-packages"
    packages.mkdir()
    (packages / "spaces.py").write_text(LIBRARY)
    (packages / "lazy.py").write_text("import random\nrng = random.Random()\n")
    explained = explain(SCRIPT, tmp_path / "work", LIBRARY=str(packages))
    cause = explained.report["causes"][0]
    assert explained.report["controls"]["smallest"] == ["private-rng"]
    assert (cause["code"], cause["confidence"], cause["source"]) == (
        "RC601",
        "confirmed",
        {"file": "train.py", "line": 7},
    )
    assert cause["fix"] == "env.action_space.seed(0)  # before env.action_space.sample()"
    assert any(
        "`private-rng` first acted at train.py:7 (random.Random without a seed)." in text
        for text in cause["evidence"]
    )


def advice(text: str, file: str = "", takes: str = "", *, line: int = 0) -> Advice:
    tree = ast.parse(file or LINES)
    return seeded_call(
        SourceLine(file="train.py", line=line, text=text), tree, takes, bound_to(tree)
    )


LINES = """import numpy as np
import torch
from scipy.stats import qmc
from sklearn.model_selection import KFold
folds = KFold(5, shuffle=True, random_state=None)
"""


@pytest.mark.parametrize(
    ("line", "hint"),
    [
        (
            "action = env.action_space.sample()",
            SeedCall(
                kind="where its owner is made",
                call="env.action_space.sample",
                owner="env.action_space",
            ),
        ),
        (
            "x = torch.tensor(sampler.random(8))",
            SeedCall(kind="where its owner is made", call="sampler.random", owner="sampler"),
        ),
        (
            "sampler = qmc.LatinHypercube(d=2)",
            SeedCall(kind="by an argument", call="qmc.LatinHypercube"),
        ),
        ("value = (", None),
    ],
)
def test_what_is_not_known_is_no_code_to_paste(line: str, hint: SeedCall | None) -> None:
    assert advice(line).hint == hint


def test_what_may_be_made_often_is_given_no_fixed_stream() -> None:
    line = "state, _ = env.reset()"
    file = f"{LINES}def item(index):\n    {line}\n"
    found = advice(line, file, "reset(seed)", line=7)
    assert not found.fix
    assert found.hint == SeedCall(kind="each time")


@pytest.mark.parametrize(
    ("line", "takes", "fix"),
    [
        ("obs, _ = env.reset()", "reset(seed)", "env.reset(seed=0)"),
        (
            "obs, _ = env.reset(seed=None, options=options)",
            "reset(seed)",
            "env.reset(options=options, seed=0)",
        ),
        (
            "sampler = qmc.LatinHypercube(d=2)",
            "LatinHypercube(rng)",
            "qmc.LatinHypercube(d=2, rng=0)",
        ),
        ("x = torch.tensor(make(Crop(4)).reset())", "reset(seed)", "make(Crop(4)).reset(seed=0)"),
        (
            "state = env.step(env.action_space.sample())",
            "sample.seed",
            "env.action_space.seed(0)  # before env.action_space.sample()",
        ),
    ],
)
def test_what_takes_a_seed_is_named(line: str, takes: str, fix: str) -> None:
    assert advice(line, takes=takes).fix == fix


def test_a_call_by_another_name_than_was_seen_has_no_arguments_that_are_known() -> None:
    assert not advice("obs, _ = begin()", takes="reset(seed)").fix


def test_the_fix_is_that_of_the_line_that_the_cause_names() -> None:
    """Two environments are made of one, and both draw; the scan knows which call lacks a seed."""
    named = Cause(
        code="RC407",
        title="",
        confidence="suspected",
        source=SourceLine(file="train.py", line=32),
        remedy="seed it",
    )
    made = Place(
        line=SourceLine(file="train.py", line=29),
        what="a seed of numpy.random",
        advice=Advice(fix="SyncVectorEnv(makers, seed=0)"),
    )
    reset = Place(
        line=SourceLine(file="train.py", line=32),
        what="a seed of numpy.random",
        advice=Advice(fix="envs.reset(seed=0)"),
    )
    differs = check(ladder("batch"), causes=(named,))
    first, *_ = confirmed(differs, ["private-rng"], AGREED, places={"private-rng": (made, reset)})
    assert (first.source, first.remedy) == (named.source, "envs.reset(seed=0)")
    first, *_ = confirmed(differs, ["private-rng"], AGREED, places={"private-rng": (made,)})
    assert (first.source, first.remedy) == (named.source, "seed it"), (
        "a fix of another line does not fit"
    )


def test_the_second_control_of_a_set_is_a_cause_of_the_next_rung() -> None:
    """Weights from an unseeded generator; and observations from an environment, that are no
    weights.
    """
    weights = Cause(
        code="RC301", title="", confidence="observed", source=SourceLine(file="train.py", line=7)
    )
    both = ladder("initial weights")
    rungs = tuple(
        replace(rung, status="differs") if rung.rung == "batch" else rung for rung in both.rungs
    )
    differs = check(replace(both, rungs=rungs), causes=(weights,))
    learn = Place(
        line=SourceLine(file="train.py", line=8),
        what="a seed of numpy.random",
        advice=Advice(fix="env.reset(seed=0)"),
    )
    first, second = confirmed(
        differs, ["seed", "private-rng"], AGREED, places={"private-rng": (learn,)}
    )
    assert (first.code, second.code, second.source) == ("RC301", "RC504", learn.line)


def test_of_several_calls_on_a_line_the_one_that_takes_a_seed_is_meant() -> None:
    """A pipeline of albumentations and its parts: each makes a generator, and the pipeline takes
    the seed of all.
    """
    line = SourceLine(file="train.py", line=7)
    lines = tuple(
        TouchedLine(source=line, takes=takes) for takes in ("", "import", "Compose(seed)", "")
    )
    touch = Touch(control="private-rng", what="a seed of numpy.random", lines=lines)
    assert seed_takers(touch) == {line: "Compose(seed)"}


RESETTING = """import functools, random
def checked(function):
    @functools.wraps(function)
    def wrapper(*args, **kwargs):
        return function(*args, **kwargs)
    return wrapper
class Env:
    @checked
    def reset(self, *, seed=None, options=None):
        self.rng = random.Random(seed) if seed is not None else random.Random()
        return self.rng.random()
"""
RESETS = """import os, sys
sys.path.insert(0, os.environ["LIBRARY"])
import reprocheck, spaces
env = spaces.Env()
value = env.reset(SEED)
for step in range(20):
    reprocheck.log_loss(10 * value)
"""


def test_the_fix_of_a_call_that_takes_a_seed_gives_it_one_and_works(tmp_path: Path) -> None:
    """The library stands for gymnasium, whose wrappers hand `reset` on."""
    packages = tmp_path / "site-packages"
    packages.mkdir()
    (packages / "spaces.py").write_text(RESETTING)
    explained = explain(RESETS.replace("SEED", ""), tmp_path / "work", LIBRARY=str(packages))
    cause = explained.report["causes"][0]
    assert cause["source"] == {"file": "train.py", "line": 5}
    assert cause["fix"] == "env.reset(seed=0)"
    fixed = explain(
        RESETS.replace("env.reset(SEED)", cause["fix"]), tmp_path / "fixed", LIBRARY=str(packages)
    )
    assert fixed.exit_code == 0 and fixed.report["bitwise"]["equal"]
