"""Two runs recorded at level `module` alone, judged and explained: the losses stand in those
traces, too.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from reprocheck import launch
from reprocheck.launch.run.plan import Request, plan
from reprocheck.launch.run.runs import record_runs
from reprocheck.model import Check, CheckRecord, DeeperPair, Tolerance
from reprocheck.recording import record
from reprocheck.settings import Settings
from reprocheck.workflow import replay
from tests.conftest import clean_environment


def explained(
    command: list[str | Path],
    workdir: Path,
    monkeypatch: pytest.MonkeyPatch,
    steps: int = 2,
    **environment: str,
) -> Check:
    """A check of `command`, with half the starts of a check that is explained."""
    for name, value in clean_environment(**environment).items():
        monkeypatch.setenv(name, value)
    monkeypatch.chdir(workdir)
    entry = launch.entry_point(command=[str(word) for word in command])
    folder = launch.prepare(workdir / "reports", entry.name)
    settings = replace(Settings(), runs=2, steps=steps, timeout=240.0)
    request = Request(runs=2, steps=steps, level="module")
    runs = record_runs(
        plan(entry, settings, folder, launch.Quiet(), None, request), lambda runs: None
    )
    logs = "".join((folder / run.stderr).read_text(errors="replace")[-2000:] for run in runs)
    assert [run.ended for run in runs] == ["stopped", "stopped"], logs
    made = CheckRecord(
        reprocheck_version="0",
        entry_point=entry,
        started=runs[0].started,
        tolerance=Tolerance(),
        settings=(),
        runs=runs,
        deeper=(DeeperPair(level="module", iterations=steps, runs=runs),),
    )
    record.write(folder, made)
    return replay.load(folder)
