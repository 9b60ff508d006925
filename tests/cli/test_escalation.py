"""After a check: when two more runs follow, what is shown of them, and that the verdict never
depends on them.
"""

from __future__ import annotations

import json
import re
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import pytest

from reprocheck.model import Bitwise, Check, Divergence, Run, Rung
from reprocheck.model.evidence import CallDiffers, Generator, Generators, PathDiffers
from reprocheck.recording import record
from reprocheck.settings import Settings
from reprocheck.workflow.escalation import iterations, operators_say_more, wanted
from reprocheck.workflow.recorded_pair import differs_beside_not_finite
from tests.conftest import check, clean_environment, reprocheck_here
from tests.report.samples import (
    backward_fails,
    bitwise_equal,
    forward_fails,
    inconclusive_nan,
    nothing,
    script_failed,
    timed_out,
    two_ranks,
)

UNSEEDED = "import random\nimport reprocheck\nfor step in range(20):\n    reprocheck.log_loss(10 * random.Random().random())\n"
CLEAN = "import reprocheck\nfor step in range(20):\n    reprocheck.log_loss(1 / (step + 1))\n"
BREAKS = """
import os, random, reprocheck
if "module" in os.environ["REPROCHECK_CHILD"]:
    raise SystemExit("no second time")
for step in range(20):
    reprocheck.log_loss(10 * random.Random().random())
"""
WAITS = """
import os, random, reprocheck, time
from pathlib import Path
open("made.txt", "a").write("run ")
if "module/run-2" in os.environ["REPROCHECK_CHILD"]:
    Path("reports/ready").touch()
    time.sleep(600)
for step in range(20):
    reprocheck.log_loss(10 * random.Random().random())
"""


def deeper(folder: Path | None) -> list[tuple[str, int, int]]:
    assert folder is not None
    return [(pair.level, pair.iterations, len(pair.runs)) for pair in record.read(folder).deeper]


def test_a_failed_check_is_recorded_again_and_drawn_again_from_its_folder(workdir: Path) -> None:
    (workdir / "train.py").write_text(UNSEEDED)
    outcome = check("--verbose", "train.py", cwd=workdir, explain=True, draw=True)
    assert outcome.exit_code == 1 and outcome.title == "NOT REPRODUCIBLE (forward)"
    assert deeper(outcome.folder)[0] == ("module", 2, 2)
    assert outcome.report["ladder"] is not None and len(outcome.report["ladder"]["rungs"]) == 12
    assert re.search(r"^ {2}files and arguments +equal$", outcome.stdout, re.MULTILINE)
    assert outcome.stdout.index("files and arguments") < outcome.stdout.index("check     iteration")
    assert (
        "NOT REPRODUCIBLE (forward): recording two runs again, to see where they diverge"
        in outcome.stderr
    )
    assert "level module, run 2 of 2 · stopped after iteration 2" in outcome.stderr
    to_read = [line for line in outcome.stdout.splitlines() if not line.startswith("    ")]
    assert max(map(len, to_read)) <= 80 and "\x1b" not in outcome.stdout
    assert outcome.folder is not None
    before = {
        name: (outcome.folder / name).read_bytes()
        for name in ("report.html", "report.md", "report.json", "junit.xml")
    }
    assert reprocheck_here("report", outcome.folder, cwd=workdir).returncode == 0
    assert {name: (outcome.folder / name).read_bytes() for name in before} == before


def test_no_explain_and_level(workdir: Path) -> None:
    (workdir / "train.py").write_text(UNSEEDED)
    outcome = check("--no-explain", "train.py", cwd=workdir)
    assert (
        outcome.exit_code == 1 and outcome.report["ladder"] is None and deeper(outcome.folder) == []
    )
    assert "    reprocheck run --explain train.py" in outcome.stdout
    (workdir / "train.py").write_text(CLEAN)
    outcome = check("train.py", cwd=workdir, explain=True)
    assert outcome.exit_code == 0 and deeper(outcome.folder) == []
    outcome = check("--level", "op", "--steps", "1", "train.py", cwd=workdir)
    assert [(level, count) for level, count, _ in deeper(outcome.folder)] == [
        ("module", 1),
        ("op", 1),
    ]
    assert outcome.exit_code == 3, (
        "the backward check needs two iterations, whatever is recorded after it"
    )


def test_deeper_runs_that_fail_cost_neither_verdict_nor_exit_code(workdir: Path) -> None:
    (workdir / "train.py").write_text(BREAKS)
    outcome = check("train.py", cwd=workdir, explain=True)
    assert outcome.exit_code == 1 and outcome.title == "NOT REPRODUCIBLE (forward)"
    assert "Run 1 at level module failed with exit status 1" in " ".join(outcome.report["coverage"])


def test_deeper_runs_that_cannot_be_made_are_a_caveat(
    workdir: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from reprocheck import launch
    from reprocheck.cli import main

    def full(*_: object, **__: object) -> None:
        raise OSError(28, "No space left on device")

    (workdir / "train.py").write_text(UNSEEDED)
    monkeypatch.chdir(workdir)
    monkeypatch.setattr(launch, "record_deeper", full)
    assert main(["run", "--quiet", "train.py"]) == 1
    report = json.loads((workdir / "reports" / "latest" / "report.json").read_text())
    assert (report["verdict"], report["ladder"]) == ("not_reproducible", None)
    assert any(
        "level module could not be recorded: " in caveat and "No space left" in caveat
        for caveat in report["caveats"]
    )


def test_an_interrupt_while_recording_again_keeps_what_was_recorded(workdir: Path) -> None:
    (workdir / "train.py").write_text(WAITS)
    command = [sys.executable, "-m", "reprocheck", "run", "train.py"]
    process = subprocess.Popen(
        command,
        cwd=workdir,
        env=clean_environment(),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    while not (workdir / "reports" / "ready").exists():
        assert process.poll() is None
        time.sleep(0.05)
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate()
    assert (
        process.returncode == 130
        and "interrupted" in errors
        and "is kept in reports/train-" in errors
    )
    assert (workdir / "made.txt").read_text() == "run run "
    done = reprocheck_here("report", "reports/latest", cwd=workdir)
    assert done.returncode == 0 and done.stdout.startswith("NOT REPRODUCIBLE (forward)")
    report = json.loads((workdir / "reports" / "latest" / "report.json").read_text())
    assert report["ladder"] is None and any("ended early" in line for line in report["coverage"])


# ---------------------------------------------------------------------------------------- decisions


def in_threads(check: Check) -> Check:
    """The check, with its ranks as trainings in threads: whose deeper facts are is not known."""

    def threads(run: Run) -> Run:
        traces = [replace(one, process=replace(one.process, in_thread=True)) for one in run.traces]
        return replace(run, traces=tuple(traces))

    return replace(check, runs=tuple(map(threads, check.runs)))


@pytest.mark.parametrize(
    ("check", "settings", "expected"),
    [
        (forward_fails(), Settings(), True),
        (forward_fails(), Settings(explain=False), False),
        (forward_fails(), Settings(explain=False, level="module"), True),
        (two_ranks(), Settings(fail_on="any-iteration"), True),
        (in_threads(two_ranks()), Settings(level="module"), False),
        (bitwise_equal(), Settings(), False),
        (bitwise_equal(), Settings(level="op"), True),
        (inconclusive_nan(), Settings(), False),
        (inconclusive_nan(), Settings(level="module"), True),
        (nothing(), Settings(level="module"), False),
        (script_failed(), Settings(level="module"), False),
        (timed_out(), Settings(level="module"), False),
    ],
)
def test_when_two_more_runs_follow(check: Check, settings: Settings, expected: bool) -> None:
    assert wanted(check, settings) is expected


@pytest.mark.parametrize(("first", "expected"), [(None, False), (1, True), (2, True), (3, False)])
def test_losses_that_differ_beside_one_that_is_not_finite_are_looked_into(
    first: int | None, expected: bool
) -> None:
    base = inconclusive_nan()
    check = replace(
        base,
        verdict=replace(base.verdict, bitwise=Bitwise(equal=first is None, first_iteration=first)),
    )
    assert differs_beside_not_finite(check) is expected
    assert wanted(check, Settings()) is expected


def test_how_many_iterations_are_recorded() -> None:
    assert iterations(replace(forward_fails(), state_left=()), Settings()) == 2
    assert iterations(forward_fails(), Settings()) == 10, "run 1 left files, somewhere on its way"
    assert iterations(backward_fails(), Settings()) == 4, "the backward check moved there"
    assert iterations(backward_fails(), Settings(steps=3)) == 3
    assert iterations(two_ranks(), Settings(fail_on="any-iteration")) == 6
    base = two_ranks()
    far = replace(
        base.verdict,
        first_divergence=Divergence(iteration=90_000, run=2, rank=0, reference=1.0, value=2.0),
    )
    assert (
        iterations(replace(base, verdict=far), Settings(fail_on="any-iteration", steps=None))
        == 1000
    )
    assert iterations(replace(base, verdict=far), Settings(fail_on="bitwise", steps=None)) == 6


def test_when_operators_say_more() -> None:
    base = two_ranks()
    torch, others = (
        replace(base, runs=tuple(replace(run, frameworks={name: "1"}) for run in base.runs))
        for name in ("torch", "jax")
    )
    inside = Rung(rung="forward", status="differs", place="Net", inside="block.0")
    drawn = CallDiffers(generators=Generators(drawn=(Generator(name="torch"),)))
    assert operators_say_more(torch, inside)
    assert not operators_say_more(torch, replace(inside, evidence=drawn)), "the draw explains it"
    assert not operators_say_more(torch, replace(inside, evidence=PathDiffers()))
    assert operators_say_more(torch, replace(inside, rung="loss"))
    for rung in ("batch", "initial weights", "hyper-parameters", "update"):
        assert not operators_say_more(torch, replace(inside, rung=rung))
    assert not operators_say_more(others, inside), "level `op` is `module` there"
