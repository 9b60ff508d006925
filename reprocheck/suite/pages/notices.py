"""Notices: what changed in a night, sent as JSON to the webhooks of the suite.

A notice is sent where a state began in this night that somebody may want to act on. A webhook that
does not answer never fails the night: what became of each is returned, to be said.
"""

from __future__ import annotations

import json
import threading
import time
from base64 import b64encode
from collections.abc import Iterator, Mapping, Sequence, Set
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
    "moved",
    "slower",
    "larger",
    "gone",
    "not run",
    "fixed",
)
"""States that a notice tells in the night in which they begin. Those that are expected wake nobody:
unchanged, expected drift, a new target, and one that still fails.
"""
Known = Set[tuple[str, str]]
"""Names of targets, each with the state that it was told to be in."""
MOST = 50
"""Changes in a notice; it says how many more there are."""
_MOST_IN_TEXT = 10


def changes(report: NightReport, known: Known = frozenset()) -> list[TargetReport]:
    """Return the targets that a notice reports. `known`: what was told of this night before."""
    night = report.night.id
    return [
        one
        for one in report.targets
        if _is_told(one) and words.since(one) == night and (one.name, one.word) not in known
    ]


def _is_told(target: TargetReport) -> bool:
    """Return whether somebody may want to act on a target's state.

    What is allowed to fail wakes nobody as long as it is, nor does what a night was not to check.
    """
    quarantine = target.target is not None and bool(target.target.quarantine)
    if target.word in ("known issue", "not run") or (quarantine and target.word == "intermittent"):
        return target.failed
    return target.word in TOLD


def payload(
    report: NightReport, changed: Sequence[TargetReport], owners: Mapping[str, str]
) -> dict[str, object]:
    """Return the JSON content of a notice. `text` is what Slack, Mattermost and others show.

    changed  the targets that it reports
    owners   the owner of each target, by name; "" if it has none
    """
    rows = [f"reprocheck suite: {words.headline(report)} in night {report.night.id}"]
    for one in changed[:_MOST_IN_TEXT]:
        owner = owners.get(one.name, "")
        name = f"{line(one.name)} ({line(owner)})" if owner else line(one.name)
        rows.append(f"- {name}: {one.word}. {words.sentence(one)}")
    if len(changed) > _MOST_IN_TEXT:
        rows.append(f"- and {len(changed) - _MOST_IN_TEXT:,} more")
    return {
        "schema_version": SCHEMA_VERSION,
        "text": "\n".join(rows),
        "night": {"id": report.night.id, "commit": report.night.commit},
        "headline": words.headline(report),
        "failed": len(report.failed),
        "states": report.counts,
        "changes": [_change(one, owners.get(one.name, "")) for one in changed[:MOST]],
        "more": max(0, len(changed) - MOST),
    }


def _change(target: TargetReport, owner: str) -> dict[str, object]:
    return {
        "target": target.name,
        "owner": owner,
        "state": target.word,
        "failed": target.failed,
        "sentence": words.sentence(target),
        "operation": target.state.operation if target.state else "",
        "source": target.state.suspect.source if target.state else "",
        "commits": target.state.suspect.commits if target.state else (),
    }


@dataclass(frozen=True, kw_only=True, slots=True)
class Post:
    """Hold the time limits for sending a notice.

    timeout  seconds without a response after which one try is given up
    pauses   seconds to wait before each further try
    most     seconds for one webhook in all
    """

    timeout: float = 10.0
    pauses: tuple[float, ...] = (1.0, 5.0)
    most: float = 60.0


def send(
    webhooks: Sequence[str],
    report: NightReport,
    post: Post | None = None,
    *,
    owners: Mapping[str, str] | None = None,
    of_owners: Mapping[str, Sequence[str]] | None = None,
    known: Known = frozenset(),
) -> list[str]:
    """Send what changed to each webhook; return a sentence for each webhook that did not accept it.

    owners     the owner of each target, by name
    of_owners  webhooks that are sent what changed at the targets of one owner

    Nothing is sent if nothing changed. A sentence names only the host of a webhook's address,
    because the rest may be a secret.
    """
    owners = owners or {}
    changed = changes(report, known)
    to_send = [(webhooks, changed)]
    for owner, urls in (of_owners or {}).items():
        to_send.append((urls, [one for one in changed if owners.get(one.name) == owner]))
    deliveries = []
    for urls, told in to_send:
        body = json.dumps(clean(payload(report, told, owners)), allow_nan=False).encode()
        deliveries += [_Delivery(url, body, post or Post()) for url in urls if told]
    for delivery in deliveries:
        delivery.start()
    return [said for delivery in deliveries for said in delivery.failure()]


@dataclass
class _Delivery:
    """Send one notice to one webhook, in a thread that need not be waited for."""

    url: str
    body: bytes
    post: Post
    began: float = field(default_factory=time.monotonic)
    ended: threading.Event = field(default_factory=threading.Event)
    said: str = ""

    def start(self) -> None:
        """Start the thread that sends the notice."""
        threading.Thread(target=self._deliver, daemon=True).start()

    def failure(self) -> Iterator[str]:
        """Yield what went wrong, once sending has ended or took too long.

        Yields nothing if the notice arrived.
        """
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
    """Try until the webhook accepts the notice; return the error of the last try, "" on success."""
    if not host(url):
        return (
            f"{named(url)} is no address of a webhook."
            " Set it, or remove it from `webhooks` or `owners`."
        )
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
    """Report an answer of a webhook that another try would not change."""


class _NoRedirects(HTTPRedirectHandler):
    """Refuse redirects, because urllib would follow one with a GET that lacks the notice."""

    def redirect_request(self, *answer: object, **named: object) -> NoReturn:
        """Refuse a redirect, and say where the webhook redirected to."""
        newurl = str(answer[-1])
        raise _Refused(f"it has moved to {host(newurl)}; name the new address in `webhooks`")


def _post(url: str, body: bytes, timeout: float) -> None:
    """Send the notice once. Raises _Refused, OSError or HTTPException if it was not accepted."""
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
    """Return what went wrong, without the address of the webhook."""
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
    """Return a printable name of a webhook: its unset variable, or its host."""
    shown = host(url)
    if url.startswith("$"):
        shown = line(url)
    return joined(" ", "The webhook", shown)


def host(url: str) -> str:
    """Return the host of a URL: `https://hooks.example.org`.

    It is "" if the URL is no address of a web server.
    """
    try:
        parts = urlsplit(url)
        name = parts.hostname
    except ValueError:
        return ""
    if parts.scheme not in ("http", "https") or not name:
        return ""
    return f"{parts.scheme}://{name}"
