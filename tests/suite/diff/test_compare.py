"""Two revisions of real trainings, compared from worktrees."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from tempfile import gettempdir

import pytest

from reprocheck.errors import UsageError
from reprocheck.suite.diff.compare import Request, compare
from reprocheck.suite.diff.result import Compared, TargetDiff
from reprocheck.suite.execution.local_executor import LocalExecutor
from reprocheck.suite.pages.diff import render
from reprocheck.suite.targets import load
from tests.heads import NO_COMPILER
from tests.suite.bisect.places import ONE_MORE_BIT, Unheard, commit, git, repository
from tests.suite.here import checks_here

TOY = """\
import sys
import reprocheck
from model import SCALE, LATE

w = 1.0
for step in range(12):
    reprocheck.log_loss((w - 0.25) ** 2 * SCALE * (LATE if step > 7 else 1.0))
    w -= 0.2 * (w - 0.25) * (2 if "--fast" in sys.argv else 1)
"""
SETTINGS = """\
[[target]]
name = "toy"
run = "toy.py"
steps = 12
resume = true
[[target]]
name = "other"
run = "other.py"
"""
MODEL = "SCALE = {}\nLATE = {}\n"


class Project:
    """A repository with a commit that moves each loss, and one that moves the late ones."""

    def __init__(self, folder: Path) -> None:
        self.folder = repository(folder)
        (folder / "reprocheck.toml").write_text(SETTINGS)
        (folder / ".gitignore").write_text("nightly/\n__pycache__/\n")
        commit(folder, "Start", toy=TOY, model=MODEL.format("1.0", "1.0"))
        git(folder, "tag", "start")
        commit(folder, "Scale", model=MODEL.format(ONE_MORE_BIT, "1.0"), other=TOY)
        git(folder, "tag", "scale")
        commit(folder, "Late", model=MODEL.format("1.0", ONE_MORE_BIT))
        git(folder, "tag", "late")
        commit(folder, "Broken", model="SCALE =\n")
        git(folder, "tag", "broken")
        git(folder, "checkout", "--quiet", "late")

    def compared(self, first: str, second: str, *names: str, **options: object) -> Compared:
        suite = load(self.folder)
        suite.folder.mkdir(exist_ok=True)
        request = Request(revisions=(first, second), **options)  # type: ignore[arg-type]
        with checks_here(), LocalExecutor() as executor:
            chosen = suite.select(names or ("toy",))
            return compare(suite, chosen, request, executor, Unheard(), print)  # type: ignore[arg-type]

    def one(self, first: str, second: str, **options: object) -> TargetDiff:
        (found,) = self.compared(first, second, "toy", **options).targets
        return found

    @property
    def worktrees(self) -> int:
        left = list(Path(gettempdir()).glob("reprocheck-bisect-*/*"))
        return len(git(self.folder, "worktree", "list").splitlines()) - 1 + len(left)


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Project]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("tempfile.tempdir", str(tmp_path_factory.mktemp("tmp")))
        yield Project(tmp_path_factory.mktemp("project"))


def test_the_changed_line_and_each_series_are_named_in_every_format(project: Project) -> None:
    found = project.compared("start", "scale", "toy", "other")
    other, toy = found.targets
    assert (other.outcome, other.reason[:21]) == ("not at both", "It is not there at st")
    assert (toy.outcome, found.exit_code) == ("differs", 1)
    (loss,) = toy.drift
    assert (loss.series, loss.step, loss.ulp) == ("loss", 1.0, 1)
    assert toy.operation.startswith("First to differ from start (")
    assert toy.suspect.source == "model.py:1"
    assert toy.suspect.changed == ("-SCALE = 1.0", f"+SCALE = {ONE_MORE_BIT}")
    assert (project.folder / "nightly" / toy.suspect.report / "report.html").is_file()

    markdown = render(found, "md").decode()
    assert "**differs**" in markdown
    assert f"+SCALE = {ONE_MORE_BIT}" in markdown
    told = json.loads(render(found, "json"))
    assert told["targets"][1]["suspect"]["source"] == "model.py:1"
    (annotation,) = render(found, "github").decode().splitlines()
    assert annotation.startswith("::error file=model.py,line=1,title=toy%3A drift::")
    assert "differs from step 1 on" in annotation

    assert project.worktrees == 0
    assert git(project.folder, "status", "--porcelain") == ""


def test_a_difference_behind_what_is_recorded_deeply_is_recorded_once_more(
    project: Project,
) -> None:
    found = project.one("start", "late")
    assert found.drift[0].step == 9.0
    assert "in iteration 9" in found.operation
    assert found.suspect.source == "model.py:2"


def test_a_modified_working_tree_is_a_revision_and_stays_as_it_is(project: Project) -> None:
    model = project.folder / "model.py"
    before = model.read_text()
    assert project.one("late", ".").outcome == "equal"
    index = (project.folder / ".git" / "index").read_bytes()
    model.write_text(before.replace("1.0\n", "2.0\n", 1))
    try:
        found = project.compared(".", "late")
        assert found.first.shown == "the working tree"
        assert found.targets[0].outcome == "differs"
        assert model.read_text() != before
        assert (project.folder / ".git" / "index").read_bytes() == index
    finally:
        model.write_text(before)


def test_two_sets_of_options_are_compared_at_one_revision(project: Project) -> None:
    found = project.compared("late", "late", options=("", "--fast"))
    assert found.second.shown.endswith("with `--fast`")
    assert (found.targets[0].outcome, found.targets[0].drift[0].step) == ("differs", 2.0)


def test_a_difference_that_the_target_allows_is_none(project: Project) -> None:
    settings = project.folder / "reprocheck.toml"
    settings.write_text(SETTINGS.replace("steps = 12", 'steps = 12\nallow = "tolerance"'))
    try:
        found = project.compared("start", "scale", runs=2)
    finally:
        settings.write_text(SETTINGS)
    assert (found.targets[0].outcome, found.exit_code) == ("within the tolerance", 0)
    assert "noise" not in found.targets[0].reason


def test_a_side_that_fails_is_named_and_what_cannot_be_compared_is_refused(
    project: Project,
) -> None:
    found = project.compared("late", "broken")
    assert (found.targets[0].outcome, found.exit_code) == ("failed", 4)
    assert found.targets[0].reason.startswith("At broken (")
    assert "SyntaxError" in found.targets[0].reason
    with pytest.raises(UsageError, match="has no commit nowhere"):
        project.compared("late", "nowhere")
    with pytest.raises(UsageError, match="has no curves"):
        project.compared("late", "late", "toy[resume]")


def test_an_interrupt_removes_both_worktrees(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(*_: object) -> None:
        assert project.worktrees
        raise KeyboardInterrupt

    monkeypatch.setattr("reprocheck.suite.diff.recording.perform_all", interrupted)
    with pytest.raises(KeyboardInterrupt):
        project.one("start", "late")
    assert project.worktrees == 0


TORCH = """
import torch

torch.manual_seed(0)
torch.set_num_threads(1)


class Scaled(torch.nn.Module):
    def forward(self, x):
        return {}


model = torch.nn.Sequential(torch.nn.Linear(8, 16), Scaled(), torch.nn.Linear(16, 1))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for step in range(3):
    x = torch.randn(32, 8)
    loss = (model(x) - x.sum(1, keepdim=True)).square().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
"""


def test_the_operator_inside_a_module_is_named(tmp_path: Path) -> None:
    pytest.importorskip("torch")
    folder = repository(tmp_path / "project")
    (folder / ".gitignore").write_text("nightly/\n")
    (folder / "reprocheck.toml").write_text('[[target]]\nname = "small"\nrun = "train.py"\n')
    commit(folder, "Start", train=NO_COMPILER + TORCH.format("torch.relu(x) * 3.0"))
    commit(folder, "Gentler", train=NO_COMPILER + TORCH.format("torch.relu(x) * 3.0000005"))
    suite = load(folder)
    suite.folder.mkdir()
    request = Request(revisions=("HEAD~1", "HEAD"))
    with checks_here(), LocalExecutor() as executor:
        found = compare(suite, suite.targets, request, executor, Unheard(), print)  # type: ignore[arg-type]
    (small,) = found.targets
    assert "`aten.mul.Tensor` in the forward of `1` (Scaled)" in small.operation
    assert "in iteration 1, on the rung forward" in small.operation
    assert small.suspect.source.startswith("train.py:")
    assert "+        return torch.relu(x) * 3.0000005" in small.suspect.changed
    assert replace(found, targets=()).counts == {}
