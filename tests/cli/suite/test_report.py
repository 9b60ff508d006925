"""`reprocheck suite report`."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from reprocheck.cli import main
from tests.cli.suite import nights
from tests.suite.pages.samples import LIVES, NIGHTS, night_id

NEWEST = night_id(NIGHTS - 1)


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("report")
    nights.make(folder)
    return folder


@pytest.fixture(autouse=True)
def folder(made: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(made)
    return made


def test_pages_and_files_are_drawn_without_running(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["suite", "report"]) == 0
    rows = capsys.readouterr().out.splitlines()
    assert rows[0] == f"Night {NEWEST}: 2 of 8 targets fail"
    assert rows[1] == "  pages  nightly/site/index.html"
    assert len(list((folder / "nightly" / "site" / "targets").iterdir())) == len(LIVES)
    files = {path.name for path in (folder / "nightly" / "nights" / NEWEST).iterdir()}
    assert files == {"night.json", "junit.xml", "summary.md", "annotations.txt"}
    assert main(["suite", "report"]) == 0
    assert "  0 of 36 files written" in capsys.readouterr().out.replace("       0", "  0")


def test_one_format_of_a_named_night_goes_to_stdout_or_a_file(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["suite", "report", night_id(9), "--format", "json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert document["night"]["id"] == night_id(9) and document["failed"] == ["detector"]
    assert main(["suite", "report", "-o", "found.xml"]) == 0
    assert (folder / "found.xml").read_text().startswith("<?xml")


def test_a_night_that_is_not_there_is_said(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["suite", "report", "2020"]) == 2
    assert "has no night 2020" in capsys.readouterr().err
