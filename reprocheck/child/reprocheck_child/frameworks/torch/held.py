"""What a data set holds before anything is drawn from it: the samples that are in memory, and which
of them a subset takes.

Only plain data sets of torch and lists are looked at: no code of a script runs.
"""

from typing import Any, Dict, List, Optional

from . import order as torch_order

SAMPLES, BYTES = 200_000, 1 << 29
"""Data sets with more than that are left alone."""


def facts(torch: Any, prints: Any, digest: Any, dataset: Any) -> Dict[str, str]:
    """`subset`: hash of the indices of a subset.

    `held`, `bag`: hash of the samples in order, and whatever their order.
    """
    found: Dict[str, str] = {}
    chosen = indices(torch, dataset)
    if chosen is not None:
        found["subset"] = digest(torch_order.content(chosen))
    hashes = _samples(torch, prints, digest, innermost(torch, dataset))
    if hashes:
        found["held"] = digest("".join(hashes).encode())
        found["bag"] = digest("".join(sorted(hashes)).encode())
    return found


def innermost(torch: Any, dataset: Any) -> Any:
    """What the subsets are taken from."""
    for _ in range(8):
        if type(dataset) is not torch.utils.data.Subset:
            break
        dataset = dataset.dataset
    return dataset


def indices(torch: Any, dataset: Any) -> Optional[List[Any]]:
    """The indices that a subset takes, as those of what it is taken from; None of another data set,
    or one that does not say.
    """
    if type(dataset) is not torch.utils.data.Subset:
        return None
    own = _plain(dataset.indices)
    inner = dataset.dataset
    if type(inner) is not torch.utils.data.Subset or own is None:
        return own
    below = indices(torch, inner)
    return None if below is None else mapped(own, below)


def mapped(
    positions: "Optional[List[Any]]", chosen: "Optional[List[Any]]"
) -> "Optional[List[Any]]":
    """Positions in a subset as indices of what it is taken from; as they are where they are no
    positions in it.
    """
    if (
        positions is None
        or chosen is None
        or not all(type(one) is int and -len(chosen) <= one < len(chosen) for one in positions)
    ):
        return positions
    return [chosen[one] for one in positions]


def _plain(values: Any) -> Optional[List[Any]]:
    if type(values).__name__ in ("ndarray", "Tensor") and getattr(values, "ndim", 0) == 1:
        values = values.tolist()
    return torch_order.plain(list(values)) if isinstance(values, (list, tuple, range)) else None


def _samples(torch: Any, prints: Any, digest: Any, dataset: Any) -> Optional[List[str]]:
    """A hash of each sample; None where they are not in memory, or too many."""
    if type(dataset) is torch.utils.data.TensorDataset:
        tensors = dataset.tensors
        if (
            not tensors
            or len(tensors[0]) > SAMPLES
            or sum(one.numel() * one.element_size() for one in tensors) > BYTES
        ):
            return None
        hashes: Optional[List[str]] = prints.samples(list(tensors))
        return hashes
    if type(dataset) in (list, tuple) and 0 < len(dataset) <= SAMPLES // 20:
        return [
            digest(repr(_content(prints, sample)).encode("utf-8", "surrogatepass"))
            for sample in dataset
        ]
    return None


def _content(prints: Any, sample: Any) -> List[Any]:
    found: List[Any] = []
    for path, leaf in prints.leaves(sample):
        if not isinstance(leaf, dict):
            return []  # on a device: its fingerprint comes later
        found.append((path, leaf.get("h") or repr(leaf.get("v"))))
    return found
