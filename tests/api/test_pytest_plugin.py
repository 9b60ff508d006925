"""The pytest plugin in a pytest of its own: what passes, what fails and in which words."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.conftest import clean_environment

TESTS = """
import jobs

def test_passes(reprocheck):
    check = reprocheck.assert_reproducible(jobs.train, 5, kwargs={"seed": 1})
    assert check.passed and (check.folder / "report.html").exists()
    assert not (check.folder / "loss.png").exists()

def test_differs(reprocheck):
    reprocheck.assert_reproducible("unseeded.py", "word", explain=True)

def test_differs_in_a_bit(reprocheck):
    reprocheck.assert_reproducible("close.py", fail_on="bitwise", draw=False)

def test_fails(reprocheck):
    reprocheck.assert_reproducible(jobs.breaks, draw=False)

def test_trains_nothing(reprocheck):
    reprocheck.assert_reproducible("../empty.py", draw=False)

def test_is_not_there(reprocheck):
    reprocheck.assert_reproducible("missing.py")

def of_this_file():
    jobs.train(seed=0)

def test_function_of_this_file(reprocheck):
    reprocheck.assert_reproducible(of_this_file, runs=3)
"""


@pytest.fixture(scope="module")
def said(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """What pytest printed of each test that failed, and all of it under "all"."""
    from tests.api.conftest import JOBS

    folder = tmp_path_factory.mktemp("project")
    (folder / "jobs.py").write_text(JOBS)
    (folder / "reprocheck.toml").write_text("explain = false\n")
    (folder / "pytest.ini").write_text("[pytest]\n")
    (folder / "empty.py").touch()
    (folder / "checks").mkdir()
    (folder / "checks" / "test_them.py").write_text(TESTS)
    (folder / "checks" / "unseeded.py").write_text(
        "import jobs, sys\nassert sys.argv[1:] == ['word']\njobs.unseeded()\n"
    )
    (folder / "close.py").write_text(
        "import jobs, os\njobs.train(seed=1, scale=1 + 1e-9 * (os.getpid() % 100_000))\n"
    )
    command = [
        sys.executable,
        "-m",
        "pytest",
        "-p",
        "no:cacheprovider",
        "checks",
        "--reprocheck-output",
        "kept",
    ]
    done = subprocess.run(
        command,
        cwd=folder,
        env=clean_environment(PYTHONPATH=str(folder)),
        capture_output=True,
        text=True,
        timeout=300,
    )
    parts = re.split(r"^_+ (test_\w+) _+$", done.stdout, flags=re.MULTILINE)
    return {
        "all": done.stdout + done.stderr,
        "folder": str(folder),
        **dict(zip(parts[1::2], parts[2::2], strict=True)),
    }


def test_two_pass_and_five_fail(said: dict[str, str]) -> None:
    assert "5 failed, 2 passed" in said["all"], said["all"]
    assert len(list(Path(said["folder"]).glob("kept/*-*/report.json"))) == 6


def test_a_difference_names_place_cause_fix_and_report(said: dict[str, str]) -> None:
    text = said["test_differs"]
    assert (
        "AssertionError: NOT REPRODUCIBLE (forward): Before the first update of the weights the losses differ"
        in text
    )
    assert re.search(r"first difference: loss: loss, iteration 1, gross", text)
    assert re.search(r"cause: RC\d+ .* \(confirmed\)", text) and "fix:" in text, (
        "explain=True searches"
    )
    page = re.search(r"report: (\S+report\.html)", text)
    assert page is not None and Path(page[1]).is_file() and "/kept/unseeded-" in page[1]
    assert "pytest_plugin.py" not in text


def test_other_outcomes_have_words_of_their_own(said: dict[str, str]) -> None:
    assert "FAILED BY --fail-on bitwise: REPRODUCIBLE" in said["test_differs_in_a_bit"]
    assert (
        "SCRIPT FAILED: " in said["test_fails"]
        and "RuntimeError: no data here" in said["test_fails"]
    )
    assert (
        "INCONCLUSIVE: " in said["test_trains_nothing"]
        and "neither a pass nor a failure" in said["test_trains_nothing"]
    )
    assert (
        "EntryPointError: There is no script" in said["test_is_not_there"]
        and "fix: Check the path." in said["test_is_not_there"]
    )


def test_the_plugin_costs_nothing_where_it_is_not_used() -> None:
    heavy = [
        "numpy",
        "pandas",
        "typer",
        "rich",
        "msgspec",
        "jinja2",
        "reprocheck.api",
        "reprocheck.launch",
        "reprocheck.report",
    ]
    code = f"import sys, reprocheck.pytest_plugin; print(*[name for name in {heavy!r} if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stdout) == (0, "\n"), done
