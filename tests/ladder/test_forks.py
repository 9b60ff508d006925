"""Work that is shared among processes gives what it gives in one."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from reprocheck.ladder import forks, rungs
from tests.ladder.ladder_traces import training
from tests.ladder.test_quick_compare import of_two_ranks

ITEMS = list(range(7))


@pytest.fixture(autouse=True)
def three_cores(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: {0, 1, 2})
    monkeypatch.setattr(forks, "_can_fork", lambda: True)


def of_process(item: int) -> tuple[int, int]:
    return item, os.getpid()


def test_the_results_come_in_the_order_of_the_items() -> None:
    made = forks.shared(of_process, ITEMS, much=True)
    assert [item for item, _ in made] == ITEMS
    assert len({process for _, process in made}) == 3


def test_little_work_is_done_here() -> None:
    assert {process for _, process in forks.shared(of_process, ITEMS, much=False)} == {os.getpid()}


def test_what_a_process_does_not_answer_is_done_here() -> None:
    here = os.getpid()

    def dies_elsewhere(item: int) -> int:
        if os.getpid() != here and item == 4:
            os.kill(os.getpid(), signal.SIGKILL)
        if os.getpid() != here and item == 5:
            raise ValueError(item)
        return item

    assert forks.shared(dies_elsewhere, ITEMS, much=True) == ITEMS


def test_no_process_is_left_after_an_interrupt(monkeypatch: pytest.MonkeyPatch) -> None:
    started: list[forks._Fork] = []
    fork = forks._fork

    def noted(work: Callable[[int], int], share: Sequence[int]) -> forks._Fork:
        started.append(fork(work, share))
        return started[-1]

    def interrupted(item: int) -> int:
        if item == 0:
            raise KeyboardInterrupt
        signal.pause()
        return item

    monkeypatch.setattr(forks, "_fork", noted)
    with pytest.raises(KeyboardInterrupt):
        forks.shared(interrupted, ITEMS, much=True)
    assert len(started) == 2
    for one in started:
        # of this process alone: a test before this one may have left a child of its own
        with pytest.raises(ChildProcessError):
            os.waitpid(one.pid, os.WNOHANG)


def test_ranks_that_are_skimmed_by_several_processes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pairs = of_two_ranks(tmp_path, training(), training(**{"dw body": "other"}))
    alone, lead = rungs._ranks(pairs)
    monkeypatch.setattr(rungs, "_MUCH", 0)
    together, same_lead = rungs._ranks(pairs)
    assert together == alone
    assert lead is not None and same_lead is not None and lead.rank == same_lead.rank == 0
