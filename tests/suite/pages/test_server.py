"""The site on loopback."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator
from http.client import HTTPConnection
from importlib import resources
from pathlib import Path

import pytest

from reprocheck.errors import UsageError
from reprocheck.report.page import own_policy
from reprocheck.suite.pages.server import POLICY, server


@pytest.fixture(scope="module")
def port(tmp_path_factory: pytest.TempPathFactory) -> Iterator[int]:
    folder = tmp_path_factory.mktemp("suite")
    (folder / "site").mkdir()
    (folder / "site" / "index.html").write_text("the overview")
    (folder / "nights" / "n" / "a b").mkdir(parents=True)
    (folder / "nights" / "n" / "a b" / "report.html").write_text("a report")
    (folder / "history.sqlite").write_text("all that is known")
    (folder / "nights" / "secret").symlink_to("/etc/passwd")
    with server(folder, 0) as listening:
        threading.Thread(target=listening.serve_forever, args=(0.02,), daemon=True).start()
        yield listening.server_port
        listening.shutdown()


def got(port: int, path: str, host: str = "") -> tuple[int, str]:
    connection = HTTPConnection("127.0.0.1", port, timeout=120)
    connection.request("GET", path, headers={"Host": host} if host else {})
    answer = connection.getresponse()
    body = answer.read().decode()
    connection.close()
    return answer.status, answer.headers.get("Location") or body


def test_pages_and_reports_are_served_and_the_root_leads_to_the_overview(port: int) -> None:
    assert got(port, "/") == (302, "/site/index.html")
    assert got(port, "/site/index.html") == (200, "the overview")
    assert got(port, "/nights/n/a%20b/report.html") == (200, "a report")


@pytest.mark.parametrize(
    "path",
    [
        "/history.sqlite",
        "/site/../history.sqlite",
        "/site/%2e%2e/history.sqlite",
        "/nights/",
        "/nights/n/",
        "/nights/secret",
        "/site/nothing.html",
        "/../../etc/passwd",
        "//etc/passwd",
    ],
)
def test_nothing_else_is_served(port: int, path: str) -> None:
    assert got(port, path)[0] == 404


def test_another_name_of_this_machine_is_refused(port: int) -> None:
    assert got(port, "/site/index.html", host=f"evil.example:{port}")[0] == 403
    assert got(port, "/", host=f"evil.example:{port}")[0] in (302, 403)
    assert got(port, "/site/index.html", host=f"localhost:{port}")[0] == 200


def test_a_port_in_use_is_said(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        number = taken.getsockname()[1]
        with pytest.raises(UsageError, match=f"Port {number} is in use") as caught:
            server(tmp_path, number)
    assert caught.value.fix == "--port 0 takes one that is free."


def test_it_listens_on_loopback_alone(tmp_path: Path) -> None:
    with server(tmp_path, 0) as listening:
        assert listening.server_address[0] == "127.0.0.1"
        assert listening.url == f"http://127.0.0.1:{listening.server_port}/"


def test_a_report_that_somebody_else_drew_runs_no_script_of_theirs(port: int) -> None:
    def policy(path: str) -> str:
        connection = HTTPConnection("127.0.0.1", port, timeout=120)
        connection.request("GET", path)
        answer = connection.getresponse()
        answer.read()
        connection.close()
        return answer.headers["Content-Security-Policy"]

    for path in ("/nights/n/a%20b/report.html", "/site/../nights/n/a%20b/report.html"):
        assert policy(path) == own_policy()
    assert "script-src 'sha256-" in own_policy()
    assert policy("/site/index.html") == POLICY
    template = resources.files("reprocheck.suite.pages").joinpath("templates/base.html")
    assert f'content="{POLICY}"' in template.read_text("utf-8")
