"""`reprocheck suite list`."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from reprocheck.cli import main

SUITE = """
[[target]]
name = "lm"
run = "train.py --lr {lr} --data /data/of/the/whole/team/in/a/long/path/that/wraps/v{lr}"
tags = "text"
[target.matrix]
lr = [0.1, 0.2]

[[target]]
name = "resnet"
run = "-- bash start.sh"
folder = "vision"
tags = ["vision"]
needs = { gpus = 2 }
expect = "not_reproducible"
steps = 20
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "reprocheck.toml").write_text(SUITE)
    (tmp_path / "train.py").write_text("")
    (tmp_path / "vision").mkdir()
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_the_table_shows_every_target_within_80_columns(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["suite", "list"]) == 0
    rows = capsys.readouterr().out.splitlines()
    assert all(len(row) <= 80 for row in rows)
    assert rows[0].split()[:2] == ["lm[lr=0.1]", "train.py"]
    last = next(row for row in rows if row.startswith("resnet"))
    assert "bash start.sh in vision" in last and "vision, 2 GPU" in last
    assert rows[-1] == "3 targets in reprocheck.toml"


def test_names_tags_and_shards_narrow_the_table(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["suite", "list", "lm", "--tag", "text", "--shard", "2/2"]) == 0
    rows = capsys.readouterr().out.splitlines()
    assert rows[0].startswith("lm[lr=0.2]")
    assert rows[-1] == "1 of 3 targets in reprocheck.toml"


def test_a_program_reads_them_as_json(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["suite", "list", "--format", "json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert document["folder"] == "nightly"
    resnet = document["targets"][-1]
    assert resnet == {
        "name": "resnet",
        "run": ["--", "bash", "start.sh"],
        "folder": "vision",
        "environment": {},
        "options": {"steps": 20},
        "expect": "not_reproducible",
        "allow": None,
        "tags": ["vision"],
        "needs": {"cpus": 1.0, "gpus": 2, "npus": 0, "nodes": 1, "minutes": 0},
        "matrix": {},
        "resume": None,
    }
    assert document["targets"][0]["matrix"] == {"lr": "0.1"}


def test_each_row_for_slurm_has_the_options_of_a_job(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    text = SUITE.replace(
        "{ gpus = 2 }", "{ cpus = 1.5, gpus = 2, npus = 1, nodes = 4, minutes = 90 }"
    )
    (folder / "reprocheck.toml").write_text(text)
    assert main(["suite", "list", "--format", "sbatch"]) == 0
    first, _, last = capsys.readouterr().out.splitlines()
    name, *rest = first.split()
    assert name.startswith("--job-name=lm-lr=0.1-")
    assert rest == ["--nodes=1", "--ntasks-per-node=1", "--cpus-per-task=1"]
    assert last == (
        "--job-name=resnet --nodes=4 --ntasks-per-node=1 --cpus-per-task=2 --gpus-per-node=2"
        " --gres=npu:1 --time=90"
    )


def test_what_is_not_there_is_an_error_behind_the_table(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / "train.py").unlink()
    assert main(["suite", "list"]) == 2
    said = capsys.readouterr()
    assert "resnet" in said.out
    assert "there is no script train.py" in said.err


def test_another_format_is_refused(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["suite", "list", "--format", "xml"]) == 2
    assert "Take text, json or sbatch." in capsys.readouterr().err
