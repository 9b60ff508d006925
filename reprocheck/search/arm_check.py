"""The runs under some controls, read as a check of their own: where they first differ, and which
controls that suggests.
"""

from __future__ import annotations

from dataclasses import replace
from operator import attrgetter
from pathlib import Path

from reprocheck.causes.cause import causes_of
from reprocheck.causes.scan_findings import with_scan
from reprocheck.ladder.rungs import ladder_of
from reprocheck.model import Check, DeeperPair
from reprocheck.search.arm_runs import Judged
from reprocheck.search.order import candidates
from reprocheck.search.request import FRESH, PAIR, Difference


def first_difference(check: Check, folder: Path, judged: Judged) -> Difference | None:
    """Return where runs under controls first differ.

    None if the runs agree, or recorded nothing but losses.
    """
    under = _as_check(check, folder, judged)
    if under is None or under.first_rung is None:
        return None
    among = candidates(with_scan(replace(under, causes=causes_of(under, folder)), folder), folder)
    assert among.first is not None, "there is a rung that differs"
    nearest = dict.fromkeys((*among.sure, *among.likely, *among.suspects))
    return replace(among.first, controls=tuple(nearest))


def _as_check(check: Check, folder: Path, judged: Judged) -> Check | None:
    """Return the first two runs under controls as a check with its ladder.

    None if the runs agree, or recorded nothing but losses.
    """
    runs = judged.runs[:PAIR]
    if judged.agrees is not False or len(runs) < PAIR:
        return None
    iterations = min(min(map(attrgetter("deep"), run.traces), default=0) for run in runs)
    if not iterations:
        return None
    records = tuple(run.record for run in runs)
    pair = DeeperPair(level="module", iterations=iterations, runs=records, of_check=True)
    controls = (*check.record.controls, *judged.names)
    record = replace(check.record, runs=records, controls=controls, arms=(), deeper=(pair,))
    under = replace(check, record=record, runs=runs, verdict=judged.verdict, causes=(), scan=None)
    if FRESH in judged.names:
        under = replace(under, state_left=(), state_alike=())
    return replace(under, ladder=ladder_of(under, folder))
