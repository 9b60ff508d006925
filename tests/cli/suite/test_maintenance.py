"""`suite prune`, `suite backup` and `suite doctor`."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from reprocheck.cli import main
from reprocheck.suite.history import open_history
from tests.suite.changes.story import Story, check
from tests.suite.nights import suite_in


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A suite with four nights, of which it keeps the reports of two."""
    monkeypatch.chdir(tmp_path)
    suite = suite_in(tmp_path, "a", keep="2")
    with open_history(suite.history) as history:
        story = Story(history, suite.targets)
        for number in range(4):
            place = f"nights/{story.name(number)}/a/attempt-1"
            (suite.folder / place).mkdir(parents=True)
            (suite.folder / place / "report.html").write_bytes(bytes(500_000))
            story.night(replace(check("a"), folder=place))
    return suite.folder


def test_prune_removes_nothing_until_it_is_told_to(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    before = sorted(folder.rglob("report.html"))
    assert main(["suite", "prune"]) == 0
    said = capsys.readouterr().out
    assert "1.0 MB may go. Nothing was removed: --apply removes it." in said
    assert "reports          2        1.0 MB" in said
    assert sorted(folder.rglob("report.html")) == before
    assert main(["suite", "prune", "--apply"]) == 0
    assert "PRUNED 1.0 MB" in capsys.readouterr().out
    assert sorted(folder.rglob("report.html")) == before[2:]
    assert main(["suite", "prune", "--history", "259"]) == 2
    assert main(["suite", "prune", "--apply", "--history", "260"]) == 0


def test_a_backup_is_a_whole_history(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["suite", "backup", "copy.sqlite"]) == 0
    assert "COPIED copy.sqlite: 4 nights" in capsys.readouterr().out
    with (
        open_history(f"sqlite:///{tmp_path}/copy.sqlite", create=False) as copy,
        open_history(f"sqlite:///{folder}/history.sqlite", create=False) as history,
    ):
        assert copy.checks() == history.checks()
    assert main(["suite", "backup", "copy.sqlite"]) == 2
    assert main(["suite", "backup", "nowhere/copy.sqlite"]) == 2
    assert "Traceback" not in capsys.readouterr().err


def test_doctor_says_what_is_to_be_done(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["suite", "doctor"]) == 1
    said = capsys.readouterr().out
    assert "nights   4, 2026-10-01T02-00-00Z-0000 to 2026-10-04T02-00-00Z-0000" in said
    assert "1.0 MB may go. reprocheck suite prune" in said
    assert main(["suite", "prune", "--apply"]) == 0
    assert main(["suite", "doctor"]) == 0
    assert "ALL GOOD the history is whole" in capsys.readouterr().out
    settings = folder.parent / "reprocheck.toml"
    settings.write_text(settings.read_text().replace("keep = 2\n", ""))
    assert main(["suite", "doctor"]) == 1
    assert "keep = 30" in capsys.readouterr().out


def test_doctor_finds_a_broken_page_of_the_file(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    main(["suite", "backup", "copy.sqlite"])
    broken = bytearray(Path("copy.sqlite").read_bytes())
    place = broken.index(b"nights/2026-10-02")
    broken[place - 2000 : place] = bytes(2000)
    for file in folder.glob("history.sqlite*"):
        file.unlink()
    (folder / "history.sqlite").write_bytes(broken)
    assert main(["suite", "doctor"]) in (1, 2)
    assert "history rebuild" in "".join(capsys.readouterr())
