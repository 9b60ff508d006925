"""The controls `seed`, `private-rng` and `entropy` for PyTorch.

They act on default generators that nobody seeds, and on generators that are seeded from the system.

The line between them: a default generator whose first seed would come from the system is `seed`'s.
A call that seeds again from the system (`torch.seed`, `torch.cuda.seed`, `Generator.seed` of any
generator) is what `private-rng` and `entropy` answer.
"""

import functools
import sys
from typing import Any, Optional, Tuple

from ....controls.seeded_draws import Drawn
from ....recorder import import_hook
from ....recorder.hooking import set_in_type
from .devices import OPERATORS
from .dispatch import Kernels

_WHAT = "torch.Generator.seed"


def seed(torch: Any, active: Any) -> None:
    """Seed the default generators of all devices; a later seed of the script replaces this one."""
    if active.spares("seed", "torch"):
        return
    number = active.process_seed()
    torch.manual_seed(number)
    active.touched("seed", "torch.manual_seed", number, setting=True)
    drawn = Drawn(active, "torch", lambda: _states(torch))
    drawn.seeded()
    for owner in (torch, torch.random):
        drawn.watch(owner, "manual_seed")
        drawn.asked(owner, "initial_seed")
    kernels = Kernels(torch)
    for operator in OPERATORS:
        real = kernels.original(operator, "CPU")
        if real is not None:
            kernels.replace(operator, "CPU", _telling_of_lines(real, drawn.drawing(real)))

    def late(module: Any) -> None:
        """Seed a backend that is loaded after torch."""
        with active.trying("seed", "torch_npu %s" % getattr(module, "__version__", "?")):
            device: Any = getattr(torch, "npu", None)
            if hasattr(device, "manual_seed_all"):
                device.manual_seed_all(number)
                active.touched("seed", "torch.npu.manual_seed_all", number)

    if "torch_npu" not in sys.modules:
        import_hook.when_imported("torch_npu", late)


def _telling_of_lines(real: Any, telling: Any) -> Any:
    """Return a kernel that reports the script's lines that draw from the default generator.

    Draws for initial weights and for dropout masks are left out.
    """

    def kernel(*args: Any, **kwargs: Any) -> Any:
        frame: Any = sys._getframe().f_back
        while frame is not None and _package(frame) == "reprocheck_child":
            frame = frame.f_back  # the recorder stands between, where it records draws
        # None in a thread of C++
        is_of_layer = frame is None or str(frame.f_globals.get("__name__")).startswith("torch.nn.")
        draws = real if is_of_layer or kwargs.get("generator") is not None else telling
        return draws(*args, **kwargs)

    return kernel


def _states(torch: Any) -> Tuple[Any, bool]:
    """Return the state of the CPU's generator, and whether a device is in use.

    The generators of the device are not read.
    """
    devices = [getattr(torch, name) for name in ("cuda", "xpu", "npu") if hasattr(torch, name)]
    # a version that cannot be asked is taken to have its device in use
    used = any(getattr(device, "is_initialized", lambda: True)() for device in devices)
    return torch.default_generator.get_state().tolist(), used


def reseeding(torch: Any, active: Any) -> None:
    """Give `Generator.seed()` numbers of a fixed stream in place of OS entropy.

    All functions that seed default generators from OS entropy call this method.
    """
    _replace_seed(torch.Generator, active)
    import_hook.when_imported("torch_npu", lambda _: _own_types(torch, active))


def _own_types(torch: Any, active: Any) -> None:
    """Replace `seed` of a backend's generators whose class is not `torch.Generator`."""
    for generator in getattr(getattr(torch, "npu", None), "default_generators", ()):
        if type(generator) is not torch.Generator:
            _replace_seed(type(generator), active)


def _replace_seed(kind: Any, active: Any) -> None:
    real = kind.seed
    if hasattr(real, "__wrapped__"):
        return

    def seed(generator: Any) -> Any:
        """Seed from OS entropy, or from the fixed stream if a control answers the caller."""
        control = _responsible(active)
        if control is None:
            return real(generator)
        # as many bits as PyTorch takes from the system
        number = active.number(control, _WHAT) & ((1 << 53) - 1)
        if active.spares(control):
            return real(generator)
        generator.manual_seed(number)
        active.touched(control, _WHAT, number)
        return number

    set_in_type(kind, "seed", functools.update_wrapper(seed, real))


def _responsible(active: Any) -> Optional[str]:
    """Return which control answers a call of `Generator.seed`: `private-rng` or `entropy`, or None.

    `private-rng` answers every caller; `entropy` only the user's own code, also through torch.
    """
    if "private-rng" in active.names:
        return "private-rng"
    depth = 2
    frame: Any = sys._getframe(depth)
    # packages that seed for whoever calls them
    while frame is not None and _package(frame) in ("torch", "torch_npu", "reprocheck_child"):
        frame, depth = frame.f_back, depth + 1
    if frame is None or not active.users_module(depth):
        return None
    return "entropy"


def _package(frame: Any) -> str:
    return str(frame.f_globals.get("__name__")).partition(".")[0]
