"""Keep the patch of a report folder, and the files that it changes.

Runs read these in place of the user's.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Mapping
from pathlib import Path

from reprocheck.files.limits import content

PATCH = "fix.patch"
"""In the report folder, under `arms`: the patch of the user's source that was found."""
SOURCES, OUTSIDE = "patched-files", "outside"
"""In the report folder, under `arms`: the changed files; in it, those that lie outside of the
working directory.
"""


def written(changed: Mapping[Path, str], sources: Path) -> dict[Path, Path]:
    """Write the changed files below a folder of reprocheck.

    Returns where each file lies, by the absolute path of the user's file.
    """
    from reprocheck.fixes.edits.difference import encoded

    shutil.rmtree(sources, ignore_errors=True)
    here = Path.cwd()
    places = {}
    for number, (path, text) in enumerate(sorted(changed.items())):
        place = Path(os.path.normpath(here / path))
        inside = Path(OUTSIDE, str(number), path.name)
        if place.is_relative_to(here):
            inside = place.relative_to(here)
        target = sources / inside
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(encoded(path, text))
        places[place] = target.absolute()
    return places


def kept_patch(folder: Path) -> str:
    """Return the patch with its own line ends, those of Windows if lines have them.

    "" if there is no patch.
    """
    try:
        return content(folder / "arms" / PATCH).decode()
    except (OSError, UnicodeDecodeError):
        return ""
