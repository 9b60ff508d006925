"""`reprocheck suite doctor`: whether the history is whole, and what the suite takes of the disk."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from reprocheck.suite.history import History
    from reprocheck.suite.targets import Suite


def command() -> int:
    """Look at the history and the folder of the suite. Exit code 1: something is to be done."""
    from reprocheck.cli.terminal import standard_output
    from reprocheck.suite.history import open_suite
    from reprocheck.suite.night.prune import size_of
    from reprocheck.suite.targets import load

    out = standard_output()
    suite = load(Path.cwd())
    with open_suite(suite, create=False) as history:
        out.line(f"history  {history.where}")
        nights = history.nights()
        if nights:
            out.line(f"nights   {len(nights):,}, {nights[0].id} to {nights[-1].id}")
        for folder in ("nights", "kept", "bisect", "diff", "site"):
            out.line(f"{folder:<9}{size_of(suite.folder / folder) / 1e6:,.1f} MB")
        found = [*_found(suite, history)]
    for what, fix in found:
        out.labelled("note:", f"{what} {fix}", "bold yellow")
    if not found:
        out.labelled("ALL GOOD", "the history is whole, and nothing is to be done", "bold green")
    return int(bool(found))


def _found(suite: Suite, history: History) -> Iterator[tuple[str, str]]:
    """Yield what is to be done: a fact, and a command or setting."""
    from reprocheck.language import count
    from reprocheck.suite.history.maintenance import damage
    from reprocheck.suite.night.prune import superfluous
    from reprocheck.suite.targets.suite import KEEP

    if wrong := damage(suite.history):
        yield f"The history is damaged: {wrong}.", "reprocheck suite history rebuild"
    unended = [night.id for night in history.nights() if night.ended is None]
    if unended:
        what = f"{count(len(unended), 'night')} did not come to an end; the last: {unended[-1]}."
        yield what, f"reprocheck suite run --resume {unended[-1]}"
    if suite.keep_nights is None:
        yield "Reports of all nights are kept.", f"Bound them: keep = {KEEP} in the suite's table"
    size = sum(one.size for one in superfluous(suite, history))
    if size and suite.keep_nights is not None:
        yield f"{size / 1e6:,.1f} MB may go.", "reprocheck suite prune"
