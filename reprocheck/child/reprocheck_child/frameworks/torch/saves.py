"""Records files that `torch.save` writes.

Its C++ writer opens the files itself, so Python raises no audit event for them.
"""

import os
from typing import Any

from ...files_seen import opened_files
from ...recorder.hooking import around


def install(torch: Any) -> None:
    """Record each path that `torch.save` opens.

    All ways of `torch.save` to a zip file call one private function.
    """

    def opening(name_or_buffer: Any) -> None:
        if isinstance(name_or_buffer, (str, os.PathLike)):
            opened_files.wrote(name_or_buffer)

    around(torch.serialization, "_open_zipfile_writer", "a file that is saved", before=opening)
