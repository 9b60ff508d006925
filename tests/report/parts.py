"""Parts of checks made by hand: curves, traces, runs, records, rows."""

from __future__ import annotations

import math
import random
from array import array
from collections.abc import Sequence
from dataclasses import replace

from reprocheck.model import (
    Check,
    Checked,
    CheckRecord,
    Comparison,
    Ended,
    EntryPoint,
    LossSeries,
    OutcomeGroup,
    Outcomes,
    Process,
    Run,
    RunRecord,
    Setting,
    Tolerance,
    Trace,
    Verdict,
)
from reprocheck.wording.verdict import titled

HOSTILE = "<script>alert(1)</script> ]]> \x1b[31mred\x1b[0m `tick` | pipe @someone #1 \x00\x08\udcff </details> & \u202eevil **bold**"

STATEMENT = {
    2: "No difference was seen in 2 runs. Two runs exclude almost nothing.",
    3: "1 of 2 later runs differs from run 1.",
}


def curve(length: int, seed: int = 0) -> list[float]:
    """A loss that falls from 2.3 with noise, rounded to 9 digits."""
    draw = random.Random(seed)
    return [
        float(f"{2.3 * math.exp(-i / max(30, length / 3)) + 0.12 + 0.02 * draw.random():.9g}")
        for i in range(length)
    ]


def series(values: Sequence[float], per_iteration: int = 1, dtype: str = "float32") -> LossSeries:
    count = len(values)
    return LossSeries(
        values=array("d", values),
        dtype_of=array("B", bytes(count)),
        dtypes=(dtype,),
        ends=array("q", range(per_iteration, count + 1, per_iteration)),
    )


def trace(losses: LossSeries, rank: int = 0, **more: object) -> Trace:
    made = Trace(
        rank=rank,
        process=Process(
            pid=4000 + rank,
            ppid=3999,
            argv=("train.py",),
            python="3.11.7",
            name="MainProcess",
            rank=rank,
            ended=True,
        ),
        losses=losses,
        forward=Checked(kind="forward", iteration=1, start=0, end=1) if len(losses) else None,
        backward=Checked(kind="backward", iteration=2, start=1, end=2) if len(losses) > 1 else None,
        stopped_at=len(losses) or None,
        frameworks={"torch": "2.13.0"},
        environment={"torch.num_threads": 2, "torch.deterministic": False, "torch.cuda": "none"},
    )
    return replace(made, **more)  # type: ignore[arg-type]


def run(
    number: int,
    traces: Sequence[Trace],
    ended: Ended = "stopped",
    status: int | None = 0,
    **more: object,
) -> Run:
    folder = f"run-{number}"
    record = RunRecord(
        number=number,
        ended=ended,
        exit_status=status,
        started=f"2026-05-04T10:11:{10 + number:02}+00:00",
        seconds=2.5 + number / 8,
        trace=f"{folder}/trace",
        stdout=f"{folder}/stdout.log",
        stderr=f"{folder}/stderr.log",
    )
    out = "".join(f"epoch 1 step {i} loss {2.4 - i / 100:.4f}\n" for i in range(1, 11))
    made = Run(
        record=record,
        traces=tuple(traces),
        processes=tuple(t.process for t in traces),
        stdout_tail=out,
    )
    return replace(made, **more)  # type: ignore[arg-type]


def record(
    command: Sequence[str] = ("python", "train.py", "--lr", "0.1"),
    name: str = "train",
    **more: object,
) -> CheckRecord:
    made = CheckRecord(
        reprocheck_version="0.1.0",
        entry_point=EntryPoint(command=tuple(command), kind="script", name=name),
        started="2026-05-04T10:11:10+00:00",
        tolerance=Tolerance(),
        settings=(
            Setting(name="runs", value=2, origin="default"),
            Setting(name="steps", value=10, origin="default"),
            Setting(name="rtol", value=0.001, origin="default"),
            Setting(name="atol", value=0.001, origin="default"),
            Setting(name="timeout", value=600.0, origin="--timeout"),
            Setting(name="workdir", value="inplace", origin="pyproject.toml"),
        ),
        runs=(),
        environment={
            "python.version": "3.11.7",
            "platform.system": "Linux",
            "platform.machine": "x86_64",
            "cpu.model": "Example CPU",
            "cpu.count": 2,
            "git.commit": "5f2c9e10ab12cd34ef56ab78cd90ef12ab34cd56",
            "git.dirty": True,
            "packages": {"numpy": "2.4.0", "torch": "2.13.0"},
            "OMP_NUM_THREADS": None,
        },
    )
    return replace(made, **more)  # type: ignore[arg-type]


def row(
    kind: str,
    iteration: int,
    apart: float | None,
    reference: float | None,
    passed: bool | None,
    **more: object,
) -> Comparison:
    most = None if reference is None else 1e-3 + 1e-3 * abs(reference)
    made = Comparison(
        iteration=iteration,
        kind=kind,  # type: ignore[arg-type]
        run=2,
        rank=0,
        loss_index=0 if apart is not None else None,
        passed=passed,
        max_difference=apart,
        allowed=most if apart is not None else None,
        ulp=0 if apart == 0 else None if apart is None else round(apart / 2.4e-7),
        reference=reference,
    )
    return replace(made, **more)  # type: ignore[arg-type]


def outcomes(
    groups: Sequence[Sequence[int]], bound: float | None = None, statement: str = STATEMENT[2]
) -> Outcomes:
    return Outcomes(
        groups=tuple(OutcomeGroup(runs=tuple(group)) for group in groups),
        bound=bound,
        statement=statement,
    )


def check(
    runs: Sequence[Run], verdict: Verdict, made: CheckRecord | None = None, **more: object
) -> Check:
    base = made or record()
    answer = Check(
        record=replace(base, runs=tuple(one.record for one in runs)),
        runs=tuple(runs),
        verdict=verdict,
        coverage=(
            "Losses and updates of 1 rank were recorded at level loss.",
            "Weights were fingerprinted around the first update.",
            "Gradients, batches and random states were not recorded at this level.",
        ),
    )
    return titled(replace(answer, **more))  # type: ignore[arg-type]
