"""Records what a `DataLoader` hands out.

That is batches with their samples' indices and workers, and the order of samples of each epoch.

The iterator of a loader is watched, not the loader: `_BaseDataLoaderIter` is the base of every
iterator, also of trainers' own loaders.
"""

import functools
import itertools
import weakref
from typing import Any, Callable, Dict, Iterator, List, Optional, Tuple

from ...deep_levels.scope import variable
from ...recorder.hooking import replace
from . import dataset_samples as torch_held, order as torch_order
from .identity import ByIdentity

_LOADERS = 100_000
"""Loaders that are known at the same time."""


def install(torch: Any, deep: Any) -> None:
    """Record each batch, and each epoch's order, of every loader."""
    Loaders(torch, deep).watch()


class _Epoch:
    """One pass over a loader."""

    def __init__(self, place: str, keys: Dict[str, Any], before: Dict[str, bytes]) -> None:
        self.place = place
        self.keys = keys
        """What is known of the epoch before it begins."""
        self.moved: Dict[str, Tuple[bytes, bytes]] = {}
        """Generators that moved while the epoch was made ready: their states before and after."""
        self.before = before
        """States before what is under way."""
        self.begun = False
        self.indices: Dict[int, Any] = {}  # number of a task -> the indices that a worker was given
        self.last: Any = None  # indices that were drawn last
        self.worker: Optional[int] = None
        self.handed: Any = None  # indices of the batch that a worker has sent
        self.chosen: Optional[List[Any]] = None  # of a subset: the indices that it takes


class Loaders:
    """The hooks of the iterators of all loaders of a process."""

    def __init__(self, torch: Any, deep: Any) -> None:
        self.torch = torch
        self.deep = deep
        self.mirrors = deep.mirrors
        self.hooks = deep.hooks if deep.mirrors is None else deep.mirrors.hooks
        # a batch of a subclass of Tensor must not see what the recorder asks of it
        self.aside = torch._C.DisableTorchFunction
        self.count = itertools.count()
        # of each loader its number, its place, and what its data set holds
        self.numbers = ByIdentity(_LOADERS)
        self.places = ByIdentity(_LOADERS)
        self.held = ByIdentity(_LOADERS)
        self.epochs: weakref.WeakKeyDictionary[Any, _Epoch] = weakref.WeakKeyDictionary()

    def watch(self) -> None:
        """Wrap the constructor of loaders and the methods of their iterators."""
        from torch.utils.data import dataloader

        # Nothing public lies between a loader and its batches. All iterators derive from this base,
        # and its methods that are wrapped here have been there since before 2.0. `_reset` begins an
        # epoch, by `__init__` or again where workers are persistent; `_next_index` asks the
        # sampler, also ahead of time for workers.
        # private: the one base of all iterators; a loader reports no batches (torch 2.13)
        base = dataloader._BaseDataLoaderIter
        if self.deep.boundary is not None:
            self.deep.boundary.held.append(self.write_private)
            self.deep.boundary.of_loaders.append(self.own_generators)
            self.deep.boundary.archives.parts.append(self.parts)
        if getattr(self.deep.boundary, "values", None) is not None:
            replace(base, "__next__", self.exchanging, put=self.deep.hooks.put)
        self._wrap(dataloader.DataLoader, "__init__", None, self.built)
        self._wrap(base, "__init__", self.before_epoch, self.after_epoch)
        self._wrap(base, "_reset", self.before_epoch, self.after_epoch)
        self._wrap(base, "_next_index", self.before_index, self.after_index)
        self._wrap(base, "__next__", self.before_batch, self.after_batch)
        # what a worker has sent goes through here in the order in which it is handed out
        several = dataloader._MultiProcessingDataLoaderIter
        self._wrap(several, "_process_data", self.from_worker, None)

    def exchanging(self, real: Callable[[Any], Any]) -> Callable[[Any], Any]:
        """Wrap `real` to keep each batch for the resumed run, or to replace it there."""
        values = self.deep.boundary.values

        def following(iterator: Any) -> Any:
            epoch = self.epochs.get(iterator)
            if epoch is None or self.torch.utils.data.get_worker_info() is not None:
                return real(iterator)
            return values.next(epoch.place, lambda: real(iterator))

        return following

    def _wrap(
        self,
        owner: Any,
        name: str,
        before: Optional[Callable[..., None]],
        after: Optional[Callable[..., None]],
    ) -> None:
        self.hooks.around(
            owner,
            name,
            "watching a loader",
            before=before and functools.partial(self._record, before, None),
            after=after and functools.partial(self._record, after),
        )

    def _record(self, look: Callable[..., None], returned: Any, *args: Any, **kwargs: Any) -> None:
        """Call `look`; not in a loader worker, because each worker would record the same."""
        if self.torch.utils.data.get_worker_info() is None:
            with self.aside():
                look(returned, *args, **kwargs)

    def built(self, returned: Any, loader: Any, *args: Any, **kwargs: Any) -> None:
        """Register a loader by its number in the order of construction."""
        self._number(loader)

    def _number(self, loader: Any) -> int:
        return int(self.numbers.once(loader, lambda: next(self.count)))

    def place(self, loader: Any) -> str:
        """Return `DataLoader[0]` with the name of the variable that holds the loader.

        The variable is the one that held the loader when it was first iterated.
        """
        place = self.places.get(loader, "")
        if not place:
            place = "%s[%d]" % (type(loader).__name__, self._number(loader))
            name = variable(self.deep.frame(1), loader)
            if name:
                place += " (%s)" % name
            self.places.keep(loader, place)
        return str(place)

    def before_epoch(
        self, returned: Any, iterator: Any, loader: Any = None, *args: Any, **kwargs: Any
    ) -> None:
        """Note the generator states when a loader's iterator is made, or begins a new epoch."""
        if loader is None:
            return
        known = self.epochs.get(iterator)
        states = self.deep.states()
        if known is not None and not known.begun:  # an iterator over workers is made, then begins
            known.before = states
            return
        place = self.place(loader)
        values = getattr(self.deep.boundary, "values", None)
        if values is not None:
            values.pass_begins(place)
            states = self.deep.states()
        keys: Dict[str, Any] = {"dataset": _class_name(loader.dataset)}
        private = self._private(loader)
        if private:
            keys["private"] = private
        line = self.deep.source(2)
        if line:
            keys["l"] = line
        prints, digest = self.deep.fingerprints, self.deep.hash_bytes
        if not self.deep.hooks.gone:
            facts: Dict[str, str] = self.held.once(
                loader, lambda: torch_held.facts(self.torch, prints, digest, loader.dataset)
            )
            keys.update(facts)
        epoch = self.epochs[iterator] = _Epoch(place, keys, states)
        epoch.chosen = torch_held.indices(self.torch, loader.dataset)
        # the line stays the same where each epoch has a loader of its own
        self.deep.recorder.epoch_began(line or epoch.place)

    def after_epoch(
        self, returned: Any, iterator: Any, loader: Any = None, *args: Any, **kwargs: Any
    ) -> None:
        """Record what was drawn while an iterator was made as part of its epoch."""
        epoch = self.epochs.get(iterator)
        if epoch is None or epoch.begun:
            return
        states = self.deep.states()
        # the iterator says by `_num_workers` and `_base_seed` what it has taken from its loader: a
        # loader may be changed while it is walked through
        if loader is not None and self._only_base_seed(loader, epoch.before, states):
            if iterator._num_workers:
                epoch.keys["drawn_for"] = "workers"
            else:
                epoch.before = {**epoch.before, "torch": states["torch"]}
        self._moved(epoch, states)
        if iterator._num_workers:
            # private: the seed from which workers derive theirs
            epoch.keys["seed"] = iterator._base_seed

    def _moved(self, epoch: _Epoch, states: Dict[str, bytes]) -> None:
        for name, state in states.items():
            before = epoch.before.get(name, state)
            if before != state:
                epoch.moved[name] = (epoch.moved.get(name, (before,))[0], state)
        epoch.before = states

    def _only_base_seed(
        self, loader: Any, before: Dict[str, bytes], after: Dict[str, bytes]
    ) -> bool:
        """Return whether making the iterator drew only the base seed for workers from torch.

        A loader without workers draws that seed too, and never uses it.
        """
        if loader.generator is not None or before.get("torch") == after.get("torch"):
            return False
        # `_BaseDataLoaderIter.__init__` draws `_base_seed`, one int64: the same draw is made from a
        # copy of the state, and compared
        torch = self.torch
        copy = torch.Generator()
        copy.set_state(torch.frombuffer(bytearray(before["torch"]), dtype=torch.uint8))
        torch.empty((), dtype=torch.int64).random_(generator=copy)
        return bool(copy.get_state().numpy().tobytes() == after["torch"])

    def write_private(self) -> None:
        """Write the states of the loaders' own generators when a training is stopped or goes on."""
        for loader, place in self.places.living():
            states = self._private(loader)
            if states:
                self.deep.seen("own", place, call=False, private=states)

    def _private(self, loader: Any) -> Dict[str, str]:
        """Return the states of a loader's and its samplers' own generators, by their path."""
        return {
            path: self.deep.hash_bytes(generator.get_state().numpy().tobytes())
            for path, generator in self._generators(loader)
        }

    def own_generators(self) -> List[Any]:
        """Return the generators that all loaders have of their own."""
        return [
            generator
            for loader, _ in self.places.living()
            for _, generator in self._generators(loader)
        ]

    def parts(self) -> Iterator[Tuple[str, Any]]:
        """Yield (path, loader or sampler) of the loaders that were iterated."""
        for loader, place in self.places.living():
            yield place, loader
            yield "sampler of " + place, loader.sampler

    def _generators(self, loader: Any) -> Iterator[Tuple[str, Any]]:
        """Yield (path, generator) of each generator that a loader or its samplers own."""
        default = self.torch.default_generator
        owner, path = loader, ""
        for _ in range(4):
            attributes = getattr(owner, "__dict__", {})
            generator = attributes.get("generator", default)
            if generator is not default and isinstance(generator, self.torch.Generator):
                yield path + "generator", generator
            name = "sampler"
            if attributes.get("batch_sampler") is not None:
                name = "batch_sampler"
            owner, path = attributes.get(name), path + name + "."

    def before_index(self, returned: Any, iterator: Any) -> None:
        """Note the generator states before the sampler is asked for a batch's indices."""
        epoch = self.epochs.get(iterator)
        if epoch is not None and not epoch.begun:
            epoch.before = self.deep.states()

    def after_index(self, indices: Any, iterator: Any) -> None:
        """Keep the indices of a batch; after the first batch the whole order may be recorded."""
        epoch = self.epochs.get(iterator)
        if epoch is None:
            return
        epoch.last = torch_order.plain(indices)
        # the number of the task that a worker is given with them
        if hasattr(iterator, "_send_idx"):
            epoch.indices[iterator._send_idx] = epoch.last
        if not epoch.begun:
            epoch.begun = True
            states = self.deep.states()
            if states != epoch.before:
                epoch.keys.pop("drawn_for", None)
            self._moved(epoch, states)
            self._say_epoch(epoch, iterator)

    def _say_epoch(self, epoch: _Epoch, iterator: Any) -> None:
        keys = dict(epoch.keys)
        if epoch.moved:
            digest = self.deep.hash_bytes
            keys["g"] = {name: digest(states[0]) for name, states in epoch.moved.items()}
            keys["g2"] = {name: digest(states[1]) for name, states in epoch.moved.items()}
        if epoch.last is not None:
            # the sampler's own iterator, and the sampler (or the batch sampler) that it is of
            order, complete = torch_order.epoch(
                iterator._sampler_iter, iterator._index_sampler, epoch.last
            )
            if order is not None:
                order = torch_held.mapped(order, epoch.chosen)
                keys["idx"] = order[: torch_order.LIMIT]
                keys["order"] = self.deep.hash_bytes(torch_order.content(order))
                if not complete or len(order) > torch_order.LIMIT:
                    keys["cut"] = True
        self.deep.seen("epoch", epoch.place, **keys)
        if self.mirrors is not None:
            self._tell_pass(epoch, iterator, keys)

    def _tell_pass(self, epoch: _Epoch, iterator: Any, keys: Dict[str, Any]) -> None:
        """Record the order of a pass for the mirrors, and whether it is meant to be shuffled."""
        told: Dict[str, Any] = {}
        order = keys.get("idx")
        if order and not keys.get("cut"):
            is_sorted = order == sorted(order, key=lambda index: (str(type(index)), index))
            told.update(order=keys["order"], count=len(set(order)), ascends=is_sorted)
            shuffles = torch_order.shuffles(iterator._index_sampler)
            if shuffles is None and (epoch.moved or epoch.keys.get("private")):
                shuffles = True
            told["shuffles"] = shuffles
        self.mirrors.begins(epoch.place, epoch.keys.get("l", ""), iterator, **told)

    def before_batch(self, returned: Any, iterator: Any) -> None:
        """Note the generator states before the next batch is loaded."""
        epoch = self.epochs.get(iterator)
        if epoch is not None:
            epoch.worker = epoch.handed = None
            epoch.before = self.deep.states()

    def from_worker(
        self, returned: Any, iterator: Any, data: Any, worker: Any = None, *args: Any, **kwargs: Any
    ) -> None:
        """Note which worker loaded the batch that the loader is about to return.

        The indices of the batch are those of the task that the loader no longer waits for.
        """
        epoch = self.epochs.get(iterator)
        if epoch is None:
            return
        epoch.worker = worker
        # tasks that were sent (`_send_idx` is the next one) and are not under way (`_task_info`)
        done = [
            task
            for task in epoch.indices
            if task not in iterator._task_info and task < iterator._send_idx
        ]
        epoch.handed = None
        for task in done:
            epoch.handed = epoch.indices.pop(task)

    def after_batch(self, batch: Any, iterator: Any) -> None:
        """Record a batch that the loader returns."""
        epoch = self.epochs.get(iterator)
        is_left_out = self.deep.rests and self.deep.boundary is None
        if epoch is None or is_left_out:
            return
        keys: Dict[str, Any] = self.deep.moved(epoch.before)
        if self.deep.hooks.gone:
            self.mirrors.batch(epoch.place, batch, worker=epoch.worker)
            return
        indices = epoch.last if epoch.worker is None else epoch.handed
        if indices is not None:
            keys["idx"] = torch_held.mapped(indices[: torch_order.LIMIT], epoch.chosen)
        if epoch.worker is not None:
            keys["w"] = epoch.worker
        prints = self.deep.fingerprints
        # which batch it is, its indices and its hash say
        is_known = self.deep.rests and indices is not None
        samples = None if is_known else prints.samples(batch)
        if samples and (indices is None or len(samples) == len(indices)):
            keys["n"] = samples
        leaves = prints.hashes if self.deep.rests else prints.leaves
        self.deep.seen(
            "batch", epoch.place, out=leaves(batch), dataset=epoch.keys["dataset"], **keys
        )
        if self.mirrors is not None:
            self.mirrors.batch(epoch.place, batch, samples, worker=epoch.worker)


def _class_name(dataset: Any) -> str:
    """Return the name of a data set's class; if it wraps another data set, both names."""
    names: List[str] = []
    for _ in range(4):
        names.append(type(dataset).__name__)
        dataset = getattr(dataset, "__dict__", {}).get("dataset")
        if dataset is None:
            break
    return " of ".join(names)
