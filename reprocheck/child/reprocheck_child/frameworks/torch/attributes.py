"""Finds values that modules keep as attributes and no checkpoint contains.

That is tensors that are plain attributes, alone or in a list or a dict, or buffers that are not
persistent; and numbers that modules of the script count with.
"""

from itertools import islice
from typing import Any, Dict, Iterator, Tuple

from ...deep_levels import scope
from ...deep_levels.leaves import below

MOST = 1000
"""Tensors that are looked at."""
LARGEST = 1 << 26
"""Bytes of a tensor that is looked at: what is larger is data, or a cache."""
Named = Tuple[str, Any]


def attributes(torch: Any, names: Any) -> Iterator[Named]:
    """Return (path, tensor) of tensors that modules keep as attributes beside their state dict.

    A tensor with a `grad_fn` is left out, because no later iteration uses it.
    """
    named = (pair for module, path in names.modules.living() for pair in _of_module(module, path))
    persistent = (
        pair for pair in named if _is_kept(pair[1], torch) and names.parameter(id(pair[1])) is None
    )
    return islice(persistent, MOST)


def numbers(names: Any) -> Iterator[Tuple[str, Any, str]]:
    """Return (path, module, attribute) of numbers that the script's modules keep as attributes.

    Layers of PyTorch itself are left out, because their numbers are sizes.
    """
    own = (
        (below(path, name), module, name)
        for module, path in names.modules.living()
        if not type(module).__module__.startswith("torch.")
        for name, value in list(vars(module).items())
        if type(value) in (int, float) and not name.startswith("_")
    )
    return islice(own, MOST)


def _of_module(module: Any, path: str) -> Iterator[Named]:
    namespace: Dict[str, Any] = dict(getattr(module, "__dict__", {}))
    # private: which buffers a checkpoint leaves out stands nowhere else
    buffers = dict(namespace.get("_buffers", {}))
    namespace.update(
        (name, buffers.get(name)) for name in namespace.get("_non_persistent_buffers_set", ())
    )
    # what is registered has names of its own
    namespace.update(_parameters=None, _buffers=None, _modules=None)
    for attribute, value in namespace.items():
        place = below(path, attribute)
        yield place, value
        yield from ((place + part, element) for part, element in scope.parts(value))


def _is_kept(value: Any, torch: Any) -> bool:
    if not isinstance(value, torch.Tensor) or value.grad_fn is not None:
        return False
    return bool(value.numel() * value.element_size() <= LARGEST)
