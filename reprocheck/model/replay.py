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
    """A tensor, by what it looks like.

    `strides` are in elements, one for each dimension. `low` and `high`: the smallest and the
    largest integer, both included, where it is filled with integers. `fingerprint`: the hash of
    what was recorded, empty where that is not known.
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
    """An operation, and its arguments by what they look like.

    framework      `torch`
    name           `aten.index_put_.default`, or the class of a module, `torch.nn.Dropout`
    of             whether it is an operator or a module
    arguments      by their names, in the order of the operation; of a module the positional ones
                   are named `0`, `1`…
    constructor    of a module: the text of the arguments that it was made with, literals alone
    draws          it draws random numbers
    own_generator  it was given a generator of its own to draw from
    device         the kind of device that it ran on: `cpu`, `cuda`
    threads        threads of an operation on the CPU; None where that was not recorded
    deterministic  the framework was told to be deterministic
    values         the paths of the tensors whose recorded values lie beside the script
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
        """Return whether an argument is memory that nothing has filled."""
        return any(one.fill == "nothing" for _, one in self.tensors)

    @property
    def tensors(self) -> Iterator[tuple[str, TensorArgument]]:
        """The tensors that it is given, by their paths: `self`, `indices.1`."""
        for name, argument in self.arguments:
            yield from _tensors(name, argument)


def _tensors(path: str, argument: Argument) -> Iterator[tuple[str, TensorArgument]]:
    if isinstance(argument, TensorArgument):
        yield path, argument
    if isinstance(argument, tuple):
        for number, one in enumerate(argument):
            yield from _tensors(f"{path}.{number}", one)
