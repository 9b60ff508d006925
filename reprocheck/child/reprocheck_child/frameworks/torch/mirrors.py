"""Records what should not be the same twice in one run: batches, draws of workers, noise.

The package finds mirrors in it: see `docs/reference/must-differ.md`. These hooks stay when level
`auto` leaves the deeper level, because an epoch is longer than the iterations of the checks.
"""

import os
from typing import Any, Callable, Dict, Iterator, List, Optional, Tuple

from ...deep_levels import leaves
from ...deep_levels.draw_amounts import amount
from ...recorder.hooking import Removable
from ...resume import script_objects
from .identity import ByIdentity

_MOST_BATCHES = 2000
"""Batches of a process that are recorded."""
_MOST_BYTES = 1 << 30
"""Bytes of batches that are hashed once the deeper level was left."""
_MOST_TASKS = 100
"""Tasks of one worker in one pass that are recorded."""
_LOOKS = 3
"""Tasks before which a worker looks for generators: some are made with the first sample."""
_MOST_DRAWS = 5000

States = Dict[str, bytes]


class Mirrors:
    """The recorder of passes, batches, tasks, draws and groups of a process."""

    def __init__(self, torch: Any, deep: Any) -> None:
        self.torch = torch
        self.deep = deep
        self.hooks = Removable()
        self.batches = 0
        self.bytes = 0
        self.draws = 0
        self.drew_at = -1
        """How many calls stood around the module that drew last, while one of them is open."""
        self.mark: Optional[States] = None
        """States of the generators after what was recorded last."""
        self.fetchers = ByIdentity(10_000)
        self.count = 0
        self.datasets = ByIdentity(10_000)
        self.networks = ByIdentity(1000)
        self.network = -1
        """Number of the network that was called last."""

    def tell(self, kind: str, **values: Any) -> None:
        """Write a fact."""
        self.deep.recorder.emit({"e": "given", "k": kind, "v": values})

    def watch(self) -> None:
        """Wrap the methods that load the samples of a batch, in workers too."""
        from torch.utils.data._utils import fetch

        # private: where a worker, or the process itself, makes a batch of samples (torch 2.13)
        for name in ("_MapDatasetFetcher", "_IterableDatasetFetcher"):
            owner = getattr(fetch, name)
            self.hooks.around(owner, "fetch", "watching the draws of a task", before=self._task)

    def _task(self, fetcher: Any, *args: Any) -> Optional[Callable[[Any], None]]:
        """Note the states before a batch is made; return what looks at them afterwards."""
        known = self.fetchers.once(fetcher, lambda: _Fetcher(self._next()))
        known.tasks += 1
        if known.tasks > _MOST_TASKS:
            return None
        if known.tasks <= _LOOKS:
            known.readers = self._private(fetcher)
        states = self._states(known)
        return lambda returned: self._drawn(fetcher, known, states)

    def _next(self) -> int:
        self.count += 1
        return self.count - 1

    def _private(self, fetcher: Any) -> Dict[str, Any]:
        """Return readers of the generators that a data set, or a module of the script, holds."""
        parts = [
            ("dataset", fetcher.dataset),
            ("iterator", getattr(fetcher, "dataset_iter", None)),
            ("collate_fn", fetcher.collate_fn),
        ]
        modules = script_objects.of_modules(self.deep)
        found = script_objects.generators([*script_objects.inside(parts), *modules], ())
        return {name: script_objects.reader(generator) for name, generator in found.items()}

    def _states(self, known: "_Fetcher") -> States:
        return {**self.deep.states(), **{name: read() for name, read in known.readers.items()}}

    def _drawn(self, fetcher: Any, known: "_Fetcher", before: States) -> None:
        """Record what was drawn for one batch of samples."""
        # with those that were made for this batch
        if known.tasks <= _LOOKS:
            known.readers = {**self._private(fetcher), **known.readers}
        moved = self._moved(before, self._states(known))
        if moved:
            self.tell(
                "task",
                fetcher=known.number,
                number=known.tasks,
                dataset=type(fetcher.dataset).__name__,
                line=self._line_of(fetcher.dataset),
                **moved,
            )
            self.deep.flush()  # a worker is ended without a word

    def _moved(self, before: States, after: States) -> Dict[str, Any]:
        digest = self.deep.hash_bytes
        drawn = {
            name: (before[name], state)
            for name, state in after.items()
            if before.get(name, state) != state
        }
        if not drawn:
            return {}
        return {
            "states": {name: digest(old) for name, (old, _) in drawn.items()},
            "amounts": {name: amount(name, *states) for name, states in drawn.items()},
        }

    def _line_of(self, dataset: Any) -> str:
        """Return the line of the user's that makes the samples of a data set."""
        for name in ("__getitem__", "__iter__", "__getitems__"):
            code = getattr(getattr(type(dataset), name, None), "__code__", None)
            if code is not None and self.deep.is_of_user(code.co_filename):
                return "%s:%d" % (self.deep.name_of(code.co_filename), code.co_firstlineno)
        return ""

    def begins(self, place: str, line: str, iterator: Any, **keys: Any) -> None:
        """Record that a pass over a loader begins; the keys say its order and its draws."""
        if self.hooks.gone:
            return
        # private: `_dataset` and `_dataset_kind`, which is 1 of an iterable data set (torch 2.13)
        dataset = self.datasets.once(iterator._dataset, lambda: len(self.datasets.entries))
        keys.update(dataset=dataset, iterable=iterator._dataset_kind == 1)
        keys["processes"] = [worker.pid for worker in getattr(iterator, "_workers", ())]
        fetcher = getattr(iterator, "_dataset_fetcher", None)
        if fetcher is not None:
            known = self.fetchers.once(fetcher, lambda: _Fetcher(self._next()))
            keys.update(fetcher=known.number, processes=[os.getpid()])
        optimizers = self.deep.recorder.optimizers
        self.tell("pass", place=place, line=line, optimizers=optimizers, **keys)

    def batch(
        self, place: str, batch: Any, samples: Optional[List[str]] = None, **keys: Any
    ) -> None:
        """Record a batch that a loader, or the script itself, hands to the training."""
        if self.hooks.gone:
            return
        self.batches += 1
        if self.batches > _MOST_BATCHES or self.bytes > _MOST_BYTES:
            self.hooks.remove()
            return
        if samples is None and self.deep.hooks.gone:
            self.bytes += _size(self.torch.Tensor, batch)
            samples = self.deep.fingerprints.samples(batch)
        iteration = self.deep.recorder.iteration
        self.tell("batch", place=place, iteration=iteration, samples=samples or [], **keys)
        self.mark = self.deep.states()

    def draw(self, place: str, module: Any, depth: int, states: States, inputs: Any) -> None:
        """Record what a module drew in the forward pass of a training.

        depth  how many calls of modules stand around it
        """
        inside = self.drew_at == depth + 1  # a module in it drew, and was recorded
        self.drew_at = depth
        if inside or not self._reaches_training():
            return
        self._draw(place, states, inputs, type(module).__name__)

    def before_root(self, module: Any, inputs: Any) -> None:
        """Record what the script itself drew since the batch, before the outermost module."""
        self.drew_at = -1
        if not self._reaches_training():
            return
        number = self.networks.once(module, lambda: len(self.networks.entries))
        if number != self.network:
            self.network = number
            self.tell("network", number=number, groups=self._groups(module))
        mark = self.mark
        if mark is not None:
            self._draw("", mark, inputs)

    def after_root(self, module: Any) -> None:
        """Note the states of the generators after the outermost module."""
        self.drew_at = -1
        self.mark = self.deep.states()

    def _reaches_training(self) -> bool:
        """Return whether gradients are recorded, and this is no recomputation."""
        is_first = self.torch._C._current_graph_task_id() == -1
        return bool(is_first and self.torch.is_grad_enabled() and self.draws < _MOST_DRAWS)

    def _draw(self, place: str, before: States, inputs: Any, class_: str = "") -> None:
        moved = self._moved(before, self.deep.states())
        if not moved:
            return
        self.draws += 1
        # of a tensor on a device the hash is not there yet
        given = [leaf["h"] for _, leaf in inputs or () if isinstance(leaf, dict) and "h" in leaf]
        self.tell(
            "draw",
            place=place,
            iteration=self.deep.grouping.closed + 1,
            inputs=given,
            class_=class_,
            line=self.deep.source(2),
            **moved,
        )

    def _groups(self, network: Any) -> List[Tuple[str, List[int]]]:
        """Return which ranks train a network on other data, and which share its weights out."""
        distributed = getattr(self.torch, "distributed", None)
        if distributed is None or not distributed.is_available():
            return []
        if not distributed.is_initialized():
            return []
        groups = set(_groups(distributed, network))
        return [(kind, list(ranks)) for kind, ranks in sorted(groups) if len(ranks) > 1]


class _Fetcher:
    """What makes the batches of one pass, in a worker or in the process itself."""

    def __init__(self, number: int) -> None:
        self.number = number
        self.tasks = 0
        self.readers: Dict[str, Any] = {}


def _size(tensor: Any, value: Any, depth: int = 0) -> int:
    """Return how many bytes the tensors of a batch hold."""
    if isinstance(value, tensor):
        return int(value.numel() * value.element_size())
    if depth >= leaves.DEPTH:
        return 0
    return sum(_size(tensor, part, depth + 1) for _, part in leaves.parts(value) or ())


_DATA = frozenset((
    "data", "dp", "ddp", "fsdp", "hsdp", "dp_shard", "dp_replicate", "shard", "replicate", "batch",
    "dp_shard_cp",
))  # fmt: skip
_MODEL = frozenset(("tp", "tensor", "model", "mp", "tensor_parallel", "model_parallel"))
"""Names of the dimensions of a `DeviceMesh`, as tutorials and trainers give them."""


def _groups(distributed: Any, network: Any) -> Iterator[Tuple[str, Tuple[int, ...]]]:
    """Yield `data` or `model` with the ranks of each group that a network is spread over."""
    sharded = False
    for module in network.modules():
        name = type(module).__name__
        if name in ("DistributedDataParallel", "FullyShardedDataParallel"):
            group = module.process_group
            yield "data", tuple(distributed.get_process_group_ranks(group))
        # `fully_shard` makes a class of its own of each module
        sharded = sharded or any(base.__name__ == "FSDPModule" for base in type(module).__mro__)
    for weight in network.parameters():
        mesh = getattr(weight, "device_mesh", None)  # of a DTensor
        if mesh is None:
            continue
        for dimension in range(mesh.ndim):
            kind = _kind(mesh.mesh_dim_names, dimension, sharded)
            if kind:
                group = mesh.get_group(dimension)
                yield kind, tuple(distributed.get_process_group_ranks(group))


def _kind(names: Any, dimension: int, sharded: bool) -> str:
    """Return what a dimension of a mesh is for; "" where it is not known."""
    name = names[dimension] if names else ""
    if name in _DATA:
        return "data"
    if name in _MODEL:
        return "model"
    if names:
        return ""
    return "data" if sharded else "model"
