"""Checks made by hand: one for each thing that a report must be able to show."""

from __future__ import annotations

import math
from array import array
from collections.abc import Callable, Mapping
from dataclasses import replace

from reprocheck.model import (
    RUNGS,
    Bitwise,
    Cause,
    Check,
    Checked,
    DeeperPair,
    Divergence,
    EntryPoint,
    EnvironmentDifference,
    Ladder,
    LossSeries,
    LossStatistics,
    Rung,
    RungName,
    Setting,
    SourceLine,
    Verdict,
)
from reprocheck.model.evidence import BatchDiffers, CallDiffers
from reprocheck.model.statements.ladder import NotRecorded
from reprocheck.verdict import judge
from reprocheck.wording import say
from reprocheck.wording.verdict import worded
from reprocheck.workflow.lead import lead_of
from tests.report.parts import (
    HOSTILE,
    STATEMENT,
    check,
    curve,
    outcomes,
    record,
    row,
    run,
    series,
    trace,
)
from tests.verdict.test_reported_series import reported

__all__ = ["SAMPLES", "check", "many_ranks", "million", "run", "series", "trace"]


def bitwise_equal() -> Check:
    values = curve(10)
    verdict = Verdict(
        verdict="reproducible",
        failed_check=None,
        reason="Both checks agree in 2 runs of 10 iterations, and all losses are equal in every bit.",
        exit_code=0,
        comparisons=(
            row("forward", 1, 0.0, values[0], True),
            row("backward", 2, 0.0, values[1], True),
        ),
        bitwise=Bitwise(equal=True),
        first_divergence=None,
        outcomes=outcomes([[1, 2]], bound=0.95),
    )
    return check([run(1, [trace(series(values))]), run(2, [trace(series(values))])], verdict)


def not_bitwise() -> Check:
    values = curve(10)
    other = [value + (0 if i < 2 else 2.4e-7 * 3**i) for i, value in enumerate(values)]
    verdict = Verdict(
        verdict="reproducible",
        failed_check=None,
        reason="Both checks agree in 2 runs of 10 iterations, but from iteration 3 on the losses are not equal in every bit.",
        exit_code=0,
        comparisons=(
            row("forward", 1, 0.0, values[0], True),
            row("backward", 2, 0.0, values[1], True),
        ),
        bitwise=Bitwise(equal=False, first_iteration=3, ulp=9),
        first_divergence=Divergence(
            iteration=10, run=2, rank=0, reference=values[9], value=other[9]
        ),
        outcomes=outcomes([[1], [2]], statement="Run 2 differs from run 1 in the last bits."),
        caveats=(
            "An operator that was run on this device is listed as noisy from run to run: `aten::index_add_`.",
        ),
    )
    return check(
        [run(1, [trace(series(values))]), run(2, [trace(series(other))])],
        verdict,
        changed_to_observe=("The training was stopped after iteration 10.",),
    )


def forward_fails() -> Check:
    values, other = (
        curve(10),
        [value + 0.08 * math.cos(i) for i, value in enumerate(curve(10, seed=7))],
    )
    apart = abs(values[0] - other[0])
    verdict = Verdict(
        verdict="not_reproducible",
        failed_check="forward",
        reason=f"The loss of iteration 1 differs by {apart:.3g} between run 1 and run 2; {1e-3 + 1e-3 * values[0]:.3g} was allowed.",
        exit_code=1,
        comparisons=(
            row("forward", 1, apart, values[0], False),
            row("backward", 2, abs(values[1] - other[1]), values[1], False),
        ),
        bitwise=Bitwise(equal=False, first_iteration=1, ulp=round(apart / 2.4e-7)),
        first_divergence=Divergence(
            iteration=1, run=2, rank=0, reference=values[0], value=other[0]
        ),
        outcomes=outcomes([[1], [2]], statement="The 2 runs have 2 different outcomes."),
    )
    return check(
        [run(1, [trace(series(values))]), run(2, [trace(series(other))])],
        verdict,
        environment_differences=(
            EnvironmentDifference(key="OMP_NUM_THREADS", run=2, reference=None, value=4),
        ),
        state_left=("checkpoints/last.pt", "cache/vocabulary.json"),
        changed_to_observe=("The training was stopped after iteration 10.",),
        caveats=("wandb was loaded: set WANDB_MODE=offline to keep it from sending anything.",),
    )


def backward_fails() -> Check:
    values = curve(40)
    other = [value + (0 if i < 3 else 0.004 * (i - 2) ** 0.7) for i, value in enumerate(values)]
    moved = {
        "backward": Checked(kind="backward", iteration=4, start=3, end=4),
        "unchanged_updates": 2,
    }
    verdict = Verdict(
        verdict="not_reproducible",
        failed_check="backward",
        reason="The loss of iteration 4 differs by 0.004 between run 1 and run 2; 0.00319 was allowed.",
        exit_code=1,
        comparisons=(
            row("forward", 1, 0.0, values[0], True),
            row("backward", 4, 0.004, values[3], False),
        ),
        bitwise=Bitwise(equal=False, first_iteration=4, ulp=16777),
        first_divergence=Divergence(
            iteration=4, run=2, rank=0, reference=values[3], value=other[3]
        ),
        outcomes=outcomes([[1], [2]], statement="The 2 runs have 2 different outcomes."),
    )
    return check(
        [run(1, [trace(series(values), **moved)]), run(2, [trace(series(other), **moved)])], verdict
    )


def inconclusive_nan() -> Check:
    values = [2.3, math.nan, math.inf, 1.9, 1.8, math.nan, 1.7, 1.6, 1.5, 1.4]
    verdict = Verdict(
        verdict="inconclusive",
        failed_check=None,
        reason="The loss of iteration 2 is NaN in both runs, so the backward check cannot be made.",
        exit_code=3,
        comparisons=(
            row("forward", 1, 0.0, 2.3, True),
            row("backward", 2, None, None, None, detail="NaN in both runs"),
        ),
        bitwise=Bitwise(equal=True),
        first_divergence=None,
        outcomes=outcomes([[1, 2]]),
    )
    return check([run(1, [trace(series(values))]), run(2, [trace(series(values))])], verdict)


def script_failed() -> Check:
    error = 'Traceback (most recent call last):\n  File "train.py", line 12, in <module>\n    loss = model(x)\nRuntimeError: shapes differ\n'
    verdict = Verdict(
        verdict="script_failed",
        failed_check=None,
        reason="Run 1 ended with exit status 1 before iteration 1.",
        exit_code=4,
        comparisons=(),
        bitwise=Bitwise(equal=None),
        first_divergence=None,
        outcomes=outcomes([], statement=""),
    )
    return check([run(1, [], ended="failed", status=1, stderr_tail=error)], verdict)


def timed_out() -> Check:
    values = curve(1)
    verdict = Verdict(
        verdict="timed_out",
        failed_check=None,
        reason="Run 2 took longer than the timeout of 10 s.",
        exit_code=5,
        comparisons=(
            row("forward", 1, 0.0, values[0], True),
            row("backward", 2, None, None, None, detail="run 2 has 1 iteration"),
        ),
        bitwise=Bitwise(equal=True),
        first_divergence=None,
        outcomes=outcomes([[1, 2]]),
    )
    runs = [
        run(1, [trace(series(curve(10)))]),
        run(2, [trace(series(values), stopped_at=None)], ended="timed_out", status=-15),
    ]
    return check(runs, verdict)


def two_ranks() -> Check:
    first, second = curve(12), curve(12, seed=3)
    other = [value + (0.02 if i > 4 else 0) for i, value in enumerate(second)]
    verdict = Verdict(
        verdict="reproducible",
        failed_check=None,
        reason="Both checks agree in 2 runs of 12 iterations on 2 ranks, but rank 1 diverges in iteration 6.",
        exit_code=1,
        broken_rule="any-iteration",
        comparisons=tuple(
            row(kind, i, 0.0, values[i - 1], True, rank=rank)
            for kind, i in (("forward", 1), ("backward", 2))
            for rank, values in ((0, first), (1, second))
        ),
        bitwise=Bitwise(equal=False, first_iteration=6, ulp=83333),
        first_divergence=Divergence(
            iteration=6, run=2, rank=1, reference=second[5], value=other[5]
        ),
        outcomes=outcomes([[1], [2]]),
    )
    command = ("torchrun", "--nproc-per-node", "2", "train.py")
    base = record(command, entry_point=EntryPoint(command=command, kind="command", name="train"))
    runs = [
        run(n, [trace(series(first), 0), trace(series(last), 1)])
        for n, last in ((1, second), (2, other))
    ]
    return check(runs, verdict, base)


def three_runs() -> Check:
    """A GAN: two losses an iteration; run 3 differs."""
    values = [x for pair in zip(curve(15), curve(15, seed=5), strict=True) for x in pair]
    other = [value + (0.03 * i / 10 if i % 2 else 0) for i, value in enumerate(values)]
    statistics = tuple(
        LossStatistics(
            iteration=i,
            rank=0,
            mean=values[2 * i - 2] + values[2 * i - 1],
            standard_deviation=0.001 * i,
        )
        for i in range(1, 16)
    )
    verdict = Verdict(
        verdict="not_reproducible",
        failed_check="forward",
        reason="The second loss of iteration 1 differs by 0.003 between run 1 and run 3; 0.00342 was allowed.",
        exit_code=1,
        comparisons=tuple(
            row(kind, i, apart, values[2 * i - 1], passed, run=number, loss_index=1)
            for number, kind, i, apart, passed in (
                (2, "forward", 1, 0.0, True),
                (2, "backward", 2, 0.0, True),
                (3, "forward", 1, 0.003, False),
                (3, "backward", 2, 0.009, False),
            )
        ),
        bitwise=Bitwise(equal=False, first_iteration=1, ulp=12583),
        first_divergence=Divergence(
            iteration=1, run=3, rank=0, reference=values[1], value=other[1], detail="loss 2 of 2"
        ),
        outcomes=replace(outcomes([[1, 2], [3]], statement=STATEMENT[3]), statistics=statistics),
    )
    return check(
        [run(n, [trace(series(v, 2))]) for n, v in ((1, values), (2, values), (3, other))], verdict
    )


def ladder(
    first: RungName | None,
    *differing: Rung,
    not_recorded: tuple[RungName, ...] = (),
    **more: object,
) -> Ladder:
    """All rungs: those given, and the others equal or not recorded."""
    given = {rung.rung: rung for rung in differing}
    rungs = tuple(
        given.get(name)
        or Rung(rung=name, status="not_recorded" if name in not_recorded else "equal")
        for name in RUNGS
    )
    return Ladder(rungs=rungs, first=first, **more)  # type: ignore[arg-type]


def explained() -> Check:
    """A forward check that fails, recorded again at both levels, with two causes."""
    line = SourceLine(
        file="model/noise.py",
        line=14,
        text="        return x + 0.1 * torch.randn(x.shape, generator=self.generator)",
    )
    found = ladder(
        "forward",
        Rung(
            rung="forward",
            status="differs",
            iteration=1,
            rank=0,
            place="encoder.blocks.0.noise",
            culprit="the forward of `encoder.blocks.0.noise` (Noise)",
            size="gross",
            relative_difference=0.0813,
            detail="The inputs of `encoder.blocks.0.noise` (Noise) agree, its output differs; no process-wide generator moved.",
            source=line,
            evidence=CallDiffers(class_="Noise"),
            inside="encoder.blocks.0.noise",
        ),
        Rung(
            rung="loss",
            status="differs",
            iteration=1,
            rank=0,
            place="loss",
            size="gross",
            relative_difference=0.02,
        ),
        Rung(
            rung="gradient",
            status="differs",
            iteration=1,
            rank=0,
            place="head.weight",
            size="gross",
            relative_difference=math.inf,
        ),
        not_recorded=("reduced gradient", "later"),
        level="op",
        sentence="In iteration 1 `encoder.blocks.0.noise` (Noise) returns another output for the same inputs: "
        "it draws from a generator of its own.",
        coverage=("A compiled region was not looked into.",),
    )
    causes = (
        Cause(
            code="R104",
            title="Private generator without a seed",
            confidence="observed",
            evidence=(
                "Inputs agree, the output of `aten.randn.generator` does not.",
                "No process-wide generator moved.",
            ),
            source=line,
            fix="self.generator = torch.Generator()\nself.generator.manual_seed(0)",
        ),
        Cause(
            code="R301",
            title="Noisy operator",
            confidence="suspected",
            fix="Set deterministic algorithms where the operator has one.",
        ),
    )
    base = forward_fails()
    again = (run(1, []).record, run(2, []).record)
    pairs = (
        DeeperPair(level="module", iterations=2, runs=again),
        DeeperPair(level="op", iterations=2, runs=again, inside="encoder.blocks.0.noise"),
    )
    return led(
        replace(
            base,
            record=replace(base.record, deeper=pairs),
            ladder=found,
            causes=causes,
            state_left=(),
        )
    )


def led(made: Check) -> Check:
    """The check with what is told of it first, as the end of a search chooses it."""
    lead = lead_of(replace(made, ladder=made.ladder and stated(made.ladder)))
    if lead is not None and lead.statement is not None:
        lead = replace(lead, sentence=say(lead.statement))
    return replace(made, lead=lead)


def stated(ladder: Ladder) -> Ladder:
    """The ladder with statements that say its sentences."""
    rungs = [
        replace(rung, statement=NotRecorded(line=rung.detail)) if rung.detail else rung
        for rung in ladder.rungs
    ]
    return replace(ladder, rungs=tuple(rungs), statement=NotRecorded(line=ladder.sentence))


def did_not_come_back() -> Check:
    """A backward check that fails, while the two runs recorded again agree."""
    sentence = "The two runs recorded again agree in all that was recorded: the difference does not come every time."
    base = backward_fails()
    pair = DeeperPair(level="module", iterations=4, runs=(run(1, []).record, run(2, []).record))
    found = ladder(
        None,
        not_recorded=("batch", "reduced gradient", "later"),
        came_back=False,
        sentence=sentence,
    )
    return led(replace(base, record=replace(base.record, deeper=(pair,)), ladder=found))


def hostile() -> Check:
    """Every string that comes from outside holds markup, control characters and bytes that are not
    text.
    """
    base = forward_fails()
    command = ("python", f"{HOSTILE}.py", "--name", HOSTILE)
    made = record(
        command,
        name=HOSTILE,
        environment={HOSTILE: HOSTILE, "list": [HOSTILE, {"a": HOSTILE}]},
        changed_to_observe=(HOSTILE,),
    )
    changed = replace(
        base,
        record=replace(
            made,
            runs=base.record.runs,
            settings=(Setting(name=HOSTILE, value=HOSTILE, origin=HOSTILE),),
        ),
        runs=tuple(
            replace(
                one,
                record=replace(one.record, ended="failed", exit_status=-9),
                stdout_tail=HOSTILE + "\r\n" + "```\n" * 3 + "10%\r50%\r100%\n" + "x" * 500,
                stderr_tail=HOSTILE
                + "\n</pre></script><img src=x onerror=alert(1)>\n\x1b]0;title\x07after",
                traces=tuple(
                    replace(
                        t,
                        frameworks={HOSTILE: HOSTILE},
                        problems=(HOSTILE,),
                        environment={HOSTILE: HOSTILE},
                    )
                    for t in one.traces
                ),
            )
            for one in base.runs
        ),
        verdict=replace(base.verdict, reason=HOSTILE, caveats=(HOSTILE,)),
        environment_differences=(
            EnvironmentDifference(key=HOSTILE, run=2, reference=HOSTILE, value=HOSTILE),
        ),
        state_left=(HOSTILE,),
        changed_to_observe=(HOSTILE,),
        caveats=(HOSTILE,),
        coverage=(HOSTILE,),
        ladder=ladder(
            "batch",
            Rung(
                rung="batch",
                status="differs",
                place=HOSTILE,
                culprit=HOSTILE,
                detail=HOSTILE,
                source=SourceLine(file=HOSTILE, line=1, text=HOSTILE),
                evidence=BatchDiffers(private_generators=(HOSTILE,)),
            ),
            sentence=HOSTILE,
            coverage=(HOSTILE,),
        ),
        causes=(
            Cause(
                code="R101",
                title=HOSTILE,
                confidence="suspected",
                evidence=(HOSTILE,),
                source=SourceLine(file=HOSTILE, line=1, text=HOSTILE),
                fix=f"{HOSTILE}\n```\n{HOSTILE}",
            ),
        ),
    )
    return led(changed)


def million(length: int = 1_000_000) -> Check:
    """A pair of long runs that part in iteration 700,001 of a million; one loss is NaN."""
    import numpy as np

    start = length * 7 // 10
    draw = np.random.default_rng(0)
    values = 2.3 * np.exp(-np.arange(length) / (length / 3)) + 0.1 + 0.02 * draw.random(length)
    values[length // 4] = np.nan
    values[length // 2] = 9.0
    other = values.copy()
    other[start:] += 1e-3 + 1e-2 * np.linspace(0, 1, length - start) + 5e-3

    def column(data: np.ndarray) -> LossSeries:
        numbers, ends = array("d"), array("q")
        numbers.frombytes(data.astype("f8").tobytes())
        ends.frombytes(np.arange(1, length + 1, dtype="i8").tobytes())
        return LossSeries(
            values=numbers, dtype_of=array("B", bytes(length)), dtypes=("float32",), ends=ends
        )

    base = bitwise_equal()
    divergence = Divergence(
        iteration=start + 1,
        run=2,
        rank=0,
        reference=float(values[start]),
        value=float(other[start]),
    )
    verdict = replace(
        base.verdict,
        reason=f"Both checks agree, but the losses differ from iteration {start + 1:,} on.",
        bitwise=Bitwise(equal=False, first_iteration=start + 1, ulp=25000),
        first_divergence=divergence,
    )
    runs = [
        run(n, [trace(column(data), stopped_at=None)], ended="completed")
        for n, data in ((1, values), (2, other))
    ]
    return check(runs, verdict)


def nothing() -> Check:
    """No loss was seen in either run."""
    verdict = Verdict(
        verdict="inconclusive",
        failed_check=None,
        reason="No loss was seen in run 1: no process of the run trained with a framework that is known.",
        exit_code=3,
        comparisons=(),
        bitwise=Bitwise(equal=None),
        first_divergence=None,
        outcomes=outcomes([], statement=""),
    )
    return check([run(1, [], ended="completed"), run(2, [], ended="completed")], verdict)


def many_ranks(ranks: int = 12) -> Check:
    """A check of more ranks than are drawn; the last one differs from the third iteration on."""
    curves = [curve(6, seed=rank) for rank in range(ranks)]
    last = [value + (0.01 * i if i > 1 else 0) for i, value in enumerate(curves[-1])]
    runs = [
        run(number, [trace(series(values), rank) for rank, values in enumerate(every)])
        for number, every in ((1, curves), (2, [*curves[:-1], last]))
    ]
    return check(runs, worded(judge(runs, record().tolerance, "checks")))


def with_series() -> Check:
    """Losses that agree, and beside them a series that differs, by steps, with a name that is no
    formula and no tag; two that do not.
    """
    accuracy = [1 - 1 / step for step in range(1, 21)]
    values = curve(10)
    runs = [
        run(
            number,
            [
                trace(
                    series(values),
                    series=(
                        reported(HOSTILE_NAME, worse, "wandb", steps=range(0, 2000, 100)),
                        reported("lr", [0.1] * 10, by="torch"),
                        reported("grad_norm", values),
                    ),
                )
            ],
        )
        for number, worse in ((1, accuracy), (2, [value * 0.9 for value in accuracy]))
    ]
    return check(runs, worded(judge(runs, record().tolerance, "checks")))


HOSTILE_NAME = 'acc $\\frac{$ \\1 "quoted" <b>'

SAMPLES: Mapping[str, Callable[[], Check]] = {
    sample.__name__: sample
    for sample in (
        bitwise_equal,
        not_bitwise,
        forward_fails,
        backward_fails,
        inconclusive_nan,
        script_failed,
        timed_out,
        two_ranks,
        three_runs,
        explained,
        did_not_come_back,
        hostile,
        nothing,
        with_series,
    )
}
