"""A process id that is real for the system, and a fixed number in calculations."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Callable

_UNARY = ("abs", "neg", "pos", "invert", "trunc", "floor", "ceil", "int", "float", "index")
_BINARY = (
    "add",
    "sub",
    "mul",
    "truediv",
    "floordiv",
    "mod",
    "divmod",
    "pow",
    "lshift",
    "rshift",
    "and",
    "or",
    "xor",
)


class ProcessId(int):
    """An int with the real process id as its digits, which counts as `fixed` in arithmetic.

    `os.kill`, equality, hash and text use the real id; arithmetic and `int()` see `fixed`.
    """

    fixed: int

    def __new__(cls, real: int, fixed: int) -> ProcessId:
        """Make a ProcessId of the real process id and the number `fixed` for arithmetic."""
        process_id = super().__new__(cls, real)
        process_id.fixed = fixed
        return process_id

    def __reduce__(self) -> Any:
        """Pickle as the plain id: another process may not know this class."""
        return (int, (int.__repr__(self),))


def _unary(name: str) -> Callable[[ProcessId], Any]:
    operation = getattr(int, name)
    return lambda self: operation(self.fixed)


def _binary(name: str) -> Callable[..., Any]:
    operation = getattr(int, name)
    return lambda self, *others: operation(
        self.fixed,
        *(operand.fixed if type(operand) is ProcessId else operand for operand in others),
    )


for _name in _UNARY:
    setattr(ProcessId, f"__{_name}__", _unary(f"__{_name}__"))
for _name in _BINARY:
    setattr(ProcessId, f"__{_name}__", _binary(f"__{_name}__"))
    if hasattr(int, f"__r{_name}__"):
        setattr(ProcessId, f"__r{_name}__", _binary(f"__r{_name}__"))
