"""`reprocheck explain --resume` on trainings with PyTorch: the rung, the mechanism, the line, and
what confirms it.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from reprocheck.cli import main

SCRIPTS = Path(__file__).resolve().parents[2] / "benchmarks" / "resumes" / "scripts" / "torch"
OPTIONS = ["--no-draw", "--at", "first", "--go-on", "3", "train.py"]

LOADED = '    optimizer.load_state_dict(saved["optimizer"])\n'
PUT_BACK = '    torch.set_rng_state(saved["rng"])'


def place(folder: Path) -> dict[str, Any]:
    """The only place of the last check."""
    (found,) = json.loads((folder / "reports" / "latest" / "report.json").read_text())["places"]
    return dict(found)


@pytest.mark.torch
def test_two_mechanisms_are_found_and_confirmed_by_putting_back_what_was_lost(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    script = (SCRIPTS / "rng_consumed.py").read_text()
    Path("train.py").write_text(script.replace(LOADED, ""))
    code = main(["explain", "--resume", *OPTIONS])
    said = " ".join(capsys.readouterr().out.split())
    assert code == 1 and "DOES NOT RESUME EXACTLY" in said
    assert "is one 64-bit draw ahead, and `1` (Dropout) draws from it" in said
    found = place(tmp_path)
    statuses = {rung["name"]: rung["status"] for rung in found["rungs"]}
    for name in ("weights", "hyper-parameters", "batch"):
        assert statuses[name] == "equal"
    confirmation = found["confirmation"]
    assert confirmation["rungs"] == ["optimizer state", "RNG state"]
    assert "the state of the optimizer and the states of the generators" in said
    assert "cause RC118" in said and "cause RC109" in said
    lost, drawn = confirmation["mechanisms"]
    assert (lost["code"], drawn["code"]) == ("RC118", "RC109")
    line = script.replace(LOADED, "").splitlines().index(PUT_BACK) + 1
    assert drawn["source"].startswith(f"train.py:{line}")
    tried = {tuple(one["rungs"]): one for one in confirmation["attempts"]}
    assert len(tried) == 3 and tried["optimizer state", "RNG state"]["agrees"] is True
    assert tried["optimizer state",]["agrees"] is False
    assert "torch" in tried["RNG state",]["names"]["RNG state"]
    assert not Path("reports/latest/values").exists()
    patch = found["patch"]
    assert "+    optimizer.load_state_dict" in patch["patch"]
    assert '+            torch.set_rng_state(going_on["rng"])' in patch["patch"]
    assert patch["sentence"] == "With the patch, the training resumes exactly."
    assert LOADED not in Path("train.py").read_text()
