"""The control `single-worker` for PyTorch: loaders load in the process that trains.

Under the variation `arrival`, batches of workers come a little later; under `workers`, loaders have
more workers.
"""

import functools
import inspect
from time import sleep
from typing import Any

from ....controls import arrival
from ....recorder import import_hook
from ....recorder.hooking import around, replace

LOADERS = (
    ("torch.utils.data.dataloader", "DataLoader"),
    ("torchdata.stateful_dataloader.stateful_dataloader", "StatefulDataLoader"),
)
"""Module and class of each loader that starts workers by itself."""
NEUTRAL = {
    "num_workers": 0,
    "prefetch_factor": None,
    "persistent_workers": False,
    "timeout": 0,
    "multiprocessing_context": None,
}
"""What a loader without workers must be given: anything else is an error of its constructor."""
_WHAT = "DataLoader(num_workers)"


def single_worker(torch: Any, active: Any) -> None:
    """Make every loader load without workers, even if the script sets `num_workers` later."""
    for module, name in LOADERS:
        import_hook.when_imported(module, functools.partial(_watch, active, name))


def late_batches(torch: Any, active: Any) -> None:
    """Delay each batch in the worker that makes it, by another number of milliseconds each."""
    for module, name in LOADERS:
        import_hook.when_imported(module, functools.partial(_note_workers, active, name))
    import_hook.when_imported("torch.utils.data._utils.fetch", functools.partial(_delay, active))


def more_workers(torch: Any, active: Any) -> None:
    """Give each loader that has workers some more of them."""
    for module, name in LOADERS:
        import_hook.when_imported(module, functools.partial(_add_workers, active, name))


def _add_workers(active: Any, name: str, module: Any) -> None:
    def adding(real: Any) -> Any:
        def _get_iterator(self: Any) -> Any:
            workers = self.num_workers
            if not workers:
                return real(self)
            active.touched("workers", _WHAT, workers)
            # for the iterator alone, which reads it as it is made; the script sees its own number
            object.__setattr__(self, "num_workers", workers + int(active.settings["workers"]))
            try:
                return real(self)
            finally:
                object.__setattr__(self, "num_workers", workers)

        return _get_iterator

    with active.trying("workers", "%s.%s" % (module.__name__, name)):
        replace(getattr(module, name), "_get_iterator", adding)


def _note_workers(active: Any, name: str, module: Any) -> None:
    def noting(real: Any) -> Any:
        def _get_iterator(self: Any) -> Any:
            if self.num_workers:
                active.touched("arrival", _WHAT, self.num_workers)
            return real(self)

        return _get_iterator

    replace(getattr(module, name), "_get_iterator", noting)


def _delay(active: Any, module: Any) -> None:
    from torch.utils.data import get_worker_info

    def late(real: Any) -> Any:
        def fetch(self: Any, indices: Any) -> Any:
            batch = real(self, indices)
            if get_worker_info() is not None:
                sleep(arrival.delay(active))
            return batch

        return fetch

    # what a worker calls for each batch; private, the same in torch 2.0 to 2.13
    for name in ("_MapDatasetFetcher", "_IterableDatasetFetcher"):
        replace(getattr(module, name), "fetch", late)


def _watch(active: Any, name: str, module: Any) -> None:
    with active.trying("single-worker", "%s.%s" % (module.__name__, name)):
        loader = getattr(module, name)
        _constructor(active, loader)
        # where `DataLoader.__iter__` asks for the number of workers, after a script may have set it
        if "_get_iterator" in vars(loader):
            _iteration(active, loader)


def _constructor(active: Any, loader: Any) -> None:
    signature = inspect.signature(loader.__init__)

    def without_workers(real: Any) -> Any:
        def __init__(self: Any, *args: Any, **kwargs: Any) -> None:  # noqa: N807
            try:
                bound = signature.bind(self, *args, **kwargs)
                workers = bound.arguments.get("num_workers", 0)
                if workers:
                    active.touched("single-worker", _WHAT, _said(workers, bound.arguments))
                    for name, value in NEUTRAL.items():
                        if name in bound.arguments:
                            bound.arguments[name] = value
                    if "in_order" in bound.arguments:
                        bound.arguments["in_order"] = True
                    args, kwargs = bound.args[1:], bound.kwargs
            except TypeError:
                pass  # the constructor says what is wrong
            real(self, *args, **kwargs)

        return __init__

    replace(loader, "__init__", without_workers)


def _said(workers: Any, arguments: Any) -> Any:
    """Return the number of workers asked for, with a note if `worker_init_fn` is not called."""
    if arguments.get("worker_init_fn") is None:
        return workers
    return "%s, worker_init_fn is not called" % workers


def _iteration(active: Any, loader: Any) -> None:
    """Override a number of workers that the script set on the loader after making it."""

    def iterating(self: Any) -> None:
        if not self.num_workers:
            return
        active.touched("single-worker", _WHAT, self.num_workers)
        # past `DataLoader.__setattr__`, which refuses `persistent_workers` once the loader is made
        for name, value in NEUTRAL.items():
            if name != "multiprocessing_context" and hasattr(self, name):
                object.__setattr__(self, name, value)

    around(loader, "_get_iterator", "controls: single-worker", before=iterating)
