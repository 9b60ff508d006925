"""Scripts and arguments that are wrong or hostile: a clear message, the right exit code, and
everything recorded so far kept.
"""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from tests.conftest import Outcome, check, reprocheck

LOSSES = "import reprocheck\nfor step in range({steps}):\n    reprocheck.log_loss(1 / (step + 1))\n"


def run(workdir: Path, source: str, *options: str, **environment: str) -> Outcome:
    (workdir / "train.py").write_text(source)
    return check(*options, "train.py", cwd=workdir, **environment)


def assert_no_traceback_of_ours(outcome: Outcome) -> None:
    assert (
        "Traceback" not in outcome.stderr.split("Last lines")[0]
        or "reprocheck/" not in outcome.stderr
    )


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["missing.py"], ["missing.py"]),
        (["folder"], ["folder"]),
        (["binary.py"], ["binary.py"]),
        (["broken.py"], ["broken.py:1", "invalid syntax"]),
        (["--", "no-such-command", "train.py"], ["no-such-command"]),
        (["--python", "/no/such/python", "good.py"], ["/no/such/python"]),
        (["--rtol", "-1", "good.py"], ["rtol", "-1"]),
        (["--atol", "nan", "good.py"], ["atol", "nan"]),
        (["--runs", "1", "good.py"], ["runs"]),
        (["--steps", "0", "good.py"], ["steps"]),
        ([], ["train.py"]),
    ],
    ids=lambda value: " ".join(value)[:40] or "nothing",
)
def test_usage_errors_are_named_and_nothing_is_started(
    arguments: list[str], words: list[str], workdir: Path
) -> None:
    (workdir / "folder").mkdir()
    (workdir / "binary.py").write_bytes(b"\x7fELF\x00\x01\x02\x00" * 100)
    (workdir / "broken.py").write_text("def broken(:\n")
    (workdir / "good.py").write_text("open('started', 'w')\n")
    done = reprocheck("run", *arguments, cwd=workdir)
    assert done.returncode == 2, done.stderr
    assert all(word in done.stderr for word in words), done.stderr
    assert "Traceback" not in done.stderr
    assert not (workdir / "started").exists()


def test_unknown_settings_key_is_answered_with_the_nearest(workdir: Path) -> None:
    (workdir / "pyproject.toml").write_text("[tool.reprocheck]\nstepz = 3\n")
    (workdir / "good.py").write_text("")
    done = reprocheck("run", "good.py", cwd=workdir)
    assert done.returncode == 2
    assert "stepz" in done.stderr and "steps" in done.stderr and "pyproject.toml" in done.stderr


def test_an_output_folder_that_cannot_be_made_is_named_before_the_first_run(workdir: Path) -> None:
    (workdir / "taken").write_text("a file")
    (workdir / "good.py").write_text("open('started', 'w')\n")
    done = reprocheck("run", "--output", "taken", "good.py", cwd=workdir)
    assert done.returncode == 2, done.stderr
    assert "taken" in done.stderr
    assert not (workdir / "started").exists()


@pytest.mark.parametrize("flag", ["-I", "-S", "-E"])
def test_an_interpreter_that_ignores_the_recorder_is_diagnosed(flag: str, workdir: Path) -> None:
    (workdir / "train.py").write_text("print('trained')\n")
    outcome = check("--", sys.executable, flag, "train.py", cwd=workdir)
    assert outcome.exit_code == 3
    assert flag in outcome.stdout + outcome.stderr
    assert any("no process loaded the recorder" in line for line in outcome.report["coverage"])


def test_a_script_that_never_trains_is_inconclusive(workdir: Path) -> None:
    outcome = run(workdir, "print('nothing')\n")
    assert (outcome.title, outcome.exit_code) == ("INCONCLUSIVE", 3)
    assert "log_loss" in outcome.stdout + outcome.stderr


def test_what_is_no_number_is_named_where_log_loss_was_given_it(workdir: Path) -> None:
    outcome = run(workdir, "import reprocheck\nreprocheck.log_loss([1.0, 2.0])\n")
    assert (outcome.title, outcome.exit_code) == ("INCONCLUSIVE", 3)
    assert "not 'list'" in outcome.report["reason"]
    assert "call reprocheck.log_loss" not in outcome.report["reason"]


def test_one_iteration_is_too_few_for_the_backward_check(workdir: Path) -> None:
    outcome = run(workdir, LOSSES.format(steps=1))
    assert (outcome.title, outcome.exit_code) == ("INCONCLUSIVE", 3)
    assert [row["passed"] for row in outcome.report["checks"] if row["kind"] == "forward"] == [True]


@pytest.mark.parametrize(
    ("ending", "status"),
    [
        ("import sys; sys.exit(3)", 3),
        ("import os; os._exit(4)", 4),
        ("import os; os.kill(os.getpid(), 9)", -9),
        ("raise MemoryError('full')", 1),
    ],
    ids=["exit", "_exit", "SIGKILL", "out of memory"],
)
@pytest.mark.parametrize("steps", [1, 4])
def test_a_run_that_ends_in_an_error(ending: str, status: int, steps: int, workdir: Path) -> None:
    outcome = run(workdir, LOSSES.format(steps=steps) + ending + "\n")
    started = 1 if steps == 1 else 2  # run 2 is not started where run 1 fails before the checks
    assert [run["exit_status"] for run in outcome.report["runs"]] == [status] * started
    assert [len(iteration) for iteration in outcome.losses()] == [1] * steps
    assert (outcome.title, outcome.exit_code) == ("SCRIPT FAILED", 4)
    assert [check["passed"] for check in outcome.report["checks"]] == (
        [True, True] if started == 2 else []
    )


def test_the_scripts_own_error_is_shown(workdir: Path) -> None:
    outcome = run(workdir, LOSSES.format(steps=1) + "raise RuntimeError('out of patience')\n")
    assert "out of patience" in outcome.stdout + outcome.stderr
    assert "out of patience" in outcome.log("stderr")


def test_hostile_output_reaches_the_logs_and_breaks_no_report(workdir: Path) -> None:
    source = (
        "import sys\nsys.stdout.buffer.write(b'\\xff\\xfe\\x00 \\x1b[31mred\\x1b[0m <script>alert(1)</script> ]]>\\n')\n"
        "sys.stderr.write('<b>bold</b> \\x07\\n')\n" + LOSSES.format(steps=3)
    )
    outcome = run(workdir, source, REPROCHECK_DRAW="true")
    assert outcome.exit_code == 0
    folder = outcome.folder
    assert folder is not None
    assert b"\xff\xfe\x00" in (folder / "run-1" / "stdout.log").read_bytes()
    assert "<script>alert(1)" not in (folder / "report.html").read_text()
    import xml.etree.ElementTree as ElementTree

    assert ElementTree.parse(folder / "junit.xml").getroot().tag in ("testsuites", "testsuite")


def test_thirty_megabytes_of_output_and_a_closed_stdout(workdir: Path) -> None:
    source = (
        "import os, sys\nfor _ in range(30):\n    print('x' * (1 << 20))\n"
        + LOSSES.format(steps=3)
        + "sys.stdout.close(); os.close(1)\n"
    )
    outcome = run(workdir, source, "--steps", "all", REPROCHECK_DRAW="true")
    assert outcome.exit_code == 0, outcome.stderr
    folder = outcome.folder
    assert folder is not None
    assert (folder / "run-1" / "stdout.log").stat().st_size > 30 << 20
    assert (folder / "report.html").stat().st_size < 3 << 20


def test_a_script_that_changes_directory_and_one_that_trains_in_a_fork(workdir: Path) -> None:
    moved = run(
        workdir,
        "import os\nos.makedirs('sub', exist_ok=True); os.chdir('sub')\n" + LOSSES.format(steps=3),
    )
    assert (moved.title, len(moved.losses())) == ("REPRODUCIBLE", 3)
    forked = run(
        workdir,
        "import os\nif os.fork() == 0:\n    "
        + LOSSES.format(steps=3).replace("\n", "\n    ")
        + "\nelse:\n    os.wait()\n",
    )
    assert (forked.title, len(forked.losses())) == ("REPRODUCIBLE", 3)


def test_a_trace_cut_in_mid_line_keeps_what_stands_before(workdir: Path) -> None:
    outcome = run(workdir, LOSSES.format(steps=4), "--steps", "all")
    folder = outcome.folder
    assert folder is not None
    trace = max((folder / "run-2" / "trace").glob("*.jsonl"), key=lambda path: path.stat().st_size)
    lines = trace.read_bytes().splitlines(keepends=True)
    last_loss = max(index for index, line in enumerate(lines) if b'"loss"' in line)
    trace.write_bytes(b"".join(lines[:last_loss]) + lines[last_loss][:20])
    done = reprocheck("report", folder, "--format", "json", "-o", "-", cwd=workdir)
    import json

    report = json.loads(done.stdout)
    assert [len(run["ranks"][0]["iterations"]) for run in report["runs"]] == [4, 3]
    assert any("last line of the trace is incomplete" in line for line in report["coverage"])


def test_only_json_on_standard_output(workdir: Path) -> None:
    import json

    (workdir / "train.py").write_text("print('noise')\n" + LOSSES.format(steps=3))
    done = reprocheck("run", "--format", "json", "-o", "-", "train.py", cwd=workdir)
    assert json.loads(done.stdout)["verdict"] == "reproducible"


def test_a_framework_older_than_supported_says_so_and_log_loss_counts(workdir: Path) -> None:
    (workdir / "torch.py").write_text("__version__ = '1.13.1+cu117'\n")
    (workdir / "keras.py").write_text("__version__ = '2.15.0'\n")
    outcome = run(workdir, "import keras\nimport torch\n" + LOSSES.format(steps=3))
    assert outcome.title == "REPRODUCIBLE", outcome.stdout + outcome.stderr
    assert outcome.losses() == [[1.0], [0.5], [1 / 3]]
    told = [caveat for caveat in outcome.report["caveats"] if "older than" in caveat]
    assert [caveat.partition(", the first")[0] for caveat in told] == [
        "keras 2.15.0 is older than 3.0",
        "torch 1.13.1+cu117 is older than 2.0",
    ]
    assert all("reprocheck.log_loss" in caveat for caveat in told)
