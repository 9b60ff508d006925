"""Holds the recorder of this process, for code that is not handed one."""

from __future__ import annotations

TYPE_CHECKING = False  # importing `typing` would cost each process 10 ms
if TYPE_CHECKING:
    from .events import Recorder

RECORDER: Recorder | None = None
