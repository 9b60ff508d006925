"""`reprocheck suite serve`."""

from __future__ import annotations

import signal
import socket
import subprocess
import sys
from pathlib import Path
from urllib.request import urlopen

import pytest

from reprocheck.cli import main
from tests.cli.suite import nights
from tests.conftest import clean_environment


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("serve")
    nights.make(folder)
    return folder


def test_it_prints_where_the_pages_are_and_ctrl_c_ends_it_well(made: Path) -> None:
    command = [sys.executable, "-m", "reprocheck", "suite", "serve", "--port", "0"]
    with subprocess.Popen(
        command,
        cwd=made,
        env=clean_environment(no_proxy="127.0.0.1"),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdout is not None and process.stderr is not None
        first = process.stdout.readline()
        url = first.removeprefix("The pages are at ").strip()
        assert url.startswith("http://127.0.0.1:")
        with urlopen(url, timeout=120) as answer:
            assert "2 of 8 targets fail" in answer.read().decode()
            assert answer.url == f"{url}site/index.html"
        process.send_signal(signal.SIGINT)
        assert process.wait(120) == 0
        assert process.stderr.read() == ""


def test_a_port_in_use_is_said(
    made: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(made)
    with socket.create_server(("127.0.0.1", 0)) as taken:
        number = taken.getsockname()[1]
        assert main(["suite", "serve", "--port", str(number)]) == 2
    said = capsys.readouterr().err
    assert f"Port {number} is in use." in said and "--port 0 takes one that is free." in said
