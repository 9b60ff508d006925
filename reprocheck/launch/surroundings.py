"""What lies around a copy of the working directory, so that relative paths which lead out of it
(`../data/x.txt`) lead where they did.
"""

from __future__ import annotations

import os
from pathlib import Path

MOST_LINKS = 5_000
"""Entries of a folder above the working directory; of one that holds more, nothing is linked."""


def place_in(root: Path, source: Path) -> Path:
    """Return the path of the copy of `source` below `root`: its absolute path, so that each of its
    folders has a parent there.
    """
    return root.joinpath(*source.parts[1:])


def surround(root: Path, source: Path) -> None:
    """Make the folders that lead to the place of `source` below `root`, with links to what stands
    beside it on the way.

    The links are shared by all runs, and lead to the user's own files. A folder that cannot be
    listed gets none.
    """
    original, copy = Path("/"), root
    for name in source.parts[1:]:
        copy.mkdir(parents=True)
        try:
            names = os.listdir(original)  # noqa: PTH208 - names alone, of what may be a large folder
        except OSError:
            names = []
        if len(names) <= MOST_LINKS:
            for other in names:
                if other != name:
                    (copy / other).symlink_to(original / other)
        original, copy = original / name, copy / name
