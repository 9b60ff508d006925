"""One program under plain Python and under reprocheck: whatever it can see is the same, but for a
closed list.
"""

from __future__ import annotations

import ast
import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.conftest import CHILD, Outcome, check, clean_environment

PROBE = Path(__file__).parent / "scripts" / "probe.py"
OURS = {"REPROCHECK_CHILD", "PYTHONPATH", "TMPDIR"}
pytestmark = pytest.mark.torch


@pytest.fixture(scope="module")
def plain(
    tmp_path_factory: pytest.TempPathFactory,
) -> tuple[subprocess.CompletedProcess[bytes], dict[str, str]]:
    folder = tmp_path_factory.mktemp("plain")
    done = subprocess.run(
        [sys.executable, PROBE, "seen.json", "--steps", "--", "-m"],
        cwd=folder,
        env=clean_environment(PYTHONHASHSEED="7", REPROCHECK_DRAW="false"),  # as `check` sets it
        stdin=subprocess.DEVNULL,
        capture_output=True,
        timeout=120,
    )
    return done, json.loads((folder / "seen.json").read_text().replace(str(folder), "FOLDER"))


@pytest.fixture(scope="module")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> tuple[Outcome, dict[str, str]]:
    folder = tmp_path_factory.mktemp("recorded")
    arguments = ("--steps", "all", PROBE, "seen.json", "--steps", "--", "-m")
    outcome = check(*arguments, cwd=folder, PYTHONHASHSEED="7")
    return outcome, json.loads((folder / "seen.json").read_text().replace(str(folder), "FOLDER"))


def test_everything_that_a_program_sees_is_the_same(plain, recorded) -> None:
    before, after = plain[1], recorded[1]
    assert set(before) == set(after)
    assert {name for name in before if before[name] != after[name]} <= {"environment", "path"}
    assert not [value for value in before.values() if value.startswith("raises")]


def test_environment_differs_by_the_closed_list_alone(plain, recorded) -> None:
    before, after = (
        dict(ast.literal_eval(seen["environment"])) for seen in (plain[1], recorded[1])
    )
    # torch derives the folder of its compiler's cache from TMPDIR, and puts it into the environment
    # itself
    after["TORCHINDUCTOR_CACHE_DIR"] = after["TORCHINDUCTOR_CACHE_DIR"].replace(
        after["TMPDIR"], before.get("TMPDIR", "/tmp")
    )
    assert {name for name in {*before, *after} if before.get(name) != after.get(name)} <= OURS
    printed = " ".join(recorded[0].report["changed_to_observe"])
    assert all(name in printed for name in OURS)


def test_path_holds_one_entry_of_ours_behind_the_scripts_own(plain, recorded) -> None:
    before, after = (ast.literal_eval(seen["path"]) for seen in (plain[1], recorded[1]))
    assert after == [before[0], str(CHILD), *before[1:]]


def test_exit_code_output_and_traceback_are_the_same(plain, recorded) -> None:
    done, outcome = plain[0], recorded[0]
    assert [run["exit_status"] for run in outcome.report["runs"]] == [done.returncode] * 2
    folder = outcome.folder
    assert folder is not None
    assert (folder / "run-1" / "stdout.log").read_bytes() == done.stdout
    traceback = done.stderr.decode().splitlines()[-1:]
    assert traceback == ["ValueError: the end"]
    plain_lines = [
        line for line in done.stderr.decode().splitlines() if not line.lstrip().startswith("File ")
    ]
    assert [
        line for line in outcome.log("stderr").splitlines() if not line.lstrip().startswith("File ")
    ] == plain_lines


def test_a_crash_after_the_checks_is_a_failed_run(recorded) -> None:
    outcome = recorded[0]
    assert outcome.exit_code == 4
    assert outcome.report["verdict"] == "script_failed"
    assert all(check["passed"] for check in outcome.report["checks"])
