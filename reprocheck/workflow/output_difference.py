"""Find where the printed output of the runs differs, apart from clocks, speeds and paths."""

from __future__ import annotations

import re
from pathlib import Path

from reprocheck.files.regular_file import NotRegularError, open_regular
from reprocheck.model import Check
from reprocheck.verdict.machine import is_of_a_machine

_MOST = 1 << 20
"""Bytes of each log that are compared."""
_CLOCK = r"\d{4}-\d\d-\d\d|\d{1,2}:\d\d(?::\d\d)?(?:[.,]\d+)?"
_ADDRESS = r"0x[0-9a-fA-F]+"
_PATH = r"(?:~|\.{1,2})?(?:/[\w.~+-]+){2,}/?"
_LEFT_OUT = re.compile(rf"{_CLOCK}|{_ADDRESS}|{_PATH}")
_NUMBER = re.compile(r"(?<![\w.])[-+]?\d+(?:\.\d*)?(?:[eE][-+]?\d+)?")
_UNIT = re.compile(
    r"\s?(?:[num]?s|secs?|seconds?|m|min|minutes?|h|hours?|[kKMGT]i?B|[A-Za-z]{0,12}/s(?:ec)?)"
    r"(?![A-Za-z])"
)
_NAME = re.compile(r"([A-Za-z][\w ./-]*?)[\s=:|\[()'\"]*$")
_OF_A_PROCESS = frozenset({"pid", "process", "port", "thread"})


def first_printed_difference(check: Check, folder: Path) -> int | None:
    """Return the first line, from 1, of standard output in which a run differs from run 1.

    None if the output agrees, or if several ranks print, because their lines have no fixed order.
    """
    if any(len(run.traces) > 1 for run in check.runs):
        return None
    first, *others = [_lines(folder / run.record.stdout) for run in check.runs]
    numbers = []
    for other in others:
        # as far as both go: a run is ended in the middle of its output
        for number, (line, counterpart) in enumerate(zip(first, other, strict=False), start=1):
            if line != counterpart and _comparable(line) != _comparable(counterpart):
                numbers.append(number)
                break
    return min(numbers, default=None)


def _lines(log: Path) -> list[str]:
    """Return the complete lines of a log; an empty list if the log cannot be read."""
    try:
        with open_regular(log) as file:
            text = file.read(_MOST).decode(errors="replace")
    except (OSError, NotRegularError):
        return []
    return text.split("\n")[:-1]


def _comparable(line: str) -> str:
    """Return a line without clocks, addresses, paths and measures of the machine."""
    line = _LEFT_OUT.sub("", line)
    shown, begin = [], 0
    for number in _NUMBER.finditer(line):
        shown.append(line[begin : number.start()])
        unit = _UNIT.match(line, number.end())
        if unit is None and not _is_of_a_machine(shown[-1]):
            shown.append(number.group())
        begin = number.end()
    return "".join((*shown, line[begin:]))


def _is_of_a_machine(before: str) -> bool:
    """Return whether the words before a number name a time, a speed, memory or a process."""
    found = _NAME.search(before)
    if found is None:
        return False
    name = found[1]
    return name.rpartition(" ")[2].lower() in _OF_A_PROCESS or is_of_a_machine(name)
