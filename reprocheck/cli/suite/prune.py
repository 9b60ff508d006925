"""`reprocheck suite prune`: what a suite keeps no longer."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from reprocheck.cli.parameters import option


def command(
    apply: Annotated[bool, option("--apply", help="Remove it.")] = False,
    history: Annotated[
        int | None,
        option(
            "--history",
            metavar="NIGHTS",
            min=260,  # the states look back so far
            help="Also rows of the history before its last so many nights.",
        ),
    ] = None,
) -> int:
    """Show what may go: reports, recordings, searches and pages of old nights.

    The last check and the last failure of each target always stay.
    """
    from reprocheck.cli.terminal import standard_output
    from reprocheck.language import count
    from reprocheck.suite.history import open_suite
    from reprocheck.suite.night import prune  # it says what to install where it cannot be had
    from reprocheck.suite.history.maintenance import compact, old_rows, remove_old_rows  # isort: skip
    from reprocheck.suite.targets import load

    out = standard_output()
    suite = load(Path.cwd())
    with open_suite(suite, create=False) as opened:
        found = prune.superfluous(suite, opened)
        size = sum(one.size for one in found)
        for one in found:
            out.line(f"  {one.what:<11}{len(one.paths):>7,}  {one.size / 1e6:>9,.1f} MB")
        rows = 0
        if history is not None:
            rows = (remove_old_rows if apply else old_rows)(opened, history)
            out.line(f"  {'checks':<11}{rows:>7,}  rows of the history")
    if not apply:
        said = f"{size / 1e6:,.1f} MB may go. Nothing was removed: --apply removes it."
        out.labelled("PRUNE", said, "bold")
        return 0
    prune.remove(found)
    if rows:
        compact(suite.history)
    out.labelled("PRUNED", f"{size / 1e6:,.1f} MB, {count(rows, 'row')}", "bold green")
    return 0
