"""The controls `single-worker` and `data-order` for MindSpore's datasets."""

import sys
from itertools import chain, islice
from typing import Any, Callable, Dict, Iterable, Iterator, List

from ....deep_levels.scope import cells
from ....recorder.hooking import around, guarded, like, replace
from ..graph import code_names
from ..pynative import everywhere
from .augment import CHOICES, IDENTITY, MASKS, SIZED

RANDOM = frozenset(
    (*(name for names in IDENTITY.values() for name in names), *MASKS, *SIZED, *CHOICES)
)
"""Operations of MindSpore that draw."""
MODULES = ("random", "numpy.random")
GENERATORS = (("random", "Random"), ("numpy.random", "Generator"), ("numpy.random", "RandomState"))
CALLED = ("__call__", "__getitem__", "__iter__", "__next__")
"""What a pipeline calls of an object.

What its constructor draws is drawn once, by the script's own thread.
"""
DEEPEST, MOST = 6, 300


def draws(*given: Any) -> bool:
    """Return whether one of the given objects reaches a random generator."""
    sources = _Sources()
    seen: Dict[int, Any] = {}  # by id, held so that ids stay theirs
    level: List[Any] = list(given)
    for _ in range(DEEPEST + 1):
        new = {id(value): value for value in level if id(value) not in seen}
        # level by level: what draws mostly lies near to what the dataset is given
        if any(map(sources.has, new.values())):
            return True
        seen.update(new)
        if len(seen) >= MOST:
            return False
        level = list(islice(chain.from_iterable(map(_reached, new.values())), MOST))
    return False


class _Sources:
    """The things that draw: generators, the modules that hold them, operations of MindSpore."""

    def __init__(self) -> None:
        loaded = sys.modules
        self._kinds = tuple(
            vars(loaded[module])[name] for module, name in GENERATORS if module in loaded
        )
        self._modules = list(filter(None, map(loaded.get, MODULES)))

    def has(self, value: Any) -> bool:
        if isinstance(value, self._kinds) or (
            type(value).__name__ in RANDOM and type(value).__module__.startswith("mindspore.")
        ):
            return True
        return isinstance(value, type(sys)) and value in self._modules


def _reached(value: Any) -> "Iterable[Any]":
    """Return the objects that a value uses if called: its contents and the names in its code."""
    if isinstance(value, (list, tuple)):
        return value[:MOST]
    if isinstance(value, dict):
        return list(value.values())[:MOST]
    if hasattr(value, "__code__"):
        return _of_function(value)
    # a method: of a subclass of a dataset's source, say
    if hasattr(value, "__func__"):
        return (value.__func__, value.__self__)
    if type(value).__name__ == "partial":
        return (value.func, value.args, value.keywords)
    if _is_plain_object(value):
        return _of_object(value)
    return ()


def _of_object(value: Any) -> "Iterator[Any]":
    """Yield what an object holds, and what is reached when a pipeline calls it."""
    yield from vars(value).values()
    for name in CALLED:
        method = getattr(type(value), name, None)
        if hasattr(method, "__code__"):
            yield from _of_function(method, type(value))


def _is_plain_object(value: Any) -> bool:
    """Return whether a value is an object of the script's, or an operation that holds others.

    Modules, classes, arrays and datasets are not.
    """
    if isinstance(value, (type, type(sys))) or not hasattr(value, "__dict__"):
        return False
    module = type(value).__module__
    if module.startswith("mindspore."):
        return hasattr(value, "transforms")
    return module != "numpy"


def _of_function(function: Any, owner: Any = None) -> "Iterator[Any]":
    """Yield the globals, cells and methods that a function's code names.

    `numpy.random` is among them where it names both parts.
    """
    names = code_names(function.__code__)
    yield from cells(function).values()
    for name in names:
        value = function.__globals__.get(name)
        # `numpy` itself is in most scripts: it draws where its part `random` is named, too
        if getattr(value, "__name__", "") == "numpy" and "random" in names:
            value = sys.modules.get("numpy.random")
        yield value
        method = getattr(owner, name, None)
        if hasattr(method, "__code__"):
            yield method


WORKER, ORDER = "single-worker", "data-order"


def single_worker(mindspore: Any, active: Any) -> None:
    """Give each dataset one worker, whatever number the script or MindSpore chooses."""
    from mindspore.dataset.core import config
    from mindspore.dataset.engine import datasets, datasets_user_defined

    config.set_num_parallel_workers(1)
    active.touched(WORKER, "dataset.config.set_num_parallel_workers", 1)
    for name, wanted in (("set_num_parallel_workers", 1), ("set_enable_autotune", False)):
        real = getattr(config, name)
        everywhere(real, _always(active, real, "dataset.config." + name, wanted))
    # id of a dataset that is being made -> whether what it is given draws
    drawing: Dict[int, bool] = {}
    for kind in (
        datasets.MapDataset,
        datasets.BatchDataset,
        datasets_user_defined.GeneratorDataset,
    ):
        _look_at(active, kind, datasets.Dataset, drawing)

    def made(_: None, dataset: Any, *args: Any, **named: Any) -> None:
        given = dataset.num_parallel_workers
        if given is not None and given != 1:
            active.touched(
                WORKER,
                type(dataset).__name__ + "(num_parallel_workers)",
                1,
                draws=drawing.get(id(dataset), False),
            )
            dataset.num_parallel_workers = 1

    around(datasets.Dataset, "__init__", "controls: single-worker", after=made)


def _look_at(active: Any, kind: Any, dataset_kind: Any, drawing: Dict[int, bool]) -> None:
    """Note whether the source or the operations of a new dataset draw random numbers."""

    def looking(real: Any) -> Any:
        def __init__(dataset: Any, *args: Any, **named: Any) -> None:  # noqa: N807
            with guarded("what a dataset draws"):
                drawing[id(dataset)] = draws(
                    *(
                        argument
                        for argument in (*args, *named.values())
                        if not isinstance(argument, dataset_kind)
                    )
                )
            try:
                real(dataset, *args, **named)
            finally:
                drawing.pop(id(dataset), None)

        return __init__

    replace(kind, "__init__", looking)


def _always(active: Any, real: Callable[..., Any], what: str, wanted: Any) -> Callable[..., Any]:
    def setter(*args: Any, **named: Any) -> Any:
        value = next(iter((*args, *named.values())), wanted)
        if value != wanted:
            active.touched(WORKER, what, wanted)
            return real(wanted)
        return real(*args, **named)

    return like(setter, real)


def data_order(mindspore: Any, active: Any) -> None:
    """Make samplers return indices in order, shards as well.

    Files are read in order, and `shuffle` returns its input.
    """
    from mindspore.dataset.engine import datasets, samplers

    for name in ("parse", "parse_for_minddataset"):
        _in_place_of(active, samplers.RandomSampler, name, samplers.SequentialSampler)
        _in_place_of(active, samplers.WeightedRandomSampler, name, samplers.SequentialSampler)
        _in_place_of(active, samplers.SubsetRandomSampler, name, samplers.SubsetSampler)
        for kind, off in (
            (samplers.DistributedSampler, samplers.Shuffle.FALSE),
            (samplers.PKSampler, False),
        ):
            _without_shuffle(active, kind, name, off)
    _hook_sources(active, datasets.SourceDataset, datasets.MappableDataset)
    _hook_shuffles(active, datasets.ShuffleDataset)


def _in_place_of(active: Any, kind: Any, name: str, ordered: Any) -> None:
    """Replace a random sampler by the ordered one of the same samples."""
    new = getattr(ordered, name)

    def parse(sampler: Any) -> Any:
        active.touched(ORDER, kind.__name__, ordered.__name__)
        if not hasattr(sampler, "start_index"):
            sampler.start_index = None
        return new(sampler)

    replace(kind, name, lambda real: parse)


def _without_shuffle(active: Any, kind: Any, name: str, off: Any) -> None:
    def parsing(sampler: Any) -> None:
        if sampler.shuffle is not off:
            active.touched(ORDER, kind.__name__ + "(shuffle)", False)
            sampler.shuffle = off

    around(kind, name, "controls: data-order", before=parsing)


def _hook_sources(active: Any, kind: Any, sampled: Any) -> None:
    """Set hooks on datasets that read files in their own order, without a sampler."""

    def made(_: None, dataset: Any, *args: Any, **named: Any) -> None:
        if dataset.shuffle_flag and not isinstance(dataset, sampled):
            active.touched(ORDER, type(dataset).__name__ + "(shuffle)", False)
            dataset.shuffle_flag = 0

    around(kind, "__init__", "controls: data-order", after=made)


def _hook_shuffles(active: Any, kind: Any) -> None:
    def parse(dataset: Any, children: Any = None) -> Any:
        active.touched(ORDER, "dataset.shuffle", "no shuffle")
        return children[0]

    replace(kind, "parse", lambda real: parse)
