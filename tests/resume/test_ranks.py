"""`reprocheck resume` on a program of two ranks that write a file of the checkpoint each."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.resume.trainings import check

LAUNCHER = """
import os, subprocess, sys

here = {"WORLD_SIZE": "2", "LOCAL_WORLD_SIZE": "2"}
ranks = [
    subprocess.Popen([sys.executable, "rank.py"], env={**os.environ, **here, "RANK": rank})
    for rank in "01"
]
sys.exit(max(rank.wait() for rank in ranks))
"""
RANK = """
import os, pickle, random
import reprocheck

rank = int(os.environ["RANK"])
file = f"ckpt-{rank}.pkl"
random.seed(rank)
state = {"w": 1.0, "v": 0.0, "step": 0}
if os.path.exists(file):
    with open(file, "rb") as kept:
        state = pickle.load(kept)
    random.setstate(state.pop("rng"))
    state["v"] *= rank == 0  # rank 1 forgets its momentum
while state["step"] < 10:
    sum(range(400_000 * rank))  # rank 1 comes to each boundary behind rank 0
    loss = (state["w"] - random.random()) ** 2
    reprocheck.log_loss(loss)
    state["v"] = 0.9 * state["v"] + loss
    state["w"] -= 0.1 * state["v"]
    state["step"] += 1
    if state["step"] == 3:
        with open(file, "wb") as kept:
            pickle.dump(dict(state, rng=random.getstate()), kept)
"""


def test_ranks_stop_behind_the_same_update_and_the_one_that_differs_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "rank.py").write_text(RANK)
    answer = check(tmp_path, "--no-draw --go-on 3 train.py", capsys, LAUNCHER)
    assert (answer.code, answer.report["headline"]) == (1, "DOES NOT RESUME EXACTLY")
    place = answer.place
    files = ["ckpt-0.pkl", "ckpt-1.pkl"]
    assert (place["offset"], place["checkpoint"]["paths"], place["read"]) == (3, files, files)
    assert "The losses of rank 1 differ from iteration 2" in " ".join(answer.out.split())
    assert place["first_divergence"]["rank"] == 1
    pairs = {rank: [pair for pair in place["losses"] if pair["rank"] == rank] for rank in (0, 1)}
    equal = {
        rank: [pair["continued"] == pair["resumed"] for pair in own] for rank, own in pairs.items()
    }
    assert equal == {0: [True, True, True], 1: [True, False, False]}
