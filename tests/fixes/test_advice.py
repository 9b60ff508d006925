"""The fix that is printed fits the line that the run names, the control that confirmed, the device
that ran, and the user's command.
"""

from __future__ import annotations

import ast
from dataclasses import replace
from pathlib import Path

import pytest

from reprocheck.causes.cause import causes_of
from reprocheck.causes.scan_findings import located
from reprocheck.files.imports import module_names
from reprocheck.fixes.advice import control_fix, fix_of, with_names_of
from reprocheck.ladder.operators import device_of
from reprocheck.model import Cause, Check, EntryPoint, Setting, SourceLine
from reprocheck.model.evidence import PathDiffers
from reprocheck.model.statements.causes import LineDoes
from reprocheck.model.static import StaticFinding, StaticScan
from reprocheck.rules import entry
from reprocheck.rules.fix_text import in_names_of
from reprocheck.search.confirmed_causes import confirmed
from reprocheck.wording import say
from tests.causes.cause_ladders import GROSS, check, ladder, names, write

NOISY = entry("RC602")


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


# ----------------------------------------------------------------------------------- what confirmed


@pytest.mark.parametrize(
    ("framework", "control", "fix"),
    [
        ("mindspore", "single-thread", "op_tuning.threads_num(1)"),
        ("mindspore", "deterministic", "mindspore.set_deterministic(True)"),
        ("torch", "single-thread", "torch.set_num_threads(1)"),
        ("torch", "deterministic", "torch.use_deterministic_algorithms(True)"),
        ("tensorflow", "single-thread", "tf.config.threading.set_intra_op_parallelism_threads(1)"),
        ("jax", "single-thread", "export PJRT_NPROC=1"),
    ],
)
def test_the_fix_follows_from_the_control_that_confirmed(
    framework: str, control: str, fix: str
) -> None:
    differs = check(ladder("forward", **GROSS), framework=framework)
    remedy = fix_of(differs, NOISY, (framework,))
    noisy = Cause(code="RC602", title="", confidence="suspected", remedy=remedy)
    (cause,) = confirmed(replace(differs, causes=(noisy,)), (control,), "", (framework,))
    assert (cause.code, cause.confidence) == ("RC602", "confirmed")
    assert fix in say(cause.remedy)


def test_a_fix_that_was_made_for_the_line_stays_whatever_confirmed_it() -> None:
    own = Cause(
        code="RC602", title="", confidence="suspected", remedy="Write `line`.", fix_from="place"
    )
    (cause,) = confirmed(
        check(ladder("forward", **GROSS), causes=(own,)), ("single-thread",), "", ("mindspore",)
    )
    assert cause.remedy == "Write `line`."


def test_where_the_source_is_what_a_control_fixes_the_fix_is_that_of_the_cause() -> None:
    shifted = entry("RC403")
    differs = check(ladder("RNG state", **GROSS))
    remedy = fix_of(differs, shifted, ("torch",))
    cause = Cause(code="RC403", title="", confidence="suspected", remedy=remedy)
    (found,) = confirmed(replace(differs, causes=(cause,)), ("entropy",), "", ("torch",))
    assert found.remedy == remedy and say(remedy) == shifted.fix


def test_a_generator_whose_seed_is_another_in_each_run_is_not_told_to_have_a_seed() -> None:
    differs = check(ladder("batch", **GROSS))
    advised = fix_of(differs, entry("RC504"), ("torch",))
    cause = Cause(code="RC504", title="", confidence="suspected", remedy=advised)
    differs = replace(differs, causes=(cause,))
    (found,) = confirmed(differs, ("private-rng",), "", ("torch",))
    assert found.remedy == advised
    (found,) = confirmed(differs, ("entropy",), "", ("torch",))
    assert found.remedy == control_fix(("torch",), "entropy")


def test_a_control_has_no_fix_of_another_framework() -> None:
    assert control_fix(("jax",), "deterministic") is None


@pytest.mark.parametrize(
    ("framework", "device", "variable"),
    [("torch", "cuda", "CUBLAS"), ("mindspore", "npu", "HCCL")],
)
def test_a_control_has_the_fix_of_the_device(framework: str, device: str, variable: str) -> None:
    plain = control_fix((framework,), "deterministic")
    on_device = control_fix((framework,), "deterministic", device)
    assert plain is not None and variable not in say(plain)
    assert on_device is not None and variable in say(on_device)


def test_a_search_over_what_follows_from_files_names_the_cause_of_the_training() -> None:
    """A file that a framework writes at its start is no reason to call noise in the data that of a
    layer.
    """
    batch = ladder("batch", **GROSS).rung("batch")
    differs = check(ladder("files and arguments", batch))
    (cause,) = confirmed(differs, ("private-rng",), "", ("keras",))
    assert cause.code == "RC504"


# ----------------------------------------------------------------------------------------- commands


def with_command(one: Check) -> Check:
    record = one.record
    settings = (Setting(name="python", value="env/bin/python", origin="--python"),)
    started = EntryPoint(
        command=("env/bin/python", "train.py", "--lr", "0.2"), kind="script", name="train"
    )
    return replace(one, record=replace(record, entry_point=started, settings=settings))


@pytest.mark.parametrize(
    ("facts", "device", "control", "not_named"),
    [
        ({}, "cpu", "single-thread", "launch-blocking"),
        ({"mindspore.device_target": "CPU"}, "cpu", "single-thread", "launch-blocking"),
        ({"mindspore.device_target": "Ascend"}, "npu", "launch-blocking", "single-thread"),
        ({"torch.cuda.devices": "H200"}, "cuda", "launch-blocking", "single-thread"),
    ],
)
def test_a_printed_command_is_the_users_own_and_for_the_device_that_ran(
    facts: dict[str, object], device: str, control: str, not_named: str
) -> None:
    differs = with_command(check(ladder("forward", came_back=False), environment=facts))
    assert device_of(differs) == device
    fix = say(fix_of(differs, entry("RC006")))
    assert fix.startswith(
        "# how often the runs differ\nreprocheck run --runs 10 --python env/bin/python train.py --lr 0.2\n# a"
    )
    assert (
        f"reprocheck run --runs 10 --control {control} --python env/bin/python train.py --lr 0.2"
        in fix
    )
    assert not any(word in fix for word in (not_named, "CUDA", "ASCEND"))


def test_other_commands_are_the_users_own_too() -> None:
    differs = with_command(check(ladder("later")))
    late = say(fix_of(differs, entry("RC903")))
    said, command = late.split("\n")
    assert said == "# an order of additions if it is gone with one thread"
    assert (
        command
        == "reprocheck run --steps all --control single-thread --python env/bin/python train.py --lr 0.2"
    )
    assert fix_of(differs, entry("RC506")) == "PYTHONHASHSEED=0 env/bin/python train.py --lr 0.2"


@pytest.mark.parametrize(
    ("facts", "words"),
    [({"torch.npu.devices": "910"}, "HCCL"), ({"torch.cuda.devices": "H200"}, "NCCL_ALGO")],
)
def test_variables_are_those_of_the_device_that_ran(facts: dict[str, object], words: str) -> None:
    on_device = check(ladder("reduced gradient"), environment=facts)
    fix = say(fix_of(on_device, entry("RC801"), ("torch",)))
    assert words in fix and len({"NCCL_ALGO" in fix, "HCCL" in fix}) == 2
    plain = say(fix_of(check(ladder("reduced gradient")), entry("RC801"), ("torch",)))
    assert not any(name in plain for name in ("NCCL", "HCCL"))


# ---------------------------------------------------------------------------------------- the clock


@pytest.mark.parametrize("rung", ["forward", "gradient", "hyper-parameters"])
def test_another_path_names_the_clock_that_decides_it_and_its_line(rung: str) -> None:
    write("import time\nfor x in data:\n    if time.time() % 2 < 1:\n        continue\n")
    (cause, *_) = causes_of(check(ladder(rung, evidence=PathDiffers(), **GROSS)), ".")  # type: ignore[arg-type]
    assert cause.code == "RC605" and cause.confidence == "observed"
    assert cause.source is not None and cause.source.line == 3
    at = LineDoes(kind="the clock at a branch", call="time.time", source="train.py:3")
    assert at in cause.statements
    assert say(cause.remedy).endswith("# instead of: if time.time() % 2 < 1:")


def test_another_path_that_entropy_decides_is_named_and_one_without_a_line_gets_an_honest_text() -> (
    None
):
    structural = ladder("forward", evidence=PathDiffers(), **GROSS)
    write(
        "import os\nlucky = os.urandom(1)[0] % 2 == 0\nfor x in data:\n    if lucky and x:\n        step(x)\n"
    )
    (cause, *_) = causes_of(check(structural), ".")
    assert (
        cause.source is not None
        and cause.source.line == 4
        and "random.Random(0)" in say(cause.remedy)
    )
    write("step()\n")
    (cause, *_) = causes_of(check(structural), ".")
    assert (cause.source, say(cause.remedy)) == (None, entry("RC605").fix)


def test_a_difference_that_comes_and_goes_names_the_time_limit_as_a_suspicion() -> None:
    write("import time\nstart = time.time()\nwhile time.time() - start < 5:\n    step()\n")
    none = replace(ladder("later"), first=None, came_back=False)
    found = causes_of(
        check(replace(none, rungs=tuple(replace(rung, status="equal") for rung in none.rungs))), "."
    )
    assert names(found) == ["intermittent-difference", "different-path"]
    assert (
        found[1].confidence == "suspected"
        and found[1].source is not None
        and found[1].source.line == 3
    )


# ----------------------------------------------------------------------------------------- the scan


def at(line: int, fix: str, code: str = "RC503") -> StaticFinding:
    return StaticFinding(
        code=code,
        name=entry(code).name,
        severity="error",
        message="A worker is seeded from the clock",
        source=SourceLine(file="train.py", line=line),
        fix=fix,
        patchable=True,
        executed="executed",
        precedes=True,
    )


def test_a_confirmed_cause_has_the_edits_that_the_scan_knows() -> None:
    """On its line, else on the lines of the same cause; a finding that only says where to read has
    none.
    """
    general = entry("RC503").fix
    clock = Cause(
        code="RC503",
        title="",
        confidence="confirmed",
        source=SourceLine(file="train.py", line=3),
        remedy=general,
    )
    base = check(ladder("batch", **GROSS))

    def fix(*found: StaticFinding) -> str:
        scanned = replace(base, scan=StaticScan(findings=found))
        return say(located(scanned, [clock], ["clock"])[0].remedy)

    assert fix(at(3, "Write `one`."), at(9, "Write `two`.")) == "Write `one`."
    assert (
        fix(at(8, "Write `one`."), at(9, "Write `two`."))
        == "train.py:8: Write `one`.\ntrain.py:9: Write `two`."
    )
    to_read = replace(at(3, "see `reprocheck rules RC503`"), fix_from="page")
    assert fix(to_read) == general
    assert fix(at(8, "Write `one`.", code="RC601")) == general


@pytest.mark.parametrize(
    ("imports", "fix", "wanted"),
    [
        ("import numpy as np", "numpy.random.seed(0)", "np.random.seed(0)"),
        ("import numpy", "numpy.random.seed(0)", "numpy.random.seed(0)"),
        ("import numpy as np", "import numpy\nnumpy.random.seed(0)", "import numpy\nnumpy.random.seed(0)"),
        ("import numpy as np", "a.numpy.b, \"numpy.c\"", "a.numpy.b, \"numpy.c\""),
        ("import keras", "keras.utils.set_random_seed(0)", "keras.utils.set_random_seed(0)"),
        ("from tensorflow import keras", "keras.utils.set_random_seed(0)", "keras.utils.set_random_seed(0)"),
        ("import tensorflow as tf", "keras.utils.set_random_seed(0)", "tf.keras.utils.set_random_seed(0)"),
        ("import tensorflow as tf", "tensorflow.random.set_seed(0)", "tf.random.set_seed(0)"),
        ("import jax.numpy as jnp\nimport jax", "jax.numpy.zeros(3) + jax.random.key(0)", "jnp.zeros(3) + jax.random.key(0)"),
        ("import torch.nn as nn", "torch.manual_seed(0)", "torch.manual_seed(0)"),
    ],
)  # fmt: skip
def test_a_fix_has_the_names_under_which_the_script_imports_modules(
    imports: str, fix: str, wanted: str
) -> None:
    names = module_names([ast.parse(imports)])
    assert in_names_of(names, fix) == wanted


def test_a_command_keeps_the_names_of_modules() -> None:
    names = {"torch.distributed": "dist", "torch": "torch"}
    fix = "PYTHONHASHSEED=0 python -m torch.distributed.run train.py"
    code = entry("late-hash-seed").code
    cause = Cause(code=code, title="", confidence="suspected", remedy=fix, fix_from="check")
    assert with_names_of(names, cause).remedy == fix
    drawn = replace(cause, code="RC301", remedy="torch.distributed.barrier()", fix_from="catalogue")
    assert say(with_names_of(names, drawn).remedy) == "dist.barrier()"
