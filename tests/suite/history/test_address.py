"""The URL of a history: what is understood, and that no password of one is ever shown."""

from __future__ import annotations

from pathlib import Path

import pytest

from reprocheck.suite.history import HistoryError, open_history
from reprocheck.suite.history.engine import file_of, parsed, shown, url_of_file


@pytest.mark.parametrize("kind", ["postgres", "postgresql", "postgresql+psycopg"])
def test_postgresql_is_reached_through_psycopg_however_it_is_written(kind: str) -> None:
    read = parsed(f"{kind}://me:secret@host:5433/nightly")
    assert read.drivername == "postgresql+psycopg"
    assert (read.host, read.port, read.database) == ("host", 5433, "nightly")


def test_the_path_of_a_file_may_have_any_characters(tmp_path: Path) -> None:
    file = tmp_path / "50% of #1?x=y &c" / "history.sqlite"
    assert file_of(parsed(url_of_file(file))) == file
    with open_history(url_of_file(file)) as history:
        assert history.nights() == ()
    assert file.is_file()


@pytest.mark.parametrize(
    ("url", "said", "advice"),
    [
        ("nightly/history.sqlite", "no URL of a history", "sqlite:////folder"),
        ("", "no URL of a history", "sqlite:////folder"),
        ("sqlite:/tmp/h.sqlite", "no URL of a history", "four slashes"),
        ("sqlite://h.sqlite", "names no file", "four slashes"),
        ("sqlite:///:memory:", "names no file", "four slashes"),
        ("postgresq://me:secret@host/db", "no URL of a history", "Did you mean postgresql://?"),
        ("postgresql:me:secret@host/db", "no URL of a history", "postgresql://user"),
        ("postgresql://me:secret@host:port/db", "no URL of a history", "postgresql://user"),
        ("postgresql+psycopg2://me:secret@host/db", "no URL", "Did you mean postgresql+psycopg"),
        ("mysql://me:secret@host/db", "no URL of a history", "postgresql://user"),
        ("postgresql://me:sec@ret@host/db", "has an @ in its password", "%40"),
        ("$NIGHTLY_HISTORY", "variable is not set", "Set it"),
    ],
)
def test_a_url_with_a_mistake_is_refused_with_what_to_write(
    url: str, said: str, advice: str
) -> None:
    with pytest.raises(HistoryError) as refused:
        open_history(url)
    assert said in refused.value.message
    assert advice in refused.value.fix
    assert "sec" not in refused.value.message


@pytest.mark.parametrize(
    ("url", "seen"),
    [
        ("postgresql://me:secret@host/db", "postgresql://me:***@host/db"),
        ("postgresql://me@host/db", "postgresql://me@host/db"),
        ("postgresql://host/db?sslmode=require", "postgresql://host/db?sslmode=require"),
        ("sqlite:////data/h.sqlite", "sqlite:////data/h.sqlite"),
    ],
)
def test_a_url_is_shown_without_its_password(url: str, seen: str) -> None:
    assert shown(url) == seen


def test_a_password_behind_the_question_mark_is_not_shown_either() -> None:
    assert "secret" not in shown("postgresql://me@host/db?password=secret&sslpassword=secret")


def test_a_driver_that_is_missing_is_named_with_its_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("reprocheck.suite.history.engine.find_spec", lambda name: None)
    with pytest.raises(HistoryError) as refused:
        open_history("postgresql://me:secret@host/db")
    assert "psycopg" in refused.value.message
    assert refused.value.fix == 'pip install "reprocheck[postgresql]"'
    assert "secret" not in refused.value.message


def test_without_its_library_a_history_names_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        "reprocheck.suite.history.find_spec",
        lambda name: None if name == "sqlalchemy" else object(),
    )
    with pytest.raises(HistoryError) as refused:
        open_history("sqlite:////tmp/h.sqlite")
    assert refused.value.fix == 'pip install "reprocheck[suite]"'
