"""Ranks that wait for each other at a boundary, here in threads of one process."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from reprocheck.child.reprocheck_child.resume import ranks
from reprocheck.child.reprocheck_child.resume.ranks import Ranks


def test_the_first_rank_is_told_what_each_has_written_and_answers_all(tmp_path: Path) -> None:
    first, *others = (Ranks(str(tmp_path), rank, 3) for rank in range(3))
    with ThreadPoolExecutor(len(others)) as threads:
        for number in (2, 3):
            told = [{"wrote": f"part-{rank}-{number}"} for rank in (1, 2)]
            answered = [
                threads.submit(rank.answered, number, of_it)
                for rank, of_it in zip(others, told, strict=True)
            ]
            assert first.gathered(number) == told
            assert not any(answer.done() for answer in answered)
            first.answer(number, {"until": number + 10})
            assert [answer.result() for answer in answered] == [{"until": number + 10}] * 2
    assert not first.apart


def test_a_rank_that_never_comes_is_given_up_for_all(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ranks, "IDLE", 0.0)
    monkeypatch.setattr(ranks, "LONGEST_START", 0.0)
    first, second, third = (Ranks(str(tmp_path), rank, 3) for rank in range(3))
    assert first.gathered(1) == []
    assert first.apart
    assert second.answered(1, {}) is None
    assert third.answered(1, {}) is None
