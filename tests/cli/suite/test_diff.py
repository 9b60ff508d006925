"""`reprocheck suite diff`: what is printed, exit codes, files."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from reprocheck.cli import main
from tests.suite.bisect.places import ONE_MORE_BIT, commit, git, repository, suite_of
from tests.suite.here import checks_here


def test_a_modified_training_is_told_on_80_columns_and_in_a_comment(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    project = repository(tmp_path / "project")
    suite_of(project, "model")
    (project / ".gitignore").write_text("nightly/\n__pycache__/\ncomment.md\n")
    commit(project, "Start", model="SCALE = 1.0\n")
    (project / "model.py").write_text(f"SCALE = {ONE_MORE_BIT}\n")
    monkeypatch.chdir(project)
    monkeypatch.setenv("COLUMNS", "80")

    with checks_here():
        assert main(["suite", "diff", "main", ".", "-o", "comment.md"]) == 1
    shown = capsys.readouterr()
    assert shown.out.startswith("DIFFERS main (")
    assert "1 target: 1 differs" in shown.out
    assert "    model.py:1\n      -SCALE = 1.0\n" in shown.out
    assert all(len(row) <= 80 for row in shown.out.splitlines() if "compared-" not in row)
    assert "| toy | **differs** |" in (project / "comment.md").read_text()
    assert git(project, "worktree", "list").count("\n") == 0

    with checks_here():
        assert main(["suite", "diff", "main", "main", "toy", "--format", "json", "-q"]) == 0
    shown = capsys.readouterr()
    assert json.loads(shown.out)["targets"][0]["outcome"] == "equal"
    assert shown.err.startswith("EQUAL main (")

    assert main(["suite", "diff", "main", "nowhere"]) == 2
    assert "a branch or a tag" in " ".join(capsys.readouterr().err.split())
