"""What remains where no control makes the runs agree, as far as the ladder and the lists of
operators know it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from itertools import chain
from pathlib import Path

from reprocheck.causes.usercode import UserCode
from reprocheck.ladder.device import kind as device_kind
from reprocheck.model import Cause, Check, Rung
from reprocheck.model.evidence import GivenOtherwise
from reprocheck.model.statement import Statement
from reprocheck.model.statements.search import NamedCause, Remaining, Remains
from reprocheck.rules import known
from reprocheck.rules.likely import is_vague
from reprocheck.rules.operators import Operator
from reprocheck.search.lines import OUT_OF_REACH, lines_of
from reprocheck.search.request import Found

_BACKWARD = frozenset({"gradient", "reduced gradient"})


def remains(check: Check, folder: Path, found: Found) -> Remains:
    """Return what remains after a search that found no set of controls."""
    rung = check.first_rung
    after_search = Remains(
        kind=_kind(check, found),
        idle=found.idle,
        crashing=found.crashing,
        clocks=tuple(_out_of_reach(check, folder)),
    )
    if rung is None:
        return after_search
    suspect = next(filter(_is_placed, check.causes[:1]), None)
    return replace(
        after_search,
        rung=rung.rung,
        place=rung.place or "",
        culprit=rung.blamed or "",
        operator=rung.operator.name if rung.operator else "",
        operators=_operators(check, rung),
        suspect=NamedCause.of(suspect) if suspect else None,
        given=rung.statements if after_search.kind == "given" else _also(check),
    )


def _kind(check: Check, found: Found) -> Remaining:
    rung = check.first_rung
    if found.idle:
        return "idle"
    if not found.complete:
        return "few tried"
    if rung is None:
        return "nothing recorded"
    if isinstance(rung.evidence, GivenOtherwise) and rung.evidence.from_outside:
        return "given"
    if rung.size == "rounding" or _operators(check, rung):
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


def _also(check: Check) -> tuple[Statement | str, ...]:
    """Return what the runs were not given alike, where that was not taken for the cause."""
    if check.ladder is None:
        return ()
    files = check.ladder.rung("files and arguments")
    if isinstance(files.evidence, GivenOtherwise) and files.evidence.names_the_run:
        return files.statements
    return ()


def _operators(check: Check, rung: Rung) -> tuple[Operator, ...]:
    """Return what the lists say of the operators that the rung names, each once."""
    of_rung = partial(
        known,
        device=device_kind(rung.measured.device),
        backward=rung.rung in _BACKWARD,
        frameworks=list(chain.from_iterable(run.frameworks for run in check.runs[:1])),
    )
    named = [*rung.operations]
    if rung.operator is not None:
        named.insert(0, rung.operator.name)
    return tuple(dict.fromkeys(chain.from_iterable(map(of_rung, named))))
