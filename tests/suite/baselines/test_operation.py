"""The first operation that differs from the last green night."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from reprocheck.errors import ReportError
from reprocheck.suite.baselines.operation import Operation, between
from reprocheck.suite.execution import Job, perform
from reprocheck.suite.target import Target
from tests.heads import NO_COMPILER
from tests.suite.here import checks_here

SCRIPT = """
import torch

torch.manual_seed(0)
torch.set_num_threads(1)


class Scaled(torch.nn.Module):
    def forward(self, x):
        return {scaled}


model = torch.nn.Sequential(torch.nn.Linear(8, 16), Scaled(), torch.nn.Linear(16, 1))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for step in range(3):
    x = torch.randn(32, 8)
    loss = (model(x) - x.sum(1, keepdim=True)).square().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
"""


def _job(workdir: Path, night: str, root: Path) -> Job:
    target = Target(name="small", words=("train.py",), workdir=workdir, options={"steps": "3"})
    return Job(target=target, night=night, root=root, place=f"{night}/recording", kind="recording")


@pytest.fixture(scope="module")
def kept(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The deeper recording of a green night."""
    pytest.importorskip("torch")
    place = tmp_path_factory.mktemp("green")
    (place / "train.py").write_text(NO_COMPILER + SCRIPT.format(scaled="x"))
    job = _job(place, "night-1", place / "nightly")
    with checks_here():
        performed = perform(job)
    assert job.recording.is_file(), performed
    return job.recording


@pytest.fixture(scope="module")
def moved(kept: Path) -> Operation:
    """Of a night in which one layer multiplies and divides by 3, which is one unit in the last
    place.
    """
    place = kept.parents[3]
    (place / "train.py").write_text(NO_COMPILER + SCRIPT.format(scaled="x * 3.0 / 3.0"))
    job = _job(place, "night-2", place / "nightly")
    with checks_here():
        performed = perform(job)
    assert job.recording.is_file(), performed
    names = ("the last green night", "night 2")
    return between(kept, job.recording, job.folder.parent, names=names)


def test_the_layer_whose_arithmetic_changed_is_named(moved: Operation) -> None:
    first = moved.first
    assert first is not None
    assert (first.rung, first.place, first.iteration) == ("forward", "1", 1)
    assert "`1` (Scaled)" in (first.culprit or "")
    assert first.size == "rounding"
    assert first.relative_difference is not None
    assert first.relative_difference < 1e-6


def test_the_earliest_difference_comes_before_one_higher_on_the_ladder(kept: Path) -> None:
    place = kept.parents[3]
    script = NO_COMPILER + SCRIPT.format(scaled="x").replace(".mean()", ".mean() * 1.01")
    (place / "train.py").write_text(f"# a line more\n{script}")
    job = _job(place, "night-4", place / "nightly")
    with checks_here():
        perform(job)
    found = between(kept, job.recording, job.folder.parent, names=("night 1", "night 4"))
    assert found.first is not None
    assert (found.first.rung, found.first.iteration) == ("loss", 1)
    line = next(n for n, text in enumerate(script.splitlines(), 2) if "* 1.01" in text)
    assert found.source == f"train.py:{line}"
    assert "\n-    loss = (model(x) - x.sum(1, keepdim=True)).square().mean()\n" in found.diff
    assert (
        "\n+    loss = (model(x) - x.sum(1, keepdim=True)).square().mean() * 1.01\n" in found.diff
    )


def test_the_sentence_has_operation_size_and_what_changed_around_it(moved: Operation) -> None:
    assert moved.sentence.startswith("First to differ from the last green night: ")
    assert "(Scaled), in iteration 1, on the rung forward, rounding-level" in moved.sentence
    assert any("train.py" in place for place in moved.around)


def test_the_changed_line_is_known_also_where_no_cause_names_it(tmp_path: Path) -> None:
    script = "import reprocheck\nvalue = 1.0\nfor step in range(3):\n"
    script += "    reprocheck.log_loss(value)\n    value *= {rate}\n"
    jobs = [_job(tmp_path, night, tmp_path / "nightly") for night in ("night-1", "night-2")]
    for job, rate in zip(jobs, (0.5, 0.50000001), strict=True):
        (tmp_path / "train.py").write_text(script.format(rate=rate))
        with checks_here():
            perform(job)
    first, second = jobs
    found = between(first.recording, second.recording, tmp_path / "out", names=("a", "b"))
    assert found.source == "train.py:5"
    assert found.diff.endswith("-    value *= 0.5\n+    value *= 0.50000001")


def test_all_that_changed_around_it_is_named_and_much_of_it_counted(
    tmp_path: Path,
) -> None:
    script = "import os, reprocheck\nfor step in range(3):\n    reprocheck.log_loss({value})\n"
    jobs = []
    for night, value, number in (("night-1", 1.0, 1), ("night-2", 1.5, 2)):
        (tmp_path / "train.py").write_text(script.format(value=value))
        job = _job(tmp_path, night, tmp_path / "nightly")
        named = {name: str(number) for name in ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "NCCL_ALGO")}
        jobs.append(replace(job, target=replace(job.target, environment=named)))
        with checks_here():
            perform(jobs[-1])
    first, second = jobs
    found = between(
        first.recording, second.recording, tmp_path / "compared", names=("night 1", "night 2")
    )
    changed = {"train.py", *(f"variable.{name}" for name in named)}
    assert changed <= set(found.around)
    assert found.around[0] in found.sentence
    assert f"and {len(found.around) - 3} more changed." in found.sentence


def test_the_comparison_has_a_report(moved: Operation) -> None:
    assert moved.report is not None
    assert (moved.report / "report.html").is_file()


def test_two_recordings_that_agree_are_said_to_agree(kept: Path, tmp_path: Path) -> None:
    found = between(kept, kept, tmp_path, names=("the last green night", "night 3"))
    assert (found.first, found.around, found.source) == (None, (), "")
    assert "agrees with that of the last green night in everything that both hold" in found.sentence


def test_without_the_kept_recording_the_error_names_it(kept: Path, tmp_path: Path) -> None:
    gone = tmp_path / "gone.zip"
    with pytest.raises(ReportError, match=r"no recording .*gone\.zip"):
        between(gone, kept, tmp_path, names=("a", "b"))
