"""What goes wrong with a history, for real: locked, gone, not writable, full, newer, half made."""

from __future__ import annotations

import os
import signal
import sqlite3
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import psycopg
import pytest
from sqlalchemy import event

from reprocheck._version import __version__
from reprocheck.suite.history import History, HistoryError, open_history
from reprocheck.suite.history.engine import file_of, parsed
from reprocheck.suite.history.errors import DamagedError
from tests.conftest import ROOT
from tests.suite.history import postgres
from tests.suite.history.nights import check, night, record

NOBODY = 65534
IN_POSTGRESQL = pytest.mark.xdist_group(postgres.GROUP)
SHORT = 0.2
"""Seconds for which these tests let a history wait."""


def refused(call: Callable[[], object]) -> HistoryError:
    """The error of a call, which never has the password."""
    with pytest.raises(HistoryError) as found:
        call()
    assert postgres.PASSWORD not in found.value.message + found.value.fix
    assert found.value.message[0].isupper()
    assert found.value.fix
    return found.value


@pytest.fixture
def recorded(url: str) -> str:
    """A history with a night in which one target was checked."""
    with open_history(url) as history:
        record(history, night(1))
    return url


@contextmanager
def changed(url: str, *statements: str) -> Iterator[None]:
    """Another connection has run statements in a transaction, which lasts as long as the block."""
    if url.startswith("sqlite"):
        file = sqlite3.connect(file_of(parsed(url)), isolation_level=None)
        file.execute("BEGIN IMMEDIATE")
        for statement in statements:
            file.execute(statement)
        yield
        file.execute("COMMIT")
        file.close()
        return
    with psycopg.connect(url) as connection:
        for statement in statements:
            connection.execute(statement)
        yield


def test_a_lock_of_another_process_is_waited_for_and_then_named(recorded: str) -> None:
    locks = () if recorded.startswith("sqlite") else ("LOCK TABLE checks",)
    with open_history(recorded, wait=SHORT) as history:
        with changed(recorded, *locks):
            error = refused(lambda: history.add(check(night(1), "bert")))
            assert "stayed locked by another process" in error.message
            assert "--resume" in error.fix
        assert history.add(check(night(1), "bert"))


def test_what_only_reads_does_not_wait_for_who_writes(recorded: str) -> None:
    writes = "DELETE FROM checks"
    with changed(recorded, writes), open_history(recorded, create=False, wait=SHORT) as history:
        assert len(history.checks()) == 1


def test_a_file_that_is_gone_is_noticed_before_anything_is_written(sqlite_url: str) -> None:
    file = file_of(parsed(sqlite_url))
    with open_history(sqlite_url) as history:
        record(history, night(1))
        for one in file.parent.iterdir():
            one.unlink()
        assert "is gone" in refused(lambda: history.add(check(night(1), "bert"))).message
        assert "is gone" in refused(history.nights).message
    assert not file.exists()


def test_a_history_that_is_not_there_is_made_only_where_that_is_asked_for(url: str) -> None:
    error = refused(lambda: open_history(url, create=False))
    assert "There is no history" in error.message
    assert "suite run" in error.fix
    with open_history(url):
        pass
    with open_history(url, create=False) as history:
        assert history.nights() == ()


def test_a_file_that_is_no_database_stays_as_it_is(tmp_path: Path) -> None:
    file = tmp_path / "history.sqlite"
    file.write_text("no database, but a text that is long enough to be looked at" * 100)
    before = file.read_bytes()
    error = refused(lambda: open_history(f"sqlite:///{file}"))
    assert "no readable database" in error.message
    assert file.read_bytes() == before


def in_table(file: Path, text: bytes, place: int, value: int) -> None:
    """One byte of a definition in the database is another one."""
    data = bytearray(file.read_bytes())
    data[data.index(text) + place] = value
    file.write_bytes(data)


DAMAGED: dict[str, Callable[[Path], object]] = {
    "empty": lambda file: file.write_bytes(b""),
    "cut": lambda file: os.truncate(file, file.stat().st_size // 2),
    "cut within its head": lambda file: os.truncate(file, 50),
    "another program's": lambda file: file.write_bytes(os.urandom(5000)),
    "another size of a page": lambda file: in_table(file, b"SQLite format 3", 16, 2),
    "a table that is no UTF-8": lambda file: in_table(file, b"CREATE TABLE checks", 40, 0xFE),
    "a column of another name": lambda file: in_table(file, b"exit_code INT", 0, ord("x")),
}
"""What makes a file of a history one that cannot be read."""


def whole(url: str) -> Path:
    """The file of a history, with all that was written to it."""
    file = file_of(parsed(url))
    with closing(sqlite3.connect(file)) as connection:
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    return file


@pytest.mark.parametrize("damage", DAMAGED)
def test_a_damaged_file_is_told_and_stays_as_it_is(sqlite_url: str, damage: str) -> None:
    with open_history(sqlite_url) as history:
        record(history, night(1))
    file = whole(sqlite_url)
    DAMAGED[damage](file)
    before = file.read_bytes()
    for create in (True, False):
        error = refused(lambda create=create: _read(sqlite_url, create=create))  # type: ignore[misc]
        assert isinstance(error, DamagedError)
        assert str(file) in error.message
        assert "reprocheck suite history rebuild" in error.fix
        assert file.read_bytes() == before


def _read(url: str, *, create: bool) -> object:
    with open_history(url, create=create, wait=SHORT) as history:
        return history.checks()


def test_a_folder_in_the_place_of_the_file_is_told(sqlite_url: str) -> None:
    file_of(parsed(sqlite_url)).mkdir(parents=True)
    error = refused(lambda: open_history(sqlite_url))
    assert "is no file" in error.message
    assert error.fix.startswith("Move it away.")


def test_a_file_that_another_process_is_making_is_waited_for(sqlite_url: str) -> None:
    file = file_of(parsed(sqlite_url))
    file.parent.mkdir()
    file.touch()
    made = threading.Timer(0.1, lambda: sqlite3.connect(file).execute("PRAGMA journal_mode = WAL"))
    made.start()
    with open_history(sqlite_url) as history:
        assert history.nights() == ()


@contextmanager
def as_another_user() -> Iterator[None]:
    """Root may write everywhere: its tests are made as somebody else."""
    if os.geteuid() != 0:
        yield
        return
    os.seteuid(NOBODY)
    try:
        yield
    finally:
        os.seteuid(0)


def test_a_file_in_a_folder_that_may_not_be_written_is_an_error_that_says_so() -> None:
    with tempfile.TemporaryDirectory() as name:  # that of pytest is closed to other users
        folder = Path(name)
        url = f"sqlite:///{folder / 'history.sqlite'}"
        with open_history(url) as history:
            record(history, night(1))
        (folder / "history.sqlite").chmod(0o444)
        folder.chmod(0o555)
        with as_another_user():
            error = refused(lambda: _add_to(url))
            deeper = refused(lambda: open_history(f"sqlite:///{folder / 'new' / 'h.sqlite'}"))
        folder.chmod(0o755)
    assert "may not be written" in error.message
    assert "the file and its folder" in error.fix
    assert "cannot be made: Permission denied" in deeper.message


def _add_to(url: str) -> None:
    with open_history(url) as history:
        history.add(check(night(1), "bert"))


def test_a_file_that_may_be_read_alone_is_read_and_not_written() -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        url = f"sqlite:///{folder / 'history.sqlite'}"
        with open_history(url) as history:
            record(history, night(1))
        (folder / "history.sqlite").chmod(0o444)
        folder.chmod(0o777)
        with as_another_user(), open_history(url) as history:
            assert len(history.checks()) == 1
            error = refused(lambda: history.add(check(night(1), "bert")))
    assert "may not be written" in error.message


@IN_POSTGRESQL
def test_a_user_without_rights_is_told_so(postgresql: postgres.Server, postgresql_url: str) -> None:
    with open_history(postgresql_url) as history:
        record(history, night(1))
    database = parsed(postgresql_url).database
    assert database is not None
    postgresql.tell("CREATE ROLE reader LOGIN")
    postgresql.tell("GRANT SELECT ON ALL TABLES IN SCHEMA public TO reader", database)
    with open_history(postgresql.url(database, user="reader"), create=False) as history:
        assert len(history.checks()) == 1
        error = refused(lambda: history.add(check(night(1), "bert")))
    assert "may not be written" in error.message
    unknown = refused(lambda: open_history(postgresql.url("nowhere")))
    assert 'database "nowhere" does not exist' in unknown.message
    stranger = refused(lambda: open_history(postgresql.url(database, user="stranger")))
    assert 'role "stranger" does not exist' in stranger.message


@IN_POSTGRESQL
def test_a_server_that_is_gone_is_waited_for_and_named_and_may_come_back() -> None:
    with postgres.server() as server:
        url = server.new_database()
        with open_history(url, wait=SHORT) as history:
            record(history, night(1))
            server.stop()
            error = refused(lambda: history.add(check(night(1), "bert")))
            assert "does not answer" in error.message
            assert "--resume" in error.fix
            assert "does not answer" in refused(lambda: open_history(url)).message
            server.start()
            assert history.add(check(night(1), "bert"))
            assert len(history.checks()) == 2


@IN_POSTGRESQL
def test_a_connection_that_the_server_ended_costs_no_check(postgresql_url: str) -> None:
    with open_history(postgresql_url) as history:
        record(history, night(1))
        ended = []

        @event.listens_for(history._engine, "before_cursor_execute")
        def end_once(connection: object, cursor: object, statement: str, *_: object) -> None:
            if statement.startswith("INSERT INTO checks") and not ended:
                ended.append(statement)
                with psycopg.connect(postgresql_url, autocommit=True) as other:
                    other.execute(
                        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
                        " WHERE pid <> pg_backend_pid() AND datname = current_database()"
                    )

        assert history.add(check(night(1), "bert"))
        assert ended
        assert [one.target for one in history.checks()] == ["bert", "resnet"]


def test_a_full_disk_is_named_and_what_was_recorded_stays(recorded: str) -> None:
    large = check(night(1), "bert", curves=os.urandom(1 << 20))
    with open_history(recorded) as history:
        _fill_disk(history, recorded)
        error = refused(lambda: history.add(large))
        assert "no room left on its disk" in error.message
        assert [one.target for one in history.checks()] == ["resnet"]


def _fill_disk(history: History, url: str) -> None:
    """The database fails as where its disk is full."""
    if url.startswith("sqlite"):

        @event.listens_for(history._engine, "connect")
        def limit(connection: sqlite3.Connection, _record: object) -> None:
            pages = connection.execute("PRAGMA page_count").fetchone()[0]
            connection.execute(f"PRAGMA max_page_count = {pages}")

        return
    with changed(
        url,
        "CREATE FUNCTION full_disk() RETURNS trigger LANGUAGE plpgsql AS"
        " $$ BEGIN RAISE 'No space left on device' USING ERRCODE = '53100'; END $$",
        "CREATE TRIGGER full_disk BEFORE INSERT ON curves EXECUTE FUNCTION full_disk()",
    ):
        pass


def test_a_history_of_another_version_names_that_version(recorded: str) -> None:
    with changed(
        recorded,
        "INSERT INTO revisions VALUES ('9999', '99.1', 4e9)",
    ):
        pass
    error = refused(lambda: open_history(recorded))
    assert "was made by reprocheck 99.1 (tables 9999)" in error.message
    assert f"this is {__version__}" in error.message
    assert error.fix.startswith('pip install "reprocheck[suite]==99.1"')


def test_tables_that_reprocheck_did_not_make_are_left_alone(url: str) -> None:
    if url.startswith("sqlite"):
        file_of(parsed(url)).parent.mkdir()
    with changed(url, "CREATE TABLE checks (bank TEXT)"):
        pass
    error = refused(lambda: open_history(url))
    assert "tables named checks" in error.message
    assert "database or a schema of its own" in error.fix


def test_a_history_may_share_a_database_with_other_tables(url: str) -> None:
    if url.startswith("sqlite"):
        file_of(parsed(url)).parent.mkdir()
    with changed(
        url,
        "CREATE TABLE versions (version_num TEXT)",
        "INSERT INTO versions VALUES ('of another program')",
    ):
        pass
    with open_history(url) as history:
        record(history, night(1))
        assert len(history.checks()) == 1


KILLED_MIDWAY = """
import os, signal, sys
from sqlalchemy import event
from reprocheck.suite.history import open_history
from reprocheck.suite.history.tables import states

def kill(*_, **__):
    os.kill(os.getpid(), signal.SIGKILL)

event.listen(states, "after_create", kill)
open_history(sys.argv[1])
"""


def test_tables_of_which_the_making_was_killed_leave_nothing_behind(url: str) -> None:
    killed = subprocess.run([sys.executable, "-c", KILLED_MIDWAY, url], cwd=ROOT, timeout=60)
    assert killed.returncode == -signal.SIGKILL
    with open_history(url) as history:
        record(history, night(1))
        assert len(history.checks()) == 1
