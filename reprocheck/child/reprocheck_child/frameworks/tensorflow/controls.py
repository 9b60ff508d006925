"""The controls for TensorFlow, put in place right after its own import.

The script's next line runs later.
"""

import functools
from typing import Any, Callable

from ...recorder.hooking import like, replace

_NONDETERMINISTIC = "tf.random.Generator.from_non_deterministic_state"


def seed(tensorflow: Any, active: Any) -> None:
    """Seed the global generator; a later seed of the script replaces this one."""
    if active.spares("seed", "tf"):
        return
    number = active.process_seed()
    tensorflow.random.set_seed(number)
    active.touched("seed", "tf.random.set_seed", number)


def private_rng(tensorflow: Any, active: Any) -> None:
    """Give generators made without a seed a seed from a fixed stream, for every caller."""
    _generators("private-rng", tensorflow, active)


def entropy(tensorflow: Any, active: Any) -> None:
    """Give generators a seed from a fixed stream if the user's code asks for OS entropy."""
    _generators("entropy", tensorflow, active)


def _generators(control: str, tensorflow: Any, active: Any) -> None:
    """Replace OS entropy in new generators by a fixed stream, for the control `control`."""
    kind = tensorflow.random.Generator
    real = kind.from_non_deterministic_state

    def from_non_deterministic_state(*args: Any, **kwargs: Any) -> Any:
        number = active.number(control, _NONDETERMINISTIC) >> 1
        if active.spares(control):
            return real(*args, **kwargs)
        active.touched(control, _NONDETERMINISTIC, number)
        return kind.from_seed(number, *args, **kwargs)

    if not hasattr(real, "__wrapped__"):  # the other of the two controls is not there yet
        new = like(from_non_deterministic_state, real)
        kind.from_non_deterministic_state = staticmethod(new)


def deterministic(tensorflow: Any, active: Any) -> None:
    """Make operators use their deterministic kernel; an operator without one raises an error.

    Random operators then require a seed.
    """
    tensorflow.config.experimental.enable_op_determinism()
    active.touched("deterministic", "tf.config.experimental.enable_op_determinism", True)


def single_thread(tensorflow: Any, active: Any) -> None:
    """Set one thread inside an operator and one between operators.

    A later call of the script is reported as a conflict, or overridden.
    """
    threading = tensorflow.config.threading
    for name in ("set_intra_op_parallelism_threads", "set_inter_op_parallelism_threads"):
        getattr(threading, name)(1)
        active.touched("single-thread", "tf.config.threading." + name, 1)
        replace(threading, name, functools.partial(_one_thread, active, name))


def _one_thread(active: Any, name: str, real: Callable[[int], None]) -> Callable[[int], None]:
    def set_threads(num_threads: int) -> None:
        if num_threads == 1 or not active.override:
            if num_threads != 1:
                active.conflict("single-thread", "tf.config.threading." + name, num_threads, 1)
            real(num_threads)
        else:
            active.overridden("single-thread", "tf.config.threading." + name, num_threads, 1)

    return set_threads


def single_worker(tensorflow: Any, active: Any) -> None:
    """Make `tf.data` map and interleave one element after the other, in order."""
    for name, place in (("map", 1), ("interleave", 3)):
        make = functools.partial(_in_turn, active, name, place)
        replace(tensorflow.data.Dataset, name, make)


def _in_turn(active: Any, name: str, place: int, real: Callable[..., Any]) -> Callable[..., Any]:
    """Return the index of the argument num_parallel_calls, not counting self."""

    def in_turn(dataset: Any, *args: Any, **kwargs: Any) -> Any:
        if len(args) > place or kwargs.get("num_parallel_calls") is not None:
            active.touched("single-worker", "tf.data.Dataset." + name)
            args = args[:place]
            kwargs.update(num_parallel_calls=None, deterministic=None)
        return real(dataset, *args, **kwargs)

    return in_turn


def data_order(tensorflow: Any, active: Any) -> None:
    """Make `tf.data.Dataset.shuffle` return the elements in their order."""

    def shuffle(dataset: Any, *args: Any, **kwargs: Any) -> Any:
        active.touched("data-order", "tf.data.Dataset.shuffle")
        return dataset

    replace(tensorflow.data.Dataset, "shuffle", lambda real: shuffle)


def dropout_off(tensorflow: Any, active: Any) -> None:
    """Make `tf.nn.dropout` and related functions return their input."""
    places = [(tensorflow.nn, "dropout")]
    places += [
        (tensorflow.nn.experimental, name) for name in ("stateless_dropout", "general_dropout")
    ]
    for module, name in places:
        replace(module, name, functools.partial(_handed_on, tensorflow, active, name))


def _handed_on(tensorflow: Any, active: Any, name: str, _: Any) -> Callable[..., Any]:
    def dropout(x: Any, *args: Any, **kwargs: Any) -> Any:
        active.touched("dropout-off", "tf.nn." + name)
        return tensorflow.convert_to_tensor(x)

    return dropout


ACTS = (
    ("seed", ("seed",)),
    ("private_rng", ("private-rng",)),
    ("entropy", ("entropy",)),
    ("deterministic", ("deterministic",)),
    ("single_thread", ("single-thread",)),
    ("single_worker", ("single-worker",)),
    ("data_order", ("data-order",)),
    ("dropout_off", ("dropout-off",)),
)
"""What acts, and the control that needs it, in the order in which they act."""
