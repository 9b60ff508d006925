"""Tell what is known of the runs under way, in one line.

Iteration, last loss, time, and the time left once a run's time is known.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(slots=True)
class Running:
    """Hold one run under way: when it started by the observer's clock, and its latest progress."""

    started: float
    iteration: int = 0
    loss: float | None = None
    masking: bool = False


class Progress:
    """Track the runs of one stage from events with times.

    A stage is a check, two runs at a deeper level, or an arm of a search.
    """

    def __init__(self, runs: int, steps: int | None) -> None:
        self._whole_check = runs, steps
        self._most = 0
        self._ended = 0
        self.under_way: dict[int, Running] = {}
        self.stage("", of=runs, steps=steps)

    def check(self) -> None:
        """Start the stage of a whole check."""
        runs, steps = self._whole_check
        self.stage("", of=runs, steps=steps)

    def stage(self, name: str, *, of: int, steps: int | None = None) -> None:
        """Start another stage of `of` runs, each of `steps` iterations if that is known."""
        self._name, self._of, self._steps = name, of, steps
        self._last: dict[int, Running] = {}
        self._seconds: float | None = None

    def expect(self, runs: int) -> None:
        """Set the largest number of runs that a search may still make."""
        self._most = self._ended + runs

    def started(self, number: int, of: int, now: float) -> None:
        """Record that a run starts."""
        self._of = of
        self._last.pop(number, None)
        self.under_way[number] = Running(started=now)

    def advanced(self, number: int, iteration: int, loss: float | None) -> None:
        """Record that a run has reached an iteration."""
        running = self.under_way.setdefault(number, Running(started=0.0))
        running.iteration, running.loss = iteration, loss

    def masking(self, number: int) -> None:
        """Record that secrets are being masked in the logs of a run."""
        self._running(number).masking = True

    def ended(self, number: int, seconds: float) -> None:
        """Record that a run has ended after this many seconds."""
        self._ended += 1
        self._seconds = seconds
        running = self.under_way.pop(number, None)
        if running is not None:
            self._last[number] = running

    def name(self, number: int) -> str:
        """Format a run's name: `run 1 of 2`, with its stage; in a search its overall number."""
        said = f"{self._name}run {number} of {self._of}"
        if not self._of:
            said = f"{self._name}run {number}"
        if not self._most:
            return said
        return f"{said} ({self._ended + 1} of at most {max(self._most, self._ended + 1)})"

    def iterations(self, number: int) -> int:
        """Return how many iterations a run has finished."""
        return self._running(number).iteration

    def _running(self, number: int) -> Running:
        return self.under_way.get(number) or self._last.get(number) or Running(started=0.0)

    def numbers(self, number: int) -> tuple[str, ...]:
        """Return `iteration 7 of 10`, `loss 0.5913445`; `of 10` only while the run goes on."""
        running = self._running(number)
        loss = []
        if running.loss is not None:
            loss.append(f"loss {running.loss:.7g}")
        if not running.iteration:
            return tuple(loss or ["no iteration yet"])
        said = f"iteration {running.iteration:,}"
        if number in self.under_way and running.iteration <= (self._steps or 0):
            said = f"iteration {running.iteration:,} of {self._steps:,}"
        return (said, *loss)

    def line(self, number: int, now: float) -> str:
        """Return the whole progress line of a run; "" if the run has ended."""
        running = self.under_way.get(number)
        if running is None:
            return ""
        seconds = now - running.started
        if running.masking:
            return " · ".join((self.name(number), "masking its logs", duration(seconds)))
        left = self._left(number, seconds)
        return " · ".join((self.name(number), *self.numbers(number), duration(seconds), *left))

    def _left(self, number: int, seconds: float) -> tuple[str, ...]:
        """Return the estimated time left in this stage, if each run takes as long as those before.

        Return nothing if runs are made side by side.
        """
        if self._seconds is None or len(self.under_way) > 1:
            return ()
        left = self._seconds * (self._of - number + 1) - seconds
        if left <= 0:
            return ()
        if left < 60:
            return (f"about {max(1, round(left))} s left",)
        return (f"about {duration(left)} left",)


def duration(seconds: float) -> str:
    """Format a duration: `12.3 s`, `4 min 5 s`, `2 h 3 min`."""
    if seconds < 60:
        return f"{seconds:.1f} s"
    minutes, rest = divmod(round(seconds), 60)
    if minutes < 60:
        return f"{minutes} min {rest} s"
    hours, minutes = divmod(minutes, 60)
    return f"{hours} h {minutes} min"
