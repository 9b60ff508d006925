"""What a check leaves for the command that finds it killed: whose it is, and when it last lived."""

from __future__ import annotations

import contextlib
import json
import os
from pathlib import Path

from reprocheck.launch.files_after import STORE
from reprocheck.launch.snapshot import OWNER, started

POINTER = "check.json"
"""In the folder of the runs' temporary files: which check it belongs to, wherever its reports
lie.
"""
SCRATCH = "reprocheck-"
"""How the name of such a folder begins."""


def point(scratch: Path, folder: Path, cwd: Path) -> None:
    """Leaves word in `scratch` of the check that it belongs to."""
    facts = {
        "folder": str(folder),
        "workdir": str(cwd),
        "pid": os.getpid(),
        "started": started(os.getpid()),
    }
    (scratch / POINTER).write_text(json.dumps(facts))


def beat(folder: Path) -> None:
    """A sign of life of a check, on the snapshot in its report folder."""
    with contextlib.suppress(OSError):
        os.utime(folder / STORE / OWNER)
