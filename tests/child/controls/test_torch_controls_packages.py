"""What the controls on PyTorch change in packages that may be there: stand-ins for torch_npu,
torchvision, albumentations and kornia.
"""

from __future__ import annotations

import random
from types import SimpleNamespace
from typing import Any

import pytest

torch = pytest.importorskip("torch")

from reprocheck.child.reprocheck_child.frameworks.torch.controls.augment import _Change  # noqa: E402
from reprocheck.child.reprocheck_child.frameworks.torch.controls.dropout import _Off, npu  # noqa: E402


class Account:
    """What controls say they touched."""

    def __init__(self) -> None:
        self.touches: list[tuple[str, Any]] = []

    def touched(self, control: str, what: str, value: object = None, skip: int = 1) -> None:
        """One more."""
        self.touches.append((what, value))


def test_operators_of_torch_npu_get_the_neutral_value_in_every_place() -> None:
    account = Account()
    module = SimpleNamespace(
        _npu_dropout=lambda *args, **kwargs: (args, kwargs),
        npu_fusion_attention=lambda *args, **kwargs: (args, kwargs),
    )
    npu(_Off(torch, account), module)
    assert module._npu_dropout("x", 0.3) == (("x", 0.0), {})
    assert module._npu_dropout("x", p=0.3) == (("x",), {"p": 0.0})
    assert module.npu_fusion_attention("q", "k", "v", 8, "BSH", keep_prob=0.9) == (
        ("q", "k", "v", 8, "BSH"),
        {"keep_prob": 1.0},
    )
    by_place = module.npu_fusion_attention("q", "k", "v", 8, "BSH", None, None, None, 1.0, 0.8)
    assert by_place[0][9] == 1.0 and len(by_place[0]) == 10
    assert module.npu_fusion_attention("q", "k", "v", 8, "BSH") == (("q", "k", "v", 8, "BSH"), {})
    assert account.touches == [
        ("torch_npu._npu_dropout", 0.3),
        ("torch_npu._npu_dropout", 0.3),
        ("torch_npu.npu_fusion_attention", 0.9),
        ("torch_npu.npu_fusion_attention", 0.8),
    ]


class Drawing(torch.nn.Module):  # type: ignore[misc]
    """A transform that draws from all generators."""

    def forward(self, *inputs: Any) -> Any:
        """The first input and what was drawn."""
        return inputs[0] + torch.rand(1) + random.random()


def test_transforms_of_torchvision_are_the_identity_or_make_the_same_draw() -> None:
    account = Account()
    flip, crop = type("RandomHorizontalFlip", (Drawing,), {}), type("RandomCrop", (Drawing,), {})
    _Change(torch, account).torchvision(SimpleNamespace(RandomHorizontalFlip=flip, RandomCrop=crop))
    image, boxes = torch.ones(2), torch.zeros(1)
    torch.manual_seed(1)
    states = torch.get_rng_state(), random.getstate()
    assert flip()(image) is image
    assert flip()(image, boxes) == (image, boxes)
    assert torch.equal(crop()(image), crop()(image)) and not torch.equal(crop()(image), image)
    assert torch.equal(torch.get_rng_state(), states[0]) and random.getstate() == states[1], (
        "the script's generators are not moved"
    )
    assert not torch.equal(Drawing()(image), Drawing()(image)), "what is not named is left alone"
    assert {what for what, _ in account.touches} == {
        "torchvision RandomHorizontalFlip",
        "torchvision RandomCrop",
    }


def test_transforms_of_albumentations_are_kept_where_they_draw_nothing() -> None:
    account = Account()

    class BasicTransform:
        p = 1.0

        def __call__(self, *args: Any, force_apply: bool = False, **kwargs: Any) -> Any:
            return {"image": kwargs["image"] + random.random()}

    kinds = {}
    for name, package in (
        ("HorizontalFlip", "albumentations.x"),
        ("Normalize", "albumentations.x"),
        ("RandomCrop", "albumentations.x"),
        ("Own", "train"),
    ):
        kinds[name] = type(name, (BasicTransform,), {"__module__": package})
    _Change(torch, account).albumentations(SimpleNamespace(BasicTransform=BasicTransform))
    assert kinds["HorizontalFlip"]()(image=1.0, force_apply=True) == {"image": 1.0}
    assert kinds["RandomCrop"]()(image=1.0) == kinds["RandomCrop"]()(image=1.0) != {"image": 1.0}
    assert kinds["Normalize"]()(image=1.0) != kinds["Normalize"]()(image=1.0), "called as it is"
    assert kinds["Own"]()(image=1.0) != kinds["Own"]()(image=1.0), "the user's own is left alone"


def test_augmentations_of_kornia_are_not_chosen() -> None:
    account = Account()

    class _BasicAugmentationBase:
        dtype = torch.float32

        def __batch_prob_generator__(self, batch_shape: Any, *args: Any) -> Any:
            return torch.full((batch_shape[0],), 0.5)

        def generate_parameters(self, batch_shape: Any) -> Any:
            return torch.rand(batch_shape[0])

    kinds = {}
    for name in ("RandomAffine", "RandomCrop", "Normalize"):
        kinds[name] = type(name, (_BasicAugmentationBase,), {"__module__": "kornia.x"})()
    _Change(torch, account).kornia(SimpleNamespace(_BasicAugmentationBase=_BasicAugmentationBase))
    chosen = {
        name: kind.__batch_prob_generator__((3, 1), 1.0).tolist() for name, kind in kinds.items()
    }
    assert chosen == {"RandomAffine": [0.0] * 3, "RandomCrop": [1.0] * 3, "Normalize": [0.5] * 3}
    crop = kinds["RandomCrop"]
    assert torch.equal(crop.generate_parameters((3, 1)), crop.generate_parameters((3, 1)))
