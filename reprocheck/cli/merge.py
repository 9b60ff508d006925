"""Run `reprocheck merge NODE0 NODE1 … -o RUN`.

What each machine of a run recorded becomes one recording.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from reprocheck.cli.parameters import argument, option
from reprocheck.errors import UsageError


def merge(
    nodes: Annotated[
        list[Path],
        argument(
            metavar="NODE0 NODE1...", help="Recordings of one run: a file or folder of each node."
        ),
    ],
    output: Annotated[
        Path | None,
        option("-o", metavar="RUN", help="Where to write: a file FILE.zip, or a new folder."),
    ] = None,
) -> int:
    """Join the recordings into one with all ranks, which `compare` and `report` take.

    Exit 0 also where ranks are missing: it says so.
    """
    if output is None:
        raise UsageError(
            "The output is missing.",
            f"reprocheck merge {' '.join(map(str, nodes))} -o run.zip",
        )
    from reprocheck.cli import summary
    from reprocheck.cli.terminal import standard_error, standard_output
    from reprocheck.language.ranks import named
    from reprocheck.workflow import merge as merging

    made = merging.merge(nodes, output)
    title = f"MERGED  {made.nodes} nodes, {len(made.ranks)} ranks"
    summary.print_recording(
        standard_output(), title, output, "record the run once more, merge it, and compare them:"
    )
    if made.missing:
        standard_error().paragraph(
            f"No node has {named(made.missing)}: is a recording missing?", style="yellow"
        )
    return 0
