"""Notices: what changed in a night, sent as JSON to the webhooks of the suite.

A notice is sent where a state began in this night that somebody may want to act on. A webhook that
does not answer never fails the night: what became of each is returned, to be said.
"""

from __future__ import annotations

import json
import threading
import time
from base64 import b64encode
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from http.client import HTTPException
from typing import NoReturn
from urllib.error import HTTPError, URLError
from urllib.parse import unquote_to_bytes, urlsplit, urlunsplit
from urllib.request import HTTPRedirectHandler, Request, build_opener

from reprocheck.report.text import joined, line
from reprocheck.suite.model import NightReport, State, TargetReport
from reprocheck.suite.pages import words
from reprocheck.suite.pages.document import clean

SCHEMA_VERSION = 1
TOLD: tuple[State, ...] = (
    "new failure",
    "drift",
    "intermittent",
    "slower",
    "gone",
    "not run",
    "fixed",
)
"""States that a notice tells in the night in which they begin. Those that are expected wake nobody:
unchanged, expected drift, a new target, and one that still fails.
"""
MOST = 50
"""Changes in a notice; it says how many more there are."""
_MOST_IN_TEXT = 10


def changes(report: NightReport) -> list[TargetReport]:
    """Return the targets that a notice tells."""
    night = report.night.id
    return [one for one in report.targets if one.word in TOLD and words.since(one) == night]


def payload(report: NightReport) -> dict[str, object]:
    """Return what is sent. `text` is what Slack, Mattermost and others show of it."""
    changed = changes(report)
    return {
        "schema_version": SCHEMA_VERSION,
        "text": _text(report, changed),
        "night": {"id": report.night.id, "commit": report.night.commit},
        "headline": words.headline(report),
        "failed": len(report.failed),
        "states": report.counts,
        "changes": [_change(one) for one in changed[:MOST]],
        "more": max(0, len(changed) - MOST),
    }


def _text(report: NightReport, changed: Sequence[TargetReport]) -> str:
    rows = [f"reprocheck suite: {words.headline(report)} in night {report.night.id}"]
    rows += [
        f"- {line(one.name)}: {one.word}. {words.sentence(one)}" for one in changed[:_MOST_IN_TEXT]
    ]
    more = len(changed) - _MOST_IN_TEXT
    if more > 0:
        rows.append(f"- and {more:,} more")
    return "\n".join(rows)


def _change(one: TargetReport) -> dict[str, object]:
    operation = ""
    if one.state is not None:
        operation = one.state.operation
    return {
        "target": one.name,
        "state": one.word,
        "failed": one.failed,
        "sentence": words.sentence(one),
        "operation": operation,
    }


@dataclass(frozen=True, kw_only=True, slots=True)
class Post:
    """How a notice is sent.

    timeout  seconds without a sign of life after which a try is given up
    pauses   seconds before each further try
    most     seconds for one webhook in all
    """

    timeout: float = 10.0
    pauses: tuple[float, ...] = (1.0, 5.0)
    most: float = 60.0


def send(webhooks: Sequence[str], report: NightReport, post: Post | None = None) -> list[str]:
    """Send what changed to each webhook; return a sentence for each that did not take it.

    Nothing is sent where nothing changed. Of an address only its host is said: the rest may be a
    secret.
    """
    if not webhooks or not changes(report):
        return []
    body = json.dumps(clean(payload(report)), allow_nan=False).encode()
    deliveries = [_Delivery(url, body, post or Post()) for url in webhooks]
    for delivery in deliveries:
        delivery.start()
    return [said for delivery in deliveries for said in delivery.failure()]


@dataclass
class _Delivery:
    """One notice on its way to one webhook, in a thread that nobody has to wait for."""

    url: str
    body: bytes
    post: Post
    began: float = field(default_factory=time.monotonic)
    ended: threading.Event = field(default_factory=threading.Event)
    said: str = ""

    def start(self) -> None:
        """Begins to send."""
        threading.Thread(target=self._deliver, daemon=True).start()

    def failure(self) -> Iterator[str]:
        """Yield what went wrong, once it has ended or took too long; nothing where it arrived."""
        left = self.began + self.post.most - time.monotonic()
        if not self.ended.wait(max(0.0, left)):
            yield f"{named(self.url)} did not take the notice within {self.post.most:g} s."
        elif self.said:
            yield self.said

    def _deliver(self) -> None:
        try:
            self.said = _delivered(self.url, self.body, self.post)
        finally:
            self.ended.set()


def _delivered(url: str, body: bytes, post: Post) -> str:
    """Try until the webhook takes it; return what the last try came to, "" for success."""
    if not host(url):
        return f"{named(url)} is no address of a webhook. Set it, or remove it from `webhooks`."
    for pause in (0.0, *post.pauses):
        time.sleep(pause)
        try:
            _post(url, body, post.timeout)
        except _Refused as refused:
            return f"{named(url)} did not take the notice: {refused}."
        except (OSError, HTTPException) as error:
            said = _reason(error)
        else:
            return ""
    return f"{named(url)} did not take the notice in {len(post.pauses) + 1} tries: {said}."


class _Refused(Exception):  # noqa: N818 - an answer, not an error
    """An answer that another try would not change."""


class _NoRedirects(HTTPRedirectHandler):
    """A notice goes where it is said to go: urllib would follow with a GET, without the notice."""

    def redirect_request(self, *answer: object, **named: object) -> NoReturn:
        """Refuse it, and say where the webhook went."""
        newurl = str(answer[-1])
        raise _Refused(f"it has moved to {host(newurl)}; name the new address in `webhooks`")


def _post(url: str, body: bytes, timeout: float) -> None:
    """Try once. Raises _Refused, OSError or HTTPException where the notice was not taken."""
    headers = {"Content-Type": "application/json", "User-Agent": "reprocheck"}
    parts = urlsplit(url)
    account, _, server = parts.netloc.rpartition("@")
    if account:
        user, _, password = map(unquote_to_bytes, account.partition(":"))
        headers["Authorization"] = f"Basic {b64encode(user + b':' + password).decode()}"
    address = urlunsplit(parts._replace(netloc=server))
    request = Request(address, data=body, headers=headers, method="POST")
    try:
        with build_opener(_NoRedirects).open(request, timeout=timeout):
            return
    except HTTPError as error:
        error.close()
        may_pass = error.code >= 500 or error.code in (408, 429)
        if may_pass:
            raise
        raise _Refused(f"it answered {error.code}") from None


def _reason(error: Exception) -> str:
    """Return what went wrong, without the address."""
    match error:
        case HTTPError():
            return f"it answered {error.code}"
        case URLError(reason=OSError() as inner):
            return _reason(inner)
        case TimeoutError():
            return "it did not answer in time"
        case OSError():
            return error.strerror or type(error).__name__
    return type(error).__name__


def named(url: str) -> str:
    """Return a webhook as it may be printed: a variable that is not set, or its host."""
    shown = host(url)
    if url.startswith("$"):
        shown = line(url)
    return joined(" ", "The webhook", shown)


def host(url: str) -> str:
    """`https://hooks.example.org`; "" of what is no address of a web server."""
    try:
        parts = urlsplit(url)
        name = parts.hostname
    except ValueError:
        return ""
    if parts.scheme not in ("http", "https") or not name:
        return ""
    return f"{parts.scheme}://{name}"
