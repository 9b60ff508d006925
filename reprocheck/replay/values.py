"""Read the file beside `replay.py` that holds what the operation was given, value by value.

In the format safetensors: which tensors of a replay are in it.

It may come from a stranger: only what is as the replay says is taken, and no value is looked at.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from dataclasses import replace
from math import prod
from pathlib import Path
from typing import Any

from reprocheck.child.reprocheck_child.shared.tensor_types import TYPES
from reprocheck.files.limits import open_regular
from reprocheck.model.replay import Replay, TensorArgument

NAME = "replay.safetensors"
MOST_BYTES = 20_000_000
"""Of all values together: a zip with them stays below the 25 MB of an attachment on GitHub."""
_LONGEST_HEADER = 1 << 16
_LENGTH = 8
"""Bytes of the length of the header, which stands first."""


def wanted(replay: Replay) -> dict[str, str]:
    """Return the tensors whose values can be recorded: path -> fingerprint."""
    return {
        path: tensor.fingerprint
        for path, tensor in replay.tensors
        if tensor.fingerprint and tensor.dtype in TYPES and tensor.fill != "nothing"
    }


def with_values(replay: Replay, folder: Path) -> Replay:
    """Return the replay with the paths of the tensors whose values lie in a folder.

    None where there is no such file, or it is not what it should be.
    """
    try:
        return replace(replay, values=tuple(_names(folder / NAME, replay)))
    except (OSError, ValueError, TypeError, KeyError, AttributeError, RecursionError):
        return replay


def read(folder: Path) -> bytes:
    """Return the file in a folder. Raises OSError."""
    with open_regular(folder / NAME) as file:
        return file.read(MOST_BYTES + _LONGEST_HEADER)


def _names(path: Path, replay: Replay) -> Iterator[str]:
    with open_regular(path) as file:
        size = os.fstat(file.fileno()).st_size
        length = int.from_bytes(file.read(_LENGTH), "little")
        if size > MOST_BYTES + _LONGEST_HEADER or length > _LONGEST_HEADER:
            return
        header = json.loads(file.read(length))
    room = size - _LENGTH - length
    for name, tensor in replay.tensors:
        if name in header and _fits(header[name], tensor, room):
            yield name


def _fits(entry: Any, tensor: TensorArgument, room: int) -> bool:
    """Return whether a header describes the tensor of the replay, and the file holds it."""
    dtype, bytes_each = TYPES[tensor.dtype]
    begin, end = entry["data_offsets"]
    within = 0 <= begin <= end <= room and end - begin == bytes_each * prod(tensor.shape)
    return within and (entry["dtype"], tuple(entry["shape"])) == (dtype, tensor.shape)
