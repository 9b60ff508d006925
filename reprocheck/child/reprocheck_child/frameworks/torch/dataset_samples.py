"""Records the samples of an in-memory data set, before anything is drawn from it.

It also records the indices that a subset takes.

Only plain data sets of torch and lists are looked at: no code of a script runs.
"""

from typing import Any, Dict, List, Optional, Tuple

from . import order as torch_order

SAMPLES, BYTES = 200_000, 1 << 29
"""Data sets with more than that are left alone."""
ELEMENTS = SAMPLES // 20
"""The same of a list, whose samples are looked at one by one."""


def facts(torch: Any, prints: Any, digest: Any, dataset: Any) -> Dict[str, str]:
    """Return the hashes of a data set's samples and indices.

    `subset`: hash of the indices of a subset. `held`, `bag`: hash of the samples in order, and
    whatever their order.
    """
    hashes_by_key: Dict[str, str] = {}
    chosen = indices(torch, dataset)
    if chosen is not None:
        hashes_by_key["subset"] = digest(torch_order.content(chosen))
    _, base = _subsets(torch, dataset)
    hashes = _samples(torch, prints, digest, base)
    if hashes:
        hashes_by_key["held"] = digest("".join(hashes).encode())
        hashes_by_key["bag"] = digest("".join(sorted(hashes)).encode())
    return hashes_by_key


def indices(torch: Any, dataset: Any) -> Optional[List[Any]]:
    """Return the indices that a `Subset` takes, as indices of the innermost data set.

    None if the data set is no subset, or its indices cannot be read.
    """
    subsets, _ = _subsets(torch, dataset)
    chosen: List[Any] = [
        torch_order.plain(list(torch_order.sequence(subset.indices))) for subset in subsets
    ]
    if not chosen or None in chosen:
        return None
    inner = chosen.pop()
    while chosen:
        inner = mapped(chosen.pop(), inner)
    return inner


def _subsets(torch: Any, dataset: Any) -> Tuple[List[Any], Any]:
    """Return the nested subsets, the outermost first, and the data set inside the innermost."""
    # Here and below a class is compared, and not asked for its bases: a class of the script that is
    # derived from one of torch may hand out something else than what it holds.
    subsets: List[Any] = []
    while type(dataset) is torch.utils.data.Subset:
        subsets.append(dataset)
        dataset = dataset.dataset
    return subsets, dataset


def mapped(positions: List[Any], chosen: Optional[List[Any]]) -> List[Any]:
    """Return positions in a subset as indices of the data set below it.

    Positions that do not fit the subset are returned unchanged.
    """
    if chosen is None:
        return positions
    # a subset may count from the end, as a list does
    valid = range(-len(chosen), len(chosen))
    if not all(type(position) is int and position in valid for position in positions):
        return positions
    return [chosen[position] for position in positions]


def _samples(torch: Any, prints: Any, digest: Any, dataset: Any) -> Optional[List[str]]:
    """Return a hash of each sample; None if the samples are not in memory, or too many."""
    if type(dataset) is torch.utils.data.TensorDataset:
        return _rows(prints, list(dataset.tensors))
    if type(dataset) not in (list, tuple):
        return None
    if not 0 < len(dataset) <= ELEMENTS:
        return None
    return [digest(_content(prints, sample)) for sample in dataset]


def _rows(prints: Any, tensors: List[Any]) -> Optional[List[str]]:
    # sizes first: a hash of each sample takes a second for a few GB
    longest = max(map(len, tensors), default=0)
    size = sum(tensor.numel() * tensor.element_size() for tensor in tensors)
    if longest > SAMPLES or size > BYTES:
        return None
    hashes: Optional[List[str]] = prints.samples(tensors)
    return hashes


def _content(prints: Any, sample: Any) -> bytes:
    """Return the bytes of one sample that are hashed."""
    leaves: List[Any] = []
    for path, leaf in prints.leaves(sample):
        if not isinstance(leaf, dict):
            return b"[]"  # on a device: its fingerprint comes later
        leaves.append((path, leaf.get("h") or repr(leaf.get("v"))))
    return repr(leaves).encode("utf-8", "surrogatepass")
