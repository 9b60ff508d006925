"""The controls for JAX: the compiler, orders and layers that drop.

Its keys are explicit: a key that the script takes from the clock or the system is a matter of the
controls `clock` and `entropy`.
"""

import functools
import inspect
import os
import subprocess
import sys
from importlib.util import find_spec
from typing import Any, List, Tuple

from ...recorder import import_hook
from ...recorder.hooking import replace

FLAGS = ("--xla_gpu_deterministic_ops=true", "--xla_gpu_autotune_level=0")
"""XLA's flags for the same kernels in every run (openxla.org, XLA flags; jax#13672)."""
ACCELERATED = ("jax_cuda12_plugin", "jax_cuda13_plugin", "jax_rocm60_plugin", "jax_rocm7_plugin")
"""Packages that give JAX a GPU. Without one of them there is nothing that the flags would
change.
"""
THREADS = "PJRT_NPROC"
"""Variable from which XLA takes how many processors the CPU has, and with it the number of its
threads (xla/pjrt/utils.cc).
"""
_PROBE_SECONDS = 60


def deterministic(jax: Any, active: Any) -> None:
    """Set deterministic flags of the XLA compiler, which reads them when a device is first used.

    A flag unknown to XLA would end the process.
    """
    if not any(find_spec(name) for name in ACCELERATED):
        return
    given = os.environ.get("XLA_FLAGS", "")
    remaining, wanted = _flags(active, given)
    if wanted and not known(" ".join([*remaining, *wanted])):
        refused = [flag for flag in wanted if not known(" ".join([*remaining, flag]))]
        wanted = [flag for flag in wanted if flag not in refused]
        active.unavailable(
            "deterministic",
            "jaxlib does not start with XLA_FLAGS=%s" % " ".join([*remaining, *refused]),
        )
    if wanted:
        os.environ["XLA_FLAGS"] = " ".join([*remaining, *wanted])
        active.touched("deterministic", "XLA_FLAGS", os.environ["XLA_FLAGS"])


def _flags(active: Any, given: str) -> Tuple[List[str], List[str]]:
    """Return (flags of the user to keep, our flags to add).

    A flag to which the user gave another value keeps that value, unless the control overrides.
    """
    remaining, wanted = given.split(), []
    for flag in FLAGS:
        name = flag.partition("=")[0]
        theirs = [word for word in remaining if word.partition("=")[0] == name]
        contrary = next((word for word in theirs if word != flag), None)
        if contrary is not None and not active.override:
            active.conflict("deterministic", "XLA_FLAGS", contrary, flag)
        elif contrary is not None or not theirs:
            wanted.append(flag)
            if contrary is not None:
                active.overridden("deterministic", "XLA_FLAGS", contrary, flag)
                remaining = [word for word in remaining if word not in theirs]
    return remaining, wanted


def known(flags: str) -> bool:
    """Return whether a test process survives the flags, so that XLA knows all of them."""
    environment = {
        name: value
        for name, value in os.environ.items()
        if name not in ("REPROCHECK_CHILD", "PYTHONPATH")
    }
    environment.update(XLA_FLAGS=flags, JAX_PLATFORMS="cpu")
    command = [sys.executable, "-c", "import jax; jax.devices()"]
    probe = subprocess.run(
        command,
        env=environment,
        timeout=_PROBE_SECONDS,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    return probe.returncode == 0


def no_compile(jax: Any, active: Any) -> None:
    """Run functions operator by operator.

    The results differ in some bits from those of the compiled program.
    """
    jax.config.update("jax_disable_jit", True)
    active.touched("no-compile", "jax_disable_jit", True)


def single_thread(jax: Any, active: Any) -> None:
    """Set one thread for programs on the CPU; JAX reads it when a device is first used."""
    given = os.environ.get(THREADS)
    if given not in (None, "1") and not active.override:
        active.conflict("single-thread", THREADS, given, "1")
        return
    if given not in (None, "1"):
        active.overridden("single-thread", THREADS, given, "1")
    os.environ[THREADS] = "1"
    active.touched("single-thread", THREADS, "1")


def data_order(jax: Any, active: Any) -> None:
    """Let `jax.random.permutation` return its input in order if the script calls it."""

    def in_order(real: Any) -> Any:
        def permutation(key: Any, x: Any, *args: Any, **kwargs: Any) -> Any:
            if not active.users_module():
                return real(key, x, *args, **kwargs)
            active.touched("data-order", "jax.random.permutation")
            return jax.numpy.asarray(x) if getattr(x, "ndim", 0) else jax.numpy.arange(x)

        return permutation

    replace(jax.random, "permutation", in_order)


def dropout_off(jax: Any, active: Any) -> None:
    """Make dropout layers of flax return their input, and attention layers drop nothing."""
    for module in ("flax.linen.stochastic", "flax.nnx.nn.stochastic"):
        import_hook.when_imported(module, functools.partial(_layers, active))
    for module in ("flax.linen.attention", "flax.nnx.nn.attention"):
        import_hook.when_imported(module, functools.partial(_attention, active))


def _layers(active: Any, module: Any) -> None:
    kind = getattr(module, "Dropout", None)
    if kind is None:
        active.unavailable("dropout-off", "%s has no Dropout" % module.__name__)
        return

    def __call__(layer: Any, inputs: Any, *args: Any, **kwargs: Any) -> Any:  # noqa: N807
        active.touched("dropout-off", module.__name__ + ".Dropout")
        return inputs

    replace(kind, "__call__", lambda real: __call__)


def _attention(active: Any, module: Any) -> None:
    names: List[str] = [
        name
        for name, function in vars(module).items()
        if inspect.isfunction(function) and function.__module__ == module.__name__
    ]
    for name in names:
        signature = inspect.signature(getattr(module, name))
        if "dropout_rate" in signature.parameters and name.startswith("dot_product_attention"):
            what = "%s.%s" % (module.__name__, name)
            replace(module, name, functools.partial(_undropped, active, what, signature))


def _undropped(active: Any, what: str, signature: Any, real: Any) -> Any:
    def attention(*args: Any, **kwargs: Any) -> Any:
        try:
            bound = signature.bind(*args, **kwargs)
        except TypeError:
            return real(*args, **kwargs)  # which says what is wrong
        if bound.arguments.get("dropout_rate"):
            active.touched("dropout-off", what)
            bound.arguments["dropout_rate"] = 0.0
        return real(*bound.args, **bound.kwargs)

    return attention


ACTS = (
    ("deterministic", ("deterministic",)),
    ("single_thread", ("single-thread",)),
    ("dropout_off", ("dropout-off",)),
    ("data_order", ("data-order",)),
    ("no_compile", ("no-compile",)),
)
"""What acts, and the control that needs it, in the order in which they act."""
