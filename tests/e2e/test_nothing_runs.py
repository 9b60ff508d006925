"""What only reads runs nothing of a stranger's: no import, no code, no program, and no file is
written outside of the folders that it is given.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.suite import nights
from tests.conftest import clean_environment
from tests.recording.recordings import process, recording, training

HOSTILE = "from pathlib import Path\nPath(__file__).with_name('RAN').touch()\n"
NAMES = ("train", "json", "numpy", "pandas", "sitecustomize", "conftest", "jinja2")
"""A script, and modules that a process would find first if it looked into the working directory."""
WATCHED = """
import json, os, sys
stranger, commands = sys.argv[1], json.loads(sys.argv[2])
from reprocheck.scan.cache import default_folder
seen, allowed = [], (stranger, "/dev/", os.environ["TMPDIR"], str(default_folder()))

def watch(event, arguments):
    if event == "exec" and arguments[0].co_filename.startswith(stranger):
        seen.append(["exec", arguments[0].co_filename])
    if event in ("os.system", "os.posix_spawn", "os.exec", "socket.connect", "pickle.find_class"):
        seen.append([event, repr(arguments)])
    if event == "subprocess.Popen" and os.path.basename(str(arguments[0])) != "git":
        seen.append([event, repr(arguments)])
    if event == "open" and isinstance(arguments[0], str) and arguments[2] & 3:
        if not os.path.abspath(arguments[0]).startswith(allowed):
            seen.append([event, arguments[0]])

from reprocheck.cli import main
sys.addaudithook(watch)
codes = [main(words) for words in commands]
print(json.dumps([codes, seen]))
"""
COMMANDS = [
    ["report", "a"],
    ["report", "a.zip", "-o", "drawn.html"],
    ["bundle", "a.zip", "--redact", "strict"],
    ["compare", "a", "b", "--output", "compared"],
    ["merge", "a", "b", "--output", "merged"],
    ["suite", "list"],
    ["suite", "report"],
    ["suite", "show"],
    ["suite", "history"],
    ["suite", "merge", "other"],
    ["suite", "baseline", "show"],
    ["scan", "train.py"],
]


@pytest.fixture
def stranger(tmp_path: Path) -> Path:
    """A folder with recordings, a suite and its history, and modules that would tell."""
    folder = tmp_path / "stranger"
    folder.mkdir()
    nights.make(folder)
    shutil.copytree(folder / "nightly", folder / "other")
    for name in NAMES:
        (folder / f"{name}.py").write_text(HOSTILE)
    for name, last in (("a", 0.125), ("b", 0.25)):
        losses = process(0, 1, training([0.5, 0.25, last]))
        recording(folder / name, {"1-1": losses}, script=str(folder / "train.py"))
        sources = {"files": {"train.py": HOSTILE}, "closed": True}
        (folder / name / "sources.json").write_text(json.dumps(sources))
    shutil.make_archive(str(folder / "a"), "zip", folder / "a")
    return folder


def test_commands_that_read_run_nothing(stranger: Path, tmp_path: Path) -> None:
    program = tmp_path / "watched.py"
    program.write_text(WATCHED)
    temporary = tmp_path / "tmp"
    temporary.mkdir()
    done = subprocess.run(
        [sys.executable, "-P", str(program), str(stranger), json.dumps(COMMANDS)],
        cwd=stranger,
        env=clean_environment(TMPDIR=str(temporary)),
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    codes, seen = json.loads(done.stdout.splitlines()[-1])
    assert seen == []
    assert set(codes) <= {0, 1, 2}, (codes, done.stderr)
    assert codes.count(0) >= 8, (codes, done.stderr)
    assert not list(stranger.rglob("RAN"))
    assert not list(stranger.rglob("__pycache__"))
    assert "Traceback" not in done.stderr
