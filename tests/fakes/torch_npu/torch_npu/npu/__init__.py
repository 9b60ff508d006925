"""`torch.npu` of the fake: two devices, each with a generator of its own."""

from __future__ import annotations

from typing import Any

import torch

from torch_npu import fake

from .streams import Event, Stream, current_stream, default_stream, stream

_COUNT = 2
_generators = [torch.Generator() for _ in range(_COUNT)]
for _generator in _generators:
    _generator.seed()  # from the OS, as a device that nobody seeded
_current = 0
_initialized = False


def is_available() -> bool:
    """There is always a device."""
    return True


def device_count() -> int:
    """Two."""
    return _COUNT


def is_initialized() -> bool:
    """Whether a tensor was made or a device asked for."""
    return _initialized


def init() -> None:
    """Initialise now."""
    _lazy_init()


def _lazy_init() -> None:
    global _initialized
    _initialized = True


def _is_in_bad_fork() -> bool:
    return False


def _index(device: Any) -> int:
    if device is None:
        return _current
    if isinstance(device, int):
        return device
    index = torch.device(device).index
    return _current if index is None else index


def current_device() -> int:
    """Index of the current device; initialises."""
    _lazy_init()
    return _current


def set_device(device: Any) -> None:
    """Make a device the current one; initialises."""
    global _current
    _lazy_init()
    _current = _index(device)


def get_device_name(device: Any = None) -> str:
    """A name that says what it is."""
    _lazy_init()
    return "Fake NPU"


def get_device_capability(device: Any = None) -> None:
    """None, as the real one has none."""
    return


def generator(device: Any = None) -> torch.Generator:
    """The generator that the device draws from."""
    return _generators[_index(device)]


def manual_seed(seed: int) -> None:
    """Seed the current device; does not initialise."""
    generator().manual_seed(int(seed))


def manual_seed_all(seed: int) -> None:
    """Seed all devices; does not initialise. `torch.manual_seed` calls this."""
    for each in _generators:
        each.manual_seed(int(seed))


def seed() -> None:
    """Seed the current device from the OS."""
    generator().seed()


def seed_all() -> None:
    """Seed all devices from the OS."""
    for each in _generators:
        each.seed()


def initial_seed() -> int:
    """The seed of the current device."""
    _lazy_init()
    return generator().initial_seed()


def get_rng_state(device: Any = "npu") -> torch.Tensor:
    """State of a device's generator; initialises."""
    _lazy_init()
    return generator(device).get_state()


def get_rng_state_all() -> list[torch.Tensor]:
    """States of all generators; initialises."""
    _lazy_init()
    return [each.get_state() for each in _generators]


def set_rng_state(new_state: torch.Tensor, device: Any = "npu") -> None:
    """Set the state of a device's generator."""
    generator(device).set_state(new_state)


def set_rng_state_all(new_states: list[torch.Tensor]) -> None:
    """Set the states of all generators."""
    for each, state in zip(_generators, new_states, strict=True):
        each.set_state(state)


def synchronize(device: Any = None) -> None:
    """Wait for the device."""
    _lazy_init()
    fake.counts["synchronize"] += 1
    fake.finish()


def empty_cache() -> None:
    """Nothing is cached."""


def memory_allocated(device: Any = None) -> int:
    """Not counted."""
    return 0


def get_amp_supported_dtype() -> list[torch.dtype]:
    """Asked by `torch.autocast("npu")`."""
    return [torch.float16, torch.bfloat16]


def is_bf16_supported() -> bool:
    """It is."""
    return True


def set_deterministic_level(level: int) -> None:
    """From 1 on, deterministic algorithms are on."""
    torch.use_deterministic_algorithms(level >= 1)


class device:  # noqa: N801 - the name of the real one
    """Context in which a device is the current one."""

    def __init__(self, device: Any) -> None:
        self.index = _index(device)

    def __enter__(self) -> None:
        global _current
        self.before, _current = _current, self.index

    def __exit__(self, *_: object) -> None:
        global _current
        _current = self.before


from . import amp  # noqa: E402

__all__ = ["Event", "Stream", "amp", "current_stream", "default_stream", "stream"]
