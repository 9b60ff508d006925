"""Commands of reprocheck without the time that their imports take: one process has imported the
package, and each command runs in a fork of it.

Of a check of a script that trains in no time, the imports are two thirds. What a command does at its
start must be seen in a process of its own: `fits` names what a fork cannot repeat.
"""

from __future__ import annotations

import importlib
import json
import os
import socket
import subprocess
import sys
import threading
from collections.abc import Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryFile
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
_READ_AT_START = ("PYTHON", "LANG", "LC_", "LD_", "MALLOC_")
"""How the variables begin that an interpreter reads once, when it starts."""
_NOT_OF_COMMANDS = ("reprocheck.child", "reprocheck.pytest_plugin", "reprocheck.__main__")
_LONGEST = 1 << 17
"""Bytes of a request: its words and its environment."""


def _read_at_start(environment: Mapping[str, str]) -> dict[str, str]:
    return {name: value for name, value in environment.items() if name.startswith(_READ_AT_START)}


class CommandServer:
    """The process that has imported reprocheck, as one of its clients sees it.

    harmless_path  a value of `PYTHONPATH` that means nothing to the command itself
    """

    def __init__(self, environment: Mapping[str, str], *, harmless_path: str) -> None:
        self._environment = dict(environment)
        self._harmless_path = harmless_path
        self._lock = threading.Lock()
        self._connection, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        with theirs:
            self._process = subprocess.Popen(
                [sys.executable, "-m", "tests.command_server", str(theirs.fileno())],
                cwd=ROOT,
                env=self._environment,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                pass_fds=[theirs.fileno()],
            )

    def fits(self, environment: Mapping[str, str]) -> bool:
        """Return whether an interpreter would start alike, and no other command is under way."""
        path = environment.get("PYTHONPATH")
        if path == self._harmless_path:
            path = self._environment.get("PYTHONPATH")
        given, own = (_read_at_start(one) for one in (environment, self._environment))
        alike = {**given, "PYTHONPATH": path} == {"PYTHONPATH": None, **own}
        return alike and not self._lock.locked()

    def run(
        self, words: Sequence[str], *, cwd: Path, environment: Mapping[str, str], timeout: float
    ) -> subprocess.CompletedProcess[str]:
        """Run `reprocheck WORDS` with nothing on its standard input.

        Raises subprocess.TimeoutExpired, and ends the command, as `subprocess.run` does.
        """
        request = {"words": words, "cwd": str(cwd), "environment": dict(environment)}
        with self._lock, TemporaryFile() as stdout, TemporaryFile() as stderr:
            streams = [stdout.fileno(), stderr.fileno()]
            socket.send_fds(self._connection, [json.dumps(request).encode()], streams)
            pid = int(self._connection.recv(_LONGEST))
            self._connection.settimeout(timeout)
            try:
                exit_code = int(self._connection.recv(_LONGEST))
            except TimeoutError:
                os.kill(pid, 9)
                self._connection.settimeout(None)
                self._connection.recv(_LONGEST)
                raise subprocess.TimeoutExpired(list(words), timeout) from None
            finally:
                self._connection.settimeout(None)
            said = [_text_of(stream) for stream in (stdout, stderr)]
        return subprocess.CompletedProcess(list(words), exit_code, *said)

    def close(self) -> None:
        """End the process."""
        self._connection.close()
        self._process.wait()


def _text_of(stream: Any) -> str:
    stream.seek(0)
    text: str = stream.read().decode("utf-8", errors="replace")
    return text.replace("\r\n", "\n")


# ------------------------------------------------------------------------------------ in the server


def _serve(connection: socket.socket) -> int:
    """Answer requests until there are no more; in a fork, return what its command returns."""
    _import_reprocheck()
    path = sys.path[1:]
    while True:
        request, streams, _, _ = socket.recv_fds(connection, _LONGEST, 2)
        if not request:
            return 0
        pid = os.fork()
        if not pid:
            connection.close()
            return _command(json.loads(request), streams, path)
        for stream in streams:
            os.close(stream)
        connection.send(str(pid).encode())
        _, status = os.waitpid(pid, 0)
        connection.send(str(os.waitstatus_to_exitcode(status)).encode())


def _import_reprocheck() -> None:
    for file in sorted((ROOT / "reprocheck").rglob("*.py")):
        name = ".".join(file.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")
        if not name.startswith(_NOT_OF_COMMANDS):
            importlib.import_module(name)


def _command(request: dict[str, Any], streams: Sequence[int], path: list[str]) -> int:
    """Become what `python -m reprocheck WORDS` is once it has imported everything."""
    for stream, number in zip(streams, (1, 2), strict=True):
        os.dup2(stream, number)
        os.close(stream)
    os.chdir(request["cwd"])
    os.environ.clear()
    os.environ.update(request["environment"])
    sys.path[:] = [request["cwd"], *path]
    sys.argv = [str(ROOT / "reprocheck" / "__main__.py"), *request["words"]]

    from reprocheck.cli import main

    return main()


if __name__ == "__main__":
    sys.exit(_serve(socket.socket(fileno=int(sys.argv[1]))))
