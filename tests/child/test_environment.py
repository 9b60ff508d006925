"""Facts about the environment: what is in, what stays out, and that looking changes nothing."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import types
from pathlib import Path
from typing import Any

import pytest

from reprocheck.child.reprocheck_child.process import environment
from reprocheck.child.reprocheck_child.shared import variables
from reprocheck.child.reprocheck_child.shared.variables import OF_THE_RANK
from tests.child.recording import record

CHILD = Path(environment.__file__).parents[2]


@pytest.fixture(autouse=True)
def _started_as_the_test_says(monkeypatch: pytest.MonkeyPatch) -> None:
    """Takes what a test sets for what the process was started with."""
    monkeypatch.setattr(environment, "started_with", lambda: os.environ)


def look(modules: dict[str, Any] | None = None) -> dict[str, object]:
    return environment.facts({} if modules is None else modules, mask=str)


def in_process(code: str, **variables_set: str) -> Any:
    """What `code` prints as JSON, run by this interpreter with the recorder's folder on the
    path.
    """
    env = {**os.environ, "PYTHONPATH": str(CHILD), **variables_set}
    answer = subprocess.run(
        [sys.executable, "-c", code], env=env, capture_output=True, text=True, check=True
    )
    return json.loads(answer.stdout)


def test_facts_are_flat_sorted_and_json() -> None:
    facts = look(dict(sys.modules))
    assert list(facts) == sorted(facts)
    assert json.loads(json.dumps(facts)) == facts
    assert all(isinstance(value, str | int | float | bool) for value in facts.values())
    assert facts["python.version"] == ".".join(map(str, sys.version_info[:3]))
    assert facts["cpu.count"] == os.cpu_count()
    assert facts["platform.system"] == os.uname().sysname


def test_two_looks_agree() -> None:
    assert look(dict(sys.modules)) == look(dict(sys.modules))


def test_packages_come_from_the_names_of_metadata_folders(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in (
        "Some_Thing-1.2.3.dist-info",
        "old.pkg-0.9-py3.11.egg-info",
        "editable.egg-info",
        "not-a-package-1.0",
    ):
        (tmp_path / name).mkdir()
    shadowed = tmp_path / "second"
    (shadowed / "some.thing-9.9.dist-info").mkdir(parents=True)
    monkeypatch.setattr(
        sys, "path", [str(tmp_path), str(shadowed), str(tmp_path / "missing"), str(tmp_path)]
    )
    packages = {key: value for key, value in look().items() if key.startswith("package.")}
    assert packages == {
        "package.some-thing": "1.2.3",
        "package.old-pkg": "0.9",
        "package.editable": "installed",
    }


@pytest.mark.parametrize(
    ("given", "expected"), [("0", "0"), ("123", "123"), ("random", "random"), ("", "random")]
)
def test_hash_seed_is_the_one_that_hashes_use(given: str, expected: str) -> None:
    code = """if True:
        import json, os
        os.environ["PYTHONHASHSEED"] = "42"  # has no effect on this process
        from reprocheck_child.process import environment
        print(json.dumps(environment.facts({}, mask=str)["python.hash_seed"]))"""
    assert in_process(code, PYTHONHASHSEED=given) == expected


def test_what_the_script_sets_is_no_fact_of_its_environment() -> None:
    code = """if True:
        import json, os
        os.environ["OMP_NUM_THREADS"] = "3"
        os.environ["SEED"] = "17"
        from reprocheck_child.process import environment
        facts = environment.facts({}, mask=str)
        print(json.dumps([facts.get(f"variable.{one}") for one in ("OMP_NUM_THREADS", "SEED")]))"""
    assert in_process(code, OMP_NUM_THREADS="1") == ["1", None]


@pytest.mark.parametrize(
    "name",
    [
        "PYTHONHASHSEED",
        "OMP_NUM_THREADS",
        "MKL_CBWR",
        "CUBLAS_WORKSPACE_CONFIG",
        "HCCL_DETERMINISTIC",
        "LCCL_DETERMINISTIC",
        "ASCEND_LAUNCH_BLOCKING",
        "CLOSE_MATMUL_K_SHIFT",
        "ATB_LLM_LCOC_ENABLE",
        "TE_PARALLEL_COMPILER",
        "TORCHINDUCTOR_CACHE_DIR",
        "TF_DETERMINISTIC_OPS",
        "XLA_FLAGS",
        "RANK",
        "WORLD_SIZE",
        "LD_PRELOAD",
        "MALLOC_ARENA_MAX",
        "NVIDIA_TF32_OVERRIDE",
        "NCCL_ALGO",
        "FLASH_ATTENTION_DETERMINISTIC",
        "MS_JIT",
        "AOT_AUTOGRAD_CACHE",
    ],
)
def test_variables_that_bear_on_numbers_are_allowed(name: str) -> None:
    assert variables.allowed(name, "1")


@pytest.mark.parametrize(
    ("name", "value"), [("SEED", "17"), ("LEARNING_RATE", "1e-3"), ("MY_OFFSET", "-2.5")]
)
def test_a_number_under_any_other_name_is_a_fact(
    name: str, value: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(name, value)
    assert look()[f"variable.{name}"] == value


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("HOME", "/home/ada"),
        ("AWS_SECRET_ACCESS_KEY", "x"),
        ("WANDB_API_KEY", "x"),
        ("MY_SETTING", "on"),
        ("BANK_PIN", "1234"),
        ("PHONE", "5551234"),
        ("PERSON", "123-45-6789"),
        ("BORN", "2001-02-03"),
        ("MACHINE", "10.0.0.1"),
        ("API_KEY", "1234567"),
        ("SSH_AGENT_PID", "77"),
        ("SHLVL", "2"),
        ("SERVER_PORT", "8080"),
        ("SERIAL", "123456789012345678901234567890"),
        ("TF_VAR_region", "eu"),
        ("TORCH_HUB_TOKEN", "x"),
        ("MS_PASSWORD", "x"),
        ("CUDA_LICENSE_KEY", "x"),
        ("TORCH_LOGS", "token=abcdef"),
        ("MS_EXTRA", "hf_abcdefghijklmnop"),
        ("XLA_FLAGS", "--a=AKIAABCDEFGHIJKLMN"),
        ("MASTER_PORT", "29500"),
        ("MS_SCHED_PORT", "8118"),
        ("MS_SCHED_HOST", "10.0.0.1"),
        ("TORCHELASTIC_RUN_ID", "4f2a"),
        ("NCCL_SOCKET_PORT_RANGE", "1-2"),
        ("TMPDIR", "/tmp/x"),
    ],
)
def test_everything_else_stays_out(name: str, value: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(name, value)
    assert f"variable.{name}" not in look()


def test_texts_are_masked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TORCH_HOME", "/home/ada/cache")
    facts = environment.facts({}, mask=lambda text: text.replace("/home/ada", "~"))
    assert facts["variable.TORCH_HOME"] == "~/cache"


def test_keys_of_the_rank_are_facts_that_only_ranks_may_disagree_on() -> None:
    assert {"variable.RANK", "variable.LOCAL_RANK", "cpu.affinity"} <= OF_THE_RANK
    assert "variable.WORLD_SIZE" not in OF_THE_RANK


class Untouchable:
    """A device module that fails the test when it is asked anything but whether it is
    initialised.
    """

    def is_initialized(self) -> bool:
        return False

    def __getattr__(self, name: str) -> Any:
        pytest.fail(f"asked an uninitialised device for {name}")


def test_uninitialised_device_is_asked_nothing() -> None:
    torch = types.SimpleNamespace(
        __version__="2.99", backends=None, cuda=Untouchable(), npu=Untouchable(), version=None
    )
    for name in [
        "get_num_threads",
        "get_num_interop_threads",
        "get_default_dtype",
        "get_float32_matmul_precision",
    ]:
        setattr(torch, name, lambda: 4)
    for name in [
        "are_deterministic_algorithms_enabled",
        "is_deterministic_algorithms_warn_only_enabled",
    ]:
        setattr(torch, name, lambda: False)
    facts = look({"torch": torch})
    assert facts["torch.version"] == "2.99"
    assert facts["torch.threads"] == 4
    assert not [key for key in facts if key.startswith(("torch.cuda", "torch.npu", "torch.cudnn"))]


def test_broken_framework_costs_only_its_own_facts() -> None:
    facts = look(
        {
            "torch": object(),
            "numpy": types.SimpleNamespace(__version__="1.2"),
            "jax": types.SimpleNamespace(__version__="0.1"),
        }
    )
    assert facts["numpy.version"] == "1.2"
    assert facts["jax.version"] == "0.1"
    assert "python.version" in facts


def test_no_framework_is_imported() -> None:
    code = """if True:
        import json, sys
        from reprocheck_child.process import environment
        environment.facts(mask=str); environment.trackers()
        print(json.dumps([name for name in ("numpy", "torch", "mindspore", "importlib.metadata", "subprocess") if name in sys.modules]))"""
    assert in_process(code) == []


@pytest.mark.torch
def test_torch_is_described_and_left_as_it_was() -> None:
    pytest.importorskip("torch")
    code = """if True:
        import json, random, warnings
        import numpy, torch
        from reprocheck_child.process import environment
        warnings.simplefilter("error")
        def state():
            return [repr(random.getstate()), repr(numpy.random.get_state()), torch.get_rng_state().tolist(), torch.get_num_threads(),
                    torch.get_num_interop_threads(), torch.cuda.is_initialized(), torch.backends.cudnn.benchmark]
        before = state()
        facts = environment.facts(mask=str)
        unchanged = before == state()
        torch.set_num_interop_threads(3)  # still allowed: no thread pool was started
        torch.use_deterministic_algorithms(True)
        torch.set_default_dtype(torch.float64)
        print(json.dumps([facts, environment.facts(mask=str), unchanged]))"""
    before, after, unchanged = in_process(code, OMP_NUM_THREADS="2")
    assert unchanged
    assert before["torch.threads"] == 2
    assert before["torch.deterministic_algorithms"] is False
    assert before["torch.default_dtype"] == "torch.float32"
    assert before["variable.OMP_NUM_THREADS"] == "2"
    assert {
        "torch.git_version",
        "torch.build",
        "torch.cudnn.enabled",
        "torch.float32_matmul_precision",
        "numpy.blas",
    } <= before.keys()
    changed = {key for key in before if before[key] != after[key]}
    assert changed == {
        "torch.deterministic_algorithms",
        "torch.default_dtype",
        "torch.interop_threads",
    }


def test_loaded_trackers_are_caveats_with_their_switch(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("WANDB_MODE", "MLFLOW_TRACKING_URI", "SWANLAB_MODE"):
        monkeypatch.delenv(name, raising=False)
    caveats = dict(environment.trackers({"wandb": object(), "mlflow": object(), "torch": object()}))
    assert list(caveats) == ["tracker-wandb", "tracker-mlflow"]
    assert "WANDB_MODE=offline" in caveats["tracker-wandb"]
    monkeypatch.setenv("WANDB_MODE", "offline")
    monkeypatch.setenv("MLFLOW_TRACKING_URI", "sqlite:///runs.db")
    assert environment.trackers({"wandb": object(), "mlflow": object()}) == []


def test_hub_is_named_only_where_it_could_upload(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("HF_TOKEN", "HUGGING_FACE_HUB_TOKEN", "HF_TOKEN_PATH", "HF_HUB_OFFLINE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HF_HOME", str(tmp_path))
    hub = {"huggingface_hub": object()}
    assert environment.trackers(hub) == []
    (tmp_path / "token").write_text("hf_secret")
    assert [code for code, _ in environment.trackers(hub)] == ["tracker-huggingface-hub"]
    assert "hf_secret" not in repr(environment.trackers(hub))
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    assert environment.trackers(hub) == []


def test_a_variable_that_the_script_sets_is_recorded_with_its_line(tmp_path: Path) -> None:
    source = (
        "import os\n"
        "os.environ['OMP_NUM_THREADS'] = '2'\n"
        "os.environ['NOBODY_READS_THIS'] = 'words'\n"
        "import reprocheck\n"
        "reprocheck.log_loss(1.0)\n"
    )
    events = record(source, tmp_path).events("variable")
    assert [(event["p"], event["v"], event["l"]) for event in events] == [
        ("OMP_NUM_THREADS", "2", "script.py:2")
    ]
