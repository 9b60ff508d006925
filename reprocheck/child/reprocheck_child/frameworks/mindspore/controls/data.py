"""The controls `single-worker` and `data-order` for MindSpore's datasets."""

from typing import Any, Callable, Dict

from ....recorder.hooking import around, guarded, like, replace
from ..pynative import everywhere
from .drawing import draws

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
