"""Controls for TensorFlow: put in place right after its own import, before the script's next
line.
"""

import functools
from typing import Any, Callable

_NONDETERMINISTIC = "tf.random.Generator.from_non_deterministic_state"


def install(tensorflow: Any, active: Any) -> None:
    """Put the controls that are on in place; one that cannot act says so, and the others act."""
    for control, act in ACTS:
        if active.on(control):
            try:
                act(tensorflow, active)
            except Exception as error:
                active.unavailable(
                    control, "in tensorflow %s: %r" % (tensorflow.__version__, error)
                )


def seed(tensorflow: Any, active: Any) -> None:
    """Seed the global generator. What the script seeds later itself, wins."""
    number = active.process_seed()
    tensorflow.random.set_seed(number)
    active.touched("seed", "tf.random.set_seed", number)


def generators(control: str) -> Callable[[Any, Any], None]:
    """Generators that take their state from the system get one of an exact stream."""

    def act(tensorflow: Any, active: Any) -> None:
        kind = tensorflow.random.Generator
        real = kind.from_non_deterministic_state

        @functools.wraps(real)
        def from_non_deterministic_state(*args: Any, **kwargs: Any) -> Any:
            number = active.number(control, _NONDETERMINISTIC) >> 1
            active.touched(control, _NONDETERMINISTIC, number)
            return kind.from_seed(number, *args, **kwargs)

        if getattr(real, "__name__", "") and not hasattr(real, "__wrapped__"):
            kind.from_non_deterministic_state = staticmethod(from_non_deterministic_state)

    return act


def deterministic(tensorflow: Any, active: Any) -> None:
    """Operators with a deterministic kernel use it, those without raise; random operators must be
    seeded then.
    """
    tensorflow.config.experimental.enable_op_determinism()
    active.touched("deterministic", "tf.config.experimental.enable_op_determinism", True)


def single_thread(tensorflow: Any, active: Any) -> None:
    """One thread inside an operator and between operators; a later call of the script is a
    conflict, or overridden.
    """
    threading = tensorflow.config.threading
    for name in ("set_intra_op_parallelism_threads", "set_inter_op_parallelism_threads"):
        real = getattr(threading, name)
        real(1)
        active.touched("single-thread", "tf.config.threading." + name, 1)
        setattr(threading, name, _one_thread(active, name, real))


def _one_thread(active: Any, name: str, real: Callable[[int], None]) -> Callable[[int], None]:
    @functools.wraps(real)
    def set_threads(num_threads: int) -> None:
        if num_threads == 1 or not active.override:
            if num_threads != 1:
                active.conflict("single-thread", "tf.config.threading." + name, num_threads, 1)
            real(num_threads)
        else:
            active.overridden("single-thread", "tf.config.threading." + name, num_threads, 1)

    return set_threads


def single_worker(tensorflow: Any, active: Any) -> None:
    """`tf.data` maps and interleaves one element after the other, in order."""
    for name in ("map", "interleave"):
        _in_turn(tensorflow.data.Dataset, name, active)


def _in_turn(kind: Any, name: str, active: Any) -> None:
    real = getattr(kind, name)

    @functools.wraps(real)
    def in_turn(dataset: Any, *args: Any, **kwargs: Any) -> Any:
        # of num_parallel_calls among the arguments behind self
        place = {"map": 1, "interleave": 3}[name]
        if len(args) > place or kwargs.get("num_parallel_calls") is not None:
            active.touched("single-worker", "tf.data.Dataset." + name)
            args = args[:place]
            kwargs.update(num_parallel_calls=None, deterministic=None)
        return real(dataset, *args, **kwargs)

    setattr(kind, name, in_turn)


def data_order(tensorflow: Any, active: Any) -> None:
    """`tf.data.Dataset.shuffle` hands the elements on in their order."""
    kind = tensorflow.data.Dataset
    real = kind.shuffle

    @functools.wraps(real)
    def shuffle(dataset: Any, *args: Any, **kwargs: Any) -> Any:
        active.touched("data-order", "tf.data.Dataset.shuffle")
        return dataset

    kind.shuffle = shuffle


def dropout_off(tensorflow: Any, active: Any) -> None:
    """`tf.nn.dropout` and its relatives hand their input on."""
    places = [(tensorflow.nn, "dropout")]
    places += [
        (tensorflow.nn.experimental, name) for name in ("stateless_dropout", "general_dropout")
    ]
    for module, name in places:
        real = getattr(module, name, None)
        if real is not None:
            setattr(module, name, _handed_on(active, name, real))


def _handed_on(active: Any, name: str, real: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(real)
    def dropout(x: Any, *args: Any, **kwargs: Any) -> Any:
        active.touched("dropout-off", "tf.nn." + name)
        import tensorflow

        return tensorflow.convert_to_tensor(x)

    return dropout


ACTS = (
    ("seed", seed),
    ("private-rng", generators("private-rng")),
    ("entropy", generators("entropy")),
    ("deterministic", deterministic),
    ("single-thread", single_thread),
    ("single-worker", single_worker),
    ("data-order", data_order),
    ("dropout-off", dropout_off),
)
"""Control and what it does, in the order in which they act."""
