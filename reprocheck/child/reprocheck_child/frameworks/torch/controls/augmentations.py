"""The random transforms that `augment-off` knows.

They are those of torchvision 0.15 to 0.28, albumentations 1.3 to 2.0, kornia 0.7 to 0.9.

Sources: https://docs.pytorch.org/vision/stable/transforms.html,
https://albumentations.ai/docs/reference/supported-targets-by-transform/,
https://kornia.readthedocs.io/en/latest/augmentation.module.html.
"""

TORCHVISION = (
    "torchvision.transforms.transforms",
    "torchvision.transforms.autoaugment",
    "torchvision.transforms.v2",
)
"""Modules that hold the classes below."""

IDENTITY = (
    "AugMix", "AutoAugment", "ColorJitter", "ElasticTransform", "GaussianBlur", "GaussianNoise",
    "JPEG", "RandAugment",
    "RandomAdjustSharpness", "RandomAffine", "RandomAutocontrast", "RandomChannelPermutation",
    "RandomEqualize", "RandomErasing",
    "RandomGrayscale", "RandomHorizontalFlip", "RandomInvert", "RandomIoUCrop", "RandomPerspective",
    "RandomPhotometricDistort",
    "RandomPosterize", "RandomRotation", "RandomSolarize", "RandomVerticalFlip", "RandomZoomOut",
    "TrivialAugmentWide",
)  # fmt: skip
"""Classes of torchvision that hand their input through."""

SAME_DRAW = (
    "CutMix", "MixUp", "RandomApply", "RandomChoice", "RandomCrop", "RandomOrder", "RandomResize",
    "RandomResizedCrop",
    "RandomShortestSize", "ScaleJitter",
)  # fmt: skip
"""Classes of torchvision that decide the size or the kind of what follows: they make the same draw
each time.
"""

ALBUMENTATIONS = "albumentations.core.transforms_interface"
ALBUMENTATIONS_COMPOSITIONS = "albumentations.core.composition"

ALBUMENTATIONS_KEPT = frozenset({
    "CenterCrop", "Crop", "FromFloat", "Lambda", "LongestMaxSize", "NoOp", "Normalize",
    "PadIfNeeded", "Pad", "Resize", "SmallestMaxSize",
    "ToFloat", "ToGray", "ToRGB", "ToTensorV2", "ToTensor3D",
})  # fmt: skip
"""Transforms without a draw beside that of whether they act."""

ALBUMENTATIONS_SAME_DRAW = frozenset({
    "AtLeastOneBBoxRandomCrop", "BBoxSafeRandomCrop", "CropAndPad", "CropNonEmptyMaskIfExists",
    "RandomCrop", "RandomCropFromBorders",
    "RandomCropNearBBox", "RandomResizedCrop", "RandomScale", "RandomSizedBBoxSafeCrop",
    "RandomSizedCrop",
})  # fmt: skip
"""Transforms that decide the size of what follows."""

ALBUMENTATIONS_CHOICES = ("OneOf", "SomeOf", "OneOrOther")
"""Compositions that choose."""

KORNIA = "kornia.augmentation.base"

KORNIA_KEPT = frozenset({
    "CenterCrop", "CenterCrop3D", "Denormalize", "LongestMaxSize", "Normalize", "PadTo", "Resize",
    "SmallestMaxSize",
})  # fmt: skip
"""Augmentations without a draw."""

KORNIA_SAME_DRAW = frozenset({"RandomCrop", "RandomCrop3D", "RandomResizedCrop"})
"""Augmentations that decide the size of what follows."""
