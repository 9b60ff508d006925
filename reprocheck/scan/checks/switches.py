"""Find switches of deterministic mode that are misspelled, incomplete, too late, or switched off
again.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from functools import partial
from itertools import filterfalse

from reprocheck.language import tr
from reprocheck.scan.checks import devices, other_programs
from reprocheck.scan.checks.streams import at, every, given
from reprocheck.scan.order import Order
from reprocheck.scan.registry import Hit, check_orders, check_programs, hit, sets
from reprocheck.scan.steps import Call, Step, Store
from reprocheck.scan.values import Items, Value, literal
from reprocheck.scan.vocabulary import by_name, names, words

_CUDNN = "torch.backends.cudnn."
_KNOWN = words("switches", "known")
_MEANT = by_name("switches", "meant")
_CORES = names("switches", "cores")
_PRODUCTS = ("backward", "matmul", "mm", "bmm", "addmm", "einsum", "linear", "__call__", "fit")
_THREADS = names("switches", "threads")


_SWITCH = "torch.use_deterministic_algorithms"
_WORKSPACE = "CUBLAS_WORKSPACE_CONFIG"


@check_orders("RC010")
def misspelt(order: Order) -> Iterator[Hit]:
    """Find an assignment to an attribute of cuDNN that nothing reads: `torch.backends.cudnn.enable
    = False`.
    """
    for store in order.stores(f"{_CUDNN}*"):
        name = store.name.removeprefix(_CUDNN)
        if "." in name or name in _KNOWN:
            continue
        meant = _MEANT.get(name, "")
        message = f"`torch.backends.cudnn.{name}` is an attribute that nothing reads"
        if meant:
            message = f"{message}; the switch is `{meant}`"
        yield hit("RC010", store, message, patchable=bool(meant), meant=meant)


@check_orders("RC706")
def benchmark(order: Order) -> Iterator[Hit]:
    """Find cuDNN's benchmark mode switched on, and not off again, in a training program."""
    if order.whole and other_programs.is_without_training(order):
        return
    stores = list(order.stores(f"{_CUDNN}benchmark"))
    off = [*(store for store in stores if _is(store.value, False)), *order.calls(*_SETTLES)]
    for store in stores:
        is_off_later = any(order.is_before(store, other) for other in off)
        if is_off_later or not _is(store.value, True) or _is_restored(order, store, stores):
            continue
        message = (
            "cuDNN times its convolutions and takes the fastest, which may be another one in the"
            " next run"
        )
        switches: list[Step] = [*_deterministic_convolutions(order), *_switched_on(order)]
        for switch in sorted(switches, key=order.position, reverse=True):
            if order.is_before(switch, store) and not _are_exclusive(switch, store):
                message = (
                    "cuDNN's benchmark is switched on again after deterministic mode in"
                    f" {at(switch, store.module)}, and overrides it"
                )
                break
        yield hit("RC706", store, message)


_SETTLES = names("switches", "settles")


def _is_restored(order: Order, store: Store, stores: Sequence[Store]) -> bool:
    """Return whether the same function later sets the switch back to its previous value."""
    function = store.module.function_of(store.node)
    later = filter(partial(order.is_before, store), stores)
    restoring = filter(lambda one: literal(one.value) is None, later)
    functions = (one.module.function_of(one.node) for one in restoring)
    return function is not None and function in functions


def _are_exclusive(one: Step, other: Step) -> bool:
    """Return whether two steps stand in different branches of one `if`."""
    branches = {id(condition.test): condition.taken for condition in one.conditions}
    return any(
        branches.get(id(condition.test), condition.taken) is not condition.taken
        for condition in other.conditions
    )


# Where deterministic mode is on as well, this is no mistake.
@check_programs("RC011", unless=(devices.lacks_cuda, devices.is_deterministic))
def half(order: Order) -> Iterator[Hit]:
    """Find `cudnn.deterministic` without deterministic mode: it only affects convolutions."""
    store = next(_deterministic_convolutions(order), None)
    if store is not None:
        message = (
            "this is for cuDNN's convolutions alone; `torch.use_deterministic_algorithms(True)` is"
            " for all operators"
        )
        yield hit("RC011", store, message)


@check_orders("RC012")
def warns_only(order: Order) -> Iterator[Hit]:
    """Find `warn_only=True`, with which nondeterministic operators still run."""
    for call in filter(_only_warns, _switched_on(order)):
        message = (
            "with `warn_only=True` operators without a deterministic kernel run as before, with"
            " a warning"
        )
        yield hit("RC012", call, message)


def _only_warns(call: Call) -> bool:
    return given(call, "warn_only=True", sure=True)


@check_programs("RC007")
def late_workspace(order: Order) -> Iterator[Hit]:
    """Find CUBLAS_WORKSPACE_CONFIG if it is set only after CUDA is used."""
    store = next(order.environment(_WORKSPACE), None)
    used = devices.first_use(order, "cuda", sure=True)
    if store is None or used is None:
        return
    products = order.methods(*_PRODUCTS)
    if any(order.is_before(used, one) and order.is_before(one, store) for one in products):
        place = at(used, store.module)
        message = f"this comes after CUDA is used in {place}: cuBLAS has read the variable by then"
        yield hit("RC007", store, message)


def may_run_on_cpu(order: Order) -> bool:
    """Return whether no call surely puts something on a GPU."""
    return devices.first_use(order, "cuda", sure=True) is None


@check_programs("RC007", unless=(sets(_WORKSPACE), may_run_on_cpu))
def missing_workspace(order: Order) -> Iterator[Hit]:
    """Find deterministic mode without CUBLAS_WORKSPACE_CONFIG, which raises an error on CUDA."""
    call = next(filterfalse(_only_warns, _switched_on(order)), None)
    if call is not None:
        message = (
            "CUDA's matrix products raise an error in deterministic mode unless"
            " CUBLAS_WORKSPACE_CONFIG is set before the start"
        )
        yield hit("RC007", call, message)


@check_programs("RC007", unless=(devices.lacks_cuda, sets(_WORKSPACE)))
def recurrent(order: Order) -> Iterator[Hit]:
    """Find recurrent layers on CUDA, which need CUBLAS_WORKSPACE_CONFIG to be deterministic."""
    # torch's pages on these layers name the variable, for CUDA 10.2 and later.
    layer = next(order.calls("torch.nn.LSTM", "torch.nn.GRU", "torch.nn.RNN"), None)
    if layer is not None:
        message = (
            f"`nn.{layer.method}` may differ from run to run on CUDA unless"
            " CUBLAS_WORKSPACE_CONFIG is set before the start"
        )
        yield hit("RC007", layer, message, severity="note")


def starts_again(order: Order) -> bool:
    """Return whether a program replaces itself by `os.exec*`, to set variables in time."""
    return any(call.name.startswith("os.exec") for call in every(order))


@check_orders("RC506", unless=(starts_again,))
def hash_seed(order: Order) -> Iterator[Hit]:
    """Find PYTHONHASHSEED set in the running process, which has already read the variable."""
    for store in order.environment("PYTHONHASHSEED"):
        tests = [ast.unparse(condition.test) for condition in store.conditions]
        if "PYTHONHASHSEED" not in " ".join(tests):
            message = (
                "Python has read PYTHONHASHSEED when it started: this changes nothing here,"
                " only in child processes"
            )
            yield hit("RC506", store, message)


@check_orders("RC002")
def threads(order: Order) -> Iterator[Hit]:
    """Find a number of threads that is the number of cores of the machine."""
    for call in order.calls(*_THREADS):
        cores = next(call.first.calls(*_CORES), None)
        if cores is None:
            continue
        # The same function may ask for the number before, and set it again afterwards.
        function = call.module.function_of(call.node)
        later = order.after(call, call.name) if function is not None else ()
        here = (one for one in later if one.module.function_of(one.node) is function)
        if not any(one.first.made_by("torch.get_num_threads") for one in here):
            message = (
                f"the number of threads follows the machine (`{cores.name}`), and the last bits"
                " of sums with it"
            )
            yield hit("RC002", call, message)


@check_orders("RC004", unless=(devices.is_deterministic,))
def autotune(order: Order) -> Iterator[Hit]:
    """Find `torch.compile` in a mode that chooses kernels by timing them."""
    for call in order.calls("torch.compile"):
        mode = str(literal(call.argument(None, "mode")))
        if mode.startswith("max-autotune"):
            message = (
                f'mode="{mode}" times kernels and keeps the fastest, which may be another one in'
                " the next run"
            )
            yield hit("RC004", call, message)


@check_orders("RC004")
def autotuned_kernel(order: Order) -> Iterator[Hit]:
    """Find a Triton kernel with several configurations, of which the fastest is chosen."""
    for call in order.calls("triton.autotune"):
        configs = call.argument(0, "configs")
        if not (isinstance(configs, Items) and configs.whole and len(configs.items) == 1):
            message = (
                "`triton.autotune` times its configurations and keeps the fastest, which may be"
                " another one in the next run"
            )
            yield hit("RC004", call, message, by_hand=tr("Leave one configuration in `configs`."))


def _deterministic_convolutions(order: Order) -> Iterator[Store]:
    """Return the assignments that make cuDNN's convolutions deterministic."""
    stores = order.stores(f"{_CUDNN}deterministic")
    return (store for store in stores if _is(store.value, True))


def _switched_on(order: Order) -> Iterator[Call]:
    """Return the calls that switch deterministic mode on for all operators."""
    calls = order.calls(_SWITCH)
    return (call for call in calls if not given(call, "mode=False", 0, sure=True))


def _is(value: Value, wanted: bool) -> bool:
    return any(literal(option) is wanted for option in value.options())
