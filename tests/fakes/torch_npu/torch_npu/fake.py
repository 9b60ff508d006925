"""What only the fake has: counters of what crosses from device to host and of what waits, and a clock for copies that arrive later.

torch_npu.fake.reset()
…
torch_npu.fake.counts["item"], torch_npu.fake.waits()
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable

LATENCY = 25
"""Operators after which a copy that nobody waits for has arrived."""

counts: Counter[str] = Counter()
"""`operators`, `to_device`, `to_host` (waits), `to_host_later` (does not), `item` (waits), `synchronize` (waits)."""

_ticks = 0
_pending: list[tuple[int, Callable[[], object]]] = []


def reset() -> None:
    """Set all counters to zero."""
    counts.clear()


def waits() -> int:
    """How often the host waited for the device since the last `reset`."""
    return counts["to_host"] + counts["item"] + counts["synchronize"]


def tick() -> None:
    """The device did some work: copies that are due arrive."""
    global _ticks
    _ticks += 1
    while _pending and _pending[0][0] <= _ticks:
        _pending.pop(0)[1]()


def due() -> int:
    """The time at which what is asked for now will have been done."""
    return _ticks + LATENCY


def is_past(time: int) -> bool:
    """Whether the device has come that far. Asking takes time too, so a loop that polls ends."""
    tick()
    return _ticks >= time


def later(action: Callable[[], object]) -> None:
    """Do this once the device has come that far."""
    _pending.append((due(), action))


def finish() -> None:
    """The host waits until the device has done everything."""
    global _ticks
    _ticks += LATENCY
    while _pending:
        _pending.pop(0)[1]()
