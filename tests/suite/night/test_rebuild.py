"""A history that was lost, made anew from the folders of its nights: the advice of the error, followed."""

from __future__ import annotations

import shutil
import sqlite3
from contextlib import closing
from functools import partial
from pathlib import Path

import pytest

from reprocheck.cli import main
from reprocheck.suite.execution import Performed
from reprocheck.suite.history import HistoryError, open_history, open_suite
from reprocheck.suite.model import Baseline, Night, TargetCheck, TargetState
from reprocheck.suite.night import Options, rebuild, run
from reprocheck.suite.pages import write
from reprocheck.suite.reports import read
from reprocheck.suite.targets import Suite, load
from tests.suite.history.test_errors import DAMAGED, whole
from tests.suite.nights import BAD, GOOD, Prepared, Told, made, suite_in

Held = tuple[tuple[Night, ...], list[TargetCheck], list[TargetState]]


@pytest.fixture(scope="module")
def nights(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A suite with two nights in its folder, one of them with a retry, and an accepted baseline."""
    folder = tmp_path_factory.mktemp("suite")
    reports = {name: made(folder, name, text) for name, text in (("good", GOOD), ("bad", BAD))}
    (folder / "suite").mkdir()
    suite = suite_in(folder / "suite", "a", "b", "gone")
    _night(suite, reports, b=["bad"])
    with open_history(suite.history) as history:
        good = next(iter(history.final(history.nights()[0].id)))
        accepted = Baseline(
            target="a", key=good.key, curves=good.curves, why="It is.", who="me", when=1.0
        )
        history.accept(accepted)
    _night(suite, reports, a=["bad", "good"])
    return suite.folder.parent


def _night(suite: Suite, reports: dict[str, Performed], **comes_to: list[str]) -> None:
    with open_history(suite.history) as history:
        options = Options(retries=1, record=False)
        night = run(suite, history, Prepared(reports, comes_to), options, Told()).night
        write(read(history, night.id, suite), suite.folder / "nights" / night.id)


def held(suite: Suite) -> Held:
    """Nights, checks with their curves, and states of a history."""
    with open_history(suite.history, create=False) as history:
        found = history.nights()
        checks = [one for night in found for one in history.checks(night=night.id, curves=True)]
        return found, checks, [one for night in found for one in history.states(night=night.id)]


@pytest.fixture
def suite(nights: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Suite:
    """A copy of it."""
    shutil.copytree(nights, tmp_path / "suite")
    monkeypatch.chdir(tmp_path / "suite")
    return load(Path.cwd())


@pytest.mark.parametrize("damage", [*DAMAGED, "removed"])
def test_what_the_error_says_gives_the_nights_back(
    suite: Suite, damage: str, capsys: pytest.CaptureFixture[str]
) -> None:
    before, file = held(suite), whole(suite.history)
    DAMAGED.get(damage, Path.unlink)(file)
    damaged = file.read_bytes() if file.exists() else b""
    assert main(["suite", "show"]) == 2
    assert "reprocheck suite history rebuild" in " ".join(capsys.readouterr().err.split())

    assert main(["suite", "history", "rebuild"]) == 0
    assert capsys.readouterr().out.startswith("REBUILT 2 new nights, 8 new checks")
    nights, checks, states = held(suite)
    assert (nights, checks) == before[:2]
    # without a baseline that was lost, nothing is held against it
    as_before = {(one.night, one.target): one.state for one in before[2]}
    assert {(one.night, one.target): one.state for one in states}.keys() == as_before.keys()
    if damage != "removed":
        (aside,) = suite.folder.glob("history.sqlite.damaged-*")
        assert aside.read_bytes() == damaged
    assert main(["suite", "history", "rebuild"]) == 0
    assert capsys.readouterr().out.startswith("REBUILT 0 new nights, 0 new checks")


def test_baselines_that_can_still_be_read_are_taken_over(
    suite: Suite, capsys: pytest.CaptureFixture[str]
) -> None:
    DAMAGED["a column of another name"](whole(suite.history))
    assert main(["suite", "history", "rebuild"]) == 0
    assert "1 baseline could be read" in " ".join(capsys.readouterr().out.split())
    with open_history(suite.history, create=False) as history:
        assert [one.target for one in history.baselines()] == ["a"]


def test_baselines_in_git_are_held_against_what_is_rebuilt(
    suite: Suite, capsys: pytest.CaptureFixture[str]
) -> None:
    text = suite.file.read_text()
    suite.file.write_text(text.replace("[suite]\n", '[suite]\nbaselines = "accepted.json"\n'))
    suite = load(Path.cwd())
    with open_suite(suite) as history:
        history.accept(*history.recorded_baselines())
    accepted = Path("accepted.json").read_bytes()
    whole(suite.history).unlink()
    assert main(["suite", "history", "rebuild"]) == 0
    assert Path("accepted.json").read_bytes() == accepted
    with open_suite(suite) as history:
        (first,) = (one for one in history.states(target="a") if one.state != "intermittent")
    assert "equal to the baseline in every bit" in first.sentence


def test_an_older_copy_is_completed(suite: Suite, capsys: pytest.CaptureFixture[str]) -> None:
    before = held(suite)
    newest = before[0][-1].id
    with open_history(suite.history) as history, history.writing() as connection:
        for table in ("states", "checks"):
            connection.exec_driver_sql(f"DELETE FROM {table} WHERE night = ?", (newest,))
        connection.exec_driver_sql("DELETE FROM nights WHERE id = ?", (newest,))
    assert main(["suite", "history", "rebuild"]) == 0
    assert capsys.readouterr().out.startswith("REBUILT 1 new night, 4 new checks")
    assert held(suite) == before


def test_a_night_without_its_file_and_a_target_that_is_gone(
    suite: Suite, capsys: pytest.CaptureFixture[str]
) -> None:
    before = held(suite)[0]
    for night in before:
        (suite.folder / "nights" / night.id / "night.json").unlink()
    settings = suite.file.read_text()
    suite.file.write_text(settings.replace('name = "gone"', 'name = "renamed"'))
    whole(suite.history).unlink()
    assert main(["suite", "history", "rebuild"]) == 0
    said = " ".join(capsys.readouterr().out.split())
    assert "Not in the suite any more, and left out: gone" in said
    nights, checks, _ = held(load(Path.cwd()))
    assert [night.id for night in nights] == [night.id for night in before]
    assert all(night.ended and night.started < night.ended for night in nights)
    assert {check.target for check in checks} == {"a", "b"}


def test_a_locked_history_is_not_moved_away(suite: Suite, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rebuild, "open_history", partial(open_history, wait=0.2))
    file = whole(suite.history)
    with closing(sqlite3.connect(file, isolation_level=None)) as connection:
        connection.execute("PRAGMA journal_mode = DELETE")
        connection.execute("BEGIN EXCLUSIVE")
        with pytest.raises(HistoryError, match="stayed locked"):
            rebuild.rebuild(suite)
    assert file.exists()
    assert not list(suite.folder.glob("*.damaged-*"))
