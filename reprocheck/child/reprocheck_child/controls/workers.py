"""The control `single-worker`: Python's own pools get one worker.

So tasks run, finish and return results in the order of submission.

It acts on pools that the user's own modules make, and on those of the libraries in `LIBRARIES`.
Tasks of a thread pool may wait for each other, or submit others: a task that a worker submits to
its own pool runs at once, and if no task has finished for a while the pool gets its original number
of threads.
"""

from __future__ import annotations

import inspect
import sys
from functools import partial
from itertools import count
from time import monotonic

from ..recorder import import_hook
from ..recorder.hooking import guarded, replace

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from typing import Any, Callable

    from .active_controls import Active

NAME = "single-worker"
PATIENCE = 20.0
"""Seconds without a finished task after which tasks are taken to wait for each other."""
THROUGH = ("multiprocessing", "concurrent", "torch.multiprocessing", "asyncio")
"""Modules that make pools for whoever calls them."""
LIBRARIES = (
    # `in_order=False` hands out what is ready first; without workers it maps where it is asked.
    ("torchdata.nodes.map", "ParallelMapper", "__init__", "num_workers", 0),
    # Doc2Vec and FastText call this constructor, too.
    ("gensim.models.word2vec", "Word2Vec", "__init__", "workers", 1),
    ("joblib.parallel", "Parallel", "__init__", "n_jobs", 1),
    # The threads of Polars hash with numbers that are new in each process, one thread too.
    ("polars.dataframe.frame", "DataFrame", "group_by", "maintain_order", True),
    ("polars.dataframe.frame", "DataFrame", "unique", "maintain_order", True),
    ("polars.lazyframe.frame", "LazyFrame", "group_by", "maintain_order", True),
    ("polars.lazyframe.frame", "LazyFrame", "unique", "maintain_order", True),
)
"""Module, class, method, its argument that decides the order, and what that is set to."""


def install(active: Active) -> None:
    """Replace pools when the modules that define them are imported."""
    for name, kind, method, keyword, value in LIBRARIES:
        order = partial(_library, kind, method, keyword, value)
        import_hook.when_imported(name, guarded("single worker")(partial(order, active)))
    for name, act in (
        ("multiprocessing.pool", _pool),
        ("concurrent.futures.thread", _threads),
        ("concurrent.futures.process", _processes),
        ("concurrent.futures._base", _results),
        ("asyncio.tasks", _coroutines),
    ):
        import_hook.when_imported(name, guarded("single worker")(partial(act, active)))


def _library(
    kind: str, method: str, keyword: str, number: int, active: Active, module: Any
) -> None:
    signature = inspect.signature(getattr(getattr(module, kind), method))
    default = signature.parameters[keyword].default

    def make(real: Callable[..., Any]) -> Callable[..., Any]:
        def ordered(self: Any, *args: Any, **kwargs: Any) -> Any:
            try:
                bound = signature.bind(self, *args, **kwargs)
            except TypeError:
                return real(self, *args, **kwargs)  # the function says what is wrong
            given = bound.arguments.get(keyword, default)
            if isinstance(given, int) and given != number:
                active.touched(NAME, "%s of %s" % (keyword, kind), number)
                bound.arguments[keyword] = number
            return real(*bound.args, **bound.kwargs)

        return ordered

    replace(getattr(module, kind), method, make)


def _pool(active: Active, module: Any) -> None:
    def make(real: Callable[..., None]) -> Callable[..., None]:
        def initialise(self: Any, processes: Any = None, *args: Any, **kwargs: Any) -> None:
            if processes != 1 and active.asked_by_user(through=THROUGH):
                active.touched(
                    NAME,
                    "multiprocessing.%s of %s"
                    % (type(self).__name__, processes or "all processors"),
                    1,
                )
                processes = 1
            real(self, processes, *args, **kwargs)

        return initialise

    replace(module.Pool, "__init__", make)


def _processes(active: Active, module: Any) -> None:
    replace(module.ProcessPoolExecutor, "__init__", lambda real: _one_worker(active, real))


def _one_worker(active: Active, real: Callable[..., None]) -> Callable[..., None]:
    def initialise(self: Any, max_workers: Any = None, *args: Any, **kwargs: Any) -> None:
        single = max_workers != 1 and active.asked_by_user(through=THROUGH)
        real(self, max_workers, *args, **kwargs)
        if single:
            active.touched(NAME, "%s of %s" % (type(self).__name__, self._max_workers), 1)
            self._reprocheck_threads, self._max_workers = self._max_workers, 1

    return initialise


def _threads(active: Active, module: Any) -> None:
    kind = module.ThreadPoolExecutor
    replace(kind, "__init__", lambda real: _one_worker(active, real))

    def make(real: Callable[..., Any]) -> Callable[..., Any]:
        def submit(self: Any, fn: Any, /, *args: Any, **kwargs: Any) -> Any:
            if not hasattr(self, "_reprocheck_threads"):
                return real(self, fn, *args, **kwargs)
            if sys.modules["threading"].current_thread() in self._threads:
                return _at_once(module, fn, args, kwargs)
            future = real(self, fn, *args, **kwargs)
            _watch(active, self)
            return future

        return submit

    replace(kind, "submit", make)
    replace(kind, "shutdown", _shut_down)


def _shut_down(real: Callable[..., None]) -> Callable[..., None]:
    def shutdown(self: Any, wait: bool = True, **kwargs: Any) -> None:
        if not wait or not hasattr(self, "_reprocheck_threads"):
            real(self, wait, **kwargs)
            return
        real(self, False, **kwargs)
        # CPython iterates over the set itself, which fails where `_watch` adds threads
        # meanwhile
        ended: set[Any] = set()
        while True:
            threads = set(self._threads) - ended
            if not threads:
                return
            for thread in threads:
                thread.join()
            ended |= threads

    return shutdown


def _at_once(module: Any, fn: Any, args: Any, kwargs: Any) -> Any:
    """Run a task at once if a task of the same pool submits it; return its finished future.

    The pool's only worker may be waiting for the task.
    """
    future = module._base.Future()
    future.set_running_or_notify_cancel()
    try:
        future.set_result(fn(*args, **kwargs))
    except BaseException as error:
        future.set_exception(error)
    return future


def _watch(active: Active, pool: Any) -> None:
    """Watch a thread pool for tasks that wait for each other, with a timer; give it more threads.

    The timer's thread ends with the process.
    """
    # Nothing public says how many tasks wait, or lets a pool have more threads once it is made. The
    # queue, the limit and `_adjust_thread_count` have been the same since Python 3.9.
    if getattr(pool, "_reprocheck_watched", False):
        return
    pool._reprocheck_watched = True
    threading = sys.modules["threading"]

    def look(before: int) -> None:
        waiting = pool._work_queue.qsize()
        if pool._shutdown and not waiting:
            return
        if waiting and waiting >= before:
            active.unavailable(NAME, "tasks of a thread pool seem to wait for each other")
            pool._max_workers = pool._reprocheck_threads
            for _ in range(waiting):
                pool._adjust_thread_count()
            return
        later(waiting or sys.maxsize)

    def later(before: int) -> None:
        timer = threading.Timer(PATIENCE, look, [before])
        timer.daemon = True
        timer.start()

    later(sys.maxsize)


def _results(active: Active, module: Any) -> None:
    """Make `as_completed` and `wait` return futures in the order of submission."""
    numbers = count()

    def numbered(real: Callable[..., None]) -> Callable[..., None]:
        def initialise(self: Any) -> None:
            real(self)
            self._reprocheck_number = next(numbers)

        return initialise

    replace(module.Future, "__init__", numbered)

    def completed(real: Callable[..., Any]) -> Callable[..., Any]:
        def as_completed(fs: Iterable[Any], timeout: float | None = None) -> Any:
            if not active.asked_by_user(through=THROUGH):
                return real(fs, timeout)
            active.touched(NAME, "concurrent.futures.as_completed")
            return _in_turn(module, sorted(set(fs), key=_number), timeout)

        return as_completed

    def waited(real: Callable[..., Any]) -> Callable[..., Any]:
        def wait(
            fs: Iterable[Any], timeout: float | None = None, return_when: str = module.ALL_COMPLETED
        ) -> Any:
            result = real(fs, timeout, return_when)
            if not active.asked_by_user(through=THROUGH):
                return result
            active.touched(NAME, "concurrent.futures.wait")
            return type(result)(_InOrder(result[0]), _InOrder(result[1]))

        return wait

    replace(module, "as_completed", completed)
    replace(module, "wait", waited)


def _in_turn(module: Any, futures: list[Any], timeout: float | None) -> Iterator[Any]:
    end = None if timeout is None else monotonic() + timeout
    for place, future in enumerate(futures):
        try:
            future.exception(None if end is None else max(0.0, end - monotonic()))
        except module.CancelledError:
            pass
        except module.TimeoutError:
            if not future.done():
                raise module.TimeoutError(
                    "%d (of %d) futures unfinished" % (len(futures) - place, len(futures))
                ) from None
        yield future


def _coroutines(active: Active, module: Any) -> None:
    """Return the results of coroutines in the order in which the coroutines were given.

    They still run concurrently.
    """

    def completed(real: Callable[..., Any]) -> Callable[..., Any]:
        def as_completed(fs: Iterable[Any], *, timeout: float | None = None) -> Any:
            # a set has no order that could be kept, and a limit of time is for the whole
            in_order = timeout is None and not isinstance(fs, (set, frozenset))
            if not in_order or not active.asked_by_user(through=THROUGH):
                return real(fs, timeout=timeout)
            active.touched(NAME, "asyncio.as_completed")
            return _Awaited([module.ensure_future(future) for future in fs])

        return as_completed

    replace(module, "as_completed", completed)


class _Awaited:
    """Futures that are awaited one after the other.

    They serve `for`, which awaits what it is given, and `async for` of Python 3.13.
    """

    def __init__(self, futures: list[Any]) -> None:
        self._left = iter(futures)

    def __iter__(self) -> Iterator[Any]:
        return self

    def __next__(self) -> Any:
        return next(self._left)

    def __aiter__(self) -> Any:
        return self

    async def __anext__(self) -> Any:
        for future in self._left:
            await sys.modules["asyncio"].wait([future])
            return future
        raise StopAsyncIteration


def _number(future: Any) -> int:
    return int(getattr(future, "_reprocheck_number", 0))


class _InOrder(set):  # type: ignore[type-arg]
    """A set of futures that is iterated in the order of submission."""

    def __iter__(self) -> Iterator[Any]:
        return iter(sorted(super().__iter__(), key=_number))
