"""What a script does to the files that reprocheck writes: nothing hangs, what is there is kept, and
the reason is said.
"""

from __future__ import annotations

import errno
import json
import os
from pathlib import Path

import pytest

from reprocheck.errors import ReportError
from reprocheck.launch.workdir.operation import operation
from tests.conftest import check, reprocheck
from tests.launch.conftest import Place

LOGS = "import os, shutil, reprocheck\ntrace = os.environ['REPROCHECK_CHILD']\nfor step in range(5): reprocheck.log_loss(1.0)\n"
PIPES_AND_A_HUGE_FILE = """
import os, reprocheck
trace = os.environ["REPROCHECK_CHILD"]
os.mkfifo(trace + "/1-1.jsonl")
with open(trace + "/2-2.jsonl", "wb") as file:
    file.truncate(20 << 30)
os.remove(trace + "/recorder.json")
os.mkfifo(trace + "/recorder.json")
for name in ("stdout.log", "stderr.log"):
    os.remove(trace + "/../" + name)
os.mkdir(trace + "/../stdout.log")
os.mkfifo(trace + "/../stderr.log")
for step in range(5): reprocheck.log_loss(1.0)
"""


def test_pipes_a_folder_and_a_huge_file_where_files_of_a_run_belong(workdir: Path) -> None:
    (workdir / "train.py").write_text(PIPES_AND_A_HUGE_FILE)
    outcome = check("--show-output", "--timeout", "60", "train.py", cwd=workdir, own_process=True)
    assert outcome.title == "REPRODUCIBLE"
    assert outcome.losses() == [[1.0]] * 5
    assert any(
        "2-2.jsonl" in line and "20,480 MiB" in line for line in outcome.report["coverage"]
    ), outcome.report["coverage"]


@pytest.mark.parametrize(
    "loses",
    ["shutil.rmtree(trace)", "[os.remove(os.path.join(trace, n)) for n in os.listdir(trace)]"],
)
def test_a_recorder_whose_files_are_gone_says_nothing_to_the_script(
    place: Place, loses: str
) -> None:
    record = place.check(LOGS + loses + "\n")
    assert [run.ended for run in record.runs] == ["completed", "completed"]
    assert (place.folder / "run-1" / "stderr.log").read_text() == ""


NO_DESCRIPTOR = (
    LOGS + "import resource; resource.setrlimit(resource.RLIMIT_NOFILE, (64, 64)); held = []\n"
    "try:\n    while True: held.append(os.open(os.devnull, os.O_RDONLY))\nexcept OSError: pass\nreprocheck.log_loss(2.0)\n"
)


def test_a_recorder_without_a_free_descriptor_says_nothing_to_the_script(place: Place) -> None:
    record = place.check(NO_DESCRIPTOR)
    assert [run.ended for run in record.runs] == ["completed", "completed"]
    assert (place.folder / "run-1" / "stderr.log").read_text() == ""
    [trace] = (place.folder / "run-1" / "trace").glob("*.jsonl")
    assert sum('"e":"loss"' in line for line in trace.read_text().splitlines()) == 6


def test_an_error_where_no_descriptor_is_free_is_recorded_without_its_secret(place: Place) -> None:
    record = place.check(NO_DESCRIPTOR + "raise ValueError('password=hunter2')\n")
    assert [run.ended for run in record.runs] == ["failed", "failed"]
    assert "reprocheck_child" not in (place.folder / "run-1" / "stderr.log").read_text()
    [trace] = (place.folder / "run-1" / "trace").glob("*.jsonl")
    ends = [json.loads(line) for line in trace.read_text().splitlines() if '"e":"exit"' in line]
    # its text is left out, unless a word of the command line had redaction imported before
    [error] = [end["error"] for end in ends]
    assert error.startswith(("(left out", "ValueError: password="))
    assert "hunter2" not in trace.read_text()


def test_a_report_folder_that_the_script_replaced_is_an_error_with_its_name(place: Place) -> None:
    with pytest.raises(ReportError) as refused:
        place.check(
            LOGS
            + "run = trace + '/..'; report = run + '/..'; os.remove(report + '/record.json'); os.mkdir(report + '/record.json')\n"
        )
    assert "record.json" in refused.value.message and refused.value.exit_code == 2
    assert list((place.folder / "run-1" / "trace").glob("*.jsonl"))


def test_names_that_are_no_utf8_are_escaped(workdir: Path) -> None:
    (workdir / "train.py").write_text(LOGS)
    done = reprocheck(
        "run",
        "--no-draw",
        "--output",
        os.fsdecode(b"out\xff"),
        "train.py",
        os.fsdecode(b"a\xff"),
        cwd=workdir,
    )
    assert done.returncode == 0, done.stderr
    report = json.loads(
        Path(os.fsdecode(bytes(workdir) + b"/out\xff"), "latest", "report.json").read_text()
    )
    assert report["command"][-1] == "a\\udcff"


@pytest.mark.parametrize(
    ("error", "said", "advice"),
    [
        (
            OSError(errno.EACCES, "Permission denied", "/x/run-1"),
            "Permission denied (/x/run-1)",
            "Allow it to be read",
        ),
        (
            OSError(errno.EMFILE, "Too many open files"),
            "starting run 1: Too many open files.",
            "ulimit -n",
        ),
        (
            OSError(errno.ENOSPC, "No space left on device", "/x/a", None, "/x/b"),
            "(/x/a and /x/b)",
            "Free some space",
        ),
    ],
)
def test_what_the_system_refused_is_said_with_the_file_and_what_was_done(
    error: OSError, said: str, advice: str
) -> None:
    with pytest.raises(ReportError) as refused, operation("starting run 1"):
        raise error
    assert refused.value.message.startswith("The check failed while starting run 1: ")
    assert said in refused.value.message and advice in refused.value.fix


def test_run_2_is_not_started_where_run_1_ended_before_the_checks(workdir: Path) -> None:
    (workdir / "train.py").write_text("raise RuntimeError('no data')\n")
    failed = check("train.py", cwd=workdir)
    assert (failed.exit_code, [run["number"] for run in failed.report["runs"]]) == (4, [1])
    assert "run 2 is not started" in failed.stderr
    (workdir / "train.py").write_text("import time; time.sleep(600)\n")
    slow = check("--timeout", "1", "train.py", cwd=workdir)
    assert (slow.exit_code, [run["number"] for run in slow.report["runs"]]) == (5, [1])


def test_run_2_is_started_where_run_1_failed_after_the_checks(workdir: Path) -> None:
    (workdir / "train.py").write_text(LOGS + "raise RuntimeError('late')\n")
    assert [
        run["number"] for run in check("--steps", "all", "train.py", cwd=workdir).report["runs"]
    ] == [1, 2]
