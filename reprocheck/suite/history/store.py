"""The history itself: what is written and asked.

What is written is on the disk when the call returns, and writing it again changes nothing: whoever
was killed in between may repeat it.
"""

from __future__ import annotations

import sqlite3
import time
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Self, TypeVar

import msgspec
from sqlalchemy import (
    ColumnElement,
    Connection,
    Engine,
    Select,
    Table,
    delete,
    func,
    insert,
    select,
    tuple_,
    update,
)
from sqlalchemy.engine import URL
from sqlalchemy.exc import DBAPIError, StatementError

from reprocheck.suite.baselines.file import BaselineFile, joined
from reprocheck.suite.history import overview, rows
from reprocheck.suite.history.engine import (
    WRITES,
    engine_of,
    file_of,
    parsed,
    refuse_programs,
    shown,
)
from reprocheck.suite.history.errors import (
    RESTORE,
    DamagedError,
    HistoryError,
    NoHistoryError,
    error_of,
    fault_of,
)
from reprocheck.suite.history.tables import (
    REVISION,
    baselines,
    checks,
    curves,
    facts,
    lists,
    make_tables,
    nights,
    revision_of,
    states,
)
from reprocheck.suite.model import (
    Baseline,
    Key,
    Night,
    OverviewRow,
    PastState,
    TargetCheck,
    TargetState,
)

T = TypeVar("T")
PAUSE = 0.5
"""Seconds between two tries where a server does not answer."""
PATIENCE = 1.0
"""Seconds within which a process that makes a file has written to it."""
_NOT_OURS = (ValueError, TypeError, KeyError, OverflowError, RecursionError, StatementError)
"""What is raised where a row holds other than a history writes."""
CHUNK = 20_000
"""Digests that one statement asks for: SQLite takes 32,766 of them, PostgreSQL twice as many."""
PLACES = CHUNK // 2
"""Pairs of a night and a target that one statement asks for."""
PORTION = 5_000
"""Rows that are read at a time where there may be many."""


def opened(address: str, *, create: bool, wait: float, baselines: Path | None = None) -> History:
    """Return the history at a URL; `reprocheck.suite.history.open_history` says more."""
    url = parsed(address)
    file = BaselineFile(baselines) if baselines else None
    history = History(engine_of(url, wait=wait), shown(address), wait=wait, file=file)
    if url.get_backend_name() == "sqlite":
        _prepare_file(url, history.where, create=create, wait=wait)
    with history.reading() as connection:
        found = revision_of(connection)
    if found is None and not create:
        raise _none_yet(history.where)
    if found != REVISION:
        with history.writing() as connection:
            make_tables(connection, history.where)
    return history


def _none_yet(where: str) -> NoHistoryError:
    return NoHistoryError(
        f"There is no history at {where} yet.",
        "reprocheck suite run makes one. Where folders of nights are there, reprocheck suite"
        " history rebuild makes it of them.",
    )


def _prepare_file(url: URL, where: str, *, create: bool, wait: float) -> None:
    """Make the file of a SQLite history, whose readers do not lock writers out (WAL)."""
    file = file_of(url)
    if not create and not file.exists():
        raise _none_yet(where)
    if file.exists():
        _refuse_empty(file, where)
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        connection = sqlite3.connect(file, timeout=wait)
        try:
            refuse_programs(connection, where)
            connection.execute("PRAGMA journal_mode = WAL")
        finally:
            connection.close()
    except OSError as error:
        raise HistoryError(
            f"The folder of the history at {where} cannot be made: {error.strerror}.",
            "Make it, or name another history in [tool.reprocheck.suite].",
        ) from error
    except (sqlite3.Error, UnicodeDecodeError) as error:
        raise error_of(error, where) from error


def _refuse_empty(file: Path, where: str) -> None:
    """Raise HistoryError if the path is no regular file, or the file is empty.

    SQLite would start a new database in an empty file.
    """
    if not file.is_file():
        raise HistoryError(f"The history at {where} is no file.", f"Move it away. {RESTORE}")
    until = time.monotonic() + PATIENCE
    while not file.stat().st_size:
        if time.monotonic() > until:
            raise DamagedError(
                f"The history at {where} is an empty file: what it held is gone.",
                f"{RESTORE} Where no night was made yet, remove the file.",
            )
        time.sleep(0.01)


class History:
    """Read and write all nights of a suite; a context manager.

    `where`: the URL without its password.

    Every method raises HistoryError if the database does not do what it should.
    """

    def __init__(
        self, engine: Engine, where: str, *, wait: float, file: BaselineFile | None = None
    ) -> None:
        self.where = where
        self.file = file
        self._engine = engine
        self._wait = wait
        self._facts: dict[str, Mapping[str, str]] = {}
        self._lists: dict[str, tuple[str, ...]] = {}

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *raised: object) -> None:
        self.close()

    def close(self) -> None:
        """Close all connections."""
        self._engine.dispose()

    def begin_night(self, night: Night) -> bool:
        """Record a night; return False if it was recorded before.

        A night that was recorded before stays unchanged.
        """
        return self.written(lambda connection: rows.night(connection, night))

    def end_night(self, night: str, ended: float) -> None:
        """Record when a night ended: seconds since 1970."""
        change = update(nights).where(nights.c.id == night).values(ended=ended)
        self.written(lambda connection: connection.execute(change))

    def add(self, check: TargetCheck) -> bool:
        """Record a check; return False if this attempt was recorded before.

        A row that was recorded before stays unchanged.
        """
        return self.add_all((check,)) == 1

    def add_all(self, several: Iterable[TargetCheck]) -> int:
        """Record checks in one transaction, and return how many were new."""
        found = sorted(several, key=lambda one: (one.night, one.target, one.attempt))

        def write(connection: Connection) -> int:
            rows.facts(connection, (each for one in found for each in (one.key.facts, one.beside)))
            rows.curves(connection, (one.curves for one in found))
            return rows.put(connection, checks, map(rows.row_of_check, found))

        return self.written(write)

    def put_states(self, several: Iterable[TargetState]) -> None:
        """Record target states, and replace states of the same night and target."""
        found = {(one.night, one.target): one for one in several}

        def write(connection: Connection) -> None:
            rows.replace(connection, states, map(rows.row_of_state, found.values()))

        self.written(write)

    def accept(self, *several: Baseline) -> None:
        """Record baselines, also in the file of baselines.

        From now on they replace older ones of their targets and environment keys.
        """
        if self.file is not None:
            self.file.put(several)
        self.record_baselines(*several)

    def record_baselines(self, *several: Baseline) -> None:
        """Record baselines in the database alone."""

        def write(connection: Connection) -> None:
            rows.facts(connection, (one for each in several for one in _facts_of(each)))
            rows.curves(connection, (one.curves for one in several))
            for one in several:
                connection.execute(insert(baselines).values(rows.row_of_baseline(one)))

        self.written(write)

    def reset(self, target: str, key: Key | None = None) -> int:
        """Remove the baselines of a target; return how many the database had.

        They are removed from the file of baselines, too. `key`: those of this key alone.
        """
        if self.file is not None:
            self.file.remove(target, key)
        removal = delete(baselines).where(baselines.c.target == target)
        if key is not None:
            removal = removal.where(baselines.c.key == key.digest)
        return self.written(lambda connection: connection.execute(removal).rowcount)

    def nights(self, last: int | None = None) -> tuple[Night, ...]:
        """Return the nights, oldest first; `last`: only so many of the newest."""
        return self._nights(select(nights).order_by(nights.c.id.desc()).limit(last))

    def night(self, name: str) -> Night:
        """Return the night of that name. Raises HistoryError if there is none."""
        found = self._nights(select(nights).where(nights.c.id == name))
        if not found:
            raise HistoryError(
                f"The history at {self.where} has no night {name}.",
                "reprocheck suite history lists the nights.",
            )
        return found[0]

    def checks(
        self,
        night: str | None = None,
        target: str | None = None,
        last: int | None = None,
        *,
        curves: bool = False,
    ) -> tuple[TargetCheck, ...]:
        """Return the checks of a night, of a target or of both, oldest first.

        Each attempt is a check.

        last    return only this many of the newest checks; None: all
        curves  whether to read the packed curves, too; if not, the field `curves` is empty
        """
        query = self._with_curves(checks) if curves else select(checks)
        query = _newest(query, checks, night, target, last).order_by(checks.c.attempt.desc())
        return self._checks(query)

    def final(self, night: str) -> tuple[TargetCheck, ...]:
        """Return the last attempt of each target in a night, with curves, by target."""
        return tuple(
            {check.target: check for check in self.checks(night=night, curves=True)}.values()
        )

    def states(
        self, night: str | None = None, target: str | None = None, last: int | None = None
    ) -> tuple[TargetState, ...]:
        """Return the states of a night, of a target or of both, oldest first.

        `last`: only so many of the newest.
        """
        query = _newest(select(states), states, night, target, last)
        with self._believed():
            return tuple(map(rows.state_of, reversed(self._read(query))))

    def last_states(self, before: str | None = None) -> dict[str, TargetState]:
        """Return the newest state of each target that has one, by name.

        `before`: only of nights before this one.
        """
        columns = states.c
        newest = select(columns.target, func.max(columns.night).label("night"))
        if before is not None:
            newest = newest.where(columns.night < before)
        last = newest.group_by(columns.target).subquery()
        same = (columns.target == last.c.target) & (columns.night == last.c.night)
        with self._believed():
            found = map(rows.state_of, self._read(select(states).join(last, same)))
            return {state.target: state for state in found}

    def failures_of(
        self, targets: Collection[str], last: int, *, before: str
    ) -> dict[str, list[TargetState]]:
        """Return the states of these targets that failed a night before, oldest first, by target.

        last  only of so many of the newest nights of each
        """
        found: dict[str, list[TargetState]] = defaultdict(list)
        if not targets:
            return found
        query = last_of_targets(states, states.c, targets, last, before=before)
        with self._believed():
            for state in map(rows.state_of, self._read(query.where(states.c.failed))):
                found[state.target].append(state)
        return found

    def past_states(
        self, targets: Collection[str], last: int, *, before: str
    ) -> dict[str, list[PastState]]:
        """Return the states of these targets before a night, oldest first, by target.

        last  only so many of the newest of each
        """
        found: dict[str, list[PastState]] = defaultdict(list)
        if not targets:
            return found
        columns = [states.c[name] for name in PastState._fields]
        query = last_of_targets(states, columns, targets, last, before=before)
        for state in self.rows_as(PastState, query):
            found[state.target].append(state)
        with self._believed():
            rows.refuse_other_nights({one.night for several in found.values() for one in several})
        return found

    def commits_at(self, places: Collection[tuple[str, str]]) -> dict[tuple[str, str], str]:
        """Return the commits of checks, by night and target.

        They are those of first attempts; places without a check are left out.
        """
        columns, asked = checks.c, list(places)
        found: dict[tuple[str, str], str] = {}
        for start in range(0, len(asked), PLACES):
            place = tuple_(columns.night, columns.target)
            query = (
                select(columns.night, columns.target, columns.commit)
                .where(place.in_(asked[start : start + PLACES]))
                .order_by(columns.attempt.desc())
            )
            found.update(((row.night, row.target), row.commit) for row in self._read(query))
        return found

    def seconds(self, targets: Collection[str], last: int, *, before: Night) -> dict[str, float]:
        """Return how long each target took.

        It is the longest of its last checks that had ended before a night began.
        """
        columns = (checks.c.target, checks.c.started, checks.c.seconds)
        query = last_of_targets(checks, columns, targets, last, before=before.id)
        found: dict[str, float] = {}
        with self._believed():
            for target, started, seconds in self._read(query):
                if started + seconds <= before.started:
                    found[target] = max(seconds, found.get(target, 0.0))
        return found

    def checks_since(self, night: str) -> Iterator[TargetCheck]:
        """Yield the checks of a night and those after it with their curves, by target and night."""
        since = checks.c.night >= night
        used = self._read(select(checks.c.key, checks.c.beside).where(since).distinct())
        with self._believed(), self.reading() as connection:
            self._learn(facts, self._facts, (digest for row in used for digest in row))
            order = (checks.c.target, checks.c.night, checks.c.attempt)
            query = self._with_curves(checks).where(since).order_by(*order)
            shared = self._shared
            for row in connection.execute(query):
                yield rows.check_of(row, shared)

    def states_since(self, night: str) -> Iterator[TargetState]:
        """Yield the states of a night and those after it, by target and night."""
        query = select(states).where(states.c.night >= night)
        with self._believed(), self.reading() as connection:
            for row in connection.execute(query.order_by(states.c.target, states.c.night)):
                yield rows.state_of(row)

    def rows_as(self, kind: type[T], query: Select[Any]) -> Iterator[T]:
        """Yield the rows of a query as `kind`, a Struct or tuple with the same columns.

        They come from the driver itself: as rows of SQLAlchemy they would cost twice the time.
        """
        kinds = list[kind]  # type: ignore[valid-type]
        with self._believed(), self.reading() as connection:
            cursor = connection.execute(query).cursor
            while portion := cursor.fetchmany(PORTION):
                yield from msgspec.convert(portion, kinds, strict=False)  # a bool is 0 or 1

    def facts_of(
        self, digest: str, beside: Callable[[], Iterable[str]] = tuple
    ) -> Mapping[str, str]:
        """Return facts of an environment.

        beside  digests that are read by the same statement if these facts are not known yet
        """
        if digest not in self._facts:
            with self._believed():
                self._learn(facts, self._facts, (digest, *beside()))
        return self._facts[digest]

    def baseline(self, target: str, key: Key) -> Baseline | None:
        """Return the newest baseline of a target and environment key; None if none was accepted."""
        if self.file is not None:
            same = (one for one in self.baselines(target) if one.key.digest == key.digest)
            return next(same, None)
        query = self._with_curves(baselines).where(
            baselines.c.target == target, baselines.c.key == key.digest
        )
        found = self._baselines(query.order_by(baselines.c.number.desc()).limit(1))
        return found[0] if found else None

    def baselines(self, target: str | None = None) -> tuple[Baseline, ...]:
        """Return all baselines of a target or of all targets.

        They are sorted by target, those accepted last first. Where a file holds those that count,
        the recorded ones are the history of these.
        """
        recorded = self.recorded_baselines(target)
        if self.file is None:
            return recorded
        in_file = (one for one in self.file.read() if target in (None, one.target))
        return joined(in_file, recorded)

    def recorded_baselines(self, target: str | None = None) -> tuple[Baseline, ...]:
        """Return the baselines in the database, as `baselines` does."""
        query = self._with_curves(baselines)
        if target is not None:
            query = query.where(baselines.c.target == target)
        return self._baselines(query.order_by(baselines.c.target, baselines.c.number.desc()))

    def overview(self, last: int = 60) -> tuple[OverviewRow, ...]:
        """Return every target in every one of the last nights: by night, then by target."""
        with self._believed():
            with self.reading() as connection:
                first = connection.scalar(overview.first_query(last)) or ""
                found_checks = connection.execute(overview.checks_query(first)).all()
                found_states = connection.execute(overview.states_query(first)).all()
            return overview.rows_of(found_checks, found_states)

    @contextmanager
    def writing(self) -> Iterator[Connection]:
        """Yield a transaction that writes."""
        with self._in_words(), self._engine.connect() as plain:
            connection = plain.execution_options(**WRITES)
            with connection.begin():
                yield connection

    def written(self, write: Callable[[Connection], T]) -> T:
        """Return the result of `write`, run in a transaction.

        It is tried again if the database server does not answer.
        """
        until = time.monotonic() + self._wait
        while True:
            try:
                with self.writing() as connection:
                    return write(connection)
            except HistoryError as error:
                passes = fault_of(getattr(error.__cause__, "orig", None)).passes
                if not passes or time.monotonic() > until:
                    raise
            time.sleep(PAUSE)

    @contextmanager
    def reading(self) -> Iterator[Connection]:
        """Yield a transaction that reads."""
        with self._in_words(), self._engine.connect() as connection:
            yield connection

    def _read(self, query: Select[Any]) -> Sequence[Any]:
        with self.reading() as connection:
            return connection.execute(query).all()

    @contextmanager
    def _in_words(self) -> Iterator[None]:
        """Turn the exceptions of the database driver within this block into HistoryError."""
        try:
            yield
        except DBAPIError as error:
            raise error_of(error.orig, self.where) from error
        except UnicodeDecodeError as error:  # also in what SQLite says of a broken table
            raise error_of(error, self.where) from error

    def _nights(self, query: Select[Any]) -> tuple[Night, ...]:
        with self._believed():
            found = self._read(query)
            lists_of = (digest for row in found for digest in (row.targets, row.selected))
            self._learn(lists, self._lists, lists_of)
            return tuple(rows.night_of(row, self._shared) for row in reversed(found))

    def _checks(self, query: Select[Any]) -> tuple[TargetCheck, ...]:
        with self._believed():
            found = self._read(query)
            facts_of = (digest for row in found for digest in (row.key, row.beside))
            self._learn(facts, self._facts, facts_of)
            return tuple(rows.check_of(row, self._shared) for row in reversed(found))

    def _baselines(self, query: Select[Any]) -> tuple[Baseline, ...]:
        with self._believed():
            found = self._read(query)
            facts_of = (digest for row in found for digest in (row.key, row.environment))
            self._learn(facts, self._facts, facts_of)
            return tuple(rows.baseline_of(row, self._shared) for row in found)

    @contextmanager
    def _believed(self) -> Iterator[None]:
        """Turn errors from rows that no history can have written into HistoryError.

        This holds for the block within.
        """
        try:
            yield
        except _NOT_OURS as error:
            said = f"{error}".partition("\n")[0]
            raise DamagedError(
                f"The history at {self.where} holds what reprocheck did not write: {said:.300}.",
                f"{RESTORE} One of somebody else's: ask for another copy.",
            ) from error

    @property
    def _shared(self) -> rows.Shared:
        return rows.Shared(self._facts, self._lists)

    def _learn(self, table: Table, known: dict[str, Any], digests: Iterable[str]) -> None:
        """Read the values stored under digests into `known`, each digest once."""
        unknown = sorted(set(digests) - known.keys())
        for start in range(0, len(unknown), CHUNK):
            asked = table.c.digest.in_(unknown[start : start + CHUNK])
            known.update((row[0], row[1]) for row in self._read(select(table).where(asked)))

    def _with_curves(self, table: Table) -> Select[Any]:
        joined = table.outerjoin(curves, table.c.curves == curves.c.digest)
        return select(table, curves.c.packed).select_from(joined)


def _facts_of(baseline: Baseline) -> tuple[Mapping[str, str], Mapping[str, str]]:
    return baseline.key.facts, baseline.environment


def _newest(
    query: Select[Any], table: Table, night: str | None, target: str | None, last: int | None
) -> Select[Any]:
    """Restrict a query to the rows of a night and target, newest first, at most `last` of them."""
    if night is not None:
        query = query.where(table.c.night == night)
    if target is not None:
        query = query.where(table.c.target == target)
    return query.order_by(table.c.night.desc(), table.c.target.desc()).limit(last)


def last_of_targets(
    table: Table,
    columns: Iterable[ColumnElement[Any]],
    targets: Collection[str],
    last: int,
    *,
    before: str,
) -> Select[Any]:
    """Return a query for rows of these targets before a night, by target and night.

    The index of targets finds where each begins.

    last  only rows of so many of the newest nights of each target
    """
    names = select(table.c.target).where(table.c.target.in_(targets)).distinct().subquery()
    row = table.alias()
    first = (
        select(row.c.night)
        .where(row.c.target == names.c.target, row.c.night < before)
        .order_by(row.c.night.desc())
        .limit(1)
        .offset(last - 1)
        .scalar_subquery()
    )
    begins = select(names.c.target, func.coalesce(first, "").label("night")).subquery()
    same = (table.c.target == begins.c.target) & (table.c.night >= begins.c.night)
    order = [table.c[name] for name in ("target", "night", "attempt") if name in table.c]
    return (
        select(*columns)
        .select_from(begins)
        .join(table, same)
        .where(table.c.night < before)
        .order_by(*order)
    )
