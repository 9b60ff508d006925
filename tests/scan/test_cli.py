"""`reprocheck scan` as a user types it."""

from __future__ import annotations

import contextlib
import io
import json
import os
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest
from typer.testing import CliRunner

from reprocheck.cli import main
from reprocheck.cli.application import app
from reprocheck.scan.files import shown
from tests.cli.test_overview import HEAVY, modules_after
from tests.conftest import ROOT, clean_environment, reprocheck

CLOCK = (
    "import time\nimport torch\n\ntorch.manual_seed(int(time.time()))\n"
    "for loss in losses: loss.backward(), adam.step()\n"
)
CLEAN = "import torch\n\ntorch.manual_seed(0)\ntorch.nn.Linear(1, 1)(x).backward()\n"


@pytest.fixture(autouse=True)
def cached_here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    (tmp_path / "work").mkdir()
    monkeypatch.chdir(tmp_path / "work")


class Done:
    """Exit code and streams of a command that ran in this process."""

    def __init__(self, *words: str) -> None:
        out, err = io.StringIO(), io.StringIO()
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            self.code = main(["scan", *words])
        self.out, self.err = out.getvalue(), err.getvalue()


def write(**files: str) -> None:
    for name, text in files.items():
        Path(f"{name}.py").write_text(text)


def test_findings_make_the_exit_code(tmp_path: Path) -> None:
    write(clock=CLOCK, clean=CLEAN)
    found = reprocheck("scan", cwd=Path.cwd(), XDG_CACHE_HOME=str(tmp_path / "cache"))
    assert found.returncode == 1 and "clock.py:4:1: error RC402 clock-seed" in found.stdout.replace(
        "4:19", "4:1"
    )
    assert "Traceback" not in found.stderr and found.stderr == ""
    assert Done("clean.py").code == 0 and Done("--exit-zero").code == 0
    assert all(len(row) <= 80 for row in found.stdout.splitlines())


def test_notes_alone_are_no_failure() -> None:
    write(clean=CLEAN.replace("seed(0)", "seed(0)  # reprocheck: ignore[RC402]"))
    done = Done()
    assert done.code == 0 and "note unused-ignore" in done.out
    assert "unused-ignore" not in Done("--ignore", "unused-ignore").out


def test_rules_are_chosen_by_code_beginning_and_name() -> None:
    write(clock=CLOCK)
    assert (
        Done("--select", "RC3").code == 0
        and Done("--select", "rc402").code == 1
        and Done("--select", "RC3,RC4").code == 1
    )
    assert Done("--select", "clock-seed").code == 1 and Done("--ignore", "clock-seed").code == 0
    wrong = Done("--select", "clock-sed")
    assert wrong.code == 2 and "Did you mean clock-seed" in wrong.err
    assert Done("--select", "RC9999").code == 2


def test_comments_answer_findings() -> None:
    for comment in (
        "# reprocheck: ignore[RC402] meant so",
        "# Reprocheck: ignore [because]",
        "# reprocheck: ignore",
        "# reprocheck:ignore[clock-seed, RC1]",
    ):
        write(clock=CLOCK.replace("time()))", f"time()))  {comment}"))
        answered = Done("--format", "json")
        known = "RC1]" not in comment
        assert answered.code == 0, comment
        table = json.loads(answered.out)
        assert [row["code"] for row in table["suppressed"]] == ["RC402"]
        assert [row["message"] for row in table["findings"]] == (
            [] if known else ["there is no rule RC1; RC901 is nearest"]
        )
    several = (
        "torch.manual_seed(  # reprocheck: ignore[RC402]\n    int(\n        time.time()\n    )\n)"
    )
    write(clock=CLOCK.replace("torch.manual_seed(int(time.time()))", several))
    assert Done().code == 0
    write(clock=CLOCK.replace("time()))", 'time()), "# reprocheck: ignore")'))
    assert Done().code == 1


def test_formats_and_files() -> None:
    write(clock=CLOCK)
    assert json.loads(Done("--format", "json").out)["findings"][0]["path"] == "clock.py"
    done = Done("-o", "out.sarif")
    assert done.code == 1 and done.out == "" and "1 finding (1 error)" in done.err
    assert json.loads(Path("out.sarif").read_text())["version"] == "2.1.0"
    assert Done("--format", "github").out.startswith("::error file=clock.py,line=4,")
    wrong = Done("--format", "jsn")
    assert wrong.code == 2 and "Did you mean json" in wrong.err
    assert Done("-o", "no/such/folder.json").code == 2


def test_bad_paths_and_files() -> None:
    missing = Done("nowhere.py")
    assert missing.code == 2 and "nowhere.py: No such file or directory" in missing.err
    write(broken="def f(\n", clean=CLEAN)
    done = Done()
    assert done.code == 0 and "broken.py:1: left out: does not parse" in done.out
    assert Done("broken.py").code == 2
    Path("empty").mkdir()
    nothing = Done("empty")
    assert nothing.code == 0 and "No Python files" in nothing.err


def test_a_project_chooses_for_itself() -> None:
    write(clock=CLOCK, other=CLOCK)
    Path("pyproject.toml").write_text('[tool.reprocheck.scan]\nignore = ["clock-seed"]\n')
    assert Done().code == 0
    Path("pyproject.toml").write_text('[tool.reprocheck.scan]\nexclude = ["other.py"]\n')
    assert "1 finding" in Done().out
    Path("pyproject.toml").write_text("[tool.reprocheck.scan]\nchoose = 3\n")
    assert Done().code == 2
    Path("pyproject.toml").write_text("[tool.reprocheck.scan]\nselect = 3\n")
    assert "not a list of strings" in Done().err


def test_options_that_exclude_each_other() -> None:
    assert Done("--diff", "--fix").code == 2


def test_parsing_imports_nothing_heavy() -> None:
    wanted = {*HEAVY, "libcst", "reprocheck.scan.engine", "reprocheck.rules", "reprocheck.launch"}
    wanted -= {"rich"}  # it draws the message
    assert not wanted & set(modules_after(["scan", "--jobs", "0"], *wanted))
    assert "--select" in CliRunner().invoke(app, ["scan", "--help"]).stdout


def test_a_scan_imports_no_framework_and_no_charts(tmp_path: Path) -> None:
    write(clock=CLOCK)
    assert (
        modules_after(
            ["scan", "--no-cache", str(Path.cwd())],
            "torch",
            "numpy",
            "pandas",
            "matplotlib",
            "jinja2",
        )
        == []
    )


def test_a_scan_without_a_finding_that_can_be_fixed_imports_nothing_that_fixes() -> None:
    write(clean=CLEAN)
    assert modules_after(["scan", "--no-cache", str(Path.cwd())], "libcst") == []


@pytest.fixture
def fixable(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every finding can be fixed, by a number in place of the clock."""
    from reprocheck.fixes import patches
    from reprocheck.scan import judge

    plain = judge._finding

    def patch(text: str, findings: object) -> str:
        return text.replace("int(time.time())", "0")

    monkeypatch.setattr(patches, "patch", patch, raising=False)
    monkeypatch.setattr(judge, "_finding", lambda hit: replace(plain(hit), patchable=True))


def test_a_difference_is_printed_and_nothing_changed(fixable: None) -> None:
    write(clock=CLOCK, clean=CLEAN)
    done = Done("--diff", "--no-cache")
    assert done.code == 1 and Path("clock.py").read_text() == CLOCK
    assert done.out.splitlines()[:2] == ["--- a/clock.py", "+++ b/clock.py"]
    assert (
        "-torch.manual_seed(int(time.time()))" in done.out
        and "+torch.manual_seed(0)" in done.out
        and "clean" not in done.out
    )


def test_files_are_fixed_in_their_encoding(fixable: None) -> None:
    old = CLOCK.replace("import time", "# coding: latin-1\r\n# é\r\nimport time").encode("latin-1")
    Path("clock.py").write_bytes(old)
    Path("clock.py").chmod(0o750)
    done = Done("--fix", "--no-cache")
    assert done.code == 0 and "fixed clock.py" in done.err and "No findings" in done.out
    assert Path("clock.py").read_bytes() == old.replace(b"int(time.time())", b"0")
    assert Path("clock.py").stat().st_mode & 0o777 == 0o750 and [
        path.name for path in Path().iterdir()
    ] == ["clock.py"]
    assert "Nothing here can be fixed automatically" in Done("--fix", "--no-cache").err


def test_changes_that_are_not_committed_are_not_written_over(fixable: None) -> None:
    write(clock=CLOCK, other=CLEAN)
    git("init", "-q")
    git("add", ".")
    git("commit", "-q", "-m", "x")
    write(other=CLEAN + "\n")
    refused = Done("--fix", "--no-cache")
    assert (
        refused.code == 2
        and "other.py" in refused.err
        and "--force" in refused.err
        and Path("clock.py").read_text() == CLOCK
    )
    assert Done("--fix", "--force", "--no-cache").code == 0
    write(clock=CLOCK, other=CLEAN)
    assert Done("--fix", "--no-cache").code == 0 and Path("clock.py").read_text() != CLOCK


def git(*words: str) -> None:
    identity = {
        "GIT_AUTHOR_NAME": "a",
        "GIT_AUTHOR_EMAIL": "a@b",
        "GIT_COMMITTER_NAME": "a",
        "GIT_COMMITTER_EMAIL": "a@b",
    }
    subprocess.run(
        ["git", *words],
        check=True,
        capture_output=True,
        env=clean_environment(HOME=os.getcwd(), **identity),
    )


def test_paths_are_shown_from_the_working_directory() -> None:
    assert shown(Path.cwd() / "a" / "b.py") == "a/b.py" and shown(Path("/x/y.py")) == "/x/y.py"


def test_the_hook_of_pre_commit_is_the_command() -> None:
    yaml = pytest.importorskip("yaml")
    (hook,) = yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text())
    assert (
        hook["entry"] == "reprocheck scan"
        and hook["require_serial"]
        and {"id", "name", "language"} <= set(hook)
    )
