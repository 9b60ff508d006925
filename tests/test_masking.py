"""A whole report folder can be given away: neither home nor user nor host stand in any file of it, nor credentials."""

from __future__ import annotations

import os
from pathlib import Path

from tests.conftest import check

SCRIPT = """
import os, sys, reprocheck
print("at", os.path.expanduser("~/data"), os.environ["LOGNAME"], os.uname().nodename, "https://me:hunter2@example.org/x")
for step in range(3):
    reprocheck.log_loss(step)
"""


def test_no_file_of_a_report_folder_names_its_user(tmp_path: Path) -> None:
    home = tmp_path / "home-of-zebediah"
    workdir = home / "project"
    workdir.mkdir(parents=True)
    (workdir / "train.py").write_text(SCRIPT)
    outcome = check(
        "train.py", "https://me:hunter2@example.org/y", cwd=workdir, draw=True, HOME=str(home), LOGNAME="zebediah", USER="zebediah"
    )
    assert outcome.exit_code == 0, outcome.stderr
    folder = outcome.folder
    assert folder is not None
    host = os.uname().nodename
    for path in [path for path in folder.rglob("*") if path.is_file() and path.suffix != ".png"]:
        text = path.read_text(errors="replace")
        assert str(home) not in text, path
        assert "zebediah" not in text.replace("home-of-zebediah", ""), path
        assert "hunter2" not in text, path
        assert f" {host} " not in text or len(host) < 4, path
    assert "at ~/data <user>" in outcome.log()
