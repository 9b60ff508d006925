"""The controls `seed`, `private-rng` and `entropy` for MindSpore.

Its generators: the global seed (initializers, datasets, random functions and cells), the default
generator of `mint`, `Generator` objects, and operators that were built without seeds, which seed
themselves whatever the global seed is.
"""

import sys
from typing import Any, Dict, Tuple

from ....recorder.hooking import guarded, replace
from .replacements import with_other_arguments

SEED, PRIVATE, ENTROPY = "seed", "private-rng", "entropy"
PERIOD = (1 << 31) - 1
"""MindSpore takes seeds modulo this, and takes 0 for no seed."""

_DRAWING = (
    "TruncatedNormal", "StandardNormal", "StandardLaplace", "RandomGamma", "Gamma",
    "ParameterizedTruncatedNormal", "Poisson", "RandomPoisson", "UniformInt", "UniformReal",
    "RandomChoiceWithMask", "Multinomial", "RandomShuffle",
)  # fmt: skip
"""Operators of `random_ops` that take two seeds."""
SEEDED = (
    ("mindspore.ops.auto_generate.gen_ops_prim", "Dropout", ("Seed0", "Seed1"), 0),
    ("mindspore.ops.operations.math_ops", "Bernoulli", ("seed",), -1),
    ("mindspore.ops.operations.nn_ops", "FractionalMaxPool", ("seed", "seed2"), 0),
    ("mindspore.ops.operations.nn_ops", "FractionalAvgPool", ("seed", "seed2"), 0),
    *(("mindspore.ops.operations.random_ops", name, ("seed", "seed2"), 0) for name in _DRAWING),
)
"""Module and class of an operator, its seeds, and the value that stands for none.

From the signatures in MindSpore 2.10.
"""


def seed(mindspore: Any, active: Any) -> None:
    """Set the seeds of the global, the default (`mint`) and the dataset generators.

    `random` and numpy keep their states.
    """
    import random

    import numpy

    if active.spares(SEED, "mindspore"):
        return
    value = active.process_seed()
    value += value > 0 and value % PERIOD == 0
    states = random.getstate(), numpy.random.get_state()
    mindspore.set_seed(value)
    mindspore.manual_seed(value)
    mindspore.dataset.config.set_seed(value)
    random.setstate(states[0])
    numpy.random.set_state(states[1])
    for name in ("set_seed", "manual_seed", "dataset.config.set_seed"):
        active.touched(SEED, "mindspore." + name, value)


def reseeding(mindspore: Any, active: Any) -> None:
    """Replace `Generator().seed()` and `mindspore.seed()`, which take a seed from OS entropy."""
    generators = sys.modules["mindspore.common.generator"]

    def following(real: Any) -> Any:
        def seed(generator: Any) -> Any:
            with guarded("a seed from the system"):
                skip = 2 if sys._getframe(1).f_globals is vars(generators) else 1
                by_entropy = ENTROPY if active.users_module(skip) else ""
                control = PRIVATE if active.on(PRIVATE) else by_entropy
                value = active.number(control, "mindspore.Generator") >> 32 if control else 0
                if control and not active.spares(control, skip=skip):
                    generator.manual_seed(value)
                    active.touched(control, "mindspore.Generator.seed", value, skip)
                    return value
            return real(generator)

        return seed

    replace(generators.Generator, "seed", following)


def private_operators(mindspore: Any, active: Any) -> None:
    """Give operators that are built without a seed a fixed seed.

    Operators that the library builds while no global seed is set are left to the control `seed`.
    """
    seeds = sys.modules["mindspore.common.seed"]
    for module, name, parameters, missing in SEEDED:
        kind = getattr(sys.modules.get(module), name, None)
        if kind is not None:
            _hook(active, seeds, kind, parameters, missing)


def _hook(active: Any, seeds: Any, kind: Any, parameters: Tuple[str, ...], missing: int) -> None:
    def change(given: Dict[str, Any]) -> None:
        # the frame above those of the recorder is the one that makes the operator
        ours = missing == -1 or seeds.get_seed() is not None or active.users_module(2)
        if ours and all(given[name] == missing for name in parameters):
            numbers = [active.number(PRIVATE, kind.__name__) for _ in parameters]
            if active.spares(PRIVATE):
                return
            given.update(zip(parameters, (number % (PERIOD - 1) + 1 for number in numbers)))
            active.touched(PRIVATE, "mindspore.ops.%s without a seed" % kind.__name__)

    with_other_arguments(kind, "an operator without a seed", change)
