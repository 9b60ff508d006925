"""Characters that steer a terminal or turn text around never reach it, wherever the text is
from.
"""

from __future__ import annotations

import json
import os
import pty
import re
import subprocess
import sys
from pathlib import Path

import pytest

from reprocheck.cli.terminal import harmless
from tests.conftest import clean_environment, reprocheck_here

HOSTILE = "\x1b]0;owned\x07\x1b[2J\x9b31m\u202e\u2066\u200f\u2028\x7f\rover[red]:bomb:"
STEERS = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff]")
OURS = re.compile(r"\r(?:\x1b\[1A)?\x1b\[2K|\x1b\[\?25[lh]|\x1b\[[0-9;]*m|\r(?=\n)")
"""The live line, our colours, and what a terminal makes of a line's end."""
CLEAN = "import reprocheck\nfor step in range(3): reprocheck.log_loss(1.0)\n"


def on_terminal(arguments: list[str], cwd: Path) -> str:
    """What a command writes to a terminal that is its stdout and its stderr."""
    parent, child = pty.openpty()
    command = [sys.executable, "-m", "reprocheck", *arguments]
    environment = clean_environment(TERM="xterm")
    process = subprocess.Popen(
        command, cwd=cwd, env=environment, stdin=subprocess.DEVNULL, stdout=child, stderr=child
    )
    os.close(child)
    written = b""
    try:
        while data := os.read(parent, 65536):
            written += data
    except OSError:  # Linux says so where the other end is closed
        pass
    os.close(parent)
    process.wait(120)
    return written.decode()


@pytest.fixture(scope="module")
def recording(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A recording from a stranger, with hostile text wherever text can stand."""
    place = tmp_path_factory.mktemp("stranger")
    (place / "train.py").write_text(CLEAN)
    assert reprocheck_here("run", "-q", "--no-draw", "train.py", cwd=place).returncode == 0
    folder = (place / "reports" / "latest").resolve()
    record = json.loads((folder / "record.json").read_text())
    record["entry_point"]["command"] += [f"--name={HOSTILE}"]
    record["caveats"] = [f"caveat {HOSTILE}"]
    record["environment"] |= {f"host.{HOSTILE}": HOSTILE}
    record["changed_to_observe"] = [HOSTILE]
    (folder / "record.json").write_text(json.dumps(record))
    return folder


@pytest.mark.parametrize(
    "arguments",
    [
        ["run", f"{HOSTILE}.py"],
        ["run", "--output", f"no/{HOSTILE}", "--steps", HOSTILE, "train.py"],
        ["run", "--", HOSTILE],
        ["run", f"--{HOSTILE}"],
        ["run", "-o", f"missing/{HOSTILE}.md", "train.py"],
        ["report", f"no-{HOSTILE}"],
        ["report", "RECORDING"],
        ["report", "RECORDING", "--format", "markdown", "-o", "-"],
        ["report", "RECORDING", "--format", "text", "-o", "-"],
        ["report", "RECORDING", "--format", "json", "-o", "-"],
        ["compare", "RECORDING", "RECORDING"],
        ["rules", HOSTILE],
        ["scan", f"{HOSTILE}.py"],
        ["config", "--color", HOSTILE],
    ],
    ids=lambda arguments: " ".join(arguments).replace(HOSTILE, "HOSTILE"),
)
def test_nothing_that_steers_a_terminal_reaches_it(
    arguments: list[str], recording: Path, workdir: Path
) -> None:
    (workdir / "train.py").write_text(CLEAN)
    written = on_terminal(
        [str(recording) if word == "RECORDING" else word for word in arguments], workdir
    )
    assert written and not STEERS.search(OURS.sub("", written)), ascii(written)


def test_a_check_of_a_script_with_a_hostile_name(workdir: Path) -> None:
    name = HOSTILE.replace("\r", "") + ".py"
    (workdir / name).write_text(CLEAN)
    written = on_terminal(["run", "--output", f"to-{HOSTILE}", name], workdir)
    assert "REPRODUCIBLE" in written and r"\u202e" in written
    assert "[red]:bomb:" in written, "no markup"
    assert not STEERS.search(OURS.sub("", written)), ascii(written)


def test_text_that_steers_nothing_stays_as_it_is() -> None:
    plain = "loss 0.25 · ≤ 1e-3 → größer\n\tδ 学習 🚀"
    assert harmless(plain) == plain
    assert harmless("\x1b[31m\u202e") == r"\x1b[31m\u202e"
