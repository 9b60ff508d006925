"""Records what else is needed to call an operator again with similar arguments.

That is strides, the range of integers, and which lists are empty.
"""

from typing import Any, Dict, Iterator, List, Tuple

_MOST = 1 << 20
"""Integers above which their range is not looked for."""

_LISTS = frozenset({list, tuple})


class Layouts:
    """The layouts of arguments, read below autograd and every mode of dispatch.

    They are read as fingerprints are made.
    """

    def __init__(self, torch: Any, prints: Any) -> None:
        self.plain = frozenset(prints.plain)
        self.prints = prints
        kinds = (torch.int64, torch.int32, torch.uint8, torch.int16, torch.int8)
        self.integers = frozenset(kinds)

    def of(self, given: Dict[str, Any]) -> Dict[str, Any]:
        """Return the layouts of arguments.

        `strides` by path, of tensors that are not contiguous; `range` by path, of integers on the
        host; `empty`, the names of empty lists. What there is none of has no key, and tensors that
        cannot be asked (sparse, nested) are left out.
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
    """Yield the arguments by their paths; in place of a list what is in it, unless it is empty."""
    for name, value in given.items():
        if type(value) not in _LISTS or not value:
            yield name, value
            continue
        for index, element in enumerate(value):
            yield "%s.%d" % (name, index), element
