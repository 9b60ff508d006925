"""Fingerprints of MindSpore tensors.

Every value is read anew: a tensor of MindSpore does not say when an operator writes into it.
"""

from typing import Any, Iterator, Tuple

from ...deep_levels import leaves
from ...host import fingerprint

DEPTH = 8
UNFILLED = "its values are made when the graph is compiled"


class Fingerprints(fingerprint.Fingerprints):
    """The fingerprints of tensors and of values that hold tensors.

    Its methods never raise.
    """

    PARTS = {
        "COOTensor": ("values", "indices"),
        "CSRTensor": ("values", "indices", "indptr"),
        "RowTensor": ("values", "indices"),
    }

    def __init__(self, mindspore: Any, deep: Any) -> None:
        super().__init__(deep)
        self.tensor = mindspore.Tensor

    def is_tensor(self, value: Any) -> bool:
        """Return whether a value is a tensor of MindSpore, dense or sparse."""
        return isinstance(value, self.tensor) or type(value).__name__ in self.PARTS

    def array(self, value: Any) -> Any:
        """Return a dense tensor as an array of numpy; anything else as it is."""
        return value.asnumpy() if isinstance(value, self.tensor) else value

    def read(self, tensor: Any) -> fingerprint.Fingerprint:
        """Return the fingerprint of a tensor or array; no hash if it has no values yet."""
        # a tensor with `has_init` holds a recipe: its values are drawn when they are asked for
        if getattr(tensor, "has_init", False):
            self.deep.unrecorded(str(getattr(tensor, "name", "a tensor")), UNFILLED)
            return self.unread(tensor)
        return super().read(tensor)

    def tensors(self, value: Any, path: str = "", depth: int = DEPTH) -> Iterator[Tuple[str, Any]]:
        """Yield the dense tensors in nested tuples, lists and dictionaries, with their paths."""
        if isinstance(value, self.tensor):
            yield path, value
            return
        if not depth or not isinstance(value, (list, tuple, dict)):
            return
        for name, part in leaves.parts(value) or ():
            yield from self.tensors(part, leaves.below(path, name), depth - 1)
