"""Which environment variables belong into a report: an allow-list of those that bear on numbers and randomness. Standard library only."""

from __future__ import annotations

import re

# Sources, by line: Python and dynamic loader documentation; OpenMP, MKL, OpenBLAS, BLIS and oneDNN references, glibc's malloc tunables;
# CUDA, cuBLAS, cuDNN, NCCL and Transformer Engine; ROCm; CANN, HCCL and ATB environment variable references and what msprobe's `seed_all`
# sets; MindSpore; PyTorch, Triton, FlashAttention, Accelerate, DeepSpeed; XLA, TensorFlow, JAX.
# fmt: off
PREFIXES = (
    "OMP_", "GOMP_", "KMP_", "MKL_", "OPENBLAS_", "BLIS_", "VECLIB_", "NUMEXPR_", "ONEDNN_", "DNNL_", "NPY_", "MALLOC_",
    "CUBLAS_", "CUBLASLT_", "CUDNN_", "CUDA_", "NCCL_", "NVTE_",
    "HIP_", "HIPBLASLT_", "ROCBLAS_", "MIOPEN_", "HSA_",
    "ASCEND_", "ACL_", "ACLNN_", "ATB_", "HCCL_", "LCCL_", "TE_",
    "MS_",
    "TORCH_", "PYTORCH_", "TORCHINDUCTOR_", "TORCHDYNAMO_", "AOT_", "ATEN_", "TRITON_", "FLASH_ATTENTION_", "ACCELERATE_",
    "XLA_", "JAX_", "TF_AUTOTUNE", "TF_CUBLAS_", "TF_CUDNN_", "TF_DETERMINISTIC_", "TF_DISABLE_", "TF_ENABLE_", "TF_FORCE_", "TF_FP16_",
    "TF_GPU_", "TF_NUM_", "TF_ONEDNN_", "TF_USE_", "TF_XLA_",  # not all of TF_: Terraform uses it too
)
RANK = frozenset({
    "RANK", "LOCAL_RANK", "GROUP_RANK", "ROLE_RANK", "NODE_RANK", "RANK_ID", "DEVICE_ID", "OMPI_COMM_WORLD_RANK",
    "OMPI_COMM_WORLD_LOCAL_RANK", "PMI_RANK", "SLURM_PROCID", "SLURM_LOCALID",
})
NAMES = RANK | {
    "PYTHONHASHSEED", "PYTHONMALLOC", "PYTHONOPTIMIZE", "PYTHON_GIL", "LD_PRELOAD", "LD_LIBRARY_PATH", "GLIBC_TUNABLES",
    "NVIDIA_TF32_OVERRIDE", "NVIDIA_VISIBLE_DEVICES",
    "TASK_QUEUE_ENABLE", "COMBINED_ENABLE", "INF_NAN_MODE_ENABLE", "CLOSE_MATMUL_K_SHIFT", "RANK_SIZE",
    "DS_ACCELERATOR", "KERAS_BACKEND",
    "WORLD_SIZE", "LOCAL_WORLD_SIZE", "GROUP_WORLD_SIZE", "ROLE_WORLD_SIZE", "OMPI_COMM_WORLD_SIZE", "PMI_SIZE",
    "SLURM_NTASKS",
}
# fmt: on
NEVER = frozenset({"MS_NODE_ID"})
"""Ids under an allowed prefix: what differs from process to process by nature is no fact."""

_BY_NATURE = re.compile(r"_(PORTS?|ADDR|ADDRESS|PID|RUN_ID|SOCKET|HOST|HOSTNAME|IP)$|ERROR_FILE|PORT_RANGE")
_SECRET_NAME = re.compile(r"TOKEN|SECRET|PASSW|CREDENTIAL|KEY|AUTH(?!O)|COOKIE|CERT", re.IGNORECASE)
_SECRET_VALUE = re.compile(
    r"(?i:token|secret|passw(or)?d|api[-_]?key|access[-_]?key)\s*[=:]"
    r"|\b(hf|ghp|gho|ghs|pat|glpat|xox[abprs]|sk|pk|rk)[-_][\w-]{10,}|\bAKIA\w{12,}|-----BEGIN"
)


def allowed(name: str, value: str) -> bool:
    """Whether the variable bears on numbers or randomness, is the same in a second run, and looks like no secret."""
    if name not in NAMES and not name.startswith(PREFIXES):
        return False
    if name in NEVER or _BY_NATURE.search(name):
        return False
    return not _SECRET_NAME.search(name) and not _SECRET_VALUE.search(value)
