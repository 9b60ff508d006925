"""A file in the format safetensors, byte by byte."""

from __future__ import annotations

import json
from array import array
from typing import Any


def safetensors(**tensors: tuple[str, list[int], array[Any]]) -> bytes:
    """A file with tensors: name -> type, shape, elements in their order."""
    header, data = {}, b""
    for name, (dtype, shape, elements) in tensors.items():
        end = len(data) + len(elements.tobytes())
        header[name] = {"dtype": dtype, "shape": shape, "data_offsets": [len(data), end]}
        data += elements.tobytes()
    text = json.dumps(header).encode()
    return len(text).to_bytes(8, "little") + text + data
