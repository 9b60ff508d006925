"""Where the batches begin that the resumed run is to be given instead of its own."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

from reprocheck.model import RunRecord
from reprocheck.model.statements.inputs import INPUTS_OF
from reprocheck.resume.gap.batches import Batch, data_of
from reprocheck.resume.gap.sides import Side
from reprocheck.trace.deep import Seen
from reprocheck.trace.deep_run import read_deep


def batches(folder: Path, runs: tuple[RunRecord, RunRecord], k: int) -> dict[str, object]:
    """Return the batches of the continued run that the recorder of a resumed run puts in place of
    its own.

    They are those of the first rank: `docs/reference/trace-format.md`. {} if no loader is known on
    both sides.
    """
    one, other = (read_deep(folder, run) for run in runs)
    ranks = sorted({*one.ranks} & {*other.ranks})
    if not ranks:
        return {}
    continued, resumed = Side(one.read(ranks[0]), k), Side(other.read(ranks[0]))
    data = data_of(continued, resumed)
    pairs = list(zip(data.due, data.resumed, strict=False))
    if not pairs:
        return {}
    first, came = pairs[0]
    if INPUTS_OF in f"{first.fact.place} {came.fact.place}":
        return {}
    to = dict.fromkeys(_places(data.resumed), 0)
    to[came.fact.place] = _number(resumed.trace.seen, came)
    return {
        "of": list(_places(data.due)),
        "start": [first.fact.place, _number(continued.trace.seen, first)],
        "to": to,
    }


def _places(batches: Iterable[Batch]) -> Sequence[str]:
    """Return the loaders that handed batches out, in their order."""
    return list(dict.fromkeys(batch.fact.place for batch in batches))


def _number(facts: Sequence[Seen], batch: Batch) -> int:
    """Return how many batches the loader of a batch had handed out before it."""
    place = batch.fact.place
    same = [fact for fact in facts if fact.kind == "batch" and fact.place == place]
    return next(number for number, fact in enumerate(same) if fact is batch.fact)
