"""The commands of the suite where what only a suite needs is not installed."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from reprocheck.cli.suite import COMMANDS
from tests.conftest import ROOT, clean_environment

WITHOUT_HISTORY = ("init", "list", "diff")
WORDS = {
    "baseline": ["show"],
    "backup": ["copy.sqlite"],
    "bisect": ["a", "--good", "x", "--bad", "y"],
}
"""What stands behind a command, where it needs more words."""
TYPED = """
import sys
sys.modules["sqlalchemy"] = None  # as if it were not there
from reprocheck.cli import main
for words in {lines!r}:
    print(words[0], main(["suite", *words]))
"""


def test_each_command_that_needs_the_history_names_what_to_install(tmp_path: Path) -> None:
    (tmp_path / "reprocheck.toml").write_text('[[target]]\nname = "a"\nrun = "a.py"\n')
    lines = [[name, *WORDS.get(name, [])] for name in COMMANDS if name not in WITHOUT_HISTORY]
    done = subprocess.run(
        [sys.executable, "-c", TYPED.format(lines=lines)],
        cwd=tmp_path,
        env=clean_environment(PYTHONPATH=str(ROOT)),
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.split("\n")[:-1] == [f"{words[0]} 2" for words in lines]
    assert done.stderr.count('pip install "reprocheck[suite]"') == len(lines)
