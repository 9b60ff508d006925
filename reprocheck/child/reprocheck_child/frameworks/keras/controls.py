"""The controls for Keras 3 on any backend, put in place right after its own import.

The script's next line runs later.

Seeds of layers come from Python's `random`, which the control `seed` has seeded by then; the
backend's own generators are the backend's.
"""

import inspect
import sys
from typing import Any

from ...recorder.hooking import around, replace

DROPOUT = (
    "Dropout",
    "AlphaDropout",
    "GaussianDropout",
    "SpatialDropout1D",
    "SpatialDropout2D",
    "SpatialDropout3D",
)
"""Layers that drop (Keras 3.15, keras.layers, regularization layers)."""


def single_worker(keras: Any, active: Any) -> None:
    """Make `fit` read a `PyDataset` in the training process itself, without workers."""

    def made(_: None, dataset: Any, *args: Any, **kwargs: Any) -> None:
        if dataset.workers != 1 or dataset.use_multiprocessing:
            active.touched("single-worker", "keras.utils.PyDataset", dataset.workers)
            dataset.workers, dataset.use_multiprocessing = 1, False

    around(keras.utils.PyDataset, "__init__", "controls: single-worker", after=made)


def data_order(keras: Any, active: Any) -> None:
    """Make `fit` take the samples in the order of the data set."""

    def in_order(real: Any) -> Any:
        def fit(model: Any, *args: Any, **kwargs: Any) -> Any:
            if kwargs.get("shuffle", True) and len(args) < 9:
                active.touched("data-order", "keras.Model.fit")
                kwargs["shuffle"] = False
            return real(model, *args, **kwargs)

        return fit

    module = sys.modules.get("keras.src.backend.%s.trainer" % keras.backend.backend())
    for kind in list(vars(module).values()) if module else ():
        if isinstance(kind, type) and "fit" in vars(kind):
            replace(kind, "fit", in_order)


def dropout_off(keras: Any, active: Any) -> None:
    """Set the rate of dropout layers to 0, also inside recurrent and attention layers."""
    for name in DROPOUT:
        kind = getattr(keras.layers, name, None)
        if kind is not None and "__init__" in vars(kind):
            _without_rate(kind, name, active)
    from keras.src.backend import random

    def dropout(inputs: Any, rate: Any, *args: Any, **kwargs: Any) -> Any:
        active.touched("dropout-off", "keras.random.dropout")
        return inputs

    replace(random, "dropout", lambda real: dropout)


def _without_rate(kind: Any, name: str, active: Any) -> None:
    signature = inspect.signature(kind.__init__)

    def made(_: None, layer: Any, *args: Any, **kwargs: Any) -> None:
        if getattr(layer, "rate", 0):
            active.touched("dropout-off", "keras.layers." + name, layer.rate)
            layer.rate = 0

    around(kind, "__init__", "controls: dropout-off", after=made)
    # Keras reads the names of the arguments, and does not look through `__wrapped__`
    kind.__init__.__signature__ = signature


def augment_off(keras: Any, active: Any) -> None:
    """Make random layers of `keras.layers` return their input, resized if they resize.

    Examples are `RandomFlip`, `RandomCrop`, `MixUp`.
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
    def identity(real: Any) -> Any:
        def call(layer: Any, data: Any, training: Any = True) -> Any:
            active.touched("augment-off", "keras.layers." + name)
            return real(layer, data, training=False)

        return call

    replace(kind, "call", identity)


ACTS = (
    ("single_worker", ("single-worker",)),
    ("data_order", ("data-order",)),
    ("dropout_off", ("dropout-off",)),
    ("augment_off", ("augment-off",)),
)
"""What acts, and the control that needs it, in the order in which they act."""
