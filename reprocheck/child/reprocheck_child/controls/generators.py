"""The control `private-rng`: a generator made without a seed gets a fixed seed.

So does a generator that is seeded from OS entropy. `entropy` does the same if the user's own module
asks for OS entropy. One place in NumPy serves all its generators: the entropy of SeedSequence.
"""

from __future__ import annotations

import sys

from ..recorder import import_hook
from ..recorder.hooking import guarded, like, replace

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Callable

    from .active_controls import Active

PRIVATE, ENTROPY = "private-rng", "entropy"
_BITS = 8
_NO_GENERATORS = ("secrets", "uuid", "tempfile", __name__)
"""Modules that draw through `random.SystemRandom` for something else: this one for NumPy."""


def install(active: Active) -> None:
    """Replace the seeding of generators when their modules are imported."""
    seeded = guarded("generators without a seed")
    import_hook.when_imported("random", seeded(lambda module: _python(active, module)))
    import_hook.when_imported("numpy.random", seeded(lambda module: _numpy(active, module)))


def acting(active: Active, skip: int = 1) -> str:
    """Return the control that replaces a seed from OS entropy for this caller; "" if none does."""
    if active.on(PRIVATE) and sys._getframe(skip + 1).f_globals.get("__name__") != "tempfile":
        return PRIVATE
    if active.on(ENTROPY) and active.asked_by_user(skip + 1):
        return ENTROPY
    return ""


def _python(active: Active, module: Any) -> None:
    real = module.Random.seed

    def seed(self: Any, a: Any = None, version: int = 2) -> None:
        if a is None:
            control = acting(active, 1 + (sys._getframe(1).f_code is constructor))
            if control:
                number = active.number(control, "random")  # the others keep theirs
                what = "seed" if self is hidden else type(self).__name__
                if not active.spares(control):
                    a = number
                    active.touched(control, "random.%s without a seed" % what)
        elif type(a) is not int and isinstance(a, int):
            a = int(a)  # a process id that `entropy` has fixed
        real(self, a, version)

    # the generator whose methods are the functions of the module; it has no public name
    hidden, constructor = module._inst, module.Random.__init__.__code__
    module.Random.seed = like(seed, real)
    module.seed = hidden.seed
    if active.on(PRIVATE):
        _system(active, module)


def _system(active: Active, module: Any) -> None:
    """Replace `random.SystemRandom` for the user's own modules.

    Draws of `secrets` through it are not replaced: they belong to no generator of the user's.
    """

    def make(real: Callable[[int], bytes]) -> Callable[[int], bytes]:
        def urandom(size: int) -> bytes:
            if not (_from_generator() and active.asked_by_user()):
                return real(size)
            fixed = active.bytes(PRIVATE, "random.SystemRandom", size)
            if active.spares(PRIVATE):  # the others keep their numbers
                return real(size)
            active.touched(PRIVATE, "random.SystemRandom")
            return fixed

        return urandom

    # the name under which `random` has taken `os.urandom`, long before this
    replace(module, "_urandom", make)


def _from_generator() -> bool:
    frame: Any = sys._getframe(2)
    while frame is not None and frame.f_globals.get("__name__") == "random":
        frame = frame.f_back
    return frame is not None and frame.f_globals.get("__name__") not in _NO_GENERATORS


def _numpy(active: Active, module: Any) -> None:
    def make(real: Callable[[int], int]) -> Callable[[int], int]:
        def randbits(k: int) -> int:
            control = acting(active)
            if not control:
                return real(k)
            size = -(-k // _BITS)
            number = int.from_bytes(active.bytes(control, "numpy", size), "little")
            if active.spares(control):  # the others keep their numbers
                return real(k)
            active.touched(control, "a seed of numpy.random")
            return number >> (size * _BITS - k)

        return randbits

    # `secrets.randbits` as `SeedSequence` calls it: by the name that its own module has for it
    if not replace(module.bit_generator, "randbits", make):
        for control in (PRIVATE, ENTROPY):
            if active.on(control):
                active.unavailable(control, "this NumPy takes its entropy from elsewhere")
