"""`reprocheck suite backup FILE`: a whole copy of the history."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from reprocheck.cli.parameters import argument


def command(
    file: Annotated[Path, argument(metavar="FILE", help="A new file, such as backup.sqlite.")],
) -> int:
    """Copy the history into a file, also while a night is under way."""
    from reprocheck.cli.terminal import standard_output
    from reprocheck.suite.history import open_history
    from reprocheck.suite.targets import load

    suite = load(Path.cwd())
    open_history(suite.history, create=False).close()

    from reprocheck.suite.history.engine import url_of_file
    from reprocheck.suite.history.maintenance import backup

    backup(suite.history, file)
    with open_history(url_of_file(file), create=False) as copy:
        nights = len(copy.nights())
    said = f"{file}: {nights:,} nights, {file.stat().st_size / 1e6:,.1f} MB"
    standard_output().labelled("COPIED", said, "bold green")
    return 0
