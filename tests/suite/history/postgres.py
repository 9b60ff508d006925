"""A real PostgreSQL server for the tests: its own data in a temporary folder, reached through a
socket there, with a new database for every test that asks for one.

Tests that use it share one worker of pytest-xdist, so that one server is started.
"""

from __future__ import annotations

import glob
import os
import pwd
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import count
from pathlib import Path

import pytest

GROUP = "postgresql"
"""The `xdist_group` of all tests that use the server."""
USER = "reprocheck"
PASSWORD = "sesame-of-the-tests"
_numbers = count(1)


@dataclass(frozen=True)
class Server:
    """A server that runs. `folder` holds its data and its socket."""

    folder: Path

    def url(self, database: str = "postgres", user: str = USER) -> str:
        """The URL of a database, with a password that may not be printed."""
        return f"postgresql://{user}:{PASSWORD}@/{database}?host={self.folder}"

    def new_database(self) -> str:
        """The URL of a database of its own."""
        name = f"history_{next(_numbers)}"
        self.tell(f"CREATE DATABASE {name}")
        return self.url(name)

    def tell(self, statement: str, database: str = "postgres") -> None:
        """Runs a statement as the owner of the server."""
        import psycopg

        with psycopg.connect(
            host=str(self.folder), user=USER, dbname=database, autocommit=True
        ) as to:
            to.execute(statement)

    def stop(self) -> None:
        """Ends the server: connections are closed as where a machine goes down."""
        _run("pg_ctl", "-D", str(self.folder / "data"), "-m", "immediate", "-w", "stop")

    def start(self) -> None:
        """Starts the server."""
        options = f"-k {self.folder} -c listen_addresses='' -c fsync=off"
        log = str(self.folder / "log")
        _run("pg_ctl", "-D", str(self.folder / "data"), "-o", options, "-l", log, "-w", "start")


@contextmanager
def server() -> Iterator[Server]:
    """A new server, ended when the block ends."""
    # a socket's path has at most 107 bytes
    folder = Path(tempfile.mkdtemp(prefix="pg-", dir="/tmp"))
    started = Server(folder)
    try:
        if os.geteuid() == 0:
            shutil.chown(folder, "postgres")
        _run("initdb", "-D", str(folder / "data"), "-U", USER, "-A", "trust", "-N", "-E", "UTF8")
        started.start()
        try:
            yield started
        finally:
            started.stop()
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _run(program: str, *arguments: str) -> None:
    """Runs a program of PostgreSQL, which refuses root, as its own user."""
    as_user: dict[str, object] = {}
    if os.geteuid() == 0:
        owner = pwd.getpwnam("postgres")
        as_user = {"user": owner.pw_uid, "group": owner.pw_gid, "extra_groups": []}
    subprocess.run(
        [_found(program), *arguments],
        check=True,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,  # a pipe would be held open by the server
        stderr=subprocess.DEVNULL,
        cwd="/",
        timeout=60,
        **as_user,  # type: ignore[call-overload]
    )


def _found(program: str) -> str:
    places = sorted(glob.glob("/usr/lib/postgresql/*/bin"))
    found = shutil.which(program, path=os.pathsep.join([*places, os.environ.get("PATH", "")]))
    if found is None:
        pytest.skip(f"no {program}: bash .ci/install installs PostgreSQL")
    return found
