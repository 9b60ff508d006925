"""Controls for Keras 3 on any backend: put in place right after its own import, before the script's
next line.

Seeds of layers come from Python's `random`, which the control `seed` has seeded by then; the
backend's own generators are the backend's.
"""

import functools
import inspect
import sys
from typing import Any, Callable

DROPOUT = (
    "Dropout",
    "AlphaDropout",
    "GaussianDropout",
    "SpatialDropout1D",
    "SpatialDropout2D",
    "SpatialDropout3D",
)
"""Layers that drop (Keras 3.15, keras.layers, regularization layers)."""


def install(keras: Any, active: Any) -> None:
    """Put the controls that are on in place; one that cannot act says so, and the others act."""
    for control, act in ACTS:
        if active.on(control):
            try:
                act(keras, active)
            except Exception as error:
                active.unavailable(control, "in keras %s: %r" % (keras.__version__, error))


def single_worker(keras: Any, active: Any) -> None:
    """A `PyDataset` is read by the process itself."""
    kind = keras.utils.PyDataset
    real = kind.__init__

    @functools.wraps(real)
    def __init__(dataset: Any, *args: Any, **kwargs: Any) -> None:  # noqa: N807
        real(dataset, *args, **kwargs)
        if dataset.workers != 1 or dataset.use_multiprocessing:
            active.touched("single-worker", "keras.utils.PyDataset", dataset.workers)
            dataset.workers, dataset.use_multiprocessing = 1, False

    kind.__init__ = __init__


def data_order(keras: Any, active: Any) -> None:
    """`fit` takes the samples in their order."""
    for owner in _trainers(keras):
        real = vars(owner)["fit"]

        @functools.wraps(real)
        def fit(model: Any, *args: Any, _real: Callable[..., Any] = real, **kwargs: Any) -> Any:
            if kwargs.get("shuffle", True) and len(args) < 9:
                active.touched("data-order", "keras.Model.fit")
                kwargs["shuffle"] = False
            return _real(model, *args, **kwargs)

        owner.fit = fit


def dropout_off(keras: Any, active: Any) -> None:
    """Layers that drop have rate 0, and so have recurrent and attention layers that drop inside."""
    for name in DROPOUT:
        kind = getattr(keras.layers, name, None)
        if kind is not None and "__init__" in vars(kind):
            _without_rate(kind, name, active)
    from keras.src.backend import random

    real = random.dropout

    @functools.wraps(real)
    def dropout(inputs: Any, rate: Any, *args: Any, **kwargs: Any) -> Any:
        active.touched("dropout-off", "keras.random.dropout")
        return inputs

    random.dropout = dropout


def _without_rate(kind: Any, name: str, active: Any) -> None:
    real = kind.__init__

    @functools.wraps(real)
    def __init__(layer: Any, *args: Any, **kwargs: Any) -> None:  # noqa: N807
        real(layer, *args, **kwargs)
        if getattr(layer, "rate", 0):
            active.touched("dropout-off", "keras.layers." + name, layer.rate)
            layer.rate = 0

    # Keras reads the names of the arguments
    __init__.__signature__ = inspect.signature(real)  # type: ignore[attr-defined]
    kind.__init__ = __init__


def augment_off(keras: Any, active: Any) -> None:
    """Random layers of `keras.layers` (`RandomFlip`, `RandomCrop`, `MixUp`…) hand their input on,
    resized where they resize.
    """
    from keras.src.layers.preprocessing.image_preprocessing import base_image_preprocessing_layer

    base = base_image_preprocessing_layer.BaseImagePreprocessingLayer
    for name, kind in vars(keras.layers).items():
        if (
            isinstance(kind, type)
            and issubclass(kind, base)
            and (name.startswith("Rand") or name in ("MixUp", "CutMix", "AugMix"))
        ):
            _identity(kind, name, active)


def _identity(kind: Any, name: str, active: Any) -> None:
    real = kind.call

    @functools.wraps(real)
    def call(layer: Any, data: Any, training: Any = True) -> Any:
        active.touched("augment-off", "keras.layers." + name)
        return real(layer, data, training=False)

    kind.call = call


def _trainers(keras: Any) -> Any:
    """The trainer classes of the backend in use that define `fit`."""
    module = sys.modules.get("keras.src.backend.%s.trainer" % keras.backend.backend())
    return (
        [kind for kind in vars(module).values() if isinstance(kind, type) and "fit" in vars(kind)]
        if module
        else []
    )


ACTS = (
    ("single-worker", single_worker),
    ("data-order", data_order),
    ("dropout-off", dropout_off),
    ("augment-off", augment_off),
)
"""Control and what it does, in the order in which they act."""
