"""What a training held at one of several places is put back, without a framework."""

from __future__ import annotations

import random
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from types import SimpleNamespace

from reprocheck.child.reprocheck_child.resume.restored_values import (
    BATCH,
    WEIGHTS,
    Keeping,
    PuttingBack,
)

LOADER = "loader"
PLACES = (2, 4)
"""Batches behind which a checkpoint was written: each boundary lies before the next one."""
BATCHES = 6


def recorder() -> SimpleNamespace:
    said: list[dict[str, object]] = []
    return SimpleNamespace(world=(0, 1), emit=said.append, redacted=str, said=said, on_end=[])


def batches() -> Iterator[list[float]]:
    """Each is drawn when it is asked for."""
    for number in range(BATCHES):
        yield [number, random.random()]


def kept(folder: Path) -> list[list[float]]:
    """A continued run that keeps what it holds at each place; returns its batches."""
    keeping = Keeping(recorder(), {"folder": str(folder), "most": 1 << 20})
    source = batches()
    keeping.pass_begins(LOADER)
    handed = []
    for number in range(BATCHES):
        handed.append(keeping.next(LOADER, partial(next, source)))
        if number in PLACES:
            keeping.at_boundary(number + 1)
    return handed


def test_the_batches_behind_each_place_are_handed_out_and_drawn_for(tmp_path: Path) -> None:
    random.seed(1)
    due = kept(tmp_path)
    for place in PLACES:
        random.seed(2)
        of_batches = {"of": [LOADER], "start": [LOADER, place], "to": {LOADER: 1}}
        asked = {
            "folder": str(tmp_path),
            "iteration": place + 1,
            "rungs": ["RNG state", "batch"],
            "batches": of_batches,
        }
        told = recorder()
        putting = PuttingBack(told, asked)
        source = batches()
        came = [putting.next(LOADER, partial(next, source)) for _ in range(1 + BATCHES - place)]
        assert came[0] not in due
        assert came[1:] == due[place:]
        acted = {(fact["c"], fact["w"]) for fact in told.said if fact["e"] == "control"}
        assert ("RNG state", "python") in acted
        assert ("batch", f"batch {place} of {LOADER}") in acted
        assert not [fact for fact in told.said if fact["e"] in ("problem", "unavailable")]


def test_a_step_is_given_what_the_step_of_the_continued_run_was_given(tmp_path: Path) -> None:
    keeping = Keeping(recorder(), {"folder": str(tmp_path), "most": 1 << 20})
    for number in range(1, BATCHES):
        if number in PLACES:
            keeping.at_boundary(number)
        assert keeping.step(BATCH, (BATCH,), partial(list, [number])) is None
    for place in PLACES:
        told = recorder()
        asked = {"folder": str(tmp_path), "iteration": place, "rungs": [BATCH, WEIGHTS]}
        putting = PuttingBack(told, asked)
        putting.by_step.update({BATCH: "no step", WEIGHTS: "no weight"})
        putting.at_boundary(1)
        given = [putting.step(BATCH, (BATCH,), list) for _ in range(BATCHES)]
        assert given[: BATCHES - place] == [[number] for number in range(place, BATCHES)]
        assert given[BATCHES - place :] == [None] * place
        assert putting.step("rates", ("hyper-parameters",), list) is None
        putting.acted(BATCH, [])
        for ended in told.on_end:
            ended()
        assert told.said == [{"e": "unavailable", "c": WEIGHTS, "why": "no weight"}]
