"""Finds whether a tensor was written to since the last look, without reading the whole tensor."""

from typing import Any, Iterable, List, Tuple

from .memory import READ, view

LONG = 1 << 16
"""Bytes from which on a tensor is long."""
_SAMPLES = 32


class Glance:
    """A look at a tensor that shows whether it was written to: its version and some elements.

    Writing through `.data` does not change the version, but nearly always one of these elements.
    """

    def __init__(self, torch: Any) -> None:
        self.tensor = torch.Tensor
        self.plain = (torch.Tensor, torch.nn.Parameter)
        self.strided = torch.strided

    def look(self, tensor: Any) -> Any:
        """Return version, address, size, some elements of a long host tensor, else None."""
        # Called for each tensor that a module takes or returns: what is asked first costs least,
        # and a tensor of another kind may not even have what is asked below.
        if type(tensor) is not self.tensor:
            return None
        if tensor.layout is not self.strided or tensor.is_nested:
            return None
        if not tensor.is_cpu:
            return None
        size = tensor.numel() * tensor.element_size()
        if size < LONG:
            return None
        if tensor.is_inference() or not tensor.is_contiguous():
            return None
        address, words = tensor.data_ptr(), size // 8
        samples = view(address, words * 8, READ).cast("Q")[:: words // _SAMPLES].tobytes()
        # `_version` is the counter by which autograd finds out that a saved tensor was modified in
        # place. Nothing public says it. Tensors of inference mode have none: asking raises.
        return tensor._version, address, size, samples

    def marks(self, weights: Iterable[Tuple[str, Any]]) -> List[Any]:
        """Return of each (name, weight) a mark that changes with a write; None if it is not plain.

        It is the version with some elements, for a short weight all its bytes, on a device the
        version.

        The address in memory is left out, because it may differ between runs.
        """
        marks: List[Any] = []
        for _, weight in weights:
            mark: Any = None
            # no values, or no version (see `look`)
            known = type(weight) in self.plain and not (weight.is_meta or weight.is_inference())
            if known and weight.layout is self.strided and not weight.is_nested:
                mark = weight._version
                if weight.is_cpu and weight.is_contiguous():
                    size = weight.numel() * weight.element_size()
                    # all of a short one: that also shows what wrote through `.data`
                    step = 1 if size < LONG else size // 8 // _SAMPLES
                    data: Any = view(weight.data_ptr(), size, READ) if size else b""
                    if step > 1:
                        data = data[: size // 8 * 8].cast("Q")[::step]
                    mark = (mark, bytes(data)) if step > 1 else bytes(data)
            marks.append(mark)
        return marks
