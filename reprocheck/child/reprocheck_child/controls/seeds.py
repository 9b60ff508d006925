"""The control `seed`: the default generators of Python and NumPy are seeded at their import.

So nobody can draw from them before.

Python seeds the generator of a forked process from the system: there it is seeded again. A spawned
process learns which one it is only when it prepares itself: what was seeded before is seeded again
then. Whatever the script seeds itself comes later, and wins.
"""

from __future__ import annotations

import os
import sys

from ..deep_levels.generator_states import NumpyState, PythonState
from ..recorder import import_hook
from ..recorder.hooking import guarded, replace
from .seeded_draws import Drawn

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Callable

    from .active_controls import Active

NAME = "seed"
_NO_DRAWS = ("seed", "get_state", "set_state")
"""Functions of `numpy.random` that draw nothing."""
_watched: dict[str, Drawn] = {}


def install(active: Active) -> None:
    """Seed `random` and `numpy.random`, and again in worker processes."""
    seeding = guarded("seeding")
    import_hook.when_imported("random", seeding(lambda module: _python(active, module)))
    import_hook.when_imported("numpy.random", seeding(lambda module: _numpy(active, module)))
    if "--multiprocessing-fork" in getattr(sys, "orig_argv", sys.argv):
        import_hook.when_imported(
            "multiprocessing.spawn", seeding(lambda module: _spawned(active, module))
        )


def _python(active: Active, module: Any) -> None:
    hidden = module._inst  # the generator behind the functions of `random`; it has no public name
    drawn = _drawn(active, module, "random", PythonState())
    for name in ("random", "getrandbits"):  # all others call these
        replace(hidden, name, drawn.drawing)
        setattr(module, name, getattr(hidden, name))
    _seed(active, hidden.seed, "random.seed", drawn)

    @guarded("seeding")
    def after_fork() -> None:
        _seed(active, hidden.seed, "random.seed in a forked process", None)

    os.register_at_fork(after_in_child=after_fork)


def _numpy(active: Active, module: Any) -> None:
    seed = module.seed  # before it is watched
    drawn = _drawn(active, module, "numpy.random", NumpyState())
    hidden = module.mtrand._rand  # the generator behind the functions of `numpy.random`
    for name in set(module.__all__).difference(_NO_DRAWS):
        if getattr(getattr(module, name), "__self__", None) is hidden:
            replace(module, name, drawn.drawing, also=(module.mtrand,))
    _seed(active, seed, "numpy.random.seed", drawn)


def _drawn(active: Active, module: Any, generator: str, state: Callable[[], bytes]) -> Drawn:
    """Return the watch on a generator; the same one if a spawned process seeds it again."""
    if generator not in _watched:
        _watched[generator] = Drawn(active, generator, state)
        _watched[generator].watch(module, "seed")
    return _watched[generator]


def _seed(
    active: Active, function: Callable[[int], object], what: str, drawn: Drawn | None
) -> None:
    """Seed a generator by `function`, called `what` in the report.

    `drawn` finds out whether the seed changed anything; without `drawn`, it counts as a change.
    """
    if active.spares(NAME, what.partition(".seed")[0]):
        return
    seed = active.process_seed()
    function(seed)
    active.touched(NAME, what, seed, setting=drawn is not None)
    if drawn is not None:
        drawn.seeded()


def _spawned(active: Active, module: Any) -> None:
    def prepare(real: Callable[[Any], None]) -> Callable[[Any], None]:
        def wrapper(data: Any) -> None:
            _again(active, data)
            real(data)

        return wrapper

    replace(module, "prepare", prepare)


@guarded("seeding a spawned process")
def _again(active: Active, data: Any) -> None:
    """Seed again in a spawned process, once its name, and so its number, is known."""
    sys.modules["multiprocessing.process"].current_process().name = data["name"]
    for name, seeder in (("random", _python_again), ("numpy.random", _numpy)):
        if name in sys.modules:
            seeder(active, sys.modules[name])


def _python_again(active: Active, module: Any) -> None:
    # private: the functions of `random` are methods of this one object
    _seed(active, module._inst.seed, "random.seed", _drawn(active, module, "random", PythonState()))
