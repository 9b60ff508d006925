"""The environment of run 1 in the words of PyTorch's `python -m torch.utils.collect_env`: what
maintainers of PyTorch ask for in an issue.

What reprocheck does not record is *Could not collect*, as that program says it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from reprocheck.model import Check
from reprocheck.report.document import facts
from reprocheck.report.text import fact, joined

Facts = Mapping[str, object]
UNKNOWN = "Could not collect"
LIBRARIES = (
    *("torch", "numpy", "triton", "onnx", "mypy", "flake8", "optree", "intel", "mkl", "nvidia"),
    *("jax", "mindspore", "tensorflow", "keras", "flax", "lightning", "pytorch", "transformers"),
)
"""Beginnings of the packages that are listed: PyTorch's own list, and further frameworks."""


def text(check: Check) -> str:
    """The environment, line by line."""
    return "\n".join(lines(facts(check)))


def lines(known: Facts) -> Iterator[str]:
    """`name: value` for each field, in PyTorch's order, with its empty lines."""
    for group in _GROUPS:
        for name, value in group:
            yield f"{name}: {value(known) or UNKNOWN}"
        yield ""
    yield "CPU:"
    yield f"Architecture: {_one('platform.machine')(known) or UNKNOWN}"
    yield f"CPU(s): {_one('cpu.count')(known) or UNKNOWN}"
    yield f"Model name: {_one('cpu.model')(known) or UNKNOWN}"
    yield from ("", "Versions of relevant libraries:")
    yield from _libraries(known)


Value = Callable[[Facts], str]


def _one(*keys: str, none: str = "") -> Value:
    """The first of these facts that is known; `none` where PyTorch is there and has none."""

    def value(known: Facts) -> str:
        found = [fact(known[key]) for key in keys if known.get(key) not in (None, "")]
        if found:
            return found[0]
        return none if "torch.version" in known else ""

    return value


def _system(known: Facts) -> str:
    system, machine = _one("platform.system")(known), _one("platform.machine")(known)
    return f"{system} ({machine})" if system else ""


def _libc(known: Facts) -> str:
    return _one("platform.libc")(known).replace(" ", "-")


def _python(known: Facts) -> str:
    version, build = _one("python.version")(known), _one("python.build")(known)
    return joined(" ", version, build)


def _platform(known: Facts) -> str:
    parts = (_one(f"platform.{name}")(known) for name in ("system", "kernel", "machine"))
    libc = _libc(known)
    return joined("-", *parts, f"with-{libc}" if libc else "")


def _is_cuda_available(known: Facts) -> str:
    if "torch.version" not in known:
        return ""
    return str(bool(known.get("torch.cuda.devices")))


def _nothing(known: Facts) -> str:
    return ""


_GROUPS: tuple[tuple[tuple[str, Value], ...], ...] = (
    (
        ("PyTorch version", _one("torch.version")),
        ("Is debug build", _nothing),
        ("CUDA used to build PyTorch", _one("torch.cuda_build", none="None")),
        ("ROCM used to build PyTorch", _one("torch.hip_build", none="N/A")),
    ),
    (
        ("OS", _system),
        ("GCC version", _nothing),
        ("Clang version", _nothing),
        ("CMake version", _nothing),
        ("Libc version", _libc),
    ),
    (
        ("Python version", _python),
        ("Python platform", _platform),
        ("Is CUDA available", _is_cuda_available),
        ("CUDA runtime version", _nothing),
        ("CUDA_MODULE_LOADING set to", _one("variable.CUDA_MODULE_LOADING")),
        ("GPU models and configuration", _one("torch.cuda.devices", "torch.npu.devices")),
        ("Nvidia driver version", _one("driver.nvidia", "torch.cuda.driver")),
        ("cuDNN version", _one("torch.cuda.cudnn")),
        ("Is XPU available", _nothing),
        ("HIP runtime version", _nothing),
        ("MIOpen runtime version", _nothing),
        ("Is XNNPACK available", _nothing),
        ("Caching allocator config", _nothing),
    ),
)


def _libraries(known: Facts) -> Iterator[str]:
    for key, version in sorted(known.items()):
        name = key.removeprefix("package.")
        if name != key and name.startswith(LIBRARIES):
            yield f"[pip3] {name}=={fact(version)}"
