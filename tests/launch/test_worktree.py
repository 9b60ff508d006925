"""A worktree of another commit whose making is interrupted."""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from pathlib import Path

from tests.conftest import clean_environment

PATIENCE = 120.0
MAKES = """
import sys
from pathlib import Path
from reprocheck import interrupts, launch

interrupts.listen()
here = Path.cwd()
commit = launch.find_commit("HEAD", here)
with launch.worktree(commit, here, here / "reports", print, inside=Path(sys.argv[1])):
    print("made")
"""


def git(folder: Path, *words: str) -> str:
    """git, as somebody."""
    command = ["git", "-c", "user.name=somebody", "-c", "user.email=somebody@example.org", *words]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=True).stdout


def test_git_keeps_nothing_of_a_worktree_that_was_interrupted_while_it_was_made(
    tmp_path: Path,
) -> None:
    project, places, reached = tmp_path / "project", tmp_path / "places", tmp_path / "reached"
    project.mkdir()
    (project / "data").write_text("data\n")
    (project / ".gitattributes").write_text("data filter=stuck\n")
    git(project, "init", "-q")
    git(project, "add", "-A")
    git(project, "commit", "-qm", "first")
    git(project, "config", "filter.stuck.smudge", f"touch {reached}; exec sleep 600")
    process = subprocess.Popen(
        [sys.executable, "-c", MAKES, str(places)],
        cwd=project,
        env=clean_environment(),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    end = time.monotonic() + PATIENCE
    while not reached.exists():
        assert process.poll() is None, process.communicate()
        assert time.monotonic() < end, "git does not check the file out"
        time.sleep(0.02)
    process.send_signal(signal.SIGTERM)
    said, error = process.communicate(timeout=PATIENCE)

    assert (said, process.returncode != 0) == ("", True), error
    assert git(project, "worktree", "list", "--porcelain").count("worktree ") == 1
    assert list((project / ".git" / "worktrees").glob("*")) == []
    assert list(places.iterdir()) == []
    assert processes_in(places) == []


def processes_in(folder: Path) -> list[str]:
    """The processes that work in a folder, which may be gone."""
    links = ((path.parent.name, _target(path)) for path in Path("/proc").glob("[0-9]*/cwd"))
    return [number for number, place in links if place.startswith(str(folder))]


def _target(link: Path) -> str:
    try:
        return str(link.readlink())
    except OSError:
        return ""
