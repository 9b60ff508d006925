"""Describes the settings of PyTorch and torch_npu that bear on numbers, as facts."""

from typing import Any, Callable, Iterator, Tuple

from ...process.environment import probed

Fact = Tuple[str, object]
Probe = Callable[[], object]


def torch_facts(torch: Any) -> Iterator[Fact]:
    backends = torch.backends
    yield from probed(
        "torch.",
        (
            ("version", lambda: torch.__version__),
            ("git_version", lambda: torch.version.git_version),
            ("build", lambda: _digest(torch.__config__.show())),
            ("cuda_build", lambda: torch.version.cuda),
            ("hip_build", lambda: torch.version.hip),
            ("debug_build", lambda: torch.version.debug),
            ("xpu_build", lambda: torch.xpu._is_compiled()),
            ("cpu_capability", lambda: backends.cpu.get_cpu_capability()),
            ("threads", lambda: torch.get_num_threads()),
            ("interop_threads", lambda: torch.get_num_interop_threads()),
            ("default_dtype", lambda: torch.get_default_dtype()),
            ("deterministic_algorithms", lambda: torch.are_deterministic_algorithms_enabled()),
            (
                "deterministic_warn_only",
                lambda: torch.is_deterministic_algorithms_warn_only_enabled(),
            ),
            (
                "fill_uninitialized_memory",
                lambda: torch.utils.deterministic.fill_uninitialized_memory,
            ),
            ("float32_matmul_precision", lambda: torch.get_float32_matmul_precision()),
            ("cudnn.enabled", lambda: backends.cudnn.enabled),
            ("cudnn.benchmark", lambda: backends.cudnn.benchmark),
            ("cudnn.deterministic", lambda: backends.cudnn.deterministic),
            ("cudnn.tf32", lambda: _tf32(backends.cudnn, "conv")),
            ("cuda.matmul.tf32", lambda: _tf32(backends.cuda.matmul)),
            ("mkldnn.enabled", lambda: backends.mkldnn.enabled),
            ("mkldnn.deterministic", lambda: backends.mkldnn.deterministic),
            # its public module is one that a script imports by itself
            ("xnnpack.enabled", lambda: torch._C._is_xnnpack_enabled()),
        ),
    )
    for kind in ("cuda", "npu"):
        device = getattr(torch, kind, None)
        # asking an uninitialised device anything would create a context
        if device is not None and device.is_initialized():
            yield from _device(torch, kind, device)


def _tf32(backend: Any, part: str = "") -> object:
    """Return whether TF32 is allowed, read from the newest flag that this version of torch has.

    Newer versions warn or raise when the old flag is read.
    """
    new = backend
    if part:
        new = getattr(backend, part, backend)
    precision = getattr(new, "fp32_precision", None)
    if precision is None:
        return backend.allow_tf32
    return precision


def _device(torch: Any, kind: str, device: Any) -> Iterator[Fact]:
    count = device.device_count()

    def of_cuda(probe: Probe) -> Probe:
        return probe if kind == "cuda" else lambda: None

    yield from probed(
        f"torch.{kind}.",
        (
            ("devices", lambda: ", ".join(device.get_device_name(index) for index in range(count))),
            ("current_device", lambda: device.current_device()),
            ("capability", of_cuda(lambda: device.get_device_capability())),
            ("cudnn", of_cuda(lambda: torch.backends.cudnn.version())),
            ("driver", of_cuda(lambda: torch._C._cuda_getDriverVersion())),
            ("nccl", of_cuda(lambda: ".".join(map(str, device.nccl.version())))),
        ),
    )


def npu_facts(torch_npu: Any) -> Iterator[Fact]:
    yield from probed(
        "torch_npu.",
        (
            ("version", lambda: torch_npu.__version__),
            ("git_version", lambda: torch_npu.version.git_version),
        ),
    )


def _digest(text: str) -> str:
    import hashlib

    return hashlib.blake2b(text.encode("utf-8"), digest_size=8).hexdigest()
