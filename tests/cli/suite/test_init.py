"""`reprocheck suite init`: the table is one that the suite reads, and nothing of the user's is
lost.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from reprocheck.cli import main
from reprocheck.suite.targets import load

TRAINING = "import reprocheck\nreprocheck.log_loss(1.0)\n"
NAMES = ("train.py", "vision/{odd} name's.py", "vision/train.py")


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name in NAMES:
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(TRAINING)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def words(folder: Path) -> dict[str, tuple[str, ...]]:
    return {target.name: target.words for target in load(folder).targets}


ALL = {
    "train": ("train.py",),
    "vision-odd-name-s": ("vision/{odd} name's.py",),
    "vision-train": ("vision/train.py",),
}


def test_a_table_is_written_that_lists_every_script(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["suite", "init"]) == 0
    said = capsys.readouterr().out
    assert "3 training scripts added to reprocheck.toml" in said
    assert "reprocheck suite run" in said
    assert words(folder) == ALL
    assert main(["suite", "list"]) == 0


def test_nothing_is_written_twice(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    main(["suite", "init"])
    before = (folder / "reprocheck.toml").read_bytes()
    assert main(["suite", "init"]) == 0
    assert "names all of them" in capsys.readouterr().out
    assert (folder / "reprocheck.toml").read_bytes() == before


def test_targets_that_are_there_stay_byte_for_byte(folder: Path) -> None:
    mine = '# mine\nruns = 3\n[[target]]\nname="vision-train"\nrun="./train.py --slow"  # kept'
    (folder / "reprocheck.toml").write_text(mine)
    (folder / "reprocheck.toml").chmod(0o600)
    assert main(["suite", "init"]) == 0
    text = (folder / "reprocheck.toml").read_text()
    assert text.startswith(mine + "\n\n")
    assert "[suite]" not in text
    assert words(folder) == {
        "vision-train": ("./train.py", "--slow"),
        "vision-odd-name-s": ALL["vision-odd-name-s"],
        "vision-train-2": ("vision/train.py",),
    }
    assert (folder / "reprocheck.toml").stat().st_mode & 0o777 == 0o600


def test_a_pyproject_with_settings_gets_the_table(folder: Path) -> None:
    (folder / "pyproject.toml").write_text("[tool.reprocheck]\nruns = 3\n\n[tool.other]\na = 1\n")
    assert main(["suite", "init"]) == 0
    assert not (folder / "reprocheck.toml").exists()
    assert words(folder) == ALL
    assert "[tool.reprocheck.suite.defaults]" in (folder / "pyproject.toml").read_text()


def test_one_folder_can_be_named(folder: Path) -> None:
    assert main(["suite", "init", "vision"]) == 0
    assert words(folder) == {
        "odd-name-s": ALL["vision-odd-name-s"],
        "train": ("vision/train.py",),
    }


def test_a_dry_run_prints_the_table_and_writes_nothing(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["suite", "init", "--dry-run"]) == 0
    printed, said = capsys.readouterr()
    assert list(folder.glob("*.toml")) == []
    assert said.strip() == "reprocheck.toml was not written."
    (folder / "reprocheck.toml").write_text(printed)
    assert words(folder) == ALL


def test_a_file_that_cannot_be_extended_stays_as_it_is(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    closed = 'target = [{ name = "a", run = "other.py" }]\n'
    (folder / "reprocheck.toml").write_text(closed)
    assert main(["suite", "init"]) == 2
    assert "--dry-run" in capsys.readouterr().err
    assert (folder / "reprocheck.toml").read_text() == closed


def test_a_folder_without_a_script_says_what_to_write(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / "empty").mkdir()
    assert main(["suite", "init", "empty"]) == 2
    assert "[[target]]" in capsys.readouterr().err
    assert main(["suite", "init", "gone"]) == 2
    assert "There is no folder gone." in capsys.readouterr().err
