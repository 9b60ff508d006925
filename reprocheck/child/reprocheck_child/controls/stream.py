"""Bytes that are derived from a key: the same in every run."""

from __future__ import annotations

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
