"""Records the environment variables that the program sets for itself, each with its line.

They are no input of a run: the variables that it was started with stand in its environment.
"""

from __future__ import annotations

import os
import sys

from . import user_files

TYPE_CHECKING = False  # importing `typing` would cost each process 10 ms
if TYPE_CHECKING:
    from typing import Any

MOST_WRITES = 400
"""Writes that are told of: a loop may count in a variable."""
_RECORDER = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "")
_OS = type(os.environ).__setitem__.__code__.co_filename


class OwnVariables:
    """Record the script's writes to `os.environ`, for variables that bear on numbers."""

    def __init__(self, recorder: Any) -> None:
        self._recorder = recorder
        self._left = MOST_WRITES
        self._temporary = os.environ.get("TMPDIR") or "\0"

    def written(self, key: bytes, value: bytes) -> None:
        """Handle an `os.putenv` event (PEP 578), which comes before the variable is set."""
        if not self._left:
            return
        from ..shared import variables  # with `re`: only where a script sets any

        name, text = os.fsdecode(key), os.fsdecode(value)
        if text.startswith(self._temporary) or not variables.allowed(name, text):
            return  # a cache in a folder that each run has anew, or nothing that bears on numbers
        frame = sys._getframe(1)  # of the audit hook; `os` stands between it and the write
        between = (frame.f_code.co_filename, _OS)
        while frame.f_code.co_filename in between and frame.f_back is not None:
            frame = frame.f_back
        if frame.f_code.co_filename.startswith(_RECORDER):
            return  # a control sets it
        self._left -= 1
        masked = self._recorder.masked
        inside, foreign = user_files.folder_of(self._recorder), user_files.foreign_folders()
        line = user_files.innermost_line(frame, inside, foreign, masked)
        shown = variables.shown(name, masked(text))
        self._recorder.emit({"e": "variable", "p": name, "v": shown, "l": line})
