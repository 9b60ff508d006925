"""Series from a script to its report: recorded, compared, drawn, and a rule that counts them."""

from __future__ import annotations

import csv
import json
from pathlib import Path

from reprocheck import report
from reprocheck.workflow import replay
from tests.conftest import assert_same_elsewhere, check, reprocheck_here

SCRIPT = """
import random, time
import reprocheck

for step in range(6):
    reprocheck.log_loss(1 / (step + 1))
    reprocheck.log(step_time=1000 * random.random(), accuracy=step / 6, text="none", many=[1, 2])
    if step % 2:
        reprocheck.log(**{"val, loss": 1000 * random.random()})
"""
ONE_DRAW = "import numpy\n" + SCRIPT.replace("step_time=1000 * random.random(), ", "")
"""The scan looks into programs that use one of the libraries that it knows."""


def test_a_series_that_differs_is_told_everywhere_and_fails_where_it_is_asked_for(
    workdir: Path,
) -> None:
    (workdir / "train.py").write_text(SCRIPT)
    outcome = check("train.py", cwd=workdir)
    assert outcome.exit_code == 0, outcome.stderr
    assert outcome.report["headline"].startswith(
        "PASSES THE CHECKS, val, loss DIFFERS from iteration 2"
    )
    assert "1 of 2 differ: val, loss from iteration 2" in outcome.stdout
    assert "reprocheck run --fail-on 'series:val, loss'" in outcome.stdout
    states = {row["name"]: row["state"] for row in outcome.report["series"]}
    assert states == {"step_time": "clock", "accuracy": "equal", "val, loss": "differs"}
    assert outcome.folder is not None
    made = replay.load(outcome.folder)
    report.write(made, outcome.folder)
    page = (outcome.folder / "report.html").read_text()
    assert 'id="series"' in page and "Not compared: step_time." in page
    assert page.count('class="chart"') == 5, "the losses, their difference, and three series"
    assert "### Series" in (outcome.folder / "report.md").read_text()
    with (outcome.folder / "losses.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert {row["series"] for row in rows} == {"loss", "step_time", "accuracy", "val, loss"}
    [first] = made.runs[0].traces
    values = [float(row["value"]) for row in rows if row["series"] == "val, loss"]
    series = first.reported("val, loss", "")
    assert values[:3] == series.numbers.values.tolist()
    assert [row["step"] for row in rows if row["series"] == "val, loss"][:3] == ["2", "4", "6"]

    advised = check("--fail-on", "series:val, loss", "train.py", cwd=workdir)
    assert advised.exit_code == 1
    assert "reprocheck explain --fail-on 'series:val, loss' train.py" in advised.stdout
    stricter = check("--fail-on", "series:accuracy,bitwise", "train.py", cwd=workdir)
    assert stricter.exit_code == 0
    failed = check("--fail-on", "series:val_loss", "train.py", cwd=workdir, explain=True)
    assert failed.exit_code == 1 and failed.report["ladder"] is None
    assert (
        "no run reported val_loss (reported: step_time, accuracy, val, loss)"
        in failed.report["reason"]
    )


def test_the_search_finds_what_makes_a_series_differ(workdir: Path) -> None:
    (workdir / "train.py").write_text(ONE_DRAW)
    advised = reprocheck_here("explain", "train.py", cwd=workdir)
    command = "reprocheck explain --fail-on 'series:val, loss' train.py"
    assert command in " ".join(advised.stderr.split() + advised.stdout.split())
    options = ("--fail-on", "series:val, loss", "train.py")
    done = reprocheck_here("explain", *options, cwd=workdir)
    assert done.returncode == 1, done.stderr
    folder = (workdir / "reports" / "latest").resolve()
    made = json.loads((folder / "report.json").read_text())
    assert made["controls"]["smallest"] == ["seed"]
    [cause] = made["causes"]
    assert (cause["code"], cause["confidence"]) == ("RC406", "confirmed")
    line = ONE_DRAW.splitlines()[cause["source"]["line"] - 1]
    assert line.strip() == 'reprocheck.log(**{"val, loss": 1000 * random.random()})'
    assert "layer" not in cause["title"]
    assert_same_elsewhere(folder, made)
