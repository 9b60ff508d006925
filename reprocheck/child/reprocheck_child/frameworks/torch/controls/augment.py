"""The control `augment-off` for PyTorch: random transforms return their input.

They are those of torchvision, albumentations and kornia.

Where a transform decides the size of what follows (a random crop), the identity would break the
batch: there it makes the same draw each time. What a user wrote is left alone.
"""

import random
import sys
from contextlib import contextmanager
from typing import Any, Callable, Iterator

from ....recorder import import_hook
from ....recorder.hooking import replace
from . import augmentations as known

_CONTROL = "augment-off"
_SEED = 0


def augment_off(torch: Any, active: Any) -> None:
    """Replace random transforms of torchvision, albumentations, kornia when imported."""
    change = _Change(torch, active)
    for name in known.TORCHVISION:
        import_hook.when_imported(name, change.safely(change.torchvision))
    import_hook.when_imported(known.ALBUMENTATIONS, change.safely(change.albumentations))
    import_hook.when_imported(known.ALBUMENTATIONS_COMPOSITIONS, change.safely(change.choices))
    import_hook.when_imported(known.KORNIA, change.safely(change.kornia))


class _Change:
    def __init__(self, torch: Any, active: Any) -> None:
        self.torch = torch
        self.active = active

    def safely(self, change: Callable[[Any], None]) -> Callable[[Any], None]:
        """Return `change` as a callback that reports an error instead of raising it."""

        def changed(module: Any) -> None:
            with self.active.trying(_CONTROL, module.__name__):
                change(module)

        return changed

    def torchvision(self, module: Any) -> None:
        """Change the random transforms of torchvision's first and second generation (`v2`).

        The first generation calls `forward` with one image, the second with an image and its
        labels.
        """
        for names, change in ((known.IDENTITY, self._through), (known.SAME_DRAW, self._fixed)):
            for name in names:
                kind = getattr(module, name, None)
                if isinstance(kind, type):
                    is_module = "forward" in vars(kind) or issubclass(kind, self.torch.nn.Module)
                    method = "forward" if is_module else "__call__"
                    self._method(kind, method, change("torchvision " + name))

    def albumentations(self, module: Any) -> None:
        """Change the one method of albumentations through which every transform is applied."""
        fixed, touched = self._fixed, self.active.touched

        def instead(real: Any) -> Any:
            def call(transform: Any, *args: Any, **kwargs: Any) -> Any:
                name = type(transform).__name__
                stays = name in known.ALBUMENTATIONS_KEPT
                always = stays and transform.p >= 1
                if args or always or not _of(transform, "albumentations"):
                    return real(transform, *args, **kwargs)
                if stays or name in known.ALBUMENTATIONS_SAME_DRAW:
                    return fixed("albumentations " + name)(real)(transform, **kwargs)
                touched(_CONTROL, "albumentations " + name)
                kwargs.pop("force_apply", None)
                return kwargs

            return call

        self._method(module.BasicTransform, "__call__", instead)

    def choices(self, module: Any) -> None:
        """Let compositions such as `OneOf` choose the same transforms each time."""
        for name in known.ALBUMENTATIONS_CHOICES:
            kind = getattr(module, name, None)
            if "__call__" in getattr(kind, "__dict__", ()):  # one of its own
                self._method(kind, "__call__", self._fixed("albumentations " + name))

    def kornia(self, module: Any) -> None:
        """Let kornia augment no sample of a batch; let crops draw the same parameters each time."""
        base, torch, touched, same = (
            module._BasicAugmentationBase,
            self.torch,
            self.active.touched,
            self.same_draw,
        )

        def chosen(real: Any) -> Any:
            def generator(augmentation: Any, batch_shape: Any, *args: Any, **kwargs: Any) -> Any:
                name = type(augmentation).__name__
                if not _of(augmentation, "kornia") or name in known.KORNIA_KEPT:
                    return real(augmentation, batch_shape, *args, **kwargs)
                touched(_CONTROL, "kornia " + name)
                if name in known.KORNIA_SAME_DRAW:
                    return torch.ones(batch_shape[0], dtype=augmentation.dtype)
                return torch.zeros(batch_shape[0], dtype=augmentation.dtype)

            return generator

        def parameters(real: Any) -> Any:
            def generate(augmentation: Any, *args: Any, **kwargs: Any) -> Any:
                if not _of(augmentation, "kornia"):
                    return real(augmentation, *args, **kwargs)
                with same(augmentation):
                    return real(augmentation, *args, **kwargs)

            return generate

        self._method(base, "__batch_prob_generator__", chosen)
        self._method(base, "generate_parameters", parameters)

    @staticmethod
    def _method(kind: Any, name: str, change: Callable[[Any], Any]) -> None:
        if not hasattr(getattr(kind, name), "reprocheck"):
            replace(kind, name, change)
            getattr(kind, name).reprocheck = True

    def _through(self, what: str) -> Callable[[Any], Any]:
        touched = self.active.touched

        def change(real: Any) -> Any:
            def identity(transform: Any, *inputs: Any) -> Any:
                touched(_CONTROL, what)
                if len(inputs) == 1:
                    return inputs[0]
                return inputs

            return identity

        return change

    def _fixed(self, what: str) -> Callable[[Any], Any]:
        touched, same = self.active.touched, self.same_draw

        def change(real: Any) -> Any:
            def fixed(transform: Any, *args: Any, **kwargs: Any) -> Any:
                touched(_CONTROL, what, "the same draw each time")
                with same(transform):
                    return real(transform, *args, **kwargs)

            return fixed

        return change

    @contextmanager
    def same_draw(self, owner: Any) -> Iterator[None]:
        """Set the CPU's default generators to a fixed state during a draw, then restore them."""
        numpy = sys.modules.get("numpy")
        default = self.torch.random.default_generator
        states = default.get_state(), random.getstate(), numpy.random.get_state() if numpy else None
        default.manual_seed(_SEED)
        random.seed(_SEED)
        if numpy:
            numpy.random.seed(_SEED)
        if hasattr(owner, "set_random_seed"):  # generators of its own
            owner.set_random_seed(_SEED)
        try:
            yield
        finally:
            default.set_state(states[0])
            random.setstate(states[1])
            if numpy:
                numpy.random.set_state(states[2])


def _of(value: Any, package: str) -> bool:
    return type(value).__module__.partition(".")[0] == package
