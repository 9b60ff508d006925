"""Tell the environment of run 1 as `python -m torch.utils.collect_env` does.

Maintainers of PyTorch ask for that in an issue.

All of it was recorded with the runs, on their machine. What was not, or is not there, is *Could not
collect*, and what PyTorch has nothing to say of is *N/A*, as that program says it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from reprocheck.model import Check
from reprocheck.report.document import facts
from reprocheck.report.text import fact, joined

Facts = Mapping[str, object]
UNKNOWN = "Could not collect"
NOTHING = "N/A"
ALLOCATORS = (
    "variable.PYTORCH_CUDA_ALLOC_CONF",
    "variable.PYTORCH_HIP_ALLOC_CONF",
    "variable.PYTORCH_ALLOC_CONF",
)
LIBRARIES = (
    *("torch", "numpy", "triton", "onnx", "mypy", "flake8", "optree", "intel", "mkl", "nvidia"),
    *("jax", "mindspore", "tensorflow", "keras", "flax", "lightning", "pytorch", "transformers"),
)
"""Beginnings of the packages that are listed: PyTorch's own list, and further frameworks."""


def text(check: Check) -> str:
    """Return the environment, line by line."""
    return "\n".join(lines(facts(check)))


def lines(known: Facts) -> Iterator[str]:
    """Yield `name: value` for each field, in the order of PyTorch's `collect_env`."""
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


def _one(*keys: str) -> Value:
    """Return the first of these facts that is known."""

    def value(known: Facts) -> str:
        found = (fact(known[key]) for key in keys if known.get(key) not in (None, ""))
        return next(found, "")

    return value


def _flag(key: str) -> Value:
    """Return a function that shows a fact as `True` or `False`."""

    def value(known: Facts) -> str:
        return str(bool(known[key])) if key in known else ""

    return value


def _of_torch(value: Value, none: str = "") -> Value:
    """Return a function for a fact that only programs with PyTorch have.

    `none`: its text if PyTorch lacks the fact.
    """

    def said(known: Facts) -> str:
        if "torch.version" in known:
            return value(known) or none
        is_known_to_lack_it = "python.version" in known and "package.torch" not in known
        return NOTHING if is_known_to_lack_it else ""

    return said


def _of_cuda(value: Value) -> Value:
    """Return a function for a fact that only machines with CUDA have."""

    def said(known: Facts) -> str:
        return value(known) or {"False": "No CUDA"}.get(_is_cuda_available(known), "")

    return said


def _system(known: Facts) -> str:
    release, machine = _one("platform.release", "platform.system"), _one("platform.machine")
    return f"{release(known)} ({machine(known)})" if release(known) else ""


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
    """Return "True" or "False"; "" if PyTorch could use a device but the training did not."""
    if known.get("torch.cuda.devices"):
        return "True"
    if "torch.version" in known and {"torch.cuda_build", "torch.hip_build"}.isdisjoint(known):
        return "False"
    return ""


def _is_xpu_available(known: Facts) -> str:
    return "False" if known.get("torch.xpu_build") is False else ""


def _of_hip(known: Facts) -> str:
    return "" if "torch.hip_build" in known else NOTHING


def _module_loading(known: Facts) -> str:
    asked = _one("variable.CUDA_MODULE_LOADING")(known)
    return asked or {"False": NOTHING}.get(_is_cuda_available(known), "")


_GROUPS: tuple[tuple[tuple[str, Value], ...], ...] = (
    (
        ("PyTorch version", _of_torch(_one("torch.version"))),
        ("Is debug build", _of_torch(_flag("torch.debug_build"))),
        ("CUDA used to build PyTorch", _of_torch(_one("torch.cuda_build"), "None")),
        ("ROCM used to build PyTorch", _of_torch(_one("torch.hip_build"), NOTHING)),
    ),
    (
        ("OS", _system),
        ("GCC version", _one("gcc.version")),
        ("Clang version", _one("clang.version")),
        ("CMake version", _one("cmake.version")),
        ("Libc version", _libc),
    ),
    (
        ("Python version", _python),
        ("Python platform", _platform),
        ("Is CUDA available", _of_torch(_is_cuda_available)),
        ("CUDA runtime version", _of_cuda(_one("nvcc.version"))),
        ("CUDA_MODULE_LOADING set to", _of_torch(_module_loading)),
        ("GPU models and configuration", _of_cuda(_one("torch.cuda.devices", "torch.npu.devices"))),
        ("Nvidia driver version", _of_cuda(_one("driver.nvidia", "torch.cuda.driver"))),
        ("cuDNN version", _of_cuda(_one("torch.cuda.cudnn"))),
        ("Is XPU available", _of_torch(_is_xpu_available)),
        ("HIP runtime version", _of_torch(_of_hip)),
        ("MIOpen runtime version", _of_torch(_of_hip)),
        ("Is XNNPACK available", _of_torch(_flag("torch.xnnpack.enabled"))),
        ("Caching allocator config", _of_torch(_one(*ALLOCATORS), NOTHING)),
    ),
)


def _libraries(known: Facts) -> Iterator[str]:
    for key, version in sorted(known.items()):
        name = key.removeprefix("package.")
        if name != key and name.startswith(LIBRARIES):
            yield f"[pip3] {name}=={fact(version)}"
