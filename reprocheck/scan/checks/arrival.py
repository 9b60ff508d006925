"""Results in the order in which they arrive, draws in parallel, threads that share weights."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from reprocheck.scan.checks import sequences, streams
from reprocheck.scan.checks.streams import at, every, given, is_none, short
from reprocheck.scan.order import Order
from reprocheck.scan.project import Module, Project
from reprocheck.scan.registry import Hit, check, hit
from reprocheck.scan.steps import Call
from reprocheck.scan.values import Constant, Items, Made, Value

_ARRIVES = frozenset(
    {
        "concurrent.futures.as_completed",
        "asyncio.as_completed",
        "ray.wait",
        "ray.util.as_completed",
        "dask.distributed.as_completed",
    }
)
_ARRIVES_BY_METHOD = frozenset({"imap_unordered", "as_completed", "map_unordered"})
_QUEUES = frozenset(
    f"{name}().get"
    for name in (
        "queue.Queue",
        "queue.SimpleQueue",
        "multiprocessing.Queue",
        "multiprocessing.SimpleQueue",
        "torch.multiprocessing.Queue",
    )
)
_WRITES = frozenset(
    {"add_", "sub_", "mul_", "div_", "copy_", "step", "backward", "addcmul_", "lerp_"}
)
_THREADS = (
    "threading.Thread",
    "torch.multiprocessing.Process",
    "multiprocessing.Process",
    "concurrent.futures.ThreadPoolExecutor().submit",
)
_LOCKS = ("Lock", "RLock", "Semaphore", "Condition")


@check("RC508")
def arrival(module: Module, project: Project) -> Iterator[Hit]:
    """What is ready first comes first."""
    for order in module.orders:
        for call in every(order):
            if call.name in _ARRIVES or (call.method in _ARRIVES_BY_METHOD and not call.own):
                use = sequences.decided(order, call.result)
                if use is not None and not sequences.is_blindly_used(call.node, call):
                    message = f"`{call.method}` gives results as they arrive, and {use.how}"
                    yield hit("RC508", call, message, patchable=_has_order(call))
            elif call.name in _QUEUES and streams.trains(order) and _has_several_producers(order):
                yield hit(
                    "RC508",
                    call,
                    "several threads or processes put into queues here: what is ready first comes"
                    " first",
                )
                break
            elif call.method.endswith("DataLoader") and given(call, "in_order=False", sure=True):
                yield hit(
                    "RC508", call, "`in_order=False` hands out batches as workers finish them"
                )
            elif (
                call.method in ("map", "interleave", "batch")
                and given(call, "deterministic=False", sure=True)
                and "num_parallel_calls" in call.keywords
            ):
                yield hit(
                    "RC508", call, "`deterministic=False` hands out elements as they are ready"
                )
        for store in order.stores():
            off = isinstance(store.value, Constant) and store.value.value is False
            if (
                off
                and store.name.startswith("tensorflow.")
                and store.name.endswith(("deterministic", "experimental_deterministic"))
            ):
                yield hit(
                    "RC508",
                    store,
                    "with this option the data pipeline hands out elements as they are ready",
                )


def _has_several_producers(order: Order) -> bool:
    """Whether what puts into one queue is started more than once."""
    makers: dict[int, dict[int, Call]] = {}
    for put in order.methods("put", "put_nowait"):
        if put.by is None or not put.by.named(*_THREADS):
            continue
        if _is_repeated(put.by, since=_loops_of(put.receiver)):
            return True
        for queue in put.receiver.options() if put.receiver is not None else ():
            makers.setdefault(id(queue) if isinstance(queue, Made) else 0, {})[id(put.by)] = put.by
    return any(len(one) > 1 for one in makers.values())


def _loops_of(queue: Value | None) -> int:
    """How many loops stand around the making of a queue: in each turn it is a new one."""
    return (
        min((one.call.loops for one in queue.options() if isinstance(one, Made)), default=0)
        if queue is not None
        else 0
    )


def _has_order(call: Call) -> bool:
    """Whether what it waits for has an order of its own: `imap` keeps that, and futures in a list
    can be gone over as they are.
    """
    if call.method == "imap_unordered":
        return isinstance(call.node, ast.Call) and isinstance(call.node.func, ast.Attribute)
    parent = call.module.parent(call.node)
    if (
        call.name != "concurrent.futures.as_completed"
        or not isinstance(parent, ast.For | ast.comprehension)
        or len(call.arguments) != 1
    ):
        return False
    futures = call.argument(0)
    return (
        isinstance(futures, Items)
        and futures.kind in ("list", "tuple", "dict")
        and not call.keywords
    )


@check("RC509")
def parallel_map(module: Module, project: Project) -> Iterator[Hit]:
    """Stateful draws inside of a parallel `map` of tf.data."""
    for order in module.orders:
        yield from _in_threads(order)
        if (
            next(order.calls("tensorflow.config.experimental.enable_op_determinism"), None)
            is not None
        ):
            continue
        for drawing in streams.drawings(order):
            call = drawing.call.by
            if (
                call is None
                or call.method not in ("map", "interleave")
                or not drawing.streams & {"tensorflow", "numpy", "python"}
            ):
                continue
            parallel = call.keywords.get("num_parallel_calls")
            if is_none(parallel) or (isinstance(parallel, Constant) and parallel.value == 1):
                continue
            drawn = f"`{short(drawing.call.name)}` ({at(drawing.call, call.module)})"
            message = (
                f"{drawn} draws inside of a parallel map: threads decide which call gets which"
                " number"
            )
            yield hit("RC509", call, message, node=_argument(call.node))


def _in_threads(order: Order) -> Iterator[Hit]:
    """Python functions in a `map` of MindSpore: its workers are threads of one process, with one
    generator.
    """
    told: set[int] = set()
    for drawing in streams.drawings(order):
        call = drawing.call.by
        if call is None or id(call) in told or not drawing.streams & {"numpy", "python"}:
            continue
        if (
            call.method != "map"
            or not call.name.startswith("mindspore.dataset.")
            or not _has_threads(order, call)
        ):
            continue
        told.add(id(call))
        drawn = f"`{short(drawing.call.name)}` ({at(drawing.call, call.module)})"
        message = (
            f"{drawn} draws in the threads of this `map`: which sample gets which number is left to"
            " them, with a seed as well"
        )
        yield hit("RC509", call, message)


def _has_threads(order: Order, call: Call) -> bool:
    """Whether a `map` runs Python in several threads: it does unless told otherwise."""
    if call.open or given(call, "python_multiprocessing=True"):
        return False
    workers = call.argument(None, "num_parallel_workers")
    if workers is None:
        default = next(
            (
                one.argument(0, "num")
                for one in order.calls("mindspore.dataset.config.set_num_parallel_workers")
            ),
            None,
        )
        return default is None or (isinstance(default, Constant) and default.value != 1)
    return isinstance(workers, Constant) and workers.value != 1


@check("RC514")
def parallel_workers(module: Module, project: Project) -> Iterator[Hit]:
    """More than one data worker in MindSpore."""
    for order in module.orders:
        if not order.whole:
            continue
        for call in every(order):
            workers = call.keywords.get("num_parallel_workers")
            if call.name == "mindspore.dataset.config.set_num_parallel_workers":
                workers = call.argument(0, "num")
            if (
                isinstance(workers, Constant)
                and isinstance(workers.value, int)
                and workers.value > 1
            ):
                yield hit(
                    "RC514",
                    call,
                    f"with {workers.value} data workers random operators draw other numbers than"
                    " with one",
                )
                break


@check("RC902")
def shared_weights(module: Module, project: Project) -> Iterator[Hit]:
    """Threads or processes that write the same tensors."""
    for order in module.orders:
        call = next((call for call in order.methods(*_WRITES) if _is_unlocked(order, call)), None)
        if call is not None and call.by is not None:
            message = (
                f"the thread or process writes weights (`{call.method}`,"
                f" {at(call, call.by.module)}) without waiting for others"
            )
            yield hit("RC902", call.by, message)
            continue
        for by in order.calls("threading.Thread", "concurrent.futures.ThreadPoolExecutor().submit"):
            if (
                _are_several(order, by)
                and _uses_tensors(by.module)
                and _writes_in_place(by) is not None
            ):
                yield hit(
                    "RC902", by, "the thread changes tensors in place without waiting for others"
                )
                break


def _is_unlocked(order: Order, call: Call) -> bool:
    by = call.by
    if (
        by is None
        or not by.named(*_THREADS)
        or not _uses_tensors(call.module)
        or not _are_several(order, by)
    ):
        return False
    if any(
        (context.name or "").rpartition(".")[2].rstrip("()") in _LOCKS for context in call.contexts
    ):
        return False
    return by.method != "Process" or next(order.methods("share_memory"), None) is not None


def _are_several(order: Order, by: Call) -> bool:
    """Whether more than one is started."""
    return _is_repeated(by) or len(list(order.calls(*_THREADS))) > 1


def _is_repeated(by: Call, *, since: int = 0) -> bool:
    """Whether several of it are made before one is waited for: in a comprehension, or in a loop
    that `since` loops stand around.
    """
    node: ast.AST | None = by.module.parent(by.node)
    while node is not None and not isinstance(node, ast.stmt):
        if isinstance(node, ast.ListComp | ast.GeneratorExp | ast.SetComp):
            return True
        node = by.module.parent(node)
    return by.loops > since and not _is_waited_for(by)


def _is_waited_for(by: Call) -> bool:
    """Whether the loop around it ends each turn with a `join`, or what is made is a list of one."""
    at = by.module.parent(by.node)
    while at is not None and not isinstance(at, ast.For | ast.While):
        at = by.module.parent(at)
    return at is not None and any(
        isinstance(part, ast.Attribute) and part.attr in ("join", "result") for part in ast.walk(at)
    )


def _writes_in_place(by: Call) -> ast.AugAssign | None:
    """`weight += ...` in the function that a thread runs; a counter does no harm."""
    target = by.argument(None if by.method == "Thread" else 0, "target")
    node = getattr(target, "node", None)
    for part in ast.walk(node) if isinstance(node, ast.AST) else ():
        if (
            isinstance(part, ast.AugAssign)
            and not isinstance(part.value, ast.Constant)
            and any(isinstance(one, ast.Call) for one in ast.walk(part.value))
        ):
            return part
    return None


def _uses_tensors(module: Module) -> bool:
    return module.uses_package("torch", "mindspore", "torch_npu", "tensorflow", "jax")


def _argument(node: ast.AST) -> ast.AST:
    """The argument that makes it parallel."""
    keywords = node.keywords if isinstance(node, ast.Call) else []
    return next(
        (keyword.value for keyword in keywords if keyword.arg == "num_parallel_calls"), node
    )
