"""What reprocheck's own process keeps apart from what the environment means for the script.

`PYTHONPATH` leads to the script's modules, and `PYTHONWARNINGS` is for its warnings: a `typer.py`
or a warning that is an error there must not break the command. The variables themselves stay as
they are, for the runs.
"""

from __future__ import annotations

import atexit
import gc
import os
import sys
from pathlib import Path
from typing import TextIO

_STANDARD = (0, 1, 2)
_BETWEEN_COLLECTIONS = 100_000
"""Objects that may be made before those without an owner are looked for."""


def settle() -> None:
    """Prepare this process; called once, before anything else is imported."""
    # At its end Python would search all objects for cycles and free each: a sixth of the time of
    # a command that draws. Nothing of ours waits for that; the system takes the memory as a whole.
    atexit.register(gc.freeze)
    # A command makes hundreds of thousands of objects that stay, and hardly a cycle: by default a
    # twentieth of the time of a check is spent on looking for them.
    gc.set_threshold(_BETWEEN_COLLECTIONS)
    _open_missing_streams()
    _script_folders_last()
    if sys.warnoptions:
        import warnings

        warnings.resetwarnings()
        warnings.simplefilter("ignore")


def _open_missing_streams() -> None:
    """Open /dev/null in place of a closed stdin, stdout or stderr (`2>&-`).

    Otherwise the next pipe or file that we open would get the descriptor of that stream.
    """
    for descriptor in _STANDARD:
        try:
            os.fstat(descriptor)
        except OSError:
            # gets the lowest number that is free, which is this one
            os.set_inheritable(os.open(os.devnull, os.O_RDWR), True)
    sys.stdout = sys.stdout or _nowhere(1)
    sys.stderr = sys.stderr or _nowhere(2)


def _nowhere(descriptor: int) -> TextIO:
    return open(descriptor, "w", encoding="utf-8", closefd=False)


def _script_folders_last() -> None:
    """Move folders of scripts to the end of `sys.path`, so that no module of ours is shadowed.

    These are the folders of PYTHONPATH, and the working directory that `python -m` adds.
    """
    own = Path(__file__).resolve().parents[2]
    entries = os.environ.get("PYTHONPATH", "").split(os.pathsep)
    theirs = {Path(entry).resolve() for entry in entries if entry}
    # `python -m reprocheck` put the working directory first on the path
    if Path(sys.argv[0]) == Path(__file__).resolve().parents[1] / "__main__.py":
        theirs.add(Path.cwd())
    theirs.discard(own)
    last = [entry for entry in sys.path if Path(entry).resolve() in theirs]
    sys.path[:] = [entry for entry in sys.path if entry not in last] + last
