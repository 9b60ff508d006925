"""What the runs of a check hold of level `module` themselves: when the ladder is read from them, and
when two more runs follow.
"""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import pytest

from reprocheck.ladder import rungs
from reprocheck.model import (
    Bitwise,
    Check,
    DeeperPair,
    Rung,
    SeriesComparison,
    SeriesPlace,
    Setting,
)
from reprocheck.model.statements.check import Undetermined
from reprocheck.recording import record
from reprocheck.report.ladder import evidence
from reprocheck.settings import Settings
from reprocheck.workflow.escalation import around, iteration_of
from reprocheck.workflow.recorded_pair import explains, own_pair
from reprocheck.workflow.replay import explained
from tests.conftest import check, reprocheck_here
from tests.heads import NO_COMPILER
from tests.report.samples import bitwise_equal, forward_fails, script_failed, two_ranks


def deep(base: Check, *iterations: int) -> Check:
    """The check, with so many iterations of each run recorded at level `module`."""
    runs = [
        replace(run, traces=tuple(replace(trace, deep=count) for trace in run.traces))
        for run, count in zip(base.runs, iterations, strict=True)
    ]
    return replace(base, runs=tuple(runs))


def first_different(base: Check, iteration: int) -> Check:
    """The check, whose losses differ from an iteration on."""
    bitwise = Bitwise(equal=False, first_iteration=iteration)
    return replace(base, verdict=replace(base.verdict, bitwise=bitwise))


def test_the_pair_goes_as_far_as_both_runs_do() -> None:
    pair = own_pair(deep(forward_fails(), 3, 2))
    assert pair is not None and pair.of_check
    assert (pair.level, pair.iterations) == ("module", 2)
    assert [run.number for run in pair.runs] == [1, 2]
    assert own_pair(deep(forward_fails(), 3, 0)) is None, "run 2 was recorded at level loss alone"


def test_one_rank_without_facts_is_enough_for_two_more_runs() -> None:
    base = deep(two_ranks(), *[2] * len(two_ranks().runs))
    assert own_pair(base) is not None
    first, *others = base.runs
    blind = replace(first, traces=(replace(first.traces[0], deep=0), *first.traces[1:]))
    assert own_pair(replace(base, runs=(blind, *others))) is None


def test_the_ladder_is_read_from_them_where_they_hold_the_first_difference() -> None:
    base = deep(forward_fails(), 2, 2)
    assert explains(first_different(base, 2)) is not None
    assert explains(first_different(base, 3)) is None, "it lies beyond"


def test_a_pass_has_a_ladder_where_a_level_is_asked_for() -> None:
    base = deep(bitwise_equal(), *[2] * len(bitwise_equal().runs))
    assert explains(base) is None
    asked = Setting(name="level", value="module", origin="--level")
    settings = tuple(one for one in base.record.settings if one.name != "level")
    told = replace(base.record, settings=(*settings, asked))
    assert explains(replace(base, record=told)) is not None


def test_a_series_that_fails_the_check_is_looked_for_in_the_iterations_of_the_pair() -> None:
    base = deep(bitwise_equal(), *[2] * len(bitwise_equal().runs))
    other = base.runs[-1].number
    rule = Setting(name="fail_on", value="series:val", origin="--fail-on")
    told = replace(base.record, settings=(*base.record.settings, rule))

    def failing(iteration: int) -> Check:
        place = SeriesPlace(
            number=1,
            iteration=iteration,
            step=None,
            run=other,
            rank=0,
            reference=1.0,
            value=2.0,
        )
        row = SeriesComparison(name="val", first_unequal=place, first_outside=place)
        verdict = replace(base.verdict, exit_code=1, series=(row,))
        return replace(base, record=told, verdict=verdict)

    pair = explains(failing(1))
    assert pair is not None and [run.number for run in pair.runs] == [1, other]
    assert explains(failing(2)) is None, "the evaluation behind an update is in the next iteration"


def test_a_script_that_failed_is_not_explained_by_them() -> None:
    base = script_failed()
    assert explains(deep(base, *[2] * len(base.runs))) is None


def test_the_report_says_which_runs_the_ladder_was_read_from() -> None:
    base = deep(forward_fails(), 2, 2)
    own = own_pair(base)
    assert own is not None
    operators = DeeperPair(level="op", iterations=2, inside="head", runs=own.runs)

    def said(*pairs: DeeperPair) -> str:
        return evidence(replace(base, record=replace(base.record, deeper=pairs)))

    assert said(own) == "Read from the runs of the check, recorded at level module."
    assert said(own, operators) == (
        "Read from the runs of the check, recorded at level module, and from two more runs,"
        " recorded at level op inside head."
    )
    assert said(own, replace(operators, begin=4)).endswith("op inside head from iteration 4 on.")
    assert said() == ""


def test_deeper_runs_begin_before_the_difference_where_a_training_can_be_left_alone() -> None:
    clean, held = replace(forward_fails(), state_left=()), Settings()
    base = deep(clean, 2, 2)
    begins = [around(base, held, first) for first in (None, 1, 2, 3, 7)]
    assert begins == [1, 1, 1, 2, 6]
    assert around(base, replace(held, steps=5), 7) == 1, "it is not recorded so far"
    assert around(clean, held, 7) == 1, "compiled, or another framework"
    assert around(replace(base, state_left=("cache.pt",)), held, 7) == 1


def test_what_differs_before_the_first_iteration_or_behind_all_has_no_iteration() -> None:
    rung = Rung(rung="forward", status="differs", iteration=7)
    assert iteration_of(rung) == 7
    assert iteration_of(replace(rung, rung="later")) is None
    assert iteration_of(Rung(rung="initial weights", status="differs")) is None


TRAINS = """
import sys, torch
from torch import nn

class Noisy(nn.Tanh):
    late = False

    def forward(self, hidden):
        private = torch.Generator().manual_seed(torch.seed() % 2**31) if self.late else None
        return super().forward(hidden) * (torch.rand(4, generator=private) if self.late else 1)

torch.manual_seed(0)
model = nn.Sequential(nn.Linear(4, 4), Noisy(), nn.Linear(4, 1))
optimizer = torch.optim.SGD(model.parameters(), 0.1)
if sys.argv[1] == "sleeps":
    asleep = nn.Parameter(torch.rand(1, generator=torch.Generator().manual_seed(torch.seed() % 2**31)))
    torch.manual_seed(0)
    optimizer.add_param_group({"params": [asleep]})
for step in range(12):
    inputs = torch.ones(3, 4)
    if sys.argv[1] == "sleeps" and step >= 6:
        inputs = inputs * asleep
    elif sys.argv[1] == "layer":
        model[1].late = step >= 4
    elif sys.argv[1] != "sleeps" and step >= int(sys.argv[1]):
        inputs += torch.rand(3, 4, generator=torch.Generator().manual_seed(torch.seed() % 2**31))
    optimizer.zero_grad()
    model(inputs).pow(2).mean().backward()
    optimizer.step()
"""


@pytest.mark.torch
def test_a_failed_check_needs_two_starts_and_is_drawn_again_alike(workdir: Path) -> None:
    (workdir / "train.py").write_text(NO_COMPILER + TRAINS)
    outcome = check("train.py", "0", cwd=workdir, explain=True)
    assert outcome.exit_code == 1 and outcome.folder is not None
    ladder = outcome.report["ladder"]
    assert ladder["came_back"] and ladder["first"] in ("batch", "forward")
    assert outcome.report["causes"]
    assert record.read(outcome.folder).deeper == ()
    assert len(list(outcome.folder.glob("**/trace"))) == 2
    before = (outcome.folder / "report.json").read_bytes()
    assert reprocheck_here("report", outcome.folder, cwd=workdir).returncode == 0
    assert (outcome.folder / "report.json").read_bytes() == before


@pytest.mark.torch
def test_a_difference_beyond_them_is_recorded_again_around_it(workdir: Path) -> None:
    (workdir / "train.py").write_text(NO_COMPILER + TRAINS)
    outcome = check("--fail-on", "any-iteration", "train.py", "layer", cwd=workdir, explain=True)
    assert outcome.exit_code == 1 and outcome.folder is not None
    modules, operators = record.read(outcome.folder).deeper
    assert (modules.level, modules.begin, modules.inside) == ("module", 4, "")
    assert (operators.level, operators.begin, operators.inside) == ("op", 4, "1")
    assert min(modules.iterations, operators.iterations) >= 5
    (rung,) = [
        rung
        for rung in outcome.report["ladder"]["rungs"]
        if rung["rung"] == outcome.report["ladder"]["first"]
    ]
    assert (rung["rung"], rung["place"], rung["iteration"]) == ("forward", "1", 5)
    assert "aten.rand.generator" in rung["detail"]
    assert "In the runs that recorded the operators" not in rung["detail"]
    for pair in (modules, operators):
        traces = list(outcome.folder.glob(f"later/{pair.level}/run-*/trace/*.jsonl"))
        assert len(traces) == 2
        recorded = re.compile(r'"e":"seen","r":"(?:call|op|weights)","i":(\d+)')
        assert {min(map(int, recorded.findall(one.read_text()))) for one in traces} == {4}


@pytest.mark.torch
@pytest.mark.may_differ("on a busy machine the early stop may come behind the difference")
def test_a_difference_that_slept_is_recorded_from_the_start(workdir: Path) -> None:
    (workdir / "train.py").write_text(NO_COMPILER + TRAINS)
    outcome = check("--fail-on", "any-iteration", "train.py", "sleeps", cwd=workdir, explain=True)
    assert outcome.exit_code == 1 and outcome.folder is not None
    (pair,) = record.read(outcome.folder).deeper
    assert pair.begin == 1
    assert outcome.report["ladder"]["first"] == "initial weights"


@pytest.mark.torch
def test_a_pass_names_what_differs_although_no_loss_shows_it(workdir: Path) -> None:
    lines = (
        "import torch",
        "model = torch.nn.Linear(4, 1)",
        "optimizer = torch.optim.SGD(model.parameters(), lr=0.1, weight_decay=0.1)",
        "for step in range(3):",
        "    optimizer.zero_grad()",
        "    model(torch.ones(8, 4)).pow(2).mean().clamp(min=100).backward()",
        "    optimizer.step()",
    )
    (workdir / "train.py").write_text(NO_COMPILER + "\n".join(lines))
    outcome = check("train.py", cwd=workdir, explain=True)
    assert outcome.exit_code == 0 and outcome.report["bitwise"]["equal"]
    assert outcome.report["ladder"] is None
    (caveat,) = [one for one in outcome.report["caveats"] if one.startswith("All losses are equal")]
    assert "`weight` differs" in caveat and "line 3 of train.py" in caveat


@pytest.mark.torch
def test_a_pass_names_a_hyper_parameter_that_is_a_list(workdir: Path) -> None:
    """What holds recorded lists cannot be hashed."""
    lines = (
        "import random, torch",
        "model, idle = torch.nn.Linear(4, 1), torch.nn.Parameter(torch.zeros(2))",
        "torch.nn.init.ones_(model.weight), torch.nn.init.ones_(model.bias)",
        "scale = torch.tensor([random.random(), 2.0])",
        "groups = [{'params': model.parameters()}, {'params': [idle], 'scale': scale}]",
        "optimizer = torch.optim.SGD(groups, lr=0.1)",
        "for step in range(3):",
        "    optimizer.zero_grad()",
        "    model(torch.ones(8, 4)).pow(2).mean().backward()",
        "    optimizer.step()",
    )
    (workdir / "train.py").write_text(NO_COMPILER + "\n".join(lines))
    outcome = check("train.py", cwd=workdir, explain=True)
    assert outcome.exit_code == 0 and outcome.report["bitwise"]["equal"]
    (caveat,) = [one for one in outcome.report["caveats"] if one.startswith("All losses are equal")]
    assert "`param_groups[1].scale" in caveat


def test_a_pass_stands_where_what_lies_beside_its_losses_cannot_be_compared(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    base = replace(bitwise_equal(), folder=tmp_path)
    record.write(tmp_path, base.record)

    def broken(*_: object) -> None:
        raise ValueError("no such rung")

    monkeypatch.setattr(rungs, "ladder_of", broken)
    found = explained(deep(base, *[2] * len(base.runs)), tmp_path)
    assert found.verdict.passed
    assert found.unrecorded[-1] == Undetermined(
        what="beside the losses", error="ValueError: no such rung"
    )
