"""Records what else than values is needed to call an operator again with similar arguments.

These are strides, the range of integers, and which lists are empty.
"""

from typing import Any, Dict, Iterator, List, Tuple

_MOST = 1 << 20
"""Integers above which their range is not looked for."""

_LISTS = frozenset({list, tuple})


class Layouts:
    """The layouts of arguments, read below autograd and every mode of dispatch."""

    def __init__(self, torch: Any, prints: Any) -> None:
        self.plain = frozenset(prints.plain)
        self.prints = prints
        kinds = (torch.int64, torch.int32, torch.uint8, torch.int16, torch.int8)
        self.integers = frozenset(kinds)

    def of(self, given: Dict[str, Any]) -> Dict[str, Any]:
        """Return the layouts of an operator's arguments.

        `strides` by path, of tensors that are not contiguous; `range` by path, of integers on the
        host; `empty`, the names of empty lists. A dictionary key without entries is left out, and
        so are tensors that have no strides (sparse, nested).
        """
        layouts: Dict[str, Any] = {"strides": {}, "range": {}, "empty": []}
        try:
            for path, value in parts(given):
                if type(value) in self.plain:
                    if not value.is_contiguous():
                        layouts["strides"][path] = list(value.stride())
                    if value.dtype in self.integers and value.is_cpu and 0 < value.numel() <= _MOST:
                        layouts["range"][path] = self._range(value)
                elif type(value) in _LISTS:
                    layouts["empty"].append(path)
        except Exception:
            return {}
        return {name: value for name, value in layouts.items() if value}

    def _range(self, tensor: Any) -> List[int]:
        prints = self.prints
        with prints.functions(), prints.below(prints.keys):
            low, high = tensor.aminmax()
            return [int(low), int(high)]


def parts(given: Dict[str, Any]) -> Iterator[Tuple[str, Any]]:
    """Yield (path, argument); the elements of a list that is not empty take its place."""
    for name, value in given.items():
        if type(value) not in _LISTS or not value:
            yield name, value
            continue
        for index, element in enumerate(value):
            yield "%s.%d" % (name, index), element
