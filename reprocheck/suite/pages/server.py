"""The site on loopback: for a browser on this machine, and for nobody else."""

from __future__ import annotations

import errno
from functools import partial
from http import HTTPStatus
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

from reprocheck.errors import UsageError
from reprocheck.report.page import own_policy
from reprocheck.suite.pages.links import INDEX, SITE

HOST = "127.0.0.1"
SERVED = (SITE, "nights")
"""Folders of the suite that are served; the history is not."""
_NAMES = ("127.0.0.1", "localhost")
POLICY = (
    "default-src 'none'; style-src 'self' 'unsafe-inline'; script-src 'self'; img-src data:;"
    " base-uri 'none'; form-action 'none'"
)
"""What pages of the site may load; they say so themselves, too."""


class Handler(SimpleHTTPRequestHandler):
    """Files of the site and of the nights; no listings of folders, no log.

    A request under another name than that of this machine is refused: a page of the web may have
    had its name resolved to loopback. A report runs the scripts of our own reports alone: another
    machine may have made the file.
    """

    def do_GET(self) -> None:
        """A file; from the root to the overview."""
        if self.path == "/":
            self.send_response(HTTPStatus.FOUND)
            self.send_header("Location", f"/{SITE}/{INDEX}")
            self.end_headers()
        else:
            super().do_GET()

    def send_head(self):  # type: ignore[no-untyped-def]
        """The head of an answer, and the file; None where it is refused."""
        name = self.headers.get("Host", "").rpartition(":")[0] or self.headers.get("Host", "")
        if name not in _NAMES:
            self.send_error(HTTPStatus.FORBIDDEN)
            return None
        if not self._may_be_read():
            self.send_error(HTTPStatus.NOT_FOUND)
            return None
        return super().send_head()

    def _may_be_read(self) -> bool:
        """Whether the path leads to a file in one of the folders, also where it is a link."""
        root = Path(self.directory).resolve()
        asked = Path(self.translate_path(self.path)).resolve()
        return any(asked.is_relative_to(root / folder) for folder in SERVED) and asked.is_file()

    def end_headers(self) -> None:
        """Pages are drawn again while a browser shows them: it asks each time."""
        self.send_header("Cache-Control", "no-cache")
        self.send_header("X-Content-Type-Options", "nosniff")
        self.send_header("Content-Security-Policy", self._policy())
        super().end_headers()

    def _policy(self) -> str:
        if Path(self.translate_path(self.path)).is_relative_to(Path(self.directory, SITE)):
            return POLICY
        return own_policy()

    def log_message(self, format: str, *args: object) -> None:
        """Says nothing."""


class Server(ThreadingHTTPServer):
    """The folder of a suite on a port of loopback."""

    daemon_threads = True

    @property
    def url(self) -> str:
        """The address of the overview."""
        return f"http://{HOST}:{self.server_port}/"


def server(folder: Path, port: int) -> Server:
    """A server that listens; `serve_forever` answers. Port 0: one that is free.

    Raises UsageError where the port is taken or may not be used.
    """
    try:
        return Server((HOST, port), partial(Handler, directory=str(folder)))
    except OSError as error:
        said = _SAID.get(error.errno or 0, f"cannot be listened on: {error.strerror}")
        raise UsageError(f"Port {port} {said}.", "--port 0 takes one that is free.") from None


_SAID = {
    errno.EADDRINUSE: "is in use",
    errno.EACCES: "is kept for the system",
    errno.EPERM: "is kept for the system",
}
