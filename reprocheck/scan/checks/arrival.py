"""Results in the order in which they arrive, draws in parallel, threads that share weights."""

from __future__ import annotations

import ast
import re
from collections import defaultdict
from collections.abc import Iterator, Set
from dataclasses import dataclass

from reprocheck.language import mark, tr
from reprocheck.scan import syntax
from reprocheck.scan.checks import sequences, streams
from reprocheck.scan.checks.streams import at, every, given, short
from reprocheck.scan.index import holds, of_kind, within
from reprocheck.scan.names import last_part
from reprocheck.scan.order import Order
from reprocheck.scan.project import Module
from reprocheck.scan.registry import Hit, check_orders, check_programs, hit
from reprocheck.scan.steps import Call
from reprocheck.scan.values import Constant, Items, Made, Value, is_none, literal
from reprocheck.scan.vocabulary import names, words

ARRIVES = words("arrival", "arrives")
ARRIVES_BY_METHOD = words("arrival", "arrives_by_method")
_QUEUES = frozenset(f"{name}().get" for name in names("arrival", "queues"))
_WRITES = words("arrival", "writes")
_THREADS = names("arrival", "threads")
_POOLS = names("arrival", "pools")
_STARTS = frozenset(map(last_part, (*_POOLS, "threading.Thread")))
"""Methods and classes to which a function is given that threads run."""
_LOCKS = names("arrival", "locks")


_OF_THREADS = frozenset({"map", "interleave"})
_OF_GENERATORS = names("arrival", "of_generators")
_PIPELINES = words("arrival", "pipelines")
_UNORDERED_OPTION = re.compile(r"^tensorflow\..*deterministic$")
_SET_WORKERS = "mindspore.dataset.config.set_num_parallel_workers"
_COMPREHENSIONS = (ast.ListComp, ast.GeneratorExp, ast.SetComp)
_WAITS = frozenset({"join", "result"})
_STARTED_THREADS = ("threading.Thread", "concurrent.futures.ThreadPoolExecutor().submit")
_TARGET_AT = {"submit": 0}
"""Where the function that a thread runs stands by position; else it is a keyword alone."""


@check_orders("RC508")
def arrival(order: Order) -> Iterator[Hit]:
    """Find results that a program uses in the order in which threads or processes finish them."""
    for call in every(order):
        if call.name in ARRIVES or call.library_method in ARRIVES_BY_METHOD:
            use = sequences.decided(order, call.result)
            if use is not None and not sequences.is_blindly_used(call.node, call):
                message = f"`{call.method}` gives results as they arrive, and {use.how}"
                by_hand = tr(_BY_HAND[call.name]) if call.name in _BY_HAND else ""
                yield hit("RC508", call, message, patchable=_has_order(call), by_hand=by_hand)
        elif call.name not in _QUEUES:
            option = next((option for option in _UNORDERED if option.is_off(call)), None)
            if option is not None:
                yield hit("RC508", call, option.message)
        elif streams.trains(order) and _has_several_producers(order):
            around = call.module.expressions_around(call.node)
            if any(sequences.is_sorting(call.module, node) for node in around):
                continue
            message = (
                "several threads or processes put into queues here: what is ready first comes first"
            )
            yield hit("RC508", call, message)
            return


@dataclass(frozen=True, slots=True)
class _Option:
    """An argument by which a pipeline of data gives up its order.

    methods   the last parts of the names of calls that take it
    keyword   what makes such a call parallel, without which the argument changes nothing
    """

    methods: re.Pattern[str]
    keyword: frozenset[str]
    condition: str
    message: str

    def is_off(self, call: Call) -> bool:
        """Return whether a call switches the fixed order of its results off with this argument."""
        is_meant = self.methods.search(call.method) and self.keyword <= call.keywords.keys()
        return bool(is_meant) and given(call, self.condition, sure=True)


_UNORDERED = (
    # An argument of loaders since torch 2.6, and on by default.
    _Option(
        methods=re.compile("DataLoader$"),
        keyword=frozenset(),
        condition="in_order=False",
        message="`in_order=False` hands out batches as workers finish them",
    ),
    # tf.data keeps the order of a parallel `map` unless it is told otherwise.
    _Option(
        methods=re.compile("^(map|interleave|batch)$"),
        keyword=frozenset({"num_parallel_calls"}),
        condition="deterministic=False",
        message="`deterministic=False` hands out elements as they are ready",
    ),
)


_BY_HAND = {
    "asyncio.as_completed": mark(
        "Go over `await asyncio.gather(*coroutines)` instead: it keeps the order in which they"
        " were given."
    )
}
"""What to write instead, where that is no other word in the same place."""


@check_orders("RC508")
def unordered_options(order: Order) -> Iterator[Hit]:
    """Find an option of TensorFlow by which a data pipeline gives up its order."""
    for store in order.stores():
        if literal(store.value) is False and _UNORDERED_OPTION.search(store.name):
            yield hit(
                "RC508",
                store,
                "with this option the data pipeline hands out elements as they are ready",
            )


def _has_several_producers(order: Order) -> bool:
    """Return whether several threads or processes put items into the same queue."""
    makers: dict[int, set[int]] = defaultdict(set)
    for put, by in _in_parallel(order, "put", "put_nowait"):
        queues = _receivers(put)
        made = list(of_kind(queues, Made))
        # in each turn of a loop around its making it is a new queue
        loops = min((queue.call.loops for queue in made), default=0)
        if _is_repeated(by, since=loops):
            return True
        for queue in made:
            makers[id(queue)].add(id(by))
        if len(made) < len(queues):
            makers[0].add(id(by))  # those of which it is not known where they were made
    return any(len(starts) > 1 for starts in makers.values())


def _in_parallel(order: Order, *methods: str) -> Iterator[tuple[Call, Call]]:
    """Yield the calls of the named methods that run in a thread or process.

    Each with the call that starts this thread or process.
    """
    for call in order.methods(*methods):
        if call.by is not None and call.by.named(*_THREADS):
            yield call, call.by


def _receivers(call: Call) -> tuple[Value, ...]:
    """Return the objects whose method a call may call: `queue` of `queue.put(x)`."""
    if call.receiver is None:
        return ()
    return call.receiver.options()


def _has_order(call: Call) -> bool:
    """Return whether a call can be replaced by one that keeps the order of its tasks.

    `imap` in place of `imap_unordered`, or the list of futures in place of `as_completed(futures)`.
    """
    if call.method == "imap_unordered":
        return syntax.is_method_call(call.node)
    match call.parent, call:
        case (
            ast.For() | ast.comprehension(),
            Call(
                name="concurrent.futures.as_completed",
                arguments=(Items(kind="list" | "tuple" | "dict"),),
            ),
        ):
            # Another argument is a timeout, and a future that is gone over as it is has none.
            return not call.keywords
    return False


def draws_in_order(order: Order) -> bool:
    """Return whether the program calls `enable_op_determinism`.

    tf.data then runs a `map` that draws random numbers in one thread.
    """
    return any(order.calls("tensorflow.config.experimental.enable_op_determinism"))


@check_orders("RC509", unless=(draws_in_order,))
def parallel_map(order: Order) -> Iterator[Hit]:
    """Find draws that change a global state inside of a parallel `map` of tf.data."""
    by_stream = _driven(order, _OF_THREADS, {"tensorflow", "numpy", "python"})
    draws = [(drawing.call, call) for drawing, call in by_stream]
    for drawn in order.methods(*_OF_GENERATORS):
        is_of_generator = drawn.name.startswith("tensorflow.random.Generator.")
        if is_of_generator and drawn.by is not None and drawn.by.method in _OF_THREADS:
            draws.append((drawn, drawn.by))
    for drawn, call in draws:
        parallel = call.keywords.get("num_parallel_calls")
        if is_none(parallel) or literal(parallel) == 1:
            continue
        message = (
            f"{_drawn(drawn, call)} draws inside of a parallel map: threads decide which call"
            " gets which number"
        )
        written = {keyword.arg: keyword.value for keyword in getattr(call.node, "keywords", ())}
        argument = written.get("num_parallel_calls", call.node)
        yield hit("RC509", call, message, node=argument)


def _driven(
    order: Order, methods: frozenset[str], wanted: Set[str]
) -> Iterator[tuple[streams.Drawing, Call]]:
    """Yield draws that a library makes while it runs one of the named methods, as `Dataset.map`.

    methods  names of the methods that run a function of the user's
    wanted   streams of random numbers of which a draw must use one, as `numpy`

    Each draw comes with the call of the method.
    """
    for drawing in streams.drawings(order):
        by = drawing.call.by
        if by is not None and by.method in methods and drawing.streams & wanted:
            yield drawing, by


def _drawn(drawn: Call, call: Call) -> str:
    """Return the name of a draw and its place, seen from the module of `call`."""
    return f"`{short(drawn.name)}` ({at(drawn, call.module)})"


@check_orders("RC509")
def in_threads(order: Order) -> Iterator[Hit]:
    """Find draws in a MindSpore pipeline whose worker threads share one generator."""
    told: set[int] = set()
    for drawing, call in _driven(order, _PIPELINES, {"numpy", "python"}):
        is_new = id(call) not in told and call.name.startswith("mindspore.dataset.")
        if is_new and _has_threads(order, call):
            told.add(id(call))
            message = (
                f"{_drawn(drawing.call, call)} draws in the threads of this `{call.method}`: which"
                " sample gets which number is left to them, with a seed as well"
            )
            yield hit("RC509", call, message)


@check_orders("RC509")
def in_pool(order: Order) -> Iterator[Hit]:
    """Find functions that several threads run at a time, and that draw from one generator."""
    told: set[int] = set()
    if not streams.trains(order):
        return
    for drawing, by in _driven(order, _STARTS, _OWN_GENERATORS.keys()):
        if id(by) in told or not _draws_for_several(order, by):
            continue
        told.add(id(by))
        own = next(one for one in _OWN_GENERATORS if one in drawing.streams)
        message = (
            f"{_drawn(drawing.call, by)} draws in several threads: which of them gets which"
            " number is left to the order in which they are scheduled, with a seed as well"
        )
        by_hand = tr(_BY_TASK, generator=_OWN_GENERATORS[own])
        yield hit("RC509", by, message, patchable=False, by_hand=by_hand)


_OWN_GENERATORS = {
    "python": "random.Random(number)",
    "numpy": "numpy.random.default_rng(number)",
    "torch": "torch.Generator().manual_seed(number)",
}
"""Stream of the process -> a generator for one task that takes its place."""
_BY_TASK = mark(
    "Give each task a generator of its own, seeded with the number of the task: `{generator}`."
)


def _draws_for_several(order: Order, by: Call) -> bool:
    """Return whether the call `by` makes several threads of this process run a function."""
    if by.named("threading.Thread"):
        return _are_several(order, by)
    if not by.named(*_POOLS):
        return False
    pools = of_kind(_receivers(by), Made)
    return all(literal(one.call.argument(0, "max_workers")) != 1 for one in pools)


def _has_threads(order: Order, call: Call) -> bool:
    """Return whether a MindSpore pipeline runs Python functions in several threads.

    `map` and `batch` do by default. `GeneratorDataset` has one worker by default, and starts
    processes for more workers unless `python_multiprocessing=False`.
    """
    if given(call, "python_multiprocessing=True"):
        return False
    workers = call.argument(None, "num_parallel_workers")
    if call.method == "GeneratorDataset":
        has_threads = given(call, "python_multiprocessing=False", sure=True)
        return has_threads and isinstance(literal(workers), int) and literal(workers) != 1
    defaults = (one.argument(0, "num") for one in order.calls(_SET_WORKERS))
    match workers or next(defaults, None):
        case Constant(value=number):
            return number != 1
        case None:
            return True
    return False


@check_programs("RC514")
def parallel_workers(order: Order) -> Iterator[Hit]:
    """Find more than one data worker in MindSpore."""
    for call in every(order):
        workers = call.keywords.get("num_parallel_workers")
        if call.name == _SET_WORKERS:
            workers = call.argument(0, "num")
        number = literal(workers)
        if isinstance(number, int) and number > 1:
            message = (
                f"with {number} data workers random operators draw other numbers than with one"
            )
            yield hit("RC514", call, message)
            return


@check_orders("RC902")
def shared_weights(order: Order) -> Iterator[Hit]:
    """Find threads or processes that write the same tensors."""
    for call, by in _in_parallel(order, *_WRITES):
        if _is_unlocked(order, call, by):
            message = (
                f"the thread or process writes weights (`{call.method}`, {at(call, by.module)})"
                " without waiting for others"
            )
            yield hit("RC902", by, message)
            return
    for by in order.calls(*_STARTED_THREADS):
        if not _are_several(order, by) or not _uses_tensors(by.module):
            continue
        # `weight += ...` in the function that a thread runs; a counter does no harm
        function = getattr(by.argument(_TARGET_AT.get(by.method), "target"), "node", None)
        changes = within(function, ast.AugAssign)
        if any(holds(change.value, ast.Call) for change in changes):
            message = "the thread changes tensors in place without waiting for others"
            yield hit("RC902", by, message)
            return


def _is_unlocked(order: Order, call: Call, by: Call) -> bool:
    """Return whether one of several threads or processes makes this call without a lock."""
    if not _are_several(order, by) or not _uses_tensors(call.module):
        return False
    if call.name.startswith(_ENVIRONMENTS):
        return False
    if any(last_part(one.name or "").rstrip("()") in _LOCKS for one in call.contexts):
        return False
    # Processes have tensors of their own, unless the program shares them.
    return by.method != "Process" or any(order.methods("share_memory"))


_ENVIRONMENTS = names("arrival", "environments")


def _are_several(order: Order, by: Call) -> bool:
    """Return whether the program starts more threads or processes than one."""
    return _is_repeated(by) or len(list(order.calls(*_THREADS))) > 1


def _is_repeated(by: Call, *, since: int = 0) -> bool:
    """Return whether the call `by` starts several threads before the program waits for one.

    A call in a comprehension does, and so does a call in a loop without `join` or `result`. `since`
    is the number of loops around the call that do not count.
    """
    around = by.module.expressions_around(by.node)
    if any(isinstance(node, _COMPREHENSIONS) for node in around):
        return True
    if by.loops <= since:
        return False
    # The loop may end each turn with a `join`.
    loops = of_kind(by.module.around(by.node), ast.For, ast.While)
    read = within(next(loops, None), ast.Attribute)
    return _WAITS.isdisjoint(syntax.attributes(read))


def _uses_tensors(module: Module) -> bool:
    return module.uses_package("torch", "mindspore", "torch_npu", "tensorflow", "jax")
