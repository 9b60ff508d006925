"""The control `clock`: the user's modules read a wall clock that is the same in every run.

Under the variation of that name it is as far ahead as the settings say. The clock of the control
starts at a fixed instant and advances by a fixed step at each call.

A value of the configuration that reads the clock when the script asks for it (`${now:%f}` of Hydra)
counts as read by the script. Sleeping advances the clock, too, so that a loop that waits for a time
of day ends. Monotonic clocks, timeouts, files' times and what libraries read stay the system's.
`datetime.now` and `utcnow` are replaced within the class itself: a subclass handed to the user's
modules would no longer be the class that pickles, validators and `type(x) is datetime` know.
"""

from __future__ import annotations

import time
from itertools import count

from ..recorder import import_hook
from ..recorder.hooking import like, replace, set_in_type

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Callable

    from .active_controls import Active

NAME = "clock"
START = 1_600_000_000 * 10**9
STEP = 10 * 10**6
"""Nanoseconds: 13 September 2020, and ten milliseconds."""
_OFFSETS = 10**6
_SECOND = 10**9
_OF_A_VALUE = 100_003 * _SECOND
"""By how much the clock of another seed is later: another date, hour, minute and second."""


class Clock:
    """The time of this process, in nanoseconds since 1970: the same in every run.

    Ranks and workers are offset by less than a millisecond each.
    """

    def __init__(self, active: Active) -> None:
        self._active = active
        self._real = time.time_ns
        self._calls = count(1)
        self._slept = 0

    def now(self, what: str, skip: int = 1) -> int:
        """Return one reading of the clock in nanoseconds, counted as a call of `what`."""
        self._active.touched(NAME, what, skip=skip + 1)
        if self._active.varies(NAME):
            return self._real() + int(self._active.settings["ahead"]) * _SECOND
        offset = 0
        if self._active.identity():
            offset = self._active.constant(NAME, "offset") % _OFFSETS
        offset += self._active.seed * _OF_A_VALUE
        return START + offset + self._slept + next(self._calls) * STEP

    def sleep(self, seconds: float) -> None:
        """Advance the clock as if the process had slept."""
        self._slept += int(seconds * _SECOND)


def install(active: Active) -> None:
    """Replace the functions of `time` now, and those of `datetime` when it is imported."""
    clock = Clock(active)
    _reading(active, clock)
    _broken_down(active, clock)

    def datetime(module: object) -> None:
        with active.trying(NAME, "datetime.now could not be replaced"):
            _datetime(active, clock, module)

    import_hook.when_imported("datetime", datetime)


def _reading(active: Active, clock: Clock) -> None:
    """Replace the functions that return the time as a number."""
    users = active.read_by_user

    def seconds(real: Callable[[], float]) -> Callable[[], float]:
        return lambda: clock.now("time.time") / _SECOND if users() else real()

    def nanoseconds(real: Callable[[], int]) -> Callable[[], int]:
        return lambda: clock.now("time.time_ns") if users() else real()

    def of_a_clock(what: str, convert: Callable[[int], Any]) -> Callable[..., Any]:
        def make(real: Callable[[int], Any]) -> Callable[[int], Any]:
            def clock_gettime(clk_id: int) -> Any:
                if clk_id != time.CLOCK_REALTIME or not users():
                    return real(clk_id)
                return convert(clock.now(what))

            return clock_gettime

        return make

    def sleeping(real: Callable[[float], None]) -> Callable[[float], None]:
        def sleep(seconds: float) -> None:
            real(seconds)
            if users():
                clock.sleep(seconds)

        return sleep

    replace(time, "time", seconds)
    replace(time, "time_ns", nanoseconds)
    replace(time, "clock_gettime", of_a_clock("time.clock_gettime", _seconds))
    replace(time, "clock_gettime_ns", of_a_clock("time.clock_gettime_ns", int))
    replace(time, "sleep", sleeping)


def _broken_down(active: Active, clock: Clock) -> None:
    """Replace functions such as `time.localtime` that use the present if given no time."""
    users, localtime = active.read_by_user, time.localtime

    def of_seconds(real: Callable[..., Any]) -> Callable[..., Any]:
        what = "time." + real.__name__

        def converting(seconds: Any = None) -> Any:
            if seconds is None and users():
                seconds = clock.now(what) / _SECOND
            return real(seconds)

        return converting

    def of_fields(real: Callable[..., str]) -> Callable[..., str]:
        what = "time." + real.__name__
        given = int(real.__name__ == "strftime")  # the format comes first

        def formatting(*args: Any) -> str:
            if len(args) == given and users():
                return real(*args, localtime(clock.now(what) / _SECOND))
            return real(*args)

        return formatting

    for name in ("localtime", "gmtime", "ctime"):
        replace(time, name, of_seconds)
    for name in ("strftime", "asctime"):
        replace(time, name, of_fields)


def _datetime(active: Active, clock: Clock, module: Any) -> None:
    """Replace `datetime.now`, `utcnow` and `today`, and `date.today`."""
    kind, users = module.datetime, active.read_by_user
    real_now, real_utcnow = kind.__dict__["now"], kind.__dict__["utcnow"]
    real_today = module.date.__dict__["today"]
    utc = module.timezone.utc

    def now(cls: Any, tz: Any = None) -> Any:
        if not users():
            return _bound(real_now, cls)(tz)
        return _at(cls, clock.now("datetime.now"), tz)

    def utcnow(cls: Any) -> Any:
        if not users():
            return _bound(real_utcnow, cls)()
        return _at(cls, clock.now("datetime.utcnow"), utc).replace(tzinfo=None)

    def today(cls: Any) -> Any:
        if not users():
            return _bound(real_today, cls)()
        return cls.fromtimestamp(clock.now("datetime.today") / _SECOND)

    def _at(cls: Any, nanoseconds: int, tz: Any) -> Any:
        instant = cls.fromtimestamp(nanoseconds // _SECOND, tz)
        return instant.replace(microsecond=nanoseconds % _SECOND // 1000)

    for name, method, real in (("now", now, real_now), ("utcnow", utcnow, real_utcnow)):
        set_in_type(kind, name, classmethod(like(method, real)))
    set_in_type(module.date, "today", classmethod(like(today, real_today)))


def _seconds(nanoseconds: int) -> float:
    return nanoseconds / _SECOND


def _bound(descriptor: Any, cls: Any) -> Any:
    return descriptor.__get__(None, cls)
