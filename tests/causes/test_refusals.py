"""Errors of deterministic mode as causes, and the user's lines that explain a difference."""

from __future__ import annotations

from pathlib import Path

import pytest

from reprocheck.causes.cause import causes_of
from reprocheck.causes.refusals import parse
from reprocheck.causes.usercode import UserCode
from reprocheck.model import (
    SourceLine,
)
from reprocheck.model.evidence import InputsDiffer
from reprocheck.model.statements.causes import (
    DrawnBeforeSeed,
    EndedWith,
    LineDoes,
    RefusedOperator,
)
from reprocheck.rules.operators import Operator
from tests.causes.cause_ladders import (
    GROSS,
    check,
    ladder,
    names,
    write,
)


@pytest.fixture(autouse=True)
def _workdir(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


# ------------------------------------------------------------------------------------------- errors

TRACEBACK = """\
Epoch 1
Traceback (most recent call last):
  File "/home/a/train.py", line 12, in <module>
    run()
  File "/home/a/model.py", line 7, in run
    memory.put_(index, values)
    ~~~~~~~~~~~^^^^^^^^^^^^^^^
  File "/opt/venv/lib/python3.11/site-packages/torch/_tensor.py", line 99, in wrapped
    return f(*args)
"""
PUT = "RuntimeError: put_ does not have a deterministic implementation, but you set 'torch.use_deterministic_algorithms(True)'. You can\n"
CUBLAS = (
    "RuntimeError: Deterministic behavior was enabled with either `torch.use_deterministic_algorithms(True)` or "
    "`at::Context::setDeterministicAlgorithms(true)`, but this operation is not deterministic because it uses CuBLAS and you have CUDA "
    ">= 10.2. To enable deterministic behavior in this case, you must set an environment variable before running your PyTorch application: "
    "CUBLAS_WORKSPACE_CONFIG=:4096:8 or CUBLAS_WORKSPACE_CONFIG=:16:8.\n"
)
BINCOUNT = (
    "tensorflow.python.framework.errors_impl.UnimplementedError: {{function_node __wrapped__Bincount_device_/GPU:0}} "
    "Determinism is not yet supported in GPU implementation of Bincount. [Op:Bincount]\n"
)
UNSEEDED = (
    "RuntimeError: Random ops require a seed to be set when determinism is enabled. "
    "Please set a seed before running the op, e.g. by calling tf.random.set_seed(1).\n"
)


@pytest.mark.parametrize(
    ("message", "expected", "operator"),
    [
        (PUT, "no-deterministic-kernel", "put_"),
        (CUBLAS, "cublas-workspace", ""),
        (BINCOUNT, "no-deterministic-kernel", "Bincount"),
        (UNSEEDED, "unseeded-in-deterministic-mode", ""),
    ],
)
def test_an_error_of_deterministic_mode_names_operator_and_line(
    message: str, expected: str, operator: str
) -> None:
    found = causes_of(check(None, stderr=TRACEBACK + message), ".")
    assert names(found) == [expected] and found[0].confidence == "observed"
    assert found[0].source == SourceLine(
        file="/home/a/model.py", line=7, text="memory.put_(index, values)"
    )
    ended, *more = found[0].statements
    assert isinstance(ended, EndedWith) and ended.message[:-1] in message
    if operator:
        assert more[0] == RefusedOperator(operator=operator, source="/home/a/model.py:7")
        assert isinstance(more[1], Operator)


def test_other_errors_are_no_refusal() -> None:
    assert parse(TRACEBACK + "ValueError: put_ does not have what you set\n") is None
    assert parse("") is None
    assert causes_of(check(None, stderr=TRACEBACK + "KeyError: 'x'\n"), ".") == ()


@pytest.mark.torch
def test_the_real_error_of_torch(tmp_path: Path) -> None:
    import subprocess
    import sys

    pytest.importorskip("torch")
    write(
        "import torch\ntorch.use_deterministic_algorithms(True)\ntorch.zeros(4).put_(torch.tensor([1]), torch.ones(1))\n"
    )
    done = subprocess.run([sys.executable, "train.py"], capture_output=True, text=True, check=False)
    found = parse(done.stderr)
    assert (
        found
        and found.operator == "put_"
        and found.source
        and (Path(found.source.file).name, found.source.line) == ("train.py", 3)
    )


# --------------------------------------------------------------------------------- the user's lines

FED = """\
import random, time
import numpy as np
import torch

class Blur(torch.nn.Module):
    def __init__(self, size):
        self.size, self.rng = size, np.random.default_rng()

    def forward(self, x):
        noise = self.rng.normal(size=self.size)
        scale = time.time() % 1
        spread = torch.empty(self.size)
        y = x + noise
        z = y * scale
        time.sleep(random.SystemRandom().random())
        return z * spread

    def plain(self, x, noise):
        return x + noise
"""


@pytest.mark.parametrize(
    ("line", "first", "at"),
    [
        (13, "private-draw", 10),
        (16, "uninitialised-memory", 12),
        (19, "unrecorded-input", 19),
        (11, "unrecorded-input", 11),
    ],
)
def test_a_line_is_explained_by_what_feeds_it(line: int, first: str, at: int) -> None:
    write(FED)
    facts = {
        "operator": "aten.add.Tensor",
        "inputs_differ": True,
        "evidence": InputsDiffer(),
    }
    found = causes_of(
        check(ladder("forward", **facts, source=SourceLine(file="train.py", line=line), **GROSS)),
        ".",
    )
    assert (names(found)[0], found[0].confidence) == (
        first,
        "observed" if first == "unrecorded-input" else "suspected",
    )
    assert found[0].source == SourceLine(
        file="train.py", line=at, text=FED.splitlines()[at - 1].strip()
    )
    does = {one.kind for one in found[0].statements if isinstance(one, LineDoes)}
    assert ("the clock that feeds" in does) is (line == 11)


BUILT = {"built": True, "samples": "other order"}


@pytest.mark.parametrize(
    ("script", "facts", "expected"),
    [
        (
            "from concurrent.futures import as_completed\nfor one in as_completed([]): pass\n",
            BUILT,
            "arrival-order",
        ),
        ("import random\nrandom.Random().shuffle(samples)\n", BUILT, "private-shuffle"),
        (
            "import numpy as np\nx = np.random.default_rng().normal(9)\n",
            {**BUILT, "samples": "other content"},
            "private-augmentation",
        ),
        (
            "import uuid\nnames = [uuid.uuid4() for _ in range(9)]\n",
            {"built": True, "subset": True, "samples": "other samples"},
            "unseeded-split",
        ),
        (
            "class Node:\n    pass\nfor node in {Node() for _ in range(9)}: pass\n",
            BUILT,
            "address-order",
        ),
        (
            "class Node:\n    __hash__ = f\nfor node in {Node() for _ in range(9)}: pass\n",
            BUILT,
            "hash-order",
        ),
    ],
)
def test_a_data_set_that_was_built_otherwise(
    script: str, facts: dict[str, object], expected: str
) -> None:
    write(script)
    assert names(causes_of(check(ladder("batch", **facts)), "."))[0] == expected


def test_bare_tensors_that_were_drawn_before_the_seed() -> None:
    write("import torch\nfirst = torch.randn(3)\ntorch.manual_seed(0)\n")
    facts = {
        "states_known": False,
        "generators": [],
        "seeded": ["torch"],
        "drawn_before_seed": {"torch": "train.py:3"},
    }
    found = causes_of(check(ladder("initial weights", **facts, place="first", **GROSS)), ".")
    assert names(found)[0] == "seed-after-model" and found[0].confidence == "observed"
    assert found[0].source == SourceLine(file="train.py", line=2, text="first = torch.randn(3)")
    assert DrawnBeforeSeed(generator="torch", seed="train.py:3") in found[0].statements


def test_the_fix_seeds_the_generator_that_was_drawn_from() -> None:
    write("import random\nkeep = random.random()\n")
    found = causes_of(
        check(ladder("RNG state", generators=["python"], got="between", outside=True)),
        ".",
    )
    assert names(found)[0] == "unseeded-draw" and "random.seed(0)" in str(found[0].remedy)
    assert found[0].source == SourceLine(file="train.py", line=2, text="keep = random.random()")


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("train, test = train_test_split(rows, test_size=0.2)", "unseeded-split"),
        ("train, test = train_test_split(rows, random_state=0)", "unseeded-draw"),
        (
            "import numpy\nnoise = numpy.random.rand(3)\ntrain, test = train_test_split(rows)",
            "unseeded-draw",
        ),
    ],
)
def test_a_split_that_draws_from_the_differing_generator_is_named_where_nothing_else_draws(
    source: str, expected: str
) -> None:
    write(f"from sklearn.model_selection import train_test_split\n{source}\n")
    found = causes_of(
        check(ladder("RNG state", generators=["numpy"], got="batch", outside=True)),
        ".",
    )
    assert names(found)[0] == expected


def test_the_source_of_this_package_is_not_the_users(tmp_path: Path) -> None:
    (tmp_path / "reprocheck").mkdir()
    write("import reprocheck\nimport data\n")
    write("", "data.py")
    write("import random\nrng = random.Random()\n", "reprocheck/__init__.py")
    assert [*UserCode(check(ladder("batch")), Path(".")).trees] == ["train.py", "data.py"]


def test_lines_are_those_of_the_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write("import data\n")
    write("import numpy as np\nrng = np.random.default_rng()\n", "data.py")
    first = causes_of(check(ladder("batch", samples="other content")), ".")
    assert first[0].source == SourceLine(
        file="data.py", line=2, text="rng = np.random.default_rng()"
    )
    Path("data.py").write_text("# all new\n# lines\n")
    assert causes_of(check(ladder("batch", samples="other content")), ".") == first
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    monkeypatch.chdir(elsewhere)
    assert causes_of(check(ladder("batch", samples="other content")), tmp_path) == first
    (tmp_path / "sources.json").write_text('{"files": 3}')
    assert (
        causes_of(check(ladder("batch", samples="other content")), tmp_path)[0].code
        == first[0].code
    )
