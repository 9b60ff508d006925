"""Controls for JAX: its keys are explicit, so what is left is where a key comes from, the compiler, and layers that drop.

A key that the script takes from the clock or the system is what the controls `clock` and `entropy` answer, where it asks.
"""

import functools
import os
import subprocess
import sys
from importlib.util import find_spec
from typing import Any

from ... import import_hook

FLAGS = ("--xla_gpu_deterministic_ops=true", "--xla_gpu_autotune_level=0")
"""XLA's flags for the same kernels in every run (openxla.org, XLA flags; jax#13672)."""
ACCELERATED = ("jax_cuda12_plugin", "jax_cuda13_plugin", "jax_rocm60_plugin", "jax_rocm7_plugin")
"""Packages that give JAX a GPU. Without one of them there is nothing that the flags would change."""
_PROBE_SECONDS = 60


def install(jax: Any, active: Any) -> None:
    """Put the controls that are on in place; one that cannot act says so, and the others act."""
    for control, act in ACTS:
        if active.on(control):
            try:
                act(jax, active)
            except Exception as error:
                active.unavailable(control, "in jax %s: %r" % (jax.__version__, error))


def deterministic(jax: Any, active: Any) -> None:
    """Flags for the compiler, which reads them when the first device is used. One that it does not know would end the process."""
    if not any(find_spec(name) for name in ACCELERATED):
        return
    given = os.environ.get("XLA_FLAGS", "")
    missing = [flag for flag in FLAGS if flag.split("=")[0] not in given]
    wanted = " ".join([given, *missing]).strip()
    if missing and _known(wanted):
        os.environ["XLA_FLAGS"] = wanted
        active.touched("deterministic", "XLA_FLAGS", wanted)
    elif missing:
        active.unavailable("deterministic", "jaxlib does not know the flags " + " ".join(missing))


def _known(flags: str) -> bool:
    """Whether a process of its own survives the flags."""
    environment = {name: value for name, value in os.environ.items() if name not in ("REPROCHECK_CHILD", "PYTHONPATH")}
    environment.update(XLA_FLAGS=flags, JAX_PLATFORMS="cpu")
    command = [sys.executable, "-c", "import jax; jax.devices()"]
    probe = subprocess.run(command, env=environment, timeout=_PROBE_SECONDS, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    return probe.returncode == 0


def dropout_off(jax: Any, active: Any) -> None:
    """Dropout layers of flax hand their input on."""
    for module in ("flax.linen.stochastic", "flax.nnx.nn.stochastic"):
        import_hook.when_imported(module, functools.partial(_layers, active))


def _layers(active: Any, module: Any) -> None:
    kind = getattr(module, "Dropout", None)
    if kind is None:
        active.unavailable("dropout-off", "%s has no Dropout" % module.__name__)
        return
    real = kind.__call__

    @functools.wraps(real)
    def __call__(layer: Any, inputs: Any, *args: Any, **kwargs: Any) -> Any:  # noqa: N807
        active.touched("dropout-off", module.__name__ + ".Dropout")
        return inputs

    kind.__call__ = __call__


def no_compile(jax: Any, active: Any) -> None:
    """Functions run operator by operator. Other bits than those of the compiled program."""
    jax.config.update("jax_disable_jit", True)
    active.touched("no-compile", "jax_disable_jit", True)


ACTS = (
    ("deterministic", deterministic),
    ("dropout-off", dropout_off),
    ("no-compile", no_compile),
)
"""Control and what it does, in the order in which they act."""
