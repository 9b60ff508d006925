"""The control `dropout-off` for PyTorch: every dropout of the framework returns its input.

Two ways at once. Functions of Python are called with a probability of zero: that holds on every
device, whatever kernel the device has. The dispatcher's entries are replaced: that reaches
`torch.dropout`, `torch.ops`, TorchScript and callers in C++.
"""

import functools
import inspect
import sys
import types
from typing import Any, Callable, Iterable, List, Optional, Tuple

from ....recorder import import_hook
from .dispatch import DEVICES, Kernels

FUNCTIONAL = (
    "dropout",
    "dropout1d",
    "dropout2d",
    "dropout3d",
    "alpha_dropout",
    "feature_alpha_dropout",
)
"""Functions of `torch.nn.functional` with arguments `p` and `training`."""
RECURRENT = {"lstm": "LSTM", "gru": "GRU", "rnn_tanh": "RNN", "rnn_relu": "RNN"}
"""Functions behind `nn.RNNBase`, and the class that calls each: the probability stands before the
flag `train`.
"""
_NOWHERE = sys.maxsize
"""The place of an argument that its signature says, or that is given by its name alone."""
OPERATORS = ("dropout", "feature_dropout", "alpha_dropout", "feature_alpha_dropout")
"""Operators `(input, p, train)`, each with one in place."""
NPU = (
    ("_npu_dropout", "p", 0.0, 1),
    ("npu_dropout_with_add_softmax", "prob", 0.0, 3),
    ("npu_fusion_attention", "keep_prob", 1.0, 9),
    ("npu_fusion_attention_v2", "keep_prob", 1.0, _NOWHERE),
    ("npu_multi_head_attention", "dropout_prob", 0.0, 17),
)
"""Functions of torch_npu, the argument, its neutral value and its place; their modules that drop
are found by the names of their classes.

From the operator declarations of the Ascend Extension for PyTorch,
https://gitcode.com/Ascend/op-plugin.
"""
LIBRARIES = (
    ("flash_attn.flash_attn_interface", "flash_attn_func", "dropout_p"),
    ("flash_attn.flash_attn_interface", "flash_attn_qkvpacked_func", "dropout_p"),
    ("flash_attn.flash_attn_interface", "flash_attn_kvpacked_func", "dropout_p"),
    ("flash_attn.flash_attn_interface", "flash_attn_varlen_func", "dropout_p"),
    ("torchvision.ops.stochastic_depth", "stochastic_depth", "p"),
    ("timm.layers.drop", "drop_path", "drop_prob"),
)
"""Module, function and argument of packages that drop by themselves."""
_ATTENTION = "scaled_dot_product_attention"


def dropout_off(torch: Any, active: Any) -> None:
    """Switch off every dropout."""
    off = _Off(torch, active)
    for name in FUNCTIONAL:
        off.functional(name)
    off.argument(
        torch.nn.functional, _ATTENTION, "torch.nn.functional." + _ATTENTION, "dropout_p", 0.0, 4
    )
    for name in RECURRENT:
        off.recurrent(name)
    _operators(torch, active)
    import_hook.when_imported("torch_npu", lambda module: npu(off, module))
    for module, function, argument in LIBRARIES:
        import_hook.when_imported(module, functools.partial(_library, off, function, argument))


def npu(off: "_Off", module: Any) -> None:
    """Switch off the dropout functions that torch_npu has beside the operators of torch."""
    for name, argument, neutral, at in NPU:
        if hasattr(module, name):
            off.argument(module, name, "torch_npu." + name, argument, neutral, at)


def _library(off: "_Off", function: str, argument: str, module: Any) -> None:
    if hasattr(module, function):
        off.argument(module, function, module.__name__ + "." + function, argument, 0.0)


class _Off:
    """The wrappers of dropout functions that are written in Python."""

    def __init__(self, torch: Any, active: Any) -> None:
        self.torch = torch
        self.active = active

    def functional(self, name: str) -> None:
        """Wrap a function of `torch.nn.functional` that is written in Python."""
        space = self.torch.nn.functional
        real = getattr(space, name, None)
        if real is None:
            return
        active, what = self.active, "torch.nn.functional." + name
        parameters = inspect.signature(real).parameters
        at, default = list(parameters).index("training"), parameters["training"].default

        # its globals become those of `real`: it may name nothing of this module
        def dropout(*args: Any, **kwargs: Any) -> Any:
            p = args[1] if len(args) > 1 else kwargs.get("p", 0.5)
            training = args[at] if len(args) > at else kwargs.get("training", default)
            if training and 0.0 < p <= 1.0:
                active.touched("dropout-off", what, p)
                if len(args) > 1:
                    args = (args[0], 0.0, *args[2:])
                else:
                    kwargs["p"] = 0.0
            return real(*args, **kwargs)

        setattr(space, name, in_place_of(dropout, real))

    def argument(
        self,
        space: Any,
        name: str,
        what: str,
        argument: str,
        neutral: float,
        at: int = _NOWHERE,
    ) -> None:
        """Wrap a function of `space` that takes the dropout probability as `argument`.

        `at` is the index of that argument among the positional ones, `neutral` the value passed
        instead.
        """
        real = getattr(space, name)
        active = self.active
        if at == _NOWHERE:
            at = _place(real, argument)

        def function(*args: Any, **kwargs: Any) -> Any:
            given = _given(args, kwargs, at, argument, neutral)
            if given != neutral:
                active.touched("dropout-off", what, given)
                args, kwargs = _with(args, kwargs, at, argument, neutral)
            return real(*args, **kwargs)

        setattr(space, name, self._as_builtin(functools.update_wrapper(function, real), name))

    def recurrent(self, name: str) -> None:
        """Wrap a recurrent function behind `nn.RNNBase`, such as `torch.lstm`.

        For packed sequences the weights are the fourth argument, so the probability is one place
        later.
        """
        # `nn.RNNBase` and its cells look these functions of C++ up in `torch._VF`
        # (pytorch/pytorch#21478 says why there is such a module); nothing public lies between
        space = self.torch._VF
        real = getattr(space, name, None)
        if real is None:
            return
        active, what = self.active, "torch.nn." + RECURRENT[name]

        def recurrent(*args: Any, **kwargs: Any) -> Any:
            packed = len(args) > 3 and not isinstance(args[3], bool)
            at = 5 + packed
            # the probability, and whether it trains
            if len(args) > at + 1 and all(args[at : at + 2]):
                active.touched("dropout-off", what, args[at])
                args, _ = _with(args, {}, at, "p", 0.0)
            return real(*args, **kwargs)

        setattr(space, name, self._as_builtin(functools.update_wrapper(recurrent, real), name))

    def _as_builtin(self, function: Callable[..., Any], name: str) -> Callable[..., Any]:
        """Let TorchScript take a wrapper for the operator that it calls."""
        # TorchScript knows operators of C by the ids of their functions, in a table that nothing
        # public adds to. A wrapper that is not in it would be compiled, which its `*args` forbid.
        table: Any = getattr(self.torch.jit, "_builtins", None)
        if getattr(table, "_builtin_table", None) is not None:
            table._builtin_table[id(function)] = "aten::" + name
        elif hasattr(table, "_builtin_ops"):  # the table is made of it at the first use
            table._builtin_ops.append((function, "aten::" + name))
        return function


def in_place_of(wrapper: Any, real: Any) -> Any:
    """Return `wrapper` with the globals of `real`.

    TorchScript reads the source of `real` and looks its names up in the globals of the wrapper.
    """
    function = types.FunctionType(
        wrapper.__code__, real.__globals__, real.__name__, wrapper.__defaults__, wrapper.__closure__
    )
    function.__kwdefaults__ = wrapper.__kwdefaults__
    return functools.update_wrapper(function, real)


def _place(function: Any, argument: str) -> int:
    """Return the index of an argument among the positional ones."""
    try:
        return list(inspect.signature(function).parameters).index(argument)
    except (TypeError, ValueError):
        return _NOWHERE


def _given(args: Any, kwargs: Any, at: int, name: str, default: Any) -> Any:
    """Return the value that a call passes for an argument, or its default."""
    if len(args) > at:
        return args[at]
    return kwargs.get(name, default)


def _with(args: Any, kwargs: Any, at: int, name: str, value: Any) -> Any:
    """Return (args, kwargs) of a call with another value for one argument."""
    if len(args) > at:
        return (*args[:at], value, *args[at + 1 :]), kwargs
    return args, {**kwargs, name: value}


def _operators(torch: Any, active: Any) -> None:
    """Replace the dispatcher's dropout operators, as far as this version of torch has them."""
    kernels = Kernels(torch)
    # the key of operators that are written in terms of others, for all devices alike
    composite = ("CompositeImplicitAutograd",)
    replacements: List[Tuple[str, Iterable[str], Any]] = []
    for name in OPERATORS:
        for operator in (name, name + "_"):
            replacements.append((operator, composite, _through(active, "aten::" + operator)))
    # below its derivative and at it: the formula of torch would scale the gradient
    devices = [prefix + key for key in ("CPU", *DEVICES) for prefix in ("", "Autograd")]
    replacements.append(("native_dropout", devices, _fused(torch, active)))
    probabilities = [(_ATTENTION, 4, "dropout_p")]
    for name in RECURRENT:
        probabilities += [(name + ".input", 5, "dropout"), (name + ".data", 6, "dropout")]
    for operator, at, argument in probabilities:
        original = kernels.original(operator, "CPU")
        if original is not None:
            what = "aten::" + operator.partition(".")[0]
            without = _without(active, what, original, at, argument)
            replacements.append((operator, composite, without))
    for operator, places, function in replacements:
        for key in places:
            where = "operator %s on %s, torch %s" % (operator, key, torch.__version__)
            with active.trying("dropout-off", where):
                kernels.replace(operator, key, function)


def _through(active: Any, what: str) -> Callable[..., Any]:
    def dropout(tensor: Any, p: float, train: bool) -> Any:
        if train and p:
            active.touched("dropout-off", what, p)
        return tensor

    return dropout


def _fused(torch: Any, active: Any) -> Callable[..., Any]:
    """Return a replacement of `native_dropout` that keeps every value and has an identity gradient.

    The formula of torch would scale the gradient by the probability.
    """

    def native_dropout(tensor: Any, p: float, train: Optional[bool]) -> Any:
        if p and train is not False:
            active.touched("dropout-off", "aten::native_dropout", p)
        return tensor.clone(), torch.ones_like(tensor, dtype=torch.bool)

    return native_dropout


def _without(
    active: Any, what: str, original: Callable[..., Any], at: int, name: str
) -> Callable[..., Any]:
    """Return an operator that calls `original` with probability 0 in place of argument `name`."""

    def operator(*args: Any, **kwargs: Any) -> Any:
        given = _given(args, kwargs, at, name, 0.0)
        # of a recurrent network, the flag `train` follows
        trains = name != "dropout" or _given(args, kwargs, at + 1, "train", True)
        if given and trains:
            active.touched("dropout-off", what, given)
            args, kwargs = _with(args, kwargs, at, name, 0.0)
        return original(*args, **kwargs)

    return operator
