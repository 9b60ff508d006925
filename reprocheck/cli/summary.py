"""Print the verdict in the form that was asked for.

Below it the place of the report, and what to type next.

The sentences are those of the report.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from reprocheck.cli import brief_view, full_view
from reprocheck.cli.labels import Labels
from reprocheck.language import mark, sentences
from reprocheck.model import Check
from reprocheck.report import FORMATS, ladder, next_command, text

if TYPE_CHECKING:
    from reprocheck.cli.console import Console
    from reprocheck.cli.terminal import Stream
    from reprocheck.settings import Draw


def print_verdict(check: Check, console: Console) -> None:
    """Print the verdict to the console's `out`.

    One line if quiet, everything if verbose or if the runs simply agree.
    """
    if console.quiet:
        verdict = f"{check.verdict.title}: {text.line(check.verdict.reason)}"
        console.out.line(sentences(verdict, ladder.lead(check)))
    elif brief_view.shown(check, console):
        brief_view.print_brief(check, console)
    else:
        full_view.print_all(check, console)


def page(*, written: bool, draw: Draw) -> str | None:
    """Return the format for people to open; None if no report could be written."""
    if not written:
        return None
    return "json" if draw is False else "html"


def print_place(check: Check, console: Console, folder: Path, written: str | None) -> None:
    """Print where the report is: the format `written`, or the traces if no report could be written.

    `folder`: relative to the working directory.
    """
    label, place = mark("recorded"), folder
    if written:
        label, place = mark("report"), folder / FORMATS[written].filename
    if console.quiet:
        console.out.line(_near(place))
        return
    if not brief_view.shown(check, console):
        console.out.line()
    labels = _labels(check, console)
    labels.row(label, _near(place))
    if written == "html" and ladder.replayed(check):
        labels.row("replay", _near(folder / FORMATS["replay"].filename))


def print_attachment(check: Check, console: Console, file: Path) -> None:
    """Print where the attachment of a bug report is."""
    if console.quiet:
        console.out.line(_near(file))
        return
    _labels(check, console).row("attach", _near(file))


def print_next(check: Check, console: Console) -> None:
    """Print the next command to type, on a row of its own so that it can be copied."""
    if console.quiet:
        return
    reason, command = next_command(check)
    _print_command(_labels(check, console), reason, command)


def print_recording(out: Stream, title: str, place: Path, reason: str) -> None:
    """Print what was recorded, its path, and the comparison to type next."""
    labels = Labels(out, full_view.LABEL)
    out.line(title, "bold green")
    labels.row("recording", str(place))
    _print_command(labels, reason, f"reprocheck compare {place} OTHER")


def _print_command(labels: Labels, reason: str, command: str) -> None:
    labels.row("next", reason)
    labels.code(command, "cyan")


def _labels(check: Check, console: Console) -> Labels:
    """Return the labels for rows below the verdict, as wide as those of the verdict's form."""
    if brief_view.shown(check, console):
        return Labels(console.out, brief_view.LABEL)
    return Labels(console.out, full_view.LABEL)


def _near(path: Path) -> str:
    """Return the absolute path if a relative path begins with `../..`; else the path as it is."""
    if path.parts[:2] == ("..", ".."):
        return os.path.normpath(path.absolute())
    return str(path)
