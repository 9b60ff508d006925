"""What a user gets of a run that ends badly after the checks, and of one that diverges after them:
exit code, terminal, every format.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

from reprocheck.api import check as check_in_python
from reprocheck.cli import main
from reprocheck.pytest_plugin import failure
from reprocheck.report import FORMATS
from reprocheck.workflow import replay
from tests.clock import TIMEOUT, living, watch_by
from tests.conftest import Outcome, check, reprocheck

ENDS = """
import os, sys, time
import reprocheck

second = os.path.exists("first")
open("first", "w").close()
for iteration in range(1, 9):
    if iteration == 5:
        {fault}
    reprocheck.log_loss(1 / iteration)
"""
RAISES = "raise RuntimeError('planted')"
HANGS = "print(os.getpid(), file=open(f'{os.environ[\"MARKERS\"]}/{os.getpid()}', 'w'), flush=True); time.sleep(600)"
DIVERGES = """
import random
import reprocheck

for iteration in range(1, 9):
    reprocheck.log_loss(1 / iteration + (1000 * random.random() if iteration > 5 else 0.0))
"""


def formats(outcome: Outcome) -> dict[str, str]:
    """The text of each format of a report, drawn again."""
    assert outcome.folder is not None
    made = replay.load(outcome.folder)
    return {name: FORMATS[name].render(made).decode() for name in ("json", "md", "junit", "html")}


def junit(text: str) -> Any:
    return ElementTree.fromstring(text).find("testsuite")


@pytest.mark.parametrize(
    ("fault", "ending"),
    [
        (RAISES, "Both runs ended after iteration 4 with RuntimeError: planted"),
        ("sys.exit(3)", "Both runs ended after iteration 4 with exit status 3"),
        (f"if second: {RAISES}", "Run 2 ended after iteration 4 with RuntimeError: planted"),
    ],
)
@pytest.mark.parametrize("fail_on", ["checks", "bitwise"])
def test_a_run_that_ends_badly_after_the_checks_is_no_pass(
    fault: str, ending: str, fail_on: str, workdir: Path
) -> None:
    (workdir / "train.py").write_text(ENDS.format(fault=fault))
    outcome = check("--steps", "all", "--fail-on", fail_on, "train.py", cwd=workdir, explain=True)
    assert (outcome.exit_code, outcome.report["verdict"]) == (4, "script_failed"), outcome.stdout
    assert_no_pass(outcome, ending)


@pytest.mark.parametrize("fail_on", ["checks", "bitwise"])
def test_a_run_that_hangs_after_the_checks_is_no_pass(
    fail_on: str, workdir: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    markers = workdir.with_name("markers")
    markers.mkdir()
    watch_by(monkeypatch, lambda: any(living(markers)))
    monkeypatch.chdir(workdir)
    monkeypatch.setenv("MARKERS", str(markers))
    (workdir / "train.py").write_text(ENDS.format(fault=HANGS))
    options = [
        "--quiet",
        "--no-draw",
        "--steps",
        "all",
        "--timeout",
        str(TIMEOUT),
        "--fail-on",
        fail_on,
    ]
    exit_code = main(["run", *options, "train.py"])
    folder = (workdir / "reports" / "latest").resolve()
    report = json.loads((folder / "report.json").read_text())
    assert (exit_code, report["verdict"]) == (5, "timed_out")
    outcome = Outcome(exit_code=exit_code, stdout="", stderr="", folder=folder, report=report)
    assert_no_pass(
        outcome,
        f"Both runs were stopped after iteration 4 by --timeout after {report['runs'][0]['seconds']:.0f} s",
    )


def assert_no_pass(outcome: Outcome, ending: str) -> None:
    """Every format says how the runs ended after checks that pass."""
    assert outcome.report["reason"] == f"{ending}; until then both checks pass, bit for bit."
    assert [row["passed"] for row in outcome.report["checks"]] == [True, True]
    assert outcome.report["causes"] == [] and outcome.report["ladder"] is None
    assert outcome.report["bitwise"]["equal"] is True and outcome.report["first_divergence"] is None
    drawn = formats(outcome)
    assert all(ending.replace("'", "&#39;") in text or ending in text for text in drawn.values())
    suite = junit(drawn["junit"])
    assert (suite.get("errors"), suite.get("failures")) == ("1", "0")
    assert suite.find("testcase[@name='script']/error") is not None


def test_it_is_no_pass_in_python_either(workdir: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(workdir)
    (workdir / "train.py").write_text(ENDS.format(fault=RAISES))
    found = check_in_python("train.py", steps="all", explain=False, draw=False)
    assert not found.passed and found.verdict.exit_code == 4
    said = failure(found)
    assert "until then both checks pass, bit for bit" in said and "RuntimeError: planted" in said


def test_a_pass_that_diverges_later_says_so_everywhere_and_is_explained(workdir: Path) -> None:
    (workdir / "train.py").write_text(DIVERGES)
    outcome = check("train.py", cwd=workdir, explain=True)
    assert outcome.exit_code == 0 and outcome.report["verdict"] == "reproducible"
    losses = [outcome.losses(run)[5][0] for run in (1, 2)]
    headline = outcome.report["headline"]
    assert headline.startswith("PASSES THE CHECKS, DIVERGES from iteration 6 (")
    first, second = headline.removesuffix(")").partition("(")[2].split(" against ")
    assert [float(first), float(second)] == pytest.approx(losses, rel=5e-3), "run 1 first"
    assert all(headline in text for text in formats(outcome).values())
    assert " ".join(outcome.stdout.split()).startswith(headline)
    assert outcome.stdout.rstrip().endswith("reprocheck run --fail-on any-iteration train.py")
    assert outcome.report["ladder"]["rungs"] and outcome.report["ladder"]["first"] is not None
    differs = next(
        rung
        for rung in outcome.report["ladder"]["rungs"]
        if rung["rung"] == outcome.report["ladder"]["first"]
    )
    assert differs["iteration"] == 6

    stricter = reprocheck(
        "run", "-q", "--no-explain", "--fail-on", "any-iteration", "train.py", cwd=workdir
    )
    assert stricter.returncode == 1 and "exit code 1 by --fail-on any-iteration" in stricter.stdout


def test_equal_losses_of_two_lengths_are_a_divergence(workdir: Path) -> None:
    (workdir / "train.py").write_text(ENDS.format(fault="if second: break"))
    outcome = check("--steps", "all", "train.py", cwd=workdir)
    longer = "one run is longer: 8 against 4 iterations"
    assert outcome.exit_code == 0
    assert outcome.report["headline"] == f"PASSES THE CHECKS, DIVERGES from iteration 5 ({longer})"
    assert "gave different losses" not in outcome.stdout


def test_runs_that_end_by_themselves_are_not_sent_to_record_more(workdir: Path) -> None:
    (workdir / "train.py").write_text("import reprocheck\nreprocheck.log_loss(1.0)\n")
    outcome = check("train.py", cwd=workdir)
    assert outcome.exit_code == 3 and "recorded 1 iteration," in outcome.report["reason"]
    assert "--steps" not in outcome.stdout
    assert outcome.stdout.rstrip().endswith("reprocheck run --no-explain train.py")
