"""Checks and ladders made by hand, for the causes that fit them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from reprocheck.model import (
    RUNGS,
    Bitwise,
    Cause,
    Check,
    CheckRecord,
    EntryPoint,
    Ladder,
    LossSeries,
    Outcomes,
    Process,
    Run,
    Rung,
    RungName,
    RunRecord,
    Tolerance,
    Trace,
    Verdict,
)
from reprocheck.rules import entry

RECORD = RunRecord(
    number=1,
    ended="completed",
    exit_status=0,
    started="",
    seconds=1,
    trace="",
    stdout="",
    stderr="",
)
VERDICT = Verdict(
    verdict="not_reproducible",
    failed_check="forward",
    reason="",
    exit_code=1,
    comparisons=(),
    bitwise=Bitwise(equal=False),
    first_divergence=None,
    outcomes=Outcomes(groups=(), bound=None, statement=""),
)


def check(
    ladder: Ladder | None = None,
    *,
    script: str = "train.py",
    framework: str = "torch",
    ranks: int = 1,
    environment: Mapping[str, object] | None = None,
    stderr: str = "",
    **more: object,
) -> Check:
    process = Process(pid=1, ppid=0, argv=(script,), python="", name="")
    traces = tuple(
        Trace(
            rank=rank,
            process=process,
            losses=LossSeries(),
            forward=None,
            backward=None,
            frameworks={framework: "1"},
        )
        for rank in range(ranks)
    )
    record = replace(RECORD, ended="failed", exit_status=1) if stderr else RECORD
    first = Run(
        record=record,
        traces=traces,
        processes=(process,),
        environment=environment or {},
        stderr_tail=stderr,
    )
    second = replace(first, record=replace(record, number=2))
    of_check = CheckRecord(
        reprocheck_version="1",
        entry_point=EntryPoint(command=("python", script), kind="script", name="train"),
        started="2100-01-01T00:00:00+00:00",
        tolerance=Tolerance(),
        settings=(),
        runs=(record, record),
    )
    return Check(record=of_check, runs=(first, second), verdict=VERDICT, ladder=ladder, **more)  # type: ignore[arg-type]


def ladder(name: RungName, *others: Rung, came_back: bool = True, **fields: object) -> Ladder:
    """A ladder that differs first at one rung; `facts` and the other fields are those of that
    rung.
    """
    differs = Rung(
        rung=name,
        status="differs",
        **{"place": "encoder", "detail": f"The {name} differs.", **fields},
    )  # type: ignore[arg-type]
    given = {rung.rung: rung for rung in (*others, differs)}
    return Ladder(
        rungs=tuple(given.get(rung, Rung(rung=rung, status="equal")) for rung in RUNGS),
        first=name,
        came_back=came_back,
    )


def names(found: tuple[Cause, ...]) -> list[str]:
    return [entry(cause.code).name for cause in found]


def write(text: str, name: str = "train.py") -> None:
    Path("sources.json").unlink(missing_ok=True)  # what was kept of an earlier text
    Path(name).write_text(text)


ROUNDING = {"size": "rounding", "relative_difference": 1e-7}
GROSS = {"size": "gross", "relative_difference": 0.5}
STATES = {"generators": ["torch"], "states_known": True}
EQUAL_STATES = {"generators": [], "states_known": True}
