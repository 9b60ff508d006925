"""What a night came to, on stdout: what failed, and what to type next."""

from __future__ import annotations

import shlex
from collections import Counter
from collections.abc import Iterator
from os.path import relpath
from typing import TYPE_CHECKING

from reprocheck import rules
from reprocheck.language import count, shortlist
from reprocheck.suite.baselines import accept_command
from reprocheck.suite.pages import words

if TYPE_CHECKING:
    from pathlib import Path

    from reprocheck.cli.terminal import Stream
    from reprocheck.suite.model import NightReport, Suspect, TargetCheck, TargetState
    from reprocheck.suite.night import Outcome
    from reprocheck.suite.targets import Suite

HEADS = {0: ("ALL GOOD", "bold green"), 1: ("FAILED", "bold red"), 3: ("UNDECIDED", "bold yellow")}
"""What stands first, by exit code, and its style."""
SAID = (
    "drift",
    "expected drift",
    "moved",
    "slower",
    "larger",
    "intermittent",
    "known issue",
    "fixed",
)
"""States that are named also where they do not fail the night."""
MOST_NAMED = 20
"""Targets that are named; a night in which more failed is to be read in its report."""


def print_outcome(
    outcome: Outcome,
    report: NightReport,
    suite: Suite,
    index: Path | None,
    out: Stream,
    *,
    elsewhere: Path | None = None,
) -> None:
    """Print the night in a few lines; the last ones name what failed and the next command.

    report     the night with all targets, those that it did not select, too
    index      the first page of the site; None: it was named before
    elsewhere  the folder that the night was kept in, where that is not the suite's own
    """
    head, style = HEADS[outcome.exit_code]
    selected = set(outcome.night.selected)
    states = Counter(state.state for state in outcome.states if state.target in selected)
    counts = ", ".join(f"{number} {state}" for state, number in states.items())
    checked = f"{count(len(outcome.checks), 'target')} checked: {counts}"
    out.labelled(head, f"night {outcome.night.id}: {checked}", style)
    named = [
        *(state for state in outcome.states if state.state in SAID and not state.failed),
        *outcome.failed,
    ]
    for state in named[-MOST_NAMED:]:
        one = report.named(state.target)
        _print_state(state, one.decisive if one else None, suite, out)
    if len(named) > MOST_NAMED:
        out.line(f"  and {len(named) - MOST_NAMED} more")
    failing = [one.name for one in report.failed if one.last_checked]
    if failing:
        named_few = shortlist(failing, MOST_NAMED)
        out.paragraph(f"not selected, and failed when last checked: {named_few}", indent=2)
    if without := words.without_baseline(report):
        out.paragraph(without, indent=2)
    if index is not None:
        out.line(f"  pages: {relpath(index)}")
    for why, command in _next(outcome, report, elsewhere):
        out.paragraph(f"{why}:", indent=2)
        out.line(f"    {command}")


def _print_state(state: TargetState, check: TargetCheck | None, suite: Suite, out: Stream) -> None:
    style = "bold red" if state.failed else "bold"
    out.labelled(state.target, f"{state.state}. {state.sentence}", style, indent=2)
    if state.operation:
        out.paragraph(state.operation, indent=4)
    _print_suspect(state.suspect, suite, out)
    if check is None:
        return
    if not check.good and check.causes:
        out.paragraph(cause_of(check), indent=4)
    if check.folder:
        out.line(f"    {relpath(suite.folder / check.folder)}")


def _print_suspect(suspect: Suspect, suite: Suite, out: Stream) -> None:
    """Print the changed line behind a difference, who changed it, and the folder that shows it."""
    if suspect.source:
        out.line(f"    {suspect.source}", "bold")
    for row in (*suspect.changed, *suspect.commits[: words.MOST_COMMITS]):
        out.line(f"      {row}")
    if suspect.report:
        out.line(f"    {relpath(suite.folder / suspect.report)}")


def _next(
    outcome: Outcome, report: NightReport, elsewhere: Path | None
) -> Iterator[tuple[str, str]]:
    """Yield the commands to type next, as (purpose, command).

    If the night was kept elsewhere, or is one shard, merging comes first, because other commands
    read the history of the suite's own folder.
    """
    if elsewhere is not None:
        folder = shlex.quote(str(elsewhere))
        yield "take it into the suite's own history", f"reprocheck suite merge {folder}"
        return
    if outcome.night.shard:
        yield "join the shares of the night once all have ended", "reprocheck suite merge"
        return
    if outcome.failed:
        target = shlex.quote(outcome.failed[0].target)
        yield "look at one", f"reprocheck suite show {target}"
        yield "check what failed again", "reprocheck suite run --only-failed"
    night = outcome.night.id
    good = {check.target for check in outcome.checks if check.good}
    drifted = [state.target for state in outcome.states if state.drift and state.target in good]
    if drifted:
        yield "accept new curves that are meant", accept_command(*drifted, night=night)
    elif any(one.check and one.check.good for one in report.without_baseline):
        is_first = all(state.state in ("new target", "not run") for state in outcome.states)
        command = accept_command(night=night, why="first night" if is_first else "REASON")
        yield "hold the next nights against this one", command


def cause_of(check: TargetCheck) -> str:
    """Format the first cause of a check with its line: `RC604 The loader shuffles: train.py:12`."""
    code = check.causes[0]
    known = rules.find(code)
    said = code
    if known is not None:
        said = f"{code} {known.title}"
    if check.source:
        said = f"{said}: {check.source}"
    return said
