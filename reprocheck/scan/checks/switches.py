"""Switches of deterministic mode: misspelt, half set, too late, switched off again."""

from __future__ import annotations

from collections.abc import Iterator

from reprocheck.scan.checks import devices
from reprocheck.scan.checks.streams import at, every, given
from reprocheck.scan.order import Order
from reprocheck.scan.project import Module, Project
from reprocheck.scan.registry import Hit, check, hit
from reprocheck.scan.steps import Call, Step
from reprocheck.scan.values import Constant, Value

_CUDNN = "torch.backends.cudnn."
_KNOWN = frozenset(
    {
        "enabled",
        "benchmark",
        "deterministic",
        "allow_tf32",
        "benchmark_limit",
        "fp32_precision",
        "conv",
        "rnn",
        "m",
        "flags",
        "version",
        "is_available",
    }
)
_MEANT = {
    "enable": "enabled",
    "benchmarks": "benchmark",
    "benckmark": "benchmark",
    "benchmark_mode": "benchmark",
    "determinstic": "deterministic",
    "deterministics": "deterministic",
    "determinism": "deterministic",
    "is_deterministic": "deterministic",
    "Benchmark": "benchmark",
}
_CORES = (
    "os.cpu_count",
    "multiprocessing.cpu_count",
    "psutil.cpu_count",
    "os.sched_getaffinity",
    "os.process_cpu_count",
    "torch.multiprocessing.cpu_count",
)
_PRODUCTS = ("backward", "matmul", "mm", "bmm", "addmm", "einsum", "linear", "__call__", "fit")
_THREADS = (
    "torch.set_num_threads",
    "torch.set_num_interop_threads",
    "mindspore.set_cpu_threads",
    "tensorflow.config.threading.set_intra_op_parallelism_threads",
    "tensorflow.config.threading.set_inter_op_parallelism_threads",
)


@check("RC010")
def misspelt(module: Module, project: Project) -> Iterator[Hit]:
    """`torch.backends.cudnn.enable = False`: an attribute that nothing reads."""
    for order in module.orders:
        for store in order.stores():
            name = store.name.removeprefix(_CUDNN)
            if store.name.startswith(_CUDNN) and "." not in name and name not in _KNOWN:
                meant = _MEANT.get(name)
                tail = f"; the switch is `{meant}`" if meant else ""
                yield hit(
                    "RC010",
                    store,
                    f"`torch.backends.cudnn.{name}` is an attribute that nothing reads{tail}",
                    patchable=meant is not None,
                    meant=meant or "",
                )


@check("RC706")
def benchmark(module: Module, project: Project) -> Iterator[Hit]:
    """cuDNN's benchmark switched on, and not off again."""
    for order in module.orders:
        stores = list(order.stores(_CUDNN + "benchmark"))
        for store in stores:
            if not _is(store.value, True) or any(
                order.is_before(store, other) and _is(other.value, False) for other in stores
            ):
                continue
            before = [
                one
                for one in _deterministic(order)
                if order.is_before(one, store) and not _are_exclusive(one, store)
            ]
            if before:
                yield hit(
                    "RC706",
                    store,
                    "cuDNN's benchmark is switched on again after deterministic mode in"
                    f" {at(before[-1], store.module)}, and overrides it",
                )
            else:
                yield hit(
                    "RC706",
                    store,
                    "cuDNN times its convolutions and takes the fastest, which may be another one"
                    " in the next run",
                )


def _are_exclusive(one: Step, other: Step) -> bool:
    """Whether they stand in the two branches of one `if`."""
    branches = {id(condition.test): condition.taken for condition in one.conditions}
    return any(
        branches.get(id(condition.test), condition.taken) is not condition.taken
        for condition in other.conditions
    )


@check("RC011")
def half(module: Module, project: Project) -> Iterator[Hit]:
    """`cudnn.deterministic` alone: it is for convolutions."""
    for order in module.orders:
        if (
            not order.whole
            or "cuda" not in devices.accelerators(order)
            or devices.is_deterministic(order)
        ):
            continue
        for store in order.stores(_CUDNN + "deterministic"):
            if _is(store.value, True):
                message = (
                    "this is for cuDNN's convolutions alone;"
                    " `torch.use_deterministic_algorithms(True)` is for all operators"
                )
                yield hit("RC011", store, message)
                break


@check("RC012")
def warns_only(module: Module, project: Project) -> Iterator[Hit]:
    """Deterministic mode that goes on with operators that are not."""
    for order in module.orders:
        for call in order.calls("torch.use_deterministic_algorithms"):
            if given(call, "warn_only=True", sure=True) and not given(
                call, "mode=False", 0, sure=True
            ):
                yield hit(
                    "RC012",
                    call,
                    "with `warn_only=True` operators without a deterministic kernel run as before,"
                    " with a warning",
                )


@check("RC007")
def workspace(module: Module, project: Project) -> Iterator[Hit]:
    """CUBLAS_WORKSPACE_CONFIG missing, or set when CUDA is already in use."""
    for order in module.orders:
        if not order.whole:
            continue
        stores = list(order.environment("CUBLAS_WORKSPACE_CONFIG"))
        used = devices.first_use(order, "cuda", sure=True)
        if stores and used is not None and _is_multiplied(order, used, stores[0]):
            yield hit(
                "RC007",
                stores[0],
                f"this comes after CUDA is used in {at(used, stores[0].module)}: cuBLAS has read"
                " the variable by then",
            )
        if stores or used is None:
            continue
        for call in order.calls("torch.use_deterministic_algorithms"):
            if not given(call, "mode=False", 0, sure=True) and not given(
                call, "warn_only=True", sure=True
            ):
                message = (
                    "CUDA's matrix products raise an error in deterministic mode unless"
                    " CUBLAS_WORKSPACE_CONFIG is set before the start"
                )
                yield hit("RC007", call, message)
                break


def _is_multiplied(order: Order, used: Step, store: Step) -> bool:
    """Whether something that calls cuBLAS comes between the first use of the device and a store."""
    return any(
        order.is_before(used, call) and order.is_before(call, store)
        for call in order.methods(*_PRODUCTS)
    )


@check("RC007")
def recurrent(module: Module, project: Project) -> Iterator[Hit]:
    """Recurrent layers on CUDA, which wait for the same variable."""
    for order in module.orders:
        if (
            not order.whole
            or "cuda" not in devices.accelerators(order)
            or list(order.environment("CUBLAS_WORKSPACE_CONFIG"))
        ):
            continue
        for call in order.calls("torch.nn.LSTM", "torch.nn.GRU", "torch.nn.RNN"):
            message = (
                f"`nn.{call.method}` may differ from run to run on CUDA unless"
                " CUBLAS_WORKSPACE_CONFIG is set before the start"
            )
            yield hit("RC007", call, message, severity="note")
            break


@check("RC506")
def hash_seed(module: Module, project: Project) -> Iterator[Hit]:
    """PYTHONHASHSEED in the process that is already running."""
    for order in module.orders:
        if any(call.name.startswith("os.exec") for call in every(order)):
            continue
        for store in order.environment("PYTHONHASHSEED"):
            if not any("PYTHONHASHSEED" in _text(condition.test) for condition in store.conditions):
                yield hit(
                    "RC506",
                    store,
                    "Python has read PYTHONHASHSEED when it started: this changes nothing here,"
                    " only in child processes",
                )


@check("RC002")
def threads(module: Module, project: Project) -> Iterator[Hit]:
    """As many threads as the machine has cores."""
    for order in module.orders:
        for call in order.calls(*_THREADS):
            number = call.argument(0)
            if (
                number is not None
                and (cores := next(number.calls(*_CORES), None)) is not None
                and not _is_put_back(order, call)
            ):
                yield hit(
                    "RC002",
                    call,
                    f"the number of threads follows the machine (`{cores.name}`), and the last bits"
                    " of sums with it",
                )


def _is_put_back(order: Order, call: Call) -> bool:
    """Whether the same function asks for the number before, and sets it again afterwards."""
    function = call.module.function_of(call.node)
    after = (
        one
        for one in order.after(call, call.name)
        if one.module is call.module and one.module.function_of(one.node) is function
    )
    return function is not None and any(
        number.made_by("torch.get_num_threads") is not None
        for one in after
        if (number := one.argument(0)) is not None
    )


@check("RC004")
def autotune(module: Module, project: Project) -> Iterator[Hit]:
    """A compiler that chooses kernels by timing them."""
    for order in module.orders:
        if devices.is_deterministic(order):
            continue
        for call in order.calls("torch.compile"):
            mode = call.argument(None, "mode")
            if isinstance(mode, Constant) and str(mode.value).startswith("max-autotune"):
                yield hit(
                    "RC004",
                    call,
                    f'mode="{mode.value}" times kernels and keeps the fastest, which may be another'
                    " one in the next run",
                )


def _deterministic(order: Order) -> list[Step]:
    """What switches deterministic mode on."""
    found: list[Step] = [
        store for store in order.stores(_CUDNN + "deterministic") if _is(store.value, True)
    ]
    found += [
        call
        for call in order.calls("torch.use_deterministic_algorithms")
        if not given(call, "mode=False", 0, sure=True)
    ]
    return sorted(found, key=order.position)


def _is(value: Value, wanted: bool) -> bool:
    return any(
        isinstance(option, Constant) and option.value is wanted for option in value.options()
    )


def _text(node: object) -> str:
    import ast

    return ast.unparse(node) if isinstance(node, ast.AST) else ""
