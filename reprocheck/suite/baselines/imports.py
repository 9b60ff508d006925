"""Baselines from files: those that `export` wrote, and those of other programs."""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Protocol

from reprocheck.suite.baselines import document
from reprocheck.suite.baselines.accept import FILL_IN, Baselines, apart, baseline_for, said
from reprocheck.suite.baselines.compare import compare
from reprocheck.suite.baselines.errors import BaselineError
from reprocheck.suite.baselines.foreign.points import fit
from reprocheck.suite.baselines.foreign.read import FORMATS, read
from reprocheck.suite.baselines.newest import Checks, with_curves
from reprocheck.suite.curves import pack, unpack
from reprocheck.suite.model import Baseline


class History(Baselines, Checks, Protocol):
    """List the queries of a history that are used here."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Taken:
    """Hold the result of an import.

    there     baselines of the file that were accepted before
    left_out  a series or target of the file -> why it was not imported
    """

    baselines: tuple[Baseline, ...] = ()
    there: tuple[Baseline, ...] = ()
    left_out: Mapping[str, str] = field(default_factory=dict)


def is_ours(file: Path) -> bool:
    """Return whether a file is one that `export` wrote.

    Raises BaselineError if it cannot be read.
    """
    return file.is_file() and document.is_ours(_content(file))


def ours(
    history: History, file: Path, known: Sequence[str], named: Sequence[str] | None = None
) -> Taken:
    """Import the baselines of the suite's targets from a file that `export` wrote.

    Of the known targets, or of the named ones.

    Raises BaselineError if it is damaged; HistoryError.
    """
    found = document.read(_content(file), str(file))
    wanted = [baseline for baseline in found if baseline.target in (named or known)]
    taken, there = [], []
    for baseline in wanted:
        current = history.baseline(baseline.target, baseline.key)
        if current is None or compare(unpack(baseline.curves), unpack(current.curves)):
            taken.append(baseline)
        else:
            there.append(baseline)
    history.accept(*taken)
    unknown = (baseline.target for baseline in found if baseline.target not in known)
    return Taken(
        baselines=tuple(taken),
        there=tuple(there),
        left_out=dict.fromkeys(unknown, "the suite has no target of this name"),
    )


def foreign(
    history: History,
    file: Path,
    targets: Sequence[str],
    *,
    why: str,
    who: str,
    format: str | None = None,
    names: Mapping[str, str] | None = None,
) -> Taken:
    """Import the baseline of one target from a file of another program.

    It is for the environment key of the target's last check.

    names  series in the file -> series here

    Raises BaselineError if the file cannot be read or says nothing of the target; HistoryError.
    """
    if format not in (None, *FORMATS):
        raise BaselineError(
            f"--format {format} is none of {', '.join(FORMATS)}.", "Leave it out, or name one."
        )
    if len(targets) != 1:
        raise BaselineError(
            f"{file} does not say of which target it is.",
            f"Name one target: reprocheck suite baseline import {file} TARGET {FILL_IN}",
        )
    reason = said(why)
    check = with_curves(history, targets[0])
    fitted = fit(read(file, format), unpack(check.curves), names)
    if not fitted.series:
        reasons = "; ".join(f"{name}: {reason}" for name, reason in fitted.left_out.items())
        raise BaselineError(
            f"{file} holds no series of {check.target}: {reasons}.",
            f"`reprocheck suite history {check.target}` names the series of its checks; --series"
            " THEIRS=OURS gives one of the file another name.",
        )
    baseline = Baseline(
        target=check.target,
        key=check.key,
        curves=pack(fitted.series),
        why=reason,
        who=who,
        when=time.time(),
        bitwise=not any(one.rounded for one in fitted.series),
    )
    previous = baseline_for(history, check.target, check.key)
    if previous is not None:
        baseline = replace(baseline, replaced=apart(fitted.series, previous, check))
    history.accept(baseline)
    return Taken(baselines=(baseline,), left_out=fitted.left_out)


def renamed(pairs: Iterable[str]) -> dict[str, str]:
    """Parse `THEIRS=OURS` pairs into a mapping. Raises BaselineError if a pair has no `=`."""
    found = {}
    for pair in pairs:
        theirs, equals, own = pair.rpartition("=")
        if not (theirs and equals and own):
            raise BaselineError(
                f"--series {pair} does not name two series.",
                'Write it as THEIRS=OURS: --series "lm loss=loss".',
            )
        found[theirs] = own
    return found


def _content(file: Path) -> bytes:
    try:
        return file.read_bytes()
    except OSError as error:
        raise BaselineError(
            f"{file} cannot be read: {error.strerror or error}.", "Name another file."
        ) from None
