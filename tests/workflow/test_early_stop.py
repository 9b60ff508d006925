"""What a report says of runs that were ended early, and of runs that were not."""

from __future__ import annotations

from dataclasses import replace

import pytest

from reprocheck.model import Ended, Run
from reprocheck.wording import say
from reprocheck.workflow.replay import changed_by_stops
from tests.causes.cause_ladders import check

ENDED = "was ended after iteration 10 (`--steps all` records the whole training)."


def run(number: int, ended: Ended) -> Run:
    """A run whose one process came to its stop in iteration 10."""
    made = check().runs[0]
    (trace,) = made.traces
    return replace(
        made,
        record=replace(made.record, number=number, ended=ended),
        traces=(replace(trace, stopped_at=10),),
    )


@pytest.mark.parametrize(
    ("ends", "said"),
    [
        (("stopped", "stopped"), [f"Early stop: each run {ENDED}"]),
        (
            ("completed", "stopped"),
            ["Not ended early: of each training in run 1 ", f"Early stop: run 2 {ENDED}"],
        ),
    ],
)
def test_each_run_is_said_to_be_ended_early_or_not(
    ends: tuple[Ended, Ended], said: list[str]
) -> None:
    found = list(
        dict.fromkeys(
            map(
                say,
                changed_by_stops([run(number, end) for number, end in enumerate(ends, start=1)]),
            )
        )
    )
    assert len(found) == len(said)
    assert all(
        sentence.startswith(beginning) for sentence, beginning in zip(found, said, strict=True)
    )
