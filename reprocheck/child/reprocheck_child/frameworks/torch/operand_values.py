"""Keeps the input values of one operator call, in a run that is made to get these values.

The values are a file in the format safetensors, written with the standard library alone.
`replay.py` reads it.
"""

import os
from contextlib import suppress
from typing import Any, Dict, List, Tuple

from ...recorder import json_text
from ...recorder.hooking import guarded
from ...shared.tensor_types import FILE, TYPES
from .layouts import parts
from .memory import memory

_ALIGNED = 8


class Sought:
    """The one call of an operator whose inputs are to be kept.

    `wanted`: the name of the `operator`, the fingerprints of its `inputs` by their paths, and the
    `most` bytes that are kept.
    """

    def __init__(self, torch: Any, deep: Any, wanted: Dict[str, Any]) -> None:
        self.torch = torch
        self.prints = deep.fingerprints
        self.path = os.path.join(deep.recorder.folder, FILE)
        self.operator = wanted["operator"]
        self.inputs = wanted["inputs"]
        self.most = wanted["most"]

    @guarded("keeping the values of an operator")
    def look(self, name: str, given: Dict[str, Any], leaves: List[Any]) -> None:
        """Keep the inputs of an operator that is about to run, if the call is the wanted one."""
        if name != self.operator or not self.inputs:
            return
        prints = dict(leaves)
        if all(_hash(prints.get(path)) == wanted for path, wanted in self.inputs.items()):
            self._keep(dict(parts(given)))
            self.inputs = {}

    def _keep(self, given: Dict[str, Any]) -> None:
        """Write the input tensors, the smallest first, as long as they fit in `most` bytes."""
        torch, prints = self.torch, self.prints
        chosen: List[Tuple[str, Any]] = []
        left = self.most
        with prints.functions(), prints.below(prints.keys):
            tensors = [(path, given[path]) for path in self.inputs if path in given]
            for path, tensor in sorted(tensors, key=_bytes_of):
                left -= _bytes_of((path, tensor))
                if left < 0:
                    break
                if tensor.layout is torch.strided and tensor.numel() and _type(tensor) in TYPES:
                    chosen.append((path, tensor.detach().cpu().resolve_neg().contiguous()))
        if chosen:
            self._write(chosen)

    def _write(self, tensors: List[Tuple[str, Any]]) -> None:
        header, at = {}, 0
        for path, tensor in tensors:
            end = at + _bytes_of((path, tensor))
            header[path] = {
                "dtype": TYPES[_type(tensor)][0],
                "shape": list(tensor.shape),
                "data_offsets": [at, end],
            }
            at = end
        text = json_text.dumps(header).encode()
        text += b" " * (-len(text) % _ALIGNED)
        # another rank may have been given the same
        with suppress(FileExistsError), open(self.path, "xb") as file:
            file.write(len(text).to_bytes(8, "little") + text)
            for named in tensors:
                file.write(memory(named[1].data_ptr(), _bytes_of(named)))


def _hash(leaf: Any) -> Any:
    """Return the hash of a fingerprint; wait if a device has not delivered it yet."""
    if callable(leaf):
        leaf = leaf(True)
    return (leaf or {}).get("h")


def _bytes_of(named: Tuple[str, Any]) -> int:
    return int(named[1].numel() * named[1].element_size())


def _type(tensor: Any) -> str:
    return str(tensor.dtype).replace("torch.", "")
