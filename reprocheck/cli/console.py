"""What a check looks like while it is under way: an observer of the runs that draws on stderr."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from reprocheck._version import __version__
from reprocheck.cli.progress import Progress, duration
from reprocheck.cli.terminal import Stream
from reprocheck.language import count, english, mark, spoken, tr
from reprocheck.model import RunRecord
from reprocheck.settings import Settings

if TYPE_CHECKING:
    from rich.live import Live

    from reprocheck.cli.destination import Destination

TICK = 0.5
"""Seconds after which it is asked again whether a sign of life is due."""
HEARTBEAT = 60.0
"""Seconds of silence after which a line is written where there is no live line: CI systems end jobs
that print nothing.
"""
ENDINGS: Mapping[str, str] = {
    "completed": mark("ran to its end"),
    "stopped": mark("stopped"),
    "timed_out": mark("timed out"),
    "interrupted": mark("interrupted"),
}


class Console:
    """Print one check on the terminal: the verdict on `out`, progress and remarks on `err`.

    On a terminal, one live line shows the newest run, below the last line of each earlier run;
    elsewhere a few plain lines, and one a minute if nothing else is printed. If quiet, only errors,
    the verdict and the report's place are printed. With a `target` on stdout, `out` is stderr.
    """

    def __init__(
        self,
        settings: Settings,
        target: Destination | None = None,
        *,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.err = Stream(sys.stderr, color=settings.color)
        self.out = self.err
        if target is None or not target.is_stdout:
            self.out = Stream(sys.stdout, color=settings.color)
        self.quiet = settings.quiet
        self.verbose = settings.verbose
        self._language = settings.lang
        self.rows = 0
        """Rows that stay on `err`."""
        self.meanwhile: dict[bool, Callable[[], object]] = {}
        """What is called once, when the first run of the check starts (False), or the first run
        beyond those of the check (True).
        """
        self._drawing = self.err.live and not settings.quiet and not settings.show_output
        self._live: Live | None = None
        self._clock = clock
        self._lock = threading.Lock()
        self._spoke_at = clock()
        self._progress = Progress(settings.runs, settings.steps)
        self._aside = False
        self._doing = ""
        self._ticking = False
        self._told_silence: dict[int, float] = {}

    def begin(self, title: str) -> None:
        """Print what is checked."""
        self._aside = False
        self._progress.check()
        self.remark(f"reprocheck {__version__}: {title}", style="bold")

    def deeper(self, title: str, level: str, inside: str = "") -> None:
        """Announce further runs at a deeper level, which explain the verdict `title`.

        The level is `module` or `op`.
        """
        self._stage(f"level {level}, ", of=2)
        if level != "module":
            inside_it = f", inside {inside}" if inside else ""
            self._detail(f"recording again at level {level}{inside_it}")
            return
        said = f"{title}: recording two runs again, to see where they diverge"
        if english(title) == "REPRODUCIBLE":
            said = f"{title}: recording two runs again at level {level}"
        self.remark(said, style="bold")

    def half(self, level: str) -> None:
        """Announce that one run is recorded deeper, to be compared with another recording."""
        self._stage(f"level {level}, ", of=1)
        self._detail(f"recording again at level {level}")

    def arm(self, name: str, why: str, most: int = 0) -> None:
        """Announce runs under controls, and why they are made.

        most  the largest number of runs that the search may still make
        """
        self._stage(f"{_shortened(name, 30)}, ", of=2)
        self._progress.expect(most)
        said = f"trying {_shortened(name, 60)}: {why}"
        if self.verbose or not self._drawing:
            self.remark(said, style="bold")
        else:
            self._mention(said)

    def run_started(self, number: int, of: int) -> None:
        """Show that run `number` of `of` starts."""
        self._progress.started(number, of, self._clock())
        self._show()
        self._tick()
        self.meanwhile.pop(self._aside, lambda: None)()

    def progress(self, number: int, iteration: int, loss: float | None, seconds: float) -> None:
        """Store the progress of a run, which the live line shows when it is drawn next."""
        self._progress.advanced(number, iteration, loss)

    def masking(self, number: int) -> None:
        """Show on the live line that secrets are being masked in the logs of a run."""
        self._progress.masking(number)

    def silent(self, number: int, seconds: float) -> None:
        """Say that a run is silent: after 60 s without an event, and when that time has doubled."""
        if seconds < 2 * self._told_silence.get(number, 0.0):
            return
        self._told_silence[number] = seconds
        name = self._progress.name(number)
        self.remark(
            f"{name}: nothing recorded for {duration(seconds)}; still running (--timeout"
            " SECONDS ends such a run)."
        )

    def run_ended(self, record: RunRecord) -> None:
        """Print the last line of a run.

        For runs beyond those of the check, the line stays only if the run did not end well.
        """
        name = self._progress.name(record.number)
        self._progress.ended(record.number, record.seconds)
        if self._aside and not self.verbose and record.ended in ("completed", "stopped"):
            return
        numbers = self._progress.numbers(record.number)
        if record.ended == "stopped" and self._progress.iterations(record.number):
            numbers = (f"stopped after {numbers[0]}", *numbers[1:])
        else:
            numbers = (_ending(record), *numbers)
        self.remark(" · ".join((name, *numbers, duration(record.seconds))))

    def message(self, text: str) -> None:
        """Print a remark of the launcher."""
        self.remark(text, style="yellow")

    def output(self, stream: str, data: bytes) -> None:
        """Pass on what the script prints (`--show-output`), byte for byte.

        Its stdout goes to our stdout unless that carries data, everything else to stderr.
        """
        self._spoke_at = self._clock()
        if stream == "stdout":
            self.out.raw(data)
        else:
            self.err.raw(data)

    def status(self, text: str) -> None:
        """Show what reprocheck itself is doing, on the live line."""
        self._doing = text
        self._show()
        self._tick()

    def remark(self, text: str, style: str = "") -> None:
        """Print lines on stderr that stay, above the live line."""
        if self.quiet:
            return
        with self._lock:
            self._spoke_at = self._clock()
            rows = self.err.wrapped(text)
            self.rows += len(rows)
            for row in rows:
                self.err.line(row, style)

    def heading(self, text: str, command: str) -> None:
        """Print a paragraph on `out` that introduces a command, as the demo does."""
        if self.quiet:
            return
        self._erase()
        self.out.line()
        self.out.paragraph(text, style="bold")
        self.out.line(f"$ {command}", "cyan")
        self.out.line()

    def clear(self) -> None:
        """Remove the live line, and stop its timer."""
        self._doing = ""
        self._progress.under_way.clear()
        self._erase()

    def beat(self) -> None:
        """Print the progress once a minute if there is no live line."""
        if self.quiet or self._drawing or self._clock() - self._spoke_at < HEARTBEAT:
            return
        said = self._now()
        if said:
            self.remark(said)

    def _now(self) -> str:
        """Return what is under way: the newest run, else the work of reprocheck itself."""
        number = max(tuple(self._progress.under_way), default=None)
        if number is None:
            return self._doing
        with spoken(self._language):  # what draws the live line has a thread of its own
            return self._progress.line(number, self._clock())

    def _stage(self, name: str, *, of: int) -> None:
        """Announce runs beyond those of the check, of which at most one line stays."""
        self._aside = True
        self._progress.stage(name, of=of)

    def _detail(self, text: str) -> None:
        """Print a remark if `--verbose` is set; else show it on the live line only."""
        if self.verbose:
            self.remark(text, style="bold")
        else:
            self._mention(text)

    def _mention(self, text: str) -> None:
        """Show a text on the live line until a run starts."""
        if self._drawing:
            self._doing = text
            self._show()

    def _show(self) -> None:
        """Start to draw the live line, if there is one."""
        if not self._drawing:
            return
        with self._lock:
            if self._live is None:
                self._live = self.err.live_line(self._now)
                self._live.start(refresh=True)

    def _erase(self) -> None:
        with self._lock:
            if self._live is not None:
                self._live.stop()
                self._live = None

    def _tick(self) -> None:
        """Call `beat` in a thread as long as anything is under way, if there is no live line."""
        if self.quiet or self._drawing or self._ticking:
            return
        self._ticking = True

        def tick() -> None:
            while self._progress.under_way or self._doing:
                self.beat()
                time.sleep(TICK)
            self._ticking = False

        threading.Thread(target=tick, daemon=True).start()


def _ending(record: RunRecord) -> str:
    if record.ended != "failed":
        return tr(ENDINGS[record.ended])
    status = record.exit_status
    if status is None:
        return "failed"
    if status < 0:
        return f"killed by signal {-status}"
    return f"failed with exit status {status}"


def _shortened(name: str, room: int) -> str:
    """Return the name of a set of controls; if it is too long, how many controls it has."""
    if len(name) < room:
        return name
    return count(name.count("+") + 1, "control")
