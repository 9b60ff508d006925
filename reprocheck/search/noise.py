"""What remains if no control makes the runs agree, as far as the ladder and the lists of
nondeterministic operators know.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from itertools import chain
from pathlib import Path

from reprocheck.causes.usercode import UserCode
from reprocheck.ladder.operators import kind as device_kind
from reprocheck.model import Check, Rung
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
    """Return what remains after a search that found no sufficient set of controls."""
    rung, ladder = check.first_rung, check.ladder
    lines = lines_of(check.causes)
    hints = UserCode(check, folder).hints
    # clocks that a cause names and no control reaches
    clocks = [one for one in hints if one.kind in OUT_OF_REACH and one.source.at in lines]
    after_search = Remains(
        kind=_kind(check, found, rung),
        idle=found.idle,
        crashing=found.crashing,
        clocks=tuple((one.source.at, one.name) for one in clocks),
    )
    if rung is None or ladder is None:
        return after_search
    suspect = None
    if check.causes and check.causes[0].source is not None and not is_vague(check.causes[0]):
        suspect = NamedCause.of(check.causes[0])
    files = ladder.rung("files and arguments")
    given: tuple[Statement | str, ...] = ()
    if after_search.kind == "given":
        given = rung.statements
    elif isinstance(files.evidence, GivenOtherwise) and files.evidence.names_the_run:
        given = files.statements
    return replace(
        after_search,
        rung=rung.rung,
        place=rung.place or "",
        culprit=rung.blamed or "",
        operator=rung.operator.name if rung.operator else "",
        operators=_operators(check, rung),
        suspect=suspect,
        given=given,
    )


def _kind(check: Check, found: Found, rung: Rung | None) -> Remaining:
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


def _operators(check: Check, rung: Rung) -> tuple[Operator, ...]:
    """Return what the lists say of the operators that the rung names, without repetition."""
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
