"""The control `entropy`: the user's modules get a fixed stream in place of OS entropy.

`os.urandom` serves `secrets`, `uuid4` and `random.SystemRandom`; these count as called by the code
that calls them. Libraries keep OS entropy. Generators without a seed are in `generators`.
"""

from __future__ import annotations

import os

from ..recorder import import_hook
from ..recorder.hooking import guarded, replace

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Callable

    from .active_controls import Active


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


NAME = "entropy"
_LEAST_PID, _PIDS = 1000, 31000
_UUIDS = (("uuid1", 1), ("uuid6", 6), ("uuid7", 7))
"""Those that hold the time of the call; uuid4 draws from `os.urandom`."""


def install(active: Active) -> None:
    """Replace functions that read OS entropy, now or when their module is imported."""
    real = os.urandom
    replace(os, "urandom", lambda real: _bytes(active, real, "os.urandom"))
    replace(os, "getrandom", lambda real: _bytes(active, real, "os.getrandom"))
    replace(os, "getpid", lambda real: _getpid(active, real))
    import_hook.when_imported("random", lambda module: _imported_earlier(module, real))
    for name, act in (("uuid", _uuid), ("tempfile", _tempfile), ("numpy.random", _numpy)):
        import_hook.when_imported(name, _guarded(active, act))


def _guarded(active: Active, act: Callable[[Active, Any], None]) -> Callable[[object], None]:
    def callback(module: object) -> None:
        with guarded("entropy"):
            act(active, module)

    return callback


def _bytes(active: Active, real: Callable[..., bytes], what: str) -> Callable[..., bytes]:
    def urandom(size: int, *flags: int, **more: int) -> bytes:
        if type(size) is int and size >= 0 and active.asked_by_user():
            fixed = active.bytes(NAME, "bytes", size)
            if not active.spares(NAME):  # the others keep their bytes
                active.touched(NAME, what)
                return fixed
        return real(size, *flags, **more)

    return urandom


def _imported_earlier(module: Any, real: Any) -> None:
    if getattr(module, "_urandom", None) is real:
        module._urandom = os.urandom


def _getpid(active: Active, real: Callable[[], int]) -> Callable[[], int]:
    def getpid() -> int:
        pid = real()
        if not active.users_module() or active.spares(NAME):
            return pid
        active.touched(NAME, "os.getpid as a number")
        return ProcessId(pid, _LEAST_PID + active.constant(NAME, "pid") % _PIDS)

    return getpid


def _uuid(active: Active, module: Any) -> None:
    for name, version in _UUIDS:
        replace(
            module,
            name,
            lambda real, name=name, version=version: _timed(active, module, real, name, version),
        )


def _timed(
    active: Active, module: Any, real: Callable[..., Any], name: str, version: int
) -> Callable[..., Any]:
    def uuid(*args: Any, **kwargs: Any) -> Any:
        if not active.asked_by_user():
            return real(*args, **kwargs)
        number = int.from_bytes(active.bytes(NAME, name, 16), "big")
        if active.spares(NAME):  # the others keep their numbers
            return real(*args, **kwargs)
        active.touched(NAME, "uuid." + name)
        return module.UUID(
            int=number & ~(0xF << 76) & ~(0xC000 << 48) | version << 76 | 0x8000 << 48
        )

    return uuid


def _tempfile(active: Active, module: Any) -> None:
    # what `tempfile` draws the names of all its files from: one object, made at the first use
    names = module._RandomNameSequence

    def make(real: Callable[[Any], str]) -> Callable[[Any], str]:
        def following(self: Any) -> str:
            if not active.asked_by_user():
                return real(self)
            drawn = active.bytes(NAME, "tempfile", 8)
            if active.spares(NAME):  # the others keep their names
                return real(self)
            active.touched(NAME, "names of temporary files")
            return "".join(names.characters[byte % len(names.characters)] for byte in drawn)

        return following

    replace(names, "__next__", make)


def _plain(value: Any) -> Any:
    return int(value) if type(value) is ProcessId else value


def _numpy(active: Active, module: Any) -> None:
    """Pass a ProcessId to `numpy.random.seed` as its fixed number: NumPy would read the real id."""

    def make(real: Callable[..., None]) -> Callable[..., None]:
        def seed(*args: Any, **kwargs: Any) -> None:
            named = {name: _plain(value) for name, value in kwargs.items()}
            real(*map(_plain, args), **named)

        return seed

    real_seed = module.seed
    replace(module, "seed", make)
    if getattr(module.mtrand, "seed", None) == real_seed:
        module.mtrand.seed = module.seed


try:
    from _blake2 import blake2b  # hashlib costs 5 ms a process, for OpenSSL
except ImportError:
    from hashlib import blake2b

_BLOCK = 64


def stream(key: bytes, size: int) -> bytes:
    """Return `size` bytes that are derived from `key`."""
    if size <= _BLOCK:
        return blake2b(key, digest_size=_BLOCK).digest()[:size]
    start = blake2b(key, digest_size=_BLOCK).digest()
    blocks = (
        blake2b(start + number.to_bytes(8, "little"), digest_size=_BLOCK).digest()
        for number in range(-(-size // _BLOCK))
    )
    return b"".join(blocks)[:size]
