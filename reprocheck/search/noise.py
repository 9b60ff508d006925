"""What remains where no control makes the runs agree, as far as the ladder and the lists of
operators know it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Literal

from reprocheck.causes.usercode import UserCode
from reprocheck.ladder.device import kind as device_kind
from reprocheck.model import Cause, Check, Rung
from reprocheck.model.evidence import GivenOtherwise
from reprocheck.rules import known
from reprocheck.rules.likely import is_vague
from reprocheck.search.asked import Found
from reprocheck.search.lines import OUT_OF_REACH, lines_of
from reprocheck.wording import say

Kind = Literal["idle", "few tried", "nothing recorded", "given", "noise", "unreached"]
NO_RUNG = Rung(rung="later", status="equal")
"""Stands for the first rung where none differs."""
_BACKWARD = frozenset({"gradient", "reduced gradient"})


@dataclass(frozen=True, kw_only=True, slots=True)
class Remains:
    """What is known of a difference that no control removes.

    idle       controls under which the runs agreed although nothing shows that they sufficed
    crashing   controls under which the script fails
    rung       the first that differs
    made_by    the operation that made the difference, as the ladder names it
    operators  what the lists say of the operators that the rung names, each once
    suspect    the first cause, where it says why the runs differ, and on which line
    also       what else the runs were not given alike
    clocks     line and call of clocks that a cause names and no control reaches
    """

    kind: Kind
    idle: tuple[str, ...] = ()
    crashing: tuple[str, ...] = ()
    rung: Rung = NO_RUNG
    made_by: str = ""
    operators: tuple[str, ...] = ()
    suspect: Cause | None = None
    also: str = ""
    clocks: tuple[tuple[str, str], ...] = ()


def remains(check: Check, folder: Path, found: Found) -> Remains:
    """Return what remains after a search that found no set of controls."""
    rung = check.first_rung or NO_RUNG
    operators = tuple(dict.fromkeys(_operators(check, rung)))
    return Remains(
        kind=_kind(check.first_rung, found, noisy=bool(operators)),
        idle=found.idle,
        crashing=found.crashing,
        rung=rung,
        made_by=rung.culprit or "".join(map("`{}`".format, _operator(rung))),
        operators=operators,
        suspect=next(filter(_is_placed, check.causes[:1]), None),
        also=_also(check),
        clocks=tuple(_out_of_reach(check, folder)),
    )


def _kind(rung: Rung | None, found: Found, *, noisy: bool) -> Kind:
    if found.idle:
        return "idle"
    if not found.complete:
        return "few tried"
    if rung is None:
        return "nothing recorded"
    if isinstance(rung.evidence, GivenOtherwise) and rung.evidence.from_outside:
        return "given"
    if noisy or rung.size == "rounding":
        return "noise"
    return "unreached"


def _is_placed(cause: Cause) -> bool:
    return cause.source is not None and not is_vague(cause)


def _out_of_reach(check: Check, folder: Path) -> Iterator[tuple[str, str]]:
    """Clocks that a cause names and no control reaches."""
    lines = lines_of(check.causes)
    for hint in UserCode(check, folder).hints:
        if hint.kind in OUT_OF_REACH and hint.source.at in lines:
            yield hint.source.at, hint.name


def _also(check: Check) -> str:
    """Return what the runs were not given alike, where that was not taken for the cause."""
    if check.ladder is None:
        return ""
    files = check.ladder.rung("files and arguments")
    if isinstance(files.evidence, GivenOtherwise) and files.evidence.names_the_run:
        return files.detail
    return ""


def _operator(rung: Rung) -> tuple[str, ...]:
    """Return the first operator that differs, where operators were recorded."""
    if rung.operator is None:
        return ()
    return (rung.operator.name,)


def _operators(check: Check, rung: Rung) -> Iterator[str]:
    """Return what the lists say of the operators that the rung names."""
    of_rung = partial(
        known,
        device=device_kind(rung.measured.device),
        backward=rung.rung in _BACKWARD,
        frameworks=list(chain.from_iterable(run.frameworks for run in check.runs[:1])),
    )
    found = map(of_rung, (*_operator(rung), *rung.operations))
    return map(say, chain.from_iterable(found))
