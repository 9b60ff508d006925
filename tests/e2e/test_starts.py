"""How often a failed check starts the script, counted on trainings that take no time."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks import starts

UNSEEDED = """
import random, sys
import reprocheck

with open(sys.argv[1], "a") as file:
    file.write("started\\n")
for step in range(4):
    reprocheck.log_loss(random.random())
"""
SEEDED = UNSEEDED.replace("import reprocheck", "import reprocheck\nrandom.seed(1)")
TWICE = UNSEEDED.replace('"started\\n"', '"started\\n" * 2')


def training(folder: Path, source: str) -> Path:
    """A training without a framework: no level is recorded of it but losses."""
    script = folder / "train.py"
    script.write_text(source)
    return script


def test_each_start_is_one_line(tmp_path: Path) -> None:
    once = starts.checked(training(tmp_path, UNSEEDED), tmp_path / "once", "auto")
    assert once.starts == 4, "a pair for the check, and one for the level that it did not record"
    assert once.seconds > 0
    twice = starts.checked(training(tmp_path, TWICE), tmp_path / "twice", "auto")
    assert twice.starts == 2 * once.starts


def test_a_check_that_passes_or_cannot_begin_is_no_measurement(tmp_path: Path) -> None:
    with pytest.raises(RuntimeError, match="the check ended with 0"):
        starts.checked(training(tmp_path, SEEDED), tmp_path / "passes", "auto")
    with pytest.raises(RuntimeError, match="the check ended with 2"):
        starts.checked(tmp_path / "missing.py", tmp_path / "missing", "auto")


@pytest.mark.torch
def test_level_auto_needs_one_pair_of_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("torch")
    assert starts.checked(starts.UNSEEDED, tmp_path / "recorded", "auto").starts == starts.ALLOWED
    # Without a framework, level `auto` needs two pairs as level `loss` does.
    monkeypatch.setattr(starts, "UNSEEDED", training(tmp_path, UNSEEDED))
    former, new, time = starts.starts(tmp_path)
    assert (former.value, new.value) == (4, 4)
    assert (new.allowed, new.met) == (starts.ALLOWED, "**no**")
    assert time.value > 0
