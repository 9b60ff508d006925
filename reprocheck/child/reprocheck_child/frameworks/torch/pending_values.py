"""Copies numbers that a device has computed to the host, many at a time.

A copy for each tensor would be thousands of copies a step.
"""

from _thread import RLock
from contextlib import nullcontext
from typing import Any, Callable, Dict, List, Optional, Tuple

from .values import copy_aside

Reading = Callable[[bool], Optional[Any]]
Place = Tuple[Any, Any]
"""A device, and the stream on it that computed something; None where it has no streams."""


class Parcels:
    """Vectors of 64-bit integers on devices, gathered into parcels that are copied together.

    A parcel goes to the host as a whole when the first of its vectors is read.
    """

    def __init__(self, torch: Any) -> None:
        self.torch = torch
        self.lock = RLock()
        self.open: Dict[Place, _Parcel] = {}

    def add(self, vector: Any) -> Reading:
        """Return a reading of a vector on a device.

        The reading is a function that returns the vector on the host, or None until it has arrived;
        called with `wait` it waits.
        """
        place = vector.device, self._stream(vector.device)
        with self.lock:
            parcel = self.open.get(place)
            if parcel is None:
                parcel = self.open[place] = _Parcel(place)
            start = parcel.length
            parcel.vectors.append(vector)
            end = parcel.length = start + vector.numel()

        def read(wait: bool) -> Optional[Any]:
            numbers = self._numbers(parcel, wait)
            if numbers is None:
                return None
            return numbers[start:end]

        return read

    def _numbers(self, parcel: "_Parcel", wait: bool) -> Optional[Any]:
        """Start the copy of a parcel if needed, and return its numbers; None until they arrive."""
        with self.lock:
            if parcel.fetch is None:
                if is_capturing(self.torch, parcel.vectors[0].device) and not wait:
                    return None
                if self.open.get(parcel.place) is parcel:
                    del self.open[parcel.place]
                # on the stream that computed them: on another, nothing would wait for the numbers
                with self._on(*parcel.place):
                    parcel.fetch = copy_aside(self.torch, [self.torch.cat(parcel.vectors)])
                parcel.vectors = []
        arrived = parcel.fetch(wait)
        return None if arrived is None else arrived[0]

    def _stream(self, device: Any) -> Any:
        if device.type == "cpu":
            return None
        current = getattr(getattr(self.torch, device.type, None), "current_stream", None)
        return current and current(device)

    def _on(self, device: Any, stream: Any) -> Any:
        if stream is None:
            return nullcontext()
        return getattr(self.torch, device.type).stream(stream)


class _Parcel:
    """The vectors of one stream of a device; none are added once the copy has started."""

    __slots__ = ("fetch", "length", "place", "vectors")

    def __init__(self, place: Place) -> None:
        self.place = place
        self.vectors: List[Any] = []
        self.length = 0
        self.fetch: Any = None


def is_capturing(torch: Any, device: Any) -> bool:
    """Return whether a device is capturing its work as a graph (CUDA graph).

    The recorder's own work would become part of the graph.
    """
    module = getattr(torch, device.type, None)
    capturing = getattr(module, "is_current_stream_capturing", bool)
    return bool(capturing())
