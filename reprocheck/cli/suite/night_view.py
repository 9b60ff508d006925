"""A night while it is under way: a live table on a terminal, plain lines in CI and in a pipe."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from typing import TYPE_CHECKING

from reprocheck._version import __version__
from reprocheck.cli.progress import duration
from reprocheck.cli.terminal import Stream
from reprocheck.language import count
from reprocheck.language.letters import capital
from reprocheck.suite.execution import Job, Performed
from reprocheck.suite.model import Night, TargetCheck

if TYPE_CHECKING:
    from rich.console import RenderableType
    from rich.live import Live

HEARTBEAT = 60.0
"""Seconds without a line after which one is written where there is no live table: CI systems end
jobs that print nothing.
"""
OTHER_ROWS = 2
"""Rows of the live table that are no target's."""
REDRAWS = 4
"""Drawings of the live table a second."""
GOOD, BAD, AGAIN = "green", "bold red", "yellow"


class NightView:
    """Show the progress of a night on stderr.

    On a terminal: checks that are not good stay as lines, above a table of the checks under way
    and the good checks that ended last, at most as high as the terminal. Elsewhere: one line per
    check. After the checks, deeper recordings are shown in the same way.

    `night`: the night once it has begun; `checked`: how many of its checks are in the history.
    """

    def __init__(
        self,
        *,
        color: str = "auto",
        quiet: bool = False,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.err = Stream(sys.stderr, color=color)
        self.quiet = quiet
        self._clock = clock
        self._spoke_at = self._began = clock()
        self._live: Live | None = None
        self.night = ""
        self.checked = 0
        self._to_do = self._ended = self._bad = 0
        self._to_record = self._recorded = 0
        self._under_way: dict[str, tuple[Job, float]] = {}
        self._last: list[tuple[str, str]] = []
        self._told_waiting = False

    def begun(self, night: Night, to_do: int, checked: int) -> None:
        """Announce a night that begins, or goes on."""
        self.night, self.checked, self._to_do = night.id, checked, to_do
        self._began = self._clock()
        before = f", {checked} checked before" if checked else ""
        self._line(
            f"reprocheck {__version__}: night {night.id}, {count(to_do, 'target')}{before}", "bold"
        )
        self._draw()

    def started(self, job: Job) -> None:
        """Show a check, or a deeper recording, that begins."""
        self._under_way[job.target.name] = job, self._clock()

    def ended(self, check: TargetCheck, *, again: bool) -> None:
        """Print a check that is in the history now."""
        self._under_way.pop(check.target, None)
        self.checked += 1
        if not again:
            self._ended += 1
            self._bad += not check.good
        if self._live is not None and check.good and check.attempt == 1:
            self._last.append((check.target, f"{check.title} · {duration(check.seconds)}"))
            return
        said = f"{self._ended} of {self._to_do}  {check.target}: {check.title}"
        said += f", {duration(check.seconds)}"
        if check.attempt > 1:
            said += f" (attempt {check.attempt})"
        if again:
            self._line(f"{said}; checked again", AGAIN)
        else:
            self._line(said, "" if check.good else BAD)

    def recording(self, number: int) -> None:
        """Announce that all checks have ended, and `number` deeper recordings follow."""
        self._to_record, self._recorded = number, 0
        self._line(f"{count(number, 'deeper recording')} to be made, at level module")

    def recorded(self, performed: Performed, why_not: str) -> None:
        """Print that a deeper recording has ended, or could not be made."""
        name = performed.job.target.name
        self._under_way.pop(name, None)
        self._recorded += 1
        seconds = duration(performed.seconds)
        at = f"{self._recorded} of {self._to_record}  {name}"
        if why_not:
            self._line(f"{at}: not recorded: {why_not}", AGAIN)
        elif self._live is not None:
            self._last.append((name, f"Recorded · {seconds}"))
        else:
            self._line(f"{at}: recorded, {seconds}")

    def lost(self, job: Job, why: str) -> None:
        """Print that a check did not come to its end and is started anew."""
        self._under_way.pop(job.target.name, None)
        self._line(f"{job.target.name} was lost, and is started anew: {why}", AGAIN)

    def waiting(self, job: Job, what_for: str) -> None:
        """Show that nothing is under way, and a job has to wait for `what_for`."""
        if not self._told_waiting:
            self._line(f"{job.target.name} waits for {what_for}.", AGAIN)
        self._told_waiting = True

    def tick(self) -> None:
        """Print one progress line a minute if nothing else is printed."""
        if self._live is None and self._clock() - self._spoke_at > HEARTBEAT:
            self._line(self._summary())

    def close(self) -> None:
        """Remove the live table."""
        if self._live is not None:
            self._live.stop()
            self._live = None

    def _line(self, text: str, style: str = "") -> None:
        """Print a line that stays, above the live table."""
        if self.quiet:
            return
        self._spoke_at = self._clock()
        self.err.paragraph(text, style=style)

    def _summary(self) -> str:
        """Summarize the night so far.

        `3 of 12 checked · 1 not good · under way: resnet · 2 min 5 s`, or with `2 of 9 recorded`.
        """
        parts = [f"{self._ended} of {self._to_do} checked"]
        if self._bad:
            parts.append(f"{self._bad} not good")
        if self._to_record:
            parts.append(f"{self._recorded} of {self._to_record} recorded")
        if self._live is None and self._under_way:
            parts.append(f"under way: {', '.join(self._under_way)}")
        parts.append(duration(self._clock() - self._began))
        return " · ".join(parts)

    def _draw(self) -> None:
        if self.quiet or not self.err.live:
            return
        from rich.live import Live

        self._live = Live(
            get_renderable=self._table,
            console=self.err.rich,
            refresh_per_second=REDRAWS,
            transient=True,
            redirect_stdout=False,
            redirect_stderr=False,
        )
        self._live.start(refresh=True)

    def _table(self) -> RenderableType:
        """Return the live table: good checks that ended last, checks under way, and a summary."""
        from rich.console import Group

        height = 24
        with suppress(OSError, ValueError):
            height = os.get_terminal_size(self.err.file.fileno()).lines
        room = max(1, height - OTHER_ROWS)
        under_way = [self._row_under_way(*job) for job in tuple(self._under_way.values())][-room:]
        ended = [(f"  {self._name(name)}  {said}", GOOD) for name, said in self._last[-room:]]
        rows = [*ended[len(ended) - min(len(ended), room - len(under_way)) :], *under_way]
        rows.append((self._summary(), "dim"))
        return Group(*(self.err.text(self._cut(text), style) for text, style in rows))

    def _row_under_way(self, job: Job, since: float) -> tuple[str, str]:
        doing = "under way"
        if job.kind == "recording":
            doing = "recording at level module"
        elif job.attempt > 1:
            doing = f"attempt {job.attempt}"
        seconds = duration(self._clock() - since)
        return f"> {self._name(job.target.name)}  {capital(doing)} · {seconds}", ""

    def _name(self, name: str) -> str:
        """Fit a target's name into a column of a third of the width."""
        room = self.err.width // 3
        return self.err.cut(name, room).ljust(room)

    def _cut(self, text: str) -> str:
        return self.err.cut(text, self.err.width - 1)
