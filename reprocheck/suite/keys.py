"""The environment key of a check, and the facts beside it.

In the key stands what may change numbers without a fault of anybody's, so that curves of another
key are not held against each other as if they were to agree:

framework  its name and version: a release changes kernels and defaults. Where the training uses
           none, NumPy; where it does not use that either, Python
device     the model of the accelerators that the training uses, else of the processor: kernels,
           widths of vectors and orders of sums are chosen by it
driver     of these accelerators, and CANN: it holds compilers and libraries of kernels
ranks      sums over ranks are added in another order
threads    sums over threads are added in another order
options    of the target: its arguments and variables, the number of iterations, controls

Everything else (packages, variables, the kernel, the host's C library) is kept beside the key: it
is not to change numbers, and where numbers move it is what is looked at.
"""

from __future__ import annotations

import shlex
from collections.abc import Mapping

from reprocheck.model import Check, Run
from reprocheck.settings import OPTIONS, plain
from reprocheck.suite.execution.job import option_words
from reprocheck.suite.model import Key, Target

FRAMEWORKS = ("torch", "torch_npu", "mindspore", "tensorflow", "keras", "jax", "jaxlib")
INSTEAD = ("numpy", "python")
"""What a training that uses none of them computes with."""
ACCELERATORS = ("torch.cuda.devices", "torch.npu.devices")
"""Facts with the models of all visible devices, a comma between them."""
DRIVERS = ("driver.nvidia", "driver.ascend", "torch.cuda.driver", "cann.version")
THREADS = ("torch.threads", "variable.OMP_NUM_THREADS", "cpu.usable")
"""Facts that say how many threads compute, the best one first."""
CHANGING = ("steps", "control", "seed", "deterministic", "no_dropout", "all_controls", "python")
"""Options of `run` that may change numbers."""


def key_of(check: Check, target: Target) -> Key:
    """The key of a check that was made of a target; of its first run and lowest rank."""
    facts = environment(check)
    run = check.runs[0]
    found = {
        **_frameworks(facts),
        "device": _device(facts),
        "driver": ", ".join(facts[name] for name in DRIVERS if name in facts),
        "ranks": str(_ranks(run)),
        "threads": next((facts[name] for name in THREADS if name in facts), ""),
        "options": _options(check, target),
    }
    return Key(facts={name: value for name, value in found.items() if value})


def beside(check: Check) -> dict[str, str]:
    """All recorded facts of the environment of run 1 that the key does not hold by themselves."""
    in_key = {
        *ACCELERATORS,
        *DRIVERS,
        *(f"{name}.version" for name in FRAMEWORKS),
        *(f"package.{name.replace('_', '-')}" for name in FRAMEWORKS),
    }
    return {name: value for name, value in environment(check).items() if name not in in_key}


def environment(check: Check) -> dict[str, str]:
    """The recorded environment of run 1: of its processes, and of its lowest rank."""
    run = check.runs[0]
    facts = dict(run.environment)
    for trace in run.traces[:1]:
        facts.update(trace.environment)
    return {name: str(value) for name, value in sorted(facts.items())}


def _frameworks(facts: Mapping[str, str]) -> dict[str, str]:
    """Framework -> version."""
    used = {name: facts[f"{name}.version"] for name in FRAMEWORKS if f"{name}.version" in facts}
    if used:
        return used
    for name in INSTEAD:
        if f"{name}.version" in facts:
            return {name: facts[f"{name}.version"]}
    return {}


def _device(facts: Mapping[str, str]) -> str:
    """`NVIDIA H100`; several models with a comma between them."""
    models = [
        model.strip() for name in ACCELERATORS for model in facts.get(name, "").split(",") if model
    ]
    if models:
        return ", ".join(dict.fromkeys(models))
    target = facts.get("mindspore.device_target", "CPU")
    processor = facts.get("cpu.model", "")
    if target == "CPU":
        return processor
    return f"{target}, {processor}"


def _ranks(run: Run) -> int:
    return run.world or len(run.traces) or 1


def _options(check: Check, target: Target) -> str:
    """`--steps 20 train.py --lr 0.1`, with the variables of the target before it.

    Options as they held, wherever they were set; those that have their defaults are left out.
    """
    held = {setting.name: setting.value for setting in check.record.settings}
    given = {
        option.name: held[option.name]
        for option in OPTIONS
        if option.name in CHANGING and held.get(option.name) != plain(option, option.default)
    }
    variables = [f"{name}={value}" for name, value in sorted(target.environment.items())]
    return shlex.join((*variables, *option_words(given), *target.words))
