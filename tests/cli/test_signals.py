"""SIGTERM and SIGHUP end a check as Ctrl-C does, wherever it is: exit code 130, nothing of the
user's lost, none of them swallowed.
"""

from __future__ import annotations

import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.conftest import ROOT, clean_environment

PATCHED = """
import importlib, os, signal, sys
sys.path.insert(0, {root!r})
signal.signal({number}, signal.SIG_DFL)  # whoever runs the tests may have it ignored, as nohup does
place = importlib.import_module({module!r})
real = getattr(place, {function!r})

def hit(*arguments, **named):
    os.kill(os.getpid(), {number})
    return real(*arguments, **named)

setattr(place, {function!r}, hit)
from reprocheck.cli import main
sys.exit(main({arguments!r}))
"""
WRITES = "import reprocheck\nfor step in range(3):\n    reprocheck.log_loss(1.0)\nopen('data.txt', 'w').write('changed')\n"


def hit(
    cwd: Path, number: int, module: str, function: str, arguments: list[str]
) -> subprocess.CompletedProcess[str]:
    """A command to which a signal is sent when it comes to a function."""
    code = PATCHED.format(
        root=str(ROOT), module=module, function=function, number=number, arguments=arguments
    )
    command = [sys.executable, "-c", code]
    return subprocess.run(
        command, cwd=cwd, env=clean_environment(), capture_output=True, text=True, timeout=120
    )


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
@pytest.mark.parametrize(
    ("module", "function", "recorded"),
    [
        ("reprocheck.settings", "load", False),
        ("reprocheck.launch.workdir.snapshot", "keep", False),
        ("reprocheck.launch.workdir.workdir", "restore", True),
        ("reprocheck.workflow.replay", "judged", True),
        ("reprocheck.report", "write", True),
    ],
)
def test_a_signal_outside_of_the_runs(
    workdir: Path, number: int, module: str, function: str, recorded: bool
) -> None:
    (workdir / "train.py").write_text(WRITES)
    (workdir / "data.txt").write_text("precious")
    done = hit(workdir, number, module, function, ["run", "--no-draw", "train.py"])
    assert done.returncode == 130, done.stderr
    assert "error: interrupted." in done.stderr and "Traceback" not in done.stderr
    assert (workdir / "data.txt").read_text() == "precious"
    folders = [path for path in (workdir / "reports").glob("train-*") if path.is_dir()]
    assert len(folders) == recorded
    assert not any((folder / "snapshot").exists() for folder in folders)
    assert ("What was recorded is kept in reports/train-" in done.stderr) == recorded
