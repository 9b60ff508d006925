"""Find the accelerators of a program, and its switches for deterministic kernels.

Switches may be misspelled, incomplete, too late, or switched off again.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from itertools import chain, filterfalse

from reprocheck.language import tr
from reprocheck.scan.checks import other_programs
from reprocheck.scan.checks.streams import at, every, given
from reprocheck.scan.memo import kept
from reprocheck.scan.order import Order
from reprocheck.scan.project import Module
from reprocheck.scan.registry import Hit, check_orders, check_programs, hit, sets
from reprocheck.scan.steps import Call, Step, Store
from reprocheck.scan.values import Items, Made, Value, literal, reached
from reprocheck.scan.vocabulary import by_name, names, words

KINDS = ("cuda", "npu")
_MOST = 60
"""Values that are looked at for the name of one device."""
_DEVICE_AT = {"to": 0}
"""Where the device stands by position; else it is a keyword alone."""
_SWITCHES = names("switches", "switches")
_OPTIONS = names("switches", "options")
_ASKING = words("switches", "asking")

_TEXT = re.compile(r"""["'](cuda|gpu|ascend)(?::[^"']*)?["']|\.(cuda)\b""", re.IGNORECASE)
_KIND_OF_WORD = {"cuda": "cuda", "gpu": "cuda"}
_FULL = names("switches", "full")


@kept
def accelerators(order: Order) -> frozenset[str]:
    """Return the accelerators of a program, `cuda` and `npu`.

    Those named in the entry module, and those on which any module of the program puts something.
    """
    in_text = named(order.root)
    others = set(KINDS) - in_text
    return in_text.union(kind for kind in others if first_use(order, kind) is not None)


def is_on_cpu_alone(order: Order) -> bool:
    """Return whether no accelerator is named or used."""
    return not accelerators(order)


def lacks_cuda(order: Order) -> bool:
    """Return whether no GPU of NVIDIA is named or used."""
    return "cuda" not in accelerators(order)


@kept
def is_deterministic(order: Order) -> bool:
    """Return whether the program asks for deterministic kernels, in any known way.

    A switch of the framework, `TF_DETERMINISTIC_OPS`, or an argument of a trainer.
    """
    switches = order.calls(*_SWITCHES)
    if any(not given(call, "mode=False", 0, sure=True) for call in switches):
        return True
    # The variable was TensorFlow's switch before `enable_op_determinism`.
    if any(order.calls(*_FULL)) or any(order.environment("TF_DETERMINISTIC_OPS")):
        return True
    return any(
        any(given(call, option, sure=True) for option in _OPTIONS)
        or (call.method == "seed_all" and given(call, "mode=True", 1, sure=True))
        for call in every(order)
    )


@kept
def first_use(order: Order, kind: str, *, sure: bool = False) -> Step | None:
    """Return the first call that puts something on an accelerator, as `model.cuda()`.

    With `sure`, leave out calls whose device may also be another one, as `to("cuda" if gpu else
    "cpu")`.
    """
    return next((call for call in every(order) if _moves(call, kind, sure=sure)), None)


def _moves(call: Call, kind: str, *, sure: bool) -> bool:
    if call.own or call.name in _ASKING:
        return False
    if call.method == kind and not call.arguments:
        return True
    device = call.argument(_DEVICE_AT.get(call.method), "device")
    is_one_of_several = sure and any(len(one.options()) > 1 for one in _spellings(device))
    return on(device, kind) and not is_one_of_several


def on(device: Value | None, kind: str) -> bool:
    """Return whether a device may be of a kind (`cuda`, `npu`); False if `device` is None."""
    return any(str(literal(one)).startswith(kind) for one in _spellings(device))


def _spellings(device: Value | None) -> Iterable[Value]:
    """Return the values that may hold the name of a device.

    The value itself, its options (the values of its branches), and the argument of `torch.device`.
    """
    if device is None:
        return ()
    return reached(device, _named_by, _MOST)


def _named_by(device: Value) -> Iterator[Value]:
    """Yield the options of a device, and the arguments of `torch.device(...)`."""
    for option in device.options():
        yield option
        match option:
            case Made(call=Call(name="torch.device", arguments=(named, *_))):
                yield named


@kept
def named(module: Module) -> frozenset[str]:
    """Return the accelerators that the text of a module names."""
    found = chain.from_iterable(_TEXT.findall(module.source.text))
    words = set(map(str.lower, found))
    kinds = {_KIND_OF_WORD[word] for word in words & _KIND_OF_WORD.keys()}
    if "ascend" in words and module.uses_package("mindspore"):
        kinds.add("npu")
    if module.uses_package("torch_npu"):
        kinds.add("npu")
    return frozenset(kinds)


_CUDNN = "torch.backends.cudnn."
_KNOWN = words("switches", "known")
_MEANT = by_name("switches", "meant")
_CORES = names("switches", "cores")
_PRODUCTS = names("switches", "products")
_THREADS = names("switches", "threads")


_SWITCH = "torch.use_deterministic_algorithms"
_WORKSPACE = "CUBLAS_WORKSPACE_CONFIG"


@check_orders("RC010")
def misspelt(order: Order) -> Iterator[Hit]:
    """Find an assignment to an attribute of cuDNN that nothing reads.

    Such as `torch.backends.cudnn.enable = False`.
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
@check_programs("RC011", unless=(lacks_cuda, is_deterministic))
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
    used = first_use(order, "cuda", sure=True)
    if store is None or used is None:
        return
    products = order.methods(*_PRODUCTS)
    if any(order.is_before(used, one) and order.is_before(one, store) for one in products):
        place = at(used, store.module)
        message = f"this comes after CUDA is used in {place}: cuBLAS has read the variable by then"
        yield hit("RC007", store, message)


def may_run_on_cpu(order: Order) -> bool:
    """Return whether no call surely puts something on a GPU."""
    return first_use(order, "cuda", sure=True) is None


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


@check_programs("RC007", unless=(lacks_cuda, sets(_WORKSPACE)))
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


@check_orders("RC004", unless=(is_deterministic,))
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
