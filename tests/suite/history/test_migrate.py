"""The migrations make exactly the tables that the code knows."""

from __future__ import annotations

import time
from pathlib import Path

from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import Connection, inspect, select, text, update

from reprocheck._version import __version__
from reprocheck.suite import history as package
from reprocheck.suite.history import open_history
from reprocheck.suite.history.migrate import VERSION_TABLE, revision_of
from reprocheck.suite.history.tables import REVISION, claims, metadata, revisions
from reprocheck.suite.keys import masked
from reprocheck.suite.model import Baseline, Key, TargetState
from tests.suite.history.nights import check, night, record


def test_the_newest_migration_is_that_of_the_tables() -> None:
    scripts = ScriptDirectory(str(Path(package.__file__).parent / "migrations"))
    assert scripts.get_heads() == [REVISION]


def test_the_migrations_make_the_tables_of_the_code(url: str) -> None:
    with open_history(url) as history, history.reading() as connection:
        context = MigrationContext.configure(
            connection, opts={"version_table": VERSION_TABLE, "compare_type": False}
        )
        assert compare_metadata(context, metadata) == []
        for table in metadata.sorted_tables:
            there = inspect(connection).get_columns(table.name)
            types = {one["name"]: str(one["type"].compile(connection.dialect)) for one in there}
            ours = {one.name: one.type.compile(connection.dialect) for one in table.columns}
            assert types == ours, table.name
        assert revision_of(connection) == REVISION


def _take_back(connection: Connection, revision: str) -> None:
    """Make the tables those of 0003 but for their data, and call them so, or older."""
    connection.execute(text("ALTER TABLE checks DROP COLUMN reason_to_paste"))
    connection.execute(text("ALTER TABLE states DROP COLUMN sentence_to_paste"))
    connection.execute(update(revisions).values(revision=revision))
    connection.execute(text(f"UPDATE {VERSION_TABLE} SET version_num = '{revision}'"))


def test_a_history_of_the_first_tables_keeps_its_checks(url: str) -> None:
    with open_history(url) as history:
        record(history, night(1))
        with history.writing() as connection:
            claims.drop(connection)
            connection.execute(text("ALTER TABLE checks DROP COLUMN source"))
            _take_back(connection, "0001")
    with open_history(url, create=False) as history:
        with history.reading() as connection:
            context = MigrationContext.configure(
                connection, opts={"version_table": VERSION_TABLE, "compare_type": False}
            )
            assert compare_metadata(context, metadata) == []
            assert sorted(connection.scalars(select(revisions.c.revision))) == ["0001", REVISION]
        assert history.checks() == (check(night(1), "resnet"),)
        history.add(check(night(1), "other", source="train.py:1"))


def test_secrets_of_an_older_history_are_masked_and_its_baselines_still_count(url: str) -> None:
    typed = {"torch": "2.13.0", "options": "DB_PASSWORD=pa55word train.py --wandb-key pa55key"}
    plain = {"torch": "2.13.0", "options": "train.py"}
    said = f"options: `{typed['options']}`; login with pa55word failed"
    with open_history(url) as history:
        for day, facts in ((1, typed), (2, plain)):
            found = check(night(day), "resnet", key=Key(facts=facts), curves=b"x", reason=said)
            history.begin_night(night(day))
            history.add(found)
            history.accept(
                Baseline(
                    target="resnet", key=found.key, curves=b"x", why="", who="", when=1.0,
                    environment={**facts, "kernel": "6"},
                )
            )  # fmt: skip
            changed = {"options": (typed["options"], plain["options"])}
            history.put_states(
                [
                    TargetState(
                        night=night(day).id,
                        target="resnet",
                        state="drift",
                        sentence=said,
                        changed=changed,
                    )
                ]
            )
        with history.writing() as connection:
            _take_back(connection, "0003")
    with open_history(url, create=False) as history:
        first, second = history.checks()
        assert first.key == Key(facts=masked(typed)) and second.key == Key(facts=plain)
        assert [one.key for one in history.baselines()] == [second.key, first.key]
        assert history.baselines()[1].environment == {**masked(typed), "kernel": "6"}
        state = history.states()[0]
        assert (first.reason_to_paste, state.sentence_to_paste) == ("", "")
        assert state.changed["options"] == (masked(typed)["options"], "train.py")
        with history.reading() as connection:
            for table in metadata.sorted_tables:
                assert "pa55" not in repr(connection.execute(select(table)).all()), table.name


def test_the_version_that_made_the_tables_is_recorded(url: str) -> None:
    before = time.time()
    for _ in range(2):
        with open_history(url) as history, history.reading() as connection:
            (made,) = connection.execute(select(revisions)).all()
    assert (made.revision, made.reprocheck_version) == (REVISION, __version__)
    assert before <= made.made <= time.time()
