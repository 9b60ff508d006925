"""Writes the lines of a process's trace, in order.

A line whose value still lies on a device holds back the lines after it. No error in this module
reaches the script.
"""

from __future__ import annotations

import os
import sys
from _collections import deque
from _thread import RLock

from ..shared.iterations import Grouping
from ..shared.marks import LOST
from . import json_text
from .early_stop import leave_mark
from .trace_file import TraceFile

TYPE_CHECKING = False  # importing `typing` would cost each process 10 ms
if TYPE_CHECKING:
    from typing import Any, Callable, Mapping, Sequence

    Deferred = Callable[[bool], str | None]
    # called with `wait`; returns the line of an event, or None while its value is not there and
    # `wait` is False

_NOT_REDACTED = "(left out: what removes secrets from a text could not be imported)"
_BROKEN = b'{"e":"broken","why":"%s"}\n'
DEVICE_QUEUE = 1 << 14
"""Device values in flight at which the oldest is waited for: more than two iterations of a large
model make at level `module`.
"""


def nothing_gathered(line: str) -> bool:
    """Do nothing before a line: at level `loss` no facts are gathered."""
    return False


class Writer:
    """Write events as lines of a trace.

    All methods are safe in threads and never raise.

    mask  the home folder, user name and host name to mask in texts
    """

    def __init__(self, mask: Mapping[str, str]) -> None:
        self.before_line: Callable[[str], bool] = nothing_gathered
        """Writes what the deeper levels have gathered; called before each line, "" for one that
        waits. True where it has taken the line.
        """
        self.grouping = Grouping()
        self._mask = mask
        # one of these stands in each text of which something is masked
        self._to_mask = tuple(filter(None, mask.values()))
        if mask:
            self._to_mask += ("://",)
        self._lock = RLock()
        self._file = TraceFile("")
        self._greeting: str | None = None
        self._queue: deque[tuple[int, Deferred]] = deque()
        self._said: set[str] = set()
        self._muted = False  # enough was recorded: what is written from now on is left out
        self._lost = ""  # why the last line could not be written; "" where it was
        self._to_append: deque[str] = deque()
        self._appending = False

    def emit(self, event: Mapping[str, Any]) -> None:
        """Write one event, after the lines that wait for values from a device."""
        try:
            self._line(json_text.dumps(event) + "\n")
        except Exception:
            # nothing can be said where nothing can be written: the missing lines show in the report
            pass

    def line(self, line: str) -> None:
        """Write one event that is already a line of JSON."""
        try:
            self._line(line)
        except Exception:  # as in `emit`
            pass

    def masked(self, text: str) -> str:
        """Return `text` with home folder, user name and host name masked."""
        if any(map(text.__contains__, self._to_mask)):
            from ..shared.masking import mask

            return mask(text, **self._mask)
        return text

    def redacted(self, text: str) -> str:
        """Return `text` with names (home folder, user, host) and secrets masked.

        Use this for texts that come from a script, such as an error message.
        """
        if not text:
            return ""
        try:
            from ..shared.redaction import Redactor, known_secrets
        except OSError:
            # a script may have left no free descriptor, and no module is read without one
            return _NOT_REDACTED
        known = known_secrets(sys.argv, os.environ)
        return Redactor(known).text(self.masked(text))

    def plain(self, text: str) -> str:
        """Return a text of the script with names masked, and with secrets masked if need be."""
        from ..shared.masking import may_hold_secret

        return self.redacted(text) if may_hold_secret(text) else self.masked(text)

    def named(self, name: str) -> str:
        """Return a name or dictionary key of the script, masked as by `plain`.

        A secret is followed by its digest, so that two masked secrets can be told apart.
        """
        masked, shown = self.masked(name), self.plain(name)
        if shown == masked:
            return shown
        from ..deep_levels.hashing import digest

        return "%s %s" % (shown, digest(name.encode("utf-8", "surrogatepass"))[:8])

    def arguments(self, words: Sequence[str]) -> list[str]:
        """Return the words of a command line, with names and secret values masked."""
        from ..shared.masking import may_hold_secret

        masked = [self.masked(word) for word in words]
        if not any(may_hold_secret(word) for word in masked):
            return masked
        from ..shared.redaction import Redactor

        return Redactor().arguments(masked)

    def note(self, code: str, text: str) -> None:
        """Write that the recorder changed something to observe; once for each `code`."""
        self._once("note", code, text)

    def caveat(self, code: str, text: str) -> None:
        """Write a caveat that the report must mention; once for each `code`.

        code  short name of the caveat, such as `resume-ranks-apart`
        text  the caveat as a sentence
        """
        self._once("caveat", code, text)

    def problem(self, where: str, error: BaseException | str) -> None:
        """Write an error of the recorder itself; once for each place and message.

        where  what the recorder was doing: "before an update"
        """
        message = error if isinstance(error, str) else type(error).__name__ + ": " + str(error)
        if "problem" + where + message[:40] not in self._said:
            self._said.add("problem" + where + message[:40])
            self.emit({"e": "problem", "where": where, "error": self.redacted(message)[:2000]})

    def lines(self, take: Callable[[], str]) -> None:
        """Write the lines that `take` returns, without lines of other threads between them.

        The lines stand after those that wait for values from a device.
        """
        with self._lock:
            lines = take()
            if self._muted:
                return
            if self._queue:
                self._queue.append((self.grouping.closed, lambda wait: lines))
            else:
                self._write(lines)

    def _line(self, line: str) -> None:
        if self._muted or self.before_line(line):
            return
        if self._queue:
            self._put(lambda wait: line)
        else:
            self._write(line)

    def _unmute(self) -> None:
        """Write again after a muted time; drop the facts gathered meanwhile."""
        if self._muted:
            self.before_line("")
        self._muted = False

    def _put(self, line: Deferred) -> None:
        if self._muted:
            return
        self.before_line("")
        self._queue.append((self.grouping.closed, line))

    def _drain(self, closed: int | None) -> None:
        """Write the lines that wait for values from a device.

        closed  number of closed iterations: lines from before the last of them are written if their
                values
                have arrived; None: all lines are written, and their values waited for
        """
        while self._queue:
            iteration, read = self._queue[0]
            full = len(self._queue) >= DEVICE_QUEUE
            if closed is not None and iteration >= closed - 1 and not full:
                return
            try:
                line = read(closed is None or full)
            except Exception as error:
                line = (
                    json_text.dumps(
                        {
                            "e": "problem",
                            "where": "reading a value off a device",
                            "error": repr(error)[:2000],
                        }
                    )
                    + "\n"
                )
            if line is None:
                return
            self._queue.popleft()
            self._write(line)

    def _once(self, kind: str, code: str, text: str) -> None:
        if kind + code not in self._said:
            self._said.add(kind + code)
            self.emit({"e": kind, "code": code, "text": text})

    def _flush_greeting(self) -> None:
        if self._greeting is not None:
            self._write("")

    def _write(self, line: str) -> None:
        """Append a line, and the lines that other events add during the appending.

        For example, opening the trace file causes an audit event, and a signal handler may log a
        loss.
        """
        with self._lock:
            self._to_append.append(line)
            if self._appending:
                return
            self._appending = True
            try:
                while self._to_append:
                    self._append(self._to_append.popleft())
            finally:
                self._appending = False

    def _append(self, line: str) -> None:
        """Append a line to the trace file; remember that a line is lost if writing fails.

        The next line that can be written is preceded by a note about lost lines. A marker file
        beside the trace says the same, because there may be no next line.
        """
        text = line.encode("ascii", "backslashreplace")
        if self._lost:
            text = _BROKEN % self._lost.encode("ascii", "replace") + text
        if self._greeting is not None:
            # what a trace begins with is tried again where it could not be written
            text = self._greeting.encode("ascii", "backslashreplace") + text
        try:
            self._file.write(text)
            self._greeting, self._lost = None, ""
        except OSError as error:
            self._lost = self._lost or (error.strerror or "it cannot be written").lower()
            leave_mark(self._file.path[: -len(".jsonl")] + LOST)
