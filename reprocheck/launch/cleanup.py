"""After a check that was killed: its copies are removed, and the user's files put back.

`python -m reprocheck.launch.cleanup DIR` does it by hand; the guard does it by itself when reprocheck dies while a run is under way.
"""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

from reprocheck.child.reprocheck_child.masking import identity
from reprocheck.launch import snapshot
from reprocheck.launch.run import mask_log

SNAPSHOT = "snapshot"
COPY = "workdir"


def clean_up(folder: Path, scratch: Path | None = None) -> snapshot.Restored:
    """Puts back what the snapshot in a report folder holds; removes copies of the working directory and the runs' TMPDIR; masks logs."""
    if scratch is not None:
        shutil.rmtree(scratch, ignore_errors=True)
    for copy in folder.glob(f"{COPY}*"):
        shutil.rmtree(copy, ignore_errors=True)
    for pattern in ("run-*/*.log", "*/run-*/*.log", "arms/*/run-*/*.log"):
        for log in folder.glob(pattern):
            mask_log(log, identity())
    return snapshot.restore(folder / SNAPSHOT) if (folder / SNAPSHOT).exists() else snapshot.Restored()


def command(folder: Path, scratch: Path) -> list[str]:
    """What the guard becomes when reprocheck has died: this module, started so that the environment of the run does not touch it."""
    root = str(Path(__file__).resolve().parents[2])
    code = "import sys; sys.path.insert(0, sys.argv.pop(1)); from reprocheck.launch.cleanup import main; main()"
    return [sys.executable, "-I", "-c", code, root, str(folder), str(scratch)]


def main() -> None:
    """Command line: the folder of the check, and optionally the folder of the runs' temporary files."""
    if len(sys.argv) < 2:
        sys.exit("usage: python -m reprocheck.launch.cleanup REPORT_FOLDER")
    result = clean_up(Path(sys.argv[1]), Path(sys.argv[2]) if len(sys.argv) > 2 else None)
    if result.back:
        print("put back:", *result.back, sep="\n  ")
    if result.lost:
        sys.exit("could not be put back: " + ", ".join(result.lost))


if __name__ == "__main__":
    main()
