"""Finds the script's line that last wrote to a weight before the training, and generator states.

The states are those of the generators at that write.

A layer is filled where it is built, and often filled again: by `nn.init`, by `copy_`, by
`weight.data *= 0.5`. All of these write in place, through methods of `Tensor`. The methods are
wrapped until the first forward or backward pass, and restored then.
"""

from types import MethodType
from typing import Any, Dict, Optional, Set, Tuple

from ...recorder.hooking import guarded

METHODS = (
    "normal_", "uniform_", "exponential_", "log_normal_", "cauchy_", "geometric_", "random_",
    "bernoulli_",
    "copy_", "fill_", "zero_", "add_", "sub_", "mul_", "div_", "clamp_",
    "__setitem__", "__iadd__", "__isub__", "__imul__", "__itruediv__",
)  # fmt: skip
"""The methods that scripts and initializers fill weights with."""
_MOST = 1_000_000
"""Writes looked at: a script that writes more than that before it trains is not slowed down any
further.
"""


class Write:
    """A wrapper of a `Tensor` method that writes in place.

    It compares, hashes and pickles as the original method, and has the original's type.

    Scripts and libraries store such methods: in tables of what a subclass of `Tensor` overrides, in
    attributes of a model that is saved. A stored wrapper goes on to work after the original method
    is restored.
    """

    def __init__(self, fills: "Fills", real: Any) -> None:
        self.fills = fills
        self.real = real
        self.__doc__ = real.__doc__

    @property  # type: ignore[misc]
    def __class__(self) -> Any:
        return type(self.real)

    def __get__(self, tensor: Any, kind: Any = None) -> Any:
        if tensor is None:
            return self
        return MethodType(self, tensor)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        fills = self.fills
        address = 0
        if args:
            address = fills.watched(args[0])
        if not address:
            return self.real(*args, **kwargs)
        before = fills.states()
        fills.inside = True
        try:
            return self.real(*args, **kwargs)
        finally:
            fills.inside = False
            fills.wrote(address, before)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.real, name)

    def __eq__(self, other: object) -> bool:
        if type(other) is Write:
            other = other.real
        return bool(self.real == other)

    def __hash__(self) -> int:
        return hash(self.real)

    def __repr__(self) -> str:
        return repr(self.real)

    def __reduce__(self) -> Tuple[Any, ...]:
        return tuple(self.real.__reduce__())


class Fills:
    """The last write to each storage that holds a weight."""

    def __init__(self, torch: Any, deep: Any) -> None:
        self.torch = torch
        self.deep = deep
        self.weights: Set[int] = set()
        """Addresses of the storages of weights."""
        self.last: Dict[int, Dict[str, Any]] = {}
        """Address -> keys of the fact: line (`wl`), generators (`g`), seeds set before (`sn`),
        number of the write (`wn`).
        """
        self.count = 0
        self.looked = 0
        self.inside = False
        self.wrapped: Dict[str, Write] = {}

    def watch(self) -> None:
        """Wrap the methods of `Tensor` that write in place."""
        # `Tensor` inherits them from `torch._C.TensorBase`, a type of C that takes no attributes:
        # as attributes of `Tensor` they stand before those, and are deleted again.
        for name in METHODS:
            real = getattr(self.torch.Tensor, name, None)
            if real is not None and name not in vars(self.torch.Tensor):
                self.wrapped[name] = Write(self, real)
                setattr(self.torch.Tensor, name, self.wrapped[name])

    def end(self) -> None:
        """Put the methods of the base class back, as the training begins."""
        # what somebody has kept of them looks at nothing from here on
        self.looked = _MOST
        for name, wrapper in self.wrapped.items():
            if vars(self.torch.Tensor).get(name) is wrapper:
                delattr(self.torch.Tensor, name)
        self.wrapped.clear()

    def registered(self, tensor: Any) -> None:
        """Note that a tensor became a weight.

        Earlier writes to its memory are forgotten: the line that made the weight stands for them.
        """
        address = self._address(tensor)
        if address:
            self.weights.add(address)
            self.last.pop(address, None)
            self.deep.marks.update(self.deep.states())

    def of(self, tensor: Any) -> Dict[str, Any]:
        """Return the facts of the last write to a weight; nothing where none was seen."""
        return self.last.get(self._address(tensor), {})

    @staticmethod
    def _address(tensor: Any) -> int:
        # of the storage, not of the tensor: `weight.data[0]` writes to another place in the same
        try:
            return int(tensor.untyped_storage().data_ptr())
        except Exception:  # of a tensor without memory: fake, sparse, not initialised
            return 0

    def watched(self, tensor: Any) -> int:
        """Return the storage address if a tensor to be written to is a weight, else 0.

        It is also 0 inside another write, and once the limit of watched writes is reached.
        """
        if self.inside or not self.weights or self.looked >= _MOST:
            return 0
        self.looked += 1
        address = self._address(tensor)
        return address if address in self.weights else 0

    def states(self) -> Optional[Dict[str, bytes]]:
        try:
            return dict(self.deep.states())
        except Exception:
            return None

    @guarded("a write to a weight")
    def wrote(self, address: int, before: Optional[Dict[str, bytes]]) -> None:
        if before is None:
            return
        now = self.deep.states()
        marks = self.deep.marks
        drawn: Dict[str, bytes] = {}
        for name, state in before.items():
            if marks.get(name, state) != state:
                drawn[name] = marks[name]  # drawn from since the write before
            elif now.get(name, state) != state:
                drawn[name] = state  # drawn from by this write
        if not drawn and "torch" in before:
            drawn["torch"] = before["torch"]
        self.count += 1
        self.last[address] = {
            "wl": self.deep.source(2),
            "g": {name: self.deep.hash_bytes(state) for name, state in drawn.items()},
            "sn": self.deep.seeds,
            "wn": self.count,
        }
        marks.update(now)
