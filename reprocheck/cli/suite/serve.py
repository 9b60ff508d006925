"""`reprocheck suite serve`: the pages of the suite in a browser on this machine."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from reprocheck.cli.parameters import option

PORT = 8000


def command(
    port: Annotated[
        int, option("--port", metavar="N", min=0, max=65_535, help=f"0: one that is free. [{PORT}]")
    ] = PORT,
) -> int:
    """Draws the pages where they are not as they should be, and serves them until Ctrl-C."""
    from reprocheck import interrupts
    from reprocheck.cli.terminal import standard_output
    from reprocheck.suite import site
    from reprocheck.suite.history import open_history
    from reprocheck.suite.pages.server import server
    from reprocheck.suite.targets import load

    suite = load(Path.cwd())
    with open_history(suite.history, create=False) as history:
        site.write(history, suite)
    out = standard_output()
    with server(suite.folder, port) as listening:
        out.line(f"The pages are at {listening.url}")
        out.line("Ctrl-C ends it.", "dim")
        try:
            listening.serve_forever()
        except KeyboardInterrupt:
            interrupts.answered()
    return 0
