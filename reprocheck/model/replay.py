"""What it takes to run one operation again without the training: what `replay.py` is made of.

No value of a tensor is in it: those that were recorded lie in a file beside the script.
`docs/reference/replay.md` says what is kept of each argument.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

Fill = Literal["floats", "integers", "booleans", "nothing"]
"""What a tensor is filled with; nothing: it is memory as another tensor left it."""
OfWhat = Literal["operator", "module"]


@dataclass(frozen=True, kw_only=True, slots=True)
class TensorArgument:
    """The description of a tensor argument, without its values.

    `strides` are in elements, one for each dimension. `low` and `high`: the smallest and the
    largest integer, both included, if the tensor is filled with integers. `fingerprint`: the hash
    of the recorded values, empty if unknown.
    """

    shape: tuple[int, ...]
    strides: tuple[int, ...]
    dtype: str
    fill: Fill
    low: int = 0
    high: int = 0
    fingerprint: str = field(default="", repr=False, compare=False)


@dataclass(frozen=True, kw_only=True, slots=True)
class Constant:
    """A value that the framework has a name for, such as `torch.float32`."""

    name: str


@dataclass(frozen=True, kw_only=True, slots=True)
class OnDevice:
    """The device that the operation runs on, given as an argument."""


Argument: TypeAlias = (
    "TensorArgument | Constant | OnDevice | tuple[Argument, ...] | bool | int | float | str | None"
)


@dataclass(frozen=True, kw_only=True, slots=True)
class Replay:
    """An operation, with descriptions of its arguments, that can be run again without the training.

    framework      the framework, `torch`
    name           `aten.index_put_.default`, or the class of a module, `torch.nn.Dropout`
    of             whether the operation is an operator or a module
    arguments      by their names, in the order of the operation; positional arguments of a module
                   are named `0`, `1`…
    constructor    of a module: the text of its constructor arguments, literals only
    draws          whether the operation draws random numbers
    own_generator  whether the operation was given a generator of its own to draw from
    device         the kind of device that the operation ran on: `cpu`, `cuda`
    threads        number of threads of an operation on the CPU; None if not recorded
    deterministic  whether the framework was told to use deterministic algorithms
    values         the paths of the tensors whose recorded values lie next to the script
    """

    framework: str
    name: str
    of: OfWhat
    arguments: tuple[tuple[str, Argument], ...]
    constructor: str = ""
    draws: bool = False
    own_generator: bool = False
    device: str = "cpu"
    threads: int | None = None
    deterministic: bool = False
    values: tuple[str, ...] = ()

    @property
    def reads_unfilled(self) -> bool:
        """Return whether an argument is uninitialized memory."""
        return any(one.fill == "nothing" for _, one in self.tensors)

    @property
    def tensors(self) -> Iterator[tuple[str, TensorArgument]]:
        """The tensor arguments, with their paths: `self`, `indices.1`."""
        for name, argument in self.arguments:
            yield from _tensors(name, argument)


def _tensors(path: str, argument: Argument) -> Iterator[tuple[str, TensorArgument]]:
    if isinstance(argument, TensorArgument):
        yield path, argument
    if isinstance(argument, tuple):
        for number, one in enumerate(argument):
            yield from _tensors(f"{path}.{number}", one)
