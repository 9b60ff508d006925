"""What is meant for the script, or happens to it, never breaks the command itself: exit code 1 is a
verdict and nothing else.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.conftest import check, clean_environment, reprocheck

CLEAN = "import reprocheck\nfor step in range(12):\n    reprocheck.log_loss(1 / (step + 1))\n"
EMPTIES_MODULES = """
import sys
NEEDED = ("_frozen", "encodings", "importlib", "__main__", "codecs", "io", "abc", "os")
def start_afresh():
    for name in list(sys.modules):
        if name not in sys.builtin_module_names and not name.startswith(NEEDED):
            del sys.modules[name]
start_afresh()
import reprocheck
for step in range(12):
    if step == 5:
        start_afresh()
    reprocheck.log_loss(1 / (step + 1))
"""
MODULES_OF_OURS = (
    "typer",
    "typing_extensions",
    "numpy",
    "select",
    "json",
    "textwrap",
    "platform",
    "shlex",
)


@pytest.fixture
def clean(workdir: Path) -> Path:
    (workdir / "train.py").write_text(CLEAN)
    return workdir


def isolated(*arguments: str, cwd: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    """`python -I -m reprocheck`: for an environment in which Python itself does not start."""
    command = [sys.executable, "-I", "-m", "reprocheck", *arguments]
    return subprocess.run(
        command,
        cwd=cwd,
        env=clean_environment(**environment),
        capture_output=True,
        text=True,
        timeout=120,
    )


def test_a_script_that_empties_its_modules_is_recorded_all_the_same(workdir: Path) -> None:
    (workdir / "train.py").write_text(EMPTIES_MODULES)
    outcome = check("--steps", "all", "train.py", cwd=workdir)
    assert outcome.title == "REPRODUCIBLE"
    assert outcome.losses() == [[1 / (step + 1)] for step in range(12)]


@pytest.mark.parametrize("place", ["PYTHONPATH", "working directory"])
def test_modules_of_the_script_that_have_the_names_of_ours_do_not_break_the_command(
    clean: Path, place: str, tmp_path: Path
) -> None:
    folder = clean if place == "working directory" else tmp_path / "modules"
    folder.mkdir(exist_ok=True)
    for name in MODULES_OF_OURS:
        (folder / f"{name}.py").write_text("raise RuntimeError('not for you')\n")
    done = reprocheck("config", cwd=clean, PYTHONPATH=str(folder), PYTHONWARNINGS="error")
    assert done.returncode == 0, done.stderr
    assert "tolerance" in done.stdout or "rtol" in done.stdout


def test_a_sitecustomize_that_exits_is_the_failure_of_the_script(clean: Path) -> None:
    (clean / "site").mkdir()
    (clean / "site" / "sitecustomize.py").write_text("import sys; sys.exit(5)\n")
    done = isolated("run", "-q", "--no-draw", "train.py", cwd=clean, PYTHONPATH=str(clean / "site"))
    assert done.returncode == 4
    assert done.stdout.startswith("SCRIPT FAILED: ") and "SystemExit: 5" in done.stdout


def test_a_wrong_pythonhome_is_the_failure_of_the_script(clean: Path) -> None:
    done = isolated("run", "-q", "--no-draw", "train.py", cwd=clean, PYTHONHOME="/nonexistent")
    assert done.returncode == 4
    assert (
        done.stdout.startswith("SCRIPT FAILED: ") and "No module named 'encodings'" in done.stdout
    )


@pytest.mark.parametrize(
    ("streams", "arguments", "exit_code"),
    [
        ("2>&-", "run -q missing.py", 2),
        ("2>&-", "run --no-draw train.py", 0),
        ("<&- >&- 2>&-", "run --no-draw train.py", 0),
        (">&-", "--version", 0),
        (">/dev/full 2>/dev/full", "run -q missing.py", 2),
        (">/dev/full", "rules RC301", 2),
        ("2>/dev/full", "run --no-draw train.py", 0),
    ],
)
def test_streams_that_are_closed_or_full(
    clean: Path, streams: str, arguments: str, exit_code: int
) -> None:
    command = f"{sys.executable} -m reprocheck {arguments} {streams}"
    done = subprocess.run(
        ["bash", "-c", command], cwd=clean, env=clean_environment(), capture_output=True, text=True
    )
    assert done.returncode == exit_code
    assert "Traceback" not in done.stderr


def test_the_end_of_a_command_frees_nothing_piece_by_piece(workdir: Path) -> None:
    code = (
        "import atexit, gc\n"
        "gc.unfreeze()\n"
        "atexit.register(lambda: print('kept', gc.get_freeze_count()))\n"
        "from reprocheck.cli import main\n"
        "main(['rules'])\n"
        "print('until then', gc.get_freeze_count())\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=workdir, capture_output=True, text=True, timeout=60
    )
    *_, until_then, kept = done.stdout.splitlines()
    assert until_then == "until then 0"
    assert int(kept.removeprefix("kept ")) > 1000
