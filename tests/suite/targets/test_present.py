"""What a target names and does not find."""

from __future__ import annotations

from pathlib import Path

import pytest

from reprocheck.suite.target import Target
from reprocheck.suite.targets import missing


def target(folder: Path, *words: str, **environment: str) -> Target:
    return Target(
        name="a", words=words, workdir=folder, environment=environment, file=folder / "x.toml"
    )


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "train.py").write_text("")
    (tmp_path / "start.sh").write_text("")
    return tmp_path


@pytest.mark.parametrize(
    "words", [("train.py", "-v"), ("-m", "package"), ("--", "bash", "x"), ("--", "./start.sh")]
)
def test_nothing_is_missing_where_it_is_there(folder: Path, words: tuple[str, ...]) -> None:
    assert missing(target(folder, *words)) is None


@pytest.mark.parametrize(
    ("words", "said", "fix"),
    [
        (("tain.py",), "there is no script tain.py", "Correct `run`"),
        (("bash", "start.sh"), "there is no script bash", 'run = "-- bash start.sh"'),
        (("--", "torch-run"), "there is no program 'torch-run'", "PATH"),
        (("--", "./other.sh"), "there is no program './other.sh'", "PATH"),
    ],
)
def test_what_is_missing_is_named_with_file_and_target(
    folder: Path, words: tuple[str, ...], said: str, fix: str
) -> None:
    error = missing(target(folder, *words))
    assert error is not None
    assert said in error.message
    assert f"{folder / 'x.toml'}: target 'a'" in error.message
    assert fix in error.fix


def test_a_program_is_looked_for_where_the_target_would_find_it(folder: Path) -> None:
    assert missing(target(folder, "--", "bash", PATH=str(folder))) is not None


def test_a_folder_that_is_not_there_is_named(folder: Path) -> None:
    error = missing(target(folder / "gone", "train.py"))
    assert error is not None
    assert f"there is no folder {folder / 'gone'}" in error.message
