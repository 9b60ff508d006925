"""`reprocheck env`: the environment variables of controls, as lines for a shell or a job script."""

from __future__ import annotations

import os
import shlex
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from reprocheck.cli.parameters import option, with_settings
from reprocheck.errors import UsageError
from reprocheck.language.letters import small

if TYPE_CHECKING:
    from reprocheck.settings.controls import Control

MEANINGS: Mapping[str, str] = {
    "PYTHONHASHSEED": "order of sets of strings",
    "CUDA_LAUNCH_BLOCKING": "CUDA: the CPU waits for each kernel",
    "ASCEND_LAUNCH_BLOCKING": "Ascend: the CPU waits for each kernel",
    "CUBLAS_WORKSPACE_CONFIG": "cuBLAS: a workspace for each stream, of a fixed size",
    "NCCL_ALGO": "NCCL: one algorithm, so sums over GPUs are added in a fixed order",
    "HCCL_DETERMINISTIC": "HCCL: sums over NPUs are added in a fixed order",
    "LCCL_DETERMINISTIC": "LCCL: the same inside one server",
    "TE_PARALLEL_COMPILER": "CANN: operators are compiled one after the other",
    "CLOSE_MATMUL_K_SHIFT": "CANN: matrix products add in a fixed order",
    "ATB_LLM_LCOC_ENABLE": "ATB: no overlap of computing and communicating",
    "FLASH_ATTENTION_DETERMINISTIC": "flash-attn: deterministic backward pass",
    "MAMBA_DETERMINISTIC": "mamba-ssm: deterministic backward pass",
    "NVTE_ALLOW_NONDETERMINISTIC_ALGO": "Transformer Engine: deterministic attention",
    "TF_DETERMINISTIC_OPS": "TensorFlow: deterministic operators; random ones need a seed",
    "OMP_NUM_THREADS": "OpenMP: one thread",
    "MKL_NUM_THREADS": "MKL: one thread",
    "OPENBLAS_NUM_THREADS": "OpenBLAS: one thread",
    "BLIS_NUM_THREADS": "BLIS: one thread",
    "NUMEXPR_NUM_THREADS": "NumExpr: one thread",
    "NUMBA_NUM_THREADS": "Numba: one thread",
    "POLARS_MAX_THREADS": "Polars: one thread",
    "RAYON_NUM_THREADS": "Rayon, which tokenizers use: one thread",
    "TF_NUM_INTRAOP_THREADS": "TensorFlow: one thread inside an operator",
    "TF_NUM_INTEROP_THREADS": "TensorFlow: one operator at a time",
    "TORCH_COMPILE_DISABLE": "torch.compile returns what it is given",
    "TORCHDYNAMO_DISABLE": "the same, for older versions of PyTorch",
}
"""What each variable of the table does, in a few words; one that is not here is printed without."""

SHELLS: Mapping[str, Callable[[str, str], str]] = {
    "sh": lambda name, value: f"export {name}={shlex.quote(value)}",
    "fish": lambda name, value: f"set -gx {name} {shlex.quote(value)}",
    "powershell": lambda name, value: f"$env:{name} = '{value}'",
}
"""A line that sets a variable, by shell."""

IN_SCRIPT: Mapping[str, str] = {
    "seed": "reprocheck.seed_all({seed})  # after the imports",
    "deterministic": "reprocheck.seed_all({seed}, mode=True)  # after the imports",
    "single-thread": (
        "torch.set_num_interop_threads(1), mindspore.device_context.cpu.op_tuning.threads_num(1)"
    ),
}
"""What a control does inside the process, that variables cannot, as code for the script."""


@with_settings("control", "seed", "deterministic", "all_controls")
def env(
    flags: dict[str, object],
    shell: Annotated[
        str,
        option("--shell", metavar="|".join(SHELLS), help="The syntax of the lines. [sh]"),
    ] = "sh",
) -> int:
    """Print the variables that the controls need before Python starts."""
    from reprocheck import settings
    from reprocheck.cli.terminal import standard_output
    from reprocheck.settings import controls

    if shell not in SHELLS:
        raise UsageError(f"--shell {shell}: env has no such shell.", f"Take {', '.join(SHELLS)}.")
    held = settings.load(flags, Path.cwd())
    wanted = [*held.controls]
    if "seed" in wanted:
        wanted.append("hash-seed")
    names = controls.ordered(wanted)
    if not names:
        raise UsageError(
            "env needs a control.", "Name one: `reprocheck env --seed 0 --deterministic`."
        )
    text = (
        "\n".join(lines(map(controls.control, names), held.seed, SHELLS[shell], os.environ)) + "\n"
    )
    standard_output().data(text.encode(errors="surrogateescape"))
    return 0


def lines(
    wanted: Iterable[Control],
    seed: int,
    assign: Callable[[str, str], str],
    current: Mapping[str, str],
) -> Iterator[str]:
    """Yield the lines to print: what each control does, its variables, and what they cannot do.

    assign: formats a variable and its value for the shell. current: the present environment; each
    of its values that the lines replace is mentioned.
    """
    from reprocheck.settings.controls import environment

    said: set[str] = set()
    for control in wanted:
        against = {one.variable: one.value for one in environment([control.name], seed, current)[1]}
        variables = {
            name: value
            for name, value in environment([control.name], seed, {})[0].items()
            if "{tmp}" not in control.environment[name]
        }
        if variables:
            yield f"# {control.name}: {small(control.does)}"
        for name in [name for name in variables if name not in said]:
            yield from _assignment(assign(name, variables[name]), name, against)
        said.update(variables)
        if control.name in IN_SCRIPT:
            yield (
                f"# {control.name}{', besides' if variables else ''}, in the script:"
                f" {IN_SCRIPT[control.name].format(seed=seed)}"
            )
        elif not variables or control.launch:
            yield (
                f"# {control.name}: no variable does this; use reprocheck run --control"
                f" {control.name}"
            )


def _assignment(line: str, name: str, against: Mapping[str, str]) -> Iterator[str]:
    if name in MEANINGS:
        line = f"{line}  # {MEANINGS[name]}"
    yield line
    if name in against:
        yield (
            f"# ^ replaces {name}={' '.join(against[name].split())}, which is set here and"
            " contradicts the control"
        )
