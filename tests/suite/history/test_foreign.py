"""A history from somebody else: a file of SQLite holds any value in any column, and programs."""

from __future__ import annotations

import shutil
import sqlite3
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from hypothesis import given, settings, strategies as st

from reprocheck.errors import ReprocheckError
from reprocheck.suite import site
from reprocheck.suite.history import HistoryError, open_history
from reprocheck.suite.history.engine import url_of_file
from reprocheck.suite.history.tables import metadata
from reprocheck.suite.model import Baseline, Difference, TargetState
from tests.recording.fuzz.test_readers import EXAMPLES, often
from tests.suite.history.nights import KEY, check, night
from tests.suite.pages.samples import curves, suite_of, target

NAMES = ("gan", "resnet")
COLUMNS = [(table.name, column.name) for table in metadata.tables.values() for column in table.c]
VALUES = (
    *(None, 0, -1, 2**63 - 1, 1e308, float("inf"), -1e12, b"\xff\x00", b"RCC1", "", "x"),
    *("../../x", "/etc/passwd", "a/b", "\x1b[2J", "[]", "{}", '{"a": 1}', "[1]", '[{"series": 1}]'),
    *("[" * 100_000, "9" * 5_000, "1-9999/9999", "<script>alert(1)</script>"),
)


@pytest.fixture(scope="module")
def honest(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A history with two nights of two targets, a row in every table."""
    file = tmp_path_factory.mktemp("honest") / "history.sqlite"
    packed = curves()
    with open_history(url_of_file(file)) as history:
        for number in (1, 2):
            now = night(number, targets=NAMES, selected=NAMES)
            history.begin_night(now)
            history.add_all(check(now, name, curves=packed) for name in NAMES)
            drift = (Difference(series="loss", first_bit=1, relative=0.5),)
            history.put_states(
                TargetState(night=now.id, target=name, state="drift", drift=drift) for name in NAMES
            )
        history.accept(
            Baseline(target="gan", key=KEY, curves=packed, why="It is.", who="me", when=1.0)
        )
    changed(file, "INSERT INTO parts VALUES ('a', ?)", now.id)
    changed(file, "PRAGMA journal_mode = DELETE")
    return file


@contextmanager
def copied(file: Path) -> Iterator[Path]:
    """The file, alone in a new folder."""
    with tempfile.TemporaryDirectory() as folder:
        yield Path(shutil.copy(file, Path(folder, "nightly.sqlite")))


def changed(file: Path, statement: str, *values: object) -> None:
    with sqlite3.connect(file, isolation_level=None) as connection:
        connection.execute("PRAGMA ignore_check_constraints = ON")
        connection.execute(statement, values)
    connection.close()


def drawn(file: Path) -> None:
    """All that a history says, and its site; or an error that says what is wrong."""
    suite = suite_of(file.parent, *map(target, NAMES))
    try:
        with open_history(url_of_file(file)) as history:
            history.baselines()
            site.write(history, suite)
    except ReprocheckError as error:
        assert error.message and error.fix
        assert len(error.message) < 1_000


@given(st.sampled_from(COLUMNS), st.sampled_from(VALUES))
@settings(often, max_examples=max(EXAMPLES // 8, 10))
def test_any_value_in_any_column_is_read_or_refused(
    honest: Path, place: tuple[str, str], value: object
) -> None:
    table, column = place
    with copied(honest) as file:
        try:
            changed(file, f'UPDATE OR IGNORE "{table}" SET "{column}" = ?', value)
        except sqlite3.IntegrityError:
            return
        drawn(file)
        outside = {path.name for path in file.parent.parent.glob("x*")}
        assert "x.html" not in outside


@given(
    st.lists(st.tuples(st.integers(0, 1 << 17), st.integers(0, 255)), max_size=6),
    st.lists(st.integers(0, 400), max_size=2),
    st.none() | st.integers(0, 1 << 17),
)
@settings(often, max_examples=max(EXAMPLES // 8, 10))
def test_any_bytes_are_a_history_or_refused(
    honest: Path, anywhere: list[tuple[int, int]], in_definitions: list[int], length: int | None
) -> None:
    with copied(honest) as file:
        data = bytearray(file.read_bytes())
        beginning = data.index(b"CREATE")
        for place, value in (*anywhere, *((beginning + at, 0xFE) for at in in_definitions)):
            data[place % len(data)] = value
        file.write_bytes(data[:length])
        drawn(file)


@pytest.mark.parametrize(
    ("statement", "kind"),
    [
        ("CREATE TRIGGER run AFTER INSERT ON nights BEGIN DELETE FROM checks; END", "trigger"),
        ("CREATE VIEW checks AS SELECT 1", "view"),
        ("CREATE VIRTUAL TABLE checks USING fts5(night)", "virtual table"),
        ("ALTER TABLE checks ADD COLUMN more AS (zeroblob(999999999))", "generated column"),
    ],
)
def test_a_table_that_is_a_program_is_refused(honest: Path, statement: str, kind: str) -> None:
    with copied(honest) as file:
        if kind in ("view", "virtual table"):
            changed(file, "ALTER TABLE checks RENAME TO other")
        changed(file, statement)
        with pytest.raises(HistoryError, match=f"holds a {kind} '") as caught:
            open_history(url_of_file(file))
        assert caught.value.fix


@pytest.mark.parametrize(
    "name",
    ["../../x", ".hidden", "n\n", "x" * 300],
    ids=["away", "hidden", "two lines", "long"],
)
def test_a_night_whose_name_is_no_name_of_a_file_is_refused(honest: Path, name: str) -> None:
    with copied(honest) as file:
        changed(file, "UPDATE OR IGNORE checks SET night = ?", name)
        with pytest.raises(HistoryError, match="is the name of no night"):
            open_history(url_of_file(file)).checks()
        changed(file, "UPDATE OR IGNORE nights SET id = ?", name)
        with pytest.raises(HistoryError, match="is the name of no night"):
            open_history(url_of_file(file)).nights()


@pytest.mark.parametrize("place", ["/etc", "../../x", "nights/../../x", "a\0b"])
def test_a_place_outside_of_the_suite_is_as_good_as_gone(honest: Path, place: str) -> None:
    with copied(honest) as file:
        changed(file, "UPDATE checks SET folder = ?", place)
        changed(file, "UPDATE baselines SET recording = ?", place)
        with open_history(url_of_file(file)) as history:
            assert {one.folder for one in history.checks()} == {""}
            assert {one.recording for one in history.baselines()} == {""}
