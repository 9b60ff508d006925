"""Decides which environment variables a report shows: those that bear on numbers.

They are a closed list, and plain numbers under other names, such as `SEED=17`. Standard library
only.
"""

from __future__ import annotations

import re

# Sources, by line: Python and dynamic loader documentation; OpenMP, MKL, OpenBLAS, BLIS and oneDNN
# references, glibc's malloc tunables; CUDA, cuBLAS, cuDNN, NCCL and Transformer Engine; ROCm; CANN,
# HCCL and ATB environment variable references and what msprobe's `seed_all` sets; MindSpore;
# PyTorch, Triton, FlashAttention, Accelerate, DeepSpeed; XLA, TensorFlow, JAX.
# fmt: off
PREFIXES = (
    "OMP_", "GOMP_", "KMP_", "MKL_", "OPENBLAS_", "BLIS_", "VECLIB_", "NUMEXPR_", "ONEDNN_",
    "DNNL_", "NPY_", "MALLOC_",
    "CUBLAS_", "CUBLASLT_", "CUDNN_", "CUDA_", "NCCL_", "NVTE_",
    "HIP_", "HIPBLASLT_", "ROCBLAS_", "MIOPEN_", "HSA_",
    "ASCEND_", "ACL_", "ACLNN_", "ATB_", "HCCL_", "LCCL_", "TE_",
    "MS_",
    "TORCH_", "PYTORCH_", "TORCHINDUCTOR_", "TORCHDYNAMO_", "AOT_", "ATEN_", "TRITON_",
    "FLASH_ATTENTION_", "ACCELERATE_",
    "XLA_", "JAX_", "TF_AUTOTUNE", "TF_CUBLAS_", "TF_CUDNN_", "TF_DETERMINISTIC_", "TF_DISABLE_",
    "TF_ENABLE_", "TF_FORCE_", "TF_FP16_",
    # not all of TF_: Terraform uses it too
    "TF_GPU_", "TF_NUM_", "TF_ONEDNN_", "TF_USE_", "TF_XLA_",
)
RANK = frozenset({
    "RANK", "LOCAL_RANK", "GROUP_RANK", "ROLE_RANK", "NODE_RANK", "RANK_ID", "DEVICE_ID",
    "OMPI_COMM_WORLD_RANK",
    "OMPI_COMM_WORLD_LOCAL_RANK", "PMI_RANK", "SLURM_PROCID", "SLURM_LOCALID",
})
NAMES = RANK | {
    "PYTHONHASHSEED", "PYTHONMALLOC", "PYTHONOPTIMIZE", "PYTHON_GIL", "LD_PRELOAD",
    "LD_LIBRARY_PATH", "GLIBC_TUNABLES",
    "NVIDIA_TF32_OVERRIDE", "NVIDIA_VISIBLE_DEVICES",
    "TASK_QUEUE_ENABLE", "COMBINED_ENABLE", "INF_NAN_MODE_ENABLE", "CLOSE_MATMUL_K_SHIFT",
    "RANK_SIZE",
    "DS_ACCELERATOR", "KERAS_BACKEND",
    "WORLD_SIZE", "LOCAL_WORLD_SIZE", "GROUP_WORLD_SIZE", "ROLE_WORLD_SIZE", "OMPI_COMM_WORLD_SIZE",
    "PMI_SIZE",
    "SLURM_NTASKS",
}
# fmt: on
_DEVICE_CHOICE = {
    "CUDA_VISIBLE_DEVICES",
    "ASCEND_RT_VISIBLE_DEVICES",
    "ASCEND_DEVICE_ID",
    "ACCELERATE_TORCH_DEVICE",
}
OF_THE_RANK = frozenset(
    {"cpu.affinity", "torch.cuda.current_device", "torch.npu.current_device"}
    | {f"variable.{name}" for name in RANK | _DEVICE_CHOICE}
)
"""Keys that may differ between the ranks of one run; between two runs of the same rank they may
not.
"""
NEVER = frozenset({"MS_NODE_ID"})
"""Ids under an allowed prefix: what differs from process to process by nature is no fact."""

_BY_NATURE = re.compile(
    r"_(PORTS?|ADDR|ADDRESS|PID|RUN_ID|SOCKET|HOST|HOSTNAME|IP)$|ERROR_FILE|PORT_RANGE"
)
_SECRET_NAME = re.compile(r"TOKEN|SECRET|PASSW|CREDENTIAL|KEY|AUTH(?!O)|COOKIE|CERT", re.IGNORECASE)

_SECRET_VALUE = re.compile(
    r"(?i:token|secret|passw(or)?d|api[-_]?key|access[-_]?key)\s*[=:]"
    r"|\b(hf|ghp|gho|ghs|pat|glpat|xox[abprs]|sk|pk|rk)[-_][\w-]{10,}|\bAKIA\w{12,}|-----BEGIN"
)
"""Stricter than `redaction`, which masks a part of a text: a variable is left out whole."""

_PLAIN = re.compile(r"[\w,+-]{0,14}")
"""Shorter than any token, and without a letter that each address or path has."""
_NUMBER = re.compile(r"[-+]?\d{1,20}(\.\d{0,20})?([eE][-+]?\d{1,3})?")
# fmt: off
_OF_SESSIONS = (
    "SSH_", "XDG_", "DBUS_", "GPG_", "TMUX", "TERM", "VTE_", "KITTY_", "WT_", "HIST", "MAKE",
    "BASH", "VSCODE_", "PYTEST_", "REPROCHECK_",
    "OMPI_", "PMIX_", "PMI_", "PRTE_", "HYDRA_", "SLURM_", "PBS_", "LSB_", "TORCHELASTIC_",
    "KUBERNETES_", "GITHUB_", "CI_", "BUILD_",
)
# fmt: on
"""Beginnings of names that shells, sessions, launchers and services give to numbers of their
own.
"""
_OF_PROCESSES = frozenset(
    {
        "PORT",
        "PID",
        "PPID",
        "FD",
        "JOBID",
        "RANK",
        "UID",
        "EUID",
        "GID",
        "SHLVL",
        "LINES",
        "COLUMNS",
        "WINDOWID",
        "ID",
    }
)
"""Parts of the names of numbers that differ from process to process by nature."""

_PERSONAL = frozenset({"PIN", "OTP", "PHONE", "ACCOUNT", "CARD", "CODE"})
"""Parts of the names of numbers that identify somebody."""


def listed(name: str) -> bool:
    """Return whether a variable of this name bears on numbers or randomness in any program."""
    return name in NAMES or name.startswith(PREFIXES)


def is_number_of_the_user(name: str, value: str) -> bool:
    """Return whether a variable of any other name holds a number, such as `SEED=17`.

    A script may read such a variable.
    """
    if listed(name) or name.startswith(_OF_SESSIONS) or not _NUMBER.fullmatch(value):
        return False
    return (_OF_PROCESSES | _PERSONAL).isdisjoint(name.upper().split("_"))


def allowed(name: str, value: str) -> bool:
    """Return whether a variable bears on numbers or randomness and may be shown.

    Its value must be the same in a second run, and must not look like a secret.
    """
    if not listed(name) and not is_number_of_the_user(name, value):
        return False
    if name in NEVER or _BY_NATURE.search(name):
        return False
    return not _SECRET_NAME.search(name) and not _SECRET_VALUE.search(value)


def shown(name: str, value: str) -> str:
    """Return the value of a variable, masked.

    E-mail and network addresses, names of network cards and home folders of other users are hidden.
    """
    if _PLAIN.fullmatch(value) and not name.upper().endswith("IFNAME"):
        return value
    # its many patterns cost a process 5 ms, and most variables hold a number or a word
    from .redaction import Redactor

    return Redactor().variable(name, value)


_WILD = re.compile(r"[*?[]")


def fixed_start(pattern: str) -> str:
    """Return the beginning that all paths have that match a pattern.

    >>> fixed_start("/runs/step-*/model.pt")
    '/runs/step-'
    """
    return _WILD.split(pattern, maxsplit=1)[0]
