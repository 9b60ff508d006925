"""Accelerators that the runs can see, from the device files: no driver is asked and no context
made.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

DEV = Path("/dev")
KINDS = (
    ("nvidia[0-9]*", "CUDA_VISIBLE_DEVICES", ("", "-1", "NoDevFiles")),
    ("davinci[0-9]*", "ASCEND_RT_VISIBLE_DEVICES", ("-1",)),
)
"""Device files, the variable that hides such devices from a process, and its values that hide
all.
"""


def accelerators(environment: Mapping[str, str], dev: Path | None = None) -> tuple[str, ...]:
    """Return the device files (`/dev/nvidia0`) of CUDA and Ascend devices that `environment` does
    not hide.
    """
    devices: list[str] = []
    for pattern, variable, hides_all in KINDS:
        if environment.get(variable, "all").strip() not in hides_all:
            devices += sorted(str(path) for path in (dev or DEV).glob(pattern))
    return tuple(devices)
