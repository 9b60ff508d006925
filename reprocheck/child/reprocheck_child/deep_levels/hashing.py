"""The exact hash of the bytes of a value.

It depends on their order, and bears the name of its algorithm, so that hashes of different
algorithms are never compared.

xxh3 with 128 bits where the interpreter of the script has the package `xxhash` (30 GB/s), else
BLAKE2b from the standard library (1 GB/s). A recording that is to be compared elsewhere takes what
every interpreter has: `take_portable`.
"""

from __future__ import annotations

import hashlib

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Callable


def _blake2b(buffer: Any) -> str:
    return hashlib.blake2b(buffer, digest_size=16).hexdigest()


def _blake2b_stream() -> Any:
    return hashlib.blake2b(digest_size=16)


def _choose() -> tuple[str, Callable[[Any], str], Callable[[], Any]]:
    try:
        from xxhash import xxh3_128, xxh3_128_hexdigest
    except Exception:  # absent, broken, or too old to have it
        return "blake2b", _blake2b, _blake2b_stream
    return "xxh3_128", xxh3_128_hexdigest, xxh3_128


NAME: str
"""Algorithm of this process: `xxh3_128` or `blake2b`."""
digest: Callable[[Any], str]
"""Hexadecimal hash of anything with the buffer protocol, 128 bits."""
stream: Callable[[], Any]
"""Makes an object that takes the same bytes piece by piece: `update(buffer)`, then
`hexdigest()`.
"""
NAME, digest, stream = _choose()


def take_portable() -> None:
    """Use from now on the hash algorithm that every interpreter has: BLAKE2b.

    Call this before anything is hashed.
    """
    global NAME, digest, stream
    NAME, digest, stream = "blake2b", _blake2b, _blake2b_stream
