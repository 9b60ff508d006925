"""Describe how to run the operation that makes the first difference again.

Without the training: from its recorded call to a `Replay`, or why there is none.

Names and texts of a trace become parts of a program that somebody else runs. So each must be of a
known form; anything else is not replayed.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import accumulate
from math import prod
from operator import mul

from msgspec import structs

from reprocheck.ladder.compare import NOT_FINITE
from reprocheck.ladder.finding import Finding, Operation
from reprocheck.ladder.operators import FILLS
from reprocheck.ladder.pair import Pair
from reprocheck.model import Check
from reprocheck.model.evidence import CallDiffers, GradientDiffers, LossDiffers, StateDiffers
from reprocheck.model.replay import Argument, Constant, OnDevice, Replay, TensorArgument
from reprocheck.model.statements.ladder import Missing, NoReplay
from reprocheck.trace.deep import How, Leaf, Leaves, Seen
from reprocheck.trace.process import NODE

_OPERATOR = re.compile(r"aten\.[a-z_][a-z0-9_]*\.[A-Za-z][A-Za-z0-9_]*")
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_CONSTANT = re.compile(
    r"torch\.(?:(?:bfloat|bool|complex|float|q?u?int)[a-z0-9_]*"
    r"|strided|sparse_[a-z]{3}|(?:contiguous|preserve)_format|channels_last(?:_3d)?)"
)
"""Types, layouts and memory formats: what texts are never given for."""
_DEVICE = re.compile(r"[a-z]+")
_TEXT = re.compile(r"[\w .,>-]{0,40}", re.ASCII)
_SIZES = {
    **dict.fromkeys(("bool", "uint8", "int8"), 1),
    **dict.fromkeys(("int16", "float16", "bfloat16"), 2),
    **dict.fromkeys(("int32", "float32"), 4),
    **dict.fromkeys(("int64", "float64", "complex64"), 8),
    "complex128": 16,
}
"""Bytes of an element, of the dtypes that can be made."""
_MOST_BYTES = 16 << 30
"""Of all tensors that a replay makes."""
_FORWARD = {"0": "input", "1": "hx"}
"""Place -> name of the arguments of `forward` of these modules."""
_MODULES_OF_TORCH = frozenset(
    {
        *("Dropout", "Dropout1d", "Dropout2d", "Dropout3d", "AlphaDropout", "FeatureAlphaDropout"),
        *("GRU", "LSTM", "RNN", "RReLU"),
    }
)
"""Modules of PyTorch that draw, and whose `extra_repr` says all that they were made with."""
_MODULES: Mapping[str, frozenset[str]] = {
    "torch": _MODULES_OF_TORCH,
    "mindspore": frozenset({"Dropout"}),
}
"""Framework -> its modules of which it is recorded how they were made."""
_FLOATS = frozenset({"float16", "float32", "float64"})
"""Types that NumPy has, which the tensors of other frameworks than PyTorch are made of."""


class _UnknownError(Exception):
    """A part of a recorded call is missing, or is not of a known form."""


def replay_of(check: Check, pair: Pair, first: Finding) -> Replay | NoReplay | None:
    """Return a replay of the operation that makes the first difference.

    None if no operation makes it.
    """
    if check.record.compared:
        # what differs between two places need not be noise at either of them
        return None
    replay = _without_settings(check, pair, first)
    if not isinstance(replay, Replay):
        return replay
    # in run 1, as the rank says them
    facts: dict[str, object] = {}
    for run in check.runs[:1]:
        of_rank = (trace.environment for trace in run.traces if trace.rank == pair.rank)
        facts = {**run.environment, **next(of_rank, {})}
    threads = facts.get("torch.threads")
    if not isinstance(threads, int) or not 0 < threads < 1 << 16:
        threads = None
    deterministic = facts.get("torch.deterministic_algorithms") is True
    return replace(replay, threads=threads, deterministic=deterministic)


def _without_settings(check: Check, pair: Pair, first: Finding) -> Replay | NoReplay | None:
    if first.operation is not None:
        return _of_operator(first.operation)
    call = _drawing_call(pair, first)
    framework = next((name for name in _MODULES if name in pair.first.frameworks), "torch")
    if call is not None and call.made is not None and call.class_ in _MODULES.get(framework, ()):
        return _of_module(call, framework)
    if not first.statement.blames or not pair.first.frameworks or not _is_by_an_operation(first):
        return None
    if pair.first.path.name.startswith(NODE):
        # a run of several machines is recorded on each of them, and operators are not
        return None
    missing: Missing = "not recorded"
    if first.operator is not None:
        missing = "from outside"
    elif "torch" not in pair.first.frameworks:
        missing = "no operators"
    elif any(deeper.level == "op" for deeper in check.record.deeper):
        missing = "of the script"
    elif check.record.setting("level") == "op":
        missing = "not recordable"
    return NoReplay(of=first.place, missing=missing)


def _is_by_an_operation(first: Finding) -> bool:
    """Return whether a module, or an operation of loss or backward pass, makes the difference."""
    if first.operator is not None and first.operator.only_in_one_run:
        return False
    if isinstance(first.evidence, LossDiffers):
        return not first.evidence.only_labels
    return isinstance(first.evidence, CallDiffers | GradientDiffers)


def _drawing_call(pair: Pair, first: Finding) -> Seen | None:
    """Return the call of a module that draws, or that gives another output for the same inputs."""
    if not isinstance(first.evidence, StateDiffers | CallDiffers):
        return None
    steps = pair.steps[pair.position(first.number) :]
    if not steps or steps[0].seen.kind != "call":
        return None
    return steps[0].seen


def _of_operator(operation: Operation) -> Replay | NoReplay:
    seen = operation.seen
    if seen.class_ == "autograd.Function":
        return NoReplay(of=seen.place, missing="of the script")
    if not _OPERATOR.fullmatch(seen.place):
        return NoReplay(of=seen.place, missing="of a library")
    own = bool(seen.private) or "generator" in seen.place.split(".")[-1]
    return _made(
        seen,
        _with_filled(seen),
        Replay(
            framework="torch",
            name=seen.place,
            of="operator",
            arguments=(),
            draws=own or bool(seen.after),
            own_generator=own,
        ),
        operation.unfilled,
    )


def _with_filled(seen: Seen) -> Leaves:
    """Return the inputs of an operator, with the tensor that an in-place operator fills.

    The tensor is added without values.
    """
    base, inputs = seen.place.split(".")[1], seen.inputs
    if base in FILLS:
        inputs = [(path, leaf) for path, leaf in inputs if path != "self"]
    if not base.endswith("_") or any(path == "self" for path, _ in inputs):
        return inputs
    filled = [("self", structs.replace(leaf, hash="")) for _, leaf in seen.outputs[:1]]
    return [*filled, *inputs]


def _of_module(seen: Seen, framework: str) -> Replay | NoReplay:
    constructor = seen.made or ""
    if not _is_of_literals(constructor):
        return NoReplay(of=seen.place, missing="inputs")
    if framework == "mindspore":
        tensors = [leaf for _, leaf in seen.inputs if leaf.shape is not None]
        # a single one, of a type that NumPy has
        if len(seen.inputs) != 1 or [leaf.dtype in _FLOATS for leaf in tensors] != [True]:
            return NoReplay(of=seen.place, missing="inputs")
    module = Replay(
        framework=framework,
        name=f"{framework}.nn.{seen.class_}",
        of="module",
        arguments=(),
        constructor=constructor,
        draws=True,
    )
    named = []
    for path, leaf in seen.inputs:
        # arguments that were given by their place have the names of those of `forward`
        name, dot, rest = path.partition(".")
        named.append((f"{_FORWARD.get(name, name)}{dot}{rest}", leaf))
    return _made(seen, named, module, ())


def _made(seen: Seen, inputs: Leaves, bare: Replay, unfilled: Sequence[str]) -> Replay | NoReplay:
    """Return a replay with its arguments, or why they are not known."""
    try:
        arguments = tuple(_arguments(inputs, seen.how, unfilled))
        leaves = (leaf for _, leaf in (*seen.inputs, *seen.outputs) if leaf.device)
        device = next((leaf.device for leaf in leaves), "cpu").partition(":")[0]
        if not _DEVICE.fullmatch(device):
            raise _UnknownError
    except _UnknownError:
        return NoReplay(of=bare.name, missing="inputs")
    if sum(_bytes_of(argument) for _, argument in arguments) > _MOST_BYTES:
        return NoReplay(of=bare.name, missing="size")
    return replace(bare, arguments=arguments, device=device)


def _is_of_literals(text: str) -> bool:
    """Return whether a text is a list of call arguments that are all literals.

    Literals are numbers, truth values, texts, None and tuples of these.
    """
    if len(text) > 400:
        return False
    try:
        (statement,) = ast.parse(f"made({text})").body
        assert isinstance(statement, ast.Expr)
        assert isinstance(statement.value, ast.Call)
        assert isinstance(statement.value.func, ast.Name)
        values = [*statement.value.args, *(one.value for one in statement.value.keywords)]
        for value in values:
            ast.literal_eval(value)
    except (AssertionError, ValueError, SyntaxError, RecursionError, MemoryError):
        return False
    return True


def _arguments(inputs: Leaves, how: How, unfilled: Sequence[str]) -> Iterator[tuple[str, Argument]]:
    """Yield the name and value of each argument of a recorded call."""
    highest = _highest(inputs)
    leaves: dict[str, list[tuple[str, Argument]]] = {}
    for path, leaf in inputs:
        name, _, rest = path.partition(".")
        if not _NAME.fullmatch(name):
            raise _UnknownError
        leaves.setdefault(name, []).append((rest, _argument(path, leaf, how, unfilled, highest)))
    for name in how.empty:
        if not _NAME.fullmatch(name):
            raise _UnknownError
        leaves.setdefault(name, [])
    for name, parts in leaves.items():
        yield name, _nested(parts)


def _nested(parts: Sequence[tuple[str, Argument]]) -> Argument:
    """Return a single value, or a tuple built from parts by their paths, such as `0.1`."""
    if len(parts) == 1 and not parts[0][0]:
        return parts[0][1]
    inside: dict[str, list[tuple[str, Argument]]] = {}
    for path, value in parts:
        name, _, rest = path.partition(".")
        inside.setdefault(name, []).append((rest, value))
    if list(inside) != [str(number) for number in range(len(inside))]:
        raise _UnknownError
    return tuple(map(_nested, inside.values()))


def _argument(path: str, leaf: Leaf, how: How, unfilled: Sequence[str], highest: int) -> Argument:
    if leaf.shape is not None:
        tensor = _tensor(path, leaf, how, highest)
        if path in unfilled:
            tensor = replace(tensor, fill="nothing")
        return tensor
    value = leaf.value
    if value is None or isinstance(value, bool | int | float):
        return value
    if not isinstance(value, str):
        raise _UnknownError
    name = path.partition(".")[0]
    if name == "device":
        return OnDevice()
    if _CONSTANT.fullmatch(value):
        return Constant(name=value)
    if value in NOT_FINITE:
        return NOT_FINITE[value]
    if not _TEXT.fullmatch(value):
        raise _UnknownError
    return value


def _tensor(path: str, leaf: Leaf, how: How, highest: int) -> TensorArgument:
    shape = leaf.shape or ()
    if leaf.dtype not in _SIZES or any(length < 0 for length in shape):
        raise _UnknownError
    lengths = [max(1, length) for length in shape[:0:-1]]
    contiguous = list(accumulate([1, *lengths], mul))[: len(shape)]
    strides = how.strides.get(path, tuple(reversed(contiguous)))
    if len(strides) != len(shape) or any(stride < 0 for stride in strides):
        raise _UnknownError
    tensor = TensorArgument(
        shape=shape, strides=strides, dtype=leaf.dtype, fill="floats", fingerprint=leaf.hash
    )
    if leaf.dtype == "bool":
        return replace(tensor, fill="booleans")
    if "int" not in leaf.dtype:
        return tensor
    low, high = how.ranges.get(path, (0, highest))
    if not -(1 << 63) <= low <= high < (1 << 63) - 1:
        raise _UnknownError
    return replace(tensor, fill="integers", low=low, high=high)


def _highest(inputs: Leaves) -> int:
    """Return an index that is valid in every dimension of the indexed tensor.

    Used if the range of indices was not recorded, as on a device. The indexed tensor is the first
    one without an integer dtype.
    """
    lengths: list[int] = []
    for path, leaf in inputs:
        if leaf.shape and "int" not in leaf.dtype and not lengths:
            lengths.extend(leaf.shape)
        if path == "num_weights" and isinstance(leaf.value, int):
            lengths.append(leaf.value)
    return max(0, min(lengths, default=1) - 1)


def _bytes_of(argument: Argument) -> int:
    if isinstance(argument, tuple):
        return sum(map(_bytes_of, argument))
    if not isinstance(argument, TensorArgument):
        return 0
    dimensions = zip(argument.shape, argument.strides, strict=True)
    spread = 1 + sum((length - 1) * stride for length, stride in dimensions)
    return _SIZES[argument.dtype] * max(spread, prod(argument.shape))
