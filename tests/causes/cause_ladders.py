"""Checks and ladders made by hand, for the causes that fit them."""

from __future__ import annotations

import dataclasses
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
from reprocheck.model.evidence import (
    BatchDiffers,
    CallDiffers,
    Generator,
    Generators,
    GradientDiffers,
    HyperParameterDiffers,
    LossDiffers,
    Measured,
    OperatorDiffers,
    ReducedDiffers,
    SeededAs,
    StateDiffers,
    UpdateDiffers,
    WeightsDiffer,
)
from reprocheck.model.statements.inputs import is_key
from reprocheck.model.statements.ladder import Consequence
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


EVIDENCE: Mapping[str, type] = {
    "hyper-parameters": HyperParameterDiffers,
    "initial weights": WeightsDiffer,
    "RNG state": StateDiffers,
    "batch": BatchDiffers,
    "forward": CallDiffers,
    "loss": LossDiffers,
    "gradient": GradientDiffers,
    "reduced gradient": ReducedDiffers,
    "update": UpdateDiffers,
}
"""The kind of evidence that a rung shows, where a test does not give another."""
DRAWN = (StateDiffers, WeightsDiffer, CallDiffers)


def differing(name: RungName, **fields: object) -> Rung:
    """A rung that differs; `fields` are those of the rung, of its evidence, of what was measured
    and of the operator, by their own names, and those of `generators`.
    """
    statement = Consequence(place="encoder", first=name, rank=None)
    fields = {"place": "encoder", "statement": statement, **fields}
    generators = drawn(fields)
    known = fields.pop("operator", "")
    of_operator = taken(fields, OperatorDiffers)
    # a batch and an operator may both be of one run only
    if name == "batch" and "only_in_one_run" in of_operator:
        fields["only_in_one_run"] = of_operator.pop("only_in_one_run")
    if known or of_operator:
        fields["operator"] = OperatorDiffers(name=known or "aten.add.Tensor", **of_operator)
    if class_ := fields.get("class_"):
        fields.setdefault("operations", (class_,))
    if "evidence" not in fields and name in EVIDENCE:
        kind = EVIDENCE[name]
        if kind is StateDiffers:
            fields.setdefault("got", "call")
        of_kind: dict[str, object] = {"generators": generators} if kind in DRAWN else {}
        if kind is BatchDiffers:
            of_kind = {"seeded": generators.seeded, "seed_line": generators.seed_line}
        fields["evidence"] = kind(**taken(fields, kind), **of_kind)
    for unused in ("class_", "states_known"):
        fields.pop(unused, None)
    measured = Measured(**taken(fields, Measured))  # type: ignore[arg-type]
    return Rung(rung=name, status="differs", measured=measured, **fields)  # type: ignore[arg-type]


def taken(fields: dict[str, object], kind: type) -> dict[str, object]:
    """Takes the fields of a class out of all that are given."""
    names = {one.name for one in dataclasses.fields(kind)} - {"generators", "name"}
    return {name: fields.pop(name) for name in names & fields.keys()}


def drawn(fields: dict[str, object]) -> Generators:
    """Takes what is said of generators out of all fields: `generators` names those that differ,
    `seeded` all that had been seeded.
    """
    names, seeds = fields.pop("generators", ()), fields.pop("seeds", {})
    later, by_system = fields.pop("later", {}), fields.pop("by_system", ())
    folded, line = fields.pop("folded", False), fields.pop("seed_line", "")
    seeded = fields.pop("seeded", ())

    def how(name: str) -> SeededAs:
        if name in by_system:
            return "by the system"
        if name in seeds:
            return "unequally"
        return "equally" if name in seeded else "never"

    return Generators(
        drawn=tuple(
            Generator(
                name=name,
                seeded=how(name),
                seeds=seeds.get(name),
                key=is_key(name),
                folded=folded,
                later=later.get(name),
            )
            for name in dict.fromkeys((*names, *seeds))
        ),
        seeded=tuple(seeded),
        seed_line=line,
    )


def ladder(name: RungName, *others: Rung, came_back: bool = True, **fields: object) -> Ladder:
    """A ladder that differs first at one rung; `fields` as of `differing`."""
    differs = differing(name, **fields)
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
