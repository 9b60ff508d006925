"""Files that `torch.save` writes: its C++ writer opens them by itself, so the interpreter has no
event for them.
"""

import functools
import os
from typing import Any

from ... import files


def install(torch: Any) -> None:
    """Tell of each path that `torch.save` opens.

    All of its ways to a zip file lead through one private function.
    """
    real = torch.serialization._open_zipfile_writer

    @functools.wraps(real)
    def opening(name_or_buffer: Any) -> Any:
        if isinstance(name_or_buffer, (str, os.PathLike)):
            files.wrote(name_or_buffer)
        return real(name_or_buffer)

    torch.serialization._open_zipfile_writer = opening
