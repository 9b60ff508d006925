"""Reads the value of a loss: before scaling, in its own dtype, with every bit.

A loss on a device is read without waiting for the device.
"""

from typing import Any, Callable, Dict, List, Optional, Tuple


class Values:
    """The losses of torch, before scaling by a GradScaler."""

    KEPT = 16

    def __init__(self, torch: Any) -> None:
        self.torch = torch
        self.dtypes: Dict[Any, str] = {}
        # id of the scaled tensor -> (it, the loss before scaling)
        self.unscaled: Dict[int, Tuple[Any, Any]] = {}

    def remember_unscaled(self, outputs: Any, scaled: Any) -> None:
        """Remember the loss before (`outputs`) and after (`scaled`) `GradScaler.scale`.

        Both are a tensor or an iterable of tensors.
        """
        if scaled is outputs:
            return  # a scaler that is switched off
        if isinstance(outputs, self.torch.Tensor):
            while len(self.unscaled) >= self.KEPT:
                del self.unscaled[next(iter(self.unscaled))]
            self.unscaled[id(scaled)] = (scaled, outputs.detach())
            return
        # of an iterator that was scaled nothing is left to look at
        if isinstance(outputs, (list, tuple)) and isinstance(scaled, (list, tuple)):
            for output, scaled_output in zip(outputs, scaled):
                self.remember_unscaled(output, scaled_output)

    def dtype_name(self, tensor: Any) -> str:
        """Return `float32` for torch.float32."""
        name = self.dtypes.get(tensor.dtype)
        if name is None:
            name = self.dtypes[tensor.dtype] = str(tensor.dtype).replace("torch.", "")
        return name

    def loss(self, root: Any, gradient: Any) -> Any:
        """Return the loss of a backward pass as a detached tensor of one element, before scaling.

        If the root has several elements, it is sum(root * gradient) in float64.
        """
        scaled, unscaled = self.unscaled.pop(id(root), (None, None))
        value = root.detach()
        if scaled is root:
            value = unscaled
        # A DTensor: the part that this rank has. `full_tensor` and `item` are collectives, and the
        # other ranks may not be here to answer.
        if hasattr(value, "to_local"):
            value = value.to_local()
        if value.numel() == 1:
            return value
        wide = value.double()
        if gradient is not None:
            wide = wide * gradient.detach().double()
        return wide.sum()

    def copy_aside(
        self, losses: List[Any], dtype: Any
    ) -> "Callable[[bool], Optional[Tuple[List[float], Any]]]":
        """Start the copy of device scalars to the host, and return a reading.

        The reading is a function that returns None until the copy has arrived; called with `wait`
        it waits.
        """
        fetch = copy_aside(self.torch, losses)

        def read(wait: bool) -> Optional[Tuple[List[float], Any]]:
            copies = fetch(wait)
            if copies is None:
                return None
            return [copy.item() for copy in copies], dtype

        return read


def copy_aside(torch: Any, tensors: List[Any]) -> "Callable[[bool], Optional[List[Any]]]":
    """Start the copy of tensors of one device to the host, and return a reading.

    The reading is a function that returns None until the copy has arrived; called with `wait` it
    waits.

    If the device can, the copy goes to pinned memory followed by an event, so that nothing waits;
    else a copy stays on the device until the reading is called.
    """
    try:
        device = torch.get_device_module(tensors[0].device)
        copies = [
            torch.empty(tensor.shape, dtype=tensor.dtype, pin_memory=True) for tensor in tensors
        ]
        for copy, tensor in zip(copies, tensors):
            copy.copy_(tensor, non_blocking=True)
        event = device.Event()
        event.record()
    except Exception:  # a device without streams, or without pinned memory
        left = [tensor.clone() for tensor in tensors]
        return lambda wait: [tensor.cpu() for tensor in left]

    def fetch(wait: bool) -> Optional[List[Any]]:
        # asked first: to synchronise is a call into the driver, even where the copy has arrived
        if not event.query():
            if not wait:
                return None
            event.synchronize()
        return copies

    return fetch
