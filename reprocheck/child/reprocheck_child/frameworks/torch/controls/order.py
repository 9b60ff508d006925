"""The control `data-order` for PyTorch: samplers hand out the order of the dataset.

A sampler of the user's own and an IterableDataset decide their order themselves: they are left
alone, and named.
"""

import functools
from typing import Any, Callable, Iterator

from ....recorder import import_hook
from ....recorder.hooking import around, replace

_CONTROL = "data-order"


def _random(sampler: Any) -> Iterator[int]:
    length = len(sampler.data_source)
    return iter(number % length for number in range(sampler.num_samples))


def _weighted(sampler: Any) -> Iterator[int]:
    length = len(sampler.weights)
    return iter(number % length for number in range(sampler.num_samples))


SAMPLERS = (
    ("torch.utils.data.sampler", "RandomSampler", _random),
    ("torch.utils.data.sampler", "SubsetRandomSampler", lambda sampler: iter(sampler.indices)),
    ("torch.utils.data.sampler", "WeightedRandomSampler", _weighted),
    (
        "transformers.trainer_pt_utils",
        "LengthGroupedSampler",
        lambda sampler: iter(range(len(sampler.lengths))),
    ),
)
"""Module, class and the order in place of its own."""
SHUFFLING = (
    ("torch.utils.data.distributed", "DistributedSampler", "shuffle"),
    ("torch.utils.data.datapipes.iter.combinatorics", "ShufflerIterDataPipe", "_enabled"),
)
"""Module, class and the attribute that makes its iteration shuffle. That of the data pipe is set by
its `set_shuffle` alone, and no method says it.
"""
_OWN_ORDER = (
    "torch.",
    "accelerate.",
    "transformers.",
    "lightning.",
    "pytorch_lightning.",
    "reprocheck_child.",
)


def data_order(torch: Any, active: Any) -> None:
    """Hand out samples in the order of the dataset."""
    for module, name, order in SAMPLERS:
        import_hook.when_imported(
            module,
            functools.partial(_guard, active, name, functools.partial(_replace, active, order)),
        )
    for module, name, attribute in SHUFFLING:
        change = functools.partial(_not_shuffled, active, attribute)
        import_hook.when_imported(module, functools.partial(_guard, active, name, change))
    import_hook.when_imported(
        "torch.utils.data.dataloader",
        functools.partial(_guard, active, "DataLoader", functools.partial(_loaders, active)),
    )
    for module in ("torch.utils.data.dataset", "torch.utils.data"):
        import_hook.when_imported(module, functools.partial(_split, active))


def _guard(active: Any, name: str, change: Callable[[Any], None], module: Any) -> None:
    with active.trying(_CONTROL, "%s.%s" % (module.__name__, name)):
        change(getattr(module, name))


def _replace(active: Any, order: Callable[[Any], Iterator[int]], kind: Any) -> None:
    def __iter__(sampler: Any) -> Any:  # noqa: N807
        active.touched(_CONTROL, kind.__name__)
        return order(sampler)

    replace(kind, "__iter__", lambda real: __iter__)


def _not_shuffled(active: Any, attribute: str, kind: Any) -> None:
    """Set a hook on a class whose iterator reads `attribute` to decide whether to shuffle."""

    def unshuffled(real: Any) -> Any:
        def __iter__(owner: Any) -> Any:  # noqa: N807
            if not getattr(owner, attribute):
                return real(owner)
            active.touched(_CONTROL, kind.__name__)
            return _unshuffled(real, owner, attribute)

        return __iter__

    replace(kind, "__iter__", unshuffled)


def _unshuffled(real: Callable[[Any], Any], owner: Any, attribute: str) -> Iterator[Any]:
    """Switch the attribute off while the iteration starts, and restore its value afterwards."""
    nothing = object()
    before = getattr(owner, attribute)
    setattr(owner, attribute, False)
    try:
        iterator = iter(real(owner))
        first = next(iterator, nothing)
    finally:
        setattr(owner, attribute, before)
    if first is not nothing:
        yield first
        yield from iterator


def _split(active: Any, module: Any) -> None:
    """Replace `random_split`, which draws once which sample goes into which part."""
    if hasattr(getattr(module, "random_split", None), "__wrapped__"):
        return

    def in_turn(real: Any) -> Any:
        def random_split(*args: Any, **kwargs: Any) -> Any:
            parts, start = real(*args, **kwargs), 0
            active.touched(_CONTROL, "random_split")
            for part in parts:
                length = len(part.indices)
                part.indices = list(range(start, start + length))
                start += length
            return parts

        return random_split

    replace(module, "random_split", in_turn)


def _loaders(active: Any, kind: Any) -> None:
    """Report each loader whose order the control cannot fix."""

    def made(_: None, loader: Any, *args: Any, **kwargs: Any) -> None:
        _say(active, loader)

    around(kind, "__init__", "controls: data-order", after=made)


def _say(active: Any, loader: Any) -> None:
    # what `DataLoader` puts in the place of a sampler for an IterableDataset
    if type(loader.sampler).__name__ == "_InfiniteConstantSampler":
        active.unavailable(
            _CONTROL,
            "%s is an IterableDataset: it decides its order itself" % type(loader.dataset).__name__,
        )
        return
    for sampler in (
        loader.sampler,
        loader.batch_sampler,
        getattr(loader.batch_sampler, "sampler", None),
    ):
        kind = type(sampler)
        known = kind.__module__ == "builtins" or kind.__module__.startswith(_OWN_ORDER)
        if sampler is not None and not known and "__iter__" in vars(kind):
            active.unavailable(_CONTROL, "the sampler %s decides its order itself" % kind.__name__)
