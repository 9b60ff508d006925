"""What the runs of a check printed is compared without clocks, speeds and paths."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.conftest import check

TRAIN = """
import random, reprocheck, time
for step in range(4):
    print({printed})
    reprocheck.log_loss(1.0)
"""


@pytest.mark.parametrize(
    "printed",
    [
        "f'epoch {step} loss 0.5 time {random.random():.3f}s'",
        "f'|    fps              | {random.randint(100, 10**6)}      |'",
        "{'loss': 0.5, 'train_runtime': random.random(), 'samples_per_second': random.random()}",
        "f'[2026-11-22 07:{random.randint(10, 59)}:11,{random.randint(0, 999)}] step {step}'",
        "f'Epoch took {random.random()} seconds, {random.random():.2f} it/s'",
        "f'saved /tmp/{random.random()}/model.pt by pid {random.randint(1, 10**6)}', object()",
        "f'allocated {random.random():.2f} GB'",
    ],
)
def test_clocks_speeds_and_paths_are_not_compared(printed: str, workdir: Path) -> None:
    assert _caveats(printed, workdir) == []


@pytest.mark.parametrize(
    "printed",
    [
        "f'|    ep_rew_mean      | {random.random()}      |'",
        "f'Eval episode_reward={random.random():.6f} +/- 26.84'",
        "f'time 3.2s accuracy {random.random():.4%}'",
        "[0.1, random.random()]",
    ],
)
def test_another_number_is_named_by_its_line(printed: str, workdir: Path) -> None:
    (caveat,) = _caveats(f"'begin' if step < 2 else {printed}", workdir)
    assert "from line 3 of" in caveat


def _caveats(printed: str, workdir: Path) -> list[str]:
    (workdir / "train.py").write_text(TRAIN.format(printed=printed))
    outcome = check("train.py", cwd=workdir)
    assert outcome.exit_code == 0, outcome.stdout + outcome.stderr
    return [one for one in outcome.report["caveats"] if one.startswith("What the runs printed")]
