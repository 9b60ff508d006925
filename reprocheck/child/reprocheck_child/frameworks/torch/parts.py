"""Splits tensors that are made of other tensors.

These are subclasses, sparse, nested and quantized tensors, and tensors inside `vmap` or `grad`.
"""

from typing import Any, List, Union

FAKES = ("torch._subclasses", "torch.fx")
"""Modules of tensors without data."""
_COMPRESSED_ROWS = ("values", "crow_indices", "col_indices")
_COMPRESSED_COLUMNS = ("values", "ccol_indices", "row_indices")
_STORED = {
    # the public `values` of a COO tensor refuses one that is not coalesced, and coalescing adds up
    "torch.sparse_coo": ("_values", "_indices"),
    "torch.sparse_csr": _COMPRESSED_ROWS,
    "torch.sparse_bsr": _COMPRESSED_ROWS,
    "torch.sparse_csc": _COMPRESSED_COLUMNS,
    "torch.sparse_bsc": _COMPRESSED_COLUMNS,
}
"""Layout -> the methods that give what a tensor is stored as."""


def inside(tensor: Any) -> "Union[Any, List[Any]]":
    """Return what a tensor subclass wraps: one plain tensor, or a list of tensors."""
    for _ in range(8):
        # A DTensor: the shard of this rank. `full_tensor` would gather all of them, and `to_local`
        # returns a tensor of the graph.
        local = getattr(tensor, "_local_tensor", tensor)
        # An AsyncCollectiveTensor, the result of a functional collective that is under way. Any use
        # of its values waits for it; `trigger_wait` is that, without an operator.
        if hasattr(local, "trigger_wait"):
            local = local.trigger_wait()
        if local is tensor:
            break
        tensor = local
    # the protocol by which AOTAutograd takes tensor subclasses apart: `subclass_tensors, context`
    flatten = getattr(tensor, "__tensor_flatten__", None)
    if flatten is not None:
        return [getattr(tensor, name) for name in flatten()[0]]
    return tensor


def unwrapped(torch: Any, tensor: Any) -> Any:
    """Return the tensor inside the wrappers of `vmap` and other transforms; None if not wrapped."""
    # Inside `vmap` and `grad` a tensor has the type of a plain one and stands for many; only
    # functorch's own C++ functions tell it apart and take it out of its levels.
    functorch = torch._C._functorch
    if not functorch.is_functorch_wrapped_tensor(tensor):
        return None
    while functorch.is_functorch_wrapped_tensor(tensor):
        tensor = functorch.get_unwrapped(tensor)
    return tensor


def parts(torch: Any, tensor: Any) -> List[Any]:
    """Return the tensors that store a sparse, nested or quantized tensor, its values first."""
    if tensor.is_nested:
        pieces = list(tensor.unbind())
        if not pieces:
            return []
        sizes = [list(piece.shape) for piece in pieces]
        values = torch.cat([piece.reshape(-1) for piece in pieces])
        return [values, torch.tensor(sizes, dtype=torch.int64, device="cpu")]
    if tensor.is_quantized:
        values = tensor.int_repr()
        if tensor.qscheme() not in (torch.per_tensor_affine, torch.per_tensor_symmetric):
            return [values, tensor.q_per_channel_scales(), tensor.q_per_channel_zero_points()]
        scale, zero = tensor.q_scale(), float(tensor.q_zero_point())
        return [values, torch.tensor([scale, zero], dtype=torch.float64)]
    stored = _STORED.get(str(tensor.layout), ("to_dense",))
    return [getattr(tensor, name)() for name in stored]
