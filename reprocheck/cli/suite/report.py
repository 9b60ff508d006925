"""`reprocheck suite report`: the pages and files of the nights, drawn again from the history."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from reprocheck.cli.parameters import argument
from reprocheck.cli.suite.night_file import FormatOption, OutputOption, night_file, write_night

if TYPE_CHECKING:
    from reprocheck.suite.history import History
    from reprocheck.suite.model import Night

NightArgument = Annotated[
    str,
    argument(metavar="[NIGHT]", help="A night; the newest one where none is named."),
]


def command(
    night: NightArgument = "last", format: FormatOption = None, output_file: OutputOption = None
) -> int:
    """Draw the site and the files of a night; with --format, that file alone.

    Exit 0 whatever the night came to.
    """
    from reprocheck.cli.terminal import standard_output
    from reprocheck.language import count
    from reprocheck.suite import pages, reports, site
    from reprocheck.suite.history import open_suite
    from reprocheck.suite.night.folder import night_folder
    from reprocheck.suite.pages import words
    from reprocheck.suite.targets import load

    file = night_file(format, output_file)
    suite = load(Path.cwd())
    with open_suite(suite, create=False) as history:
        found = one_night(history, night)
        report = reports.read(history, found.id, suite)
        if file is not None:
            write_night(file, report)
            return 0
        written = site.write(history, suite)
    files = pages.write(report, night_folder(suite, found))
    out = standard_output()
    out.line(f"Night {found.id}: {words.headline(report)}")
    out.line(f"  pages  {os.path.relpath(written.index)}")
    out.line(f"         {written.written:,} of {count(written.pages, 'file')} written", "dim")
    for path in files:
        out.line(f"  file   {os.path.relpath(path)}")
    return 0


def one_night(history: History, name: str) -> Night:
    """Return the night of that name; `last`: the newest. Raises UsageError if there is none."""
    from reprocheck.errors import UsageError

    if name != "last":
        return history.night(name)
    nights = history.nights(last=1)
    if not nights:
        raise UsageError("The history has no night yet.", "reprocheck suite run makes one.")
    return nights[-1]
