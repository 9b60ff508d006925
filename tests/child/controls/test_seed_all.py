"""`seed_all` does every row of the table it comes from, says what it could not do, and imports
nothing.
"""

from __future__ import annotations

import importlib.util
import json
import os
import random
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

import reprocheck
from reprocheck import Seeded, seed_all
from reprocheck.settings import controls
from tests.conftest import CHILD, ROOT, clean_environment, mindspore_python

FAKE_NPU = ROOT / "tests" / "fakes" / "torch_npu"
FRAMEWORKS = ("numpy", "torch", "torch_npu", "mindspore", "tensorflow", "keras", "jax")
TABLE = (
    "os.environ['PYTHONHASHSEED'] = '1234'",
    "random.seed(1234)",
    "numpy.random.seed(1234)",
    "torch.manual_seed(1234)",
    "torch.cuda.manual_seed(1234)",
    "torch.cuda.manual_seed_all(1234)",
    "torch.backends.cudnn.enabled = False",
    "torch.backends.cudnn.benchmark = False",
    "torch.backends.cudnn.deterministic = True",
    "torch_npu.npu.manual_seed(1234)",
    "torch_npu.npu.manual_seed_all(1234)",
)
"""The rows of the table of msprobe's seed_all, in the order in which they are done; it writes
`cudnn.enable` for `enabled`.
"""

TORCH = """
import json, os, random, subprocess, sys
import numpy, torch, torch_npu
import reprocheck

cuda = []
torch.backends.cuda.is_built = lambda: True
torch.cuda.manual_seed = lambda seed: cuda.append(["one", seed])
torch.cuda.manual_seed_all = lambda seed: cuda.append(["all", seed])

def draws():
    states = [state.tolist() for state in torch.npu.get_rng_state_all()]
    return [random.random(), numpy.random.rand(), torch.rand(3).tolist(), states]

def hashes():
    code = "import sys; sys.stdout.write(str(hash('a string')))"
    return [subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stdout for _ in range(2)]

torch.backends.cudnn.benchmark = True
said = reprocheck.seed_all()
first = draws()
torch.rand(5), random.random()
again = (reprocheck.seed_all(), draws())[1]
cuda_calls = list(cuda)
random.seed(1234), numpy.random.seed(1234), torch.manual_seed(1234)
by_hand = draws()
other = (reprocheck.seed_all(5), draws())[1]
cudnn = [torch.backends.cudnn.enabled, torch.backends.cudnn.benchmark, torch.backends.cudnn.deterministic]
before = torch.are_deterministic_algorithms_enabled()
os.environ["NCCL_ALGO"] = "Tree"
full = reprocheck.seed_all(mode=True)
print(json.dumps({
    "done": said.done, "late": said.too_late, "absent": said.absent, "failed": said.failed, "cuda": cuda_calls, "hashes": hashes(),
    "draws": [first, again, by_hand, other], "cudnn": cudnn, "modes": [before, torch.are_deterministic_algorithms_enabled()],
    "variables": {name: os.environ.get(name) for name in json.loads(sys.argv[1])}, "kept": full.kept, "full": full.done,
    "full_late": full.too_late, "npu": torch.npu.is_initialized(), "text": str(full),
}))
"""

MINDSPORE = """
import json, random
import numpy, mindspore
from mindspore import nn, ops, dataset
import reprocheck

def draws():
    order = dataset.NumpySlicesDataset(list(range(16)), ["x"], shuffle=True).create_dict_iterator(num_epochs=1, output_numpy=True)
    return [random.random(), numpy.random.rand(), ops.standard_normal((3,)).asnumpy().tolist(), nn.Dense(2, 2).weight.asnumpy().tolist(),
            int(mindspore.initial_seed()), [int(row["x"]) for row in order]]

said = reprocheck.seed_all()
first = draws()
full = reprocheck.seed_all(mode=True)
second = draws()
third = reprocheck.seed_all(2**31 - 1, mode=True)
print(json.dumps({"version": reprocheck.__version__, "done": said.done, "failed": said.failed, "draws": [first, second], "full": full.done,
                  "deterministic": mindspore.get_context("deterministic"), "third": [third.failed, third.kept, third.advice]}))
"""

TENSORFLOW = """
import json, random
import numpy, tensorflow, keras
import reprocheck

def draws():
    return [random.random(), numpy.random.rand(), tensorflow.random.normal([3]).numpy().tolist(), keras.random.normal([3]).numpy().tolist()]

said = reprocheck.seed_all(mode=True)
first = draws()
reprocheck.seed_all()
print(json.dumps({"done": said.done, "failed": said.failed, "draws": [first, draws()]}))
"""


def ran(python: str, code: str, *arguments: str, path: str = str(ROOT), **variables: str) -> Any:
    """What a script prints last, as JSON."""
    environment = {
        name: value for name, value in clean_environment().items() if name != "PYTHONHASHSEED"
    }
    environment |= {"PYTHONPATH": path, **variables}
    command = [python, "-P", "-c", code, *arguments]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr[-3000:]
    return json.loads(done.stdout.splitlines()[-1])


@pytest.fixture
def alone(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """No framework, and an environment and generators that are put back afterwards."""
    for name in FRAMEWORKS:
        monkeypatch.delitem(sys.modules, name, raising=False)
    environment, state = dict(os.environ), random.getstate()
    for control in controls.table():
        for name in control.environment:
            os.environ.pop(name, None)
    yield
    random.setstate(state)
    os.environ.clear()
    os.environ.update(environment)


# ---------------------------------------------------------------------------------------- the table


@pytest.fixture(scope="module")
def torch_said() -> Any:
    pytest.importorskip(
        "torch.utils.backend_registration", reason="needs PyTorch with a Python PrivateUse1 backend"
    )
    names = json.dumps(list(controls.control("deterministic").environment))
    return ran(sys.executable, TORCH, names, path=os.pathsep.join([str(FAKE_NPU), str(ROOT)]))


@pytest.mark.torch
@pytest.mark.parametrize("row", TABLE)
def test_each_row_of_the_table_is_done(torch_said: Any, row: str) -> None:
    assert row in torch_said["done"]


@pytest.mark.torch
def test_nothing_but_the_table_is_done_and_each_row_has_its_effect(torch_said: Any) -> None:
    assert torch_said["done"] == list(TABLE)
    assert torch_said["failed"] == []
    assert torch_said["absent"] == ["mindspore", "tensorflow", "keras", "jax"]
    first, again, by_hand, other = torch_said["draws"]
    assert first == again == by_hand, "the CPU's generators and those of both NPUs"
    assert all(one != two for one, two in zip(first, other, strict=True))
    assert first[3][0] == first[3][1], "all devices have the seed, not only the current one"
    assert torch_said["cuda"] == [["all", 1234], ["one", 1234], ["all", 1234]] * 2, (
        "torch.manual_seed begins with all"
    )
    assert torch_said["cudnn"] == [False, False, True]


@pytest.mark.torch
def test_the_hash_seed_reaches_only_later_processes_and_that_is_said(torch_said: Any) -> None:
    one, two = torch_said["hashes"]
    assert one == two
    assert [text.partition(" ")[0] for text in torch_said["late"]] == ["PYTHONHASHSEED"]
    assert "export PYTHONHASHSEED=1234" in torch_said["late"][0]


@pytest.mark.torch
def test_mode_adds_deterministic_algorithms_and_their_variables(torch_said: Any) -> None:
    assert torch_said["modes"] == [False, True]
    assert "torch.use_deterministic_algorithms(True)" in torch_said["full"]
    wanted = {
        **controls.control("deterministic").environment,
        "NCCL_ALGO": "Tree",
        "TF_DETERMINISTIC_OPS": None,
    }
    assert torch_said["variables"] == wanted
    assert torch_said["variables"]["HCCL_DETERMINISTIC"] == "true"
    assert torch_said["kept"] == ["NCCL_ALGO=Tree, where deterministic computing needs Ring"]
    late = [text.partition(":")[0] for text in torch_said["full_late"]][1:]
    assert torch_said["npu"]
    assert late == [
        "LCCL_DETERMINISTIC",
        "TE_PARALLEL_COMPILER",
        "CLOSE_MATMUL_K_SHIFT",
        "ATB_LLM_LCOC_ENABLE",
    ], "the NPU is in use"
    assert "kept      NCCL_ALGO=Tree" in torch_said["text"]


@pytest.mark.mindspore
@pytest.mark.xdist_group("mindspore")
def test_mindspore_through_the_stand_in_of_the_recorder() -> None:
    said = ran(
        mindspore_python(), MINDSPORE, path=os.pathsep.join([str(CHILD / "standin"), str(CHILD)])
    )
    assert said["version"] == "recorder"
    rows = [
        "mindspore.set_seed(1234)",
        "mindspore.manual_seed(1234)",
        "mindspore.dataset.config.set_seed(1234)",
    ]
    assert said["done"] == [*TABLE[:3], *rows]
    assert said["failed"] == []
    first, second = said["draws"]
    assert first == second
    assert first[4] == 1234
    assert said["full"][-1] == "mindspore.set_deterministic(True)"
    assert said["deterministic"] == "ON"
    failed, kept, (advice, _) = said["third"]
    assert (failed, kept) == ([], []), "set_deterministic may be called once, and was"
    assert "choose another seed" in advice


def test_tensorflow_in_the_order_of_the_guide() -> None:
    if importlib.util.find_spec("tensorflow") is None:
        pytest.skip("needs TensorFlow")
    said = ran(sys.executable, TENSORFLOW)
    rows = [
        "tensorflow.random.set_seed(1234)",
        "tensorflow.config.experimental.enable_op_determinism()",
    ]
    assert [row for row in said["done"] if "environ" not in row] == [
        *TABLE[1:3],
        *rows,
        "keras.utils.set_random_seed(1234)",
    ]
    assert "os.environ['TF_DETERMINISTIC_OPS'] = '1'" in said["done"]
    assert said["failed"] == []
    assert said["draws"][0] == said["draws"][1]


# ------------------------------------------------------------------------- what it says of the rest


def test_it_imports_no_framework_and_warns_where_there_is_none_yet() -> None:
    code = f"""
import json, sys, warnings
import reprocheck
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    said = reprocheck.seed_all(3)
print(json.dumps([said.done, said.absent, [str(one.message) for one in caught], [name for name in {FRAMEWORKS!r} if name in sys.modules]]))
"""
    done, absent, warned, imported = ran(sys.executable, code)
    assert done == ["os.environ['PYTHONHASHSEED'] = '3'", "random.seed(3)"]
    assert tuple(absent) == FRAMEWORKS
    assert len(warned) == 1
    assert "after the imports" in warned[0]
    assert imported == []


def test_a_hash_seed_set_before_the_start_is_not_called_too_late() -> None:
    code = "import json, numpy, reprocheck; print(json.dumps(reprocheck.seed_all(3).too_late))"
    assert ran(sys.executable, code, PYTHONHASHSEED="3") == []


@pytest.mark.parametrize("seed", [True, False, -1, 1 << 32, 1.0, "1", None, float("nan")])
def test_other_seeds_are_refused_by_naming_the_range(seed: Any) -> None:
    before = os.environ.get("PYTHONHASHSEED"), random.getstate()
    with pytest.raises(ValueError, match="from 0 to 4294967295"):
        seed_all(seed)
    assert (os.environ.get("PYTHONHASHSEED"), random.getstate()) == before, "nothing is half done"


@pytest.mark.parametrize("mode", ["False", None, 2, 0.5])
def test_other_modes_are_refused(mode: Any) -> None:
    with pytest.raises(ValueError, match="True or False"):
        seed_all(1, mode)


def test_whole_numbers_of_other_types_are_taken(
    alone: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Number:
        def __index__(self) -> int:
            return 4294967295

    monkeypatch.setitem(sys.modules, "jax", ModuleType("jax"))
    said = seed_all(Number(), True)  # type: ignore[arg-type]
    assert (said.seed, said.mode) == (4294967295, True)
    assert isinstance(said, Seeded)
    assert any("jax.random.key(4294967295)" in text for text in said.advice)


def test_variables_are_too_late_once_the_device_or_the_communicator_is_there(
    alone: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    torch = SimpleNamespace(
        manual_seed=lambda seed: None,
        cuda=SimpleNamespace(is_initialized=lambda: True),
        distributed=SimpleNamespace(is_initialized=lambda: True),
        backends=SimpleNamespace(cudnn=SimpleNamespace(enabled=True, benchmark=True)),
    )
    monkeypatch.setitem(sys.modules, "torch", torch)
    os.environ["HCCL_DETERMINISTIC"] = "strict"
    os.environ["CUBLAS_WORKSPACE_CONFIG"] = ":0:0"
    said = seed_all(1, mode=True)
    late = {
        text.partition(":")[0] for text in said.too_late if not text.startswith("PYTHONHASHSEED")
    }
    assert late == {"NCCL_ALGO", "HCCL_DETERMINISTIC", "LCCL_DETERMINISTIC"}
    assert os.environ["HCCL_DETERMINISTIC"] == "strict", "it serves as well"
    assert said.kept == (
        "CUBLAS_WORKSPACE_CONFIG=:0:0, where deterministic computing needs :4096:8",
    )
    failed = [text.partition(": ")[0] for text in said.failed]
    assert failed == [
        "torch.backends.cudnn.deterministic = True",
        "torch.use_deterministic_algorithms(True)",
    ], "a version without them"
    assert torch.backends.cudnn == SimpleNamespace(enabled=False, benchmark=False)


def test_it_is_documented_and_exported() -> None:
    text = (ROOT / "docs" / "reference" / "seed-all.md").read_text(encoding="utf-8")
    for row in TABLE:
        assert row.replace("1234", "seed").replace("'seed'", "str(seed)") in text, row
    assert {"Seeded", "seed_all"} <= set(reprocheck.__all__)
    assert (
        Path(sys.modules[seed_all.__module__].__file__ or "").parent == CHILD / "reprocheck_child"
    )
