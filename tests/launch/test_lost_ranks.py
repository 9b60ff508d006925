"""Ranks that die, hang or never report while others wait for them: the run ends in time, and the
report says which one it was.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from reprocheck import launch
from reprocheck.launch.run.run import STOP_WAIT
from reprocheck.model import Check
from reprocheck.settings import Settings
from reprocheck.wording import told
from reprocheck.workflow import replay
from tests.clock import TIMEOUT, watch_by
from tests.launch.conftest import Listener

MEETING = Path(__file__).parent / "scripts" / "meeting.py"
NOT_WAITED = STOP_WAIT - 10
"""Seconds: a run that waits at its stop for a rank that has ended takes longer."""
HEARD = launch.Quiet()
KILLED = "killed by a signal or left by os._exit: its interpreter did not come to its exit"


def check(
    fault: str,
    workdir: Path,
    monkeypatch: pytest.MonkeyPatch,
    *,
    steps: int | None = None,
    observer: launch.Observer = HEARD,
) -> Check:
    """One run of the meeting, judged: a second one would show the same and cost as much."""
    monkeypatch.chdir(workdir)
    monkeypatch.setenv("MEETING", str(meeting_place(workdir, fault)))
    entry = launch.entry_point(script=str(MEETING), args=(fault,))
    folder = launch.prepare(workdir / "reports", entry.name)
    launch.check(entry, replace(Settings(), runs=1, timeout=TIMEOUT, steps=steps), folder, observer)
    return told(replay.judged(folder))


def meeting_place(workdir: Path, fault: str) -> Path:
    """The folder in which the ranks meet."""
    place = workdir.with_name(f"meeting-{fault}")
    place.mkdir(exist_ok=True)
    return place


@pytest.mark.parametrize(
    ("fault", "said"),
    [
        (
            "killed",
            f"rank 1 ended first, after iteration 2, {KILLED}; ranks 0 and 2 were still waiting in iteration 3 when the run was ended",
        ),
        (
            "hangs",
            "rank 1 is behind: the last iteration of which it recorded a loss is 2, the others came to iteration 3",
        ),
    ],
)
def test_others_wait_for_a_rank_without_end(
    fault: str, said: str, workdir: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = meeting_place(workdir, fault)
    watch_by(monkeypatch, lambda: all((place / name).exists() for name in ("gone", "3-0", "3-2")))
    listener = Listener()
    made = check(fault, workdir, monkeypatch, observer=listener)
    (run,) = made.runs
    assert run.record.ended == "timed_out"
    assert listener.messages == (
        ["Run 1: 1 of 3 ranks has ended; the others may be waiting for them."]
        if fault == "killed"
        else []
    )
    assert said in made.verdict.reason


@pytest.mark.parametrize(
    ("fault", "said"),
    [
        (
            "raises",
            "rank 1 ended first, after iteration 2, with ValueError: planted; ranks 0 and 2 ended after it",
        ),
        ("exits", f"rank 1 ended first, after iteration 2, {KILLED}; ranks 0 and 2 ended after it"),
    ],
)
def test_a_launcher_that_ends_the_others(
    fault: str, said: str, workdir: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = check(f"{fault}-all", workdir, monkeypatch)
    (run,) = made.runs
    assert run.record.ended == "failed"
    assert said in made.verdict.reason


def test_a_rank_that_never_starts_and_one_of_another_launcher(
    workdir: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = check("absent", workdir, monkeypatch, steps=4)
    assert [trace.rank for trace in made.runs[0].traces] == [0, 2]
    assert (
        "2 of 3 ranks reported a loss or an update: no process of rank 1 loaded the recorder."
        in made.caveats
    )
    assert [len(trace.losses) for trace in made.runs[0].traces] == [4, 4], (
        "they wait for each other, not for the third"
    )

    for fault in ("shorter-mpirun", "vanishes"):
        ends_before_the_others(fault, workdir, monkeypatch)


def ends_before_the_others(fault: str, workdir: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The others go on to their stop, and do not wait for it there."""
    made = check(fault, workdir, monkeypatch, steps=4)
    assert [(trace.rank, len(trace.losses)) for trace in made.runs[0].traces] == [
        (0, 4),
        (1, 2),
        (2, 4),
    ]
    assert made.runs[0].record.ended == "stopped" and made.runs[0].record.seconds < NOT_WAITED
    how = KILLED if fault == "vanishes" else "by its own exit or an error that was caught"
    assert any(
        line.startswith("Run 1: rank 1 ended") and f", after iteration 2, {how}" in line
        for line in made.caveats
    ), made.caveats
