"""What goes to stdout and what to stderr, on a terminal and off it, and what is kept when something
breaks.
"""

from __future__ import annotations

import json
import os
import pty
import re
import select
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.cli.screen import rows
from tests.conftest import check, clean_environment, reprocheck, reprocheck_here

CLEAN = "import reprocheck\nfor step in range(20):\n    print('step', step)\n    reprocheck.log_loss(1 / (step + 1))\n"
UNSEEDED = "import random\nimport reprocheck\nfor step in range(20):\n    reprocheck.log_loss(10 * random.Random().random())\n"


@pytest.fixture
def clean(workdir: Path) -> Path:
    (workdir / "train.py").write_text(CLEAN)
    return workdir


def test_without_drawing_the_result_is_there_and_the_rest_can_be_drawn_later(clean: Path) -> None:
    outcome = check("--no-draw", "train.py", cwd=clean)
    assert (
        outcome.folder is not None
        and f"reports/{outcome.folder.name}/report.json" in outcome.stdout
    )
    assert {path.name for path in outcome.folder.iterdir() if path.is_file()} == {
        "record.json",
        "report.json",
    }
    assert reprocheck_here("report", "reports/latest", cwd=clean).returncode == 0
    assert (outcome.folder / "report.html").exists() and (outcome.folder / "loss.png").exists()


def test_the_verdict_is_on_stdout_and_progress_on_stderr(clean: Path) -> None:
    outcome = check("train.py", "--pw", "Kirsche12x", cwd=clean, draw=True, own_process=True)
    assert outcome.exit_code == 0
    assert outcome.stdout.startswith("REPRODUCIBLE\n")
    assert outcome.folder is not None
    assert f"reports/{outcome.folder.name}/report.html" in outcome.stdout
    assert re.search(
        r"^    reprocheck run --runs 5 --no-explain train\.py --pw '<secret>'$",
        outcome.stdout,
        re.MULTILINE,
    )
    assert [line.split(" · ")[:2] for line in outcome.stderr.splitlines()[1:]] == [
        ["run 1 of 2", "stopped after iteration 10"],
        ["run 2 of 2", "stopped after iteration 10"],
    ]
    assert "\x1b" not in outcome.stdout + outcome.stderr and "\r" not in outcome.stderr
    assert "step 3" not in outcome.stdout + outcome.stderr
    assert max(map(len, outcome.stdout.splitlines())) <= 80


def test_json_on_stdout_and_nothing_else(workdir: Path) -> None:
    (workdir / "train.py").write_text(UNSEEDED)
    done = reprocheck(
        "run", "--show-output", "--format", "json", "-o", "-", "train.py", cwd=workdir
    )
    assert done.returncode == 1
    assert json.loads(done.stdout)["verdict"] == "not_reproducible"
    # which check differs is a matter of luck: one loss in thousands agrees within the tolerance
    assert "NOT REPRODUCIBLE (" in done.stderr


def test_show_output_passes_the_scripts_output_on(clean: Path) -> None:
    outcome = check("--show-output", "--steps", "5", "train.py", cwd=clean, own_process=True)
    assert outcome.stdout.count("step 3\n") == 2
    assert outcome.stdout.endswith("train.py\n")


def test_quiet_leaves_the_verdict_and_the_place_of_the_report(clean: Path) -> None:
    outcome = check("--quiet", "train.py", cwd=clean, draw=True)
    assert outcome.stderr == ""
    verdict, place = outcome.stdout.splitlines()
    assert verdict.startswith("REPRODUCIBLE: ")
    assert (
        outcome.folder is not None
        and place == f"reports/{outcome.folder.name}/report.html"
        and (clean / place).exists()
    )


def test_a_report_goes_to_a_file_named_by_its_suffix(clean: Path) -> None:
    outcome = check("-o", "result.xml", "train.py", cwd=clean)
    assert (clean / "result.xml").read_text().startswith("<?xml")
    assert outcome.stdout.startswith("REPRODUCIBLE")


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--format", "jsn"], ["jsn", "Did you mean json?"]),
        (["-o", "result.txt"], ["result.txt", "--format"]),
        (["-o", "-"], ["--format"]),
        (
            ["--format", "json", "-o", "missing/result.json"],
            ["missing/result.json", "No such file"],
        ),
    ],
)
def test_a_destination_that_cannot_be_is_refused_before_the_first_run(
    clean: Path, arguments: list[str], words: list[str]
) -> None:
    done = reprocheck_here("run", *arguments, "train.py", cwd=clean)
    assert done.returncode == 2 and done.stdout == ""
    assert all(word in done.stderr for word in words), done.stderr
    assert not (clean / "reports").exists()


def test_ascii_where_the_terminal_has_no_utf8(clean: Path) -> None:
    done = reprocheck(
        "run", "train.py", cwd=clean, PYTHONIOENCODING="ascii", PYTHONUTF8="0", LC_ALL="C"
    )
    assert done.returncode == 0
    assert "run 1 of 2 - stopped after iteration 10" in done.stderr
    assert (done.stdout + done.stderr).isascii()


def test_colour_when_asked_for_and_not_otherwise(clean: Path) -> None:
    assert "\x1b[1;32mREPRODUCIBLE" in check("--color", "always", "train.py", cwd=clean).stdout
    assert "\x1b" not in reprocheck("config", cwd=clean, NO_COLOR="1", FORCE_COLOR="1").stdout
    assert "\x1b" in reprocheck("config", cwd=clean, FORCE_COLOR="1").stdout
    assert "\x1b" not in reprocheck("config", "--color", "never", cwd=clean, FORCE_COLOR="1").stdout


def test_a_failing_script_shows_the_end_of_its_log(workdir: Path) -> None:
    (workdir / "train.py").write_text(
        "import sys\nprint('\\x1b[31mred', file=sys.stderr)\nraise ValueError('no such loss')\n"
    )
    outcome = check("train.py", cwd=workdir)
    assert outcome.exit_code == 4
    assert outcome.stdout.startswith("SCRIPT FAILED\n")
    assert "  │ ValueError: no such loss" in outcome.stdout
    assert "│ red" in outcome.stdout and "\x1b" not in outcome.stdout


@pytest.mark.parametrize(
    ("command", "hint"),
    [(["python", "-I", "train.py"], "-I"), (["python", "plain.py"], "log_loss")],
)
def test_where_nothing_was_recorded_the_reasons_are_named(
    workdir: Path, command: list[str], hint: str
) -> None:
    (workdir / "train.py").write_text("print('training')\n")
    (workdir / "plain.py").write_text("print('training')\n")
    outcome = check("--", *command, cwd=workdir)
    assert outcome.exit_code == 3
    assert outcome.stdout.startswith("INCONCLUSIVE") and hint in outcome.stdout


def test_a_reader_that_leaves_early_changes_nothing(clean: Path) -> None:
    command = f"{sys.executable} -m reprocheck run train.py | true; echo ${{PIPESTATUS[0]}}"
    done = subprocess.run(
        ["bash", "-c", command],
        cwd=clean,
        env=clean_environment(),
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout == "0\n"
    assert "Traceback" not in done.stderr and "BrokenPipe" not in done.stderr


def test_an_internal_error_is_two_lines_and_a_file(clean: Path) -> None:
    broken = clean / "broken"
    broken.mkdir()
    code = (
        "import sys; from reprocheck import settings; from reprocheck.cli import main\n"
        "def fail(*a, **k): raise RuntimeError('wires crossed')\n"
        "settings.load = fail; sys.exit(main(['run', 'train.py']))"
    )
    environment = clean_environment(TMPDIR=str(broken))
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=clean, env=environment, capture_output=True, text=True
    )
    assert done.returncode == 70
    assert done.stderr.startswith("error: reprocheck itself failed: RuntimeError: wires crossed\n")
    assert "Traceback" not in done.stderr
    saved = next(broken.glob("reprocheck-traceback-*.txt"))
    assert "wires crossed" in saved.read_text() and saved.name in done.stderr


def test_an_interrupt_ends_with_130_and_says_what_is_kept(workdir: Path) -> None:
    waits = "import time\nopen('reports/waits', 'w').close()\ntime.sleep(600)\n"
    (workdir / "train.py").write_text(CLEAN + waits)
    process = subprocess.Popen(
        [sys.executable, "-m", "reprocheck", "run", "--steps", "all", "train.py"],
        cwd=workdir,
        env=clean_environment(),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    while not (workdir / "reports" / "waits").exists():
        assert process.poll() is None
        time.sleep(0.02)
    process.send_signal(signal.SIGINT)
    _, stderr = process.communicate(timeout=120)
    assert process.returncode == 130
    folder = next(
        path for path in (workdir / "reports").iterdir() if path.is_dir() and not path.is_symlink()
    )
    assert (
        "error: interrupted." in stderr
        and f"reports/{folder.name}" in stderr
        and "Traceback" not in stderr
    )
    assert (folder / "record.json").exists()
    assert reprocheck("report", folder, cwd=workdir).returncode == 0


def test_on_a_terminal_one_live_line_a_run(clean: Path) -> None:
    (clean / "train.py").write_text(CLEAN + "    import time; time.sleep(0.1)\n")
    parent, child = pty.openpty()
    process = subprocess.Popen(
        [sys.executable, "-m", "reprocheck", "run", "train.py", "--pw", "Kirsche12x"],
        cwd=clean,
        env=clean_environment(TERM="xterm", COLUMNS="80"),
        stdin=subprocess.DEVNULL,
        stdout=child,
        stderr=child,
    )
    os.close(child)
    drawn = b""
    while select.select([parent], [], [], 120)[0]:
        try:
            data = os.read(parent, 65536)
        except OSError:
            break
        if not data:
            break
        drawn += data
    os.close(parent)
    assert process.wait(120) == 0
    text = drawn.decode()
    assert re.search(
        r"\r\x1b\[2K\x1b\[2mrun 1 of 2 · iteration \d+ of 10 · loss [\d.]+ · [\d.]+ s", text
    )
    assert "\x1b[1;32mREPRODUCIBLE" in text
    assert text.rfind("\x1b[?25h") > text.rfind("\x1b[?25l"), "the cursor is there again"
    first, one, two, empty, verdict, *_ = rows(text)
    assert first.startswith("reprocheck ") and (empty, verdict) == ("", "REPRODUCIBLE")
    assert one.startswith("run 1 of 2 · stopped after iteration 10")
    assert two.startswith("run 2 of 2 · stopped after iteration 10")
    assert "train.py --pw Kirsche12x" in text, "what is to be pasted there is as it was typed"
