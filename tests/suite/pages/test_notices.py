"""Notices: what is sent to the webhooks of a suite, and what is said of those that fail."""

from __future__ import annotations

import json
import socket
import threading
from base64 import b64encode
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest

from reprocheck.suite.model import NightReport, ShownTarget, TargetReport
from reprocheck.suite.pages import notices
from reprocheck.suite.pages.notices import Post
from reprocheck.suite.reports import to_paste
from tests.suite.pages.samples import SAMPLES, all_good, many, night, one_of_each, state

AT_ONCE = Post(timeout=5.0, pauses=(0.0, 0.0), most=20.0)
SECRET = "T00/B00/very-secret"


@pytest.fixture(autouse=True)
def without_proxy(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("http_proxy", "https_proxy", "HTTP_PROXY", "HTTPS_PROXY", "all_proxy"):
        monkeypatch.delenv(name, raising=False)


class Hook:
    """A webhook on loopback that answers each request with the next of `answers`."""

    def __init__(self, *answers: int, location: str = "") -> None:
        self.answers = list(answers)
        self.location = location
        self.bodies: list[dict[str, Any]] = []
        self.kinds: list[str] = []
        self.accounts: list[str | None] = []
        self.url = ""

    @contextmanager
    def listening(self) -> Iterator[str]:
        hook = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["Content-Length"]))
                hook.bodies.append(json.loads(body))
                hook.kinds.append(f"{self.command} {self.headers['Content-Type']}")
                hook.accounts.append(self.headers["Authorization"])
                self.send_response(hook.answers.pop(0))
                if hook.location:
                    self.send_header("Location", hook.location)
                self.end_headers()

            def log_message(self, *_: object) -> None: ...

        with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
            threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True).start()
            yield f"http://127.0.0.1:{server.server_port}/{SECRET}?token={SECRET}"
            server.shutdown()


def sent(hook: Hook, report: NightReport, post: Post = AT_ONCE) -> list[str]:
    with hook.listening() as url:
        said = notices.send([url], report, post)
    assert all(SECRET not in sentence for sentence in said)
    return said


def test_what_changed_is_posted_once_as_json() -> None:
    hook = Hook(200)
    assert sent(hook, one_of_each()) == []
    assert hook.kinds == ["POST application/json"]
    body = hook.bodies[0]
    assert [(one["target"], one["state"]) for one in body["changes"]] == [
        ("new-failure", "new failure"),
        ("drift", "drift"),
        ("intermittent", "intermittent"),
        ("moved", "moved"),
        ("slower", "slower"),
        ("larger", "larger"),
        ("gone", "gone"),
        ("fixed", "fixed"),
    ], "what still fails and what is expected wakes nobody"
    assert body["failed"] == 3 and body["states"]["unchanged"] == 1 and body["more"] == 0
    assert body["changes"][1]["operation"] == "aten.addmm in encoder.blocks.0, iteration 3"
    assert body["text"].startswith("reprocheck suite: 3 of 14 targets fail in night 2026-")
    assert "\n- drift: drift. " in body["text"]


def test_nothing_is_sent_where_nothing_changed() -> None:
    hook = Hook()
    assert sent(hook, all_good()) == []
    assert hook.bodies == []


def test_a_thousand_changes_make_a_short_notice() -> None:
    hook = Hook(204)
    assert sent(hook, many()) == []
    body = hook.bodies[0]
    assert len(body["changes"]) == notices.MOST and body["more"] == 1000 - notices.MOST
    assert body["text"].endswith("- and 990 more")
    assert len(json.dumps(body)) < 40_000


def test_names_that_are_no_text_can_be_sent() -> None:
    hook = Hook(200)
    assert sent(hook, SAMPLES["hostile"]()) == []


def test_a_server_that_recovers_gets_the_notice() -> None:
    hook = Hook(500, 503, 200)
    assert sent(hook, one_of_each()) == []
    assert len(hook.bodies) == 3 and hook.bodies[0] == hook.bodies[2]


def test_a_server_that_does_not_recover_is_said_after_three_tries() -> None:
    hook = Hook(500, 500, 502)
    assert sent(hook, one_of_each()) == [
        "The webhook http://127.0.0.1 did not take the notice in 3 tries: it answered 502."
    ]


def test_an_answer_that_another_try_would_not_change_is_said_at_once() -> None:
    hook = Hook(404)
    assert sent(hook, one_of_each()) == [
        "The webhook http://127.0.0.1 did not take the notice: it answered 404."
    ]


@pytest.mark.parametrize("code", [301, 302, 307, 308])
def test_a_redirect_is_not_followed_and_the_new_host_is_said(code: int) -> None:
    hook = Hook(code, location=f"https://hooks.example.org/{SECRET}")
    assert sent(hook, one_of_each()) == [
        "The webhook http://127.0.0.1 did not take the notice: it has moved to"
        " https://hooks.example.org; name the new address in `webhooks`."
    ]
    assert len(hook.bodies) == 1


def test_a_refused_connection_is_said() -> None:
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    assert notices.send([f"http://127.0.0.1:{port}/{SECRET}"], one_of_each(), AT_ONCE) == [
        "The webhook http://127.0.0.1 did not take the notice in 3 tries: Connection refused."
    ]


def test_a_server_that_never_answers_is_given_up() -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        url = f"http://127.0.0.1:{silent.getsockname()[1]}/{SECRET}"
        post = Post(timeout=0.05, pauses=(0.0,), most=20.0)
        assert notices.send([url], one_of_each(), post) == [
            "The webhook http://127.0.0.1 did not take the notice in 2 tries:"
            " it did not answer in time."
        ]
        hurried = Post(timeout=20.0, pauses=(), most=0.05)
        assert notices.send([url], one_of_each(), hurried) == [
            "The webhook http://127.0.0.1 did not take the notice within 0.05 s."
        ]


@pytest.mark.parametrize(
    "url", ["$NIGHTLY_WEBHOOK", "file:///etc/passwd", "hooks", "http://", "", "http://[x"]
)
def test_what_is_no_address_is_said(url: str) -> None:
    said = notices.send([url], one_of_each(), AT_ONCE)
    assert len(said) == 1 and "is no address of a webhook" in said[0]


def test_one_webhook_that_fails_does_not_stop_the_others() -> None:
    hook = Hook(200)
    with hook.listening() as url:
        said = notices.send(["$UNSET", url], one_of_each(), AT_ONCE)
    assert len(said) == 1 and "$UNSET" in said[0] and len(hook.bodies) == 1


def test_an_account_in_the_address_is_sent_as_authorization_and_not_as_a_host() -> None:
    hook = Hook(200)
    with hook.listening() as url:
        named = url.replace("//", "//ann:p%40ss@")
        assert notices.send([named], one_of_each(), AT_ONCE) == []
    assert hook.accounts == [f"Basic {b64encode(b'ann:p@ss').decode()}"]


def test_the_name_of_a_target_stays_where_it_holds_a_value_of_an_argument() -> None:
    now = night(1, ["lm[r=tenant-17]"])
    shown = ShownTarget(explain="reprocheck explain train.py --run tenant-17 --user klaus-w1")
    failed = state(now, now.targets[0], "new failure", sentence_to_paste="klaus-w1: tenant-17")
    one = TargetReport(name=now.targets[0], target=shown, state=failed)
    report = to_paste(NightReport(night=now, targets=(one,)), one)
    (change,) = notices.payload(report, report.targets, {})["changes"]  # type: ignore[misc]
    assert change["target"] == "lm[r=tenant-17]"
    assert change["sentence"] == "<argument>: tenant-17"
