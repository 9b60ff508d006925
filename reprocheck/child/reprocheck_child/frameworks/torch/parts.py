"""Tensors made of tensors: subclasses, sparse, nested and quantized ones, and those inside
transforms of functions.
"""

from typing import Any, List, Union

FAKES = ("torch._subclasses", "torch.fx")
"""Modules of tensors without data."""


def inside(tensor: Any) -> "Union[Any, List[Any]]":
    """What a tensor subclass holds: a plain tensor, or a list of them."""
    for _ in range(8):
        if hasattr(tensor, "_local_tensor"):  # DTensor: the shard of this rank, no collective
            tensor = tensor._local_tensor
        elif hasattr(tensor, "trigger_wait"):  # the result of a collective that is under way
            tensor = tensor.trigger_wait()
        else:
            break
    flatten = getattr(tensor, "__tensor_flatten__", None)
    if flatten is not None:
        return [getattr(tensor, name) for name in flatten()[0]]
    return tensor


def unwrapped(torch: Any, tensor: Any) -> Any:
    """The tensor below the wrappers of `vmap` and other transforms; None where there are none."""
    functorch = torch._C._functorch
    if not functorch.is_functorch_wrapped_tensor(tensor):
        return None
    while functorch.is_functorch_wrapped_tensor(tensor):
        tensor = functorch.get_unwrapped(tensor)
    return tensor


def parts(torch: Any, tensor: Any) -> List[Any]:
    """The tensors that one is stored as, its values first."""
    if tensor.is_nested:
        pieces = list(tensor.unbind())
        sizes = torch.tensor([list(part.shape) for part in pieces], dtype=torch.int64, device="cpu")
        return [torch.cat([part.reshape(-1) for part in pieces]), sizes] if pieces else []
    if tensor.is_quantized:
        if tensor.qscheme() in (torch.per_tensor_affine, torch.per_tensor_symmetric):
            return [
                tensor.int_repr(),
                torch.tensor([tensor.q_scale(), float(tensor.q_zero_point())], dtype=torch.float64),
            ]
        return [
            tensor.int_repr(),
            tensor.q_per_channel_scales(),
            tensor.q_per_channel_zero_points(),
        ]
    if tensor.layout is torch.sparse_coo:
        return [tensor._values(), tensor._indices()]
    if tensor.layout in (torch.sparse_csr, torch.sparse_bsr):
        return [tensor.values(), tensor.crow_indices(), tensor.col_indices()]
    if tensor.layout in (torch.sparse_csc, torch.sparse_bsc):
        return [tensor.values(), tensor.ccol_indices(), tensor.row_indices()]
    return [tensor.to_dense()]
