"""Defines the facts of the levels `module` and `op` as a trace holds them.

Sketches take most of the room in a trace and are needed at a few places only. Therefore sketches
stay in the file until `sketched` reads them.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeAlias

import msgspec

from reprocheck.files.limits import open_limited
from reprocheck.model.statement import Statement
from reprocheck.trace import events


class Leaf(
    msgspec.Struct,
    frozen=True,
    gc=False,
    rename={"hash": "h", "dtype": "d", "shape": "s", "norm": "z", "value": "v", "device": "dev"},
):
    """Hold one value that a module took or returned: a fingerprint, or a plain value."""

    hash: str = ""
    dtype: str = ""
    shape: tuple[int, ...] | None = None
    norm: float | str | None = None
    value: Any = msgspec.UNSET
    """The value itself, or the elements of a small tensor."""
    algorithm: str = msgspec.field(default="", name="a")
    device: str = ""

    @property
    def known(self) -> bool:
        """Return whether the leaf has a hash or a value to compare, and is not empty."""
        return 0 not in (self.shape or ()) and (bool(self.hash) or self.value is not msgspec.UNSET)


class Sketched(Leaf, frozen=True, gc=False):
    """Hold a leaf with its sketch, from which the size of a difference is estimated."""

    sketch: str = msgspec.field(default="", name="k")
    share: int = msgspec.field(default=1, name="q")
    """Of how many parts of the tensor one is in the sketch: all, or the first of each 17."""


Leaves: TypeAlias = list[tuple[str, Leaf]]


class How(msgspec.Struct, frozen=True, gc=False, rename={"ranges": "range"}):
    """Describe the arguments of an operator further, by the path of each argument.

    strides  strides of the tensors that are not contiguous
    ranges   smallest and largest value of each integer tensor
    empty    paths of the arguments that are lists without elements
    """

    strides: dict[str, tuple[int, ...]] = {}
    ranges: dict[str, tuple[int, int]] = {}
    empty: tuple[str, ...] = ()


AS_USUAL = How()
"""Of an operator whose tensors are contiguous."""


class Seen(events.Event, kw_only=True):
    """Hold one fact; `docs/reference/trace-format.md` describes the keys of each kind of fact."""

    kind: str = msgspec.field(name="r")
    iteration: int = msgspec.field(default=0, name="i")
    place: str = msgspec.field(default="", name="p")
    call: int = msgspec.field(default=0, name="c")
    optimizer: int | None = msgspec.field(default=None, name="o")
    class_: str = msgspec.field(default="", name="k")
    inputs: Leaves = msgspec.field(default_factory=list, name="in")
    outputs: Leaves = msgspec.field(default_factory=list, name="out")
    before: dict[str, str] = msgspec.field(default_factory=dict, name="g")
    after: dict[str, str] = msgspec.field(default_factory=dict, name="g2")
    line: str = msgspec.field(default="", name="l")
    buffer: bool = msgspec.field(default=False, name="b")
    samples: list[str] | None = msgspec.field(default=None, name="n")
    worker: int | None = msgspec.field(default=None, name="w")
    indices: list[Any] | None = msgspec.field(default=None, name="idx")
    cut: bool = False
    module: str = msgspec.field(default="", name="m")
    backward: bool = msgspec.field(default=False, name="bw")
    node: str = ""
    how: How = AS_USUAL
    made: str | None = msgspec.field(default=None, name="x")
    """Of a module of the framework's own that draws: the arguments that it was made with."""
    subset: str = ""
    held: str = ""
    bag: str = ""
    """Of a data set: hash of the indices that a subset takes, of the samples in memory in their
    order, and whatever their order.
    """
    seeds: int | None = msgspec.field(default=None, name="sn")
    """Number of a seed among those of its process, from 0; of a weight, how many seeds had been set
    when it was made.
    """
    filled: str = msgspec.field(default="", name="wl")
    """Of a weight: the line that wrote to it last after it was made."""
    write: int | None = msgspec.field(default=None, name="wn")
    """The number of that write among those to weights."""
    by: str = ""
    """The package that seeded; empty where the script did."""
    by_system: bool = msgspec.field(default=False, name="sys")
    """Whether a generator was given no number, and took one from the operating system."""
    private: dict[str, str] | str = ""
    """States of the generators that a loader has of its own, by where they hang; of an operator,
    that of the one it was given.
    """
    raw: str = ""
    """State of a generator itself, in base64."""
    frames: list[tuple[str, dict[str, str]]] = msgspec.field(default_factory=list, name="fr")
    """Of the user's functions under way, from the innermost out: the line, and the expression by
    which the code there reaches each part of the training.
    """
    at: int = -1
    """Offset of its line in the trace file."""
    written: int = -1
    """Offset of the line that holds its values, where that is an earlier one."""

    @property
    def drawn(self) -> tuple[str, ...]:
        """Return the names of the random generators whose state changed during this fact."""
        return tuple(self.after)


class Again(events.Event, rename={"kind": "r", "iteration": "i", "places": "p", "optimizer": "o"}):
    """Hold facts of several places at once.

    Each with the value of its place's last fact `gradient`.
    """

    kind: str
    iteration: int = 0
    places: list[str] = msgspec.field(default_factory=list)
    optimizer: int | None = None


class Fingerprints(events.Event):
    """Name the algorithms of a process's fingerprints: the hash and the sketch."""

    hash: str = ""
    sketch: str = ""


class Unrecorded(events.Event):
    """Tell what could not be recorded.

    where  the place of the missing value, such as the name of a module
    why    the reason
    """

    where: str = ""
    why: str = ""


@dataclass(frozen=True, kw_only=True, slots=True)
class Opened:
    """Name a file that the process opened, and the line of the script that did.

    position  the number of facts that were recorded before the file was opened
    """

    path: str
    mode: str
    position: int
    line: str = ""


@dataclass(frozen=True, kw_only=True, slots=True)
class DeepTrace:
    """Hold what one rank recorded at level `module` or `op`, in the order of execution.

    Losses are facts of the kind `loss`.
    """

    rank: int
    path: Path
    seen: tuple[Seen, ...]
    opened: tuple[Opened, ...] = ()
    unrecorded: tuple[tuple[str, str], ...] = ()
    algorithm: str = ""
    frameworks: dict[str, str] = field(default_factory=dict)
    problems: tuple[Statement | str, ...] = ()
    worker_seeds: tuple[Seen, ...] = ()
    """Seeds that the workers of its loaders set by themselves."""
    ended: bool = False
    """True if the process reached its interpreter's exit and was not stopped early."""


class _Sides(msgspec.Struct, rename={"inputs": "in", "outputs": "out"}):
    inputs: list[tuple[str, Sketched]] = []
    outputs: list[tuple[str, Sketched]] = []


_SIDES: msgspec.json.Decoder[_Sides] = msgspec.json.Decoder(_Sides)
UNREADABLE = (msgspec.DecodeError, UnicodeDecodeError, RecursionError, ValueError)


def sketched(trace: DeepTrace, seen: Seen) -> tuple[dict[str, Sketched], dict[str, Sketched]]:
    """Read the sketches of a fact: the leaves of its inputs and of its outputs, by path.

    Both results are empty if the trace file is gone.
    """
    at = seen.at if seen.written < 0 else seen.written
    if at < 0:
        return {}, {}
    try:
        with open_limited(trace.path) as file:
            file.seek(at)
            sides = _SIDES.decode(file.readline(events.LONGEST_LINE))
    except (OSError, *UNREADABLE):
        return {}, {}
    return dict(sides.inputs), dict(sides.outputs)
