"""A report that was written, drawn again somewhere else: the same bytes, or something in it was
never recorded.
"""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path

from reprocheck.report import FORMATS
from reprocheck.workflow import replay

FORM = FORMATS["json"]
_NOT_READ = ("copy*", "snapshot*", "left")
"""What a check keeps in its folder beside what it recorded."""


def same_elsewhere(folder: Path) -> bool:
    """Whether report.json of a report folder is what a copy of the folder in another place
    gives.
    """
    with tempfile.TemporaryDirectory() as place:
        copy = Path(place, "reports", "moved")
        shutil.copytree(folder, copy, symlinks=True, ignore=shutil.ignore_patterns(*_NOT_READ))
        return FORM.render(replay.load(copy)) == (folder / FORM.filename).read_bytes()
