"""The user's files that a killed check left changed are put back before a command does anything."""

from __future__ import annotations

import json
from pathlib import Path


def put_back() -> None:
    """Restore the user's files that a killed check of this folder left changed, and say so on
    stderr.

    This costs two directory listings if there is no killed check.
    """
    import tempfile

    output = Path.cwd() / "reports"
    scratches = Path(tempfile.gettempdir()).glob("reprocheck-*.*")
    if not any(output.glob("*/snapshot")) and not any(
        _names(scratch / "check.json", Path.cwd()) for scratch in scratches
    ):
        return
    from reprocheck.cli.terminal import standard_error
    from reprocheck.launch.interrupted_checks import restored

    for sentence in restored(output, Path.cwd()):
        standard_error().labelled("note:", sentence, "bold")


def _names(pointer: Path, folder: Path) -> bool:
    """Return whether `pointer` (`check.json` of a check's temporary folder) names this folder, or
    does not exist because the check was killed before writing it.
    """
    try:
        return json.dumps(str(folder)) in pointer.read_text()
    except FileNotFoundError:
        return True
    except (OSError, UnicodeDecodeError):
        return False
