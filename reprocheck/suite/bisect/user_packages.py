"""The user's own packages in a worktree: an interpreter that has them from the working tree (`pip
install -e .`) would import them from there whatever commit is checked out.
"""

from __future__ import annotations

import subprocess
from pathlib import Path

import msgspec

import reprocheck

_ASK = """
import json, sys
from importlib.metadata import distributions

found = list(sys.path)
for one in distributions():
    origin = json.loads(one.read_text("direct_url.json") or "{}")
    if origin.get("dir_info", {}).get("editable"):
        found.append(origin["url"])
print(json.dumps(found))
"""
_FILE = "file://"
_SOURCES = ("", "src")
"""Where a project has its packages: beside its pyproject.toml, or in a folder of their own."""


def search_path(python: str, root: Path, worktree: Path) -> tuple[Path, ...]:
    """Return the folders of a worktree from which its packages are imported, for PYTHONPATH: those
    of the working tree `root` that the interpreter imports from, at their place in the worktree.
    """
    done = subprocess.run([python, "-I", "-c", _ASK], capture_output=True, text=True)
    try:
        listed = msgspec.json.decode(done.stdout, type=list[str])
    except msgspec.MsgspecError:
        return ()
    ours = Path(reprocheck.__file__).resolve().parents[1]
    places = dict.fromkeys(Path(_plain(one)).resolve() for one in listed if one)
    inside = [
        place.relative_to(root.resolve())
        for place in places
        if place.is_relative_to(root.resolve())
        and place != ours
        and "site-packages" not in place.parts
    ]
    found = [worktree / place / sources for place in inside for sources in _SOURCES]
    return tuple(dict.fromkeys(place for place in found if place.is_dir()))


def _plain(place: str) -> str:
    """Return the path of a `file://` URL; a plain path as it is."""
    from urllib.parse import unquote

    if place.startswith(_FILE):
        return unquote(place.removeprefix(_FILE))
    return place
