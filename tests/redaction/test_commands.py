"""A small part of `python -m benchmarks.redaction --only commands`: what a check and a night of a
suite write, of a training without a framework.
"""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence

import pytest

from benchmarks import commands, leaks
from benchmarks.commands import Secrets, Written
from benchmarks.leaks import Leak

KINDS = (
    "GitHub token, classic",
    "private key (PEM)",
    "password in a URL",
    "e-mail address",
    "IPv6 address",
    "bank account (IBAN)",
    "user of a service",
)
GROUPS = ("run", "suite")
Result = tuple[Secrets, Mapping[str, Written], Sequence[Leak]]


@pytest.fixture(scope="module")
def result(tmp_path_factory: pytest.TempPathFactory) -> Result:
    secrets = commands.sown(random.Random(11), KINDS)
    place = tmp_path_factory.mktemp("machine")
    every = list(commands.written(place, secrets, only=GROUPS))
    searched = {**secrets, **commands.of_machine(place)}
    found = [leak for written in every for leak in leaks.leaks(written, searched)]
    return secrets, {f"{one.command} ({one.level})": one for one in every}, found


def test_no_file_of_a_command_shows_more_than_its_level_lets_it(result: Result) -> None:
    _, _, found = result
    assert [leak for leak in found if not leak.is_allowed] == []


def test_the_search_finds_what_a_folder_shows(result: Result) -> None:
    """Accounts of banks and of services have no form by which they are known there; in what is sent
    nothing of them is left.
    """
    secrets, _, found = result
    shown = {leak.place for leak in found}
    assert {"argument", "log", "source", "series", "option"} <= shown
    assert {leak.level for leak in found} == {"folder"}
    assert sum(map(len, secrets.values())) > 50


def test_each_command_writes_the_files_that_are_searched(result: Result) -> None:
    _, every, _ = result
    assert list(every) == [
        "run (folder)", "run: Copy for an issue (paste)", "suite run (folder)",
        "suite run: notices (paste)", "suite show --issue (paste)",
    ]  # fmt: skip
    for title, name, text in (
        ("run (folder)", "report.html", b"NOT REPRODUCIBLE"),
        ("run (folder)", "run-1/stdout.log", b"<secret>"),
        ("run: Copy for an issue (paste)", "text", b"### NOT REPRODUCIBLE"),
        ("suite run (folder)", "history.sqlite", b"SQLite format 3"),
        ("suite run: notices (paste)", "notice", b"train"),
        ("suite show --issue (paste)", "fails", b"SCRIPT FAILED"),
    ):
        assert text in every[title].files[name], (title, name)
