"""What else has to be known of the arguments of an operator to call it again with others like them:
strides, the range of integers, and which lists are empty.
"""

from typing import Any, Dict, Iterator, List, Tuple

_MOST = 1 << 24
"""Integers above which their range is not looked for."""
_LISTS = (list, tuple)


class Layouts:
    """Reads them off, below autograd and every mode of dispatch, as fingerprints are made."""

    def __init__(self, torch: Any, prints: Any) -> None:
        self.plain = prints.plain
        self.prints = prints
        self.strided = torch.strided
        kinds = (torch.int64, torch.int32, torch.uint8, torch.int16, torch.int8)
        self.integers = frozenset(kinds)

    def of(self, given: Dict[str, Any]) -> Dict[str, Any]:
        """`strides` by path, of tensors that are not contiguous; `range` by path, of integers on
        the host; `empty`, the names of empty lists. What there is none of has no key, and of
        tensors that cannot be asked nothing is said.
        """
        try:
            return self._of(given)
        except Exception:
            return {}

    def _of(self, given: Dict[str, Any]) -> Dict[str, Any]:
        strides: Dict[str, List[int]] = {}
        ranges: Dict[str, List[int]] = {}
        for path, tensor in self._tensors(given):
            if tensor.layout is not self.strided or tensor.is_nested:
                continue
            if not tensor.is_contiguous():
                strides[path] = list(tensor.stride())
            if tensor.dtype in self.integers and tensor.is_cpu and 0 < tensor.numel() <= _MOST:
                ranges[path] = self._range(tensor)
        empty = [name for name, value in given.items() if type(value) in _LISTS and not value]
        found = {"strides": strides, "range": ranges, "empty": empty}
        return {name: value for name, value in found.items() if value}

    def _tensors(self, given: Dict[str, Any]) -> Iterator[Tuple[str, Any]]:
        """Plain tensors, and those in lists, by their paths."""
        for name, value in given.items():
            if type(value) in self.plain:
                yield name, value
            elif type(value) in _LISTS:
                for index, one in enumerate(value):
                    if type(one) in self.plain:
                        yield "%s.%d" % (name, index), one

    def _range(self, tensor: Any) -> List[int]:
        prints = self.prints
        with prints.functions(), prints.below(prints.keys):
            low, high = tensor.aminmax()
            return [int(low), int(high)]
