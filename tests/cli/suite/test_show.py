"""`reprocheck suite show`."""

from __future__ import annotations

from pathlib import Path

import pytest

from reprocheck.cli import main
from tests.cli.suite import nights
from tests.suite.pages.samples import NIGHTS, night_id

NEWEST = night_id(NIGHTS - 1)


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("show")
    nights.make(folder)
    return folder


@pytest.fixture(autouse=True)
def folder(made: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(made)
    return made


def shown(capsys: pytest.CaptureFixture[str], *words: str) -> list[str]:
    assert main(["suite", "show", *words]) == 0
    rows = capsys.readouterr().out.splitlines()
    assert all(len(row) <= 80 for row in rows if not row.startswith("    reprocheck ")), rows
    return rows


def test_the_newest_night_has_what_changed_within_80_columns(
    capsys: pytest.CaptureFixture[str],
) -> None:
    rows = shown(capsys)
    assert rows[0] == "2 of 8 targets fail"
    assert any(row.split() == ["night", NEWEST] for row in rows)
    table = [row.split()[0] for row in rows if row.startswith("  ") and " s  " in row]
    assert table == ["transformer", "diffusion[lr=0.1,seed=2]", "gan", "detector"]
    assert "  3 unchanged; --all shows them." in rows
    assert rows[-1] == "more: reprocheck suite show transformer"


def test_all_targets_and_an_older_night(capsys: pytest.CaptureFixture[str]) -> None:
    rows = shown(capsys, night_id(12), "--all")
    assert rows[0] == "None of 7 targets fails"
    assert any(row.startswith("  tokenizer") and "expected drift" in row for row in rows)
    assert sum("unchanged" in row and "As in" in row for row in rows) == 6


def test_a_target_has_its_differences_and_the_commands_that_follow(
    capsys: pytest.CaptureFixture[str],
) -> None:
    rows = shown(capsys, "transformer")
    text = " ".join(" ".join(rows).split())
    assert rows[0] == "transformer: drift"
    for said in (
        "operation aten.addmm in encoder.blocks.0, iteration 3",
        "loss differs from step 3 on: 0.50000006 against 0.5 (1 ULP)",
        "by Ada Example",
        f'reprocheck suite baseline accept transformer --night {night_id(23)} --why "REASON"',
        f"reprocheck suite bisect transformer --good {night_id(19)} --bad {night_id(20)}",
    ):
        assert said in text


def test_a_target_in_an_older_night_and_the_text_of_an_issue(
    capsys: pytest.CaptureFixture[str],
) -> None:
    text = "\n".join(shown(capsys, "detector", "--night", night_id(9)))
    assert text.startswith("detector: still failing") and "--by verdict" in text
    assert main(["suite", "show", "detector", "--night", night_id(9), "--issue"]) == 0
    issue = capsys.readouterr().out
    assert issue.startswith("# detector: still failing since night ")
    assert "## How to reproduce" in issue


def test_an_expected_drift_has_the_search_for_its_change(
    capsys: pytest.CaptureFixture[str],
) -> None:
    text = " ".join(" ".join(shown(capsys, "tokenizer", "--night", night_id(12))).split())
    nights = f"--good {night_id(11)} --bad {night_id(12)}"
    assert f"reprocheck suite bisect tokenizer {nights}" in text


def test_a_name_that_nothing_has_is_answered_with_the_nearest(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert main(["suite", "show", "transfromer"]) == 2
    assert "Did you mean transformer?" in capsys.readouterr().err


def test_without_a_night_it_says_what_makes_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "reprocheck.toml").write_text(nights.SUITE)
    monkeypatch.chdir(tmp_path)
    assert main(["suite", "show"]) == 2
    assert "reprocheck suite run makes one." in capsys.readouterr().err
