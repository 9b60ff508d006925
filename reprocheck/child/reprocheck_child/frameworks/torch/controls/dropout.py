"""`dropout-off` for PyTorch: every dropout of the framework hands its input through.

Two ways at once. Functions of Python are called with a probability of zero: that holds on every
device, whatever kernel the device has. The dispatcher's entries are replaced: that reaches
`torch.dropout`, `torch.ops`, TorchScript and callers in C++.
"""

import functools
import inspect
import types
from typing import Any, Callable, Iterable, List, Optional, Tuple

from .... import import_hook
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
RECURRENT = ("lstm", "gru", "rnn_tanh", "rnn_relu")
"""Functions behind `nn.RNNBase`: the probability stands before the flag `train`."""
OPERATORS = ("dropout", "feature_dropout", "alpha_dropout", "feature_alpha_dropout")
"""Operators `(input, p, train)`, each with one in place."""
NPU = (
    ("_npu_dropout", "p", 0.0, 1),
    ("npu_dropout_with_add_softmax", "prob", 0.0, 3),
    ("npu_fusion_attention", "keep_prob", 1.0, 9),
    ("npu_fusion_attention_v2", "keep_prob", 1.0, None),
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
    """What torch_npu has beside the operators of torch."""
    for name, argument, neutral, at in NPU:
        if hasattr(module, name):
            off.argument(module, name, "torch_npu." + name, argument, neutral, at)


def _library(off: "_Off", function: str, argument: str, module: Any) -> None:
    if hasattr(module, function):
        off.argument(module, function, module.__name__ + "." + function, argument, 0.0)


class _Off:
    """Wraps functions of Python."""

    def __init__(self, torch: Any, active: Any) -> None:
        self.torch = torch
        self.active = active

    def functional(self, name: str) -> None:
        """A function of `torch.nn.functional` that is written in Python."""
        space = self.torch.nn.functional
        real = getattr(space, name, None)
        if real is None:
            return
        active, what = self.active, "torch.nn.functional." + name
        parameters = inspect.signature(real).parameters
        at, default = list(parameters).index("training"), parameters["training"].default

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
        at: Optional[int] = None,
    ) -> None:
        """A function whose `argument` is the probability, in place `at` among the positional
        ones.
        """
        real = getattr(space, name)
        active = self.active
        if at is None:
            at = _place(real, argument)

        def function(*args: Any, **kwargs: Any) -> Any:
            given = args[at] if at is not None and len(args) > at else kwargs.get(argument, neutral)
            if given != neutral:
                active.touched("dropout-off", what, given)
                if argument in kwargs or at is None:
                    kwargs[argument] = neutral
                else:
                    args = (*args[:at], neutral, *args[at + 1 :])
            return real(*args, **kwargs)

        setattr(space, name, self._as_builtin(functools.update_wrapper(function, real), name))

    def recurrent(self, name: str) -> None:
        """A function behind `nn.RNNBase`: of packed sequences the weights stand fourth and move the
        probability by one.
        """
        space = self.torch._VF
        real = getattr(space, name, None)
        if real is None:
            return
        active, what = self.active, "torch.nn." + {"lstm": "LSTM", "gru": "GRU"}.get(name, "RNN")

        def recurrent(*args: Any, **kwargs: Any) -> Any:
            at = 5 if len(args) > 3 and isinstance(args[3], bool) else 6
            if len(args) > at + 1 and args[at] and args[at + 1]:
                active.touched("dropout-off", what, args[at])
                args = (*args[:at], 0.0, *args[at + 1 :])
            return real(*args, **kwargs)

        setattr(space, name, self._as_builtin(functools.update_wrapper(recurrent, real), name))

    def _as_builtin(self, function: Callable[..., Any], name: str) -> Callable[..., Any]:
        """Let TorchScript take a wrapper for the operator that it calls."""
        table: Any = getattr(self.torch.jit, "_builtins", None)
        if getattr(table, "_builtin_table", None) is not None:
            table._builtin_table[id(function)] = "aten::" + name
        elif hasattr(table, "_builtin_ops"):  # the table is made of it at the first use
            table._builtin_ops.append((function, "aten::" + name))
        return function


def in_place_of(wrapper: Any, real: Any) -> Any:
    """`wrapper` with the globals of `real`: TorchScript reads the source of what is wrapped and
    looks names up in the wrapper's globals.
    """
    made = types.FunctionType(
        wrapper.__code__, real.__globals__, real.__name__, wrapper.__defaults__, wrapper.__closure__
    )
    made.__kwdefaults__ = wrapper.__kwdefaults__
    return functools.update_wrapper(made, real)


def _place(function: Any, argument: str) -> Optional[int]:
    try:
        return list(inspect.signature(function).parameters).index(argument)
    except (TypeError, ValueError):
        return None


# ---------------------------------------------------------------------------------------- operators


def _operators(torch: Any, active: Any) -> None:
    """Replace the dispatcher's entries, each where this version of torch has it."""
    kernels = Kernels(torch)
    replacements: List[Tuple[str, Iterable[str], Any]] = []
    for name in OPERATORS:
        for operator in (name, name + "_"):
            replacements.append(
                (operator, ("CompositeImplicitAutograd",), _through(active, "aten::" + operator))
            )
    devices = ("CPU", *DEVICES)
    fused = _fused(torch, active)
    replacements.append(
        ("native_dropout", [prefix + key for key in devices for prefix in ("", "Autograd")], fused)
    )
    for operator, at, name in (
        (_ATTENTION, 4, "dropout_p"),
        *(
            (name + kind, at, "dropout")
            for name in RECURRENT
            for kind, at in ((".input", 5), (".data", 6))
        ),
    ):
        original = kernels.original(operator, "CPU")
        if original is not None:
            keys = ("CompositeImplicitAutograd",)
            replacements.append(
                (
                    operator,
                    keys,
                    _without(active, "aten::" + operator.partition(".")[0], original, at, name),
                )
            )
    for operator, places, function in replacements:
        for key in places:
            try:
                kernels.replace(operator, key, function)
            except Exception as error:
                active.unavailable(
                    "dropout-off",
                    "operator %s on %s, torch %s: %r" % (operator, key, torch.__version__, error),
                )


def _through(active: Any, what: str) -> Callable[..., Any]:
    def dropout(tensor: Any, p: float, train: bool) -> Any:
        if train and p:
            active.touched("dropout-off", what, p)
        return tensor

    return dropout


def _fused(torch: Any, active: Any) -> Callable[..., Any]:
    """The output and its mask, with the gradient of the identity: the formula of torch would scale
    it by the probability.
    """

    def native_dropout(tensor: Any, p: float, train: Optional[bool]) -> Any:
        if p and train is not False:
            active.touched("dropout-off", "aten::native_dropout", p)
        return tensor.clone(), torch.ones_like(tensor, dtype=torch.bool)

    return native_dropout


def _without(
    active: Any, what: str, original: Callable[..., Any], at: int, name: str
) -> Callable[..., Any]:
    """An operator whose argument `name` is the probability."""

    def operator(*args: Any, **kwargs: Any) -> Any:
        given = args[at] if len(args) > at else kwargs.get(name, 0.0)
        trains = args[at + 1] if name == "dropout" and len(args) > at + 1 else True
        if given and trains:
            active.touched("dropout-off", what, given)
            if len(args) > at:
                args = (*args[:at], 0.0, *args[at + 1 :])
            else:
                kwargs[name] = 0.0
        return original(*args, **kwargs)

    return operator
