"""The control `augment-off` for MindSpore: random operations become the identity.

They are those of dataset.vision, audio and transforms.

Where an operation also decides the size of the image, its counterpart without randomness takes its
place: a crop in the middle, a resize.
"""

import weakref
from typing import Any, Callable, Dict, List

from ....recorder.hooking import around, replace

NAME = "augment-off"

SOURCE = "https://www.mindspore.cn/docs/en/master/api_python/mindspore.dataset.transforms.html"
"""Where the operations are listed; those below are the ones of MindSpore 2.10 that draw random
numbers.
"""

IDENTITY = {
    "mindspore.dataset.vision.transforms": (
        "AutoAugment", "BoundingBoxAugment", "CutMixBatch", "CutOut", "MixUp", "MixUpBatch",
        "RandAugment", "RandomAdjustSharpness", "RandomAffine", "RandomAutoContrast", "RandomColor",
        "RandomColorAdjust", "RandomEqualize", "RandomErasing", "RandomGrayscale",
        "RandomHorizontalFlip", "RandomHorizontalFlipWithBBox", "RandomInvert", "RandomLighting",
        "RandomPerspective", "RandomPosterize", "RandomRotation", "RandomSelectSubpolicy",
        "RandomSharpness", "RandomSolarize", "RandomVerticalFlip", "RandomVerticalFlipWithBBox",
        "TrivialAugmentWide", "UniformAugment",
    ),
    "mindspore.dataset.audio.transforms": ("Dither", "MaskAlongAxisIID"),
    "mindspore.dataset.transforms.transforms": ("RandomApply",),
}  # fmt: skip
"""Module and operations whose output has the size of their input."""

MASKS = ("FrequencyMasking", "TimeMasking")
"""Operations of dataset.audio that are random where `iid_masks` is on."""

LEFT = ("RandomCropWithBBox",)
"""Operations of dataset.vision that stay: nothing without randomness has the size of their output
and moves the boxes, too.
"""


def augment_off(mindspore: Any, active: Any) -> None:
    """Replace random operations in data pipelines, and in direct calls from Python."""
    from importlib import import_module

    from mindspore.dataset.engine.datasets import MapDataset

    plain = _Plain(active)
    for module, names in IDENTITY.items():
        plain.add(import_module(module), dict.fromkeys(names, _identity))
    plain.add(import_module("mindspore.dataset.audio.transforms"), dict.fromkeys(MASKS, _mask))
    plain.add(import_module("mindspore.dataset.vision.transforms"), SIZED)
    plain.add(import_module("mindspore.dataset.transforms.transforms"), CHOICES)
    plain.hook_maps(MapDataset)


class _Plain:
    """The non-random counterparts of each random operation."""

    def __init__(self, active: Any) -> None:
        self.active = active
        self.counterparts: Dict[type, Callable[[Any], List[Any]]] = {}
        self.sizes: weakref.WeakKeyDictionary[Any, List[Any]] = weakref.WeakKeyDictionary()

    def add(self, module: Any, counterparts: "Dict[str, Callable[[Any], List[Any]]]") -> None:
        """Register the random classes of a module, and replace their direct calls.

        Classes that this version lacks are skipped.
        """
        for name, counterpart in counterparts.items():
            kind = getattr(module, name, None)
            if kind is not None:
                self.counterparts[kind] = counterpart
                self._hook_init(kind)
                self._hook_call(kind)

    def _hook_init(self, kind: Any) -> None:
        """Keep the size given to an operation, because each class stores it differently."""

        def made(_: None, operation: Any, *args: Any, **named: Any) -> None:
            self.sizes[operation] = [named.get("size", args[0] if args else None), named]

        around(kind, "__init__", "controls: augment-off", after=made)

    def _hook_call(self, kind: Any) -> None:
        def plainly(real: Any) -> Any:
            def __call__(operation: Any, *columns: Any) -> Any:  # noqa: N807
                instead = self.operations_of(operation)
                if instead == [operation]:
                    return real(operation, *columns)
                for replacement in instead:
                    answer = replacement(*columns)
                    columns = answer if isinstance(answer, tuple) else (answer,)
                return columns if len(columns) > 1 else columns[0]

            return __call__

        replace(kind, "__call__", plainly)

    def hook_maps(self, kind: Any) -> None:
        """Replace random operations in every map of a pipeline by their counterparts."""

        def made(_: None, dataset: Any, *args: Any, **named: Any) -> None:
            operations = [
                plain for operation in dataset.operations for plain in self.operations_of(operation)
            ]
            if operations != dataset.operations:
                dataset.operations = operations or [_same]

        around(kind, "__init__", "controls: augment-off", after=made)

    def operations_of(self, operation: Any) -> List[Any]:
        """Return the operations that replace a random one; [operation] if none is needed."""
        inner = getattr(operation, "transforms", None)
        if type(operation).__name__ in LEFT:
            self.active.unavailable(
                NAME, type(operation).__name__ + " has no counterpart without randomness"
            )
        counterpart = self.counterparts.get(type(operation))
        if counterpart is not None:
            size, named = self.sizes.get(operation, [None, {}])
            instead = counterpart(_Made(operation, size, named))
            if instead == [operation]:
                return instead
            self.active.touched(
                NAME,
                type(operation).__name__,
                ", ".join(type(plain).__name__ for plain in instead) or "the identity",
            )
            return [plain for replacement in instead for plain in self.operations_of(replacement)]
        if isinstance(inner, list) and type(operation).__name__ == "Compose":
            operation.transforms = [
                plain for replacement in inner for plain in self.operations_of(replacement)
            ] or [_same]
        return [operation]


class _Made:
    """A random operation with the size and the arguments that it was made with."""

    def __init__(self, operation: Any, size: Any, named: Dict[str, Any]) -> None:
        self.operation = operation
        self.size = size
        self.interpolation = (
            {"interpolation": named["interpolation"]}
            if named.get("interpolation") is not None
            else {}
        )


def _same(*columns: Any) -> Any:
    """Return the input columns unchanged."""
    return columns if len(columns) > 1 else columns[0]


def _float_labels(images: Any, labels: Any) -> Any:
    """Return images and labels; labels as floating point, because mixing images makes them so."""
    return images, labels.astype("float32")


def _floats(*columns: Any) -> Any:
    """Return the input columns in the dtype that mixing returns."""
    return tuple(column.astype("float64") for column in columns)


_MIXED: "Dict[str, List[Any]]" = {
    "CutMixBatch": [_float_labels],
    "MixUpBatch": [_float_labels],
    "MixUp": [_floats],
}


def _identity(operation: _Made) -> List[Any]:
    return _MIXED.get(type(operation.operation).__name__, [])


def _mask(operation: _Made) -> List[Any]:
    return [] if getattr(operation.operation, "iid_masks", False) else [operation.operation]


def _vision(name: str, *args: Any, **named: Any) -> Any:
    from mindspore.dataset import vision

    return getattr(vision, name)(*args, **named)


def _square(size: Any) -> Any:
    """Return (height, width): an int stands for both, not for the shorter side as in `Resize`."""
    return (size, size) if isinstance(size, int) else size


SIZED: "Dict[str, Callable[[_Made], List[Any]]]" = {
    "RandomCrop": lambda made: [_vision("CenterCrop", made.size)],
    "RandomResizedCrop": lambda made: [_vision("Resize", _square(made.size), **made.interpolation)],
    "RandomCropDecodeResize": lambda made: [
        _vision("Decode"),
        _vision("Resize", _square(made.size), **made.interpolation),
    ],
    "RandomResize": lambda made: [_vision("Resize", made.size)],
    "RandomResizeWithBBox": lambda made: [_vision("ResizeWithBBox", made.size)],
    "RandomResizedCropWithBBox": lambda made: [
        _vision("ResizeWithBBox", _square(made.size), **made.interpolation)
    ],
}

CHOICES: "Dict[str, Callable[[_Made], List[Any]]]" = {
    "RandomChoice": lambda made: list(made.operation.transforms[:1]),
    "RandomOrder": lambda made: list(made.operation.transforms),
}
