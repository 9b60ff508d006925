"""What a check looks like while it is under way: an observer of the runs that draws on stderr."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable

from reprocheck import __version__
from reprocheck.cli.terminal import CLEAR_LINE, Stream
from reprocheck.model import RunRecord
from reprocheck.settings import Settings

REDRAW = 0.1
"""Seconds between two drawings of the live line."""
TICK = 0.5
"""Seconds after which the time on it goes on by itself."""


class Console:
    """The terminal of one check: `out` takes the verdict, `err` progress and remarks.

    On a terminal, one live line a run that its last line replaces; else a few plain lines. Quiet: nothing but errors and the verdict.
    """

    def __init__(self, settings: Settings, *, data_on_stdout: bool = False, clock: Callable[[], float] = time.monotonic) -> None:
        self.err = Stream(sys.stderr, color=settings.color)
        self.out = self.err if data_on_stdout else Stream(sys.stdout, color=settings.color)
        self.quiet = settings.quiet
        self.verbose = settings.verbose
        self._live = self.err.tty and not settings.quiet and not settings.show_output
        self._clock = clock
        self._lock = threading.Lock()
        self._drawn_at = float("-inf")
        self._drawn = False
        self._of = settings.runs
        self._level = ""
        self._started: dict[int, float] = {}
        self._ticking = False
        self._iteration: dict[int, int] = {}
        self._loss: dict[int, float | None] = {}
        self._told_silence: dict[int, float] = {}

    # ------------------------------------------------------------------------------------------------ launch.Observer

    def begin(self, title: str) -> None:
        """Says what is checked."""
        self._level = ""
        self.remark(f"reprocheck {__version__}: {title}", style="bold")

    def deeper(self, title: str, level: str, inside: str = "") -> None:
        """The runs that follow are recorded at a deeper level, to explain the verdict `title` of those before."""
        self._of, self._level = 2, f"level {level}, "
        if level == "module":
            aim = "" if title == "REPRODUCIBLE" else ", to see where the runs first part"
            self.remark(f"{title}: recording again at level module{aim}", style="bold")
        else:
            self.remark(f"recording again at level {level}" + (f", inside {inside}" if inside else ""), style="bold")

    def half(self, level: str) -> None:
        """The run that follows is recorded at a deeper level, to be compared with that of another recording."""
        self._of, self._level = 1, f"level {level}, "
        self.remark(f"recording again at level {level}", style="bold")

    def arm(self, name: str, why: str) -> None:
        """The runs that follow are made under controls, and why."""
        self._level = f"{name}, " if len(name) < 30 else f"{name.count('+') + 1} controls, "
        self.remark(f"trying {name}: {why}" if len(name) < 60 else f"trying {name.count('+') + 1} controls: {why}", style="bold")

    def run_started(self, number: int, of: int) -> None:
        """Run `number` of `of` starts."""
        self._of = of
        self._started[number] = self._clock()
        self._iteration.pop(number, None)
        self._loss.pop(number, None)
        self._tick()

    def progress(self, number: int, iteration: int, loss: float | None, seconds: float) -> None:
        """Redraws the live line, a few times a second."""
        self._iteration[number], self._loss[number] = iteration, loss
        self._draw(self._state(number, seconds))

    def silent(self, number: int, seconds: float) -> None:
        """Says so after 60 s without an event, and again whenever that time has doubled."""
        if seconds < 2 * self._told_silence.get(number, 0.0):
            return
        self._told_silence[number] = seconds
        self.remark(f"{self._name(number)}: nothing recorded for {_duration(seconds)}; still running (--timeout SECONDS ends such a run).")

    def run_ended(self, record: RunRecord) -> None:
        """The last line of a run stays."""
        self._started.pop(record.number, None)
        numbers = self._numbers(record.number)
        if record.ended == "stopped" and numbers[0].startswith("iteration"):
            numbers = (f"stopped after {numbers[0]}", *numbers[1:])
        else:
            numbers = (_ending(record), *numbers)
        self.remark(" · ".join((self._name(record.number), *numbers, _duration(record.seconds))))

    def message(self, text: str) -> None:
        """A remark of the launcher."""
        self.remark(text, style="yellow")

    def output(self, stream: str, data: bytes) -> None:
        """What the script prints (`--show-output`), byte for byte: its stdout to ours unless that holds data, the rest to stderr."""
        target = self.out if stream == "stdout" else self.err
        binary = getattr(target.file, "buffer", None)
        if binary is None:
            target.write(data.decode("utf-8", "replace"))
            return
        try:
            target.file.flush()
            binary.write(data)
            binary.flush()
        except BrokenPipeError:
            return

    # ------------------------------------------------------------------------------------------------ lines

    def status(self, text: str) -> None:
        """What reprocheck itself is doing, on the live line."""
        self._draw(text, at_once=True)

    def remark(self, text: str, style: str = "") -> None:
        """A line on stderr that stays."""
        if self.quiet:
            return
        with self._lock:
            self._erase()
            self.err.paragraph(text, style=style)

    def heading(self, text: str, command: str) -> None:
        """A paragraph on `out` that leads to a command: what the demo says."""
        if self.quiet:
            return
        with self._lock:
            self._erase()
            self.out.line()
            self.out.paragraph(text, style="bold")
            self.out.line(self.out.style(f"$ {command}", "cyan"))
            self.out.line()

    def clear(self) -> None:
        """Removes the live line, and stops its clock."""
        self._started.clear()
        with self._lock:
            self._erase()

    def _draw(self, text: str, *, at_once: bool = False) -> None:
        now = self._clock()
        if not self._live or (not at_once and now - self._drawn_at < REDRAW):
            return
        with self._lock:
            if not at_once and not self._started:
                return
            self._drawn_at, self._drawn = now, True
            self.err.write(CLEAR_LINE + self.err.style(self.err.clip(text), "dim"))

    def _tick(self) -> None:
        """Keeps the time of the newest run going on the live line, also while nothing is recorded."""
        if not self._live or self._ticking:
            return
        self._ticking = True

        def tick() -> None:
            while started := dict(self._started):
                number = max(started)
                self._draw(self._state(number, self._clock() - started[number]))
                time.sleep(TICK)
            self._ticking = False

        threading.Thread(target=tick, daemon=True).start()

    def _erase(self) -> None:
        if self._drawn:
            self.err.write(CLEAR_LINE)
            self._drawn = False

    def _state(self, number: int, seconds: float) -> str:
        return " · ".join((self._name(number), *self._numbers(number), _duration(seconds)))

    def _name(self, number: int) -> str:
        return f"{self._level}run {number} of {self._of}"

    def _numbers(self, number: int) -> tuple[str, ...]:
        iteration, loss = self._iteration.get(number, 0), self._loss.get(number)
        if not iteration:
            return ("no iteration yet",) if loss is None else (f"loss {loss:.7g}",)
        return (f"iteration {iteration:,}", *((f"loss {loss:.7g}",) if loss is not None else ()))


def _ending(record: RunRecord) -> str:
    if record.ended == "failed":
        status = record.exit_status
        return "failed" if status is None else f"killed by signal {-status}" if status < 0 else f"failed with exit status {status}"
    return {"completed": "ran to its end", "stopped": "stopped", "timed_out": "timed out", "interrupted": "interrupted"}[record.ended]


def _duration(seconds: float) -> str:
    if seconds < 60:
        return f"{seconds:.1f} s"
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes} min {rest} s" if minutes < 60 else f"{minutes // 60} h {minutes % 60} min"
