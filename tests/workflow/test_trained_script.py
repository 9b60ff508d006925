"""The script whose patch is made where a shell script, make or a launcher starts the training."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from reprocheck.workflow import repair
from tests.causes.cause_ladders import check


def test_it_is_what_the_processes_execute_which_train(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "jobs").mkdir()
    for name in ("train.py", "jobs/one.py", "start"):
        (tmp_path / name).touch()
    monkeypatch.chdir(tmp_path)
    base = check()
    trace = base.runs[0].traces[0]

    def fixed(program: str) -> list[str]:
        process = replace(trace.process, program=program)
        run = replace(
            base.runs[0], workdir=str(tmp_path), traces=(replace(trace, process=process),)
        )
        return [str(path) for path in repair.program(replace(base, runs=(run,)))]

    assert fixed("train.py") == ["train.py"]
    assert fixed("jobs/one.py") == ["jobs/one.py"]
    assert fixed("missing.py") == fixed("start") == fixed("") == []
