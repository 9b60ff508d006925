"""What a night came to, on stdout: what failed, and what to type next."""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from os.path import relpath
from typing import TYPE_CHECKING

from reprocheck.cli.suite.words import verdict_of
from reprocheck.report.text import count

if TYPE_CHECKING:
    from reprocheck.cli.terminal import Stream
    from reprocheck.suite.model import TargetCheck
    from reprocheck.suite.night import Outcome
    from reprocheck.suite.targets import Suite

HEADS = {0: ("ALL GOOD", "bold green"), 1: ("FAILED", "bold red"), 3: ("UNDECIDED", "bold yellow")}
"""What stands first, by exit code, and its style."""


def print_outcome(outcome: Outcome, suite: Suite, out: Stream) -> None:
    """Prints the night in a few lines; those that name what failed and the next command are the
    last ones.
    """
    head, style = HEADS[outcome.exit_code]
    out.labelled(head, f"night {outcome.night.id}: {_counted(outcome)}", style)
    for check in _not_good(outcome):
        out.labelled(check.target, f"{verdict_of(check)}. {_first_line(check)}", "bold", indent=2)
        if check.folder:
            out.line(f"    {relpath(suite.folder / check.folder)}")
    for name, why in sorted(outcome.not_run.items()):
        out.labelled(name, f"not run. {why}", "bold", indent=2)
    for why, words in _next(outcome):
        out.labelled(f"{why}:", shlex.join(words))


def _counted(outcome: Outcome) -> str:
    parts = [f"{count(len(outcome.checks), 'target')} checked"]
    not_good = len(list(_not_good(outcome)))
    if not_good:
        parts.append(f"{not_good} not good")
    if outcome.not_run:
        parts.append(f"{len(outcome.not_run)} not run")
    return ", ".join(parts)


def _not_good(outcome: Outcome) -> Iterator[TargetCheck]:
    return (check for check in outcome.checks if not check.good)


def _first_line(check: TargetCheck) -> str:
    return check.reason.partition("\n")[0]


def _next(outcome: Outcome) -> Iterator[tuple[str, tuple[str, ...]]]:
    """(why, command)."""
    failed = [check.target for check in _not_good(outcome)]
    if failed:
        yield "more", ("reprocheck", "suite", "show", failed[0])
        yield "check again", ("reprocheck", "suite", "run", "--only-failed")
