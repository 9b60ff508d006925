"""A night of targets that are given secrets: no file and no text of the suite shows one."""

from __future__ import annotations

import json
import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, HTTPServer

import pytest

from reprocheck.cli import main

SCRIPT = """
import os, random, sys
import reprocheck
print(sys.argv, os.environ["DB_PASSWORD"])
for step in range(3):
    reprocheck.log_loss(random.random())
class Refused(Exception): ...
raise Refused("customer K-4711: " + os.environ["DB_PASSWORD"])
"""
SECRETS = {
    "option": "pa55-of-an-option",
    "joined": "pa55-joined",
    "dotted": "pa55-dotted",
    "address": "pa55-of-an-address",
    "token": "hf_" + "AbCdEfGhIjKlMnOpQrStUvWxYz012345",
    "variable": "pa55-of-a-variable",
    "in_a_variable": "pa55-in-a-variable",
    "resumed": "pa55-of-a-resume",
}
GLUED = "hunter2abc"
"""Nothing tells a report folder what it is: it does not leave in a text to paste."""
SUITE = f"""
[suite]
webhooks = ["WEBHOOK"]
[[target]]
name = "a"
run = '''train.py --wandb-key {SECRETS["option"]} --password={SECRETS["joined"]} -p{GLUED} db.password={SECRETS["dotted"]} {SECRETS["token"]} --data HOME/data --url https://u:{SECRETS["address"]}@h/x'''
explain = false
environment = {{ DB_PASSWORD = "{SECRETS["variable"]}", REMOTE = "https://u:{SECRETS["in_a_variable"]}@h/x" }}
resume = {{ with = "--hf-token {SECRETS["resumed"]} {{checkpoint}}", go-on = 2 }}
"""


@contextmanager
def webhook() -> Iterator[tuple[str, list[bytes]]]:
    """The address of a webhook, and what it was sent."""
    sent: list[bytes] = []

    class Webhook(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            sent.append(self.rfile.read(int(self.headers["Content-Length"])))
            self.send_response(200)
            self.end_headers()

        def log_message(self, *words: object) -> None:
            pass

    server = HTTPServer(("127.0.0.1", 0), Webhook)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_address[1]}/hook", sent
    server.shutdown()


@pytest.fixture(scope="module")
def texts(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """What each command of the suite writes and prints, by where it stands."""
    home = tmp_path_factory.mktemp("home") / "zebediah"
    project = home / "project"
    (project / ".git").mkdir(parents=True)
    (project / "train.py").write_text(SCRIPT)
    found: dict[str, str] = {}
    with pytest.MonkeyPatch.context() as patch, webhook() as (address, sent):
        settings = SUITE.replace("HOME", str(home)).replace("WEBHOOK", address)
        (project / "reprocheck.toml").write_text(settings)
        patch.chdir(project)
        patch.setenv("HOME", str(home))
        patch.setenv("LOGNAME", "zebediah")
        assert main(["suite", "run", "--retries", "0", "-q"]) == 1
        for words in (["show", "a", "--issue"], ["show", "a"], ["list"], ["history"]):
            found[" ".join(words)] = _printed(patch, *words)
        found["list --format json"] = _printed(patch, "list", "--format", "json")
        found["webhook"] = "".join(one.decode() for one in sent)
    for path in (project / "nightly").rglob("*"):
        if path.is_file() and path.suffix != ".png":
            found[str(path.relative_to(project))] = path.read_bytes().decode("latin-1")
    found["home"] = str(home)
    return found


def _printed(patch: pytest.MonkeyPatch, *words: str) -> str:
    import io
    import sys

    out = io.StringIO()
    patch.setattr(sys, "stdout", out)
    assert main(["suite", *words]) == 0
    return out.getvalue()


def test_no_file_and_no_text_of_a_suite_shows_a_secret(texts: dict[str, str]) -> None:
    for suffix in ("night.json", "junit.xml", "summary.md", "annotations.txt", "history.sqlite"):
        assert any(name.endswith(suffix) for name in texts), suffix
    shown = [
        (where, secret)
        for where, text in texts.items()
        for secret in SECRETS.values()
        if secret in text or secret in json.dumps(text)
    ]
    assert shown == []


def test_no_file_of_a_suite_names_the_home_folder(texts: dict[str, str]) -> None:
    home = texts["home"]
    for where, text in texts.items():
        if where not in ("home", "list --format json"):
            assert home not in text, where
    (annotation,) = [text for name, text in texts.items() if name.endswith("annotations.txt")]
    assert "::error file=train.py,line=" in annotation


def test_what_is_pasted_shows_arguments_by_their_shape_and_nothing_of_the_log(
    texts: dict[str, str],
) -> None:
    issue = texts["show a --issue"]
    for text in (issue, texts["webhook"]):
        assert "a: new failure" in text
        assert GLUED not in text and "K-4711" not in text and "zebediah" not in text
    assert "reprocheck explain" in issue and "'-p<text>'" in issue
    assert os.sep + "data" not in issue
