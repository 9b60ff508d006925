"""Fingerprints the weights around the first updates.

If an update changes no weight, the check of the next loss (the backward check) proves nothing.
"""

import weakref
from _thread import get_ident
from typing import Any, Callable, Dict, List, Optional, Tuple, Union

from ...deep_levels import fingerprint
from .graph import graph_leaves


class StepWeights:
    """The weights of an optimizer before its step, to compare with after it."""

    def __init__(self, torch: Any, values: Any) -> None:
        self.torch = torch
        self.values = values
        self.before: weakref.WeakKeyDictionary[Any, Any] = weakref.WeakKeyDictionary()
        self.under_way: Dict[int, Any] = {}  # thread -> the optimizer that steps in it

    def keep(self, optimizer: Any) -> None:
        """Fingerprint the weights of an optimizer before its step."""
        self.under_way[get_ident()] = optimizer
        host, device = self._weights(optimizer)
        on_device = None
        if device:
            on_device = fingerprint.device_sums(self.torch, device)
        self.before[optimizer] = fingerprint.checksums(host), on_device

    def changed(self, optimizer: Any) -> bool:
        """Return whether weights on the host changed since `keep`, also during the step."""
        before = self.before.get(optimizer)
        if before is None:
            return False
        host, _ = self._weights(optimizer)
        return fingerprint.first_change(host, before[0])

    def look(self, optimizer: Any) -> "Union[bool, Callable[[bool], Optional[bool]], None]":
        """Return whether weights changed since `keep`.

        For weights on a device it is a reading that returns the answer once it has arrived.
        """
        self.under_way.pop(get_ident(), None)
        before = self.before.pop(optimizer, None)
        host, device = self._weights(optimizer)
        weights = host or device
        if before is None or not weights:
            return None
        if fingerprint.first_change(host, before[0]):
            return True
        if not device:
            return False
        # compared on the device: to ask for the answer now would wait for all that it has to do
        different = (fingerprint.device_sums(self.torch, device) != before[1]).any()
        read = self.values.copy_aside([different], "bool")

        def changed(wait: bool) -> Optional[bool]:
            reading = read(wait)
            if reading is None:
                return None
            (differs,), _ = reading
            return bool(differs)

        return changed

    @staticmethod
    def _weights(optimizer: Any) -> Tuple[List[Any], List[Any]]:
        """Return (tensors on the host, tensors on a device) that an optimizer updates.

        Tensors without a gradient are left out, because an update does not change them.
        """
        host: List[Any] = []
        device: List[Any] = []
        for group in optimizer.param_groups:
            for weight in group["params"]:
                if fingerprint.on_host(weight):
                    host.append(weight)
                elif not weight.is_meta:
                    device.append(weight)
        return host, device


class GraphLeaves:
    """The leaf tensors of the graphs of successive backward passes.

    They serve trainings that update their weights without an optimizer.
    """

    LIMIT = 200_000

    def __init__(self, torch: Any) -> None:
        self.torch = torch
        self.before: Optional[Dict[int, Tuple[Any, int]]] = None

    def changed(self, roots: List[Any]) -> Optional[bool]:
        """Return whether leaf tensors of the graph changed since the backward pass before.

        None the first time, and if the two graphs have no leaf in common.

        Leaves are matched by identity; leaves that are new tensors each time (functional updates)
        by order and shape.
        """
        leaves = graph_leaves(roots, self.torch.Tensor, self.LIMIT)
        now = {
            id(leaf): (tuple(leaf.shape), fingerprint.checksum(leaf))
            for leaf in filter(fingerprint.on_host, leaves)
        }
        before, self.before = self.before, now
        if before is None or not now:
            return None
        common = now.keys() & before.keys()
        if common:
            return any(now[leaf] != before[leaf] for leaf in common)
        if _shapes(now) != _shapes(before):
            return None
        return list(now.values()) != list(before.values())


def _shapes(leaves: Dict[int, Tuple[Any, int]]) -> List[Any]:
    return [shape for shape, _ in leaves.values()]
