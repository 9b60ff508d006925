"""How often a night asks its history: as often for many targets and nights as for few."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from unittest import mock

import pytest
from sqlalchemy import Engine, event

from reprocheck.suite import reports, site
from reprocheck.suite.execution import Performed
from reprocheck.suite.history import History, open_history
from reprocheck.suite.model import Suspect, TargetCheck, TargetState
from reprocheck.suite.night import Options, run
from reprocheck.suite.night.deeper import with_commits
from reprocheck.suite.targets import load
from tests.suite.changes.story import CURVE, Story, check, packed
from tests.suite.history import postgres
from tests.suite.nights import Prepared, Told, suite_in

KINDS = ("steady", "fails", "drifts", "varies", "bare", "weekly", "rare")
WITHOUT_BASELINE = ("bare", "rare")
MOST = 60
"""Statements of a whole night beside those that write its checks."""


@contextmanager
def counted() -> Iterator[list[str]]:
    """The statements within the block, but for those that write a check that has ended."""
    statements: list[str] = []

    def note(*arguments: object) -> None:
        if arguments[2] != "BEGIN":
            statements.append(str(arguments[2]))

    def add_all(history: History, several: object) -> int:
        before = len(statements)
        added = original(history, several)
        del statements[before:]
        return added

    original = History.add_all
    event.listen(Engine, "before_cursor_execute", note)
    try:
        with mock.patch.object(History, "add_all", add_all):
            yield statements
    finally:
        event.remove(Engine, "before_cursor_execute", note)


def of_kind(name: str, night: int) -> TargetCheck | None:
    """The check of a target in a night."""
    kind, _, number = name.partition("-")
    if kind == "weekly" and night % 7:
        return None
    if kind == "rare" and night % 7 != int(number):
        return None
    if kind == "varies":
        values = tuple(value * (1 + night / 1000) for value in CURVE)
        return check(name, bitwise=False, curves=packed(values))
    if kind == "drifts" and night:
        return check(name, curves=packed((*CURVE[:3], 0.25)))
    return check(name, good=kind != "fails" or night < 2)


def asked(folder: Path, url: str, *, each: int, nights: int) -> int:
    """The statements of a night of `each` targets of each kind, after so many nights."""
    names = [f"{kind}-{number}" for kind in KINDS for number in range(each)]
    lines = "".join(f'[[target]]\nname = "{name}"\nrun = "train.py"\n' for name in names)
    (folder / "reprocheck.toml").write_text(f'[suite]\nhistory = "{url}"\n{lines}')
    (folder / "train.py").touch()
    suite = load(folder)
    with open_history(suite.history) as history:
        story = Story(history, suite.targets)
        for night in range(nights):
            found = (of_kind(name, night) for name in names)
            story.night(*(one for one in found if one is not None))
            if night == 0:
                for name in names:
                    if name.startswith(WITHOUT_BASELINE):
                        continue
                    first = of_kind(name, 0)
                    assert first is not None
                    story.accept(first, bitwise=not name.startswith("varies"))

        def read(performed: Performed) -> TargetCheck:
            name = performed.job.target.name
            made = of_kind(name, 7) or check(name)
            return replace(made, night=performed.job.night, started=performed.started)

        site.write(history, suite)
        with counted() as statements, mock.patch("reprocheck.suite.night.run.read", read):
            outcome = run(suite, history, Ended({}), Options(), Told())
            reports.read(history, outcome.night.id, suite)
            site.write(history, suite)
    return len(statements)


class Ended(Prepared):
    """An executor whose jobs have ended as soon as they have begun."""

    def wait(self, seconds: float) -> list[Performed]:
        return [Performed(job=self.waiting.pop(), started=1.8e9, seconds=10.0)]


@pytest.mark.parametrize(
    "engine", ["sqlite", pytest.param("postgresql", marks=pytest.mark.xdist_group(postgres.GROUP))]
)
def test_a_night_asks_as_often_whatever_the_number_of_targets_and_nights(
    engine: str, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    counts = []
    for each, nights in ((1, 3), (4, 16)):
        folder = tmp_path / f"{each}"
        folder.mkdir()
        url = f"sqlite:///{folder / 'history.sqlite'}"
        if engine == "postgresql":
            url = request.getfixturevalue("postgresql").new_database()
        counts.append(asked(folder, url, each=each, nights=nights))
    few, many = counts
    assert many <= few
    assert many <= MOST


def test_the_commits_behind_differences_are_asked_for_at_once(tmp_path: Path) -> None:
    counts = []
    for number in (1, 5):
        folder = tmp_path / f"{number}"
        folder.mkdir()
        suite = suite_in(folder, *(f"t{one}" for one in range(number)))
        with open_history(suite.history) as history:
            story = Story(history, suite.targets)
            for _ in range(number + 1):
                story.night(*(check(target.name) for target in suite.targets))
            night = history.nights()[-1]
            states = [
                TargetState(
                    night=night.id,
                    target=target.name,
                    state="drift",
                    failed=True,
                    suspect=Suspect(source="train.py:1"),
                )
                for target in suite.targets
            ]
            with (
                counted() as statements,
                mock.patch("reprocheck.suite.night.deeper.commits_of", lambda _, since: (since,)),
            ):
                found = with_commits(suite, history, night, states)
            assert {state.suspect.commits for state in found} == {("c0ffee",)}
        counts.append(len(statements))
    assert counts[0] == counts[1]
