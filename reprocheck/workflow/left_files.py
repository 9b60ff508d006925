"""Files that run 1 left for later runs: files that later runs read, and files that they could see.

Pure functions of the record.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from itertools import chain, filterfalse
from operator import attrgetter
from pathlib import Path

from reprocheck.files.limits import NotRegularError, open_regular
from reprocheck.model import Check, CheckRecord, Run, is_elsewhere
from reprocheck.model.statements.check import LeftByEarlier, ReadLeft, VisibleLeft
from reprocheck.verdict.machine import is_of_a_machine

_OF_LIBRARIES = re.compile(
    r"(^|/)(\.keras/keras\.json$|wandb/settings$|\.(cache|config)/matplotlib/|\.triton/cache/"
    r"|torchinductor_|\.nv/ComputeCache/|\.cache/huggingface/(?!datasets))"
)
"""Where libraries keep settings and caches that hold no numbers of a training."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Carried:
    """Paths of files that run 1 left.

    Those of the working directory come first, all others are full paths with the home folder
    masked.

    read     files that changed during run 1 and that a later run opened for reading before it wrote
             them
    alike    the files of `read` from which run 1, after it had made them, read the same as every
             later run
    visible  files not in `read` that a later run found; whether it looked at them is not known
    made     files of `visible` outside of the working directory that did not exist before run 1
    """

    read: tuple[str, ...] = ()
    alike: tuple[str, ...] = ()
    visible: tuple[str, ...] = ()
    made: frozenset[str] = frozenset()


def carried(record: CheckRecord, runs: Sequence[Run]) -> Carried:
    """Return what run 1 left for later runs; nothing if two separate recordings are compared."""
    if len(runs) < 2 or record.compared:
        return Carried()
    one, *later = runs
    first = one.record.files
    left = set(first.elsewhere)
    if not first.copied:
        left.update(first.created, first.changed)
    left -= set(filter(partial(_is_of_a_library, runs), left))
    read = left.intersection(chain.from_iterable(map(attrgetter("opened"), later)))
    alike = set(read)
    for run in later:
        both = one.first_reads.keys() & run.first_reads.keys()
        alike &= {path for path in both if one.first_reads[path].alike(run.first_reads[path])}
    # where nothing stood: what run 1 had left was gone
    made_anew = set.intersection(*(set(run.record.files.made) for run in later))
    visible = left - read - made_anew
    return Carried(
        read=_in_order(read),
        alike=_in_order(alike),
        visible=_in_order(visible),
        made=frozenset(visible.intersection(first.made)),
    )


def _is_of_a_library(runs: Sequence[Run], path: str) -> bool:
    """Return whether a file is a library's cache or settings, the same in every run."""
    reads = [run.first_reads[path] for run in runs if path in run.first_reads]
    if len({(read.size, read.hash) for read in reads}) > 1:
        return False
    at_import = bool(reads) and all(map(attrgetter("at_import"), reads))
    return at_import or _OF_LIBRARIES.search(path) is not None


def read_by_later(found: Carried) -> ReadLeft | None:
    """Return a statement that a later run read what run 1 wrote; None if no run did."""
    if not found.read:
        return None
    return ReadLeft(paths=found.read, alike=set(found.alike) == set(found.read))


def seen_by_later(found: Carried) -> Iterator[VisibleLeft]:
    """Yield a statement on files that later runs could see although the check passed."""
    if found.visible:
        made = found.made.issuperset(found.visible)
        yield VisibleLeft(paths=found.visible, made=made)


def of_earlier(record: CheckRecord, runs: Sequence[Run]) -> Iterator[LeftByEarlier]:
    """Yield a statement that all runs read files of an earlier check, even in a copy."""
    by_all = set(record.earlier).intersection(*map(attrgetter("opened"), runs))
    if not runs or not by_all:
        return
    read = tuple(filter(by_all.__contains__, record.earlier))
    yield LeftByEarlier(
        paths=read,
        when=datetime.fromisoformat(record.earlier[read[0]]),
        others=tuple(filterfalse(by_all.__contains__, record.earlier)),
    )


def _in_order(paths: set[str]) -> tuple[str, ...]:
    return tuple(sorted(paths, key=lambda path: (is_elsewhere(path), path)))


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
