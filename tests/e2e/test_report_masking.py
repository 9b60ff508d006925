"""A whole report folder can be given away: neither home nor user nor host stand in any file of it,
nor credentials.
"""

from __future__ import annotations

import os
import zipfile
from pathlib import Path

from reprocheck.recording import bundle
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
        "train.py",
        "https://me:hunter2@example.org/y",
        cwd=workdir,
        draw=True,
        HOME=str(home),
        LOGNAME="zebediah",
        USER="zebediah",
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


SECRETS = {
    "argument": "pa55-of-the-database",
    "token": "hf_" + "AbCdEfGhIjKlMnOpQrStUvWxYz012345",
    "tracker": "0123456789abcdef0123456789abcdef01234567",
    "aws": "AKIA" + "IOSFODNN7EXAMPLE",
    "github": "ghp_" + "abcdefghijklmnopqrstuvwxyz0123456789",
    "email": "zebediah@" + "example.org",
    "address": "10.91.92" + ".93",
    "literal": "in-the-source-5",
    "key": "MIIEowIBAAKCAQEA04up8hoqzS1",
}
LEAKS = f"""
import sys, random, reprocheck
db_password = "{SECRETS["literal"]}"
print(sys.argv, "{SECRETS["aws"]}", "{SECRETS["email"]}", "at {SECRETS["address"]}:80")
print("-----BEGIN PRIVATE KEY-----\\n{SECRETS["key"]}\\n-----END PRIVATE KEY-----", file=sys.stderr)
for step in range(3):
    reprocheck.log_loss(random.random())
raise RuntimeError("no access with {SECRETS["github"]}")
"""


def test_no_planted_secret_is_in_a_report_a_recording_or_the_terminal(tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text(LEAKS)
    words = [
        f"--password={SECRETS['argument']}",
        "--hf_token",
        SECRETS["token"],
        "--wandb-key",
        SECRETS["tracker"],
    ]
    outcome = check("train.py", *words, cwd=tmp_path, draw=True)
    folder = outcome.folder
    assert folder is not None, outcome.stderr
    bundle.pack(folder, tmp_path / "sent.zip")
    with zipfile.ZipFile(tmp_path / "sent.zip") as archive:
        texts = {name: archive.read(name) for name in archive.namelist()}
    texts |= {
        str(path): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file() and path.suffix != ".png"
    }
    texts |= {"stdout": outcome.stdout.encode(), "stderr": outcome.stderr.encode()}
    for where, text in texts.items():
        for kind, secret in SECRETS.items():
            assert secret.encode() not in text, (where, kind)
    said = " ".join(outcome.report["coverage"])
    assert "masked: 3 in the command" in said, said
    assert "--hf_token" in outcome.report["command"]
