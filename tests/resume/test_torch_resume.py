"""`reprocheck resume` on a training with PyTorch: the rung, the mechanism and the line."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from reprocheck.cli import main

SCRIPTS = Path(__file__).resolve().parents[2] / "benchmarks" / "resumes" / "scripts" / "torch"


@pytest.mark.torch
def test_a_generator_that_a_new_loader_draws_from_is_one_64_bit_draw_ahead(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    shutil.copy(SCRIPTS / "rng_consumed.py", "train.py")
    code = main(["resume", "--no-draw", "--at", "first", "--go-on", "3", "train.py"])
    said = " ".join(capsys.readouterr().out.split())
    assert code == 1 and "DOES NOT RESUME EXACTLY" in said
    assert "is one 64-bit draw ahead, and `1` (Dropout) draws from it" in said
    (place,) = json.loads(Path("reports/latest/report.json").read_text())["places"]
    statuses = {rung["name"]: rung["status"] for rung in place["rungs"]}
    for name in ("weights", "optimizer state", "hyper-parameters", "batch"):
        assert statuses[name] == "equal"
    assert statuses["RNG state"] == "differs"
    assert place["mechanism"]["code"] == "RC109"
    line = Path("train.py").read_text().splitlines().index(
        '    torch.set_rng_state(saved["rng"])'
    )  # fmt: skip
    assert place["mechanism"]["source"].startswith(f"train.py:{line + 1}")
