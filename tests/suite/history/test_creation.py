"""The tables are made once, and with them which version made them."""

from __future__ import annotations

import time

from sqlalchemy import inspect, select

from reprocheck._version import __version__
from reprocheck.suite.history import open_history
from reprocheck.suite.history.tables import REVISION, metadata, revisions


def test_the_tables_are_those_of_the_code(url: str) -> None:
    with open_history(url) as history, history.reading() as connection:
        for table in metadata.sorted_tables:
            there = inspect(connection).get_columns(table.name)
            types = {one["name"]: str(one["type"].compile(connection.dialect)) for one in there}
            ours = {one.name: one.type.compile(connection.dialect) for one in table.columns}
            assert types == ours, table.name


def test_the_version_that_made_the_tables_is_recorded(url: str) -> None:
    before = time.time()
    for _ in range(2):
        with open_history(url) as history, history.reading() as connection:
            (made,) = connection.execute(select(revisions)).all()
    assert (made.revision, made.reprocheck_version) == (REVISION, __version__)
    assert before <= made.made <= time.time()
