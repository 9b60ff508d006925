"""The sentences of a verdict."""

from __future__ import annotations

import re
import signal
from math import isfinite

from reprocheck.model import Comparison, Run

_ERROR = re.compile(r"^(?:\[rank\d+\]:\s*)?((?:\w+\.)*\w*(?:Error|Exception|Interrupt|Exit)\b.*)")


def number(value: float) -> str:
    """Nine digits: enough for a float32."""
    return f"{value:.9g}"


def numbers(a: float, b: float) -> tuple[str, str]:
    """Both losses with as many digits as it takes to tell them apart."""
    return (number(a), number(b)) if number(a) != number(b) or a == b else (repr(a), repr(b))


def place(row: Comparison, ranks: int) -> str:
    """`iteration 2`, with the loss and the rank where there are several."""
    which = f", loss {row.loss_index + 1}" if row.loss_index else ""
    return f"iteration {row.iteration}{which}" + (f", rank {row.rank}" if ranks > 1 else "")


def difference(row: Comparison, ranks: int) -> str:
    """The two losses, how far apart they are and what was allowed."""
    if row.value is None or row.reference is None:
        return row.detail
    value, reference = numbers(row.value, row.reference)
    sizes = f"run {row.run} has loss {value} where run 1 has {reference}"
    if row.max_difference is None:
        both = isfinite(row.value) and isfinite(row.reference)
        return f"in {place(row, ranks)}, {sizes}: {'too far apart for a number' if both else 'finite in one run only'}"
    return f"in {place(row, ranks)}, {sizes}, a difference of {row.max_difference:.3g} where {row.allowed or 0.0:.3g} is allowed"


def ending(run: Run) -> str:
    """How a run ended, such as `ended with exit status 3 (ValueError: …)`."""
    record = run.record
    if record.ended == "timed_out":
        return f"was stopped by --timeout after {record.seconds:.0f} s"
    if record.ended == "interrupted":
        return "was interrupted"
    error = last_error(run.stderr_tail)
    return _status(record.exit_status) + (f" ({error})" if error else "")


def last_error(stderr: str) -> str:
    """The last line that names an exception, else the last line of all."""
    lines = [line.strip() for line in stderr.splitlines() if line.strip()]
    for line in reversed(lines):
        if found := _ERROR.match(line):
            return found[1][:200]
    return lines[-1][:200] if lines else ""


def _status(status: int | None) -> str:
    if status is None:
        return "ended in an unknown way"
    if status >= 0:
        return f"ended with exit status {status}"
    try:
        return f"was ended by {signal.Signals(-status).name}"
    except ValueError:
        return f"was ended by signal {-status}"
